"""The parts of an evaluation that look for closest features: friction's geometry at the lagged positions, the barrier's
energy at the current ones, and how far the contacts can move."""
import os
import sys
from fractions import Fraction

from mpmath import mpf, sqrt

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import features  # noqa: E402
import potential  # noqa: E402
from algebra import Degenerate, exact, minus, norm  # noqa: E402
from geometry import DERIVE, require_area, require_length, sides, unit_normal  # noqa: E402

FRICTION_TERMS = ['friction']


def searches(contact, row, request):
    return request.get('closest_features') == 'search' or mollifier(row) > 0


def mollifier(row):
    return row['mollifier'][0] if 'mollifier' in row else mpf(0)


def find(contact, p, searched, margins):
    """The feature at these positions."""
    if not searched:
        return features.whole(contact.group)
    found = features.search(contact.group, [exact(x) for x in p], contact.members)
    if found.margin:  # exactly on a border rounding has no say
        margins.see(found.margin, 10)
    return found


# --- friction at the lagged positions ---------------------------------------------------------------------------

def derive(contact, p, margins):
    """(closest point in the stencil's terms, basis, distance, normal) from the feature's own type and order."""
    order, _ = contact.feature.canonical(contact.members)
    kind, points = contact.feature.kind, [p[i] for i in order]
    own, basis, distance = DERIVE[kind](points, margins)
    margins.lost(distance / max(norm(minus(x, points[0])) for x in points))
    weights = [mpf(0)] * len(p)
    for place, w in zip(order, [w for side in sides(kind, own) for w in side]):
        weights[place] = w
    taken = {'vertex_vertex': [], 'edge_vertex': [2], 'edge_edge': [1, 3], 'face_vertex': [2, 3]}[contact.group]
    return [weights[i] for i in taken], basis, distance, unit_normal(kind, points)


def is_mollified(p, limit, margins):
    """Whether two edges are too parallel for friction."""
    if not limit:
        return False
    ratio = potential.area_squared(p) / limit
    if ratio != 1:
        margins.see(ratio - 1, 10)
    return ratio < 1


# --- the barrier at the current positions -----------------------------------------------------------------------

class Acting:
    """The barrier of one contact: energy, gradient and Hessian, weight included; `force` on the first side."""

    def __init__(self, contact, p, row, request, margins):
        fields, limit, dim = request['barrier'], mollifier(row), len(p[0])
        barrier = potential.Barrier(fields.get('type', 'clamped_log'), fields.get('scaling', 'none'),
                                    *(mpf(fields.get(k, 0)) for k in ('dhat', 'stiffness', 'dmin')))
        searched = searches(contact, row, request)
        self.feature = find(contact, p, searched, margins)
        plane = (row['plane_normal'], row['plane_origin']) if contact.group == 'plane_vertex' else None
        if not searched:
            judge(contact.group, p, margins)
        is_mollified(p, limit, margins)
        self.distance = sqrt(potential.squared_distance(self.feature, p, plane))
        reach = barrier.dmin + barrier.dhat
        margins.see(self.distance / reach - 1, 100)
        if barrier.dmin:
            margins.see(self.distance / barrier.dmin - 1, 1000)
        taking = [p[i] for i in (*self.feature.first, *self.feature.second)] + ([row['plane_origin']] if plane else [])
        margins.lost(self.distance / max(norm(minus(x, taking[0])) for x in taking) if self.distance else mpf(0))
        found = potential.derivatives(self.feature, p, barrier, limit, plane)
        if found is None:
            raise Degenerate('penetration')
        energy, gradient, hessian = found
        self.potential = contact.weight * energy
        self.gradient = [contact.weight * x for x in gradient]
        self.hessian = [[contact.weight * x for x in r] for r in hessian]
        first = range(features.SPLIT[contact.group])
        self.force = [-sum((self.gradient[i * dim + axis] for i in first), mpf(0)) for axis in range(dim)]

    def matrix(self, projection):
        return potential.projected(self.hessian, projection)


def judge(group, p, margins):
    """The faults of a given feature; distances of zero are penetration."""
    if group == 'edge_vertex':
        require_length(minus(p[2], p[1]), p[1:], 'zero_length_edge', margins)
    if group == 'edge_edge':
        a, b = minus(p[1], p[0]), minus(p[3], p[2])
        require_length(a, p[:2], 'zero_length_edge', margins)
        require_length(b, p[2:], 'zero_length_edge', margins)
        require_area(potential.cross(a, b), a, b, 'parallel_edges', margins)
    if group == 'face_vertex':
        e, f = minus(p[2], p[1]), minus(p[3], p[1])
        require_length(e, p[1:3], 'collapsed_triangle', margins)
        require_length(f, [p[1], p[3]], 'collapsed_triangle', margins)
        require_area(potential.cross(e, f), e, f, 'collapsed_triangle', margins)


