"""A small study, served: what the tests of the web share, those in a browser too."""

from __future__ import annotations

import csv
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from starlette.testclient import TestClient
from tests.problems import models_of_accuracy

from onebit.study.opening import create_study
from onebit.tables import read_table
from onebit.web.app import make_app
from onebit.web.site import Site

LABELS = ("boarding pass", "refund", "lost luggage", "seat upgrade", "pet travel")
PREDICTIONS, TRUTH = models_of_accuracy(np.random.default_rng(0), np.linspace(0.3, 0.9, 8), 300, len(LABELS))
BASE = "http://127.0.0.1:8000"


def write_table(path: Path, labels: tuple[str, ...] = LABELS, text: str = "message") -> Path:
    """A CSV with an id, a text and eight models."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", *(f"model {h}" for h in range(len(PREDICTIONS)))])
        for item, column in enumerate(PREDICTIONS.T):
            writer.writerow([f"m{item}", f"{text} {item}", *(labels[label] for label in column)])
    return path


def make_study(storage: str, folder: Path, name: str = "intents", **options: Any) -> None:
    """A study of that table, kept in the storage."""
    labels = options.pop("labels", LABELS)
    table = read_table(
        write_table(folder / "table.csv", labels, options.pop("text", "message")),
        id="id",
        show=["text"],
        labels=labels,
    )
    create_study(table, name, storage=storage, eps=options.pop("eps", 0.1), **options).close()


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


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def serve(folder: Path, storage: str | None = None, **options: Any) -> Served:
    """A site with one study, an owner and two raters."""
    storage = storage or f"sqlite:///{folder}/studies.db"
    make_study(storage, folder, **options)
    site = Site(storage, folder, BASE)
    client = TestClient(make_app(site), base_url=BASE, follow_redirects=False)
    (study,) = site.entries()
    tokens = [site.access.make("owner")[1], *(site.access.make("rater", study.id, name)[1] for name in ("ann", "bob"))]
    return Served(site, client, *tokens)
