"""promptfoo: results as JSON (version 3). A candidate is a provider and a prompt, an item a test with its variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onebit.errors import InvalidInputError
from onebit.tables.samples import Log, Sample, as_score, as_words
from onebit.tables.sniffing import parsed
from onebit.tables.streams import opened

VERSION = 3
#: Assertions whose value is a reference answer.
REFERENCES = {"equals", "contains", "icontains", "similar", "factuality"}


def read_log(path: Path) -> Log:
    """The samples of a file: every provider's, with every prompt."""
    with opened(path) as file:
        results = parsed(file.read())["results"]
    version = results.get("version") if isinstance(results, dict) else None
    if version != VERSION or not isinstance(results.get("results"), list):
        raise InvalidInputError(
            f"{path.name} has results of version {version}, and {VERSION} is needed; write them with a newer promptfoo "
            "(promptfoo export eval ID -o FILE.json)"
        )
    found = results["results"]
    several = len({_prompt(each) for each in found}) > 1
    return Log(path.name, tuple(_sample(each, several) for each in found))


def _prompt(result: dict[str, Any]) -> str:
    prompt = result.get("prompt") or {}
    return str(prompt.get("label") or prompt.get("raw") or "")


def _sample(result: dict[str, Any], several: bool) -> Sample:
    provider = result.get("provider") or {}
    model = str(provider.get("label") or provider.get("id") or "")
    test = result.get("testCase") or {}
    known = [each.get("value") for each in test.get("assert") or () if each.get("type") in REFERENCES]
    variables = result.get("vars") or test.get("vars")
    output = as_words((result.get("response") or {}).get("output"))
    return Sample(
        model=f"{model}, {_prompt(result)}" if several else model,
        id=str(result.get("testIdx", 0) + 1),
        input=as_words(variables) if variables else as_words((result.get("prompt") or {}).get("raw")),
        output=output or None,
        target=as_words(known[0]) if known else None,
        score=as_score(result.get("score")),
    )
