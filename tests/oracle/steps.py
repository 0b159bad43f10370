"""Complex steps: f(x + ih) = f(x) + ih f'(x) - h^2 f''(x)/2 ..., so the imaginary part divided by h is the derivative,
without any difference. mpmath keeps both parts as separate floating-point numbers with exponents of any size, so h may
be far smaller than the 1e-40 that would suffice for 60 digits of values of order 1. It has to be, because requests
combine lengths of 2^-300 with speeds of 2^900, and the omitted terms must be too small to affect the compared digits.

Decisions follow the real part: with this module imported, complex numbers of mpmath can be compared. (Of two
numbers that differ only in the imaginary part, neither is smaller or greater: at a knot both are on its right side.)
Functions of complex numbers must be analytic: use algebra.size instead of abs.
"""
import operator

from mpmath import mp, mpc, mpf

STEP = mpf('1e-1000')


def by_real_part(compare):
    return lambda a, b: compare(a.real, b.real)


def also_complex(compare, plain):
    return lambda a, b: compare(a, b.real) if isinstance(b, mp.mpc) else plain(a, b)


for name in ('__lt__', '__le__', '__gt__', '__ge__'):
    setattr(mp.mpc, name, by_real_part(getattr(operator, name)))
    setattr(mp.mpf, name, also_complex(getattr(operator, name), getattr(mp.mpf, name)))


def stepped(x, h):
    return mpc(x, h)


def slope(value, h):
    """The derivative, of a number or the numbers of a list."""
    if isinstance(value, list):
        return [slope(x, h) for x in value]
    return value.imag / h
