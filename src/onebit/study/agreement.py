"""How far raters agree beyond chance: standard measures, for answers that have no order (yes, no, can't tell)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence


def krippendorff_alpha(units: Iterable[Sequence[Hashable]]) -> float | None:
    """Krippendorff's alpha of what raters said about the same units, each by any number of them; nominal.

    1 - observed / expected disagreement: 1 for full agreement, about 0 where raters guess. None where it is not
    defined: nobody answered the same as somebody else, or everybody always said the same.

    >>> round(krippendorff_alpha([("yes", "yes"), ("no", "no"), ("yes", "no"), ("yes", "yes")]), 3)
    0.533
    """
    total: Counter[Hashable] = Counter()
    agreed = 0.0
    for values in units:
        if len(values) > 1:
            counts = Counter(values)
            total.update(counts)
            agreed += sum(n * (n - 1) for n in counts.values()) / (len(values) - 1)
    n = total.total()
    expected = sum(count * (n - count) for count in total.values())
    # With n values in all, the expected disagreement is that of drawing two of them without putting one back.
    return None if expected == 0 else 1 - (n - agreed) * (n - 1) / expected


def cohen_kappa(pairs: Mapping[tuple[Hashable, Hashable], int]) -> float | None:
    """Cohen's kappa of one rater with others: how often each pair of (own, other) answers came.

    None where it is not defined: there is no pair, or both sides always said the same one thing.

    >>> cohen_kappa({("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15})
    0.4
    """
    n = sum(pairs.values())
    own: Counter[Hashable] = Counter()
    other: Counter[Hashable] = Counter()
    for (a, b), count in pairs.items():
        own[a] += count
        other[b] += count
    by_chance = sum(own[each] * other[each] for each in own)
    if n == 0 or by_chance == n * n:
        return None
    same = sum(count for (a, b), count in pairs.items() if a == b)
    return (n * same - by_chance) / (n * n - by_chance)
