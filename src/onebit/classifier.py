"""``YesNoClassifier``: a scikit-learn classifier that is trained by yes/no answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted, validate_data

from onebit.asking import Before, RowTraining
from onebit.errors import InvalidInputError, check_count, shown
from onebit.hypotheses.base import n_examples
from onebit.learners.training.audit import audit_for_target
from onebit.learners.training.columns import features_of_anything
from onebit.learners.training.earlier import EarlierAnswer, checked
from onebit.learners.training.estimator import EstimatorModel
from onebit.learners.training.features import Features, is_text
from onebit.learners.training.guide import Guide
from onebit.learners.training.history import History, Sample
from onebit.learners.training.inputs import as_labels, as_truth, check_built_in_takes, check_is_as_learned
from onebit.learners.training.learner import TrainingLearner
from onebit.learners.training.model import Model, mean_belief
from onebit.learners.training.pool import PoolRows
from onebit.learners.training.pooled import built_in
from onebit.learners.training.result import TrainingResult, how_it_ended, missing_label
from onebit.learners.training.rows import as_rows, list_as_rows
from onebit.randomness import generator, given_or_fresh
from onebit.raters import CallableRater
from onebit.records import ANSWERS_PER_ITEM, DELTA, Answer, TrainingProtocol

#: ``answer(index, label)`` says whether ``label`` is right for row ``index``; None for can't tell, and Answer.NONE
#: where no label of the list is.
AnswerFunction = Callable[[int, Any], "bool | Answer | None"]


#: Questions that ``fit`` takes at a time.
AT_A_TIME = 256

#: What is learned, beside all whose name ends with an underscore.
LEARNED = ("_features", "_model")


class YesNoClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns K labels from answers to "is this label right?".

    ``estimator``: None for the built-in model (numbers, sparse numbers or texts; labels of texts are guessed from
    their names, as far as the answers bear these out), or any classifier, a pipeline included, which is
    given the rows as they are. ``protocol``: *one-shot*, one question about each item
    drawn, or *follow-up*, items chosen by what they teach and asked until a yes. ``budget``: answers in all (None: two
    for each item). ``target``: stop once an accuracy of at least this is shown. ``audit``: answers kept for the
    accuracy interval (None: a twentieth of the budget; with a target, as many as showing it takes, up to half).
    ``delta``: how often that interval may be wrong, if the rater says no to a right label with probability at most
    ``f_no``, and yes to a wrong one with at most ``f_yes``. ``seed`` is for replay and simulation; without it one is
    drawn from the operating system.

    After ``fit``: ``classes_``; ``accuracy_interval_`` (low, high), or None without an audit; ``n_answers_``;
    ``verified_items_`` and ``verified_labels_``, the rows whose label was confirmed; ``status_``; ``seed_``;
    ``without_label_items_``, the rows that have none of the labels by what the rater said, and ``left_items_``, those
    that seem to have none and are no longer asked about (``warning_`` says so); of ``n_asked_to_end_`` rows asked about
    until the last label, ``n_without_label_`` have none. ``learning_curve_`` has intervals for the accuracy on the way,
    and ``forecast_`` what it may become with more answers, without a promise (``estimate/learning_curve.py``).
    ``n_pool_`` is how many rows of ``X`` were chosen from: all, or where there are more than 200,000 and twice the
    budget, so many that were drawn at random; the others are not read, so ``X`` may be an array that is mapped from a
    file (``np.load(path, mmap_mode="r", allow_pickle=False)``). Rows are named by their place in ``X`` all the same.
    Even if ``fit`` fails, every answer given is in ``answered_items_``, ``answered_labels_`` and ``answers_`` (yes, no
    or can't tell), and all in ``history_``, for ``answers`` of a later ``fit``.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> YesNoClassifier(protocol="follow-up", seed=0).fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        protocol: TrainingProtocol = "one-shot",
        budget: int | None = None,
        target: float | None = None,
        audit: int | None = None,
        delta: float = DELTA,
        f_no: float = 0.0,
        f_yes: float = 0.0,
        seed: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.protocol = protocol
        self.budget = budget
        self.target = target
        self.audit = audit
        self.delta = delta
        self.f_no = f_no
        self.f_yes = f_yes
        self.seed = seed

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        answer: AnswerFunction | None = None,
        labels: Iterable[Any] | None = None,
        label_features: Any = None,
        answers: Iterable[Sequence[Any]] = (),
        observe: Callable[[int, TrainingResult], None] | None = None,
    ) -> YesNoClassifier:
        """Ask about the rows of ``X``: ``answer`` with the possible ``labels``, or a rater who knows ``y``.

        ``label_features`` (K, d), where ``X`` are numbers and the model is built in: what the encoder that gave ``X``
        gives for each of ``labels``, in their order, so that an item is near its label.
        ``answers`` are from before, each (row, label, answer) or (row, label, answer, audited), such as ``history_`` of
        an earlier fit, to go on with a larger budget or with rows added at the end of ``X``: they count towards the
        budget, and nothing is asked again. The rows set aside for the audit then, which ``history_`` itself has and a
        list made of it has not, are audited now, and of those audited before only those whose prediction has changed
        are asked about, beyond the budget. ``observe`` is told the number of answers and what is known, now and
        then.
        """
        learner, rater = self._begin(X, y, answer, labels, label_features, answers)
        try:
            while questions := learner.questions(AT_A_TIME):
                for question in questions:
                    learner.hear(question, rater(question))
                if observe is not None:
                    observe(len(learner.answers), learner.result)
        finally:
            # Answers cost more than anything else here: what stops the run does not take them with it.
            self._keep_answers(learner)
        self.taken_from(learner)
        if (told := self._fits_failed()) is not None:
            warnings.warn(told, FitFailedWarning, stacklevel=2)
        return self

    def learner(
        self,
        X: Any,
        *,
        labels: Iterable[Any],
        label_features: ArrayLike | None = None,
        answers: Iterable[Sequence[Any]] = (),
    ) -> RowTraining:
        """Begin what ``fit`` does, for a loop of your own: ``ask`` it for questions and ``tell`` it the answers.

        Its ``classifier`` is this one, fitted to the answers so far; its ``history`` is for ``answers`` later.

        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> learner = YesNoClassifier(protocol="follow-up", seed=0).learner(X, labels=[0, 1, 2])
        >>> while questions := learner.ask(5):
        ...     for question in questions:
        ...         learner.tell(question, bool(y[question.row] == question.label))
        >>> learner.classifier.score(X, y) > 0.9
        True
        """
        return self._begin(X, None, _nobody, labels, label_features, answers)[0]

    def _begin(
        self,
        X: Any,
        y: ArrayLike | None,
        answer: AnswerFunction | None,
        labels: Iterable[Any] | None,
        label_features: ArrayLike | None,
        answers: Iterable[Sequence[Any]],
    ) -> tuple[RowTraining, CallableRater]:
        """A learner for the rows, and who answers; where it cannot begin, this classifier stays as it was."""
        was = self._fitted()
        # Of an earlier fit nothing may stand beside the model of this one: its interval would be of another model.
        self._set_fitted({})
        try:
            return self._begun(X, y, answer, labels, label_features, answers)
        except BaseException:
            self._set_fitted(was)
            raise

    def _fitted(self) -> dict[str, Any]:
        """All that was learned."""
        return {name: value for name, value in vars(self).items() if name.endswith("_") or name in LEARNED}

    def _set_fitted(self, fitted: dict[str, Any]) -> None:
        """As if nothing had been learned but what is ``fitted``."""
        for name in self._fitted():
            delattr(self, name)
        self.__dict__.update(fitted)

    def _begun(
        self,
        X: Any,
        y: ArrayLike | None,
        answer: AnswerFunction | None,
        labels: Iterable[Any] | None,
        label_features: ArrayLike | None,
        answers: Iterable[Sequence[Any]],
    ) -> tuple[RowTraining, CallableRater]:
        self.seed_ = given_or_fresh(self.seed)[0]
        history = History.of(answers)
        X, labels = as_rows(X), None if labels is None else as_labels(labels).tolist()
        pool = PoolRows.of(X, self.budget, self.seed_, [*history, *history.aside_rows()])
        x = self._checked(pool.taken(X), reset=True)
        n_items = self.n_pool_ = n_examples(x)
        n_rows = n_items if pool.rows is None else pool.n_rows
        rater = self._rater(n_rows, y, answer, labels)
        if n_items < 2:
            raise InvalidInputError(
                f"X has n_samples={n_items}; at least two rows are needed, one to ask about and one to predict"
            )
        if self.classes_.size < 2:
            raise InvalidInputError(
                f"there is only one class, {self.classes_.tolist()[0]!r}; give at least two, or there is nothing to ask"
            )
        raters_err = self.f_no + self.f_yes > 0
        by_row = checked(history, self.classes_.tolist(), n_rows, raters_err, history.none_of)
        before = Before(by_row, history.sample_after(by_row))
        budget = ANSWERS_PER_ITEM * n_items if self.budget is None else self.budget
        self._features = Features(x, self.seed_) if self.estimator is None else None
        seen = x if self._features is None else self._features(x)
        learner = self._training(seen, self._names(labels, label_features), pool, before, budget)
        return RowTraining(self, learner, pool, before, budget, self._fitted()), rater

    def _training(
        self, seen: Any, names: NDArray[np.float32] | None, pool: PoolRows, before: Before, budget: int
    ) -> TrainingLearner:
        """The learner, in items of the pool."""
        n_items = n_examples(seen)
        earlier = [replace(each, item=pool.item(each.item)) for each in before.answers]
        sample = pool.items_of(before.sample, n_items)
        audit = self._audit(budget, n_items, earlier, sample)
        self._model, guide = self._new_model(seen, names)
        return TrainingLearner(
            self._model,
            seen,
            self.classes_.size,
            budget=budget,
            protocol=self.protocol,
            target=self.target,
            audit=audit,
            delta=self.delta,
            f_no=self.f_no,
            f_yes=self.f_yes,
            near_are_alike=self._features is not None,
            names=names,
            guide=guide,
            earlier=earlier,
            sample=sample,
            seed=self.seed_,
        )

    def taken_from(self, learner: RowTraining) -> YesNoClassifier:
        """This classifier, with what its ``learner`` knows by now, whatever it was given to since."""
        self._set_fitted(learner.fitted)
        self._keep_answers(learner)
        self._keep(learner.result, learner.pool, len(learner.answers), learner.budget)
        # Answers from before, and none that was only recalled.
        self.n_answers_ = len(learner.answers)
        self.n_cant_tell_ = sum(each.answer is Answer.CANT_TELL for each in learner.answers)
        return self

    @classmethod
    def trained(
        cls, features: Features, model: Model, classes: NDArray[Any], result: TrainingResult, **options: Any
    ) -> YesNoClassifier:
        """A classifier whose model was trained by a learner elsewhere, over ``features`` of the examples."""
        made = cls(**options)
        made.classes_, made._features, made._model = classes, features, model
        if features.n_columns is not None:
            made.n_features_in_ = features.n_columns
        made._keep(result, PoolRows(), result.n_answers, made.budget or result.n_answers)
        return made

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each of ``classes_``; shape (n, K)."""
        check_is_fitted(self)
        x = self._checked(as_rows(X), reset=False)
        # In double precision, so that what is said of a row does not hang on the rows beside it.
        seen = x if self._features is None else self._features(x).astype(np.float64)
        belief = mean_belief(self._model, seen).astype(np.float64)
        probability: NDArray[np.float64] = belief / belief.sum(axis=1, keepdims=True)
        return probability

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest of ``classes_`` for each row."""
        probability = self.predict_proba(X)
        predicted: NDArray[Any] = self.classes_[probability.argmax(axis=1)]
        return predicted

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        history = state.get("history_")
        # In parts that are lists and arrays: a file of skops then needs no type more.
        return {**state, "history_": history.parts()} if isinstance(history, History) else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "history_" in state:
            state = {**state, "history_": History.from_parts(state["history_"])}
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags

    def _checked(self, X: Any, reset: bool) -> Any:
        """Rows that can be indexed; an estimator has them as they are, and whether it takes them is tried elsewhere."""
        if not reset and self._features is not None:
            check_is_as_learned(X, learned_texts=self._features.n_columns is None)
        if is_text(X):
            return X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
        if self.estimator is not None:
            return X if hasattr(X, "shape") else list_as_rows(X)
        check_built_in_takes(X)
        return validate_data(self, X, reset=reset, accept_sparse="csr")

    def _rater(
        self, n_items: int, y: ArrayLike | None, answer: AnswerFunction | None, labels: Sequence[Any] | None
    ) -> CallableRater:
        """Who answers; sets ``classes_``."""
        if answer is None:
            if y is None:
                raise InvalidInputError(
                    "requires y to be passed, but the target y is None; give y, or answer and labels for a real rater"
                )
            truth = as_truth(y)
            if truth.size != n_items:
                raise InvalidInputError(f"y has {truth.size} labels for {n_items} rows; give one for each")
            known = np.unique(truth if labels is None else as_labels([*truth.tolist(), *labels]))
            self.classes_ = known
            return CallableRater(lambda item, label: bool(truth[item] == known[label]))
        if y is not None:
            raise InvalidInputError("both y and answer are given; y simulates a rater, so give one of them")
        if not callable(answer):
            raise InvalidInputError(
                f"answer is {shown(answer)}; give a function of a row's number and a label that says True, False or "
                "None, or give right labels as y"
            )
        if labels is None or len(labels) == 0:
            raise InvalidInputError("answer is given without labels; say which labels may be asked about")
        names, counts = np.unique(as_labels(labels), return_counts=True)
        if names.size != len(labels):
            twice = names[counts > 1][0].item()
            raise InvalidInputError(
                f"of the {len(labels)} labels some are equal, such as {shown(twice)}; give each once"
            )
        self.classes_ = names
        return CallableRater(lambda item, label: answer(item, names[label].item()))

    def _audit(self, budget: int, n_items: int, earlier: Sequence[EarlierAnswer], sample: Sample) -> int | None:
        """How many items are audited, where a target says how many it takes."""
        if self.target is None or check_count("budget", budget) <= len(earlier):
            return self.audit
        n_left = budget - sum(not each.audited for each in earlier)
        sizes = len(sample.aside), sample.size(n_items, earlier)
        return audit_for_target(self.target, self.audit, n_left, n_items, sizes, self.delta, (self.f_no, self.f_yes))

    def _names(self, labels: Sequence[Any] | None, label_features: Any) -> NDArray[np.float32] | None:
        """The names of ``classes_`` in the features of the built-in model; None where there are none."""
        features = self._features
        if label_features is None:
            return None if features is None else features.of_names(self.classes_)
        dense = label_features.toarray() if issparse(label_features) else label_features
        given = np.asarray(dense, dtype=np.float64)
        if labels is None or features is None or given.shape != (self.classes_.size, features.n_columns):
            raise InvalidInputError(
                f"label_features has shape {given.shape}; it needs labels, X of numbers, no estimator, and a row for "
                "each label with as many columns as X"
            )
        if not np.array_equal(np.sort(as_labels(labels)), self.classes_):
            raise InvalidInputError(
                f"label_features are given for the labels {shown(list(labels))}, and with those in y there are "
                f"{shown(self.classes_.tolist())}; give all of these as labels, each once, and a row for each"
            )
        assert_all_finite(given, input_name="label_features")
        return features(given[np.argsort(as_labels(labels), kind="stable")])

    def _new_model(self, x: Any, names: NDArray[np.float32] | None) -> tuple[Model, Guide | None]:
        """The classifier, and who helps to ask where it is an estimator."""
        n_labels, rng = self.classes_.size, generator(self.seed_, "networks")
        if self.estimator is None:
            return built_in(x.shape[1], n_labels, names, rng), None
        features = features_of_anything(x, self.seed_)
        model = EstimatorModel(self.estimator, n_labels, explores=features is None)
        model.try_on(x)
        seen = np.zeros((n_examples(x), 1), dtype=np.float32) if features is None else features
        return model, Guide(built_in(seen.shape[1], n_labels, None, rng), seen, near_are_alike=features is not None)

    def _fits_failed(self) -> str | None:
        """What is to be known of an estimator whose last fits failed."""
        return self._model.warning if isinstance(self._model, EstimatorModel) else None

    def _keep_answers(self, learner: RowTraining) -> None:
        given = learner.answers
        self.answered_items_ = np.array([each.item for each in given], dtype=np.int64)
        self.answered_labels_ = self.classes_[[each.label for each in given]]
        self.answers_ = np.array([each.answer.value for each in given], dtype=str)
        self.history_ = learner.history

    def _keep(self, result: TrainingResult, pool: PoolRows, n_spent: int, budget: int) -> None:
        self.n_answers_ = result.n_answers
        self.n_cant_tell_ = result.n_cant_tell
        self.n_asked_to_end_ = result.n_asked_to_end
        self.n_without_label_ = result.n_without_label
        self.without_label_items_ = pool.rows_of(result.without_label)
        self.left_items_ = pool.rows_of(result.left)
        missing = missing_label(len(result.without_label), len(result.left), result.n_items_asked)
        self.warning_ = "; ".join(filter(None, (missing, self._fits_failed()))) or None
        self.learning_curve_, self.forecast_ = result.curve, result.forecast
        self.status_ = how_it_ended(result.status, n_spent, budget)
        self.promise_ = result.promise
        audited = result.accuracy
        self.accuracy_interval_: tuple[float, float] | None = None if audited is None else (audited.low, audited.high)
        self.verified_items_ = pool.rows_of([each.item for each in result.verified])
        self.verified_labels_ = self.classes_[[each.label for each in result.verified]]


def _nobody(index: int, label: Any) -> bool:
    """Whoever runs the loop answers, and not a function."""
    raise AssertionError
