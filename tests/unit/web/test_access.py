"""Links: random, kept as hashes, ending, revoked at once, and good for one thing only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest
from tests.unit.web.served import Served

from onebit.errors import InvalidInputError
from onebit.store.store import Store
from onebit.web.access import Access, UnknownLinkError
from onebit.web.constants import LINK_DAYS, MOST_OWNER_LINKS


class Wall:
    """A clock on the wall that tests set."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def test_tokens_are_long_different_and_not_in_the_store(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path}/s.db") as store:
        access = Access(store)
        tokens = [access.make("owner")[1] for _ in range(20)]
        assert len(set(tokens)) == 20
        assert min(map(len, tokens)) >= 43
        assert access.find(tokens[-1]).kind == "owner"
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not any(token.encode() in kept for token in tokens)


def test_a_link_ends_by_itself_also_while_it_is_remembered(tmp_path: Path) -> None:
    wall = Wall()
    with Store(f"sqlite:///{tmp_path}/s.db") as store:
        access = Access(store, wall)
        _, token = access.make("owner")
        access.find(token)
        wall.now += timedelta(days=LINK_DAYS, seconds=-1)
        access.find(token)
        wall.now += timedelta(seconds=1)
        for access_now in (access, Access(store, wall)):
            with pytest.raises(UnknownLinkError, match="does not work"):
                access_now.find(token)


def test_a_revoked_link_is_refused_at_once(served: Served) -> None:
    assert served.ask(served.ann)
    link = next(link for link in served.site.access.working(1) if link.rater == "ann")
    path = f"/api/v1/studies/1/links/{link.id}"
    assert served.client.delete(path, headers={"Authorization": f"Bearer {served.owner}"}).status_code == 200
    assert served.post("ask", served.ann, n=1).status_code == 401
    assert served.client.get(f"/r/{served.ann}").status_code == 401
    assert served.ask(served.bob)
    with pytest.raises(InvalidInputError, match="revoked before"):
        served.site.access.revoke(link.id, 1)
    with pytest.raises(InvalidInputError, match="not a link of this study"):
        served.site.access.revoke(link.id + 1, 2)


def test_each_link_is_good_for_its_own_things_only(served: Served) -> None:
    operations = ("studies", "studies/1", "studies/1/export", "studies/1/report", "backup", "studies/1/links")
    for path in operations:
        assert served.get(path, served.owner).status_code == 200, path
        assert served.get(path, served.ann).status_code == 403, path
        assert served.get(path, "x" * 43).status_code == 401, path
    assert served.post("ask", served.owner, n=1).status_code == 403
    assert served.client.get(f"/o/{served.ann}").status_code == 403
    assert served.client.get(f"/r/{served.owner}").status_code == 403
    for path in ("/", "/studies/1", "/studies/1/live", "/new"):
        assert served.client.get(path).status_code == 401
        assert served.client.get(path, headers={"Cookie": f"onebit_owner={served.ann}"}).status_code == 403


def test_the_owners_link_becomes_a_cookie_that_scripts_cannot_read(served: Served) -> None:
    response = served.client.get(f"/o/{served.owner}")
    assert (response.status_code, response.headers["location"]) == (303, "/")
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert served.client.get("/studies/1").status_code == 200


def test_pausing_survives_a_restart(served: Served) -> None:
    served.site.access.pause(1, True)
    assert Access(served.site.store).is_paused(1)
    served.site.access.pause(1, False)
    assert not Access(served.site.store).is_paused(1)


def test_a_rater_needs_a_name(served: Served) -> None:
    with pytest.raises(InvalidInputError, match="no name"):
        served.site.access.make("rater", 1, " ")


def other_server(served: Served) -> Access:
    """The same store, as another process has it."""
    return Access(Store(served.site.storage))


def test_what_another_server_ends_or_pauses_holds_here_at_once(served: Served) -> None:
    assert served.ask(served.ann)
    assert served.get("studies", served.owner).status_code == 200
    elsewhere = other_server(served)
    elsewhere.pause(1, True)
    assert served.post("ask", served.ann, n=1).json()["state"] == "paused"
    elsewhere.pause(1, False)
    assert served.ask(served.ann)
    for link in elsewhere.working(1):
        elsewhere.revoke(link.id, 1)
    assert served.post("ask", served.ann, n=1).status_code == 401
    for link in elsewhere.of_owners():
        elsewhere.revoke(link.id)
    assert served.get("studies", served.owner).status_code == 401


def test_of_the_links_that_starts_make_the_newest_few_work(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path}/s.db") as store:
        access = Access(store)
        named = access.make("owner", rater="eve")[1]
        made = [access.make("owner")[1] for _ in range(MOST_OWNER_LINKS + 2)]
        for token in (*made[2:], named):
            access.find(token)
        for token in made[:2]:
            with pytest.raises(UnknownLinkError):
                access.find(token)


def test_owners_list_make_end_and_replace_their_links(served: Served) -> None:
    made = served.post("owner-links", served.owner, name="eve").json()
    eve = made["url"].rsplit("/", 1)[1]
    told = served.get("owner-links", eve).json()["links"]
    assert [(each["name"], each["is_yours"]) for each in told] == [("eve", True), (None, False)]
    assert "token" not in str(told)
    path = f"/api/v1/owner-links/{told[1]['link']}"
    assert served.client.delete(path, headers={"Authorization": f"Bearer {eve}"}).json() == {"revoked": True}
    assert served.get("studies", served.owner).status_code == 401
    new = served.post("owner-links/replace", eve, name="eve again").json()["url"].rsplit("/", 1)[1]
    assert served.get("studies", eve).status_code == 401
    assert served.get("studies", new).status_code == 200
    assert served.ask(served.ann)
    # A rater's link is none of theirs.
    rater = next(link for link in served.site.access.working(1) if link.rater == "bob")
    refused = served.client.delete(f"/api/v1/owner-links/{rater.id}", headers={"Authorization": f"Bearer {new}"})
    assert refused.status_code == 422
    served.client.cookies.set("onebit_owner", new)
    page = served.client.get("/links")
    assert "eve again" in page.text
    assert "(yours)" in page.text


def test_a_link_is_replaced_for_the_same_rater(served: Served) -> None:
    access = served.site.access
    link = access.find(served.ann)
    new, token = access.rotate(link.id)
    assert (new.kind, new.study_id, new.rater) == (link.kind, link.study_id, link.rater)
    assert served.post("ask", served.ann, n=1).status_code == 401
    assert served.ask(token)
    with pytest.raises(InvalidInputError, match="revoked before"):
        access.rotate(link.id)


def test_setting_the_clock_ends_no_link(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    class Later(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + timedelta(days=40)

    assert served.ask(served.ann)
    monkeypatch.setattr("onebit.web.access.datetime", Later)
    assert served.ask(served.ann)
    assert served.get("studies", served.owner).status_code == 200
