"""Contacts of rigid bodies: the slip of two points, spinning about the normal and rolling, as one vector.

A twist is (v, w): 3 + 3 numbers, in 2D 2 + 1. Everything follows from the Jacobian of the slip with respect to the
twists.
"""
import os
import sys

from mpmath import mpf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from algebra import cross, dot, exact, minus, norm, normal_basis, table, unit  # noqa: E402
from contact import Contact  # noqa: E402
from geometry import grain_basis  # noqa: E402

SIZE = {2: 1, 3: 3}  # components of an angular velocity


def swept(omega, arm):
    """omega x arm"""
    return cross(omega, arm) if len(arm) == 3 else [-omega[0] * arm[1], omega[0] * arm[0]]


def torque(arm, force):
    """arm x force"""
    return cross(arm, force) if len(arm) == 3 else [arm[0] * force[1] - arm[1] * force[0]]


class BodyContact(Contact):
    def lag(self, row, positions, margins):
        d = self.dim
        self.normal = unit(row['normal'])
        self.arms = [minus(row['point'], positions[b]) for b in self.members]
        self.radii = [row.get(k, [mpf(0)])[0] for k in ('spin_radius', 'roll_radius')]
        if 'tangent_basis' in row:
            self.basis = table(row['tangent_basis'], d, d - 1)
        elif 'grain' in row:
            self.basis = grain_basis(row['grain'], row['normal'], margins)
        else:
            self.basis = normal_basis(row['normal'], exact(row['normal']))
        self.force = row['normal_force'][0]

    def dofs(self, n_vertices):
        k = self.dim + SIZE[self.dim]
        return [n_vertices * self.dim + b * k + i for b in self.members for i in range(k)]

    @property
    def vertices(self):
        return []

    def split(self, motion):
        """[(v, w)] of the contact's bodies"""
        return [(motion[1][b][:self.dim], motion[1][b][self.dim:]) for b in self.members]

    def relative(self, motion):
        gamma, size = [mpf(0)] * self.dim, mpf(0)
        for sign, (v, w), arm in zip((1, -1), self.split(motion), self.arms):
            gamma = [g + sign * (a + b) for g, a, b in zip(gamma, v, swept(w, arm))]
            size += norm(v) + norm(w) * norm(arm)
        return gamma, size

    def exact(self, motion):
        return not any(x for _, w in self.split(motion) for x in w)

    def spin_and_roll(self, motion):
        """n.w and P^T w of the relative angular velocity (2D: no n.w, and w itself)."""
        twists = self.split(motion)
        w = minus(twists[0][1], twists[1][1]) if len(twists) == 2 else twists[0][1]
        return ([dot(self.normal, w)], self.tangential(w)) if self.dim == 3 else ([], w)

    def turning(self, motion):
        self.spin, self.roll = self.spin_and_roll(motion)
        return [self.radii[0] * x for x in self.spin] + [self.radii[1] * x for x in self.roll]

    def at(self, motion, projection, margins):
        super().at(motion, projection, margins)
        parts = [sum((abs(x) for _, w in self.split(motion) for x in w), mpf(0)) * r for r in self.radii]
        if any(self.turning(motion)) and self.y:
            margins.see(self.y / (self.size + sum(parts)), 10)
        if self.roll and any(x for _, w in self.split(motion) for x in w):
            size = sum((norm(w) for _, w in self.split(motion)), mpf(0))
            margins.see(max([abs(x) for x in self.spin] + [norm(self.roll)]) / size, 10)
        self.inner = self.matrix

    # --- the Jacobian -------------------------------------------------------------------------------------------

    def jacobian(self):
        """[5, k * 6] (2D: [2, k * 3])"""
        m = self.dim - 1
        columns = [[row[c] * self.aniso[c] for row in self.basis] for c in range(m)]
        return [[sign * x for sign, arm in zip((1, -1), self.arms) for x in self.row(i, columns, arm)]
                for i in range(2 if self.dim == 2 else 5)]

    def row(self, i, columns, arm):
        """The row for one twist: c.(v + w x r) = c.v + (r x c).w for components of the slip, then the components of w
        alone."""
        d, zero = self.dim, [mpf(0)] * self.dim
        if i < d - 1:
            return columns[i] + torque(arm, columns[i])
        if d == 2:
            return zero + [self.radii[1]]
        if i == 2:
            return zero + [self.radii[0] * x for x in self.normal]
        return zero + [self.radii[1] * row[i - 3] for row in self.basis]

    def local_gradient(self):
        return [dot(column, self.pull) for column in zip(*self.jacobian())]

    @property
    def force_vector(self):
        m = self.dim - 1
        scaled = [a * x for a, x in zip(self.aniso, self.pull[:m])]
        return [dot(row, scaled) for row in self.basis]

    def local_matrix(self):
        j = self.jacobian()
        half = [[dot(row, column) for column in zip(*j)] for row in self.matrix]
        return [[dot(a, b) for b in zip(*half)] for a in zip(*j)]

    # --- answers ------------------------------------------------------------------------------------------------

    def factors(self):
        size = len(self.matrix)
        return {'jacobian': self.jacobian(),
                'inner': [self.matrix[i][j] for i in range(size) for j in range(i, size)]}

    def output(self, name):
        if name == 'spin':
            return self.spin[0]
        if name == 'rolling':
            return self.roll
        return super().output(name)

    def clear(self, reason, n_beta):
        super().clear(reason, n_beta)
        size, zero = 2 if self.dim == 2 else 5, mpf(0)
        self.pull, self.matrix = [zero] * size, [[zero] * size for _ in range(size)]
        self.inner, self.aniso, self.normal = self.matrix, [zero] * (self.dim - 1), [zero] * self.dim
        self.radii, self.arms = [zero, zero], [[zero] * self.dim for _ in self.members]
        self.spin, self.roll = [zero], [zero] * (self.dim - 1)
