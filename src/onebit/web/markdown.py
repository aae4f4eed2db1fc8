"""Texts that are Markdown, as HTML that a page may show: whatever else they hold is shown as text."""

from __future__ import annotations

from functools import lru_cache

from markdown_it import MarkdownIt

from onebit.web.constants import TEXTS_AT_HAND

#: Raw HTML is escaped, links that run something are left as text, and pictures are not loaded from anywhere.
_MARKDOWN = (
    MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"]).disable("image")
)


@lru_cache(maxsize=TEXTS_AT_HAND)
def to_html(text: str) -> str:
    """Markdown as HTML, with nothing in it that could run.

    >>> to_html("**yes** <script>")
    '<p><strong>yes</strong> &lt;script&gt;</p>\\n'
    """
    rendered: str = _MARKDOWN.render(text)
    return rendered
