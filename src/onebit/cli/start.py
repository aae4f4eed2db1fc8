"""Where ``onebit`` begins: with nothing imported yet, so that a Ctrl-C is one line from the first moment on."""

from __future__ import annotations

import sys

#: The exit code of a command that was stopped from the keyboard, as shells have it.
INTERRUPTED = 130


def main() -> None:
    """Import the commands and run the one that is meant."""
    try:
        from onebit.cli.main import main as run

        run()
    except KeyboardInterrupt:
        print("onebit: stopped", file=sys.stderr)
        sys.exit(INTERRUPTED)
