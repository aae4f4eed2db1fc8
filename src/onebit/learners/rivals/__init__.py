"""The systems that the paper builds on or compares itself with, on the same learner contract.

Here: EXP4, Banditron, Policy Elimination, ILOVETOCONBANDITS, the sparse-reward regret learner of Erez et al. (2024).
Uniform guesses and full labels are in ``learners`` itself. The learner of Daniely, Sabato, Ben-David and Shalev-Shwartz
(2011) for Natarajan classes is :class:`onebit.learners.uniform.UniformLearner` on the infinite class: uniform guesses,
then ERM. What the theorems of all of them ask for is in ``rates.py``.

Not built, since no description of the algorithm itself could be found: the tractable learner of Erez, Chen, Cohen,
Koren, Mansour, Moran and Rakhlin (2026), whose rate is known, and the list learner of Erez and Koren (2025).
RandomizedUCB (Dudik et al. 2011) is not built either: its program is solved by the ellipsoid method, and
ILOVETOCONBANDITS is its successor with the same constraints.
"""
