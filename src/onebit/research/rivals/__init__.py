"""The systems that the paper builds on or compares itself with, on the same learner contract.

Here: EXP4, Banditron, Policy Elimination, ILOVETOCONBANDITS, the sparse-reward regret learner of Erez et al. (2024).
Uniform guesses and full labels are in ``learners/paper``. The learner of Daniely, Sabato, Ben-David and Shalev-Shwartz
(2011) for Natarajan classes is :class:`onebit.learners.paper.uniform.UniformLearner` on the infinite class: uniform
guesses, then ERM. What the theorems of all of them ask for is in ``learners/paper/rates.py``. Each module says where
its constants were found, or derives what it promises.

Not built, since of the algorithm itself only the abstract could be found: the tractable learner of Erez, Chen, Cohen,
Koren, Mansour, Moran and Rakhlin (2026, arXiv 2605.29645), and the list learner of Erez and Koren (2025, arXiv
2502.09257); their rates are known. RandomizedUCB (Dudik et al. 2011) neither: the constants of its program could not be
found, and ILOVETOCONBANDITS is its successor with the same constraints.
"""
