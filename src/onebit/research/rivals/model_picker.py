"""ModelPicker: online active model selection (Karimi, Guerel, Karlas, Rausch, Zhang and Krause, AISTATS 2021).

Items come as a stream, here in a random order of the pool. At round t models have the weights w proportional to
exp(-eta_t L), L their estimated losses, eta_t = sqrt(log N / (2 t)). The label is asked with probability max(v, eta_t)
at most 1, where v = max over labels c of l_c (1 - l_c), l_c the weight of the models that do not say c; where v is 0
nothing is asked. The losses of a labelled round count by one over that probability. Named is the model of the least
estimated loss. A stream that ends before the budget is used begins again with what was passed over.
"""

from __future__ import annotations

import math

import numpy as np

from onebit.research.rivals.labelled import LabelledRival, Predictions


class ModelPicker(LabelledRival):
    """Labels are asked with a probability that rises with how much the models' weights differ about the item."""

    def __init__(self, said: Predictions, n_labels: int, rng: np.random.Generator) -> None:
        super().__init__(said, n_labels, rng)
        self._loss = np.zeros(said.shape[0])
        self._t, self._asked_with = 0, 1.0
        self._order: list[int] = []
        self._differ = (self.said != self.said[0]).any(axis=0)

    def next(self) -> int | None:
        left = np.flatnonzero(self.unlabelled & self._differ)
        while left.size:
            if not self._order:
                self._order = self.rng.permutation(left).tolist()
            item, self._t = self._order.pop(), self._t + 1
            eta = math.sqrt(math.log(self._loss.size) / (2 * self._t))
            weight = np.exp(-eta * (self._loss - self._loss.min()))
            says = self.said[:, item]
            mass = np.bincount(says[says >= 0], weights=(weight / weight.sum())[says >= 0])
            unsure = float((mass * (1 - mass)).max(initial=0.0))
            self._asked_with = min(max(unsure, eta), 1.0) if unsure > 0 else 0.0
            if self.rng.random() < self._asked_with:
                return item
        return None

    def tell(self, item: int, label: int) -> None:
        super().tell(item, label)
        self._loss += (self.said[:, item] != label) / self._asked_with

    def leader(self) -> int:
        return self.one_of(np.flatnonzero(self._loss <= self._loss.min() + 1e-12))
