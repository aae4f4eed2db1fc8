"""Every experiment, by name, in the order of the report."""

from __future__ import annotations

from onebit.research.experiments import (
    class_size,
    exploration,
    frank_wolfe,
    learning_curves,
    lower_bound,
    natarajan_cover,
    online_to_batch,
    phase_one,
    planning,
    price,
    realisable,
    several_labels,
    smoothness,
)
from onebit.research.experiments.piece import Experiment

_MODULES = (
    learning_curves,
    price,
    exploration,
    frank_wolfe,
    class_size,
    natarajan_cover,
    realisable,
    online_to_batch,
    lower_bound,
    phase_one,
    planning,
    smoothness,
    several_labels,
)
EXPERIMENTS: dict[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in _MODULES}
