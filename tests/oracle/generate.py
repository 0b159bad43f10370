"""Random valid requests of POST /v1/evaluate, with all options in combination.

request(seed) depends only on the seed. request(seed, 'peak') has that transition; in some of these requests mu_s and
mu_k differ by one rounding, in some a speed is next to where the parabolas meet. Requests keep a distance from
decisions that rounding could change (oracle.Margins), or lie exactly on them.
"""
import math
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import barriers  # noqa: E402
import oracle  # noqa: E402
import peak  # noqa: E402
from oracle import BETA, GROUPS, STENCIL  # noqa: E402

BLENDS = ['mean', 'min', 'max', 'product', 'geometric_mean', 'harmonic_mean']
OUTPUTS = ['potential', 'gradient', 'hessian', 'collisions']
COLLISION_OUTPUTS = ['potential', 'tangential_velocity', 'mu_s', 'mu_k', 'normal_force', 'distance', 'closest_point',
                     'tangent_basis', 'status', 'slip_ratio']
SAFE = 1e-6


def request(seed, transition=None):
    """The first attempt of this seed that is valid and keeps its distance from decisions."""
    name = f'{transition}/{seed}' if transition else seed
    for attempt in range(1000):
        built = Builder(random.Random(f'{name}/{attempt}'), transition).build()
        if built is not None:
            ask_along(built, random.Random(f'{name}/{attempt}/along'))
        if built is not None and acceptable(built):
            return built
    raise AssertionError(f'seed {name}: nothing acceptable in 1000 attempts')


def ask_along(built, rng):
    """Rows of blocks, values without their pattern; a line and vectors of the size of the velocities, requested or not,
    nested or flat."""
    hessian = built.get('hessian', {})
    if hessian.get('format') == 'csr' and rng.random() < 0.5:
        hessian['format'] = 'bsr'
    if 'format' in hessian and hessian['format'] != 'factors' and rng.random() < 0.3:
        hessian['pattern'] = rng.random() < 0.3
    velocities, dim = oracle.flat(built['velocities']), built['dim']
    rows, size = len(velocities) // dim, max(map(abs, velocities), default=0) or 1
    if rng.random() < 0.4:
        vectors = [[rng.choice([0, rng.gauss(0, 1) * size]) for _ in velocities] for _ in range(rng.choice([0, 1, 2, 9]))]
        built['vectors'] = oracle.flat(vectors) if rng.random() < 0.3 else vectors
        if rng.random() < 0.8:
            built.setdefault('outputs', list(oracle.DEFAULT_OUTPUTS)).append('hessian_products')
    if rng.random() < 0.5:
        return
    direction = [[rng.gauss(0, 1) * size for _ in range(dim)] for _ in range(rows)]
    steps = [rng.choice([0, 1, rng.uniform(-2, 2), 10 ** rng.uniform(-3, 1)]) for _ in range(rng.choice([0, 1, 3, 17]))]
    built['line'] = {'direction': oracle.flat(direction) if rng.random() < 0.3 else direction, 'steps': steps}
    if rng.random() < 0.8:
        built.setdefault('outputs', list(oracle.DEFAULT_OUTPUTS)).append('line')


def acceptable(built):
    margins = oracle.Margins()
    try:
        oracle.evaluate(built, margins)
    except oracle.Refused:
        return False
    return margins.worst > SAFE


