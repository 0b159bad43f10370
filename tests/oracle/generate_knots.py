#!/usr/bin/env python3
"""Random requests of /v1/evaluate whose contacts are at the knots of their law or near them: at rest, where they begin to
slide, at the ends of a law's pieces and at the points of a curve. Bodies slide, spin and roll. knots.request(seed)."""
import json
import math
import random
import sys

LAWS = ['cubic', 'quadratic', 'peak', 'stribeck', 'exponential', 'curve', 'adhesion']
# Relative distances from a knot. The number of units in the last place is chosen separately.
NEAR = [0, 0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2]
EXTREMES = ['rest', 'almost at rest', 'knot', 'knot', 'knot', 'anywhere']


def request(seed):
    return Aimed(random.Random(f'knots {seed}')).build()


class Aimed:
    def __init__(self, rng):
        self.rng = rng
        self.dim = rng.choice([2, 3, 3])
        self.eps = rng.choice([1.0, 1e-3, 0.25, self.size(1e-6, 1e3)])
        self.law = rng.choice(LAWS)
        self.mu_s = rng.choice([0.5, 1.0, 0.3, self.size(1e-3, 3)])
        self.mu_k = self.mu_s if self.law in ('curve', 'adhesion') else rng.choice(
            [0.25, self.mu_s, self.size(1e-3, 3), self.mu_s * (1 - self.size(1e-9, 0.5))])
        self.decay = self.eps * self.size(1e-6, 1e2)
        self.speeds = [0.0]
        for _ in range(rng.randint(1, 4)):
            self.speeds.append(self.speeds[-1] + self.eps * self.size(1e-5, 10))
        self.factors = [1.0] + [rng.choice([1.0, 0.5, rng.uniform(0, 2), 0.0]) for _ in self.speeds[1:]]

    def size(self, low, high):
        return math.exp(self.rng.uniform(math.log(low), math.log(high)))

    def knots(self):
        eps, largest = self.eps, max(self.mu_s, self.mu_k)
        p = (1 + min(self.mu_s, self.mu_k) / largest) / 2
        return {'cubic': [eps], 'quadratic': [eps / 2, eps], 'peak': [p * eps, (p + 1) / 2 * eps, eps],
                'stribeck': [eps, eps + self.decay], 'exponential': [eps], 'adhesion': [eps, 2 * eps],
                'curve': [eps + speed for speed in self.speeds]}[self.law]

    def length(self):
        """The norm that the law is applied to."""
        kind = self.rng.choice(EXTREMES)
        if kind == 'rest':
            return 0.0
        if kind == 'almost at rest':
            return self.eps * self.size(1e-20, 1e-3)
        if kind == 'anywhere':
            return self.eps * self.size(1e-2, 1e2)
        y = self.rng.choice(self.knots()) * (1 + self.rng.choice([-1, 1]) * self.rng.choice(NEAR))
        for _ in range(self.rng.choice([0, 0, 1, 2])):
            y = math.nextafter(y, self.rng.choice([0, math.inf]))
        return y

    def direction(self, n):
        """A unit vector: along an axis, one of a few exact ones, or random."""
        rng = self.rng
        if n == 1:
            return [rng.choice([-1.0, 1.0])]
        axis = [0.0] * n
        axis[rng.randrange(n)] = rng.choice([-1.0, 1.0])
        if rng.random() < 0.4:
            return axis
        if rng.random() < 0.3:
            i, j = rng.sample(range(n), 2)
            return [0.6 if k == i else 0.8 if k == j else 0.0 for k in range(n)]
        x = [rng.gauss(0, 1) for _ in range(n)]
        return [value / math.hypot(*x) for value in x]

    def friction(self):
        equal = self.mu_s == self.mu_k
        friction = {'eps_v': self.eps, **({'mu': self.mu_s} if equal else {'mu_s': self.mu_s, 'mu_k': self.mu_k})}
        if self.law in ('quadratic', 'peak'):
            friction['mu_transition'] = self.law
        elif self.law != 'cubic':
            friction['law'] = self.law
        if self.law in ('stribeck', 'exponential'):
            friction['stribeck_speed'] = self.decay
        if self.law == 'curve':
            friction['curve'] = {'speeds': self.speeds, 'factors': self.factors}
        if self.rng.random() < 0.2:
            friction['viscous'] = self.size(1e-3, 1) / self.eps
        return friction

    def plain(self, n):
        """Vertices on a floor, each with a velocity of its own."""
        velocities = []
        for _ in range(n):
            y, u = self.length(), self.direction(self.dim - 1)
            velocities.append([y * x for x in u] + [self.rng.choice([0.0, self.rng.gauss(0, self.eps)])])
        group = {'vertices': list(range(n)), 'plane_normal': [0] * (self.dim - 1) + [1],
                 'normal_force': [self.size(1e-3, 1e3) for _ in range(n)]}
        if self.rng.random() < 0.2:
            group['anchor'] = [[x / 2 for x in v[:-1]] + [0.0] for v in velocities]
            velocities = [[x / 2 for x in v[:-1]] + v[-1:] for v in velocities]
        if self.rng.random() < 0.2:
            group['surface_velocity'] = [[-x for x in v[:-1]] + [0.0] for v in velocities]
            velocities = [[0.0] * (self.dim - 1) + v[-1:] for v in velocities]
        return velocities, group

    def bodies(self, n):
        """Bodies on a floor, each with a contact; spin and rolling share the length with sliding."""
        rng, d = self.rng, self.dim
        velocities, points, spins, rolls = [], [], [], []
        for _ in range(n):
            spin, roll = rng.choice([1.0, 0.1, self.size(1e-3, 1e2)]), rng.choice([1.0, 0.05, self.size(1e-3, 1e2)])
            y, parts = self.length(), self.direction(5 if d == 3 else 2)
            if rng.random() < 0.4:
                only = rng.choice([[0, 1], [2], [3, 4]] if d == 3 else [[0], [1]])
                parts = [0.0] * len(parts)
                for i, x in zip(only, self.direction(len(only))):
                    parts[i] = x
            arm = rng.choice([0.0, -1.0, -self.size(1e-2, 10)])
            u = [y * x for x in parts]
            if d == 3:
                omega = [u[3] / roll, u[4] / roll, u[2] / spin]
                # The body's velocity is the slip minus the rotation's part at the contact point, omega x (0, 0, arm).
                velocities.append([u[0] - omega[1] * arm, u[1] + omega[0] * arm, 0.0, *omega])
            else:
                velocities.append([u[0] + u[1] / roll * arm, 0.0, u[1] / roll])
            points.append([0.0] * (d - 1) + [arm])
            spins.append(spin)
            rolls.append(roll)
        group = {'bodies': list(range(n)), 'point': points, 'normal': [0] * (d - 1) + [1],
                 'normal_force': [self.size(1e-3, 1e3) for _ in range(n)], 'roll_radius': rolls}
        if d == 3:
            group['spin_radius'] = spins
        return velocities, group

    def pair(self, built):
        """One contact between two bodies. Relative to the second body, the first moves as on the floor; in addition
        both move together."""
        group = built['collisions'].pop('body_world')
        along = [self.rng.choice([0.0, self.rng.gauss(0, self.eps)]) for _ in range(self.dim)]
        first, second = built['body_velocities']
        second[:] = along + [0.0] * (len(second) - self.dim)
        first[:self.dim] = [x + y for x, y in zip(first, along)]
        built['collisions']['body_body'] = {
            **{name: value[:1] if name in ('normal_force', 'roll_radius', 'spin_radius', 'point') else value
               for name, value in group.items()}, 'bodies': [[0, 1]]}

    def build(self):
        rng = self.rng
        n_vertices, n_bodies = rng.choice([(1, 0), (2, 0), (3, 0), (0, 1), (0, 2), (1, 1), (2, 2)])
        built = {'dim': self.dim, 'friction': self.friction(), 'collisions': {}}
        if n_vertices:
            built['velocities'], built['collisions']['plane_vertex'] = self.plain(n_vertices)
        if n_bodies:
            built['body_positions'] = [[0.0] * self.dim for _ in range(n_bodies)]
            built['body_velocities'], built['collisions']['body_world'] = self.bodies(n_bodies)
            if n_bodies == 2 and rng.random() < 0.5:
                self.pair(built)
        for group in built['collisions'].values():
            if rng.random() < 0.2:
                group['mu_aniso'] = [1.0, rng.choice([0.5, 2.0, 1e-3])][:self.dim - 1]
            if self.dim == 3 and rng.random() < 0.1:
                group['grain'] = [1.0, rng.uniform(-1, 1), 0.0]
            if rng.random() < 0.2:
                group['weight'] = self.size(1e-3, 1e3)
            if self.dim == 3 and self.law not in ('curve', 'adhesion') and rng.random() < 0.1:
                group['mu_s_aniso'] = [self.mu_s, self.mu_s * rng.choice([1, 0.5])]
                group['mu_k_aniso'] = [self.mu_k, self.mu_k * rng.choice([1, 0.5])]
                if 'velocities' in built and rng.random() < 0.5:
                    built['lagged_velocities'] = [[rng.gauss(0, self.eps) for _ in v] for v in built['velocities']]
        return built


if __name__ == '__main__':
    json.dump(request(int(sys.argv[1])), sys.stdout)
    print()
