"""Numbers with their first and second derivatives in multi-precision: what a plain formula computes with jets in place
of numbers is differentiated exactly, by the rules for +, *, / and log alone."""
from mpmath import log as mp_log
from mpmath import mpf

ZERO = mpf(0)


class Jet:
    """`first`: derivatives by place; `second`: by pairs of places (i >= j). Those that are absent are zero."""
    __slots__ = ('value', 'first', 'second')

    def __init__(self, value, first=None, second=None):
        self.value, self.first, self.second = value, first or {}, second or {}

    def chain(self, f, df, ddf):
        """f(self), from the values of f, f' and f''."""
        first = {i: df * x for i, x in self.first.items()}
        second = {k: df * x for k, x in self.second.items()}
        for i, x in self.first.items():
            for j, y in self.first.items():
                if j <= i:
                    second[i, j] = second.get((i, j), ZERO) + ddf * x * y
        return Jet(f, first, second)

    def __add__(self, other):
        if not isinstance(other, Jet):
            return Jet(self.value + other, self.first, self.second)
        first, second = dict(self.first), dict(self.second)
        for mine, others in ((first, other.first), (second, other.second)):
            for k, x in others.items():
                mine[k] = mine[k] + x if k in mine else x
        return Jet(self.value + other.value, first, second)

    def __mul__(self, other):
        if not isinstance(other, Jet):
            return Jet(self.value * other, {k: x * other for k, x in self.first.items()},
                       {k: x * other for k, x in self.second.items()})
        if other is self:
            return self.chain(self.value ** 2, 2 * self.value, mpf(2))
        out = self * other.value + other * self.value
        out.value = self.value * other.value
        second = out.second
        for i, x in self.first.items():
            for j, y in other.first.items():
                k = (i, j) if i >= j else (j, i)
                term = x * y
                if i == j:
                    term = 2 * term
                second[k] = second[k] + term if k in second else term
        return out

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        if not isinstance(other, Jet):
            return self * (1 / mpf(other))
        x = other.value
        return self * other.chain(1 / x, -1 / x ** 2, 2 / x ** 3)

    def __rtruediv__(self, other):
        x = self.value
        return self.chain(1 / x, -1 / x ** 2, 2 / x ** 3) * other

    __radd__, __rmul__ = __add__, __mul__

    def gradient(self, n):
        return [self.first.get(i, ZERO) for i in range(n)]

    def hessian(self, n):
        return [[self.second.get((max(i, j), min(i, j)), ZERO) for j in range(n)] for i in range(n)]


def value(x):
    return x.value if isinstance(x, Jet) else x


def log(x):
    if isinstance(x, Jet):
        return x.chain(mp_log(x.value), 1 / x.value, -1 / x.value ** 2)
    return mp_log(x)


def variables(rows):
    """The rows of coordinates as independent jets."""
    m = len(rows[0])
    return [[Jet(x, {i * m + axis: mpf(1)}) for axis, x in enumerate(row)] for i, row in enumerate(rows)]
