"""Every number of the certified learner that was chosen and not derived, with where it came from.

None of them touches what is promised; they decide how many answers it takes. Those of guesses and of the law were
chosen on letter, ImageNetV2 and MMLU-Pro, the coefficients of the prior with a look at clinc150 as well: of the tables
of ``benchmarks/selection.py`` none is left that was not looked at. What the verifier must know as well is written again
in ``verify/contest.py`` and ``redraw.py``.
"""

from __future__ import annotations

#: An epoch has this share of the rounds so far, and at least so many; exact rounds, which say more, may be fewer.
EPOCH_SHARE = 0.03
MIN_ROUNDS, MIN_EXACT_ROUNDS = 64, 8
#: Where several raters answer at once, each waits about once per epoch for the slowest, so an epoch has about so many
#: questions for each of them: one key in so many is followed by a wait. Origin: the target is one in ten at most.
QUESTIONS_PER_RATER = 16
#: ... but at most so many times the rounds so far, and this share of those that seem to be needed still: what is asked
#: in vain costs answers, and so does a law that is not renewed. Origin: benchmarks/at_once.py.
MOST_GROWTH, NEEDED_SHARE = 4.0, 0.5
#: In one-shot, epochs begin while others are under way, and have about so many questions for each rater; those under
#: way have QUESTIONS_PER_RATER at most, and at first so many, or so many times the answers of closed epochs: what is
#: asked before anything is known costs answers. Chosen on letter and MMLU-Pro with 10 and 100 raters, 3 or 4 seeds.
QUESTIONS_AHEAD, FIRST_PER_RATER, ANSWERS_AHEAD = 1, 3, 2

#: Follow-up checks its first so many rounds in which survivors give two labels or more, and then this share of them:
#: 30 checks find gross violations (docs/certificate.md, step 10) for about 4% more answers.
FIRST_CHECKED, CHECKED_SHARE = 30, 0.02

#: Examples of a stream that are looked at before the first round: so many for each hypothesis, the most, and one in so
#: many of all, so that most are left to be asked about.
LOOKED_AT_EACH, LOOKED_AT_MOST, LOOKED_AT_PART = 4, 256, 10
#: The vote on them, or on a pool, is repeated so often; who agreed with the last in half of them has so many votes. It
#: ranks the models for their shares of delta. Chosen on the four tables of benchmarks/selection.py, where it moves the
#: best model from rank 11 to 5 (letter), 4 to 1 (clinc150), 4 to 3 (MMLU-Pro) and leaves it at 2 (ImageNetV2).
FURTHER_VOTES, VOTES_AT_EVEN_ODDS = 2, 1000

# ---- guesses

#: Decimals of what is recorded, and of a guess: machines that differ in the last bit then ask the same.
DECIMALS = 6
#: Added to a share and to its complement before the log-odds are taken: nobody and everybody are finite.
SHARE_MARGIN = 0.01
#: No guess is surer than this, and those about one item add up to at most MOST_TOGETHER.
LEAST_GUESS, MOST_GUESS, MOST_TOGETHER = 0.005, 0.97, 0.98
#: Before the first answer: the coefficients of 1, of the log-odds of a label's share and of the highest share, and of
#: "the leader says so". Fits gave (-0.8, 1.5, -0.6, 3.6) on letter and (-1.0, 0.7, -0.1, 1.1) on ImageNetV2.
PRIOR_COEFFICIENTS = (-0.9, 1.0, -0.3, 1.8)
#: That of the log-odds of a judge's score, where there is a judge: nothing is known of it before the first answer.
PRIOR_OF_JUDGE = 0.0
#: Added to a judge's score and to its complement, as SHARE_MARGIN is to a share: a score of 1 is no certainty.
JUDGE_MARGIN = 0.05
#: How firmly a coefficient is held at its prior: as by a variance of 1 / PRIOR_WEIGHT.
PRIOR_WEIGHT = 4.0
#: Answers with which a model is fitted at most, the latest; and Newton steps, which end sooner as a rule.
MOST_FITTED, NEWTON_STEPS = 5000, 25
#: How many confirmed labels a model's agreement with the vote counts for, as a first estimate of how often it is right.
PRIOR_VOTES = 20
#: Trust is the log-odds of that estimate plus this, and at least so much: who is right seldom still says something.
TRUST_SHIFT, LEAST_TRUST = 0.7, 0.05

# ---- the law of the questions

