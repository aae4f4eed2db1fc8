"""Media of items over HTTP: to the rater who is asked about them, in parts, and from hosts that the owner named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.browser.faked import silence
from tests.unit.web.served import PREDICTIONS, Served, serve

N_ITEMS = PREDICTIONS.shape[1]


@pytest.fixture
def sounds(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "sounds").mkdir()
    (tmp_path / "sounds" / "one.wav").write_bytes(silence(1))
    served = serve(tmp_path, media="heard", media_root=str(tmp_path / "sounds"), cells=["one.wav"] * N_ITEMS)
    yield served
    served.site.close()


def test_a_rater_hears_what_the_rater_is_asked_about(sounds: Served) -> None:
    (asked,) = sounds.ask(sounds.ann)
    assert [column["name"] for column in asked["item"]["columns"]] == ["text"]
    media = asked["item"]["media"]
    assert media["form"] == "audio"
    answer = sounds.client.get(media["address"])
    assert (answer.content, answer.headers["content-type"]) == (silence(1), "audio/wav")
    assert "sandbox" in answer.headers["content-security-policy"]
    assert sounds.client.get(media["address"].replace(sounds.ann, sounds.bob)).status_code == 404


def test_a_part_is_sent_where_a_part_is_asked_for(sounds: Served) -> None:
    (asked,) = sounds.ask(sounds.ann)
    address, whole = asked["item"]["media"]["address"], silence(1)
    part = sounds.client.get(address, headers={"Range": "bytes=100-199"})
    assert (part.status_code, part.content) == (206, whole[100:200])
    assert part.headers["content-range"] == f"bytes 100-199/{len(whole)}"
    end = sounds.client.get(address, headers={"Range": "bytes=-10"})
    assert end.content == whole[-10:]
    assert sounds.client.get(address, headers={"Range": f"bytes={len(whole)}-"}).status_code == 416


def test_the_page_may_load_from_the_hosts_that_are_named_and_no_others(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    address = "https://files.example.org/a.png"
    served = serve(tmp_path, media="seen", media_hosts=("files.example.org",), cells=[address] * N_ITEMS)
    request.addfinalizer(served.site.close)
    policy = served.client.get(f"/r/{served.ann}").headers["content-security-policy"].split("; ")
    assert {rule for rule in policy if "https" in rule} == {
        "img-src 'self' https://files.example.org",
        "media-src 'self' https://files.example.org",
    }
    (asked,) = served.ask(served.ann)
    assert asked["item"]["media"] == {"form": "image", "address": address}
    row = asked["item"]["id"].removeprefix("m")
    assert served.client.get(f"/r/{served.ann}/media/{row}").status_code == 404
    # The owner's pages need none of it.
    assert "https" not in served.client.get("/links").headers["content-security-policy"]
