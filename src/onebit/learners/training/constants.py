"""Every tuning number of training, and where it came from. Not in the paper.

Origin, unless another is given: the same for all data, and chosen without test rows, on a fifth of the training
rows of letter, digits and clinc150 (seed 0) and on training rows never asked about (seeds 0 to 4);
docs/learning-results.md has what came of it. No promise rests on any of them: the interval holds for the model as it
is.
"""

from __future__ import annotations

# -- epochs and audits (beginning.py, pace.py, run.py, audit.py, planning.py)

#: A training epoch has this share of the answers so far, and at least so many questions; an audit's has so many.
EPOCH_SHARE, MIN_QUESTIONS, AUDIT_QUESTIONS = 0.02, 4, 50
#: Fresh items from which the recent accuracy is estimated. Origin: by arithmetic, a standard error of 3 points where
#: nine of ten are right; a tenth of the items is fresh, so these are of the last 1,000 questions or so. And how many
#: are enough to begin an audit by, where there is a target: a round number, a standard error of 5 points.
TRIED_LATELY, ENOUGH_TRIED = 100, 40
#: Answers for the recent share of yes, and after which what was held likely counts e times less.
#: Origin: by arithmetic, a standard error below 3 points.
RECENT = 300
#: How many items an epoch has goes by the questions that about so many items took of late. Not by the last epoch's
#: alone, which may have one item: found at once by luck, it would let the next epoch ask thousands of questions before
#: anything is learned. Origin: a round number.
LATE_ITEMS = 20
#: Share of the items on which the last label is asked too, after noes to all others.
#: Origin: a round number; the more, the sooner a missing label shows.
LAST_SHARE = 0.1
#: Share of the budget that is kept for the audit, and share of the items that may be set aside for it.
AUDIT_SHARE, MOST_ASIDE = 0.05, 0.2
#: With a target: how many audits there may be; each has its share of delta, and the last what is left of the items.
#: Origin: a round number; n of them raise the threshold of each interval by log n.
MOST_AUDITS = 4
#: With a target: share of the budget that may be kept for audits. Origin: a round number; what is not needed is not
#: asked.
MOST_OF_BUDGET = 0.5
#: With a target: factor by which the answers must have grown between two audits.
AUDIT_GROWTH = 1.25

# -- which items are asked about (choice.py, planning.py, one_shot.py, follow_up.py)

#: Of so many times the items wanted, the most uncertain, those wanted are chosen far from each other.
CANDIDATES = 3
#: An item can be settled by few questions if so many of its likeliest labels have this probability together.
LIKELIEST, SETTLED = 5, 0.3
#: Follow-up: items that are looked at for each that is wanted, and how many at least and at most.
LOOKED_AT, LEAST_LOOKED_AT, MOST_LOOKED_AT = 50, 200, 3000
#: Follow-up: the known items a label at which half of the items are chosen because they are uncertain. Where little is
#: known, any item teaches, and the certain ones cost fewer questions.
HALF_CHOSEN = 3.0
#: Follow-up: items that are to be covered, the first of the list; how many cover those of a label, if labels are equal;
#: and how many an item covers at least. An item is chosen to cover others while this share of those that it covers are
#: not covered yet. Origin of the second and the last: a fifth of the training rows of letter (seeds 0 to 13), digits (0
#: to 9) and clinc50 (0 to 4), where 2 and 4, and .5, .8 and .9, were tried; the others are round numbers.
COVERED_AMONG, COVERS_OF_LABEL, LEAST_COVERED, LEAST_UNCOVERED = 1024, 4, 2, 0.9
#: Share of all items asked about that are drawn at random and not chosen, to see how it goes.
RANDOM_SHARE = 0.1
#: Follow-up: most questions about an item in an epoch. What is left without a yes is asked about another time, when
#: the answers about others have made it easier; but not as long as so few items are known for each label: then all
#: labels of one item find a yes in K / 2 questions, half of what labels of many items take. Unless guesses are good:
#: items become known this many times as often as by asking frequent labels first (and one more is granted, so that
#: guesses are tried).
#: Origin of FEW_KNOWN: a fifth of the training rows of letter (seeds 0 to 3), where 0, .5, 2, 4 and always were tried.
MOST_EACH, FEW_KNOWN, GOOD_GUESSES = 5, 4.0, 2
#: Where labels have names: most questions about an item, as long as fewer items are known for each label. Names guess
#: well from the start, and lines that begin at them learn from noes, so that many items teach more than many labels of
#: one. Origin: a fifth of the training rows of clinc150 (seeds 0 and 1) and BANKING77 (seeds 0 to 2), where 1, 2 and 5
#: were tried; after 10,000 answers 5 was better on clinc150, by .005. The second is a round number between.
MOST_EACH_NAMED, FEW_NAMED = 2, 20.0
#: One-shot: an epoch looks at so many unknown items at most for each that is wanted, and at so many places at least
#: at once. Origin: round numbers, for time.
MOST_PASSED_OVER, LEAST_COMING = 20, 16

