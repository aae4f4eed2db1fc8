"""A few questions with answers in many shapes, for pictures of the panel's page: short, long, lists, code, empty."""

from __future__ import annotations

import json
from pathlib import Path

QUESTIONS = {
    "How do I reverse a list in Python?": [
        "Use slicing:\n\n```python\nbackwards = items[::-1]\n```\n\nThis makes a copy; `items` stays as it is.",
        "Call `items.reverse()`. It changes the list in place and **returns None**.",
        "Python lists cannot be reversed. Convert the list to a tuple first.",
        "`list(reversed(items))`",
    ],
    "What is the difference between a lake and a pond?": [
        "There is no precise one. Lakes are usually larger and deeper; some say that light reaches the bottom of a "
        "pond everywhere, so that plants can grow across it.\n\n1. **Size**: most definitions put the border between "
        "2 and 8 hectares.\n2. **Depth**: water in a lake is often layered by temperature in summer.\n3. **Names**: "
        "many places keep the name that people once gave them.",
        "Size.",
        "A lake is salt water, a pond is fresh water.",
        "Ponds are shallow enough for rooted plants to grow all over the bottom. " * 6,
    ],
    "Who wrote Emma?": ["Jane Austen", "jane austen.", "Emily Bronte", ""],
}
MODELS = ("amber", "birch", "cedar", "delta")
#: Each question comes so many times, so that the study has items enough to last.
TIMES = 20


def write_answers(path: Path) -> None:
    """A table with a row for each question and a column for each model."""
    with path.open("w", encoding="utf-8") as file:
        for time in range(TIMES):
            for question, answers in QUESTIONS.items():
                # A mark that nobody sees makes the texts of each row its own.
                said = {
                    f"answer_{model}": answer + "\u200b" * time if answer else ""
                    for model, answer in zip(MODELS, answers, strict=True)
                }
                file.write(json.dumps({"question": question, **said}, ensure_ascii=False) + "\n")
