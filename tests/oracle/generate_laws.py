"""Random valid requests with all documented features of laws, barriers, moving surfaces, anchors, grain and bodies.

request(seed) depends only on the seed. Two thirds extend a request of generate.py; the others have bodies alone, or
beside vertices without groups. As there, requests keep a distance from decisions that rounding could change, and from
places where a law would magnify it beyond what a comparison at 1e-9 allows.
"""
import math
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import barriers  # noqa: E402
import generate  # noqa: E402
import laws  # noqa: E402
import oracle  # noqa: E402
from algebra import flat, norm  # noqa: E402
from generate import SAFE  # noqa: E402
from oracle import BODY_GROUPS, STENCIL  # noqa: E402

COLLISION_OUTPUTS = generate.COLLISION_OUTPUTS + ['anchor', 'friction_force', 'spin', 'rolling']
ROUNDING, ALLOWED, TINY = 1e-13, 1e-10, 1e-250


def request(seed, law=None):
    """The first attempt of this seed that is valid and keeps its distance."""
    for attempt in range(1000):
        rng = random.Random(f'laws/{seed}/{law}/{attempt}' if law else f'laws/{seed}/{attempt}')
        built = build(rng, law)
        if built is not None and acceptable(built):
            return built
    raise AssertionError(f'seed {seed}: nothing acceptable in 1000 attempts')


def build(rng, law=None):
    builder = Plain(rng)
    if rng.random() < 0.2:
        base = builder.bare()
    else:
        base = builder.build()
    return None if base is None else Dresser(rng, builder, base).dress(law or rng.choice(laws.LAWS))


# --- acceptable requests --------------------------------------------------------------------------------------------

def acceptable(built):
    margins = oracle.Margins()
    try:
        evaluation = oracle.Evaluation(built, margins)
        evaluation.answer()
        evaluation.move(evaluation.motion)
    except oracle.Refused:
        return False
    return margins.worst > SAFE and all(well_conditioned(c) for c in evaluation.active())


def well_conditioned(c):
    """Whether rounding the slip leaves the results of the law nearly unchanged."""
    exact = c.law(c.y, c.mu, c.eps, c.speed)
    off = c.law(c.y + ROUNDING * c.size, c.mu, c.eps, c.speed) if c.size else exact
    g2, slope = exact[2] + c.viscous, exact[1] + c.viscous
    scales = abs(exact[0]), abs(slope), abs(g2) if len(c.matrix) == 1 else max(abs(g2), abs(slope))
    if any(0 < abs(x) < TINY for x in (exact[1] * c.eps, g2 * c.eps)):
        return False
    return c.y == 0 or all(abs(a - b) <= ALLOWED * scale for a, b, scale in zip(exact, off, scales))


# --- the parts --------------------------------------------------------------------------------------------------------

class Plain(generate.Builder):
    """Omits geometry that magnifies rounding before the law does, and the values of eps_v next to a knot that
    generate.py chooses itself."""

    def tiny(self):
        return max(super().tiny(), 1e-3)

    def near_transition(self):
        pass

    def bare(self):
        """A request without groups of vertices, and possibly without vertices."""
        self.stencils, self.placed, self.threshold, self.collision_outputs = [], set(), False, []
        self.force_scale, self.barrier, self.dhat, self.dmin = self.rng.choice([1.0, 1e3]), False, 1.0, 0.0
        source = self.rng.choice(['scalar', 'two', 'table', 'none'])
        self.friction_mu, self.friction_eps, self.interpolates = source != 'none', self.chance(0.8), False
        for _ in range(self.rng.choice([0, 0, 2])):
            self.vertex(self.somewhere())
        self.out = {'dim': self.dim, 'collisions': {}}
        self.friction(source, False)
        self.rest({})
        if self.velocities:
            self.renumber()
        elif self.chance(0.7):
            del self.out['velocities']
        if not self.velocities:
            self.out.pop('positions', None)
            self.out.pop('lagged_velocities', None)
        return self.out


