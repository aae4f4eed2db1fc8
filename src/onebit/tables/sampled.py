"""What a table says of itself if its rows were drawn from a larger one: which sample votes and forecasts rest on."""

from __future__ import annotations

import json
from collections.abc import Mapping

#: The key of what is kept about a draw, in the metadata of its schema.
DRAW = b"onebit draw"


def sample_notes(metadata: Mapping[bytes, bytes] | None) -> tuple[str, ...]:
    """A sentence about the draw, by the ``metadata`` of a schema; none if nothing was drawn, or nobody can tell."""
    try:
        told = json.loads((metadata or {})[DRAW])
        return (
            f"these are {told['drawn']:,} rows drawn from the {told['rows']:,} of {told['table']}, by seed "
            f"{told['seed']}; votes and forecasts rest on them alone",
        )
    except (KeyError, TypeError, ValueError):
        return ()
