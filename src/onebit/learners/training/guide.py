"""The built-in model beside an estimator: it guesses what to ask, as far as it does it better, and likely labels.

An estimator learns from labels and not from noes, knows nothing of labels it has not met, and is fitted now and then.
The built-in model has none of these faults, so questions go by both: each in proportion to how likely it held the
last answers about new items, prob(estimator) = L_e / (L_e + L_m), where L is the product of what was given to each
answer, older answers counting less and less. Where one of the two is no good, it is soon not heeded. The classifier is
the estimator alone; what the guide holds likely, it is taught too. Not in the paper.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from onebit.learners.training.choice import given_possible
from onebit.learners.training.constants import GUESSED, LEAST_TRIED, LEAST_TRUST, RECENT
from onebit.learners.training.model import Bools, Floats, Ints, Known, Model, mean_belief, softened
from onebit.learners.training.pooled import PooledModel


class Guide:
    """A built-in ``model`` over ``features`` (n, d) of the pool; ``near_are_alike``: whether features mean anything."""

    def __init__(self, model: Model, features: NDArray[np.floating], near_are_alike: bool = True) -> None:
        self._model, self.features, self.near_are_alike = model, features, near_are_alike
        self._networks = model.networks if isinstance(model, PooledModel) else model
        #: log L_e - log L_m.
        self._ahead = 0.0
        #: Of the last guesses that were likely enough to be taught: how many were right, how many were to be, and all.
        self._n_right = self._n_believed = self._n_tried = 0.0
        self._n_of_each_label: Ints = np.zeros(1, dtype=np.int64)

    @property
    def trust(self) -> float:
        """The share of the estimator in what is asked."""
        return float(np.clip(expit(self._ahead), LEAST_TRUST, 1 - LEAST_TRUST))

    def asking(self, items: Ints, own: Floats) -> tuple[Floats, Floats]:
        """What to ask by: shares (M,) and beliefs (M, n, K), of the networks and of ``own`` (n, K), the estimator's."""
        own = softened(own, self._n_of_each_label)
        beliefs = np.concatenate([self._networks.beliefs(self.features[items]), own[None]])
        return np.append((1 - self.trust) * self._networks.weights, self.trust), beliefs

    def left(self, items: Ints, possible: Bools) -> Floats:
        """What the model believes of the labels that are left; shape (n, K)."""
        return given_possible(mean_belief(self._model, self.features[items]), possible)

    def judge(self, items: Ints, possible: Bools, own: Floats) -> None:
        """See which of the two held likelier what is now known of ``items``, before either has learned it."""
        own = softened(own, self._n_of_each_label)
        theirs = mean_belief(self._model, self.features[items])
        tiny = np.finfo(np.float32).tiny
        of_own, of_theirs = (np.log(np.maximum((of * possible).sum(axis=1), tiny)) for of in (own, theirs))
        kept = (1 - 1 / RECENT) ** len(items)
        self._ahead = kept * self._ahead + float((of_own - of_theirs).sum())
        guess, chance = theirs.argmax(axis=1), theirs.max(axis=1)
        is_possible = possible[np.arange(guess.size), guess]
        # A guess that was not asked about, at an item that is still open, is neither right nor wrong.
        tried = (chance >= GUESSED) & (~is_possible | (possible.sum(axis=1) == 1))
        self._n_right = kept * self._n_right + np.count_nonzero(is_possible[tried])
        self._n_believed = kept * self._n_believed + float(chance[tried].sum())
        self._n_tried = kept * self._n_tried + np.count_nonzero(tried)

    def learn(self, items: Ints, known: Known, rng: np.random.Generator) -> None:
        """Let the model learn all that is known of ``items``."""
        one_left = known.possible[known.possible.sum(axis=1) == 1]
        self._n_of_each_label = np.bincount(one_left.argmax(axis=1), minlength=known.possible.shape[1])
        self._model.learn(replace(known, x=self.features[items]), rng)

    def likely(self, items: Ints, least: float = GUESSED) -> tuple[Ints, Ints]:
        """Those of ``items`` of which one label has this probability at ``least``, and that label.

        None, if guesses of ``GUESSED`` and more at new items were right less often of late than believed, or were few.
        """
        belief = mean_belief(self._model, self.features[items])
        proven = self._n_tried >= LEAST_TRIED and self._n_right >= self._n_believed
        sure = (belief.max(axis=1) >= least) & proven
        return items[sure], belief[sure].argmax(axis=1)
