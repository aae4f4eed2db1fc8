"""Pictures, sounds and videos of items: files below a folder that the owner names, or addresses at hosts named so.

What a file is, is told by its ending: browsers play these, and nothing else is sent to them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import urlsplit

from onebit.errors import InvalidInputError, OptionError
from onebit.study.about import About

Form = Literal["image", "audio", "video"]

#: What browsers can show or play, by the ending.
TYPES = {
    ".avif": "image/avif",
    ".bmp": "image/bmp",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
    ".aac": "audio/aac",
    ".flac": "audio/flac",
    ".m4a": "audio/mp4",
    ".mp3": "audio/mpeg",
    ".oga": "audio/ogg",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".wav": "audio/wav",
    ".m4v": "video/mp4",
    ".mov": "video/quicktime",
    ".mp4": "video/mp4",
    ".ogv": "video/ogg",
    ".webm": "video/webm",
}
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Media:
    """What an item has to look at or to hear: a file, or an address elsewhere."""

    type: str
    file: Path | None = None
    address: str | None = None

    @property
    def form(self) -> Form:
        form = self.type.partition("/")[0]
        return "audio" if form == "audio" else "video" if form == "video" else "image"


def media_of(about: About, told: str) -> Media:
    """What a cell of the column of media leads to; InvalidInputError where the owner has not allowed that."""
    if told.lower().startswith(("https:", "http:")):
        address = _address(about, told)
        return Media(_type(urlsplit(address).path) or "image/*", address=address)
    kind, file = _type(told), _file(about, told)
    if kind is None:
        raise InvalidInputError(f"{told!r} is no picture, sound or video by its ending; there are {', '.join(TYPES)}")
    return Media(kind, file=file)


def _type(path: str) -> str | None:
    return TYPES.get(PurePosixPath(path).suffix.lower())


def _file(about: About, path: str) -> Path:
    pure = PurePosixPath(path)
    if about.media_root is None:
        raise InvalidInputError(f"{path!r} is no address, and no folder is named; name the folder of files, media_root")
    root = Path(about.media_root).resolve()
    whole = (root / pure).resolve()
    if not path or pure.is_absolute() or not whole.is_relative_to(root):
        raise InvalidInputError(f"the path {path!r} does not lead below {root}; give paths relative to it")
    return whole


def _address(about: About, told: str) -> str:
    try:
        host = urlsplit(told).netloc.lower()
    except ValueError:
        host = ""
    if not told.startswith("https://") or host not in about.media_hosts:
        named = ", ".join(about.media_hosts) or "none"
        raise InvalidInputError(
            f"the address {told!r} is at no host that is named with media_hosts ({named}), or does not begin with "
            "https://; raters' browsers load nothing from elsewhere, so name its host"
        )
    return told


def check_hosts(hosts: tuple[str, ...]) -> None:
    """OptionError unless these are names of hosts: they become part of what browsers are allowed to load."""
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise OptionError(
                "media_hosts", f"{host!r} is no name of a host; give it in small letters alone, as in files.example.org"
            )


def check_media(column: list[str], ids: list[str], about: About) -> None:
    """Before anything is written: everything is where it may be, and files are there."""
    for row, (told, item) in enumerate(zip(column, ids, strict=True), start=1):
        try:
            media = media_of(about, told)
        except InvalidInputError as error:
            raise InvalidInputError(f"item {item} (row {row}): {error}") from None
        if media.file is not None and not media.file.is_file():
            raise InvalidInputError(f"item {item} (row {row}): the file {told!r} is not there")
