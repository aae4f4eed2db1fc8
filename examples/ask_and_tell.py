"""Train a classifier in a loop of your own: ask for questions, tell the answers, stop and go on.

The answers come from the right labels here; in yours they come from wherever people answer.
"""

from __future__ import annotations

from sklearn.datasets import load_iris

from onebit import RowTraining, YesNoClassifier


def answer(learner: RowTraining, names: list[str], most: int) -> None:
    """Answer up to so many questions, five at a time."""
    n_told = 0
    while n_told < most and (questions := learner.ask(5)):
        for question in questions:
            learner.tell(question, names[question.row] == question.label)
        n_told += len(questions)


def main() -> None:
    flowers = load_iris()
    labels, names = flowers.target_names.tolist(), flowers.target_names[flowers.target].tolist()
    learner = YesNoClassifier(protocol="follow-up", budget=150, audit=30, seed=1).learner(flowers.data, labels=labels)
    answer(learner, names, most=60)
    print(f"stopped after {len(learner.history)} answers")
    # Another day: the history has the answers, and the rows that were set aside for the audit.
    learner = YesNoClassifier(protocol="follow-up", budget=150, audit=30, seed=1).learner(
        flowers.data, labels=labels, answers=learner.history
    )
    answer(learner, names, most=1000)
    trained = learner.classifier
    assert trained.accuracy_interval_ is not None
    low, high = trained.accuracy_interval_
    print(f"{trained.n_answers_} answers; right on {low:.2f} to {high:.2f} of flowers, with probability .95")


if __name__ == "__main__":
    main()
