"""The second version: links of owners and raters, and studies that are paused."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    # A store of the first version that was served has these tables already, as they are here: the server made them.
    op.create_table(
        "links",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("study_id", sa.Integer, sa.ForeignKey("studies.id", ondelete="CASCADE")),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("rater", sa.Text),
        sa.Column("token_hash", sa.Text, nullable=False, unique=True),
        sa.Column("made_at", sa.Text, nullable=False),
        sa.Column("expires_at", sa.Text, nullable=False),
        sa.Column("revoked_at", sa.Text),
        if_not_exists=True,
    )
    op.create_table(
        "pauses",
        sa.Column("study_id", sa.Integer, sa.ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("since", sa.Text, nullable=False),
        if_not_exists=True,
    )
