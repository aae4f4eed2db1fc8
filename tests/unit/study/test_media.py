"""Pictures, sounds and videos are files below a folder, or addresses at hosts, that the owner named."""

from __future__ import annotations

from pathlib import Path

import pytest

from onebit.errors import InvalidInputError, OptionError
from onebit.study.about import About
from onebit.study.media import check_hosts, check_media, media_of

HOSTS = ("files.example.org", "localhost:8443")


@pytest.fixture
def about(tmp_path: Path) -> About:
    for name in ("a.PNG", "b.mp3", "c.webm", "d.pdf"):
        (tmp_path / name).write_bytes(b"x")
    return About((), (), media="seen", media_root=str(tmp_path), media_hosts=HOSTS)


def test_the_ending_says_what_a_file_is(about: About) -> None:
    forms = {name: (media_of(about, name).type, media_of(about, name).form) for name in ("a.PNG", "b.mp3", "c.webm")}
    assert forms == {
        "a.PNG": ("image/png", "image"),
        "b.mp3": ("audio/mpeg", "audio"),
        "c.webm": ("video/webm", "video"),
    }
    with pytest.raises(InvalidInputError, match=r"'d\.pdf' is no picture, sound or video by its ending"):
        media_of(about, "d.pdf")


@pytest.mark.parametrize(
    ("address", "form"),
    [
        ("https://files.example.org/a.png?size=2", "image"),
        ("https://FILES.example.org/talk.ogg", "audio"),
        ("https://localhost:8443/film.mp4", "video"),
        ("https://files.example.org/render", "image"),
    ],
)
def test_an_address_at_a_host_that_is_named(about: About, address: str, form: str) -> None:
    media = media_of(about, address)
    assert (media.address, media.form, media.file) == (address, form, None)


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/a.png",
        "http://files.example.org/a.png",
        "https://files.example.org.evil.org/a.png",
        "https://user@files.example.org/a.png",
        "https://files.example.org:8443/a.png",
        "HTTPS://files.example.org/a.png",
        "https://[files.example.org/a.png",
        "https:files.example.org/a.png",
    ],
)
def test_an_address_elsewhere_is_refused(about: About, address: str) -> None:
    with pytest.raises(InvalidInputError, match="at no host that is named with media_hosts"):
        media_of(about, address)


@pytest.mark.parametrize("told", ["data:image/png;base64,AAAA", "javascript:alert(1)", "//evil.org/a.png", "../a.PNG"])
def test_whatever_else_it_is_it_is_no_path_below_the_folder(about: About, told: str) -> None:
    with pytest.raises(InvalidInputError):
        check_media([told], ["m0"], about)


def test_files_need_a_folder(about: About) -> None:
    with pytest.raises(InvalidInputError, match=r"name the folder of files, media_root"):
        media_of(About((), (), media="seen", media_hosts=HOSTS), "a.PNG")


def test_what_is_wrong_is_said_with_its_row(about: About) -> None:
    check_media(["a.PNG", "b.mp3"], ["m0", "m1"], about)
    with pytest.raises(InvalidInputError, match=r"item m1 \(row 2\): the file 'no\.mp3' is not there"):
        check_media(["a.PNG", "no.mp3"], ["m0", "m1"], about)


@pytest.mark.parametrize("host", ["", "https://a.org", "a b", "a;script-src *", "*", "*.org", "FILES.org", "a/"])
def test_a_host_is_a_name_and_nothing_else(host: str) -> None:
    with pytest.raises(OptionError, match="no name of a host"):
        check_hosts((*HOSTS, host))
