"""Every Eval Ever: instance files, one line for each sample; a file may have several models and metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onebit.tables.logs.lines import objects
from onebit.tables.samples import Log, Sample, as_score, as_words


def read_log(path: Path) -> Log:
    """The samples of a file. A sample that has several results, by as many metrics, is there once."""
    found, kept = objects(path), []
    metric: dict[tuple[str, ...], str] = {}
    for each in found:
        sample = tuple(str(each.get(name)) for name in ("evaluation_id", "model_id", "sample_id"))
        result = str(each.get("evaluation_result_id") or each.get("evaluation_name"))
        # The same metric again is a repeat of the sample; another one is about the same output.
        if metric.setdefault(sample, result) == result:
            kept.append(_sample(each))
    notes = []
    if len(kept) < len(found):
        notes.append(
            f"{path.name} has results by several metrics; the first of each sample is its score, and "
            f"{len(found) - len(kept):,} others are not used"
        )
    return Log(path.name, tuple(kept), tuple(notes))


def _sample(found: dict[str, Any]) -> Sample:
    given = found.get("input") or {}
    return Sample(
        model=str(found["model_id"]),
        id=str(found["sample_id"]),
        input=as_words(given.get("raw")),
        output=None if found.get("error") else _output(found) or None,
        target="|".join(map(str, given.get("reference") or ())) or None,
        score=as_score((found.get("evaluation") or {}).get("score")),
    )


def _output(found: dict[str, Any]) -> str:
    """What the model said: its output, or the last thing it said in a conversation."""
    raw = (found.get("output") or {}).get("raw")
    if raw:
        return as_words(raw)
    said = [each for each in found.get("messages") or () if each.get("role") == "assistant" and each.get("content")]
    return as_words(said[-1]["content"]) if said else ""
