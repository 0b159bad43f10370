# SPDX-License-Identifier: MIT
"""Answers: dicts that print well."""
import html
from collections.abc import Mapping
from typing import Any

import numpy as np

SHORT = 6  # longest array that is printed whole


class Answer(dict[str, Any]):
    """An answer of the service: a dict whose arrays of numbers are read-only NumPy arrays. docs/api.md lists members,
    shapes and units. Long arrays are printed as dtype and shape; print the member to see its numbers.

        >>> client.evaluate(batch)
        {'n_vertices': 4, 'n_collisions': 4, 'potential': 0.0105492, 'gradient': float64[12], ...}
    """
    __slots__ = ()

    def __repr__(self) -> str:
        return outline(self)

    def _repr_html_(self) -> str:
        """For notebooks: a table of the members."""
        rows = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
                       f"<td style='text-align:left'><code>{html.escape(outline(value))}</code></td></tr>"
                       for name, value in flat(self))
        return f"<table>{rows}</table>"


def flat(members: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """(path, value) of every member that is not a dict itself, and of empty dicts."""
    found = []
    for name, value in members.items():
        if isinstance(value, dict) and value:
            found += flat(value, f"{prefix}{name} / ")
        else:
            found.append((prefix + name, value))
    return found


def outline(value: Any) -> str:
    """A short text for a value."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name!r}: {outline(member)}" for name, member in value.items()) + "}"
    if isinstance(value, np.ndarray):
        if value.size <= SHORT:
            return outline(value.tolist())
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, list):
        more = f", ... {len(value)} in all" if len(value) > SHORT else ""
        return f"[{', '.join(map(outline, value[:SHORT]))}{more}]"
    return f"{value:.6g}" if type(value) is float else repr(value)
