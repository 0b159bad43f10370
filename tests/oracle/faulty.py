"""A small friction code in doubles, as somebody might have written it from the papers, and faulty versions of it.

Code(request).results() gives potential, gradient and Hessian as claims of POST /v1/check have them. It knows isotropic
friction with the law smooth (cubic and quadratic) on all types of contacts at vertices, with given normal forces, and
coefficients as numbers or blended from vertices. It shares nothing with the service or with
oracle.py. FAULTS are versions with one fault each, most of which have been seen in published codes.
"""
import numpy as np

STENCIL = {'vertex_vertex': 2, 'edge_vertex': 3, 'edge_edge': 4, 'face_vertex': 4, 'plane_vertex': 1}


class Contact:
    """Vertices, how many of them are on the first side, weights w with their signs, normal n, weight, normal force,
    mu_s, mu_k, eps."""


class Code:
    def __init__(self, request):
        self.request, self.dim = request, request['dim']
        self.v = np.array(request['velocities'], float)
        self.x = self.positions()
        self.friction = request.get('friction', {})
        self.projection = request.get('hessian', {}).get('projection', 'none')

    def positions(self):
        return np.array(self.request.get('positions', np.zeros_like(self.v)), float)

    # --- geometry -----------------------------------------------------------------------------------------------

    def contacts(self):
        for kind, size in STENCIL.items():
            group = self.request['collisions'].get(kind, {'vertices': []})
            rows = np.array(group['vertices'], int).reshape(-1, size)
            for i, vertices in enumerate(rows):
                yield self.contact(kind, i, list(vertices), group)

    def contact(self, kind, i, vertices, group):
        c = Contact()
        c.kind, c.index, c.vertices = kind, i, vertices
        c.w, c.n_first, c.n = self.geometry(kind, i, vertices, group)

        def value(name, default=None):
            values = np.ravel(group.get(name, default))
            return values[i % len(values)]
        c.weight, c.force = value('weight', 1.0), value('normal_force')
        c.eps = self.eps_v(value('eps_v', self.friction.get('eps_v')))
        c.mu_s, c.mu_k = (value(name) if name in group else self.coefficient(c, name) for name in ('mu_s', 'mu_k'))
        return c

    def geometry(self, kind, i, vertices, group):
        p = self.x[vertices]
        if kind == 'plane_vertex':
            normals = np.array(group['plane_normal'], float).reshape(-1, self.dim)
            n = normals[i % len(normals)]
            return np.ones(1), 1, n / np.linalg.norm(n)
        if kind == 'vertex_vertex':
            w, first = np.array([1, -1.0]), 1
        elif kind == 'edge_vertex':
            e = p[2] - p[1]
            a = (p[0] - p[1]) @ e / (e @ e)
            w, first = np.array([1, a - 1, -a]), 1
        elif kind == 'face_vertex':
            b = np.linalg.lstsq(np.stack([p[2] - p[1], p[3] - p[1]], 1), p[0] - p[1], rcond=None)[0]
            w, first = np.array([1, b.sum() - 1, -b[0], -b[1]]), 1
        else:
            a, b = np.linalg.lstsq(np.stack([p[1] - p[0], p[2] - p[3]], 1), p[2] - p[0], rcond=None)[0]
            w, first = np.array([1 - a, a, b - 1, -b]), 2
        r = w @ p
        return w, first, r / np.linalg.norm(r)

    # --- coefficients -------------------------------------------------------------------------------------------

    def coefficient(self, c, name):
        f = self.friction
        if 'vertex_mu' in f or f'vertex_{name}' in f:
            mu = np.array(f.get('vertex_mu', f.get(f'vertex_{name}')))[c.vertices]
            first, second = c.w[:c.n_first] @ mu[:c.n_first], -c.w[c.n_first:] @ mu[c.n_first:]
            return self.blend(first, second) if len(c.vertices) > 1 else first
        return f.get('mu', f.get(name))

    def blend(self, a, b):
        how = self.friction.get('blend', 'mean')
        return {'mean': (a + b) / 2, 'min': min(a, b), 'max': max(a, b), 'product': a * b,
                'geometric_mean': np.sqrt(a * b), 'harmonic_mean': 2 * a * b / (a + b)}[how]

    def eps_v(self, eps_v):
        return eps_v

    # --- the law, in units of eps_v -----------------------------------------------------------------------------

    def transition(self):
        return self.friction.get('mu_transition', 'cubic')

    def pieces(self):
        """[(end, m as a polynomial, lowest power first)]"""
        return [(1, [0, 0, 3, -2])] if self.transition() == 'cubic' else [(.5, [0, 0, 2]), (1, [-1, 4, -2])]

    def g1(self, mu_s, mu_k):
        """[(end, mu f1 as a polynomial)]"""
        f1 = np.polynomial.Polynomial([0, 2, -1])
        return [(end, (mu_s + (mu_k - mu_s) * np.polynomial.Polynomial(m)) * f1) for end, m in self.pieces()]

    def law(self, z, mu_s, mu_k):
        """G0, G1, G2 = G1'."""
        if z >= 1:
            return mu_k * z, mu_k, 0.0
        potential, end = mu_k, 1
        for top, p in reversed(self.g1(mu_s, mu_k)):
            bottom = max([t for t, _ in self.g1(mu_s, mu_k) if t < top], default=0)
            whole = p.integ()
            if z >= bottom:
                return potential - whole(end) + whole(z), p(z), p.deriv()(z)
            potential, end = potential - whole(end) + whole(bottom), bottom
        raise AssertionError(z)

    # --- one contact --------------------------------------------------------------------------------------------

    def slip(self, c):
        relative = c.w @ self.v[c.vertices]
        return relative - c.n * (c.n @ relative)

    def force(self, c, u, y, g1):
        """On the first side, with the sign of the gradient."""
        return c.weight * c.force * g1 * u / y if y else 0 * u

    def eigenvalues(self, c, y, g1, g2):
        """Along and across the slip, per weight and normal force."""
        return g2 / c.eps, g1 / y if y else g2 / c.eps

    def projected(self, x):
        return {'none': x, 'clamp': max(x, 0), 'abs': abs(x)}[self.projection]

    def matrix(self, c, u, y, g1, g2):
        along, across = (self.projected(c.weight * c.force * x) for x in self.eigenvalues(c, y, g1, g2))
        t = u / y if y else 0 * u
        return across * (np.eye(self.dim) - np.outer(c.n, c.n) - np.outer(t, t)) + along * np.outer(t, t)

    # --- sums ---------------------------------------------------------------------------------------------------

    def spread(self, c):
        """Weights with which forces go to the vertices."""
        return c.w

    def results(self):
        n = self.v.size
        potential, gradient, hessian = 0.0, np.zeros_like(self.v), np.zeros((n, n))
        for c in self.contacts():
            u = self.slip(c)
            y = np.linalg.norm(u)
            g0, g1, g2 = self.law(y / c.eps, c.mu_s, c.mu_k)
            potential += c.weight * c.force * c.eps * g0
            w = self.spread(c)
            for k, v in enumerate(c.vertices):
                gradient[v] += w[k] * self.force(c, u, y, g1)
            m = self.matrix(c, u, y, g1, g2)
            for k, a in enumerate(c.vertices):
                for j, b in enumerate(c.vertices):
                    d = self.dim
                    hessian[a * d:a * d + d, b * d:b * d + d] += c.w[k] * c.w[j] * m
        return self.last(potential, gradient, hessian)

    def last(self, potential, gradient, hessian):
        rows, cols = np.nonzero(hessian)
        return {'potential': float(potential), 'gradient': gradient.ravel().tolist(),
                'hessian': {'format': 'triplets', 'rows': rows.tolist(), 'cols': cols.tolist(),
                            'values': hessian[rows, cols].tolist()}}


