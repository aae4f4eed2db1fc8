"""A run of ``onebit learn``: who answers, what is seen on the way, and what came out."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from onebit.classifier import YesNoClassifier
from onebit.cli.labelling import AnswersFile, Person, QuitError, TakenBackError, check_can_ask
from onebit.cli.terminal import single_keys
from onebit.errors import InvalidInputError, OnebitError
from onebit.randomness import generator, given_or_fresh
from onebit.records import ANSWERS_PER_ITEM, Answer
from onebit.tables.data import Data

#: Share of the rows on which the accuracy is measured, where labels are known.
HELD_OUT = 0.2
#: Checkpoints in a run.
N_CHECKPOINTS = 20
#: Answers from which the recent share of yes is taken.
RECENT = 300


class Training:
    """Trains ``classifier`` on the data, once."""

    def __init__(self, data: Data, names: tuple[str, ...], classifier: YesNoClassifier, console: Console) -> None:
        self._data, self._names, self.classifier, self._console = data, names, classifier, console
        rows = np.arange(data.n_items)
        n_held_out = 0
        if data.labels is not None:
            # Answers of people have their seed from the file that keeps them.
            classifier.seed = given_or_fresh(classifier.seed)[0]
            rows = generator(classifier.seed, "rows held out").permutation(data.n_items)
            n_held_out = max(1, round(HELD_OUT * data.n_items))
        self._held_out: NDArray[np.int64] = rows[:n_held_out]
        self._pool: NDArray[np.int64] = rows[n_held_out:]
        self._budget = classifier.budget or ANSWERS_PER_ITEM * self._pool.size
        self._start = time.monotonic()
        self.is_over = False
        self._forget()

    def simulate(self) -> None:
        """A rater who knows the labels answers; a bar shows how far it is."""
        truth: Any = self._data.labels
        columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
        with Progress(*columns, console=self._console, transient=True, disable=not self._console.is_terminal) as bar:
            task = bar.add_task("asking simulated raters", total=self._budget)
            self._fit(
                lambda row, label: Answer.YES if truth[row] == label else Answer.NO,
                lambda: bar.update(task, completed=self._n_answers, description=self._status()),
            )

    def ask(self, path: Path) -> None:
        """The person at the terminal answers, to the end or until quitting; answers are kept at ``path``."""
        check_can_ask(self._data)
        kept = AnswersFile(path, self._data.digest, self.classifier.seed)
        self.classifier.seed = kept.seed
        try:
            with single_keys() as key:
                while not self.is_over:
                    self._forget()
                    try:
                        self._fit(Person(self._data, kept, key, self._status, self._console), lambda: None)
                    except TakenBackError:
                        continue
        except QuitError:
            return
        finally:
            kept.close()

    def figures(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        trained = self.classifier
        told: dict[str, Any] = {
            "status": trained.status_ if self.is_over else "running",
            "n_answers": self._n_answers,
            "n_cant_tell": self._n_cant_tell,
            "n_items": int(self._pool.size),
            "n_held_out": int(self._held_out.size),
            "labels": list(self._names),
            "protocol": trained.protocol,
            "budget": int(self._budget),
            "delta": trained.delta,
            "seed": trained.seed,
            "accuracy": self._accuracy() if self.is_over else None,
            "accuracy_interval": list(trained.accuracy_interval_)
            if self.is_over and trained.accuracy_interval_
            else None,
            "checkpoints": self._checkpoints,
            "seconds": round(time.monotonic() - self._start, 3),
        }
        if self.is_over:
            told |= {"n_verified": int(trained.verified_items_.size), "promise": trained.promise_}
            told |= {"n_asked_to_end": trained.n_asked_to_end_, "n_without_label": trained.n_without_label_}
            told["warning"] = trained.warning_
        return told

    def _forget(self) -> None:
        self._n_answers = self._n_cant_tell = 0
        self._recent: deque[bool] = deque(maxlen=RECENT)
        self._checkpoints: list[dict[str, Any]] = []
        self._estimate: float | None = None

    def _fit(self, rater: Callable[[int, str], Answer], look: Callable[[], None]) -> None:
        def answer(item: int, label: str) -> Answer:
            said = rater(int(self._pool[item]), label)
            self._n_answers += 1
            self._n_cant_tell += said is Answer.CANT_TELL
            self._recent.append(said is Answer.YES)
            return said

        def observe(n_answers: int, result: Any) -> None:
            self._estimate = result.recent_accuracy
            if n_answers >= (len(self._checkpoints) + 1) * self._budget / N_CHECKPOINTS:
                self._add_checkpoint()
            look()

        try:
            self.classifier.fit(self._data.x[self._pool], answer=answer, labels=self._names, observe=observe)
        except OnebitError:
            raise
        except ValueError as error:
            # scikit-learn's, such as texts without a word.
            raise InvalidInputError(f"the data cannot be learned from: {str(error).splitlines()[0]}") from error
        self.is_over = True
        if not self._checkpoints or self._checkpoints[-1]["answers"] < self._n_answers:
            self._add_checkpoint()

    def _add_checkpoint(self) -> None:
        yes_rate = sum(self._recent) / len(self._recent) if self._recent else None
        self._checkpoints.append(
            {"answers": self._n_answers, "accuracy": self._accuracy(), "recent_yes_rate": yes_rate}
        )

    def _accuracy(self) -> float | None:
        """On the rows held out, if labels are known."""
        if self._data.labels is None:
            return None
        predicted = self.classifier.predict(self._data.x[self._held_out])
        return float((predicted == self._data.labels[self._held_out]).mean())

    def _status(self) -> str:
        words = f"{self._n_answers:,} of at most {self._budget:,} answers"
        if self._checkpoints and (measured := self._checkpoints[-1]["accuracy"]) is not None:
            return f"{words}; accuracy {measured:.3f} on rows held out"
        return words if self._estimate is None else f"{words}; accuracy about {self._estimate:.2f}"
