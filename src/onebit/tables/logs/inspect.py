"""Inspect AI: an ``.eval`` is a zip with one JSON for each sample; a ``.json`` has all of them in one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from onebit.errors import InvalidInputError
from onebit.tables.logs.zips import Zip
from onebit.tables.samples import Log, Sample, as_score, as_words
from onebit.tables.sniffing import ZIP, parsed
from onebit.tables.streams import opened

#: Where an ``.eval`` says what was run; the second is all that a run leaves which was cut off.
HEADERS = ("header.json", "_journal/start.json")
#: How long texts that are kept apart are pointed to.
ATTACHMENT = "attachment://"


def read_log(path: Path) -> Log:
    """The samples of a log: one model's, with its epochs."""
    with path.open("rb") as file:
        is_zip = file.read(len(ZIP)) == ZIP
    header, samples = _from_zip(path) if is_zip else _from_json(path)
    run = header.get("eval")
    if not isinstance(run, dict) or not isinstance(run.get("model"), str):
        raise InvalidInputError(f"{path.name} names no model; it must be a log as Inspect writes it")
    setup = json.dumps([header.get("plan"), run.get("task_args"), run.get("model_generate_config")], sort_keys=True)
    scorers = _scorers(samples)
    notes = []
    if (status := header.get("status", "started")) != "success":
        notes.append(f"{path.name} is of a run with the status {status!r}; its {len(samples)} samples are used")
    if len(scorers) > 1:
        notes.append(f"{path.name} has the scores of {', '.join(scorers)}; those of {scorers[0]} are used")
    found = tuple(_sample(run["model"], setup, each, scorers[0] if scorers else "") for each in samples)
    return Log(path.name, found, tuple(notes))


def _from_zip(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    with Zip(path) as file:
        headers = [name for name in HEADERS if name in file.names]
        header = parsed(file.read(headers[0]))
        samples = [parsed(file.read(name)) for name in file.names if name.startswith("samples/")]
    return _checked(path, header, samples)


def _from_json(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    with opened(path) as file:
        header = parsed(file.read())
    return _checked(path, header, header.get("samples") or [])


def _checked(path: Path, header: Any, samples: list[Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    if not samples:
        raise InvalidInputError(
            f"{path.name} holds no samples; run the evaluation with samples logged (not --no-log-samples)"
        )
    if not isinstance(header, dict) or not all(isinstance(each, dict) and "id" in each for each in samples):
        raise InvalidInputError(f"{path.name} has a sample that cannot be read; it must be a log as Inspect writes it")
    return header, samples


def _scorers(samples: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for each in samples for name in each.get("scores") or {}))


def _sample(model: str, setup: str, found: dict[str, Any], scorer: str) -> Sample:
    kept = found.get("attachments") or {}
    score = (found.get("scores") or {}).get(scorer) or {}
    output = _text((found.get("output") or {}).get("completion"), kept)
    shown = _text(found.get("input"), kept)
    for letter, choice in zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", found.get("choices") or (), strict=False):
        shown += f"\n{letter}) {choice}"
    target = found.get("target")
    return Sample(
        model=model,
        id=str(found["id"]),
        input=shown,
        output=None if found.get("error") else output or None,
        target=("|".join(map(str, target)) if isinstance(target, list) else as_words(target)) or None,
        score=as_score(score.get("value")),
        epoch=int(found.get("epoch") or 1),
        setup=setup,
    )


def _text(value: Any, kept: dict[str, str]) -> str:
    """A text, or what the messages of a conversation say."""
    if isinstance(value, list):
        lines = [_message(each, kept) for each in value if isinstance(each, dict)]
        return "\n".join(line for line in lines if line)
    text = as_words(value)
    return kept.get(text.removeprefix(ATTACHMENT), text) if text.startswith(ATTACHMENT) else text


def _message(message: dict[str, Any], kept: dict[str, str]) -> str:
    """Who says what; of its parts, those that are texts."""
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", f"[{part.get('type')}]")) for part in content)
    text = _text(content, kept)
    return text if message.get("role") in (None, "user") else f"{message['role']}: {text}"
