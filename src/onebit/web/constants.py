"""Every tuning number of the server and its pages, and where it came from: round numbers, unless it says otherwise.

No statement of a study rests on them; they are about waiting, load and what one person can take in.
"""

from __future__ import annotations

# -- who may come in, and with how much (access.py, limits.py, owner_api.py, schema.py)

#: How long a link works.
LINK_DAYS = 30
#: Owners' links without a name that work at once: every start of a server makes one, and the oldest end.
MOST_OWNER_LINKS = 3
#: Requests of one link: so many at once, and so many a second from then on. A rater's page makes one or two.
MOST_REQUESTS, REQUESTS_A_SECOND = 1000, 100.0
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

# -- what may be tried again (calls.py, shield.py)

#: Seconds after which a rater's page should try again when the server cannot take an answer.
RETRY_AFTER = "2"

# -- raters (rater_api.py, room.py)

#: Questions that a rater may hold at once: enough to go on through a short loss of the connection.
MOST_HELD = 5
#: Where all outputs of an item are judged together, that many at most.
MOST_TOGETHER = 40
#: Characters of a label that stands in the question; what is longer, or has several lines, is shown as a text to read.
LONG_LABEL = 80
#: Characters of a text that is shown as Markdown; a longer one is shown as it is. Origin: half a second of processor.
MOST_MARKDOWN = 100_000
#: Texts whose HTML is kept at hand.
TEXTS_AT_HAND = 256
#: Seconds after a rater had to wait in which nobody is given questions ahead: others would wait for those.
SCARCE = 5.0
#: Unless another epoch has begun since, and has at least so many questions for each rater.
PLENTY = 6
#: Questions that a page asks for ahead of the one that it shows. Origin: ``static/outbox.js`` has the same number.
AHEAD = 2

# -- owners (room.py, board.py, owner_api.py)

#: What raters are told of a study is worked out at most so often, in seconds, and takes at most this share of the time.
REFRESH, SHARE = 1.0, 0.1
#: Seconds between two looks at a study that somebody watches, and between signs of life where nothing happens.
LOOK_EVERY, ALIVE_EVERY = 1.0, 15.0
#: Labels that the dashboard lists; the others are in the export.
MOST_LABELS = 12

#: Items on a page of answers, and raters that it lists. Origin: round numbers.
ITEMS_PER_PAGE, MOST_RATERS_ASKED = 50, 200

# -- studies that are open (site.py)

#: Seconds between two looks whether the locks of the studies are still held.
KEEP_EVERY = 1.0
#: Seconds between two looks whether a study was opened that has no forecast yet.
LOOK_AHEAD_EVERY = 1.0

# -- connections (connections.py)

#: Connections at once, in all and of one address. An office of a thousand raters may come from one address.
MOST_CONNECTIONS, MOST_OF_AN_ADDRESS = 8000, 4000
#: Files that the server opens besides connections: the store's, tables, pictures.
RESERVED_FILES = 200
#: Seconds for which a connection may wait before its first whole request, and between two; and for which a client may
#: take nothing of an answer.
WAITING_SECONDS, STALLED_SECONDS = 15.0, 60.0
#: Seconds after which a body must have come at so many bytes a second, on the whole.
BODY_GRACE, BODY_RATE = 20.0, 1000.0
#: Seconds between two looks at the connections.
LOOK_AT_CONNECTIONS = 1.0

# -- tables from outside (workroom.py)

#: Bytes and seconds that reading a table, planning or making a study may take. A table of 512 MB, the largest that is
#: taken, needs about as much again.
WORK_BYTES, WORK_SECONDS = 1536 * 1024 * 1024, 90.0
#: Such tasks at once, and those that may wait for their turn; and how much they give way to raters. Whoever waits keeps
#: a thread. Origin: a server has 40 of them, for raters, too.
AT_WORK, IN_LINE, NICE = 2, 6, 10

#: Seconds for which an upload is kept: long enough to make studies of it. A server may run for a year.
UPLOAD_SECONDS = 24 * 3600.0

# -- several servers (elsewhere.py)

#: Seconds in which another server must take a connection, and begin its answer or go on with it.
CONNECT_SECONDS, REPLY_SECONDS = 3.0, 60.0
