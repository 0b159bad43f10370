"""Differences between two answer documents, relative to the largest entry of each array."""
import math


def leaves(value):
    if isinstance(value, list):
        return [x for row in value for x in leaves(row)]
    return [value]


def shape(value):
    """Nested lengths: [2, 2] for [[1, 2], [3, 4]], the full structure for ragged lists."""
    if not isinstance(value, list):
        return 0
    inner = [shape(x) for x in value]
    return [len(value)] + (inner[:1] if inner and all(s == inner[0] for s in inner) else inner)


def is_numeric(value):
    return all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in leaves(value))


def differences(got, expected, path=''):
    """Yields (path, relative difference, or None if the structure differs, text)."""
    if isinstance(expected, dict):
        if not isinstance(got, dict) or set(got) != set(expected):
            yield path, None, f'has {sorted(got) if isinstance(got, dict) else got!r}, expected {sorted(expected)}'
            return
        for key in expected:
            yield from differences(got[key], expected[key], f'{path}/{key}')
    elif isinstance(expected, str) or isinstance(expected, list) and not is_numeric(expected):
        if isinstance(expected, list) and isinstance(got, list) and len(got) == len(expected):
            for i, (g, e) in enumerate(zip(got, expected)):
                yield from differences(g, e, f'{path}/{i}')
        elif got != expected:
            yield path, None, f'is {got!r}, expected {expected!r}'
    else:
        yield from numbers(got, expected, path)


def numbers(got, expected, path):
    if shape(got) != shape(expected) or not is_numeric(got):
        yield path, None, f'has shape {shape(got)}, expected {shape(expected)}'
        return
    g, e = leaves(got), leaves(expected)
    if all(isinstance(x, int) for x in e):
        if g != e or not all(isinstance(x, int) for x in g):
            yield path, None, f'is {g}, expected the integers {e}'
        return
    scale = max(abs(x) for x in e)
    worst = max(abs(x - y) for x, y in zip(g, e))
    yield path, ratio(worst, scale), f'differs by {worst:.3e}; largest entry {scale:.3e}'


def ratio(worst, scale):
    if worst == 0:
        return 0.0
    return worst / scale if scale and math.isfinite(worst) else math.inf


def worst(got, expected):
    """(largest relative difference, its text, [differences of structure])."""
    found = list(differences(got, expected))
    structure = [f'{p} {words}' for p, r, words in found if r is None]
    numeric = max(((r, f'{p} {words}') for p, r, words in found if r is not None), default=(0.0, 'nothing to compare'))
    return numeric[0], numeric[1], structure
