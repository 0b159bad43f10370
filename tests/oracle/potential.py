"""The barrier's energy of one contact as a plain function of positions, in multi-precision, and its derivatives.

Everything is written as definitions: squared distances of unbounded primitives, published barriers, the mollifier.
Derivatives come from jets.py alone.
"""
import os
import sys

from mpmath import matrix, mp, mpf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import features  # noqa: E402
import jets  # noqa: E402
from jets import log, value  # noqa: E402


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def dot(a, b):
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:]):
        total = total + x * y
    return total


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


# --- squared distances ------------------------------------------------------------------------------------------

def square(a):
    return dot(a, a)


def point_point(p):
    return square(minus(p[0], p[1]))


def point_line(p):
    e, r = minus(p[2], p[1]), minus(p[0], p[1])
    if len(e) == 2:
        area = e[0] * r[1] - e[1] * r[0]
        return area * area / square(e)
    return square(cross(e, r)) / square(e)


def along(n, r):
    height = dot(n, r)
    return height * height / square(n)


def line_line(p):
    return along(cross(minus(p[1], p[0]), minus(p[3], p[2])), minus(p[2], p[0]))


def point_plane(p):
    return along(cross(minus(p[2], p[1]), minus(p[3], p[1])), minus(p[0], p[1]))


SQUARES = {'vertex_vertex': point_point, 'edge_vertex': point_line, 'edge_edge': line_line, 'face_vertex': point_plane}


def squared_distance(feature, points, plane=None):
    if feature.kind == 'plane_vertex':
        normal, origin = plane
        return along(normal, minus(points[0], origin))
    vertex_first = sorted((feature.first, feature.second), key=len) if feature.kind == 'edge_vertex' else (
        feature.first, feature.second)
    return SQUARES[feature.kind]([points[i] for side in vertex_first for i in side])


# --- barriers ---------------------------------------------------------------------------------------------------

def two_stage(x, top):
    if 2 * value(x) >= top:
        return (x - top) * (x - top) / 2
    return (log(2 * x / top) - mpf(1) / 2) * (-top ** 2 / 4)


def clamped_log(x, top):
    return (x - top) * (x - top) * log(x / top) * -1


def clamped_log_squared(x, top):
    logarithm = log(x / top)
    return (x - top) * (x - top) * logarithm * logarithm


BARRIERS = {'clamped_log': clamped_log, 'normalized_clamped_log': lambda x, top: clamped_log(x, top) / top ** 2,
            'clamped_log_squared': clamped_log_squared,
            'cubic': lambda x, top: (x - top) * (x - top) * (x - top) * (-2 / (3 * top)), 'two_stage': two_stage}


class Barrier:
    def __init__(self, kind, scaling, dhat, stiffness, dmin):
        self.kind, self.scaling = kind, scaling
        self.dhat, self.stiffness, self.dmin = mpf(dhat), mpf(stiffness), mpf(dmin)
        self.top = (2 * self.dmin + self.dhat) * self.dhat

    def energy(self, square):
        """kappa b of a squared distance; None for penetration."""
        x = square - self.dmin ** 2
        if value(x) <= 0:
            return None
        if value(x) >= self.top:
            return x * 0
        out = BARRIERS[self.kind](x, self.top) * self.stiffness
        if self.scaling == 'physical':
            out = out * (self.dhat / (1 if self.kind == 'normalized_clamped_log' else self.top ** 2))
        return out


def area_squared(points):
    """c = |a x b|^2"""
    return square(cross(minus(points[1], points[0]), minus(points[3], points[2])))


def mollified(points, limit):
    """m, or None where it is 1 whatever happens nearby."""
    c = area_squared(points)
    if value(c) >= limit:
        return None
    ratio = c / limit
    return (2 - ratio) * ratio


def energy(feature, points, barrier, mollifier=mpf(0), plane=None):
    out = barrier.energy(squared_distance(feature, points, plane))
    if out is None:
        return None
    m = mollified(points, mollifier) if mollifier else None
    return out if m is None else out * m


def derivatives(feature, points, barrier, mollifier=mpf(0), plane=None):
    """(energy, gradient, Hessian) with respect to the points, or None for penetration. The feature stays what it is."""
    n = len(points) * len(points[0])
    out = energy(feature, jets.variables(points), barrier, mollifier, plane)
    return None if out is None else (out.value, out.gradient(n), out.hessian(n))


def found(group, points, numbers, searched, mollifier=0):
    """The feature that counts for a stencil."""
    if searched or mollifier:
        return features.search(group, points, numbers)
    return features.whole(group)


# --- projection -------------------------------------------------------------------------------------------------

def projected(block, how):
    """The block with its negative eigenvalues set to zero, or all replaced by their absolute values."""
    n = len(block)
    scale = max(abs(x) for row in block for x in row)
    if how == 'none' or not scale:
        return block
    values, vectors = mp.eigsy(matrix([[x / scale for x in row] for row in block]))
    kept = [max(x, mpf(0)) if how == 'clamp' else abs(x) for x in values]
    return [[scale * sum((kept[k] * vectors[i, k] * vectors[j, k] for k in range(n)), mpf(0)) for j in range(n)]
            for i in range(n)]
