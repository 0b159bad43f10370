#!/usr/bin/python3
"""Writes contacts_mp.txt: closest features of contacts, and their barriers with derivatives, correctly rounded from
multi-precision values. Lines that begin with # say what the columns are.

Usage: make_contacts.py [FILE]     deterministic, a minute
"""
import math
import os
import random
import sys

from mpmath import mp, mpf, sqrt

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'oracle'))
import features  # noqa: E402
import potential  # noqa: E402
from law import to_double  # noqa: E402
from make_scalars import shortest  # noqa: E402

mp.dps = 120  # a distance may cancel 30 digits of its square's terms, a barrier next to dhat 30 more

HEADER = """\
# A line is one contact, its columns separated by spaces; numbers are C hexadecimal floats (fscanf %la), but dim and
# feature are decimal. n is dim times the number of vertices of the group's stencil.
#   group dim     vertex_vertex, edge_vertex, edge_edge, face_vertex or plane_vertex; 2 or 3
#   barrier       clamped_log, normalized_clamped_log, clamped_log_squared, cubic, two_stage
#   scaling       none, physical
#   mode          given: the stencil is the feature; search: the closest feature is found
#   kind          plain: in general position, the distance at least 1e-6 of the longest edge
#                 aligned: edges and faces along axes, so that a small distance does not cancel
#                 lattice: small integers times a power of two, on exact borders and ties
#                 hard: in general position with a distance that is smaller, or next to dhat or dmin: the distance as it
#                 is in doubles may have lost digits
#   dhat stiffness dmin mollifier
#   positions     n, vertex by vertex in the stencil's order; its vertices are numbered in that order (ties!)
#   plane_vertex only: the normal (not normalised) and the origin of the plane, dim each
#   feature       bits 0-3: which vertices of the stencil take part
#   closest point none, 1 (edge_vertex) or 2 (edge_edge, face_vertex): clamped if searched
#   distance
#   energy        stiffness times mollifier times barrier, scaled; no weight, no time step
#   gradient      n
#   Hessian       upper triangle with diagonal, row by row, n (n + 1) / 2; not projected
"""
GROUPS = ['vertex_vertex', 'edge_vertex', 'edge_edge', 'face_vertex', 'plane_vertex']
SIZES = {'vertex_vertex': (1, 1), 'edge_vertex': (1, 2), 'edge_edge': (2, 2), 'face_vertex': (1, 3),
         'plane_vertex': (1, 0)}
BARRIERS = list(potential.BARRIERS)
SAFE = 1e-4  # least margin of a choice of features that is not exactly on a border


# --- vectors in doubles, exactly rounded or nearly: what comes out is an input --------------------------------------

def combine(*terms):
    return [sum(f * v[i] for f, v in terms) for i in range(len(terms[0][1]))]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def normalized(v):
    return [x / math.sqrt(dot(v, v)) for x in v]


def frame(rng, dim, aligned):
    """Orthonormal vectors, the normal last."""
    if aligned:
        order = rng.sample(range(dim), dim)
        return [[rng.choice([-1.0, 1.0]) if i == k else 0.0 for i in range(dim)] for k in order]
    rows = []
    while len(rows) < dim:
        v = [rng.uniform(-1, 1) for _ in range(dim)]
        for r in rows:
            v = combine((1, v), (-dot(v, r), r))
        if dot(v, v) > 0.05:
            rows.append(normalized(v))
    return rows


def outward(rng, tangents, normal, sign):
    """A direction with a part of sign * normal."""
    terms = [(rng.uniform(-1, 1), t) for t in tangents] + [(sign * rng.uniform(0.2, 1), normal)]
    return normalized(combine(*terms))


def side(rng, count, taking, place, tangents, normal, sign, size):
    """Corners of one side whose closest point is `place`, on the part `taking`; other corners are on sign * normal's
    side."""
    def away():
        return combine((1, place), (size * rng.uniform(0.4, 1), outward(rng, tangents, normal, sign)))
    if count == 1:
        return [place]
    if len(taking) == 1:
        return [place if i in taking else away() for i in range(count)]
    alpha, length = rng.uniform(0.1, 0.9), size * rng.uniform(0.4, 1)
    if len(taking) == 3:
        b1, b2 = sorted([rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.9)])
        b, c = b1, max(b2 - b1, 0.05)
        b, c = b / (1 + c), c / (1 + c)
        slide, height = rng.uniform(0.2, 0.8), rng.uniform(0.3, 1) * rng.choice([-1, 1])
        corners = [(0, 0), (1, 0), (slide, height)]
        foot = [b * corners[1][k] + c * corners[2][k] for k in (0, 1)]
        return [combine((1, place), (length * (x - foot[0]), tangents[0]), (length * (y - foot[1]), tangents[1]))
                for x, y in corners]
    ends = [combine((1, place), (x * length, tangents[0])) for x in (-alpha, 1 - alpha)]
    return [ends[taking.index(i)] if i in taking else away() for i in range(count)]


