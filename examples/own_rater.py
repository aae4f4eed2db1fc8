"""Your own rater: any function of an item and a label. Here one that cannot tell now and then, asked in batches.

A real one would show the item to a person, or call a service; answers may come in any order.
"""

from __future__ import annotations

import numpy as np

from onebit import Answer, CertifiedLearner, Pool, PredictionTable

TEXTS = ["refund please", "where is my parcel", "cancel my plan", "parcel is broken", "stop billing me"] * 60
LABELS = ["billing", "delivery", "other"]
WORDS = {"refund": 0, "billing": 0, "parcel": 1, "cancel": 2}


def rater(item: int, label: int) -> Answer:
    """Says yes if the first word it knows has that label; cannot tell every tenth text."""
    if item % 10 == 0:
        return Answer.CANT_TELL
    known = next((WORDS[word] for word in TEXTS[item].split() if word in WORDS), 2)
    return Answer.YES if label == known else Answer.NO


def main() -> None:
    items = np.arange(len(TEXTS))
    by_word = [next((WORDS[w] for w in text.split() if w in WORDS), 2) for text in TEXTS]
    models = PredictionTable([by_word, np.full(items.size, 1), items % 3], n_labels=len(LABELS))
    learner = CertifiedLearner(models, Pool(items), eps=0.1, delta=0.05)
    while isinstance(questions := learner.ask(20), tuple):
        for question in reversed(questions):
            learner.tell(question.id, rater(question.item, question.label))
    result = learner.result
    print(f"model {result.chosen} after {result.n_answers} answers; {result.status.value}")


if __name__ == "__main__":
    main()
