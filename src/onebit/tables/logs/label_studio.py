"""Label Studio: tasks as JSON. A model is a ``model_version`` of the predictions, the target an annotation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onebit.errors import InvalidInputError
from onebit.tables.samples import Log, Sample, as_score, as_words
from onebit.tables.sniffing import parsed
from onebit.tables.streams import opened


def read_log(path: Path) -> Log:
    """The predictions of a file, task by task; annotations of people are the targets."""
    with opened(path) as file:
        tasks = parsed(file.read())
    samples, plain = [], 0
    for number, task in enumerate(tasks, start=1):
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            raise InvalidInputError(f"{path.name}, task {number} has no data; export the project as JSON, not JSON-MIN")
        target, shown = _target(task), as_words(task["data"])
        for prediction in task.get("predictions") or ():
            if not isinstance(prediction, dict):
                # Some exports name predictions by number only.
                plain += 1
                continue
            samples.append(
                Sample(
                    model=str(prediction.get("model_version") or "undefined"),
                    id=str(task.get("id", number)),
                    input=shown,
                    output=_said(prediction) or None,
                    target=target,
                    score=as_score(prediction.get("score")),
                )
            )
    if not samples:
        advice = "export with the predictions in full" if plain else "import predictions, each with its model_version"
        raise InvalidInputError(f"{path.name} holds no predictions of models; {advice}")
    return Log(path.name, tuple(samples))


def _target(task: dict[str, Any]) -> str | None:
    """What people said: the annotation that is the ground truth, or else the first that was not cancelled."""
    given = [each for each in task.get("annotations") or () if isinstance(each, dict) and not each.get("was_cancelled")]
    ordered = sorted(given, key=lambda each: not each.get("ground_truth"))
    return (_said(ordered[0]) or None) if ordered else None


def _said(answer: dict[str, Any]) -> str:
    """The values of all results, in their order: choices, texts, ratings, or whatever else they are."""
    texts = []
    for result in answer.get("result") or ():
        value = result.get("value") or {}
        for kind in (result.get("type"), "choices", "text", "labels"):
            if kind in value or (kind == "textarea" and "text" in value):
                found = value.get(kind, value.get("text"))
                texts.append(", ".join(map(str, found)) if isinstance(found, list) else as_words(found))
                break
    return "\n".join(texts)
