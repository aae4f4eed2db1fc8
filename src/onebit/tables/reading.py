"""``read_table``: the one way in for tables of predictions, whatever the format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from onebit.errors import InvalidInputError, OptionError
from onebit.tables import open_answers
from onebit.tables.formats import Progress
from onebit.tables.judge import columns_of_judge, with_judge, with_scores
from onebit.tables.opening import Long, is_npz, open_source, paths_of, readable
from onebit.tables.record import ABSTAINS, ModelTable, make_table, narrow
from onebit.tables.source import Source
from onebit.tables.truth import check_truth

if TYPE_CHECKING:
    from onebit.tables.columns import Columns, Values

#: Whether two outputs are equal only if they are the same, or if they are up to case, spaces and punctuation.
EXACT, NORMALISED = "exact", "normalised"
SCORES_USED = "the scores are the judge: they may save answers, and touch no promise (--judge names another)"


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are; those that are nothing else are models.

    ``models``, ``verdicts`` and ``equal`` may name several columns, with a star for the model's name. ``several``:
    ``truth`` may have several right answers for an item.
    """

    id: str | None = None
    truth: str | None = None
    show: tuple[str, ...] = ()
    reference: str | None = None
    models: str | None = None
    verdicts: str | None = None
    equal: str = EXACT
    empty: Literal["abstains", "answer"] = "abstains"
    several: bool = False
    judge: str | None = None

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns that raters are shown."""
        return tuple(dict.fromkeys([*self.show, *([] if self.reference is None else [self.reference])]))


def read_table(
    table: Any,
    *,
    id: str | None = None,
    truth: str | None = None,
    show: Sequence[str] = (),
    labels: Sequence[str] | None = None,
    reference: str | None = None,
    models: str | None = None,
    verdicts: str | None = None,
    equal: str = EXACT,
    empty: Literal["abstains", "answer"] = "abstains",
    several: bool = False,
    judge: str | None = None,
    long: Long | None = None,
    progress: Progress | None = None,
) -> ModelTable:
    """Read a table of predictions, and check all of it.

    ``table`` is the path of a file, several paths of logs, a data frame, or a source that is open already.
    One row for each item (JSONL: one object); ``id``, ``truth`` and ``show`` name columns, and every other column is a
    model. An empty cell or null means that the model abstains. Labels are the values that occur, unless ``labels`` are
    given. ``long``: there is one row for each item and model instead. An NPZ holds ``preds`` (N models x n items, whole
    numbers, negative: abstains) and may hold ``models``, ``labels`` and ``y``, which is the truth if ``truth`` is "y".
    Texts are UTF-8, with column names first. Logs have columns for id, input, target and scores, which are no models.

    Outputs may be free texts. ``models``, as in ``answer_*``, then says which columns are the models', with a star for
    the model's name, and ``verdicts``, as in ``right_*``, which hold a yes or no about each. ``several``: a cell of
    ``truth`` may be a list. ``reference`` is shown to raters as a right answer. Outputs of an item are ``equal`` if
    they are the same ("exact"), the same up to case, spaces and punctuation ("normalised"), or have the same value in
    columns such as ``cluster_*``. ``empty`` says whether an empty output abstains, or is an answer. ``judge`` names
    columns of scores, as in ``judge_*``, a column of labels, or a file of scores (NPZ: an array of either); the scores
    of a log are its judge unless another is named.

    A file larger than the memory can be read as long as its predictions fit, in one, two or four bytes each.
    Raises InvalidInputError, which names row and column where there is one; also if no model ever meets the truth.
    """
    paths = None if isinstance(table, Source) else paths_of(table)
    if paths is not None and len(paths) == 1 and is_npz(paths[0]):
        from onebit.tables.npz_file import read_npz

        read, where = read_npz(paths[0], id, truth, show, labels, judge), paths[0].name
    else:
        with readable("the table" if paths is None else ", ".join(path.name for path in paths)):
            source = table if isinstance(table, Source) else open_source(table, long)
            roles = Roles(
                id or source.id,
                truth,
                tuple(show) or source.show,
                reference,
                models,
                verdicts,
                equal,
                empty,
                several,
                judge,
            )
            read, where = _read(source, roles, labels, progress or _unseen), source.columns.where
            read = _with_judge(read, source, roles)
    if truth is not None:
        check_truth(read, truth, where)
    return read


def _read(source: Source, roles: Roles, labels: Sequence[str] | None, progress: Progress) -> ModelTable:
    from onebit.tables.columns import Uses, read_columns

    columns = source.columns
    column_of, verdicts, keys = _columns_of_models(source, roles)
    models = tuple(column_of)
    has_codes = roles.truth is not None and not roles.several
    coded = (*column_of.values(), *([roles.truth] if roles.truth is not None and has_codes else []))
    needed = {name: word for name, word in ((roles.id, "id"), (roles.truth, "truth")) if name is not None}
    uses = Uses(
        labels=coded,
        texts=(*roles.shown, *([] if roles.id is None else [roles.id]), *verdicts, *keys),
        values=(roles.truth,) if roles.truth is not None and roles.several else (),
        needed=needed,
        unique=roles.id,
        free=source.free,
    )
    read = read_columns(columns, uses, labels, progress)
    table = make_table(
        _equal(read, roles, len(models), keys),
        models,
        read.labels,
        read.codes[-1].astype(np.int64) if has_codes else None,
        columns.where,
        None if roles.id is None else read.texts[roles.id],
        {name: read.texts[name] for name in roles.shown},
        free=source.free,
    )
    if table.is_open and roles.models is None and not source.free:
        open_answers.check_names(models, columns.where)
    if roles.empty == "answer":
        table = _with_empty(table)
    table = replace(table, reference=roles.reference, notes=(*source.notes, *_not_seen(source, roles)))
    return _with_verdicts(table, read, roles, verdicts, columns)


def _columns_of_models(source: Source, roles: Roles) -> tuple[dict[str, str], tuple[str, ...], tuple[str, ...]]:
    """The column of each model, two at least; and the columns of their verdicts and of what makes outputs equal."""
    columns = source.columns
    asked = [("--id", roles.id), ("--truth", roles.truth), ("--reference", roles.reference)]
    columns.check([*asked, *(("--show", name) for name in roles.show)])
    if roles.truth is not None and roles.truth in (roles.id, *roles.shown):
        raise InvalidInputError(
            f"{columns.where}: the column {roles.truth!r} is the truth, and --id, --show or --reference would give it "
            "to the raters; name it with --truth alone"
        )
    verdicts = _matching(columns, "--verdicts", roles.verdicts)
    keys = _matching(columns, "--equal", None if roles.equal in (EXACT, NORMALISED) else roles.equal)
    of_judge = columns_of_judge(columns.names, roles.judge)
    if used := {roles.id, roles.truth, *roles.shown} & set(of_judge):
        raise OptionError(
            "judge", f"the column {used.pop()!r} has another use too; a judge's columns are for guesses alone"
        )
    taken = {roles.id, roles.truth, *roles.shown, *verdicts.values(), *keys.values(), *of_judge, *source.of_no_model}
    column_of = {name: name for name in columns.names if name not in taken}
    if roles.models is not None:
        column_of = _matching(columns, "--models", roles.models)
    _check_two(columns, tuple(column_of))
    for option, found in (("--verdicts", verdicts), ("--equal", keys)):
        if found and (missing := [model for model in column_of if model not in found]):
            raise InvalidInputError(
                f"{columns.where}: {option} names no column for the model {missing[0]!r}. If it is no model, name it "
                "with --id, --show or --reference, or name the models' columns with --models 'answer_*'"
            )
    in_order = [tuple(found[model] for model in column_of) if found else () for found in (verdicts, keys)]
    return column_of, in_order[0], in_order[1]


def _matching(columns: Columns, option: str, pattern: str | None) -> dict[str, str]:
    """The columns that an option names, by model; none where it is not given."""
    found = {} if pattern is None else open_answers.matching(pattern, columns.names, option)
    if pattern is not None and not found:
        raise InvalidInputError(f"{columns.where}: no column is named as in {pattern!r} ({option})")
    return found


def _check_two(columns: Columns, models: tuple[str, ...]) -> None:
    if len(models) < 2:
        from onebit.tables.columns import listed

        found = "no column is" if not models else f"only the column {listed(models)} is"
        # A sign that is not looked for leaves whole lines in one column.
        hint = "; cells have commas, tabs, semicolons or bars between them" if len(columns.names) == 1 else ""
        raise InvalidInputError(
            f"{columns.where}: {found} a model's; every column other than --id, --truth, --show and --judge is one, "
            f"and two are needed{hint}"
        )


def _not_seen(source: Source, roles: Roles) -> list[str]:
    """What is known of the items and has no use."""
    from onebit.tables.columns import listed

    used = {roles.id, roles.truth, *roles.shown, *columns_of_judge(source.columns.names, roles.judge)}
    left = [name for name in source.others if name not in used]
    return [f"raters do not see {listed(left)}, unless it is named as shown (--show)"] if left else []


def _equal(read: Values, roles: Roles, n_models: int, keys: tuple[str, ...]) -> open_answers.Codes:
    """What the models say, with one code for equal outputs of an item."""
    codes = read.codes[:n_models]
    if keys:
        numbers: dict[str, int] = {"": ABSTAINS}
        cells = [[numbers.setdefault(text or "", len(numbers) - 1) for text in read.texts[k].to_pylist()] for k in keys]
        return open_answers.same_where_equal(codes, np.array(cells))
    if roles.equal == NORMALISED:
        return open_answers.same_where_equal(codes, open_answers.keys_of_texts(codes, read.labels))
    return codes


def _with_empty(table: ModelTable) -> ModelTable:
    """The table with a label for the empty output, which is then an answer like any other."""
    labels = (*table.labels, "")
    kept = table.predictions.astype(narrow(len(labels)))
    predictions = np.where(kept < 0, len(labels) - 1, kept).astype(kept.dtype)
    return make_table(predictions, table.models, labels, table.truth, "the table", table._ids, table._show, free=True)


def _with_verdicts(
    table: ModelTable, read: Values, roles: Roles, verdicts: tuple[str, ...], columns: Columns
) -> ModelTable:
    """The table with what simulated raters say, where the file has that for every output."""
    if roles.several and roles.truth is not None:
        right = [open_answers.right_texts(cell) for cell in read.values[roles.truth]]
        found = open_answers.verdicts_by_truth(table, right, roles.equal == NORMALISED)
    elif verdicts:
        found = np.stack([_verdicts_in(columns, name, read.texts[name].to_pylist()) for name in verdicts])
    else:
        return table
    found = open_answers.one_verdict_each(table.predictions, found)
    open_answers.check_verdicts(found, columns.where)
    return replace(table, verdicts=found)


def _with_judge(table: ModelTable, source: Source, roles: Roles) -> ModelTable:
    """The table with the scores of the judge that is named, or else with those of its log."""
    if roles.judge is not None:
        return with_judge(table, source.columns, roles.judge, roles.id)
    if not source.scores:
        return table
    try:
        judged, told = with_scores(table, source.columns, source.scores), SCORES_USED
    except InvalidInputError as error:
        judged, told = table, f"the scores are not used as a judge: {error}"
    return replace(judged, notes=(*judged.notes, told))


def _verdicts_in(columns: Columns, name: str, texts: list[str | None]) -> open_answers.Verdicts:
    said = [open_answers.verdict_of_text(text) for text in texts]
    for row, verdict in enumerate(said):
        if verdict is None:
            raise InvalidInputError(
                f"{columns.where}, {columns.place(row)}, column {name!r}: {texts[row]!r} is no verdict; write yes or "
                "no, 1 or 0, true or false, or leave the cell empty"
            )
    return np.array(said, dtype=np.int8)


def _unseen(done: int, whole: int) -> None:
    """Progress that nobody wants to know."""
