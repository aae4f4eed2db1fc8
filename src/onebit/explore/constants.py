"""Every tuning number of exploration, and where it came from. The paper has none of them: they are of the solvers.

No promise rests on them: a mixture is as good as its gap, which is measured when the solver ends.
"""

from __future__ import annotations

# -- what may be computed with (potential.py, mixture.py)

#: Below this gamma a label would be asked so rarely that nothing could be computed with its weight.
#: Origin: a round number.
SMALLEST_GAMMA = 1e-9
#: How far the probabilities of a mixture may be from adding up to one. Origin: a round number.
SUM_TOLERANCE = 1e-9

# -- fully corrective Frank-Wolfe (corrective.py); round numbers, with which benchmarks/solver.py measures it

#: New hypotheses a pass, and for classes of at least LARGE, where a pass costs more than the work on its columns.
N_COLUMNS, N_COLUMNS_LARGE, LARGE = 10, 50, 100_000
#: The inner problem is solved to this share of the tolerance, so that what is left of the gap is new columns' alone; on
#: the way there, to this share of the gap's square, since the next columns will move the mixture anyway.
INNER_SHARE = 0.1
#: Newton steps of one inner problem. Origin: a limit that a convergent run does not meet.
MAX_NEWTON_STEPS = 100
#: Share of the predicted decrease that a step must bring. Origin: the usual constant of Armijo's rule.
ARMIJO = 1e-4
#: Added to the Hessian, relative to its diagonal, since columns may be linearly dependent.
RIDGE = 1e-10
#: A step that had to be made shorter than this share ends the inner problem.
SMALLEST_STEP = 1e-6
#: Exchanges that the bounded least-squares problem may take, for each of its unknowns.
NNLS_STEPS = 100
