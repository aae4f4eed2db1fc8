"""The command ``onebit``: one module per sub-command."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from onebit import __version__
from onebit.cli.demo import demo
from onebit.cli.draw import draw
from onebit.cli.export import export
from onebit.cli.gate import gate, verdict
from onebit.cli.learn import learn
from onebit.cli.links import app as links_app
from onebit.cli.options import TableCommand, flag
from onebit.cli.plan import plan
from onebit.cli.predict import predict
from onebit.cli.reproduce import reproduce
from onebit.cli.select import select
from onebit.cli.serve import serve
from onebit.cli.study import app as study_app
from onebit.cli.study_care import backup, check, forget, repair
from onebit.cli.study_extend import extend
from onebit.cli.study_learn import learn as study_learn
from onebit.cli.terminal import plain
from onebit.cli.verify import report, verify
from onebit.cli.watch import study_watch, watch
from onebit.errors import OnebitError, OptionError

app = typer.Typer(
    name="onebit",
    help="Choose the best of N models, or train a classifier, from yes/no answers, with a guarantee.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Paragraphs are filled to the width of the terminal.
    rich_markup_mode="markdown",
)
app.command(cls=TableCommand)(select)
app.command(cls=TableCommand)(gate)
app.command(cls=TableCommand)(watch)
app.command()(learn)
app.command()(predict)
study_app.command("learn")(study_learn)
study_app.command()(verdict)
study_app.command("watch", cls=TableCommand)(study_watch)
study_app.command(cls=TableCommand)(extend)
for care in (check, repair, backup, forget):
    study_app.command()(care)
app.add_typer(study_app)
app.command()(serve)
app.add_typer(links_app)
app.command()(verify)
app.command()(report)
app.command()(export)
app.command(cls=TableCommand)(plan)
app.command()(draw)
app.command()(demo)
app.command()(reproduce)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"onebit {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Choose the best of N models, or train a classifier, from yes/no answers, with a guarantee."""


def main() -> None:
    """Run the command; an error that onebit raises on purpose, or the file system's, is one line and exit code 2."""
    try:
        app()
    except OnebitError as error:
        told = error.naming(flag(error.option)) if isinstance(error, OptionError) else str(error)
        print(f"onebit: {plain(told)}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        # A folder that cannot be written, a full disk: what the file system says is all that there is to know.
        if error.filename is None:
            raise
        print(plain(f"onebit: {error.filename}: {error.strerror}"), file=sys.stderr)
        sys.exit(2)
