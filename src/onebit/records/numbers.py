"""What numbers may be; a log that says otherwise is refused where it is read."""

from __future__ import annotations

import sys
from typing import Annotated

from msgspec import Meta

Count = Annotated[int, Meta(ge=0)]
Finite = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
#: The probability of what was drawn. A sum of masses may be above 1 by rounding.
Propensity = Annotated[float, Meta(gt=0, le=1 + 1e-9)]
