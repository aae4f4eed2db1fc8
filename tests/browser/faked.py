"""A rater's page whose questions a test makes up: what matters is how the page shows them."""

from __future__ import annotations

import io
import json
import wave
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page, Route
from tests.browser.conftest import Server

TALL_PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="4000"><rect width="400" height="4000"/></svg>'
)


PICTURE = {"form": "image", "address": "/static/picture.svg"}
SOUND = {"form": "audio", "address": "/static/sound.wav"}


def silence(seconds: float = 2.0) -> bytes:
    """A sound file, with nothing to hear."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8000)
        sound.writeframes(b"\x80" * int(8000 * seconds))
    return file.getvalue()


def question(
    number: int, text: str, label: str, *, item: str | None = None, html: str | None = None, **more: Any
) -> dict[str, Any]:
    """A question as the API gives it."""
    columns = [{"name": "text", "text": text, "html": html}] if text else []
    return {
        "question": number,
        "item": {"id": item or f"i{number}", "columns": columns, "media": None, **more},
        "label": {"name": label, "description": "", "is_text": len(label) > 80 or "\n" in label, "html": None},
    }


@dataclass
class Faked:
    """Answers for the server: the questions that have no answer yet; ``told`` is what was answered, in order."""

    questions: list[dict[str, Any]]
    together: bool = False
    told: list[tuple[int, str]] = field(default_factory=list)

    def answer(self, route: Route) -> None:
        call, body = route.request.url.rsplit("/", 1)[1], json.loads(route.request.post_data or "{}")
        if call == "tell":
            self.told.append((body["question"], body["answer"]))
            route.fulfill(json={"late": False, "repeated": False})
        elif call == "undo":
            self.told = [(number, said) for number, said in self.told if number != body["question"]]
            route.fulfill(json={"undone": True, "words": "the answer was taken back"})
        else:
            answered = {number for number, _ in self.told}
            left = [each for each in self.questions if each["question"] not in answered]
            state = "asking" if left else "done"
            progress = {"words": "about 340 to go", "answers": 9, "own": len(self.told), "forecast": None}
            route.fulfill(json={"state": state, "together": self.together, "questions": left, "progress": progress})

    def open(self, server: Server, **options: Any) -> Page:
        page = server.page(**options)
        for name in ("ask", "tell", "undo"):
            page.route(f"**/api/v1/{name}", self.answer)
        page.route("**/sound.wav", lambda route: route.fulfill(body=silence(), content_type="audio/wav"))
        page.route("**/picture.svg", lambda route: route.fulfill(body=TALL_PICTURE, content_type="image/svg+xml"))
        page.goto(f"{server.url}/r/{server.token('ann')}")
        page.wait_for_selector("#unsure:enabled")
        return page