# -- what is known of near items and of names (neighbours.py, names.py, features.py)

#: Neighbours of each item, and items at most that have neighbours and are neighbours.
#: Origin: test rows had been seen before 64 was chosen, and the other rows bore it out. The cap is for time.
N_NEIGHBOURS, MOST_LISTED = 64, 20_000
#: Neighbours are found for so many items at once. Origin: for time and memory, 20 MB of distances at most.
SEARCH_BLOCK = 256
#: Follow-up: items are chosen, and have neighbours, among the first of the list: so many at first, and so many for each
#: answer. Origin: round numbers, for time; that neighbours are found among these alone gained .02 to .04 after 1,000
#: answers on a fifth of the training rows of letter (seeds 0 to 5), and next to nothing on clinc50 (seeds 0 to 11).
FIRST_CANDIDATES, CANDIDATES_PER_ANSWER = 1024, 8
#: A neighbour has the same label with this probability, as long as few pairs are known; this counts as so many pairs.
FIRST_SAME, PAIRS_BEFORE = 0.7, 4.0
#: Labels that were denied have together at most this probability, whatever their shares. Origin: a round number.
MOST_DENIED = 0.99
#: Each label counts as met so many times before the first answer, and its share is learned in so many steps. In
#: one-shot most items are left after one no, and which are confirmed hangs on which labels are easy: shares learned
#: from few would let it ask about those again and again. In follow-up the number is learned out of these
#: (``strength.py``). Origin: a fifth of the training rows, at 1,000 answers, by ``make bench-label_shares``;
#: docs/learning-results.md has what came of it.
ITEMS_BEFORE, SHARE_STEPS = 30.0, 20
MAY_COUNT = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
#: Before the first answer these are likely in proportion to this power of 1 over them. Origin: a fifth of the training
#: rows of TREC, letter and clinc50 (follow-up, seeds 0 to 15, 300 and 1,000 answers), where 0, .5 and 1 were tried.
UNEQUAL_FIRST = 0.5
#: One-shot, questions that go by the neighbours alone: with m items of a label known, a yes to it is worth
#: (1 + m)^-WORTH_FALLS. Without it labels that are easy to find are confirmed again and again. Origin: a fifth of the
#: training rows, at 1,000 and 2,000 answers, of letter and digits (seeds 0 to 4), where 0, .5, 1, 2 and 4 were tried
#: among some twenty variants; seeds 5 to 9, and letter95, bore it out.
WORTH_FALLS = 2.0
#: That probability is never taken to be below or above these.
#: Origin: a round number, so that what is known of one neighbour never rules out a label.
LEAST_SAME, MOST_SAME = 0.02, 0.97
#: The share of the neighbours in what is believed, at first, and the known items a label at which it has halved: the
#: more is known, the better is the model.
FIRST_SHARE, HALVED_AT = 0.75, 80.0
#: One-shot: the share of the questions that go by the neighbours alone, at first, and where it has halved.
FIRST_SEARCH, SEARCH_HALVED_AT = 0.8, 40.0
#: What breaks ties between labels of which nothing is known, on the scale of logarithms.
#: Origin: a round number; far below any difference that means something.
TIES = 1e-3
#: What breaks ties between labels that a model holds equally likely. Origin: far below any difference of beliefs.
UNEQUAL = 1e-9
#: What beta, the weight of names in what is asked, may be; equally likely before the first answer.
STRENGTHS = (0.0, 2.0, 4.0, 8.0, 12.0, 16.0)
#: What alpha, the power of the networks beside names, may be, and the logarithm by which 1 is less likely than 0
#: before the first answer; and the power of the lines that begin at names.
HEEDED, UNTAUGHT, NAMED_POWERS = (0.0, 0.25, 0.5, 1.0), 5.0, (0.0, 0.25, 0.5, 1.0, 2.0)
#: Lines that begin at names: beta before the first answer, and the precision of the weights of a label, whose prior is
#: normal. Origin of the latter: a fifth of the training rows of clinc150 (seeds 0 to 2; 300, 1,000 and 3,000 answers),
#: where 1, 3, 10, 30 and 100 were tried; the former is a strength that names often have.
FIRST_NAMES, NAMED_RIDGE = 8.0, 10.0
#: Steps of their fit at most, and rows. Origin: round numbers, for time.
NAMED_STEPS, MOST_NAMED = 40, 10_000
#: Items at most from which beta is learned. Origin: a round number, for time.
MOST_WEIGHED = 500
#: Dimensions to which texts, sparse features, and more columns than these of rows of one length, are brought; and by
#: what share of it lengths may differ. Origin of the latter: a round number, more than half precision loses.
N_DIMENSIONS, ONE_LENGTH = 300, 1e-3
#: Rows of one length are those of an encoder if the variance of all columns has this share of the square of the length
#: at least, and that of no column this share of the variance. Origin: round numbers; rows whose mean cosine is .95 have
#: .05 of the former.
LEAST_APART, MOST_OF_ONE = 0.01, 0.5
#: Directions to which more columns of other numbers than these are brought, the rows from which they are learned at
#: most, and the rows that are made dense at once. Origin: round numbers, for time and memory.
N_DIRECTIONS, MOST_DIRECTED, ROWS_AT_ONCE = 200, 3000, 10_000
#: Numbers beyond this have squares whose sum is beyond all numbers. Origin: a round number, the square of which can be
#: added up some 10^100 times.
VAST = 1e100
#: A column of a row is at most so many standard deviations from its mean. Origin: more than of any row among 10^12.
FARTHEST = 1e6

