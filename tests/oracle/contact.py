"""One contact of vertices: its lagged quantities, and its evaluation at given velocities. bodies.py has the other kind."""
import os
import sys

from mpmath import mpf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import laws  # noqa: E402
from algebra import dot, minus, norm, real, unit  # noqa: E402
from geometry import sides  # noqa: E402


def eigenvalues(along, across, projection):
    """Eigenvalues of the Hessian with respect to the slip, along it and across it, projected if requested."""
    if projection == 'clamp':
        return max(along, mpf(0)), max(across, mpf(0))
    if projection == 'abs':
        return abs(along), abs(across)
    return along, across


def by_slip(along, across, slip, y):
    """across I + (along - across) s s^T, where s is the direction of the slip."""
    t = [x / y for x in slip] if y else [mpf(0)] * len(slip)
    if len(slip) == 1:
        return [[along]]
    return [[(across if i == j else 0) + (along - across) * a * b for j, b in enumerate(t)] for i, a in enumerate(t)]


class Contact:
    """`motion`: (velocities of the vertices, twists of the bodies)."""
    skipped = mollified = None
    feature = acting = None  # closest feature at the lagged positions; the barrier at the current ones

    def __init__(self, evaluation, group, index, members):
        self.group, self.index, self.members, self.dim = group, index, members, evaluation.dim
        self.friction, self.law = evaluation.friction, evaluation.law
        self.distance, self.beta = None, []

    def read(self, row):
        """The fields that any contact has."""
        d, friction = self.dim, self.friction
        one = {'weight': 1, 'eps_v': friction.get('eps_v', 1), 'viscous': friction.get('viscous', 0),
               'stribeck_speed': friction.get('stribeck_speed', 1)}
        self.weight, self.eps, self.viscous, self.speed = (row[k][0] if k in row else real(v) for k, v in one.items())
        self.aniso = row.get('mu_aniso', [mpf(1)] * (d - 1))
        self.surface, self.anchor = (row.get(k, [mpf(0)] * d) for k in ('surface_velocity', 'anchor'))

    # --- which degrees of freedom -------------------------------------------------------------------------------

    @property
    def vertices(self):
        return self.members

    def weights(self):
        if self.skipped:
            return [mpf(0)] * len(self.members)
        a, b = sides(self.group, self.beta)
        return a + [-x for x in b]

    def dofs(self, _n_vertices):
        return [v * self.dim + axis for v in self.members for axis in range(self.dim)]

    # --- slip ---------------------------------------------------------------------------------------------------

    def relative(self, motion):
        """Velocity of the first side relative to the second, and the sum of the absolute terms."""
        w, velocities = self.weights(), motion[0]
        gamma = [sum((x * velocities[v][axis] for x, v in zip(w, self.members)), mpf(0)) for axis in range(self.dim)]
        return gamma, sum((abs(x) * norm(velocities[v]) for x, v in zip(w, self.members)), mpf(0))

    def exact(self, _motion):
        """Whether the service computes the relative velocity without a product that could be rounded."""
        return not self.beta

    def tangential(self, vector):
        return [dot(column, vector) for column in zip(*self.basis)]

    def slip(self, motion, margins):
        """(relative velocity with all offsets, u, scaled u, scaled u without the anchor)"""
        gamma, size = self.relative(motion)
        moving = minus(gamma, self.surface)
        gamma = [x + y for x, y in zip(moving, self.anchor)]
        size += norm(self.surface) + norm(self.anchor)
        u = self.tangential(gamma)
        size *= max(norm(column) for column in zip(*self.basis))
        if size and not self.skipped and not (self.exact(motion) and not any(gamma)):
            margins.see(norm(u) / size, 10)
        self.size = size
        return u, [a * x for a, x in zip(self.aniso, u)], [a * x for a, x in zip(self.aniso, self.tangential(moving))]

    def choose_matchstick(self, lagged, follows, ellipses, margins):
        """In a derivative (derivatives.py) the direction is a constant unless it follows lagged velocities."""
        _, scaled, _ = self.slip(lagged, margins)
        limit = mpf('1e-10') * self.eps
        margins.see(norm(scaled) / limit - 1, 1000)
        t = [mpf(1), mpf(0)] if norm(scaled) < limit else unit(scaled)
        if not follows:
            t = [x.real for x in t]
        for kind, ellipse in enumerate(ellipses):
            if ellipse is not None and any(x.real for x in ellipse):
                self.mu[kind] = norm([ellipse[0] * t[0], ellipse[1] * t[1]])

    def turning(self, _motion):
        """Spin and rolling components of the slip, which only bodies have."""
        return []

    # --- evaluation ---------------------------------------------------------------------------------------------

    def at(self, motion, projection, margins):
        slip, s, slope, g2 = self.pulled(motion, margins)
        along, across = eigenvalues(s * (g2 + self.viscous), s * (slope + self.viscous), projection)
        self.matrix = by_slip(along, across, slip, self.y)
        self.inner = self.inner_matrix()

    def pulled(self, motion, margins):
        """Computes potential and force, and the quantities that the Hessian needs: (slip, s, G1/y, G2)."""
        self.u, scaled, still = self.slip(motion, margins)
        turning = self.turning(motion)
        slip, free = scaled + turning, still + turning
        self.y = y = norm(slip)
        for knot in (1, *laws.knots(self.friction)):
            if y != knot * self.eps:
                margins.see(y / (knot * self.eps) - 1)
        g0, slope, g2 = self.law(y, self.mu, self.eps, self.speed)
        s = self.weight * self.force
        self.potential = s * (g0 + self.viscous * dot(free, free) / 2)
        self.pull = [s * (slope * a + self.viscous * b) for a, b in zip(slip, free)]
        return slip, s, slope, g2

    def inner_matrix(self):
        m = self.dim - 1
        return [[self.aniso[i] * self.aniso[j] * self.matrix[i][j] for j in range(m)] for i in range(m)]

    @property
    def force_vector(self):
        """The gradient with respect to the first side's velocity."""
        scaled = [a * x for a, x in zip(self.aniso, self.pull)]
        return [dot(row, scaled) for row in self.basis]

    def local_gradient(self):
        return [w * x for w in self.weights() for x in self.force_vector]

    def block(self):
        """[dim, dim]; the block of vertices i, j is w_i w_j times this."""
        m, d = self.dim - 1, self.dim
        return [[sum((self.basis[r][i] * self.inner[i][j] * self.basis[c][j] for i in range(m) for j in range(m)),
                     mpf(0))
                 for c in range(d)] for r in range(d)]

    def local_matrix(self):
        w, block = self.weights(), self.block()
        return [[a * b * x for b in w for x in row] for a in w for row in block]

    # --- answers ------------------------------------------------------------------------------------------------

    def factors(self):
        inner = [self.inner[i][j] for i in range(self.dim - 1) for j in range(i, self.dim - 1)]
        return {'weights': self.weights(), 'tangent_basis': self.basis, 'inner': inner}

    def next_anchor(self):
        if self.skipped or self.mollified:
            return [mpf(0)] * self.dim
        kept = laws.kept(self.friction, self.y, self.eps)
        return [kept * dot(row, self.u) for row in self.basis]

    def output(self, name):
        """An entry of `collisions`; None if this kind of contact has none."""
        make = {
            'potential': lambda: self.potential, 'tangential_velocity': lambda: self.u, 'mu_s': lambda: self.mu[0],
            'mu_k': lambda: self.mu[1], 'normal_force': lambda: self.force, 'distance': lambda: self.distance,
            'closest_point': lambda: self.beta, 'tangent_basis': lambda: self.basis,
            'normal': lambda: self.normal, 'status': self.status, 'slip_ratio': lambda: self.y / self.eps,
            'anchor': self.next_anchor, 'friction_force': lambda: [-x for x in self.force_vector],
            'feature': lambda: self.feature.bits if self.feature else 0,
            'current_feature': lambda: self.acting.feature.bits if self.acting.feature else 0,
            'current_distance': lambda: self.acting.distance, 'barrier_force': lambda: self.acting.force,
            'barrier_potential': lambda: self.acting.potential / self.time_step}
        return make[name]()

    def status(self):
        if self.skipped:
            return 2
        return 3 if self.mollified else int(self.y >= self.eps)

    def clear(self, reason, n_beta):
        """A skipped contact: zeros everywhere."""
        self.skipped, self.feature = reason, None
        self.beta = [mpf(0)] * n_beta
        self.rest()
        self.distance = None if self.distance is None else mpf(0)

    def rest(self):
        """No friction."""
        d, zero = self.dim, mpf(0)
        self.basis, self.normal = [[zero] * (d - 1) for _ in range(d)], [zero] * d
        self.mu, self.force, self.potential, self.y = [zero, zero], zero, zero, zero
        self.u, self.pull = [zero] * (d - 1), [zero] * (d - 1)
        self.matrix = [[zero] * (d - 1) for _ in range(d - 1)]
        self.inner = self.matrix
