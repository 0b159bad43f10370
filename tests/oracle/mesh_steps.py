"""How far the vertices of a mesh can move, by looking at every pair all the way.

An interval of steps is safe if a plane across the closest points in its middle keeps the sides apart at both ends: what
moves along straight lines does so in between. Other intervals are halved. Nothing is assumed about how the gap changes.
Rounded positions at t may change a distance by r, 2^-52 of the largest coordinate of each side's moving vertices and
twice of t times their largest component: a gap keeps 16 r of t = 0, or nearly all if it has less, and always 2 r.
"""
import numpy as np

MOST = 1000  # intervals at once
ROUNDS = 80


def dot(a, b):
    return np.einsum('ij,ij->i', a, b)


def nearest(*vectors):
    """The shortest of several, row by row."""
    choice = np.argmin([dot(v, v) for v in vectors], axis=0)
    return np.choose(choice[:, None], vectors)


def along(n, r, which, other):
    """The part of r along n where `which`, else the shorter one of the two."""
    square = dot(n, n)
    height = dot(r, n) / np.where(which, square, 1)
    return np.where(which[:, None], nearest(n * height[:, None], other), other)


# From the closest point of the second side to that of the first.

def to_points(a, b):
    return a - b


def to_segments(p, a, b):
    e = b - a
    square = dot(e, e)
    t = np.clip(dot(p - a, e) / np.where(square > 0, square, 1), 0, 1)
    return p - a - t[:, None] * e


def to_triangles(p, a, b, c):
    n = np.cross(b - a, c - a)
    inside = dot(n, n) > 1e-24 * dot(b - a, b - a) * dot(c - a, c - a)
    for x, y in ((a, b), (b, c), (c, a)):
        inside &= dot(np.cross(y - x, p - x), n) > 0
    return along(n, p - a, inside, nearest(to_segments(p, a, b), to_segments(p, b, c), to_segments(p, c, a)))


def between_segments(a, b, c, d):
    ends = nearest(to_segments(a, c, d), to_segments(b, c, d), -to_segments(c, a, b), -to_segments(d, a, b))
    e, f, r = b - a, d - c, c - a
    n = np.cross(e, f)
    square = dot(n, n)
    inside = square > 1e-20 * dot(e, e) * dot(f, f)
    safe = np.where(inside, square, 1)
    s, t = dot(np.cross(r, f), n) / safe, dot(np.cross(r, e), n) / safe
    return along(n, a - c, inside & (s > 0) & (s < 1) & (t > 0) & (t < 1), ends)


WAY = {'vertex_vertex': to_points, 'edge_vertex': to_segments, 'edge_edge': between_segments,
       'face_vertex': to_triangles}