# -- items that have none of the labels (unlisted.py, planning.py)

#: An item is no longer asked about once it is so likely to have none of the labels; and where one label is left, which
#: is taken for granted, once none is likelier than that.
NONE_LIKELY, NONE_LIKELIER = 0.9, 0.5
#: Before the first answer one item in so many, and one more, is taken to have none of the labels; one in as many as
#: there are labels where these are more. Origin: two labels of digits, breast cancer and made-up data (36 runs of 60 to
#: 500 answers), where with as few as there are labels 11 left items that had one; with 10, 2 runs did, and with 20, 1.
#: With a third label missing, on iris and digits, as many were found.
LEAST_LISTED = 20
#: What is believed of a label is taken for at most so sure. Origin: a round number; no single no says more than that.
MOST_SURE = 0.99
#: How much the items near are heeded: they do not speak independently of each other. Origin: on digits with one label
#: missing (seeds 0 and 1), .5 for 64 of them was better than 1 for the 16 nearest.
NEAR_HEEDED = 0.5
#: Share of the items that are asked about to the end, however likely it is that they have none of the labels.
#: Origin: a round number; each costs as many answers as there are labels.
NEVER_LEFT = 0.02

# -- the ensemble of networks (network.py)

#: Networks, hidden units of each, and examples of a training step.
N_NETWORKS, N_HIDDEN, BATCH = 8, 256, 64
#: Adam: the learning rate, and how slowly its means of slopes and of their squares change. MOMENTUM is Adam's default.
RATE, MOMENTUM, SQUARES = 2e-3, 0.9, 0.99
#: Share of the hidden units that a training step leaves out.
DROPPED = 0.2
#: Spread of the logits before the first answer. Members begin with definite guesses, each its own, so that a no changes
#: a guess; from guesses near 1 / K it would change nearly nothing.
FIRST_GUESSES = 6.0
#: Weight decay is PRIOR / n, at most MOST_DECAY: a prior that counts as much whatever the number n of examples.
PRIOR, MOST_DECAY = 300.0, 1.0
#: Training steps for each new answer, the least for a call of ``learn``, and the most passes over the examples. With
#: many labels there are many answers about few examples: steps on what is long known drive the weights out of bounds.
STEPS_PER_ANSWER, LEAST_STEPS, MOST_PASSES = 1.2, 10, 20
#: With more labels than these a step takes long, and most answers are noes, which teach little: steps fall as this
#: power of the number of labels, so that an answer does not cost in proportion to it. Origin: for time;
#: with 150 labels this leaves .6 of the steps.
FEW_LABELS, STEPS_FALL = 75, 0.75
#: At least this share of a batch are examples whose label is known.
LEAST_YES = 0.5
#: Examples that are passed through the networks at once. Origin: a round number, for time and memory.
CHUNK = 512

# -- who speaks beside the networks (around.py, beside.py, forest.py, linear.py, pooled.py, spread.py)

