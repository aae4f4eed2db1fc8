"""The pictures in ``docs/screens``, from a real run: `make screens`.

Classifiers of the intents in clinc150 are trained on different shares of its texts; a study of them is made on the page
itself, and simulated raters who know the truth answer it over the API until it is certified. A panel of a few texts of
many shapes is made there, too.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
import random
import re
import secrets
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.harness import data_file
from benchmarks.page_raters import Connection
from benchmarks.panel_texts import write_answers
from benchmarks.running_server import Served, chromium, served, token_of
from PIL import Image
from playwright.async_api import Browser, Page

SCREENS = Path(__file__).parents[1] / "docs" / "screens"
LAPTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True}
DARK: dict[str, Any] = {"color_scheme": "dark"}
RATERS = ("ann", "bob", "carol")
#: Answers of each rater after which the run is about half way.
HALF_WAY = 30
#: Share of questions to which a rater cannot say anything.
CANT_TELL = 0.02
INSTRUCTIONS = "A customer has written to us. Say whether the label is what the customer wants."


def write_table(source: Path, path: Path) -> dict[str, str]:
    """A table of predictions on the test texts; the right label of each item."""
    import pyarrow.parquet

    rows = pyarrow.parquet.read_table(source).to_pylist()
    train = [row for row in rows if row["split"] == "train"]
    test = [row for row in rows if row["split"] == "test"]
    columns = predictions([row["text"] for row in train], [row["label"] for row in train], [r["text"] for r in test])
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", *columns])
        for i, row in enumerate(test):
            writer.writerow([i, row["text"], *(said[i].replace("_", " ") for said in columns.values())])
    return {str(i): row["label"].replace("_", " ") for i, row in enumerate(test)}


def predictions(texts: list[str], labels: list[str], asked: list[str]) -> dict[str, list[str]]:
    """What classifiers of three kinds say, each trained on four shares of the texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import SGDClassifier
    from sklearn.naive_bayes import ComplementNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.utils import shuffle

    texts, labels = shuffle(texts, labels, random_state=0)
    kinds: dict[str, Callable[[], Any]] = {
        "linear": lambda: SGDClassifier(random_state=0),
        "naive Bayes": lambda: ComplementNB(),
        "neighbours": lambda: KNeighborsClassifier(5),
    }
    said = {}
    for kind, made in kinds.items():
        for n in (2000, 5000, 10_000, len(texts)):
            model = make_pipeline(TfidfVectorizer(sublinear_tf=True), made()).fit(texts[:n], labels[:n])
            said[f"{kind}, {n:,} texts"] = model.predict(asked).tolist()
    return said


async def answer(server: Served, rater: str, link: str, truth: dict[str, str], most: int | None = None) -> None:
    """Answer over the API, so many questions or until the study is done; nothing is left in hand."""
    rng = random.Random(rater)
    connection = Connection(server.url, {"Authorization": f"Bearer {token_of(link)}"})

    async def call(name: str, **body: Any) -> dict[str, Any]:
        status, content = await connection.call("POST", f"/api/v1/{name}", json.dumps(body).encode())
        if status != 200:
            sys.exit(f"{name}: {status} {content.decode()}")
        told: dict[str, Any] = json.loads(content)
        return told

    n_answers = 0
    while most is None or n_answers < most:
        told = await call("ask", n=3)
        if told["state"] == "done":
            break
        if not told["questions"]:
            await asyncio.sleep(0.1)
        for question in told["questions"]:
            right = "yes" if truth[question["item"]["id"]] == question["label"]["name"] else "no"
            said = "can't tell" if rng.random() < CANT_TELL else right
            await call("tell", question=question["question"], answer=said, token=secrets.token_hex(16))
            n_answers += 1
    connection.close()


async def picture(page: Page, name: str, whole: bool = False) -> None:
    """Keep what a page shows, in few colours, so that it is small."""
    await page.wait_for_timeout(700)
    taken = Image.open(io.BytesIO(await page.screenshot(full_page=whole)))
    path = SCREENS / f"{name}.png"
    taken.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {taken.width} x {taken.height}, {path.stat().st_size / 1000:.0f} kB")


async def make_study(owner: Page) -> None:
    """Make the study on the page, and show the plan on the way."""
    await owner.goto("/new")
    await owner.fill("#path", "predictions.csv")
    await owner.press("#path", "Tab")
    await owner.wait_for_selector("#id option[value=id]", state="attached")
    await owner.select_option("#id", "id")
    await owner.check("#show >> text=text")
    await owner.fill("#name", "customer intents")
    await owner.check("[name=protocol][value=one-shot]")
    await owner.fill("#eps", "0.01")
    await owner.fill("#instructions", INSTRUCTIONS)
    await owner.click("#plan-button")
    await owner.wait_for_selector("#plan-figures", timeout=120_000)
    # Where the server's folder is differs from machine to machine.
    await owner.evaluate("document.querySelector('.path').hidden = true")
    await picture(owner, "new-study", whole=True)
    await owner.click("#create")
    await owner.wait_for_url(re.compile("/studies/1$"), timeout=120_000)


