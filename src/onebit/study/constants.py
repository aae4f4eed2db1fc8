"""Every tuning number of studies, and where it came from. Those of certificates stand with their learner."""

from __future__ import annotations

# -- raters (checks.py, quality.py)

#: Questions that a rater must have answered since, before a question is repeated: it should not be remembered.
#: Origin: a round number.
APART = 10
#: Probability with which each interval about a rater holds. Origin: the usual one.
CONFIDENCE = 0.95

# -- what is stored (items.py, kinds/training/snapshots.py)

#: Items in a block: few enough to read one quickly, enough to read all quickly. Origin: a round number.
PER_BLOCK = 4096
#: Blocks of items kept at hand. Origin: a round number, for memory.
AT_HAND = 64
#: A snapshot of the model is made when so many answers, or this share of all, were learned from since the last.
#: Origin: round numbers; a snapshot only saves time when a study is opened.
SNAPSHOT_ANSWERS, SNAPSHOT_SHARE = 200, 0.05

# -- what is compared when a log is verified (kinds/replayed.py)

#: The certified eps is recomputed to 1e-4, and may have been rounded there either way. Origin: twice that.
TOLD_TO = 2e-4
#: Numbers that differ by this share of them are the same: the last bits of a sum are the processor's.
#: Origin: a round number, far above rounding and far below what is shown.
CLOSE = 1e-9

# -- the paper's learner, and what others would have cost (selectors.py, all_labels.py, prices.py)

#: Confirmed samples of the paper's phase 1, for each label: enough for a variance bound near 2.
#: Origin: measured; docs/results.md (c).
CONFIRMED_PER_LABEL = 20
#: Share of uniform guesses of the paper's phases. Origin: Theorem 1's gamma.
GAMMA = 0.5
#: Answers after which a way of choosing is not compared any further. Origin: a round number, for time.
MOST_COMPARED = 3_000_000
#: Predictions above which nothing is compared. Origin: a round number, for time.
MOST_TO_SIMULATE = 50_000_000

# -- what a selection will cost (rehearsal.py, making.py)

#: Models are trusted that agree most with the vote: this share of them, and at least so many. Origin: round numbers.
TRUSTED_SHARE, MIN_TRUSTED = 0.2, 5
#: The share of items on which the leader of an imagined truth is right because it leads; one for each rehearsal.
#: Origin: chosen after looking at the tables of ``benchmarks/forecast.py``, so its ratios may be better than those of
#: a new table.
LEADS = (0.0, 0.1, 0.2, 0.3, 0.4)
#: Answers after which a rehearsal is given up. Origin: a round number, for time.
MOST_REHEARSED = 200_000
#: What a plan is rehearsed with, so that the same choice gives the same plan.
PLAN_SEED = 0
#: Seconds that each rehearsal of a plan may take; what it has asked by then is less than will be needed. Origin: what
#: somebody waits for on a page.
PATIENCE = 3.0

# -- simulated raters (study.py, making.py)

#: Questions that are answered at a time, and written together. Origin: a round number, for time.
AT_A_TIME = 256
