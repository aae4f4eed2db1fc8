"""A small study, served: what the tests of the web share, those in a browser too."""

from __future__ import annotations

import csv
import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from starlette.testclient import TestClient
from tests.problems import models_of_accuracy

from onebit.study.opening import create_learning_study, create_study
from onebit.tables import read_table
from onebit.tables.data import data_of
from onebit.web.app import make_app
from onebit.web.site import Site

LABELS = ("boarding pass", "refund", "lost luggage", "seat upgrade", "pet travel")
PREDICTIONS, TRUTH = models_of_accuracy(np.random.default_rng(0), np.linspace(0.3, 0.9, 8), 300, len(LABELS))
BASE = "http://127.0.0.1:8000"


def write_table(path: Path, labels: tuple[str, ...] = LABELS, text: str = "message", **more: list[str]) -> Path:
    """A CSV with an id, a text, eight models, and columns more."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", *(f"model {h}" for h in range(len(PREDICTIONS))), *more])
        for item, column in enumerate(PREDICTIONS.T):
            others = (texts[item] for texts in more.values())
            writer.writerow([f"m{item}", f"{text} {item}", *(labels[label] for label in column), *others])
    return path


def known_labels(n: int) -> list[str]:
    """A column of right labels where the first ``n`` are known."""
    return [LABELS[label] if item < n else "" for item, label in enumerate(TRUTH)]


def make_study(storage: str, folder: Path, name: str = "intents", **options: Any) -> None:
    """A study of that table, kept in the storage; ``cells`` fill its column of ``media``."""
    labels, column = options.pop("labels", LABELS), options.get("media")
    more = {} if column is None else {column: options.pop("cells")}
    table = read_table(
        write_table(folder / "table.csv", labels, options.pop("text", "message"), **more),
        id="id",
        show=["text", *more],
        labels=labels,
    )
    create_study(table, name, storage=storage, eps=options.pop("eps", 0.1), **options).close()


def make_training(storage: str, **options: Any) -> None:
    """A study that trains a classifier of messages, which say what they are about."""
    texts = np.array([f"message {item} about {LABELS[label]}" for item, label in enumerate(TRUTH)])
    ids = pa.array([f"m{item}" for item in range(len(TRUTH))])
    examples = replace(data_of(texts), _ids=ids)
    settings = {"protocol": "follow-up", "budget": 60, **options}
    create_learning_study(examples, "training", labels=LABELS, storage=storage, **settings).close()


def right_answer(question: dict[str, Any], labels: tuple[str, ...] = LABELS) -> str:
    """What a rater who knows the truth says."""
    item = int(question["item"]["id"].removeprefix("m"))
    return "yes" if labels[TRUTH[item]] == question["label"]["name"] else "no"


@dataclass
class Served:
    """A client of a site with one study, and its links."""

    site: Site
    client: TestClient
    owner: str
    ann: str
    bob: str

    def post(self, operation: str, token: str, /, **body: Any) -> Any:
        return self.client.post(f"/api/v1/{operation}", json=body, headers=bearer(token))

    def get(self, path: str, token: str) -> Any:
        return self.client.get(f"/api/v1/{path}", headers=bearer(token))

    def ask(self, token: str, n: int = 1) -> list[dict[str, Any]]:
        response = self.post("ask", token, n=n)
        assert response.status_code == 200, response.text
        questions: list[dict[str, Any]] = response.json()["questions"]
        return questions

    def tell(self, token: str, question: dict[str, Any], answer: str, once: str | None = None) -> Any:
        body = {"question": question["question"], "answer": answer, "token": once or secrets.token_hex(8)}
        return self.post("tell", token, **body)

    def tell_seen(self, token: str, question: dict[str, Any], answer: str) -> Any:
        """The same as the page does it: with what the rater saw."""
        label = question["label"] and question["label"]["name"]
        body = {"question": question["question"], "answer": answer, "token": secrets.token_hex(8)}
        return self.post("tell", token, **body, item=question["item"]["id"], label=label)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def serve(folder: Path, storage: str | None = None, **options: Any) -> Served:
    """A site with one study, an owner and two raters; ``trains`` makes it one that trains a classifier."""
    storage = storage or f"sqlite:///{folder}/studies.db"
    if options.pop("trains", False):
        make_training(storage, **options)
    else:
        make_study(storage, folder, **options)
    return serve_stored(storage, folder)


def serve_stored(storage: str, folder: Path) -> Served:
    """A site of the one study in a store."""
    site = Site(storage, folder, BASE)
    client = TestClient(make_app(site), base_url=BASE, follow_redirects=False)
    (study,) = site.entries()
    tokens = [site.access.make("owner")[1], *(site.access.make("rater", study.id, name)[1] for name in ("ann", "bob"))]
    return Served(site, client, *tokens)