async def link_for(owner: Page, rater: str) -> str:
    made = await owner.request.post("/api/v1/studies/1/links", data={"rater": rater})
    url: str = (await made.json())["url"]
    return url


async def show_rater(browser: Browser, link: str, truth: dict[str, str], name: str, **options: Any) -> None:
    """The rater's page after a few answers."""
    context = await browser.new_context(**options)
    page = await context.new_page()
    await page.goto(link)
    # The instructions come first.
    await page.click("#help .primary")
    # Away from the answers: what the pointer is over looks chosen.
    await page.mouse.move(0, 0)
    for _ in range(3):
        await page.wait_for_selector("#yes:enabled")
        text, label = await page.inner_text("#item"), await page.inner_text("#question b")
        await page.keyboard.press("y" if truth[text] == label else "n")
        await page.wait_for_function("(text) => document.getElementById('item').innerText !== text", arg=text)
    await page.wait_for_selector("#yes:enabled")
    await picture(page, name)
    await context.close()


async def show_answers(owner: Page) -> None:
    """The answers by item, the first of these items, and the report; then back to the dashboard."""
    await owner.goto("/studies/1/answers?only=models-differ")
    await picture(owner, "answers")
    await owner.click(".answers a >> nth=0")
    await owner.wait_for_selector(".outputs")
    await picture(owner, "item")
    await owner.goto("/api/v1/studies/1/report")
    await picture(owner, "report")
    await owner.goto("/studies/1")


async def make_panel(owner: Page) -> int:
    """Make a panel over the API, and give its number."""
    chosen = {
        "path": "answers.jsonl",
        "models": "answer_*",
        "show": ["question"],
        "protocol": "panel",
        "markdown": True,
    }
    made = await owner.request.post("/api/v1/studies", data={**chosen, "name": "which assistant", "eps": 0.05})
    study: int = (await made.json())["study"]
    return study


async def show_panel(browser: Browser, link: str, about: str, name: str, **options: Any) -> None:
    """The page of a panel at a question that is ``about`` something, with one verdict given and the next in focus."""
    context = await browser.new_context(**options)
    page = await context.new_page()
    await page.goto(link)
    await page.wait_for_selector("#yes:enabled")
    while about not in await page.inner_text("#item"):
        await page.keyboard.press("n")
        await page.wait_for_timeout(300)
    await page.keyboard.press("y")
    await picture(page, name)
    await context.close()


async def show(server: Served, truth: dict[str, str], texts: dict[str, str]) -> None:
    async with chromium() as browser:
        context = await browser.new_context(base_url=server.url, **LAPTOP)
        owner = await context.new_page()
        await owner.goto(server.owner)
        await make_study(owner)
        links = {rater: await link_for(owner, rater) for rater in RATERS}
        await asyncio.gather(*(answer(server, rater, link, truth, HALF_WAY) for rater, link in links.items()))
        dora = links["dora"] = await link_for(owner, "dora")
        await show_rater(browser, dora, texts, "rater-laptop", **LAPTOP)
        await show_rater(browser, dora, texts, "rater-phone", **PHONE)
        await show_rater(browser, dora, texts, "rater-phone-dark", **PHONE, **DARK)
        await show_rater(browser, dora, texts, "rater-arabic", **PHONE, locale="ar")
        await owner.reload()
        await picture(owner, "board-running", whole=True)
        await asyncio.gather(*(answer(server, rater, link, truth) for rater, link in links.items()))
        await owner.reload()
        await picture(owner, "board-certified", whole=True)
        await show_answers(owner)
        panel = await make_panel(owner)
        made = await owner.request.post(f"/api/v1/studies/{panel}/links", data={"rater": "eve"})
        eve = (await made.json())["url"]
        await show_panel(browser, eve, "reverse", "panel-laptop", **LAPTOP)
        await show_panel(browser, eve, "lake", "panel-phone", **PHONE)
        await owner.goto("/")
        await picture(owner, "studies")


def main() -> None:
    source = data_file("clinc150.parquet")
    if source is None:
        return
    SCREENS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        truth = write_table(source, folder / "predictions.csv")
        write_answers(folder / "answers.jsonl")
        with (folder / "predictions.csv").open(newline="") as file:
            # Where a text comes twice, either label may be right; the pages show it a few times at most.
            texts = {row["text"]: truth[row["id"]] for row in csv.DictReader(file)}
        with served(f"sqlite:///{folder}/studies.db", folder) as server:
            asyncio.run(show(server, truth, texts))


if __name__ == "__main__":
    main()