def built(rng, spec, kind, d, size):
    """Positions of a stencil whose closest feature is as `spec` says, at about the distance d."""
    group, dim, first, second, sine = spec
    *tangents, normal = frame(rng, dim, kind == 'aligned')
    a, b = SIZES[group]
    one = combine((d, normal))
    turned = tangents
    if len(first) == len(second) == 2:
        turned = [combine((math.sqrt(1 - sine * sine), tangents[0]), (sine, tangents[1])), tangents[1]]
    points = side(rng, a, first, one, turned, normal, 1, size)
    if group == 'plane_vertex':
        stretch = rng.choice([1.0, 2.5])
        offset = combine(*[(rng.uniform(-1, 1) * size, t) for t in tangents])
        if kind != 'aligned':
            points = [combine((1, points[0]), (rng.uniform(-1, 1) * size, tangents[0]))]
        return points, (combine((stretch, normal)), offset)
    points += side(rng, b, second, [0.0] * dim, tangents, normal, -1, size)
    return points, None


# --- borders and ties -------------------------------------------------------------------------------------------

LATTICE = [  # group, dim, points
    ('edge_vertex', 3, [(0, 3, 0), (0, 0, 0), (4, 0, 0)]),
    ('edge_vertex', 3, [(4, 0, 2), (0, 0, 0), (4, 0, 0)]),
    ('edge_vertex', 3, [(1, 2, 0), (3, 0, 0), (3, 0, 0)]),
    ('edge_vertex', 3, [(1, 2, 2), (0, 0, 0), (4, 0, 0)]),
    ('edge_vertex', 2, [(0, 3), (0, 0), (4, 0)]),
    ('edge_vertex', 2, [(4, -2), (0, 0), (4, 0)]),
    ('edge_vertex', 2, [(1, 2), (3, 0), (3, 0)]),
    ('edge_vertex', 2, [(6, 0), (0, 0), (4, 0)]),
    # a vertex above a corner, an edge, the inside; beside them; triangles without an area
    ('face_vertex', 3, [(0, 0, 2), (0, 0, 0), (4, 0, 0), (0, 4, 0)]),
    ('face_vertex', 3, [(2, 0, 3), (0, 0, 0), (4, 0, 0), (0, 4, 0)]),
    ('face_vertex', 3, [(2, 2, 1), (0, 0, 0), (4, 0, 0), (0, 4, 0)]),
    ('face_vertex', 3, [(0, 1, 2), (0, 0, 0), (4, 0, 0), (0, 4, 0)]),
    ('face_vertex', 3, [(4, 0, 1), (0, 0, 0), (4, 0, 0), (0, 4, 0)]),
    ('face_vertex', 3, [(0, 4, -1), (0, 0, 0), (4, 0, 0), (0, 4, 0)]),
    ('face_vertex', 3, [(0, -3, 1), (0, 0, 0), (4, 0, 0), (0, 4, 0)]),
    ('face_vertex', 3, [(-2, 0, 0), (0, 0, 0), (4, 0, 0), (0, 4, 0)]),
    ('face_vertex', 3, [(6, 2, 0), (0, 0, 0), (4, 0, 0), (0, 4, 0)]),
    ('face_vertex', 3, [(1, 1, 3), (0, 0, 0), (4, 0, 0), (0, 4, 0)]),
    ('face_vertex', 3, [(-3, 1, 0), (0, 0, 0), (2, 0, 0), (5, 0, 0)]),
    ('face_vertex', 3, [(2, 1, 2), (0, 0, 0), (2, 0, 0), (5, 0, 0)]),
    ('face_vertex', 3, [(1, 2, 2), (0, 0, 0), (0, 0, 0), (0, 0, 0)]),
    ('face_vertex', 3, [(5, 1, 2), (0, 0, 0), (4, 0, 0), (4, 0, 0)]),
    # parallel edges: side by side, shifted, end to end, antiparallel; across an end; without length
    ('edge_edge', 3, [(0, 0, 0), (4, 0, 0), (1, 2, 0), (3, 2, 0)]),
    ('edge_edge', 3, [(1, 2, 0), (3, 2, 0), (0, 0, 0), (4, 0, 0)]),
    ('edge_edge', 3, [(0, 0, 0), (4, 0, 0), (2, 2, 0), (6, 2, 0)]),
    ('edge_edge', 3, [(0, 0, 0), (4, 0, 0), (6, 2, 0), (2, 2, 0)]),
    ('edge_edge', 3, [(0, 0, 0), (4, 0, 0), (4, 2, 0), (7, 2, 0)]),
    ('edge_edge', 3, [(0, 0, 0), (4, 0, 0), (0, 2, 0), (4, 2, 0)]),
    ('edge_edge', 3, [(0, 0, 0), (4, 0, 0), (4, 2, 0), (0, 2, 0)]),
    ('edge_edge', 3, [(0, 0, 0), (4, 0, 0), (5, 0, 0), (7, 0, 0)]),
    ('edge_edge', 3, [(0, 0, 0), (4, 0, 0), (9, 2, 0), (6, 2, 0)]),
    ('edge_edge', 3, [(0, 0, 0), (4, 0, 0), (0, 0, 2), (0, 5, 2)]),
    ('edge_edge', 3, [(0, 0, 0), (4, 0, 0), (4, -2, 2), (4, 5, 2)]),
    ('edge_edge', 3, [(0, 0, 0), (4, 0, 0), (2, 0, 1), (2, 3, 1)]),
    ('edge_edge', 3, [(0, 0, 0), (4, 0, 0), (2, -1, 3), (2, 1, 3)]),
    ('edge_edge', 3, [(0, 0, 0), (4, 0, 0), (1, 1, 2), (1, 1, 2)]),
    ('edge_edge', 3, [(1, 1, 2), (1, 1, 2), (0, 0, 0), (4, 0, 0)]),
    ('edge_edge', 3, [(1, 1, 2), (1, 1, 2), (3, 0, 0), (3, 0, 0)]),
    ('edge_edge', 3, [(0, 0, 0), (4, 0, 0), (6, 2, 1), (6, 2, 1)]),
    ('edge_edge', 3, [(0, 0, 0), (4, 0, 0), (4, 0, 2), (6, 1, 2)]),
    ('edge_edge', 3, [(0, 0, 0), (3, 3, 0), (1, 1, 1), (4, 4, 1)]),
]
TURNS = [[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 2, 2], [2, 1, -2], [2, -2, 1]], [[2, 3, 6], [3, -6, 2], [6, 2, -3]],
         [[0, 1, 0], [0, 0, -1], [-1, 0, 0]]]  # orthogonal, times 1, 3, 7
