"""Every tuning number of studies, and where it came from. Those of certificates stand with their learner."""

from __future__ import annotations

# -- raters (desk.py, checks.py, quality.py)

#: How many lengths of a lease it can be renewed by. Origin: a round number; with a minute for a question, a rater who
#: asks and never answers holds it for four.
RENEWALS = 3

#: Questions that a rater must have answered since, before a question is repeated: it should not be remembered.
#: Origin: a round number.
APART = 10
#: Probability with which each interval about a rater holds. Origin: the usual one.
CONFIDENCE = 0.95

#: Seconds between two answers of a rater from which on it was a pause. Origin: a round number; texts take a while.
LONGEST_ANSWER = 300.0

# -- plans of a table (cli/table_plan.py, selecting.py)

#: The eps that are planned for unless others are given. Origin: round numbers, from coarse to the default.
PLANNED_EPS = (0.05, 0.02, 0.01)

# -- the report card of a judge (kinds/selection/judging.py)

#: Bands of scores whose calibration is told. Origin: few enough to have answers in each.
BANDS = 5
#: Questions whose scores are looked up at a time. Origin: a round number, for memory.
JUDGED_AT_A_TIME = 4096

# -- reports (kinds/selection/mistakes.py, kinds/training/words.py)

#: Examples of what models got wrong: of so many models, so many each, and in all. Origin: what fits on a page or two.
MODELS_WITH_MISTAKES, MISTAKES_EACH, MOST_MISTAKES = 5, 3, 12
#: An accuracy interval that is wider than this is not told as a result. Origin: a round number.
TOO_WIDE = 0.5

# -- who is there (desk.py)

#: Seconds since a rater last asked for questions in which the rater counts as present. Origin: a round number, longer
#: than most answers take.
PRESENT_FOR = 60.0

# -- rehearsals (rehearsal.py)

#: Models and items of the table, and answers, that a rehearsal has. Origin: round numbers; with them everything is used
#: once, and a rehearsal in which nothing has to be compiled takes a fraction of a second.
REHEARSED_MODELS, REHEARSED_ITEMS, REHEARSED_ANSWERS = 20, 120, 200

# -- what is stored (items.py, kinds/training/snapshots.py)

#: Items in a block: few enough to read one quickly, enough to read all quickly. Origin: a round number.
PER_BLOCK = 4096
#: Blocks of items kept at hand, and the bytes of their texts. Origin: round numbers, for memory.
AT_HAND, AT_HAND_BYTES = 64, 512 * 2**20
#: Bytes of the texts of a block. Origin: a round number, 128 kB an item where a block is full.
MOST_BLOCK = 512 * 2**20
#: A snapshot of the model is made when so many answers, or this share of all, were learned from since the last.
#: Origin: round numbers; a snapshot only saves time when a study is opened.
SNAPSHOT_ANSWERS, SNAPSHOT_SHARE = 200, 0.05

# -- what is compared when a log is verified (kinds/replayed.py, kinds/selection/proving.py)

#: The certified eps is recomputed to 1e-4, and may have been rounded there either way. Origin: twice that.
TOLD_TO = 2e-4
#: Ends of intervals are told to six digits. Origin: that.
TOLD_INTERVAL = 1e-6
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

# -- what a selection will cost (imagining.py, rehearsal.py, forecast.py)

#: Models are trusted that agree most with the vote: this share of them, at least and at most so many. Origin: round
#: numbers, set with a look at the tables of ``benchmarks/forecast.py``.
TRUSTED_SHARE, MIN_TRUSTED, MOST_TRUSTED = 0.2, 5, 20
#: The size of the juries of an imagined truth, and the share of items on which the model with the lead is right because
#: it leads, in multiples of how far the trusted models lie apart; one truth for each rehearsal, the most likely first.
#: Origin: ``benchmarks/forecast.py`` chooses between two such sets, for each of its tables on the others.
IMAGINED = ((3, 2.0), (3, 1.0), (3, 4.0), (3, 0.5), (3, 8.0))
#: The trusted are taken to lie apart by this share at least, and the lead is this share at most. Origin: round numbers.
LEAST_APART, MOST_LEAD = 0.01, 0.5
#: By how much each model is accepted less often than the one before, in the rehearsals of a panel; how often the first
#: is; and the share of items on which all are accepted or none. Origin: the gaps are round numbers. On Natural
#: Questions as judged by people for EVOUNA, five models are accepted on .56 to .68 of the items, and two of them differ
#: on a quarter.
TEXT_GAPS, ACCEPTED, SHARED = (0.02, 0.01, 0.03, 0.0, 0.05), 0.65, 0.5
#: What the least, the median and the largest of the rehearsals are multiplied by for the three figures of a forecast,
#: before the first answer and on the way. Origin: ``benchmarks/forecast.py``, on four tables and half of each.
SPREAD_BEFORE, SPREAD_ON_THE_WAY = (0.63, 1.0, 1.58), (0.52, 1.0, 1.91)
#: Of what a rehearsal took, this share is left at least: who has not certified eps needs more answers. Origin: about
#: what an epoch asks for.
LEAST_LEFT = 0.03
#: How often one of several raters is taken to dissent from what most say. Origin: a round number.
DISSENT = 0.1
#: Answers after which a rehearsal is given up. Origin: a round number, for time.
MOST_REHEARSED = 200_000
#: What a plan is rehearsed with, so that the same choice gives the same plan.
PLAN_SEED = 0
#: Seconds that all rehearsals of a plan may take together. Origin: what somebody waits for on a page.
PATIENCE = 15.0
#: Predictions above which other ways to ask are not rehearsed for a report. Origin: a round number; so many take about
#: 20 s of processor, once when the run is over and once when it is verified.
MOST_TO_REHEARSE = 1_000_000

# -- simulated raters (study.py, making.py)

#: Questions that are answered at a time, and written together. Origin: a round number, for time.
AT_A_TIME = 256

#: Under this name stand answers that a study takes over from the one that it goes on from.
ANSWERED_BEFORE = "(answered before)"
