"""Looking at answers: by item, by rater and by label, and what models say about one item; for owners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from onebit.errors import InvalidInputError, check_choice
from onebit.log.votes import Given
from onebit.records import Answer
from onebit.study.answer_book import AskedQuestion, ItemCounts
from onebit.study.study import Study
from onebit.web.calls import Call, Operation
from onebit.web.constants import ITEMS_PER_PAGE, MOST_NUMBER, MOST_RATERS_ASKED
from onebit.web.owner_api import ANYTHING, room_of
from onebit.web.pages import page, render, require_owner, templates
from onebit.web.room import Room
from onebit.web.schema import fields, text
from onebit.web.site import NoSuchStudyError

#: Which items are shown: all with an answer, or those where raters differ, cannot tell, or accept one model's output
#: and deny another's.
Only = Literal["all", "raters-differ", "cant-tell", "models-differ"]
_CHOSEN: dict[str, Callable[[ItemCounts], bool]] = {
    "all": lambda counts: True,
    "raters-differ": lambda counts: counts.n_differ > 0,
    "cant-tell": lambda counts: counts.n_cant_tell > 0,
    "models-differ": lambda counts: counts.n_yes > 0 and counts.n_no > 0,
}


@dataclass(frozen=True)
class ItemLine:
    """An item in the list: its ``row`` in the table, how it is shown, and what was said about it."""

    row: int
    id: str
    shown: dict[str, str]
    n_yes: int
    n_no: int
    n_cant_tell: int
    n_differ: int


@dataclass(frozen=True)
class AnswersPage:
    """A page of items, of so many that were chosen."""

    items: tuple[ItemLine, ...]
    page: int
    n_pages: int
    n_chosen: int


@dataclass(frozen=True)
class Judged:
    """An output of an item: who gave it, the answer that counts and what each rater said; None: nobody was asked."""

    output: str
    models: tuple[str, ...]
    answer: str | None
    votes: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ItemPage:
    """An item with everything that was said about it."""

    row: int
    id: str
    shown: dict[str, str]
    outputs: tuple[Judged, ...]


def list_items(study: Study, only: str, number: int) -> AnswersPage:
    """A page of the items with an answer, the latest first; InvalidInputError for a page that is not there."""
    check_choice("only", only, get_args(Only))
    chosen = [(item, counts) for item, counts in study.view.book.items().items() if _CHOSEN[only](counts)]
    n_pages = max(1, -(-len(chosen) // ITEMS_PER_PAGE))
    if not 1 <= number <= n_pages:
        raise InvalidInputError(f"page {number} is asked for, and there are {n_pages}")
    begin = (number - 1) * ITEMS_PER_PAGE
    lines = []
    for item, counts in chosen[begin : begin + ITEMS_PER_PAGE]:
        row = study.kind.row(item)
        shown = study.item(row)
        said = counts.n_yes, counts.n_no, counts.n_cant_tell, counts.n_differ
        lines.append(ItemLine(row, shown.id, shown.shown, *said))
    return AnswersPage(tuple(lines), number, n_pages, len(chosen))


def show_item(study: Study, row: int) -> ItemPage:
    """Everything about a row of the table; NoSuchStudyError if it has none."""
    if not 0 <= row < study.created.table.n_items:
        raise NoSuchStudyError(f"there is no item {row} here")
    item = study.item(row)
    # On a stream several draws may be of one row.
    same_row = {number for number in study.view.book.items() if study.kind.row(number) == row}
    asked = study.view.book.questions(same_row)
    of_models = study.kind.outputs(row)
    labels = {*of_models, *(label for question in asked if (label := _label_of(question)) is not None)}
    outputs = [
        _judged(study, label, of_models.get(label, ()), [each for each in asked if _label_of(each) == label])
        for label in sorted(labels, key=lambda label: (-len(of_models.get(label, ())), label))
    ]
    return ItemPage(row, item.id, item.shown, tuple(outputs))


def _label_of(question: AskedQuestion) -> int | None:
    """What was asked about; where the label itself was asked for, the one that was given."""
    return question.answer if question.label is None and isinstance(question.answer, int) else question.label


def _judged(study: Study, label: int, models: tuple[str, ...], asked: list[AskedQuestion]) -> Judged:
    answer = next((question.answer for question in asked if question.answer is not None), None)
    votes = [(rater, said) for question in asked for rater, said in question.votes.items()]
    told = tuple(("" if rater is None else rater, _in_words(said)) for rater, said in votes)
    return Judged(study.items.label(label).name, models, None if answer is None else _in_words(answer), told)


def _in_words(said: Given) -> str:
    return said.value if isinstance(said, Answer) else Answer.YES.value


def rater_figures(study: Study) -> dict[str, Any]:
    """How quick raters are and how far they agree."""
    book = study.view.book
    return {"alpha": book.alpha(), "seconds": book.median_seconds(), "kappas": book.kappas()}


def _number(value: str) -> int:
    is_number = value.isascii() and value.isdigit() and len(value) <= len(str(MOST_NUMBER))
    if not is_number or not 1 <= int(value) <= MOST_NUMBER:
        raise InvalidInputError(f"the page is {value[:20]!r}; give a number from 1 to {MOST_NUMBER:,}")
    return int(value)


def answers_page(request: Request) -> Response:
    site = require_owner(request)
    room = site.room(request.path_params["study"])
    query = request.query_params
    only = query.get("only", "all")
    return render(
        "answers.html",
        study=room.entry,
        only=only,
        found=list_items(room.study, only, _number(query.get("page", "1"))),
        overview=room.overview(),
        most_raters=MOST_RATERS_ASKED,
        **rater_figures(room.study),
    )


def item_page(request: Request) -> Response:
    site = require_owner(request)
    room = site.room(request.path_params["study"])
    return render("item.html", study=room.entry, found=show_item(room.study, request.path_params["row"]))


def answers(call: Call) -> dict[str, Any]:
    room: Room = room_of(call)
    found = list_items(room.study, call.query.get("only", "all"), _number(call.query.get("page", "1")))
    return {**asdict(found), **rater_figures(room.study)}


def item(call: Call) -> dict[str, Any]:
    return asdict(show_item(room_of(call).study, int(call.path["row"])))


def seconds_in_words(seconds: float | None) -> str:
    """
    >>> seconds_in_words(2.34), seconds_in_words(None)
    ('2.3 s', '-')
    """
    return "-" if seconds is None else f"{seconds:.1f} s"


def measure_in_words(value: float | None) -> str:
    """
    >>> measure_in_words(0.6), measure_in_words(None)
    ('0.60', '-')
    """
    return "-" if value is None else f"{value:.2f}"


templates.filters |= {"seconds": seconds_in_words, "measure": measure_in_words}

_AT = "/api/v1/studies/{study}"
OPERATIONS = (
    Operation(
        "GET",
        f"{_AT}/answers",
        "answers",
        "What was said about items, a page of them, and how quick raters are and how far they agree",
        "owner",
        answers,
        fields(
            {
                "items": {"type": "array", "items": ANYTHING},
                "page": {"type": "integer"},
                "n_pages": {"type": "integer"},
                "n_chosen": {"type": "integer"},
                "alpha": {"type": ["number", "null"], "description": "Krippendorff's alpha of all raters"},
                "seconds": {"type": "object", "description": "median seconds for an answer, by rater"},
                "kappas": {"type": "object", "description": "Cohen's kappa with the others, by rater"},
            }
        ),
        query={"only": text(20, enum=list(get_args(Only))), "page": text(9)},
        errors=(409,),
    ),
    Operation(
        "GET",
        f"{_AT}/items/{{row}}",
        "item",
        "What models say about an item, and what raters said of it",
        "owner",
        item,
        fields(
            {
                "row": {"type": "integer"},
                "id": {"type": "string"},
                "shown": ANYTHING,
                "outputs": {"type": "array", "items": ANYTHING},
            }
        ),
        errors=(409,),
    ),
)

ROUTES = [
    Route("/studies/{study:number}/answers", page(answers_page)),
    Route("/studies/{study:number}/items/{row:number}", page(item_page)),
]
