"""Numbers, arrays and vectors of the independent evaluation, in 60 digits."""
import os
import sys
from fractions import Fraction

from mpmath import mpc, mpf, sqrt

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from law import to_double  # noqa: E402


class Degenerate(Exception):
    """A fault of one contact, which may be skipped."""


# --- arrays -----------------------------------------------------------------------------------------------------

def real(x):
    """A number of a request, converted to multi-precision unless it already is (derivatives.py)."""
    return x if isinstance(x, (mpf, mpc)) else mpf(float(x))


def flat(value):
    if isinstance(value, (list, tuple)):
        return [x for row in value for x in flat(row)]
    return [value]


def reals(value):
    return [real(x) for x in flat(value)]


def table(value, rows, columns):
    values = reals(value)
    assert len(values) == rows * columns, (len(values), rows, columns)
    return [values[i * columns:(i + 1) * columns] for i in range(rows)]


def per_contact(value, n, m):
    """The n rows of an [n, m] field, also if one row stands for all."""
    values = reals(value)
    if len(values) == m and n != 1:
        return [values] * n
    return table(values, n, m)


# --- vectors ----------------------------------------------------------------------------------------------------

def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b)), mpf(0))


def norm(a):
    return sqrt(dot(a, a))


def size(x):
    """|x| which, unlike abs, is analytic."""
    return -x if x < 0 else x


def unit(a):
    length = norm(a)
    return [x / length for x in a]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def columns(*vectors):
    return [list(row) for row in zip(*vectors)]


def largest(*points):
    return max(abs(x) for p in points for x in p)


class Margins:
    """Distance of a request from decisions that rounding could change; for the generator of random requests."""

    def __init__(self, aligned=False):
        self.worst, self.aligned = mpf(1), aligned

    def see(self, ratio, floor=1):
        """`ratio` is the distance to a threshold, relative to it; `floor` (times 1e-6) is the smallest safe
        distance."""
        if ratio is not None:
            self.worst = min(self.worst, abs(ratio) / floor)

    def lost(self, ratio):
        """A distance that is tiny compared with the stencil has lost digits, unless coordinates are such that nothing
        cancels."""
        if not self.aligned:
            self.see(ratio, mpf('0.1'))


# --- bases -----------------------------------------------------------------------------------------------------

def normal_basis(n, exact_n):
    """The vertex_vertex rule; exact_n decides which axis, without rounding."""
    if len(n) == 2:
        m = unit(n)
        return columns([-m[1], m[0]])
    x, y = mpf(1), mpf(0)
    c = cross([x, y, y], n) if abs(exact_n[1]) > abs(exact_n[0]) else cross([y, x, y], n)
    return columns(unit(c), unit(cross(n, c)))


def exact(point):
    """Coordinates as fractions, which requires that they are doubles."""
    return [Fraction(to_double(x.real)) for x in point]
