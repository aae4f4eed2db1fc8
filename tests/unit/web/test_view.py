"""What a study publishes to those who watch it."""

from __future__ import annotations

from tests.unit.web.served import LABELS, Served

from onebit.records import Answer


def test_answers_are_counted_by_label_and_uncounted_when_they_are_taken_back(served: Served) -> None:
    view = served.site.room(1).study.view
    first, second = served.ask(served.ann, n=2)
    labels = [LABELS.index(question["label"]["name"]) for question in (first, second)]
    served.tell(served.ann, first, "yes")
    served.tell(served.ann, second, "can't tell")
    counts = view.labels()
    assert counts[labels[0]][Answer.YES] == 1
    assert counts[labels[1]][Answer.CANT_TELL] == 1
    assert sum(each.total() for each in counts.values()) == 2

    served.post("undo", served.ann, question=first["question"])
    counts = view.labels()
    assert sum(each.total() for each in counts.values()) == 1
    assert counts[labels[1]] == {Answer.CANT_TELL: 1}
    served.post("undo", served.ann, question=second["question"])
    assert view.labels() == {}
