"""Outputs that are free texts: which columns hold them, which of them are equal, and which of them are right.

A table of free texts is a table of labels of which hardly one is given twice. What is special is that the columns must
be told apart by their names, that two texts may say the same, and that several of them may be right.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onebit.errors import InvalidInputError
from onebit.tables.record import ABSTAINS, ModelTable

Codes = NDArray[np.signedinteger[Any]]
Verdicts = NDArray[np.int8]

#: What stands for the model's name in the name of a column.
STAR = "*"
#: Verdicts as they are written in tables; an empty cell is none.
YES, NO = {"1", "1.0", "true", "yes", "y", "right", "correct"}, {"0", "0.0", "false", "no", "n", "wrong", "incorrect"}
#: Columns that usually are no model's. In a table of texts nothing else tells them from the outputs of a model.
NOT_MODELS = frozenset(
    ("id", "item", "index", "question", "prompt", "input", "query", "text", "context", "document", "reference")
) | frozenset(("target", "answer", "answers", "gold", "truth", "label", "expected", "category", "topic"))


def matching(pattern: str, names: Iterable[str], option: str) -> dict[str, str]:
    """The columns that a pattern such as ``answer_*`` names: from the star's part, a model, to the column.

    >>> matching("answer_*", ["question", "answer_a", "answer_b"], "--models")
    {'a': 'answer_a', 'b': 'answer_b'}
    """
    if pattern.count(STAR) != 1:
        raise InvalidInputError(f"{option} is {pattern!r}; write one {STAR} where the model's name stands: answer_*")
    before, after = pattern.split(STAR)
    return {
        name[len(before) : len(name) - len(after)]: name
        for name in names
        if len(name) > len(before) + len(after) and name.startswith(before) and name.endswith(after)
    }


def check_names(models: Sequence[str], where: str) -> None:
    """InvalidInputError if a column of free texts has a name that no model has."""
    for name in models:
        if name.strip().casefold() in NOT_MODELS:
            raise InvalidInputError(
                f"{where}: the column {name!r} would be a model's. Name it with --id, --show or --reference, or name "
                "the models' columns with --models 'answer_*'"
            )


def normal_form(text: str) -> str:
    """The text without what does not count where outputs are compared: case, accents' coding, punctuation, spaces.

    A text of nothing but punctuation stays as it is.

    >>> normal_form("  The  Eiffel-Tower. ")
    'the eiffel tower'
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    words = " ".join(re.sub(r"[^\w]+", " ", plain).split())
    return words or text.strip()


def same_where_equal(codes: Codes, keys: NDArray[np.integer]) -> Codes:
    """The codes (N, n) of outputs, those of one item alike whose ``keys`` (N, n) are equal: all have the first's."""
    same = codes.copy()
    for h in range(1, codes.shape[0]):
        for g in range(h - 1, -1, -1):
            equal = (keys[h] == keys[g]) & (keys[h] >= 0) & (codes[h] >= 0) & (codes[g] >= 0)
            same[h, equal] = same[g, equal]
    return same


def keys_of_texts(codes: Codes, labels: Sequence[str]) -> NDArray[np.int64]:
    """A number for the normal form of each output; shape (N, n), -1 for an abstention."""
    numbers: dict[str, int] = {}
    of_label = np.array([numbers.setdefault(normal_form(text), len(numbers)) for text in labels] + [ABSTAINS])
    keys: NDArray[np.int64] = of_label[codes]
    return keys


def verdict_of_text(text: str | None) -> int | None:
    """1 for a yes, 0 for a no, -1 for none; None if it is something else."""
    plain = (text or "").strip().casefold()
    if plain in YES:
        return 1
    if plain in NO:
        return 0
    return -1 if plain == "" else None


def one_verdict_each(codes: Codes, verdicts: Verdicts) -> Verdicts:
    """The verdicts (N, n), with one for equal outputs of an item: the first that is there. An abstention has none."""
    told = verdicts
    for g in reversed(range(codes.shape[0])):
        told = np.where((codes == codes[g]) & (verdicts[g] >= 0), verdicts[g], told)
    told[codes < 0] = -1
    return told


def right_texts(cell: object) -> list[str]:
    """The right answers in a cell: a list, a JSON list written as text, or one text."""
    if isinstance(cell, list):
        return [str(each) for each in cell if each is not None]
    text = "" if cell is None else str(cell)
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if isinstance(found, list):
            return [str(each) for each in found if each is not None]
    return [text] if text else []


def verdicts_by_truth(table: ModelTable, right: Sequence[Sequence[str]], normalised: bool) -> Verdicts:
    """1 where a model's output is one of the ``right`` texts of the item, else 0; shape (N, n)."""
    form = normal_form if normalised else str
    of_label = [form(label) for label in table.labels]
    verdicts = np.zeros(table.predictions.shape, dtype=np.int8)
    for item, texts in enumerate(right):
        wanted = {form(text) for text in texts}
        for h, code in enumerate(table.predictions[:, item].tolist()):
            verdicts[h, item] = code >= 0 and of_label[code] in wanted
    return verdicts


def check_verdicts(verdicts: Verdicts, where: str) -> None:
    """InvalidInputError if no output is right: simulated raters would say no for ever."""
    if not (verdicts == 1).any():
        raise InvalidInputError(
            f"{where}: no output of any model is right, so these cannot be the verdicts about them; write right "
            "answers as the models write them, or give --equal normalised"
        )
