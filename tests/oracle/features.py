"""The closest feature of a pair of primitives, exactly: on each side the smallest vertex, edge or triangle that
contains the closest point.

Positions are fractions, so borders and ties are decided without rounding. A stencil is the tuple of its vertices'
numbers, which say what a tie takes: an edge of no length is its lower vertex, and of parallel segments the first
nearest of a0-b, a1-b, b0-a, b1-a counts.
"""
from fractions import Fraction

from mpmath import mpf, sqrt

ALL = {'vertex_vertex': 0b11, 'edge_vertex': 0b111, 'edge_edge': 0b1111, 'face_vertex': 0b1111, 'plane_vertex': 0b1}
SPLIT = {'vertex_vertex': 1, 'edge_vertex': 1, 'edge_edge': 2, 'face_vertex': 1, 'plane_vertex': 1}  # the first side's
KIND = {(1, 0): 'plane_vertex', (1, 1): 'vertex_vertex', (1, 2): 'edge_vertex', (2, 1): 'edge_vertex',
        (2, 2): 'edge_edge', (1, 3): 'face_vertex'}
ZERO, ONE = Fraction(0), Fraction(1)


class Feature:
    """`first`, `second`: places in the stencil that take part; `beta`: the clamped closest point in the stencil's
    terms; `margin`: how far the choice is from another one, relative."""

    def __init__(self, first, second, beta, margin=mpf(1)):
        self.first, self.second, self.beta, self.margin = first, second, beta, margin
        self.bits = sum(1 << i for i in (*first, *second))
        self.kind = KIND[len(first), len(second)]

    def canonical(self, numbers):
        """(places in the order in which contacts of the feature are written, whether the sides change places)"""
        low = [sorted(side, key=lambda i: numbers[i]) for side in (self.first, self.second)]
        if self.kind == 'face_vertex' or self.kind == 'plane_vertex':
            return [*self.first, *self.second], False
        if self.kind == 'edge_vertex':
            return (low[0] + low[1], False) if len(self.first) == 1 else (low[1] + low[0], True)
        swap = [numbers[i] for i in low[0]] > [numbers[i] for i in low[1]]
        return (low[1] + low[0], True) if swap else (low[0] + low[1], False)


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b)), ZERO)


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def mix(points, weights):
    return [sum((w * x for w, x in zip(weights, axis)), ZERO) for axis in zip(*points)]


def square(a):
    return dot(a, a)


# --- a point and something ---------------------------------------------------------------------------------------

def on_segment(p, ends, places, numbers):
    """(places of the smallest part of the segment that contains the point closest to p, its coordinate)"""
    e = minus(ends[1], ends[0])
    if not any(e):
        lower = min((0, 1), key=lambda i: numbers[places[i]])
        return [places[lower]], Fraction(lower)
    t = dot(minus(p, ends[0]), e) / square(e)
    if t <= 0:
        return [places[0]], ZERO
    return ([places[1]], ONE) if t >= 1 else (list(places), t)


def on_triangle(p, corners, places, numbers):
    """The same of a triangle; coordinates of its second and third corner. Of equal features the first counts, vertices
    by their numbers, edges in the order of the triangle's corners."""
    found = []  # (squared distance, dimension, order, places, coordinates)
    for i in range(3):
        found.append((square(minus(p, corners[i])), 0, numbers[places[i]], [places[i]], unit_weights(i)))
    for order, (i, j) in enumerate(((0, 1), (1, 2), (2, 0))):
        e = minus(corners[j], corners[i])
        t = dot(minus(p, corners[i]), e) / square(e) if any(e) else ZERO
        if 0 < t < 1:
            weights = [ZERO] * 3
            weights[i], weights[j] = 1 - t, t
            here = mix(corners, weights)
            found.append((square(minus(p, here)), 1, order, [places[k] for k in sorted((i, j))], weights[1:]))
    e, f, r = minus(corners[1], corners[0]), minus(corners[2], corners[0]), minus(p, corners[0])
    det = square(e) * square(f) - dot(e, f) ** 2
    if det:
        b = (dot(e, r) * square(f) - dot(f, r) * dot(e, f)) / det
        c = (dot(f, r) * square(e) - dot(e, r) * dot(e, f)) / det
        if b > 0 and c > 0 and b + c < 1:
            here = mix(corners, [1 - b - c, b, c])
            found.append((square(minus(p, here)), 2, 0, list(places), [b, c]))
    _, _, _, best, coordinates = min(found, key=lambda x: x[:3])
    return best, coordinates