#: The factor by which the answers must have grown before they are fitted anew; trees of a forest; steps of a logistic
#: regression at most. Origin: round numbers, for time. With 1.25 lines lagged behind: clinc50, one-shot, 3,000 answers,
#: a fifth of the training rows (seeds 0 to 3), had .365, and .393 with 1.05.
FITTED_GROWTH, N_TREES, LINEAR_STEPS = 1.1, 64, 100
#: Lines are fitted anew after every epoch while fewer rows are known: that is quick, and each row counts. Origin: a
#: round number; with it TREC after 1,000 answers of follow-up (a fifth of the training rows, seeds 0 to 7) had .406,
#: and .391 without.
FEW_FOR_LINES = 500
#: Networks and those beside them have shares in parts of 1 / N_PARTS, networks LEAST_PARTS of them at least, and
#: together one of these powers. Networks are never silent: at first they are surer than they should be, and guess
#: better than nothing all the same. Origin: a fifth of the training rows of letter, letter95, digits and clinc50
#: (follow-up, seeds 0 to 7), where also powers of each of its own were tried, and networks that may be silent. The two
#: least powers are for one-shot, where without them others were heeded for being less sure (letter, seeds 0 to 19).
N_PARTS, LEAST_PARTS, SHARPNESS = 4, 1, (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
#: The logarithm by which networks alone are likelier to know best than others alone, before the first answer: they
#: learn from noes too, the others from known labels only. Origin: the same rows, one-shot, where 0, 3 and 10 were
#: tried.
NETWORKS_AHEAD = 3.0

#: What is known spreads over so many rows of the pool, from each to so many nearest, in so many steps, with this share
#: of it left after each. Origin: a fifth of the training rows of letter, digits, letter95, clinc50 and clinc150 (seeds
#: 0 and 1, both protocols), where also 4,000 and all rows, 6, 8 and 20 nearest, 8 and 30 steps, and shares of .8 to
#: .97 were tried; most differences were small. No more rows, for time, and for the file of a classifier.
MOST_AROUND, N_ALIKE, SPREAD_STEPS, REACH = 8192, 10, 10, 0.9
#: It is spread anew after every epoch while fewer rows are known. Origin: a round number; each of the first counts.
FEW_FOR_SPREAD = 100

# -- a scikit-learn estimator and its guide (estimator.py, guide.py)

#: The model is fitted anew when the answers have grown by this factor, and by so many at least: fitted after every few
#: answers it learned less well.
REFIT_GROWTH, LEAST_NEW = 1.1, 10
#: One-shot: an item that is not known is taught with its likeliest label if the guide gives it this probability.
LIKELY = 0.7
#: Follow-up: an item that nobody was asked about is taught with its likeliest label from this probability on. Origin: a
#: fifth of the training rows of letter (logistic regression and trees, seeds 0 to 2, 1,000 and 3,000 answers), where 0,
#: .3, .5, .7 and .9 were tried; .3 and .5 were the best. At the end it is the second, when hard items are among those
#: that are taught: of a fifth of the training rows of letter (seeds 0 to 2, 3,000 answers), where 0, .3 and .5 were
#: tried, boosting had .834, .834 and .824, and trees were the same.
GUESSED, GUESSED_LAST = 0.5, 0.3
#: So many such items are looked at for each known one on the way, and at the end; and so many at most. Origin: the
#: first and the last are for time, since the last fit is one of many. For the second a fifth of the training rows of
#: letter (3,000 answers, seeds 0 and 1; three estimators), where 2,000, 5,000 and 12,000 items were tried: with each
#: step the accuracy rose by about .01.
GUESSES_EACH, GUESSES_AT_END, MOST_GUESSED = 1, 20, 20_000
#: But only once so many such guesses were tried. Origin: a round number; of fewer the share that is right says little.
LEAST_TRIED = 20
#: Where a fit fails, each label is given in so many rows at least, and if that fails in so many. Origin: the first is
#: more than any default of scikit-learn wants, the second than most users do.
LEAST_ROWS = (10, 50)
#: Rows that the estimator is tried to fit before the first question, as many that it is tried to predict, and how many
#: it is tried to fit if that fails. Origin: round numbers, for time; common estimators need 50 rows or so.
N_PROBED, MOST_PROBED = 200, 2000
#: Where the guide has no features, gamma falls as sqrt(DISCOVERY * K / answers): at first it is 1.
DISCOVERY = 4.0
#: A column that is no number has a feature for each of its values, if these are so many at most, and is a text if not.
#: Origin: a round number.
MOST_VALUES = 50
#: The least share that the estimator, or its guide, has in what is asked. Origin: a round number, so that one that has
#: become good is found out.
LEAST_TRUST = 0.02
