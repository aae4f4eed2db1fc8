"""What researchers need and users do not: the paper's rivals, and the experiments that measure its claims.

``rivals``: learners to compare with, on the contract of ``onebit.learners``. ``experiments``: what ``onebit reproduce``
runs; its figures and its parallel runs need the extra ``onebit[research]``. Nothing else in onebit imports from here.
"""
