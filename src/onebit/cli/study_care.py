"""``onebit study check``, ``repair``, ``backup`` and ``forget``: what keeps a store whole, and what leaves it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from onebit.cli.options import AsJson
from onebit.cli.progress import progress_bar
from onebit.cli.study import Name, Storage, say
from onebit.cli.terminal import plain
from onebit.errors import InvalidInputError

if TYPE_CHECKING:
    from onebit.study.checking import Health


def check(storage: Storage = None, as_json: AsJson = False) -> None:
    """Look whether a store is whole: its pages, every log, table and text. Exit code 1 if anything is damaged.

    Nothing is changed, and a server may go on meanwhile. What studies claim is recomputed by verify.
    """
    from onebit.study.checking import check_store
    from onebit.study.opening import storage_url

    found = check_store(storage_url(storage))
    if as_json:
        print(json.dumps({"studies": [asdict(each) for each in found]}))
    else:
        for each in found:
            print(plain(f"{each.name}: {each.problem or _whole(each)}"))
    if any(each.problem is not None for each in found):
        say("onebit study repair writes a new store with what is sound.")
        raise typer.Exit(1)


def repair(
    target: Annotated[Path, typer.Argument(help="New file for what could be read.")],
    storage: Storage = None,
    backup: Annotated[
        str | None,
        typer.Option(help="A backup (file or URL), for what cannot be read.", show_default=False),
    ] = None,
) -> None:
    """Write a new store with all that is sound of one that is damaged, and say what was kept and what was lost.

    The damaged store stays as it is. Of a log its beginning is kept, up to the first event that is missing or changed.
    """
    from onebit.study.opening import storage_url
    from onebit.study.repair import repair_store

    spare = None if backup is None else backup if "://" in backup else f"sqlite:///{backup}"
    outcomes = repair_store(storage_url(storage), target, spare)
    for each in outcomes:
        print(plain(each.words))
    say(f"What was sound is in {target}; the damaged store was not touched.")
    if any(each.problem is not None for each in outcomes):
        raise typer.Exit(1)


def backup(
    target: Annotated[str, typer.Argument(help="New file, the URL of an empty store, or with --keep a folder.")],
    keep: Annotated[
        int | None,
        typer.Option(
            min=1, help="TARGET is a folder: keep so many backups there, and delete older ones.", show_default=False
        ),
    ] = None,
    storage: Storage = None,
) -> None:
    """Copy all studies, as they are at one moment, while they are being answered; the copy is read again and checked.

    For every night: onebit study backup /backups --keep 30, from cron or a timer.
    """
    from onebit.study.copies import back_up, back_up_into
    from onebit.study.opening import storage_url

    if keep is None and Path(target).is_dir():
        raise InvalidInputError(f"{target} is a folder; give --keep, how many backups it may hold, or name a new file")
    with progress_bar("copying") as copying:
        if keep is None:
            found = back_up(storage_url(storage), target, copying)
        else:
            path, found = back_up_into(storage_url(storage), Path(target), keep, copying)
            target = str(path)
    say(f"{len(found)} {'study is' if len(found) == 1 else 'studies are'} in {target}, whole:")
    for each in found:
        print(plain(f"{each.name}: {_whole(each)}"))


def forget(
    name: Name,
    rater: Annotated[str, typer.Argument(help="The rater's name, as status shows it.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    storage: Storage = None,
) -> None:
    """Take a rater's name out of a study: the answers stay under another name, and the rater's links end.

    The log is linked anew, so digests that were told before no longer fit; verify finds everything else as before.
    """
    from onebit.study.forgetting import forget_rater
    from onebit.study.opening import storage_url

    if not yes and not typer.confirm(f"Take {plain(rater)} out of {plain(name)} for good?", err=True):
        say(f"{rater} was kept.")
        raise typer.Exit(1)
    done = forget_rater(storage_url(storage), name, rater)
    say(f"{rater} is {done.name!r} now, in {done.n_events:,} events, and has no links. Backups still hold the name.")
    if not done.is_gone:
        say(
            "The file still holds the name, since another process reads the store, a backup say. It goes when that has "
            "ended and the store was opened and closed once more (onebit study list)."
        )
    print(f"digest before: {done.before}\ndigest now:    {done.after}")


def _whole(found: Health) -> str:
    return f"{found.n_events:,} events, digest {found.log_digest}"
