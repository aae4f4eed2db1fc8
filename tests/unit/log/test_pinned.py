"""What a log looks like on the disk does not change unnoticed: people keep digests, and old logs are read again."""

from __future__ import annotations

from onebit.log.chain import Chain, Unchain, digests
from onebit.log.events import (
    Answered,
    Asked,
    CheckAnswered,
    Checked,
    CheckUndone,
    Closed,
    Created,
    Disputed,
    EpochBegan,
    Event,
    Finished,
    Offered,
    Planned,
    TableFacts,
    Undone,
    Unvoted,
    Voted,
)
from onebit.records import Answer, Closing, EpochPlan, EpochRecord, Question, RunStatus, Setting, TrainingSetting

SELECTION = Setting(eps=1e-05, budget=7, f_no=0.2, passive=True, protocol="labels", seed=2**100 + 1)
TRAINING = TrainingSetting(900, "follow-up", target=0.9, audit=50, seed=3, seed_given=False)
#: One event of every kind, not in an order that can happen.
EVENTS: list[Event] = [
    Created(SELECTION, "paper", TableFacts("f" * 64, 8, 300, 5), 3, simulated=True, about="a" * 64, shown="b" * 64),
    EpochBegan(EpochRecord(0, 0, 64, 2, (0, 2), ((0, 0.1), (2, 0.9)), 1 / 3)),
    Planned(EpochPlan(1, False, (3, 7), (0, 4), (0.1 + 0.2, 1.0), (0, 2), (True, False), 5)),
    Asked(Question(0, 17, 3, 0.1 + 0.2, 0)),
    Asked(Question(1, 17, None, 1.0, 0), "zoë"),
    Offered(1, "\ud83d"),
    Voted(1, Answer.NO, "ann", "t1", late=True),
    Unvoted(1, "ann"),
    Answered(0, Answer.CANT_TELL),
    Answered(1, 4, "bob", "t2", late=True),
    Undone(0, "bob"),
    Disputed(0, None),
    Checked(0, 3, 2, "ann", Answer.YES),
    Checked(1, 3, 2, "ann", Answer.NO, repeats=0),
    CheckAnswered(0, Answer.NO, "ann", "t3"),
    CheckUndone(0, "ann"),
    Closed(Closing(0, 64, 31, 2, (0, 2), 5e-324, 3, 1)),
    Finished(RunStatus.BUDGET, {"chosen": "a\n", "certified_eps": None, "n": 1e16, "names": ["a"]}),
]
#: The beginnings of their digests, as onebit 0.2.0 wrote them.
DIGESTS = (
    "7632e6177411 2089456cfd85 dc686ad81ef9 c0cf06fa57fd 96650f733484 87e0eb2aff71 "
    "72e5b616992a f5b436740d09 22f1a5603945 b80b952666c1 f34f0c91031e 160ded8826b9 "
    "a9c03ac60e17 fb135626ac57 ff08e5774ecf 414a788c7f4a d80e4ec7feb0 f74a3326a8a6"
)


def test_every_event_has_the_digest_it_always_had() -> None:
    assert [digest[:12] for digest in digests(EVENTS)] == DIGESTS.split()
    training = Created(TRAINING, "networks", TableFacts("f" * 64, 0, 300, 5), kind="training")
    assert digests([training])[0][:12] == "960095f21ebd"


def test_what_was_written_is_read_as_it_was() -> None:
    chain, unchain = Chain(), Unchain()
    assert [unchain.take(chain.link(event)) for event in EVENTS] == EVENTS
    assert unchain.head == chain.head
