"""Every tuning number of the server and its pages, and where it came from: round numbers, unless it says otherwise.

No statement of a study rests on them; they are about waiting, load and what one person can take in.
"""

from __future__ import annotations

# -- who may come in, and with how much (access.py, limits.py, owner_api.py, schema.py)

#: How long a link works.
LINK_DAYS = 30
#: Wrong tokens that an address may send within so many seconds.
MOST_FAILURES, WITHIN = 20, 60.0
#: Addresses that are remembered; the oldest go first.
MOST_ADDRESSES = 10_000
#: Bytes of a request, and of a table that is uploaded.
MOST_BODY = 64 * 1024
MOST_UPLOAD = 512 * 1024 * 1024
#: Numbers of studies and links; larger ones cannot be in a store. Origin: a whole number of 32 bits.
MOST_NUMBER = 2**31 - 1
#: Characters in a name that a request makes up.
MOST_NAME = 1000

# -- raters (rater_api.py, room.py)

#: Questions that a rater may hold at once: enough to go on through a short loss of the connection.
MOST_HELD = 5
#: Seconds after a rater had to wait in which nobody is given questions ahead: others would wait for those.
SCARCE = 5.0
#: Unless another epoch has begun since, and has at least so many questions for each rater.
PLENTY = 6
#: Questions that a page asks for ahead of the one that it shows. Origin: ``static/outbox.js`` has the same number.
AHEAD = 2

# -- owners (room.py, board.py, owner_api.py)

#: An overview is made anew at most so often, in seconds, and takes at most this share of the time.
REFRESH, SHARE = 1.0, 0.1
#: Seconds between two looks at a study that somebody watches, and between signs of life where nothing happens.
LOOK_EVERY, ALIVE_EVERY = 1.0, 15.0
#: Labels that the dashboard lists; the others are in the export.
MOST_LABELS = 12
