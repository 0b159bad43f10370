"""Lists of contacts in documents: types, stencils, how they are written."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from algebra import flat  # noqa: E402

GROUPS = ['vertex_vertex', 'edge_vertex', 'edge_edge', 'face_vertex', 'plane_vertex']
IN_2D = ['vertex_vertex', 'edge_vertex', 'plane_vertex']
STENCIL = {'vertex_vertex': 2, 'edge_vertex': 3, 'edge_edge': 4, 'face_vertex': 4, 'plane_vertex': 1}


def groups_of(dim):
    return GROUPS if dim == 3 else IN_2D


def rows(value, columns):
    """An array as tuples, nested or flat; of one column as numbers."""
    numbers = flat(value)
    return numbers if columns == 1 else [tuple(numbers[i:i + columns]) for i in range(0, len(numbers), columns)]


def per_row(value, n, columns):
    found = rows(value, columns)
    return found * n if len(found) == 1 and n != 1 else found


def canonical(group, v):
    """The one way in which a stencil is written; the row of a face stays as it is."""
    if group == 'vertex_vertex':
        return tuple(sorted(v))
    if group == 'edge_vertex':
        return (v[0], *sorted(v[1:]))
    if group == 'edge_edge':
        a, b = sorted([sorted(v[:2]), sorted(v[2:])])
        return (*a, *b)
    return tuple(v)


def once(items, key):
    """The first of equal items."""
    seen = {}
    for x in items:
        seen.setdefault(key(x), x)
    return list(seen.values())
