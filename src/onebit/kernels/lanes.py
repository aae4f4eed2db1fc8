"""Thirty-two bytes at a time: the few vector operations that the kernel in ``planes.py`` is written in.

Numba has no vector type, and LLVM does not discover a 16-entry table look-up in a loop. So a value of :class:`Lanes` is
one LLVM vector of 32 bytes, and each function below is one or two instructions on it; they can be called from compiled
functions only. Nothing here is bound to one processor: LLVM makes ``look_up`` one PSHUFB on x86 and TBL on ARM, and
correct, slower code where there is neither.

Sums of bytes outgrow a byte, so they are carried as 16-bit *words* in two vectors: in ``pairs``, where a word adds up
neighbouring bytes taken as one number, and in ``odds``, where it adds up the upper byte alone. The sum of the lower
bytes is then pairs - 256 * odds, exactly, modulo 2^16.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, models, register_model

#: Bytes in a vector: one AVX2 register, or two of NEON.
N_LANES = 32
#: Bits in a digit: the sum of four digits, at most 4 * 63, fits a byte.
DIGIT_BITS = 6

_BYTE = ir.IntType(8)
_BYTES = ir.VectorType(_BYTE, N_LANES)
_TABLE = ir.VectorType(_BYTE, 16)
_WORDS = ir.VectorType(ir.IntType(16), N_LANES // 2)
_INTS = ir.VectorType(ir.IntType(32), N_LANES)
_FLOATS = ir.VectorType(ir.DoubleType(), N_LANES)
_INDEX = ir.IntType(32)


class Lanes(types.Type):
    """The type of a vector of 32 bytes inside compiled code."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


class Table(types.Type):
    """The type of a look-up table of 16 bytes inside compiled code."""

    def __init__(self) -> None:
        super().__init__(name="Table")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, numba_type: Lanes) -> None:
        super().__init__(manager, numba_type, _BYTES)  # type: ignore[no-untyped-call]


@register_model(Table)
class _TableModel(models.PrimitiveModel):
    def __init__(self, manager: Any, numba_type: Table) -> None:
        super().__init__(manager, numba_type, _TABLE)  # type: ignore[no-untyped-call]


LANES = Lanes()
TABLE = Table()


def _instruction(define: Callable[..., Any]) -> Callable[..., Any]:
    """What ``define`` describes, to be called from compiled code without the argument ``typing``."""
    made: Callable[..., Any] = intrinsic(define)
    return made


def _filled(vector: Any, value: int) -> Any:
    return ir.Constant(vector, [value] * vector.count)


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, offset: Any, target: Any) -> Any:
    """The address of entry ``offset`` of a contiguous one-dimensional array, as a pointer to ``target``."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), target.as_pointer())


@_instruction
def zeros(typing: Any) -> Any:
    """Zero in every lane."""
    return LANES(), lambda context, builder, signature, args: _filled(_BYTES, 0)


@_instruction
def load(typing: Any, array: Any, offset: Any) -> Any:
    """The 32 bytes of a contiguous uint8 array that start at ``offset``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, offset = args
        return builder.load(_pointer(context, builder, signature.args[0], array, offset, _BYTES), align=1)

    return LANES(array, types.intp), generate


@_instruction
def prefetch(typing: Any, array: Any, offset: Any) -> Any:
    """Ask for the cache line of entry ``offset``, which may lie beyond the end."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, offset = args
        address = _pointer(context, builder, signature.args[0], array, offset, _BYTE)
        kind = ir.FunctionType(ir.VoidType(), [address.type, _INDEX, _INDEX, _INDEX])
        to_read, into_all_caches, data = _INDEX(0), _INDEX(3), _INDEX(1)
        function = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
        builder.call(function, [address, to_read, into_all_caches, data])
        return context.get_dummy_value()

    return types.none(array, types.intp), generate


@_instruction
def load_table(typing: Any, array: Any, offset: Any) -> Any:
    """The 16 bytes of a contiguous uint8 array that start at ``offset``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, offset = args
        return builder.load(_pointer(context, builder, signature.args[0], array, offset, _TABLE), align=1)

    return TABLE(array, types.intp), generate


