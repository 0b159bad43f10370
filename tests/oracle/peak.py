"""The law of `mu_transition: "peak"`, from its definition: a force of three parabolas per eps_v, in z = y / eps_v.

With r = min(mu_s, mu_k) / max(mu_s, mu_k), p = (1 + r) / 2, w = 1 - p, m = (p + 1) / 2 and D = mu_k - mu_s the force is
mu_s (2t - t^2), t = z/p, up to p; mu_s + 2 D t^2, t = (z - p)/w, up to m; mu_k - 2 D t^2, t = (1 - z)/w, up to 1; then
mu_k. The derivative is that of each parabola. The potential is the force's integral by Simpson's rule, which is exact
for parabolas, from the value mu_k at z = 1 downwards. Numbers may be Fractions, which makes everything exact, or mpf.
"""


def knots(mu_s, mu_k):
    """p and m, where the parabolas meet; the last two have no width for mu_s = mu_k."""
    p = (1 + min(mu_s, mu_k) / max(mu_s, mu_k)) / 2
    return p, (p + 1) / 2


def _parabolas(mu_s, mu_k):
    """[(lower end, upper end, force, derivative with respect to z)]"""
    p, m = knots(mu_s, mu_k)
    w, delta = 1 - p, mu_k - mu_s
    rise = (0 * p, p, lambda z: mu_s * (2 * (z / p) - (z / p)**2), lambda z: 2 * mu_s * (1 - z / p) / p)
    leave = (p, m, lambda z: mu_s + 2 * delta * ((z - p) / w)**2, lambda z: 4 * delta * ((z - p) / w) / w)
    reach = (m, 1 + 0 * p, lambda z: mu_k - 2 * delta * ((1 - z) / w)**2, lambda z: 4 * delta * ((1 - z) / w) / w)
    return [rise, leave, reach] if p < 1 else [rise]


def _simpson(f, a, b):
    return (b - a) * (f(a) + 4 * f((a + b) / 2) + f(b)) / 6


def _at(z, mu_s, mu_k):
    """(G0, G1, G2) for eps_v = 1, 0 <= z < 1."""
    if mu_s == 0 and mu_k == 0:
        return 0 * z, 0 * z, 0 * z
    parabolas = _parabolas(mu_s, mu_k)
    back = sum(_simpson(force, max(z, a), b) for a, b, force, _ in parabolas if z < b)
    force, slope = next((force, slope) for _, b, force, slope in parabolas if z <= b)
    return mu_k - back, force(z), slope(z)


def law(name, y, mu_s, mu_k, eps):
    """f0, f1, f2 or f1_over_x at y >= 0."""
    if y >= eps:
        return {'f0': mu_k * y, 'f1': mu_k, 'f2': 0 * mu_k, 'f1_over_x': mu_k / y}[name]
    potential, force, slope = _at(y / eps, mu_s, mu_k)
    if name == 'f1_over_x':
        return force / y if y else slope / eps
    return {'f0': potential * eps, 'f1': force, 'f2': slope / eps}[name]


def largest_term(name, y, mu_s, mu_k, eps):
    """The largest absolute value among a function and the terms that the formulas above add up when (z - p)/w is
    written as 1 - (1 - z)/w."""
    value = abs(law(name, y, mu_s, mu_k, eps))
    top = max(mu_s, mu_k)
    if y >= eps or not top:
        return value
    z = y / eps
    p, m = knots(mu_s, mu_k)
    w, delta = 1 - p, abs(mu_k - mu_s)
    if name == 'f0':
        terms = [mu_k * eps, 2 * mu_s * p * eps / 3 if z < p else 0, (mu_s + mu_k) * w * eps / 2 if z < m else 0]
    elif name == 'f2':
        terms = [2 * mu_s / (p * eps)] if z <= p else [8 * top / eps] if z <= m else []
    elif z <= p:
        terms = [2 * mu_s * z / p]
    elif z <= m:
        terms = [mu_s, 2 * delta * (z - p) / w]
    else:
        terms = [mu_k, 2 * delta * ((1 - z) / w)**2]
    if name == 'f1_over_x':
        terms = [term / y for term in terms] if y else []
    return max([value] + terms)