TURNS_2D = [[[1, 0], [0, 1]], [[3, 4], [-4, 3]], [[0, -1], [1, 0]]]


def on_lattice(rng, points, dim):
    turn, shift = rng.choice(TURNS if dim == 3 else TURNS_2D), [rng.randrange(-5, 6) for _ in range(dim)]
    step = 2.0 ** rng.choice([-10, -3, 0, 4])
    return [[step * (s + dot(row, p)) for s, row in zip(shift, turn)] for p in points]


# --- lines ------------------------------------------------------------------------------------------------------

def specs():
    """(group, dim, first and second side's parts that are closest, sine between edges)"""
    for dim in (2, 3):
        yield 'vertex_vertex', dim, [0], [0], 1
        yield 'plane_vertex', dim, [0], [], 1
        for part in ([0, 1], [0], [1]):
            yield 'edge_vertex', dim, [0], part, 1
    for first in ([0, 1], [0], [1]):
        for second in ([0, 1], [0], [1]):
            yield 'edge_edge', 3, first, second, 0.7
    yield 'edge_edge', 3, [0, 1], [0, 1], 0.05
    for part in ([0, 1, 2], [0, 1], [1, 2], [0, 2], [0], [1], [2]):
        yield 'face_vertex', 3, [0], part, 1


def fraction(rng, kind):
    """Distance from dmin, in dhat; rarely dhat or more."""
    how = rng.random()
    if how < 0.05:
        return rng.choice([1.001, 1.5])
    if how < 0.2:
        return 1 - 10 ** rng.uniform(-9 if kind != 'plain' else -3, -1)
    return 10 ** rng.uniform(-12, 0) if how < 0.75 else rng.uniform(0.05, 0.95)


def longest(points):
    return max((math.sqrt(sum((x - y) ** 2 for x, y in zip(p, q))) for p in points for q in points), default=0)


def sizes(rng, kind):
    """(distance, dhat, dmin, size of the stencil)"""
    f, unit = fraction(rng, kind), 2.0 ** rng.randrange(-12, 8)
    dhat = unit * rng.uniform(0.5, 2)
    dmin = dhat * rng.choice([0, 0, 0.1, 1, 3]) if f > 1e-3 or kind == 'hard' and f > 1e-7 else 0.0
    d = dmin + f * dhat
    near = kind == 'hard' or kind == 'aligned'
    return d, dhat, dmin, (dhat + dmin) * 10 ** rng.uniform(0, 3) if near else d * 10 ** rng.uniform(-1, 5)