def unit_weights(i):
    return [Fraction(int(i == k)) for k in (1, 2)]


# --- two segments ------------------------------------------------------------------------------------------------

def of_segments(p, numbers):
    a, b, d = minus(p[1], p[0]), minus(p[3], p[2]), minus(p[2], p[0])
    aa, ab, bb = square(a), dot(a, b), square(b)
    det = aa * bb - ab * ab
    if det:
        s, t = (dot(a, d) * bb - dot(b, d) * ab) / det, (dot(a, d) * ab - dot(b, d) * aa) / det
        if 0 < s < 1 and 0 < t < 1:
            return [0, 1], [2, 3], [s, t]
    best = None  # one end at least is closest, or the segments are parallel: the first nearest
    for end in range(4):
        other = (2, 3) if end < 2 else (0, 1)
        places, t = on_segment(p[end], [p[i] for i in other], other, numbers)
        here = mix([p[i] for i in other], [1 - t, t])
        length = square(minus(p[end], here))
        if best is None or length < best[0]:
            best = length, [end], Fraction(end % 2), places, t
    _, mine, s, places, t = best
    mine = of_no_length(p, mine, numbers)
    s = Fraction(mine[0] % 2)
    return (mine, places, [s, t]) if mine[0] < 2 else (places, mine, [t, s])


def of_no_length(p, places, numbers):
    """An end of an edge of no length is its lower vertex."""
    twin = places[0] ^ 1
    return [min(places[0], twin, key=lambda i: numbers[i])] if p[twin] == p[places[0]] else places


# --- the closest feature ----------------------------------------------------------------------------------------

def whole(group, beta=()):
    n = {'edge_edge': 4, 'face_vertex': 4, 'edge_vertex': 3, 'vertex_vertex': 2, 'plane_vertex': 1}[group]
    return Feature(list(range(SPLIT[group])), list(range(SPLIT[group], n)), list(beta))


def search(group, points, numbers, judged=True):
    """`points`: coordinates of the stencil's vertices, numbers that fractions can be made of. `judged`: with a margin."""
    p = [[Fraction(x) for x in point] for point in points]
    if group in ('vertex_vertex', 'plane_vertex'):
        return whole(group)
    if group == 'edge_vertex':
        places, t = on_segment(p[0], p[1:], (1, 2), numbers)
        first, beta = [0], [t]
    elif group == 'face_vertex':
        places, beta = on_triangle(p[0], p[1:], (1, 2, 3), numbers)
        first = [0]
    else:
        first, places, beta = of_segments(p, numbers)
    return Feature(first, places, beta, margin(group, p, first, places, beta) if judged else mpf(1))


def weights(group, beta):
    one = ONE if not beta else beta[0] * 0 + 1
    if group == 'edge_vertex':
        return [one, beta[0] - 1, -beta[0]]
    if group == 'edge_edge':
        return [1 - beta[0], beta[0], beta[1] - 1, -beta[1]]
    if group == 'face_vertex':
        return [one, beta[0] + beta[1] - 1, -beta[0], -beta[1]]
    return [one, -one] if group == 'vertex_vertex' else [one]


def length(a):
    x = square(a)
    return sqrt(mpf(x.numerator) / x.denominator)


def margin(group, p, first, places, beta):
    """The least of the coordinates of the sides' corners that take part, and of the sines of the slopes towards those
    that do not: zero exactly on borders."""
    w = weights(group, beta)
    r = mix(p, w)
    worst, size = mpf(1), length(r)
    for side in ([i for i in range(len(p)) if i < SPLIT[group]], [i for i in range(len(p)) if i >= SPLIT[group]]):
        taking = [i for i in side if i in first or i in places]
        here = mix([p[i] for i in side], [abs(w[i]) for i in side])
        sign = 1 if side[0] == 0 else -1
        for i in side:
            if i in taking:
                worst = min(worst, mpf(abs(w[i]).numerator) / abs(w[i]).denominator) if len(taking) > 1 else worst
                continue
            e = minus(p[i], here)
            scale = length(e) * size
            slope = sign * dot(r, e)
            worst = min(worst, abs(mpf(slope.numerator) / slope.denominator) / scale if scale else mpf(0))
    if group == 'edge_edge':
        a, b = minus(p[1], p[0]), minus(p[3], p[2])
        scale = length(a) * length(b)
        worst = min(worst, length(cross(a, b)) / scale if scale else mpf(0))
    return worst
