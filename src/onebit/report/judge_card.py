"""The report card of a judge: what raters have shown about it, and in which words that is told."""

from __future__ import annotations

from dataclasses import dataclass

#: From this score on a judge accepts an output.
ACCEPTS_FROM = 0.5


@dataclass(frozen=True)
class Share:
    """``n_yes`` of ``n``; on questions that are drawn as these were it is from ``low`` to ``high``."""

    n_yes: int
    n: int
    low: float
    high: float


@dataclass(frozen=True)
class Band:
    """Questions whose score is from ``from_score`` to ``to_score``, and how often raters accepted the output."""

    from_score: float
    to_score: float
    accepted: Share


@dataclass(frozen=True)
class JudgeCard:
    """A judge beside the raters, on the questions that were asked.

    ``n_unscored`` questions were about outputs that it does not score; the rest is about the others. ``agreement``: how
    often it accepts what raters accept, and does not accept what they do not. ``of_accepted`` is the share that it
    accepts of what raters accept (its true positive rate), ``of_others`` of what they do not (its false positive rate).
    ``weight`` is that of its log-odds in the guesses of the last epoch; None before the first. Each interval holds with
    probability ``confidence``, whenever one looks.
    """

    n_unscored: int
    agreement: Share
    of_accepted: Share
    of_others: Share
    bands: tuple[Band, ...]
    weight: float | None
    confidence: float


def share_in_words(share: Share) -> str:
    """
    >>> share_in_words(Share(9, 10, 0.41, 0.998))
    '90% (41% to 100%)'
    """
    return "nothing yet" if share.n == 0 else f"{share.n_yes / share.n:.0%} ({share.low:.0%} to {share.high:.0%})"


def in_a_line(card: JudgeCard) -> str:
    """The card in one line."""
    if card.agreement.n == 0:
        return "has scored nothing that was answered yet"
    accepts = f"{share_in_words(card.of_accepted)} of what raters accept"
    return (
        f"agrees in {share_in_words(card.agreement)} of {card.agreement.n:,} questions; accepts {accepts}, "
        f"{share_in_words(card.of_others)} of what they do not"
    )


def in_words(card: JudgeCard) -> list[str]:
    """What the card shows, and what it is about."""
    told = [
        "What is promised does not rest on the judge. It only bettered guesses, and a bad judge costs answers and "
        "nothing else."
    ]
    if card.agreement.n == 0:
        return [*told, "No question about an output that it scores was answered yet."]
    told += [
        f"It agreed with the raters in {share_in_words(card.agreement)} of {card.agreement.n:,} questions, where a "
        f"score of {ACCEPTS_FROM:g} or more accepts an output.",
        f"Of the {card.of_accepted.n:,} outputs that raters accepted it accepted {share_in_words(card.of_accepted)}; "
        f"of the {card.of_others.n:,} others, {share_in_words(card.of_others)}.",
        "This is about the questions that were asked, in the order asked up to the first that is still open: outputs "
        "on which models that may be the best differ, those more often that are hard to guess. On all outputs of the "
        "models it may be better or worse.",
        f"In brackets: where each share is, on questions drawn as these were, with probability {card.confidence:.0%} "
        "whenever one looks.",
    ]
    if card.n_unscored:
        told.append(f"{card.n_unscored:,} more questions were about outputs that it does not score.")
    if card.weight is not None:
        told.append(
            f"The guesses weigh the log-odds of its score by {card.weight:.2f} now: at 0 they do not use it, below 0 "
            "they believe the opposite."
        )
    return told