class Motion:
    """The pairs of one group."""

    def __init__(self, group, pairs, positions, direction, dmin, places):
        self.group, self.pairs, self.dmin = group, pairs, dmin
        v = np.array([p.vertices for p in pairs])
        self.start, self.way = positions[v], direction[v]
        self.split = {'edge_edge': 2}.get(group, 1)
        self.r0, self.r1 = (2.0 ** -52 * x for x in self.largest(np.abs(places[v]).max(axis=2)))
        if group == 'plane_vertex':
            pad = [0.0] * (3 - len(pairs[0].plane[1]))
            self.normal = np.array([[float(x) for x in p.plane[1]] + pad for p in pairs], np.longdouble)
            self.origin = np.array([[float(x) for x in p.plane[2]] + pad for p in pairs], np.longdouble)
            self.normal /= np.linalg.norm(self.normal, axis=1)[:, None]

    def largest(self, coordinates):
        """Sums over sides, of what moves: coordinates, twice the components of motions."""
        ways = np.abs(self.way).max(axis=2)
        for x in (np.where(ways > 0, coordinates, 0), 2 * ways):
            yield x[:, :self.split].max(axis=1) + x[:, self.split:].max(axis=1, initial=0)

    def goals(self, keep):
        """A function of (which, t): what has to be kept."""
        which = np.arange(len(self.pairs))
        gaps = self.gaps(which, np.zeros(len(which)))
        kept = np.maximum(keep * gaps, np.minimum((1 - 2.0 ** -20) * gaps, 16 * self.r0))
        return lambda which, t: np.maximum(kept[which], 2 * (self.r0[which] + t * self.r1[which]))

    def at(self, which, t):
        return self.start[which] + t[:, None, None] * self.way[which]

    def across(self, which, t):
        """The shortest way between the sides."""
        p = self.at(which, t)
        if self.group == 'plane_vertex':
            return dot(p[:, 0] - self.origin[which], self.normal[which])[:, None] * self.normal[which]
        return WAY[self.group](*(p[:, i] for i in range(p.shape[1])))

    def gaps(self, which, t):
        return np.linalg.norm(self.across(which, t), axis=1) - self.dmin

    def apart(self, which, t, n):
        """How far the sides are apart along n."""
        p = self.at(which, t)
        if self.group == 'plane_vertex':
            return dot(p[:, 0] - self.origin[which], n) - self.dmin
        heights = np.einsum('ikj,ij->ik', p - p[:, :1], n)
        return heights[:, :self.split].min(axis=1) - heights[:, self.split:].max(axis=1) - self.dmin

    def first(self, keep):
        """(a step up to which every gap is kept, the first at which one surely is not or None)"""
        which = np.arange(len(self.pairs))
        goal = self.goals(keep)
        low, high, found = 1.0, 1.0, None
        t0, t1 = np.zeros(len(which), np.longdouble), np.ones(len(which), np.longdouble)
        bad = self.gaps(which, t1) < goal(which, t1)
        if bad.any():
            high = found = 1.0
        for _ in range(ROUNDS):
            if not len(which):
                break
            order = np.argsort(t0, kind='stable')  # the earliest first: what they find makes others unnecessary
            later = [x[order[MOST:]] for x in (which, t0, t1)]
            which, t0, t1 = (x[order[:MOST]] for x in (which, t0, t1))
            middle = (t0 + t1) / 2
            r = self.across(which, middle)
            size = np.linalg.norm(r, axis=1)
            bad = size - self.dmin < goal(which, middle)
            if bad.any() and middle[bad].min() <= high:
                high = found = middle[bad].min()
            n = r / np.where(size > 0, size, 1)[:, None]
            rest = np.minimum(*(self.apart(which, t, n) for t in (t0, t1))) < goal(which, t1)
            small = rest & (t1 - t0 <= 1e-9 * t1 + 1e-14)
            if small.any():
                low = min(low, t0[small].min())
            rest &= ~small
            which, t0, t1 = (np.concatenate(x) for x in zip(
                (which[rest], t0[rest], middle[rest]), (which[rest], middle[rest], t1[rest]), later))
            rest = t0 < min(low, high)
            which, t0, t1 = which[rest], t0[rest], t1[rest]
        low = min(low, t0.min(initial=1))  # what is left after so many rounds is not known
        return float(min(low, high)), None if found is None else float(found)


def motions(pairs, positions, direction, dmin):
    """One for each group. The first vertex becomes the origin, which loses no digits where all are far from it."""
    if not pairs:
        return
    dim = len(positions[0])
    start, way = (np.array([[*p, *[0.0] * (3 - dim)] for p in rows], np.longdouble) for rows in (positions, direction))
    shift = start[0].copy()
    for group in [*WAY, 'plane_vertex']:
        mine = [p for p in pairs if p.group == group]
        if mine:
            out = Motion(group, mine, start - shift, way, dmin, start)
            if group == 'plane_vertex':
                out.origin -= shift
            yield out


def bounds(pairs, positions, direction, dmin, keep):
    """(a step up to which every gap is kept, the first at which one surely is not or None). Rows of floats."""
    found = [m.first(keep) for m in motions(pairs, positions, direction, dmin)]
    return (min((low for low, _ in found), default=1.0), min((high for _, high in found if high is not None),
                                                              default=None))


def kept(pairs, positions, direction, dmin, keep, end, blur):
    """Whether all gaps are kept on the way to `end`, at a hundred places."""
    for m in motions(pairs, positions, direction, dmin):
        which = np.arange(len(m.pairs))
        goal = m.goals(keep)
        for t in end * np.concatenate((np.linspace(0, 1, 80), np.geomspace(1e-6, 1, 20))):
            if t > 0 and (m.gaps(which, np.full(len(which), t, np.longdouble)) < goal(which, t) * (1 - blur)).any():
                return False
    return True


def gaps(pairs, positions, dmin):
    """At the start: [(gap, pair)]"""
    out = []
    for m in motions(pairs, positions, [[0.0] * len(p) for p in positions], dmin):
        out += zip(map(float, m.gaps(np.arange(len(m.pairs)), np.zeros(len(m.pairs)))), m.pairs)
    return out