# --- faults ---------------------------------------------------------------------------------------------------------

FAULTS = {}  # name: (class, the words that name it, changes of the request)


def fault(*codes, **changes):
    def keep(made):
        FAULTS[made.__name__] = (made, list(codes), changes)
        return made
    return keep


@fault('sign')
class ForceInPlaceOfGradient(Code):
    def force(self, c, u, y, g1):
        return -super().force(c, u, y, g1)


@fault('sign')
class HessianOfTheForce(Code):
    def matrix(self, *arguments):
        return -super().matrix(*arguments)


@fault('sign')
class AllSignsOpposite(Code):
    def last(self, potential, gradient, hessian):
        return super().last(-potential, -gradient, -hessian)


@fault('sign')
class SameSignOnBothSides(Code):
    """The reaction acts like the action."""

    def spread(self, c):
        return abs(c.w)


@fault('sign')
class OneTypePulls(Code):
    """The two edges are exchanged in the force, not in the velocity."""

    def spread(self, c):
        return -c.w if c.kind == 'edge_edge' else c.w


@fault('cone_scaled', weight=2.0)
class WeightForgotten(Code):
    def contact(self, *arguments):
        c = super().contact(*arguments)
        c.weight = 1
        return c


@fault('cone_scaled', friction={'mu_s': 0.4, 'mu_k': 0.4})
class CoefficientTwice(Code):
    def contact(self, *arguments):
        c = super().contact(*arguments)
        c.force *= c.mu_s
        return c


@fault('cone_scaled')
class ForceFourTimes(Code):
    """The sum over both sides and both orders of a pair."""

    def force(self, *arguments):
        return 4 * super().force(*arguments)


@fault('cone_scaled')
class ForceHundredTimes(Code):
    """Divided by a time step that belongs to an energy."""

    def force(self, *arguments):
        return 100 * super().force(*arguments)


@fault('cone_scaled')
class PairsCountTwice(Code):
    def last(self, potential, gradient, hessian):
        return super().last(2 * potential, 2 * gradient, 2 * hessian)


@fault('cone_scaled', factor=40)
class SlipNotNormalised(Code):
    """mu N f1 u in place of mu N f1 u / |u|."""

    def force(self, c, u, y, g1):
        return c.weight * c.force * g1 * u


