"""Dictionaries as JSON documents: numbers may be numpy's or decimals, and what cannot be written is named by its place."""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from fairplan.errors import InputError

__all__ = ["as_json"]


def as_json(name: str, document: Any) -> bytes:
    """The document that ``name`` was given, as JSON.

    Raises:
        InputError: names the place of a number that is none, of a decimal that no double is, or of what JSON has no word for.
    """
    try:
        return json.dumps(document, allow_nan=False).encode()
    except (TypeError, ValueError):
        return json.dumps(_plain(name, "", document)).encode()


def _plain(name: str, place: str, value: Any) -> Any:
    """The value in Python's own types."""
    if isinstance(value, Mapping):
        members = value.items()
        return {str(key): _plain(name, f"{place}.{key}" if place else str(key), item) for key, item in members}
    if hasattr(value, "tolist"):
        # A short number of numpy is the shortest decimal that it reads back as, and not its double.
        short = getattr(value, "itemsize", 8) < 8 and getattr(getattr(value, "dtype", None), "kind", "") == "f"
        value = value.astype(str).astype(float).tolist() if short else value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(name, f"{place}[{position}]", item) for position, item in enumerate(value)]
    if value is None or isinstance(value, str | bool | int):
        return value
    told = f"{name}: {place} = {str(value)[:100]}"
    if not isinstance(value, numbers.Real | Decimal):
        kind = type(value).__name__
        raise InputError(f"{told}: {kind} is none of what a document has", name, place, str(value))
    number = float(value)
    if not math.isfinite(number):
        raise InputError(f"{told}: must be a finite number", name, place, str(value))
    if isinstance(value, Decimal) and Decimal(repr(number)) != value:
        raise InputError(f"{told}: has more digits than a double; write it in a file of JSON", name, place, str(value))
    return number