class Builder:
    def __init__(self, rng, transition=None):
        self.rng, self.transition = rng, transition
        self.positions, self.velocities = [], []
        self.dim = rng.choice([2, 3, 3])
        self.skip = rng.random() < 0.25
        self.barrier = rng.random() < 0.5
        self.length = 1.0 if rng.random() < 0.7 else 10.0 ** rng.uniform(-3, 3)
        if not self.barrier and rng.random() < 0.2:
            self.length = 2.0 ** rng.choice([-300, -100, -30, 30, 100, 300])
        self.speed = 10.0 ** rng.uniform(-3, 2)
        if rng.random() < 0.1:
            self.speed = 2.0 ** rng.choice([-900, -300, -40, 40, 300, 900]) * rng.uniform(0.5, 2)
        self.eps = self.speed * 10 ** rng.uniform(-2, 1.5)
        self.mode = rng.choice(['random'] * 5 + ['zero', 'rigid', 'spread'])
        self.drift = [rng.gauss(0, 1) * self.speed for _ in range(self.dim)]
        self.sources = {}

    # --- small things -------------------------------------------------------------------------------------------

    def chance(self, p):
        return self.rng.random() < p

    def number(self, x):
        """Whole numbers are sometimes written as integers."""
        return int(x) if float(x).is_integer() and abs(x) < 1e6 and self.chance(0.5) else x

    def shaped(self, rows):
        """A nested array, sometimes sent flat."""
        return oracle.flat(rows) if self.chance(0.25) else rows

    def values(self, n, draw):
        """An [n] field: one value for all, in either form, or one each."""
        form = self.rng.random()
        if form < 0.3:
            return self.number(draw())
        if form < 0.4:
            return [self.number(draw())]
        return [self.number(draw()) for _ in range(n)]

    def rows(self, n, m, draw):
        """An [n, m] field."""
        form = self.rng.random()
        if form < 0.2:
            return draw()
        if form < 0.3:
            return [draw()]
        return self.shaped([draw() for _ in range(n)])

    def direction(self):
        while True:
            v = [self.rng.gauss(0, 1) for _ in range(self.dim)]
            size = math.hypot(*v)
            if size > 0.1:
                return [x / size for x in v]

    def frame(self):
        """Orthonormal vectors: tangents first, normal last."""
        n = self.direction()
        if self.dim == 2:
            return [[-n[1], n[0]], n]
        while True:
            t = self.direction()
            along = sum(a * b for a, b in zip(t, n))
            t = [a - along * b for a, b in zip(t, n)]
            size = math.hypot(*t)
            if size > 0.1:
                t = [a / size for a in t]
                break
        s = [n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0]]
        return [t, s, n]

    def point(self, origin, *terms):
        return [o + sum(f * v[i] for f, v in terms) for i, o in enumerate(origin)]

    def somewhere(self):
        return [self.rng.uniform(-1, 1) * self.length for _ in range(self.dim)]

    def vertex(self, position, velocity=None):
        self.positions.append(position)
        self.velocities.append(self.velocity() if velocity is None else velocity)
        return len(self.positions) - 1

    def velocity(self):
        v = [self.rng.gauss(0, 1) * self.speed for _ in range(self.dim)]
        if self.mode == 'zero' or self.chance(0.1):
            return [0.0] * self.dim
        if self.mode == 'rigid':
            return [d + 0.01 * x for d, x in zip(self.drift, v)]
        if self.mode == 'spread':
            size = 10 ** self.rng.uniform(-4, 2)
            return [size * x for x in v]
        return v

    # --- stencils -----------------------------------------------------------------------------------------------

    def gap(self):
        """Distance of a contact; if there is a barrier, within or at the edge of its range."""
        if not self.barrier:
            return self.length * 10 ** self.rng.uniform(-3, 0)
        dmin, dhat = self.dmin, self.dhat
        kind = self.rng.random()
        if kind < 0.1:
            return dmin + dhat * self.rng.uniform(1.001, 3)
        if kind < 0.2:
            return (dmin + dhat) * (1 + self.rng.choice([-1, 1]) * 10 ** self.rng.uniform(-3.5, -2))
        return dmin + dhat * self.rng.uniform(0.05, 0.98)

    def inside(self):
        return self.rng.uniform(0.02, 0.98) if self.strict else self.rng.uniform(-0.7, 1.7)

    def tiny(self):
        """A sine that is sometimes small."""
        if self.barrier or not self.chance(0.2):
            return self.rng.uniform(0.2, 1)
        return 10 ** self.rng.uniform(-6, -2)

    def stencil(self, group):
        return getattr(self, group)()

    def vertex_vertex(self):
        if self.chance(0.25) and not self.barrier:
            return self.tied_vertices()
        *_, n = self.frame()
        p = self.somewhere()
        return [self.vertex(p), self.vertex(self.point(p, (self.gap(), n)))]

    def tied_vertices(self):
        """The normal has |n_x| = |n_y| exactly or nearly, or is along an axis."""
        step = self.length_step()
        a = self.rng.choice([1, 2, 3])
        n = [a * self.rng.choice([-1, 1]), a * self.rng.choice([-1, 1]), self.rng.choice([-2, 0, 1])][:self.dim]
        if self.chance(0.4):
            n = [0] * self.dim
            n[self.rng.randrange(self.dim)] = self.rng.choice([-1, 1])
        p = [self.rng.randrange(-4, 5) for _ in range(self.dim)]
        q = [a + b for a, b in zip(p, n)]
        p, q = ([x * step for x in r] for r in (p, q))
        if self.chance(0.3):
            q[0] = math.nextafter(q[0], self.rng.choice([-1, 1]) * math.inf)
        return [self.vertex(p), self.vertex(q)]

    def length_step(self):
        return 2.0 ** round(math.log2(self.length))

    def edge_vertex(self):
        *t, n = self.frame()
        e0, size = self.somewhere(), self.length * self.rng.uniform(0.3, 2)
        alpha, gap = self.inside(), self.gap()
        if not self.barrier and self.chance(0.15):
            gap = self.length * 10 ** self.rng.uniform(-6, -4)
        p = self.point(e0, (alpha * size, t[0]), (gap, n))
        return [self.vertex(p), self.vertex(e0), self.vertex(self.point(e0, (size, t[0])))]

    def edge_edge(self):
        t, s, n = self.frame()
        a, b = (self.length * self.rng.uniform(0.3, 2) for _ in range(2))
        sine = self.tiny()
        other = [math.sqrt(1 - sine * sine) * x + sine * y for x, y in zip(t, s)]
        alpha, beta, gap = self.inside(), self.inside(), self.gap()
        c = self.somewhere()
        d = self.point(c, (gap, n))
        ends = [(c, -alpha * a, t), (c, (1 - alpha) * a, t), (d, -beta * b, other), (d, (1 - beta) * b, other)]
        return [self.vertex(self.point(o, (f, v))) for o, f, v in ends]

    def face_vertex(self):
        t, s, n = self.frame()
        t0, size, height = self.somewhere(), self.length * self.rng.uniform(0.3, 2), self.tiny()
        slide = self.rng.uniform(0.1, 0.9)
        t1 = self.point(t0, (size, t))
        t2 = self.point(t0, (slide * size, t), (height * size, s))
        b1, b2 = sorted([self.inside(), self.inside()])
        b1, b2 = b1, b2 - b1 if self.strict else b2
        foot = self.point(t0, (b1 * size + b2 * slide * size, t), (b2 * height * size, s))
        return [self.vertex(self.point(foot, (self.gap(), n))), self.vertex(t0), self.vertex(t1), self.vertex(t2)]

    def plane_vertex(self):
        """A vertex that plane_group moves onto its plane."""
        return [self.vertex(self.somewhere())]

    def from_pool(self, group):
        return self.rng.sample(range(len(self.positions)), STENCIL[group])

    # --- faults that are to be skipped --------------------------------------------------------------------------

    def degenerate(self, group):
        """Integer coordinates, so that the geometry is exactly degenerate; sometimes off by a rounding error."""
        step = self.length_step()
        p = [self.rng.randrange(-4, 5) for _ in range(self.dim)]
        e = [self.rng.choice([-3, -2, -1, 1, 2, 3]) for _ in range(self.dim)]

        def at(k, shift=0.0):
            return self.vertex([(a + k * b) * step * (1 + shift * i) for i, (a, b) in enumerate(zip(p, e))])
        shift = self.rng.choice([0.0, 2e-14, -2e-14])
        if group == 'vertex_vertex':
            return [at(0), at(0)]
        if group == 'edge_vertex':
            if self.dim == 2 or self.chance(0.4):
                return [at(1), at(0), at(0)]
            return [at(self.rng.choice([2, 3, -1])), at(0), at(1)]
        if group == 'edge_edge':
            if self.chance(0.3):
                return [at(0), at(0)] + [self.vertex(self.somewhere()) for _ in range(2)]
            first = [at(0), at(1)]
            p = [a + b for a, b in zip(p, [1, -2, 3])]
            return first + [at(0), at(self.rng.choice([-2, 3]), shift * 0.1)]
        if group == 'face_vertex':
            return [self.vertex(self.somewhere()), at(0), at(1), at(self.rng.choice([2, 5, -1]))]
        return None

    # --- groups -------------------------------------------------------------------------------------------------

    def group(self, name):
        self.given = self.chance(0.35)
        has_force = self.given or not self.barrier or self.chance(0.4)
        barrier, self.barrier = self.barrier, self.barrier and not has_force
        self.strict = self.interpolates and not self.skip
        n = self.rng.choice([0, 1, 1, 2, 3, 4, 6])
        fields = {}
        stencils = [self.contact(name) for _ in range(n)]
        if name == 'plane_vertex':
            self.plane_group(fields, stencils)
            fields['vertices'] = [s[0] for s in stencils]
        else:
            fields['vertices'] = self.shaped(stencils)
        if self.given:
            self.give_geometry(name, fields, stencils)
        if has_force:
            fields['normal_force'] = self.values(n, self.force)
        self.barrier = barrier
        self.common_fields(name, fields, n)
        return fields

    def contact(self, name):
        if self.skip and not self.given and name != 'plane_vertex' and self.chance(0.2):
            return self.degenerate(name)
        enough = len(self.positions) >= STENCIL[name] + 2
        if enough and (self.given or not self.barrier and not self.strict) and self.chance(0.5):
            return self.from_pool(name)
        if self.skip and self.barrier and self.chance(0.15):
            dmin, self.dmin, dhat, self.dhat = self.dmin, self.dmin / 2, self.dhat, self.dmin * 1e-3
            stencil = self.stencil(name)
            self.dmin, self.dhat = dmin, dhat
            return stencil
        return self.stencil(name)

    def force(self):
        return 0 if self.chance(0.05) else self.force_scale * 10 ** self.rng.uniform(-2, 2)

    def plane_group(self, fields, stencils):
        """The vertices are new, so they can be moved onto the plane."""
        if self.given:
            if self.chance(0.3):
                fields['plane_normal'] = self.direction()
            return
        n = len(stencils)
        shared = self.chance(0.4)
        frame, origin = self.frame(), self.somewhere()
        normals, origins = [], []
        for s in stencils:
            if not shared:
                frame, origin = self.frame(), self.somewhere()
            *tangents, normal = frame
            if self.chance(0.2) and not shared:
                normal = self.plain_normal()
                tangents = []
            size = math.hypot(*normal)
            unit = [x / size for x in normal]
            stretch = self.rng.choice([1, 1, 3.5, 1e-3]) if size == 1 else 1
            offsets = [(self.rng.uniform(-1, 1) * self.length, t) for t in tangents]
            if s[0] in self.placed:
                continue
            self.placed.add(s[0])
            self.positions[s[0]] = self.point(origin, (self.gap() * self.rng.choice([-1, 1]), unit), *offsets)
            normals.append([stretch * x for x in normal])
            origins.append(origin)
        if len(normals) < n:  # a vertex occurred twice
            shared, normals, origins = True, [frame[-1]], [origin]
        needs_origin = self.barrier or 'distance' in self.collision_outputs
        one = shared and n
        fields['plane_normal'] = (normals[0] if self.chance(0.5) else [normals[0]]) if one else self.shaped(normals)
        if needs_origin or self.chance(0.3):
            fields['plane_origin'] = (origins[0] if self.chance(0.5) else [origins[0]]) if one else self.shaped(origins)

    def plain_normal(self):
        normal = [0] * self.dim
        if self.chance(0.5):
            normal[self.rng.randrange(self.dim)] = self.rng.choice([-1, 1, 2])
        else:
            normal = [self.rng.choice([-3, 3]) for _ in range(self.dim)]
        return normal

    def give_geometry(self, name, fields, stencils):
        def basis():
            if self.chance(0.1):
                return [[self.rng.gauss(0, 1) for _ in range(self.dim - 1)] for _ in range(self.dim)]
            *tangents, _ = self.frame()
            return [list(row) for row in zip(*tangents)]
        n, m = len(stencils), BETA[name]
        fields['tangent_basis'] = self.shaped([basis() for _ in range(n)])
        if n and self.chance(0.15):
            fields['tangent_basis'] = basis() if self.chance(0.5) else [basis()]
        if m:
            fields['closest_point'] = self.rows(n, m, lambda: self.coordinates(m))
        if n and self.chance(0.3):
            self.on_threshold(name, fields, stencils)

    def coordinates(self, m):
        if not self.strict:
            return [self.rng.uniform(-0.3, 1.3) for _ in range(m)]
        return [self.rng.uniform(0, 1 / m) for _ in range(m)]

    def on_threshold(self, name, fields, stencils):
        """First vertices move at (3, 4) 2^k along axis-aligned tangents and the others rest, so that y/eps is 1, 1/2 or
        2."""
        used = {v for s in self.stencils for v in s}
        leads = [s[0] for s in stencils]
        rest = {v for s in stencils for v in s[1:]}
        if used & ({*leads} | rest) or rest & {*leads} or name == 'edge_edge':
            return
        step = 2.0 ** round(math.log2(self.speed))
        for v in rest:
            self.velocities[v] = [0.0] * self.dim
        for v in leads:
            self.velocities[v] = [5 * step, 7 * step] if self.dim == 2 else [3 * step, -4 * step, 11 * step]
        basis = [[1], [0]] if self.dim == 2 else [[1, 0], [0, 1], [0, 0]]
        fields['tangent_basis'] = [basis for _ in stencils]
        self.threshold = True
        fields['eps_v'] = [5 * step * self.rng.choice([1, 1, 2, 0.5]) for _ in stencils]

    def common_fields(self, name, fields, n):
        if self.chance(0.4):
            fields['weight'] = self.values(n, lambda: self.rng.choice([-1.5, 0, 1, 2, 0.37, self.rng.gauss(0, 2)]))
        if self.chance(0.3) or not self.friction_mu:
            if self.chance(0.5):
                fields['mu'] = self.values(n, self.mu)
            else:
                fields['mu_s'], fields['mu_k'] = self.values(n, self.mu), self.values(n, self.mu)
        exactly = fields.get('eps_v') is not None
        if not exactly and (self.chance(0.25) or not self.friction_eps):
            fields['eps_v'] = self.values(n, lambda: self.eps * 10 ** self.rng.uniform(-1, 1))
        if not exactly and self.chance(0.3):
            fields['mu_aniso'] = self.rows(n, self.dim - 1, lambda: [self.rng.uniform(0.2, 3)
                                                                     for _ in range(self.dim - 1)])
            if self.dim == 2 and self.chance(0.3):
                fields['mu_aniso'] = self.rng.uniform(0.2, 3)
        if self.dim == 3 and self.chance(0.3):
            which = self.rng.choice([['mu_s_aniso'], ['mu_k_aniso'], ['mu_s_aniso', 'mu_k_aniso']])
            for k in which:
                fields[k] = self.rows(n, 2, self.ellipse)

    def ellipse(self):
        return self.rng.choice([[0, 0], [self.mu(), 0.0], [self.mu(), self.mu()], [self.mu(), self.mu()]])

    def mu(self):
        return self.rng.choice([0, 0.3, 1, 10 ** self.rng.uniform(-6, 1)] + [self.rng.uniform(0.05, 1.5)] * 6)

    # --- the request --------------------------------------------------------------------------------------------

    def build(self):
        rng = self.rng
        self.stencils, self.placed, self.threshold = [], set(), False
        self.dhat = self.length * 10 ** rng.uniform(-2.5, -0.5)
        self.dmin = self.dhat * rng.choice([0, 0, 0.1, 1, 3])
        self.force_scale = rng.choice([1.0, 1.0, 1e3, 1e-9, 1e12])
        self.collision_outputs = rng.sample(COLLISION_OUTPUTS, rng.randrange(1, 11)) if self.chance(0.7) else []
        source = rng.choice(['scalar', 'two', 'vertex', 'vertex', 'vertex', 'table', 'table', 'none'])
        self.friction_mu, self.friction_eps = source != 'none', self.chance(0.85)
        self.interpolates = source in ('vertex', 'table')
        names = [g for g in GROUPS if self.dim == 3 or g not in ('edge_edge', 'face_vertex')]
        chosen = rng.sample(names, rng.randrange(1, len(names) + 1))
        for _ in range(rng.choice([0, 4, 8])):
            self.vertex(self.somewhere())
        collisions = {}
        for g in chosen:
            collisions[g] = self.group(g)
            flat = oracle.flat(collisions[g]['vertices'])
            self.stencils += [flat[i:i + STENCIL[g]] for i in range(0, len(flat), STENCIL[g])]
        if not self.positions:
            self.vertex(self.somewhere())
        self.out = {'dim': self.dim, 'collisions': collisions}
        self.friction(source, 'plane_vertex' in collisions)
        self.rest(collisions)
        self.renumber()
        if not self.threshold and self.chance(0.3):
            self.near_transition()
        keys = list(self.out)
        rng.shuffle(keys)
        return {k: self.out[k] for k in keys}

    def friction(self, source, planes):
        rng, n = self.rng, len(self.positions)
        f = {}
        two = self.chance(0.6)
        if source == 'scalar':
            f['mu'] = self.number(self.mu())
        elif source == 'two':
            f['mu_s'], f['mu_k'] = self.number(self.mu()), self.number(self.mu())
        elif source == 'vertex':
            for k in ['vertex_mu_s', 'vertex_mu_k'] if two else ['vertex_mu']:
                f[k] = [self.number(self.mu()) for _ in range(n)]
            if self.chance(0.8):
                f['blend'] = rng.choice(BLENDS)
        elif source == 'table':
            f['materials'] = self.materials(n, planes, two)
        if self.friction_eps:
            f['eps_v'] = self.eps
        if self.chance(0.6):
            f['mu_transition'] = rng.choice(['cubic', 'quadratic', 'quadratic'])
        if self.transition:
            f['mu_transition'] = self.transition
            if source == 'two' and self.chance(0.4):
                f['mu_k'] = math.nextafter(f['mu_s'], 2)
        if f or self.chance(0.5):
            self.out['friction'] = f

    def materials(self, n, planes, two):
        m = self.rng.choice([1, 2, 3])
        out = {'vertex_material': [self.rng.randrange(m) for _ in range(n)]}
        if planes or self.chance(0.3):
            out['plane_material'] = self.rng.randrange(m)
        for k in ['mu_s', 'mu_k'] if two else ['mu']:
            rows = [[0.0] * m for _ in range(m)]
            for i in range(m):
                for j in range(i + 1):
                    rows[i][j] = rows[j][i] = self.number(self.mu())
            out[k] = self.shaped(rows)
        return out

    def rest(self, collisions):
        rng, out = self.rng, self.out
        out['velocities'] = self.velocities
        derived = [g for g, f in collisions.items() if 'tangent_basis' not in f]
        distance = self.barrier or 'distance' in self.collision_outputs
        needed = any(g != 'plane_vertex' or distance for g in derived)
        if needed or self.chance(0.4):
            out['positions'] = self.positions
        if self.chance(0.3):
            scale = rng.choice([1, 1, 0.1, 0])
            out['lagged_velocities'] = [[scale * rng.gauss(0, 1) * self.speed for _ in range(self.dim)]
                                        for _ in self.velocities]
        if any('normal_force' not in f for f in collisions.values()) or self.chance(0.2):
            out['barrier'] = {'dhat': self.dhat, 'stiffness': 10 ** rng.uniform(-2, 6)}
            if self.dmin or self.chance(0.2):
                out['barrier']['dmin'] = self.number(self.dmin)
            if self.chance(0.7):
                out['barrier']['type'] = rng.choice(barriers.TYPES)
            if self.chance(0.5):
                out['barrier']['scaling'] = rng.choice(['none', 'physical'])
        self.outputs()
        if self.skip:
            out['on_degenerate'] = 'skip'
        elif self.chance(0.2):
            out['on_degenerate'] = 'error'

    def outputs(self):
        rng, out = self.rng, self.out
        if self.chance(0.85):
            out['outputs'] = rng.sample(OUTPUTS, rng.choice([1, 2, 3, 4, 4, 4]))
        if self.collision_outputs and 'collisions' in out.get('outputs', []):
            out['collision_outputs'] = self.collision_outputs
        if self.chance(0.85):
            h = out['hessian'] = {}
            form = rng.choice(['triplets', 'csr', 'factors', None])
            if form:
                h['format'] = form
            if form != 'factors' and self.chance(0.7):
                h['triangle'] = rng.choice(['full', 'upper', 'lower'])
            if self.chance(0.7):
                h['projection'] = rng.choice(['none', 'clamp', 'abs'])

    def renumber(self):
        """A random order of the vertices."""
        rng, out = self.rng, self.out
        n = len(self.positions)
        new = list(range(n))
        rng.shuffle(new)

        def moved(rows):
            by_new = [None] * n
            for old, row in enumerate(rows):
                by_new[new[old]] = row
            return by_new
        def renamed(value):
            return [renamed(x) for x in value] if isinstance(value, list) else new[value]
        for k in ('velocities', 'positions', 'lagged_velocities'):
            if k in out:
                out[k] = self.shaped(moved(out[k]))
        f = out.get('friction', {})
        for k in ('vertex_mu', 'vertex_mu_s', 'vertex_mu_k'):
            if k in f:
                f[k] = moved(f[k])
        if 'materials' in f:
            f['materials']['vertex_material'] = moved(f['materials']['vertex_material'])
        for g in out['collisions'].values():
            g['vertices'] = renamed(g['vertices'])

    def knot(self, contact):
        """eps_v / y at 1, or where parts of the transition meet."""
        if self.transition != 'peak' or not any(contact.mu):
            return self.rng.choice([1, 1, 2])
        return 1 / float(self.rng.choice([1, *peak.knots(*contact.mu)]))

    def near_transition(self):
        """Sets eps_v of every contact of some groups to just next to a knot."""
        try:
            evaluation = oracle.Evaluation(self.out)
        except oracle.Refused:
            return
        margins = oracle.Margins()
        for g, contacts in evaluation.groups.items():
            if self.chance(0.5) or not contacts or any(c.skipped for c in contacts):
                continue
            speeds = [float(oracle.norm(c.slip(evaluation.motion, margins)[1])) for c in contacts]
            if all(s > 0 for s in speeds):
                self.out['collisions'][g]['eps_v'] = [
                    s * self.knot(c) * (1 + self.rng.choice([-1, 1]) * 10 ** self.rng.uniform(-5, -2))
                    for s, c in zip(speeds, contacts)]


def main():
    import json
    first, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for seed in range(first, first + count):
        print(json.dumps(request(seed, *sys.argv[3:])))


if __name__ == '__main__':
    main()