#: Share of labels that are drawn uniformly: what seems not to matter is asked now and then.
GAMMA = 0.3
#: An item is asked about with at least this probability.
LEAST_ASKED = 0.15
#: Of the items lately drawn, this share was below the score from which on an item is always asked about.
SURE_QUANTILE = 0.7
#: Rounds that this is taken from: at least so many, before which every item is asked about, and the latest so many.
LEAST_SCORED, MOST_SCORED = 100, 400
#: Added to the variance of a guess: it may be wrong.
LEAST_VARIANCE = 0.02
#: Of the largest need, what every rival has at least.
LEAST_NEED = 0.05
#: Standard errors by which a rival's lag is taken to be smaller than it seems, where needs are estimated.
TOO_LOW = 0.5

# ---- a budget and no eps: choosing. Chosen on MMLU-Pro and the tables bad_consensus and two_labels of
# benchmarks/budget_tables.py, by the chance of naming the best after 50 to 200 answers, on 20 to 40 pools each with
# seeds from 100 on; some in an earlier form on letter, too. The other four tables were left for reporting, and seeds
# from 0 on.

#: An item with a label to ask is asked about with at least this probability; about this share of all rounds ask. With
#: .02 up to half of the questions went to items that decide nothing, and fewer best models were named on MMLU-Pro; with
#: .005 it is an eighth at most, and somewhat less is certified.
CHOICE_LEAST_ASKED, CHOICE_ASKED = 0.005, 0.04
#: Share of labels of an item that are drawn uniformly.
CHOICE_GAMMA = 0.1
#: Questions are drawn in proportion to this power of what each is expected to tell. With 1 the many that tell little
#: took most of the budget: of MMLU-Pro the best was named in 64 and 89% of 80 pools after 50 and 100 answers, with 2 in
#: 80 and 94%, with 3 in 74 and 91%; on the other two tables 1 and 2 were equal within the error.
CHOICE_SHARPNESS = 2.0
#: A weight is the chance of being better than the leader, and so much of that with so many times the deviation.
BROAD_SHARE, BROAD_WIDTH = 0.1, 3.0
#: How firmly a model's merit is held to be 0: as by answers of this variance; with 1 the best of MMLU-Pro was named
#: less often after 50 answers. What all together may be, against overflow; and when a fit is good enough to be used.
MERIT_PRIOR, MOST_MERIT, MERIT_ROUGHLY = 3.0, 20.0, 1e-3
#: Answers that merit is fitted to at most, the latest. For so many models that are ahead, on about so many items, it is
#: reckoned how merits vary together; of others only that each does. Origin: it takes 5 ms; with 200 models, 40 ms.
MOST_WEIGHED, MOST_COMPARED, ITEMS_COMPARED = 1000, 64, 500
#: Questions of an epoch: so many at least, and this share of the answers so far; rounds of one at most.
CHOICE_QUESTIONS, CHOICE_SHARE, MOST_CHOICE_ROUNDS = 2, 0.04, 4000
#: Outputs of a pool that are looked at to say who seems best, at most; but so many items of any pool. Who is the best
#: of 2,000 items is often not the best of 10,000, so few items hold the choice back. Origin: 200 models on 10,000 items
#: take .1 s, and on 2,000 items .03 s.
MOST_VIEWED, LEAST_VIEWED = 2_500_000, 2000
#: Before the first answer: coefficients as PRIOR_COEFFICIENTS, without a leader, whom belief must not favour.
CHOICE_COEFFICIENTS = (-0.2, 1.2, -0.2, 0.0)

# ---- panels

#: How much of the judge's scores is taken off the verdicts, and the share of the wealth that is bet so; the rest is bet
#: on the verdicts as they are, so a judge that is wrong costs at most log(1 / (1 - JUDGE_SHARE)) of the log-wealth.
#: Chosen on Natural Questions (docs/judges.md): .33 and .6 of the wealth, and two or three weights, differed little.
JUDGE_WEIGHT, JUDGE_SHARE = 0.7, 0.4

# ---- what is told

#: On the way the certified eps is one of eps, eps * EPS_STEP, eps * EPS_STEP^2, ..., 1.
EPS_STEP = 1.1
#: Steps between 0 and the certified eps in which "ahead by at most" is told, and the certified eps in the end.
FINE_STEPS = 10
#: What is told of a gate's candidate is that it is ahead of the baseline by at most one of these.
AHEAD_STEPS = (*(round(0.75**k, 4) for k in range(1, 25)), 0.0)
#: A gate tests a margin that is smaller by this: far above the rounding of sums, far below any item's weight.
MARGIN_ROUNDING = 1e-9
