"""Verdicts in the forms that evaluation and labelling tools read: each with its rater, its time and its provenance."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from onebit import __version__
from onebit.records import Answer
from onebit.study.verdicts import GivenVerdict

#: What Inspect calls correct, incorrect, and no answer.
GRADES = {Answer.YES: "C", Answer.NO: "I", Answer.CANT_TELL: "N"}
#: How a row is called that is a repeat of an item in a log.
EPOCH = re.compile(r"(?P<id>.*), epoch (?P<epoch>\d+)", re.DOTALL)
#: The version of Every Eval Ever's schema that is written, and of Inspect's logs.
EVERY_EVAL_EVER, INSPECT = "0.3.0", 2
#: Who is named where nobody was, or where several were.
NOBODY = "not named"
NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def inspect_logs(study: str, verdicts: Sequence[GivenVerdict]) -> Iterator[tuple[str, str]]:
    """The name and the text of an Inspect log for each model: its outputs that were judged, with the verdicts."""
    of_model: dict[str, list[GivenVerdict]] = defaultdict(list)
    for verdict in verdicts:
        for model in verdict.models:
            of_model[model].append(verdict)
    for number, (model, given) in enumerate(of_model.items(), start=1):
        run = {
            "created": given[0].answered_at,
            "task": study,
            "dataset": {"name": study, "samples": len(given)},
            "model": model,
            "config": {},
            "packages": {"onebit": __version__},
        }
        log = {"version": INSPECT, "status": "success", "eval": run, "samples": list(map(_inspect_sample, given))}
        yield f"{number:02}_{NOT_IN_A_NAME.sub('-', model)}.json", json.dumps(log, ensure_ascii=False, indent=1)


def _inspect_sample(verdict: GivenVerdict) -> dict[str, Any]:
    found = EPOCH.fullmatch(verdict.item)
    who = verdict.rater or NOBODY
    provenance = {
        "timestamp": verdict.answered_at,
        "author": who,
        "reason": f"{verdict.provenance} verdict, by onebit",
        "metadata": {"provenance": verdict.provenance},
    }
    value = {
        "value": GRADES[verdict.answer],
        "answer": verdict.output,
        "explanation": f"{who} said {verdict.answer.value}",
        "metadata": {"rater": who, "answered_at": verdict.answered_at, "provenance": verdict.provenance},
    }
    return {
        "id": found["id"] if found else verdict.item,
        "epoch": int(found["epoch"]) if found else 1,
        "input": _input(verdict),
        "target": verdict.shown.get("target", ""),
        "output": {
            "model": verdict.models[0],
            "choices": [{"message": {"role": "assistant", "content": verdict.output}, "stop_reason": "stop"}],
            "completion": verdict.output,
        },
        "scores": {verdict.provenance: {**value, "history": [{**value, "provenance": provenance}]}},
    }


def label_studio_tasks(study: str, verdicts: Sequence[GivenVerdict]) -> str:
    """Tasks for Label Studio: one for each output that was judged, with the verdict as its annotation."""
    numbers: dict[str, int] = {}
    tasks: list[dict[str, Any]] = []
    for verdict in verdicts:
        who = verdict.rater or NOBODY
        told = [f"rater: {who}", f"provenance: {verdict.provenance}", f"answered at: {verdict.answered_at}"]
        result = {
            "from_name": "verdict",
            "to_name": "output",
            "type": "choices",
            "value": {"choices": [verdict.answer.value]},
            "origin": "manual" if verdict.provenance == "human" else "prediction",
            "meta": {"text": told},
        }
        annotation = {
            # Users are numbers there; the name is in the result.
            "completed_by": numbers.setdefault(who, len(numbers) + 1),
            "created_at": verdict.answered_at,
            "was_cancelled": False,
            "ground_truth": False,
            "result": [result],
        }
        data = {**verdict.shown, "item": verdict.item, "output": verdict.output, "models": list(verdict.models)}
        task = {"id": len(tasks) + 1, "data": data, "annotations": [annotation], "predictions": []}
        tasks.append({**task, "meta": {"study": study}})
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"


def every_eval_ever_lines(study: str, verdicts: Sequence[GivenVerdict]) -> str:
    """Instances of Every Eval Ever, as JSONL: one for each verdict and model that gave the output."""
    lines = []
    for verdict in verdicts:
        told = {
            "answer": verdict.answer.value,
            "rater": verdict.rater or NOBODY,
            "answered_at": verdict.answered_at,
            "provenance": verdict.provenance,
        }
        taken = {
            "turn_idx": 0,
            "source": "output.raw",
            "extracted_value": verdict.output,
            "extraction_method": f"{verdict.provenance} verdict",
            "is_terminal": True,
        }
        is_right = verdict.answer is Answer.YES
        lines += [
            {
                "schema_version": EVERY_EVAL_EVER,
                "evaluation_id": f"onebit/{study}/{model}",
                "model_id": model,
                "evaluation_name": f"{study}: {verdict.provenance} verdicts",
                "sample_id": verdict.item,
                "interaction_type": "single_turn",
                "input": {"raw": _input(verdict), "reference": []},
                "output": {"raw": [verdict.output]},
                "answer_attribution": [taken],
                "evaluation": {"score": float(is_right), "is_correct": is_right},
                "metadata": told,
            }
            for model in verdict.models
        ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _input(verdict: GivenVerdict) -> str:
    """What raters were shown of an item: a log's input as it was, other columns by name."""
    shown = {name: text for name, text in verdict.shown.items() if name != "target"}
    if set(shown) == {"input"}:
        return shown["input"]
    return "\n".join(f"{name}: {text}" for name, text in shown.items()) or verdict.item


#: Tools whose form is one file.
FILES: dict[str, Callable[[str, Sequence[GivenVerdict]], str]] = {
    "label-studio": label_studio_tasks,
    "every-eval-ever": every_eval_ever_lines,
}
#: The tool that has a file for each model, in a folder.
FOLDER = "inspect"


def write_for_tool(tool: str, path: Path, study: str, verdicts: Sequence[GivenVerdict]) -> None:
    """Write a new file, or a new folder."""
    if tool != FOLDER:
        path.write_text(FILES[tool](study, verdicts), encoding="utf-8")
        return
    path.mkdir(parents=True)
    for name, text in inspect_logs(study, verdicts):
        (path / name).write_text(text, encoding="utf-8")
