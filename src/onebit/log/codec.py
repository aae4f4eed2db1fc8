"""Events as plain JSON: one flat object each, with its name under ``"event"``.

The version of the whole log stands in its first event, ``created``. What this onebit does not know is refused, never
skipped: a log that is read in part would give another certificate. So is what is missing: defaults are for those who
make an event, not for a log.
"""

from __future__ import annotations

from collections.abc import KeysView
from dataclasses import fields, is_dataclass
from functools import cache
from operator import methodcaller
from typing import Any, get_args

from msgspec import ValidationError, convert, to_builtins
from msgspec.structs import replace

from onebit.errors import shown
from onebit.log.events import (
    VERSION,
    AnySetting,
    Asked,
    Closed,
    Created,
    EpochBegan,
    Event,
    Finished,
    Kind,
    LogError,
    OtherVersionError,
    Planned,
    TableFacts,
)
from onebit.records import Closing, EpochPlan, EpochRecord, Question, RunStatus, Setting, TrainingSetting, WatchSetting

Object = dict[str, Any]

#: Every kind of event by its name.
KINDS: dict[str, type[Event]] = {kind.__struct_config__.tag: kind for kind in get_args(Event)}
#: Events that hold a record, whose fields stand in JSON among their own: the field that holds it, and what it is.
FLAT: dict[type[Event], tuple[str, type]] = {
    Asked: ("question", Question),
    EpochBegan: ("record", EpochRecord),
    Planned: ("record", EpochPlan),
    Closed: ("closing", Closing),
}
#: The setting of each kind of study.
SETTINGS: dict[Kind, type[AnySetting]] = {
    "selection": Setting,
    "training": TrainingSetting,
    "watch": WatchSetting,
}
#: What stands in the JSON of a record only where it is given, and what it is otherwise: it came later, and digests of
#: older logs are kept.
ONLY_IF_GIVEN: dict[type, Object] = {
    Setting: {"baseline": None, "top": None, "tiers": False, "spends": False},
    TrainingSetting: {"f_no": 0.0, "f_yes": 0.0},
    Closing: {"top": ()},
    EpochRecord: {"n_open": 0, "merit": (), "sharpness": 1.0, "n_viewed": 0},
    EpochPlan: {"limits": (), "left": ()},
}
STATUSES = {status.name.lower(): status for status in RunStatus}
#: What msgspec does not know are numbers of numpy.
_from_numpy = methodcaller("item")


def to_json(event: Event) -> Object:
    """The event as one plain JSON object.

    >>> from onebit.log.events import Undone
    >>> to_json(Undone(3, "ann"))
    {'event': 'undone', 'id': 3, 'rater': 'ann'}
    """
    data: Object = to_builtins(event, enc_hook=_from_numpy)
    if isinstance(event, Created):
        data["setting"] = _given(data["setting"], type(event.setting))
    if type(event) in FLAT:
        field, record = FLAT[type(event)]
        return {"event": data.pop("event"), **_given(data.pop(field), record), **data}
    return data | {"status": event.status.name.lower()} if isinstance(event, Finished) else data


def _given(data: Object, kind: type) -> Object:
    """The record without what is not given."""
    usual = ONLY_IF_GIVEN.get(kind, {})
    return {name: value for name, value in data.items() if name not in usual or value != usual[name]}


def _completed(data: Object, kind: type) -> Object:
    """The record with what is not given as it is then."""
    usual = ONLY_IF_GIVEN.get(kind, {})
    for name, value in usual.items():
        # JSON has lists for tuples.
        told = tuple(data[name]) if isinstance(data.get(name), list) else data.get(name, ...)
        if type(told) is type(value) and told == value:
            raise ValidationError(f"{name!r} is {shown(value)}; it is left out where it is not given")
    return usual | data


def from_json(data: object) -> Event:
    """The event that a JSON object describes; LogError if this version would not have written it."""
    if not isinstance(data, dict):
        raise LogError(f"an event must be a JSON object, and this is {shown(data)}")
    name = data.get("event")
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise LogError(
            f"the log has an event {shown(name)}, which this version of onebit does not know; it was written by a "
            "newer one, or damaged. Use the version that wrote it"
        )
    if kind is Created and data.get("version") != VERSION:
        raise OtherVersionError(
            f"the log has version {shown(data.get('version'))}, and this onebit reads version {VERSION}; what was "
            "promised has changed in between, so it is not carried on. Use the onebit that wrote it (version 1: onebit "
            "0.1.0)"
        )
    try:
        return _read(data, kind)
    except ValidationError as error:
        raise LogError(f"an event {name!r} is not as onebit writes it: {error}") from None


def _read(data: Object, kind: type[Event]) -> Event:
    if kind in FLAT:
        data = _completed(data, FLAT[kind][1])
    _check_keys(data, kind)
    if kind in FLAT:
        field, record = FLAT[kind]
        own = {name: data[name] for name in kind.__struct_fields__ if name != field}
        return convert({field: convert(data, record), **own}, kind)
    if kind is Finished:
        status = data["status"]
        if not isinstance(status, str) or status not in STATUSES:
            raise ValidationError(f"Invalid status {shown(status)}; it must be one of {', '.join(STATUSES)}")
        return convert(data | {"status": STATUSES[status]}, kind)
    event = convert(data, kind)
    if isinstance(event, Created):
        _check_keys(data["table"], TableFacts)
        return replace(event, setting=_setting(data["setting"], SETTINGS[event.kind]))
    return event


def _setting(data: object, kind: type[AnySetting]) -> AnySetting:
    if isinstance(data, dict):
        data = _completed(data, kind)
        _check_keys(data, kind)
    return convert(data, kind)


def _check_keys(data: Object, kind: type) -> None:
    """Nothing may be missing, and nothing more be there: msgspec fills in defaults, and records ignore the rest."""
    keys = _keys(kind)
    if data.keys() != keys:
        missing, unknown = [name for name in keys if name not in data], sorted(data.keys() - keys)
        raise ValidationError(f"{missing[0]!r} is missing" if missing else f"{unknown[0]!r} is unknown")


@cache
def _keys(kind: Any) -> KeysView[str]:
    """The keys of an event or a record in JSON."""
    if is_dataclass(kind):
        return dict.fromkeys(field.name for field in fields(kind)).keys()
    names = dict.fromkeys(("event", *kind.__struct_encode_fields__))
    if kind in FLAT:
        held, record = FLAT[kind]
        del names[held]
        names = dict.fromkeys(("event", *_keys(record))) | names
    return names.keys()
