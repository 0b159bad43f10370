"""Normal forces from barriers, in multi-precision: -kappa b'(D) 2d, from the derivative of each type of barrier."""
from mpmath import log, mpf

TYPES = ('clamped_log', 'normalized_clamped_log', 'clamped_log_squared', 'cubic', 'two_stage')


def clamped_log(d, e):
    """-(d - e)^2 ln(d/e)"""
    return (e - d) * (2 * log(d / e) - e / d + 1)


def clamped_log_squared(d, e):
    """(d - e)^2 ln(d/e)^2"""
    logarithm = log(d / e)
    return 2 * (d - e) * logarithm * (logarithm + (d - e) / d)


def cubic(d, e):
    """-2/(3e) (d - e)^3"""
    return -2 * (d - e)**2 / e


def two_stage(d, e):
    """A parabola for d >= e/2, a logarithm below."""
    return d - e if 2 * d >= e else -e**2 / (4 * d)


SLOPES = {'clamped_log': clamped_log, 'normalized_clamped_log': lambda d, e: clamped_log(d, e) / e**2,
          'clamped_log_squared': clamped_log_squared, 'cubic': cubic, 'two_stage': two_stage}


def force(kind, scaling, distance, dhat, dmin, stiffness):
    """The normal force at a distance; None for penetration."""
    d, e = distance**2 - dmin**2, (2 * dmin + dhat) * dhat
    if d <= 0:
        return None
    if d >= e:
        return mpf(0)
    size = -stiffness * SLOPES[kind](d, e) * 2 * distance
    if scaling == 'physical':
        size *= dhat / (1 if kind == 'normalized_clamped_log' else e**2)
    return size
