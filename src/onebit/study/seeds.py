"""A seed that somebody gives may be used once: whoever saw its questions knows what it draws."""

from __future__ import annotations

from onebit.errors import InvalidInputError
from onebit.log.events import AnySetting, Created, LogError
from onebit.store.store import Store


def check_new_seed(store: Store, setting: AnySetting) -> None:
    """InvalidInputError if the seed was given, and another study of the store has it."""
    if not setting.seed_given:
        return
    for entry in store.entries():
        try:
            created = store.first_event(entry.id)
        except LogError:
            # A study that this version does not read asks nothing any more.
            continue
        if isinstance(created, Created) and created.setting.seed == setting.seed:
            raise InvalidInputError(
                f"the seed {setting.seed} is that of the study {entry.name!r} already; a seed is never used twice for "
                "the same items, since what it draws is known then. Leave it out: one is drawn and recorded"
            )
