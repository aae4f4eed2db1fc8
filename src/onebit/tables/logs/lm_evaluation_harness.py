"""lm-evaluation-harness: ``samples_TASK_DATE.jsonl``, one line for each document and filter, of one model and task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onebit.errors import InvalidInputError
from onebit.tables.logs.lines import objects
from onebit.tables.samples import Log, Sample, as_score, as_words
from onebit.tables.sniffing import parsed


def read_log(path: Path) -> Log:
    """The samples of a file; the model is named by the results beside it, or else by the folder."""
    found = objects(path)
    task = path.stem.removeprefix("samples_").rpartition("_")[0]
    model, filters = _model(path), list(dict.fromkeys(str(each.get("filter", "none")) for each in found))
    notes = []
    if len(filters) > 1:
        notes.append(f"{path.name} has the answers of the filters {', '.join(filters)}; those of {filters[0]} are used")
    kept = [each for each in found if str(each.get("filter", "none")) == filters[0]]
    samples = tuple(_sample(path.name, model, task, each) for each in kept)
    return Log(path.name, samples, tuple(notes))


def _model(path: Path) -> str:
    """The name of the model: of the results that were written with the samples."""
    date = path.stem.rsplit("_", 1)[-1]
    results = path.with_name(f"results_{date}.json")
    told = parsed(results.read_bytes()) if results.is_file() else None
    named = told.get("model_name") if isinstance(told, dict) else None
    return str(named or path.resolve().parent.name or path.stem)


def _sample(where: str, model: str, task: str, found: dict[str, Any]) -> Sample:
    try:
        requests = [found["arguments"][f"gen_args_{n}"] for n in range(len(found["arguments"]))]
        shown = as_words(requests[0]["arg_0"])
        answers = found["filtered_resps"]
        output = _chosen(requests, answers) if _is_choice(answers) else as_words(_first(answers))
    except (KeyError, TypeError, IndexError, ValueError):
        raise InvalidInputError(
            f"{where}, document {found['doc_id']} cannot be read; its arguments and answers must be as --log_samples "
            "writes them"
        ) from None
    metrics = found.get("metrics") or []
    return Sample(
        model=model,
        # Documents are only numbered, in each task anew.
        id=f"{task}/{found['doc_id']}" if task else str(found["doc_id"]),
        input=shown,
        output=output or None,
        target=as_words(found.get("target")) or None,
        score=as_score(found.get(metrics[0])) if metrics else None,
    )


def _is_choice(answers: list[Any]) -> bool:
    """Whether choices were compared by their likelihood: each answer is a logarithm and whether it is the likeliest."""
    return len(answers) > 1 and all(isinstance(each, list) and len(each) == 2 for each in answers)


def _chosen(requests: list[dict[str, Any]], answers: list[list[Any]]) -> str:
    likelihood = [float(each[0]) for each in answers]
    return str(requests[likelihood.index(max(likelihood))]["arg_1"]).strip()


def _first(answers: list[Any]) -> Any:
    first = answers[0]
    return _first(first) if isinstance(first, list) else first