@_instruction
def high_nibbles(typing: Any, lanes: Any) -> Any:
    """The upper four bits of each byte."""
    return LANES(lanes), lambda context, builder, signature, args: builder.lshr(args[0], _filled(_BYTES, 4))


@_instruction
def look_up(typing: Any, table: Any, lanes: Any) -> Any:
    """The entry of ``table`` that the lower four bits of each byte number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        table, lanes = args
        # LLVM makes one shuffle instruction of this if it sees that no number exceeds 15.
        numbers = builder.and_(lanes, _filled(_BYTES, 15))
        found = ir.Constant(_BYTES, ir.Undefined)
        for lane in range(N_LANES):
            entry = builder.extract_element(table, builder.extract_element(numbers, _INDEX(lane)))
            found = builder.insert_element(found, entry, _INDEX(lane))
        return found

    return LANES(table, lanes), generate


@_instruction
def add_bytes(typing: Any, left: Any, right: Any) -> Any:
    """The sum in each lane, modulo 256."""
    return LANES(left, right), lambda context, builder, signature, args: builder.add(*args)


@_instruction
def add_words(typing: Any, left: Any, right: Any) -> Any:
    """The sum of each pair of neighbouring lanes taken as one word, modulo 2^16."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left, right = (builder.bitcast(lanes, _WORDS) for lanes in args)
        return builder.bitcast(builder.add(left, right), _BYTES)

    return LANES(left, right), generate


@_instruction
def odd_bytes(typing: Any, lanes: Any) -> Any:
    """The upper byte of each pair of neighbouring lanes, as one word."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        words = builder.bitcast(args[0], _WORDS)
        return builder.bitcast(builder.lshr(words, _filled(_WORDS, 8)), _BYTES)

    return LANES(lanes), generate


def _lane_sums(builder: Any, pairs: Any, odds: Any) -> Any:
    """The 32 sums, lane by lane, that ``pairs`` and ``odds`` carry; each under 2^16."""
    pairs, odds = builder.bitcast(pairs, _WORDS), builder.bitcast(odds, _WORDS)
    evens = builder.sub(pairs, builder.shl(odds, _filled(_WORDS, 8)))
    in_turn = [lane // 2 + (lane % 2) * _WORDS.count for lane in range(N_LANES)]
    return builder.zext(builder.shuffle_vector(evens, odds, ir.Constant(_INTS, in_turn)), _INTS)


def _unpacked(builder: Any, pair: Any) -> tuple[Any, Any]:
    return builder.extract_value(pair, 0), builder.extract_value(pair, 1)


def _broadcast(builder: Any, value: Any, vector: Any) -> Any:
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, _INDEX(0))
    return builder.shuffle_vector(first, first, _filled(_INTS, 0))


@_instruction
def add_digits(typing: Any, out: Any, offset: Any, scale: Any, low: Any, high: Any) -> Any:
    """out[offset + lane] += scale * (low + 2^DIGIT_BITS * high) in float64, for all 32 lanes.

    ``low`` and ``high`` are tuples (pairs, odds) that carry the sums of a lower and of an upper digit.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        out, offset, scale, *digits = args
        low, high = (_lane_sums(builder, *_unpacked(builder, digit)) for digit in digits)
        whole = builder.add(low, builder.shl(high, _filled(_INTS, DIGIT_BITS)))
        term = builder.fmul(builder.sitofp(whole, _FLOATS), _broadcast(builder, scale, _FLOATS))
        place = _pointer(context, builder, signature.args[0], out, offset, _FLOATS)
        builder.store(builder.fadd(builder.load(place, align=8), term), place, align=8)
        return context.get_dummy_value()

    return types.none(out, types.intp, types.float64, low, high), generate
