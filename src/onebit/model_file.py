"""A trained classifier in a file, with the columns it needs; written and read by skops, never by pickle."""

from __future__ import annotations

import io
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onebit.errors import InvalidInputError

if TYPE_CHECKING:
    from onebit.classifier import YesNoClassifier

#: The only types, besides those of numpy and scikit-learn that skops trusts, that such a file may hold.
TYPES = frozenset(
    {
        "onebit.classifier.YesNoClassifier",
        "onebit.estimate.learning_curve.CurvePoint",
        "onebit.estimate.learning_curve.ForecastPoint",
        "onebit.learners.training.features.Features",
        "onebit.learners.training.forest.Forest",
        "onebit.learners.training.linear.Linear",
        "onebit.learners.training.named_lines.NamedLines",
        "onebit.learners.training.network.NetworkEnsemble",
        "onebit.learners.training.pooled.PooledModel",
        "onebit.learners.training.spread.Spread",
    }
)
#: The number is that of the parts that a classifier has; another has others.
FORMAT = "onebit classifier 4"
#: The model's file in the folder of a run.
MODEL = "model.skops"
#: Bytes of a model, unpacked. Origin: a round number, far above any that was measured.
MOST_UNPACKED = 1 << 30


@dataclass(frozen=True)
class SavedModel:
    """A classifier, and whether it takes the ``columns`` (none: the array of an NPZ) as texts."""

    classifier: YesNoClassifier
    columns: tuple[str, ...]
    is_text: bool


def check_new(option: str, path: Path) -> None:
    """Refuse a file that is there, or one in no folder, before hours of answers are spent."""
    if path.exists():
        raise InvalidInputError(f"{path} is there already; move it away, or give another name with {option}")
    if not path.parent.is_dir():
        raise InvalidInputError(f"{option} is {path}, and there is no folder {path.parent}; make it first")


def save_model(path: Path, model: SavedModel) -> None:
    """Write the file whole, or not at all; InvalidInputError for a classifier with an estimator of its user's."""
    if model.classifier.estimator is not None:
        raise InvalidInputError(
            f"the classifier has the estimator {type(model.classifier.estimator).__name__}, and a model file of onebit "
            "holds the built-in model alone, since other types might run code when loaded; write it with "
            "skops.io.dump, and read it with the types that you trust"
        )
    part = path.with_name(f"{path.name}.part")
    kept = {"format": FORMAT, "columns": list(model.columns), "is_text": model.is_text, "classifier": model.classifier}
    try:
        part.write_bytes(to_bytes(kept))
        os.replace(part, path)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


def load_model(path: Path) -> SavedModel:
    """The model in a file; one that holds anything else than what ``save_model`` writes is refused."""
    from onebit.classifier import YesNoClassifier

    if not path.is_file():
        raise InvalidInputError(f"there is no file {path}; onebit learn writes one when it is over")
    try:
        if (n_bytes := path.stat().st_size) > MOST_UNPACKED:
            raise InvalidInputError(f"{path} has {n_bytes:,} bytes; a model has at most {MOST_UNPACKED:,}, unpacked")
        kept = from_bytes(path.read_bytes(), str(path))
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}") from error
    found = str(kept.get("format")) if isinstance(kept, dict) else ""
    if found.startswith("onebit classifier") and found != FORMAT:
        raise InvalidInputError(
            f"{path} is a model of another version of onebit; move it away and run onebit learn as before: it writes "
            "the model anew from the answers that it kept"
        )
    is_whole = found == FORMAT and isinstance(kept.get("columns"), list) and "is_text" in kept
    if not (is_whole and isinstance(kept.get("classifier"), YesNoClassifier)):
        raise InvalidInputError(f"{path} is no model that onebit wrote")
    return SavedModel(kept["classifier"], tuple(map(str, kept["columns"])), bool(kept["is_text"]))


def to_bytes(kept: Any) -> bytes:
    """A classifier or a part of one, in the format of skops."""
    import skops.io  # type: ignore[import-untyped]

    written: bytes = skops.io.dumps(kept)
    return written


def from_bytes(data: bytes, where: str) -> Any:
    """Back from bytes; InvalidInputError if they hold a type that ``to_bytes`` is never given, or are damaged."""
    import skops.io

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            n_bytes = sum(member.file_size for member in archive.infolist())
        if n_bytes > MOST_UNPACKED:
            raise InvalidInputError(f"{where} unpacks to {n_bytes:,} bytes; a model has at most {MOST_UNPACKED:,}")
        strange = sorted(set(skops.io.get_untrusted_types(data=data)) - TYPES)
        if strange:
            raise InvalidInputError(
                f"{where} holds the type {strange[0]}, which onebit never writes and which might run code when loaded; "
                "it is not loaded"
            )
        return skops.io.loads(data, trusted=sorted(TYPES))
    except InvalidInputError:
        raise
    except RecursionError:
        raise InvalidInputError(f"{where} is no model: it is nested too deeply") from None
    # The bytes may be anybody's, and what skops, numpy and zipfile raise at them is not in their docs.
    except Exception as error:
        raise InvalidInputError(f"{where} is no model, or damaged ({type(error).__name__}: {error})") from None
