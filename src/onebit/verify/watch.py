"""Checks a batch of a watch: what had to be asked, and what the answers are worth.

Written from step 18 of ``docs/certificate.md``; it shares nothing with the learner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onebit.randomness import generator
from onebit.records import Answer, Question, WatchSetting

#: Step 18: ten shares of what can be lost, geometric from .02 to .9.
N_BETS, LEAST_BET, MOST_BET = 10, 0.02, 0.9
#: What evidence is cut off at.
MOST = 1e300
#: How far two evaluations of the same evidence may be apart, relatively.
CLOSE = 1e-9


@dataclass(frozen=True)
class WatchVerdict:
    """What was recomputed of a batch: the rivals with an alarm, the evidence of each, and sentences on what is wrong.

    ``carried`` (N - 1, n_bets) goes into the next batch.
    """

    problems: tuple[str, ...]
    alarms: tuple[int, ...]
    evidence: tuple[float, ...]
    carried: tuple[tuple[float, ...], ...]


def verify_batch(
    setting: WatchSetting,
    said: NDArray[np.integer],
    questions: Sequence[Question],
    answers: Sequence[Answer | int | None],
) -> WatchVerdict:
    """Recompute a batch from its table ``said`` (N, n), the choice in row 0, its questions and their answers."""
    order, wanted = _wanted(setting, said)
    asked = [(question.item, question.label) for question in questions]
    problems = []
    if asked != wanted[: len(asked)]:
        problems.append("the questions are not those that the seed and the table call for, in their order")
    verdict = dict(zip(asked, answers, strict=True))
    n_rivals = said.shape[0] - 1
    before = setting.carried or ((0.0,) * N_BETS,) * n_rivals
    if [len(each) for each in before] != [N_BETS] * n_rivals or any(not m >= 0 for row in before for m in row):
        return WatchVerdict((*problems, "the evidence carried into the batch has the wrong form"), (), (), ())
    carried = tuple(_carried(setting, said, h, order, verdict, before[h - 1]) for h in range(1, n_rivals + 1))
    evidence = tuple(sum(row) / N_BETS for row in carried)
    needed = setting.false_alarm_every * n_rivals
    alarms = tuple(h for h, found in enumerate(evidence, start=1) if found >= needed * (1 - CLOSE))
    return WatchVerdict(tuple(problems), alarms, evidence, carried)


def _wanted(setting: WatchSetting, said: NDArray[np.integer]) -> tuple[list[int], list[tuple[int, int | None]]]:
    """The items that the batch goes through, in their order, and the questions about them."""
    shuffles = generator(setting.seed, "outputs of the batch")
    through: list[int] = []
    wanted: list[tuple[int, int | None]] = []
    for item in generator(setting.seed, "order of the batch").permutation(said.shape[1]).tolist():
        if len(wanted) >= setting.answers:
            break
        through.append(item)
        outputs = [max(output, -1) for output in said[:, item].tolist()]
        if len(set(outputs)) > 1:
            distinct = np.array(sorted({output for output in outputs if output >= 0}))
            wanted += [(item, int(output)) for output in shuffles.permutation(distinct)]
    return through, wanted


def _carried(
    setting: WatchSetting,
    said: NDArray[np.integer],
    rival: int,
    items: Sequence[int],
    verdict: dict[tuple[int, int | None], Answer | int | None],
    before: Sequence[float],
) -> tuple[float, ...]:
    """What a rival's bets have after the batch."""

    def accepted(model: int, item: int, if_unknown: int) -> int:
        label = int(said[model, item])
        if label < 0:
            return 0
        answer = verdict.get((item, label))
        return if_unknown if answer is None else int(answer is Answer.YES)

    differs = np.maximum(said[rival], -1) != np.maximum(said[0], -1)
    n_left, ahead, most = int(differs.sum()), 0, said.shape[1] * setting.eps
    on_batch, on_population = [1.0] * N_BETS, [1.0] * N_BETS
    refuted = False
    for item in items:
        # What nobody answered speaks for the choice.
        D = accepted(rival, item, 0) - accepted(0, item, 1) if differs[item] else 0
        on_population = [g * (1 + bet * (D - setting.eps) / (1 + setting.eps)) for g, bet in _with_bets(on_population)]
        if differs[item]:
            mean = (most - ahead) / n_left
            refuted |= mean <= -1
            if mean < 1 and not refuted:
                on_batch = [g * (1 + bet * (D - mean) / (1 + mean)) for g, bet in _with_bets(on_batch)]
            ahead, n_left = ahead + D, n_left - 1
    refuted |= ahead - n_left > most
    growth = on_population if refuted else map(min, on_batch, on_population)
    return tuple(min((1 + m) * g, MOST) for m, g in zip(before, growth, strict=True))


def _with_bets(stakes: Sequence[float]) -> list[tuple[float, float]]:
    ratio = MOST_BET / LEAST_BET
    return [(stake, LEAST_BET * ratio ** (k / (N_BETS - 1))) for k, stake in enumerate(stakes)]