def mollifier(rng, group, kind, points):
    """0, or a limit of |a x b|^2 which is crossed or not; on lattices also met exactly."""
    if group != 'edge_edge' or rng.random() < 0.45:
        return 0.0
    c = float(potential.area_squared([[mpf(x) for x in p] for p in points]))
    if c == 0 or c < 1e-30 * longest(points[:2]) ** 2 * longest(points[2:]) ** 2:
        return longest(points) ** 4 * 1e-3
    return c * rng.choice([1.0 if kind == 'lattice' else 1.2, 0.3, 1.02, 1.5, 4.0, 1e2, 1e4])


def contact(rng, number, group, dim, points, plane, kind, given, dhat, dmin):
    """The line, or None if the choice of the feature is not certain, or the contact penetrates."""
    barrier = BARRIERS[number % len(BARRIERS)], rng.choice(['none', 'physical'])
    stiffness, limit = rng.choice([1.0, 1e4, 0.37]), 0.0 if given else mollifier(rng, group, kind, points)
    exact = [[mpf(x) for x in p] for p in points]
    feature = features.whole(group) if given else features.search(group, points, range(4))
    if not given and kind != 'lattice' and feature.margin < SAFE:
        return None
    beta = given_beta(group, exact) if given else [mpf(x.numerator) / x.denominator for x in feature.beta]
    flat = [[mpf(x) for x in v] for v in plane] if plane else None
    square = potential.squared_distance(feature, exact, flat)
    found = potential.derivatives(feature, exact, potential.Barrier(*barrier, dhat, stiffness, dmin), mpf(limit), flat)
    if found is None or square < (mpf(dmin) + mpf(dhat) * mpf('5e-13')) ** 2:
        return None
    size, reach = longest(points), mpf(dmin) + mpf(dhat)
    if abs(sqrt(square) / reach - 1) < mpf('1e-10') and square != reach ** 2:
        return None  # on which side it is would be a matter of rounding, and Hessians may jump there
    if kind == 'plain' and (sqrt(square) < mpf(size) * mpf('1e-6') or close(sqrt(square), reach, dmin)):
        kind = 'hard'
    energy, gradient, hessian = found
    n = dim * len(points)
    numbers = [*(x for p in points for x in p), *(x for v in plane or [] for x in v)]
    upper = [hessian[i][j] for i in range(n) for j in range(i, n)]
    out = [group, str(dim), *barrier, 'given' if given else 'search', kind,
           *map(shortest, (dhat, stiffness, dmin, limit)), *map(shortest, numbers), str(feature.bits),
           *(shortest(to_double(x)) for x in (*beta, sqrt(square), energy, *gradient, *upper))]
    return ' '.join(out)


def close(distance, reach, dmin):
    return abs(distance / reach - 1) < mpf('1e-4') or dmin and distance / mpf(dmin) - 1 < mpf('1e-3')


def given_beta(group, p):
    """Closest point of unbounded primitives, from the equations of the least distance."""
    def minus(a, b):
        return [x - y for x, y in zip(a, b)]
    if group in ('vertex_vertex', 'plane_vertex'):
        return []
    if group == 'edge_vertex':
        e = minus(p[2], p[1])
        return [dot(minus(p[0], p[1]), e) / dot(e, e)]
    u, v, d = ((minus(p[1], p[0]), minus(p[2], p[3]), minus(p[2], p[0])) if group == 'edge_edge' else
               (minus(p[2], p[1]), minus(p[3], p[1]), minus(p[0], p[1])))
    uu, uv, vv, ud, vd = dot(u, u), dot(u, v), dot(v, v), dot(u, d), dot(v, d)
    det = uu * vv - uv * uv
    return [(ud * vv - vd * uv) / det, (vd * uu - ud * uv) / det]


def lines():
    rng, number = random.Random('contacts'), 0
    for spec in specs():
        group, dim, first, second, _ = spec
        whole = (len(first), len(second)) == SIZES[group]
        for kind in ['plain'] * 5 + ['aligned'] * 4 + ['hard'] * 4:
            made = None
            while made is None:
                d, dhat, dmin, size = sizes(rng, kind)
                points, plane = built(rng, spec, kind, d, size)
                given = whole and rng.random() < 0.4
                made = contact(rng, number, group, dim, points, plane, kind, given, dhat, dmin)
            number += 1
            yield made
    for group, dim, points in LATTICE:
        for _ in range(3):
            moved = on_lattice(rng, points, dim)
            far = longest(moved)
            dhat = far * rng.choice([1.0, 3.0])
            made = contact(rng, number, group, dim, moved, None, 'lattice', False, dhat, 0.0)
            number += 1
            if made is not None:
                yield made


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, 'contacts_mp.txt')
    with open(path, 'w') as out:
        out.write(HEADER)
        out.write('\n'.join(lines()) + '\n')


if __name__ == '__main__':
    main()