class Dresser:
    def __init__(self, rng, builder, out):
        self.rng, self.builder, self.out, self.dim = rng, builder, out, builder.dim
        self.chance, self.values, self.rows = builder.chance, builder.values, builder.rows

    def dress(self, law):
        self.friction(law)
        self.barrier()
        if not self.out['collisions'] or self.chance(0.35):
            self.bodies()
        if law in laws.ONE_COEFFICIENT:
            self.one_coefficient()
        for group, fields in self.out['collisions'].items():
            self.group(group, fields, self.count(group, fields))
        self.queries()
        self.near_knots(law)
        keys = list(self.out)
        self.rng.shuffle(keys)
        return {k: self.out[k] for k in keys}

    # --- small things -------------------------------------------------------------------------------------------

    @staticmethod
    def size(group):
        return BODY_GROUPS.get(group) or STENCIL[group]

    def members(self, group, fields):
        ids = flat(fields['bodies' if group in BODY_GROUPS else 'vertices'])
        return [ids[i:i + self.size(group)] for i in range(0, len(ids), self.size(group))]

    def count(self, group, fields):
        return len(self.members(group, fields))

    def vector(self, size):
        return [self.rng.choice([0, 1, 1, 1]) * self.rng.gauss(0, 1) * size for _ in range(self.dim)]

    # --- the law ------------------------------------------------------------------------------------------------

    def friction(self, law):
        rng, f = self.rng, self.out.setdefault('friction', {})
        f.pop('mu_transition', None)
        eps = self.builder.eps
        if law != 'smooth' or self.chance(0.3):
            f['law'] = law
        if law == 'smooth' and self.chance(0.6):
            f['mu_transition'] = rng.choice(['cubic', 'quadratic', 'peak'])
        if law in laws.DECAYS and self.chance(0.7):
            f['stribeck_speed'] = self.speed(eps)
        if law == 'curve':
            f['curve'] = self.curve(eps)
        if self.chance(0.3):
            f['viscous'] = self.viscosity()

    def speed(self, eps):
        return eps * 10 ** self.rng.uniform(-1.5, 2)

    def viscosity(self):
        return self.rng.choice([0, 1, 1]) * 10 ** self.rng.uniform(-3, 1) / self.builder.speed

    def curve(self, eps):
        rng = self.rng
        m = rng.choice([2, 2, 3, 5, 16, 60])
        steps = [eps * 10 ** rng.uniform(-1, 1) for _ in range(m - 1)]
        speeds, factors = [0], [1]
        for step in steps:
            speeds.append(speeds[-1] + step)
            kind = rng.random()
            factors.append(factors[-1] if kind < 0.15 else 0 if kind < 0.2 else rng.uniform(0, 2))
        return {'speeds': speeds, 'factors': factors}

    def one_coefficient(self):
        """Makes the kinetic value equal to the static one wherever there are two."""
        f = self.out['friction']
        for fields in [f, f.get('materials', {}), *self.out['collisions'].values()]:
            for static, kinetic in (('mu_s', 'mu_k'), ('vertex_mu_s', 'vertex_mu_k')):
                if static in fields:
                    fields[kinetic] = fields[static]
            ellipse = fields.pop('mu_s_aniso', None), fields.pop('mu_k_aniso', None)
            if any(ellipse):
                fields['mu_s_aniso'] = fields['mu_k_aniso'] = ellipse[0] or ellipse[1]

    def barrier(self):
        barrier = self.out.get('barrier')
        if barrier is None:
            return
        if self.chance(0.8):
            barrier['type'] = self.rng.choice(barriers.TYPES)
        if self.chance(0.6):
            barrier['scaling'] = self.rng.choice(['none', 'physical', 'physical'])

    # --- any group ----------------------------------------------------------------------------------------------

    def group(self, group, fields, n):
        law, eps, speed = self.out['friction'].get('law', 'smooth'), self.builder.eps, self.builder.speed
        if law in laws.DECAYS and ('stribeck_speed' not in self.out['friction'] or self.chance(0.3)):
            fields['stribeck_speed'] = self.values(n, lambda: self.speed(eps))
        if self.chance(0.25):
            fields['viscous'] = self.values(n, self.viscosity)
        if self.chance(0.4):
            size = self.rng.choice([speed, eps])
            fields['surface_velocity'] = self.rows(n, self.dim, lambda: self.vector(size))
            if group == 'plane_vertex' and self.chance(0.2):
                self.convey(fields)
        if self.chance(0.4):
            size = self.rng.choice([speed, eps, 0.1 * eps])
            fields['anchor'] = self.rows(n, self.dim, lambda: self.vector(size))
        if self.dim == 3 and 'tangent_basis' not in fields and self.chance(0.4):
            fields['grain'] = self.rows(n, 3, lambda: [x * self.rng.choice([1, 1, 1e-3]) for x in self.builder.direction()])
            if 'on_degenerate' in self.out and self.out['on_degenerate'] == 'skip' and n:
                self.along_normal(group, fields, n)

    def convey(self, fields):
        """Each surface moves like its vertex, so there is no slip."""
        v = flat(self.out['velocities'])
        fields['surface_velocity'] = [v[i * self.dim:(i + 1) * self.dim] for i in flat(fields['vertices'])]

    def along_normal(self, group, fields, n):
        """Some grains have no direction in the tangent plane."""
        name = {'plane_vertex': 'plane_normal', 'body_body': 'normal', 'body_world': 'normal'}.get(group)
        if name is None:
            return
        normals, grains = (self.three(fields[k], n) for k in (name, 'grain'))
        fields['grain'] = [[self.rng.choice([-2, 1]) * x for x in a] if self.chance(0.5) else b
                           for a, b in zip(normals, grains)]

    @staticmethod
    def three(value, n):
        rows = flat(value)
        return [rows[i * 3:i * 3 + 3] for i in range(n)] if len(rows) == 3 * n else [rows] * n

    # --- bodies -------------------------------------------------------------------------------------------------

    def bodies(self):
        rng, out, builder = self.rng, self.out, self.builder
        count = rng.choice([1, 2, 3, 5])
        twist = 1 if self.dim == 2 else 3
        turning = rng.choice([0, 1, 1, 1, 10]) * builder.speed / builder.length
        out['body_positions'] = builder.shaped([builder.somewhere() for _ in range(count)])
        def twists():
            return builder.shaped([[rng.gauss(0, 1) * builder.speed for _ in range(self.dim)] +
                                   [rng.gauss(0, 1) * turning for _ in range(twist)] for _ in range(count)])
        out['body_velocities'] = twists()
        if self.chance(0.3):
            out['lagged_body_velocities'] = twists()
        names = rng.choice([['body_body'], ['body_world'], ['body_body', 'body_world'], ['body_body', 'body_world'], []])
        if not out['collisions'] and not names:
            names = ['body_world']
        source = self.source(count, 'body_world' in names)
        for name in names:
            n = rng.choice([0, 1, 1, 2, 3, 5]) if name == 'body_world' or count > 1 else 0
            out['collisions'][name] = self.body_group(name, count, n, source)
        out['collisions'] = dict(rng.sample(list(out['collisions'].items()), len(out['collisions'])))

    def source(self, count, world):
        """Whether `friction` has coefficients for bodies; gives them materials if there is a table."""
        f = self.out['friction']
        materials = f.get('materials')
        if materials is not None:
            m = round(len(flat(materials.get('mu', materials.get('mu_s')))) ** 0.5)
            materials['body_material'] = [self.rng.randrange(m) for _ in range(count)]
            if world:
                materials.setdefault('plane_material', self.rng.randrange(m))
            if not self.vertex_groups() and self.chance(0.6):
                materials.pop('vertex_material', None)
        return materials is not None or 'mu' in f or 'mu_s' in f

    def vertex_groups(self):
        return [g for g in self.out['collisions'] if g not in BODY_GROUPS]

    def body_group(self, name, count, n, source):
        rng, builder, d = self.rng, self.builder, self.dim
        chosen = [rng.sample(range(count), self.size(name)) for _ in range(n)]
        fields = {'bodies': builder.shaped(chosen) if name == 'body_body' else [b for b, in chosen]}
        fields['point'] = self.rows(n, d, builder.somewhere)
        fields['normal'] = self.rows(n, d, self.normal)
        fields['normal_force'] = self.values(n, builder.force)
        builder.given, kept = False, (builder.friction_mu, builder.friction_eps)
        builder.friction_mu, builder.friction_eps = source, 'eps_v' in self.out['friction']
        builder.common_fields(name, fields, n)
        builder.friction_mu, builder.friction_eps = kept
        if self.chance(0.6):
            fields['roll_radius'] = self.values(n, self.radius)
        if d == 3 and self.chance(0.6):
            fields['spin_radius'] = self.values(n, self.radius)
        if self.chance(0.2):
            *tangents, _ = builder.frame()
            basis = [list(row) for row in zip(*tangents)]
            fields['tangent_basis'] = basis if self.chance(0.5) else [basis] * n
        return fields

    def normal(self):
        builder = self.builder
        size = self.rng.choice([1, 1, 3.5, 1e-3])
        return builder.plain_normal() if self.chance(0.3) else [size * x for x in builder.direction()]

    def radius(self):
        return self.rng.choice([0, 1, 1, 1]) * self.builder.length * 10 ** self.rng.uniform(-2, 0.3)

    # --- queries ------------------------------------------------------------------------------------------------

    def queries(self):
        rng, out = self.rng, self.out
        if self.chance(0.8):
            names = [k for k in rng.sample(COLLISION_OUTPUTS, rng.randrange(1, len(COLLISION_OUTPUTS) + 1))
                     if k != 'distance' or self.may_ask_distance()]
            if 'collisions' in out.get('outputs', []):
                out['collision_outputs'] = names
        hessian, bodies = out.get('hessian', {}), 'body_positions' in out
        if hessian.get('format') == 'csr' and not bodies and self.chance(0.4):
            hessian['format'] = 'bsr'
        if 'format' in hessian and hessian['format'] != 'factors' and self.chance(0.2):
            hessian['pattern'] = False
        self.along()

    def may_ask_distance(self):
        """Planes need an origin and positions for it."""
        plane = self.out['collisions'].get('plane_vertex')
        derived = [f for f in self.out['collisions'].values() if 'vertices' in f and 'tangent_basis' not in f]
        return (plane is None or 'plane_origin' in plane) and (not derived or 'positions' in self.out)

    def along(self):
        """A line and vectors, over all degrees of freedom."""
        rng, out, d = self.rng, self.out, self.dim
        vertices, bodies = (flat(out.get(k, [])) for k in ('velocities', 'body_velocities'))
        n, size = len(vertices) + len(bodies), max(map(abs, vertices + bodies), default=0) or 1
        if n and self.chance(0.3):
            vectors = [[rng.choice([0, rng.gauss(0, 1) * size]) for _ in range(n)] for _ in range(rng.choice([0, 1, 2, 5]))]
            out['vectors'] = flat(vectors) if self.chance(0.3) else vectors
            out.setdefault('outputs', list(oracle.DEFAULT_OUTPUTS)).append('hessian_products')
        if self.chance(0.65):
            return
        line = {'steps': [rng.choice([0, 1, rng.uniform(-2, 2), 10 ** rng.uniform(-3, 1)])
                          for _ in range(rng.choice([0, 1, 3, 9]))]}
        for name, values, m in (('direction', vertices, d), ('body_direction', bodies, 3 * d - 3)):
            rows = [[rng.gauss(0, 1) * size for _ in range(m)] for _ in range(len(values) // m)]
            if rows:
                line[name] = self.builder.shaped(rows)
        if not vertices and not bodies:
            line['direction'] = []
        out['line'] = line
        out.setdefault('outputs', list(oracle.DEFAULT_OUTPUTS)).append('line')

    # --- eps_v --------------------------------------------------------------------------------------------------

    def near_knots(self, law):
        """Gives some groups an eps_v that puts each contact nearly at rest, below a knot, next to it, beyond it or far
        beyond."""
        chosen = [g for g in self.out['collisions'] if self.chance(0.5)]
        if not chosen:
            return
        try:
            evaluation = oracle.Evaluation(self.out)
            evaluation.move(evaluation.motion)
        except oracle.Refused:
            return
        for g in chosen:
            contacts, fields = evaluation.groups[g], self.out['collisions'][g]
            if contacts and not any(c.skipped for c in contacts) and all(c.y > 0 for c in contacts):
                fields['eps_v'] = [float(c.y / self.ratio(law)) for c in contacts]
                if law in laws.DECAYS and self.chance(0.7):
                    fields['stribeck_speed'] = [self.beyond(float(c.y), eps) for c, eps in zip(contacts, fields['eps_v'])]

    def ratio(self, law):
        rng = self.rng
        near = 1 + rng.choice([-1, 1]) * 10 ** rng.uniform(-5, -2)
        return rng.choice([10 ** rng.uniform(-6, -1), rng.uniform(0.1, 0.99), near, near * (2 if law == 'adhesion' else 1),
                           rng.uniform(1.01, 5), rng.uniform(1.01, 5), 10 ** rng.uniform(1, 4)])

    def beyond(self, y, eps):
        x = 10 ** self.rng.uniform(-3, 0.8)
        return (y - eps) / x if y > eps * 1.001 else eps * 10 ** self.rng.uniform(-1, 1)


def main():
    import json
    first, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for seed in range(first, first + count):
        print(json.dumps(request(seed, *sys.argv[3:])))


if __name__ == '__main__':
    main()