@fault('cone_scaled', factor=3)
class DividedByEpsilon(Code):
    """The factor of sticking, 1 / eps_v, for sliding contacts too: the force grows without bound."""

    def force(self, c, u, y, g1):
        return c.weight * c.force * c.mu_s * 2 * u / c.eps


@fault('missing_f2')
class NoSecondTerm(Code):
    """f1 / y I: a lagged diffusivity."""

    def eigenvalues(self, c, y, g1, g2):
        across = super().eigenvalues(c, y, g1, g2)[1]
        return across, across


@fault('missing_f2', projection='clamp')
class NoSecondTermProjected(NoSecondTerm):
    pass


@fault('missing_f2')
class NoDerivativeAlong(Code):
    """f1 / y (I - t t^T): as if all contacts slid."""

    def eigenvalues(self, c, y, g1, g2):
        along, across = super().eigenvalues(c, y, g1, g2)
        return 0.0 if y else along, across


@fault('missing_f2', projection='abs')
class NoDerivativeAlongProjected(NoDerivativeAlong):
    pass


@fault('missing_f2')
class NoChainRuleOfMu(Code):
    """mu f1' without mu' f1."""

    def eigenvalues(self, c, y, g1, g2):
        z = y / c.eps
        along, across = super().eigenvalues(c, y, g1, g2)
        return along if z == 0 else g1 / (2 * z - z * z) * (2 - 2 * z) / c.eps if z < 1 else 0.0, across


@fault('indefinite_where_projected', projection='clamp')
class NotProjected(Code):
    def projected(self, x):
        return x


@fault('indefinite_where_projected', projection='abs')
class NotMadeAbsolute(NotProjected):
    pass


@fault('indefinite_where_projected')
class AlwaysProjected(Code):
    def projected(self, x):
        return max(x, 0)


@fault('indefinite_where_projected', projection='clamp')
class AbsoluteForClamped(Code):
    def projected(self, x):
        return abs(x)


@fault('displacement_for_velocity')
class EpsilonTimesStep(Code):
    """eps_v h although velocities are velocities."""

    def eps_v(self, eps_v):
        return 0.25 * eps_v


@fault('displacement_for_velocity')
class EpsilonOverStep(Code):
    """Velocities that are displacements, with an eps_v that is a velocity."""

    def eps_v(self, eps_v):
        return 60 * eps_v


@fault('displacement_for_velocity')
class DisplacementsAsVelocities(Code):
    def __init__(self, request):
        super().__init__(request)
        self.v = self.v * 0.37


@fault('displacement_for_velocity')
class HessianPerDisplacement(Code):
    """Derivatives of forces with respect to h v."""

    def last(self, potential, gradient, hessian):
        return super().last(potential, gradient, hessian / 0.01)


@fault('displacement_for_velocity')
class PotentialAndHessianPerDisplacement(Code):
    def last(self, potential, gradient, hessian):
        return super().last(potential * 0.01, gradient, hessian / 0.01)


@fault('transition')
class OtherTransition(Code):
    def transition(self):
        return 'quadratic'


@fault('transition', friction={'mu_transition': 'quadratic', 'mu_s': 0.8, 'mu_k': 0.5})
class CubicForQuadratic(Code):
    def transition(self):
        return 'cubic'


@fault('transition')
class KineticOnly(Code):
    def law(self, z, mu_s, mu_k):
        return super().law(z, mu_k, mu_k)


@fault('transition')
class StaticOnly(Code):
    def law(self, z, mu_s, mu_k):
        return super().law(z, mu_s, mu_s)


@fault('blend', vertices=True)
class ProductOfCoefficients(Code):
    def blend(self, a, b):
        return a * b


@fault('blend', vertices=True)
class SmallerCoefficient(Code):
    def blend(self, a, b):
        return min(a, b)


@fault('blend', vertices=True)
class GeometricMean(Code):
    def blend(self, a, b):
        return np.sqrt(a * b)


@fault('unlagged')
class MovedGeometry(Code):
    """Closest points and normals at the end of the step."""

    def positions(self):
        return super().positions() + self.v


@fault('unlagged', current=True)
class CurrentGeometry(Code):
    def positions(self):
        return np.array(self.request['current_positions'], float)


@fault('other')
class OneVertexExchanged(Code):
    """The second contact of faces has two vertices exchanged."""

    def contact(self, kind, i, vertices, group):
        c = super().contact(kind, i, vertices, group)
        if kind == 'face_vertex' and i == 1:
            c.vertices = [c.vertices[0], c.vertices[2], c.vertices[1], c.vertices[3]]
        return c


@fault('other')
class LinearRamp(Code):
    """f1 = z: no law of the service."""

    def g1(self, mu_s, mu_k):
        return [(1, np.polynomial.Polynomial([0, mu_k]))]


@fault('other')
class NormalPart(Code):
    """The slip is not projected to the tangent plane."""

    def slip(self, c):
        return c.w @ self.v[c.vertices]
