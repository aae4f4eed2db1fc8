"""Every tuning number of the paper's learners that is not the paper's own, and where it came from.

What a theorem fixes stands with the theorem, in ``schedule.py`` and ``rates.py``. No promise rests on these: what a run
achieved is computed from its own rounds.
"""

from __future__ import annotations

#: Gap at which the solvers other than SPIDER stop: the sample's variance bound is then at most 1.0001 / (1 - gamma).
#: Origin: by that bound, a ten-thousandth above what any mixture can have.
GAP = 1e-4
#: ... and plain Frank-Wolfe, which takes long to get there: 1.01 / (1 - gamma). Origin: by that bound, a hundredth.
PLAIN_GAP = 1e-2
#: The smallest eps and delta for which sizes are computed. Origin: a round number, far from the end of a float.
SMALLEST = 1e-30
#: The largest size that is searched for. Origin: a round number, beyond all that can be asked.
LARGEST = 10**30
