"""The state of a checkpoint on its way in: an object, or a string that holds one."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Final, NoReturn, cast

from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.model.checkpoints import MAX_DEPTH, depth
from graymatter_mcp.model.ids import UNSET
from graymatter_mcp.surfaces.mcp.purity import refuse_bad_text

if TYPE_CHECKING:
    from graymatter_mcp.model.checkpoints import JsonObject

_NOTHING: Final = frozenset({"", "null"})


def state(name: str, value: object) -> object:
    """Spell the state as a string holding one JSON object; "" and "null" mean none.

    Raises:
        InvalidArgumentError: It is neither an object nor a string; dropping it would lose data.
    """
    if isinstance(value, dict):
        return _encoded(cast("JsonObject", value))
    if not isinstance(value, str):
        raise InvalidArgumentError(f"{name} must be a JSON object or a string holding one")
    return UNSET if value in _NOTHING else value


def decode_state(text: str) -> JsonObject:
    """Read the object; integers of any size stay integers, 1.0 stays a float.

    Raises:
        InvalidArgumentError: The string holds no JSON object, or one that no client could read.
    """
    try:
        decoded: object = json.loads(text, parse_float=_finite, parse_constant=_refuse_constant)
    except json.JSONDecodeError as exc:
        raise _invalid(f"{exc.msg} at line {exc.lineno} column {exc.colno}") from exc
    except RecursionError as exc:
        raise _too_deep() from exc
    except ValueError as exc:
        raise _invalid("a number is too long") from exc
    if not isinstance(decoded, dict):
        raise _invalid("expected an object")
    if depth(cast("object", decoded)) > MAX_DEPTH:
        raise _too_deep()
    refuse_bad_text("state", cast("object", decoded))
    return cast("JsonObject", decoded)


def _encoded(value: JsonObject) -> str:
    if depth(value) > MAX_DEPTH:
        raise _too_deep()
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError as exc:
        raise _invalid("a number is too long") from exc


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _invalid("a number is out of range")
    return number


def _refuse_constant(word: str) -> NoReturn:
    raise _invalid(f"{word} is not a JSON value")


def _too_deep() -> InvalidArgumentError:
    return _invalid(f"nested deeper than {MAX_DEPTH} levels")


def _invalid(reason: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"state must be valid JSON: {reason}")