class Absent:
    """The barrier of a contact that is skipped."""

    def __init__(self, contact, dim):
        zero = mpf(0)
        n = len(contact.members) * dim
        self.potential, self.distance, self.feature = zero, zero, None
        self.gradient, self.force = [zero] * n, [zero] * dim
        self.hessian = [[zero] * n for _ in range(n)]

    def matrix(self, _projection):
        return self.hessian


# What the contract leaves open where edges are too parallel for friction.
OPEN = ('distance', 'closest_point', 'tangent_basis', 'feature', 'mu_s', 'mu_k')


def leave_open(contact, got, expected):
    """Makes a contact's outputs equal that the contract leaves open, in an answer and what is expected of it."""
    for name in OPEN if contact.mollified else ():
        here, there = (answer.get('collisions', {}).get(contact.group, {}).get(name) for answer in (got, expected))
        if here and there:
            here[contact.index] = there[contact.index]


# --- how far can it move ----------------------------------------------------------------------------------------

class Path:
    """A pair whose vertices move along straight lines; coordinates are fractions."""

    def __init__(self, group, numbers, points, moves, dmin, plane=None):
        self.group, self.numbers, self.plane = group, numbers, plane
        self.points, self.moves = ([[Fraction(x) for x in row] for row in rows] for rows in (points, moves))
        self.dmin = mpf(dmin)
        split = features.SPLIT[group]
        self.places, self.ways = (self.largest(rows, moves, split) for rows in (points, moves))
        if plane:
            normal = [mpf(x) for x in plane[0]]
            self.fastest = abs(sum((n * mpf(x) for n, x in zip(normal, moves[0])), mpf(0))) / norm(normal)
        else:
            self.fastest = max(features.length(features.minus(a, b))
                               for a in self.moves[:split] for b in self.moves[split:])

    def gap(self, t):
        t = Fraction(t)
        p = [[x + t * m for x, m in zip(*rows)] for rows in zip(self.points, self.moves)]
        if self.plane:
            normal, origin = ([Fraction(x) for x in v] for v in self.plane)
            height = features.dot(normal, features.minus(p[0], origin))
            return abs(real(height)) / features.length(normal) - self.dmin
        found = features.search(self.group, p, self.numbers, judged=False)
        return features.length(features.mix(p, features.weights(self.group, found.beta))) - self.dmin

    @staticmethod
    def largest(rows, moves, split):
        """The largest component of each side's rows that move, summed up."""
        sizes = [max(map(abs, row)) if any(move) else 0 for row, move in zip(rows, moves)]
        return mpf(max(sizes[:split])) + mpf(max(sizes[split:], default=0))

    def rounded(self, t):
        """By how much positions in doubles may change the distance."""
        return (self.places + 2 * mpf(t) * self.ways) / 2 ** 52

    def bounds(self, keep):
        """(safe, unsafe): all of [0, safe] keeps the gap, `unsafe` does not (None if all of [0, 1] keeps it).

        No gap can close faster than the fastest pair of vertices, so every step of this is safe."""
        start, t = self.gap(0), mpf(0)
        kept = max(mpf(keep) * start, min((1 - mpf(2) ** -20) * start, 16 * self.rounded(0)))
        if not self.fastest + self.ways:
            return 1.0, None
        for _ in range(2000):
            rest = self.gap(float(t)) - max(kept, 2 * self.rounded(t))
            step = rest / (self.fastest + 4 * self.ways / 2 ** 52)
            if t + step >= 1:
                return 1.0, None
            if step < t * mpf('1e-11') or rest <= 0:
                break
            t = mpf(float(t + step * (1 - mpf('1e-15'))))
        ahead = max(float(t) * 1e-10, 1e-300)
        while float(t) + ahead < 1 and self.gap(float(t) + ahead) >= max(kept, 2 * self.rounded(float(t) + ahead)):
            ahead *= 2
        return float(t), min(float(t) + ahead, 1.0)


def real(x):
    return mpf(x.numerator) / x.denominator
