"""A second, slow implementation of POST /v1/evaluate in 60-digit arithmetic, which maps the document of a request to
the document of the answer.

Written only from the HTTP contract and the formulas, not from the service's code. It assumes valid requests; faults
that depend on computed values (degenerate geometry, penetration, negative coefficients, overflow) raise Refused.
"""
import os
import sys

from mpmath import mpf, sqrt

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import barriers  # noqa: E402
import contacts  # noqa: E402
import features  # noqa: E402
import laws  # noqa: E402
from algebra import Degenerate, Margins, dot, flat, minus, norm, per_contact, real, reals, table, unit  # noqa: E402
from bodies import BodyContact  # noqa: E402
from contact import Contact  # noqa: E402
from geometry import DERIVE, grain_basis, half_space, sides, unit_normal  # noqa: E402
from law import to_double  # noqa: E402

GROUPS = ['vertex_vertex', 'edge_vertex', 'edge_edge', 'face_vertex', 'plane_vertex']
STENCIL = {'vertex_vertex': 2, 'edge_vertex': 3, 'edge_edge': 4, 'face_vertex': 4, 'plane_vertex': 1}
BETA = {'vertex_vertex': 0, 'edge_vertex': 1, 'edge_edge': 2, 'face_vertex': 2, 'plane_vertex': 0}
BODY_GROUPS = {'body_body': 2, 'body_world': 1}  # bodies per contact
DEFAULT_OUTPUTS = ['potential', 'gradient', 'hessian']
BARRIER_OUTPUTS = ['current_feature', 'current_distance', 'barrier_potential', 'barrier_force']
DEFAULT_COLLISION_OUTPUTS = ['potential', 'tangential_velocity']


class Refused(Exception):
    def __init__(self, pointer, reason):
        super().__init__(f'{pointer}: {reason}')
        self.pointer, self.reason = pointer, reason


# --- normal force, coefficients ---------------------------------------------------------------------------------

def barrier_force(distance, barrier, margins):
    dhat, kappa, dmin = (real(barrier.get(k, 0)) for k in ('dhat', 'stiffness', 'dmin'))
    top = (2 * dmin + dhat) * dhat
    big_d = distance**2 - dmin**2
    margins.see(distance / (dmin + dhat) - 1, 100)
    if dmin:
        margins.see(distance / dmin - 1, 1000)
    if big_d <= 0:
        raise Degenerate('penetration')
    if big_d >= top:
        return mpf(0)
    return barriers.force(barrier.get('type', 'clamped_log'), barrier.get('scaling', 'none'), distance, dhat, dmin, kappa)


def blend_values(how, a, b, margins):
    if how == 'mean':
        return (a + b) / 2
    if how == 'min':
        return min(a, b)
    if how == 'max':
        return max(a, b)
    if how == 'product':
        return a * b
    if how == 'geometric_mean':
        if a * b < 0:
            margins.see(mpf(0))  # the mean is not real; the contract does not define this case
            raise Degenerate('negative_coefficient')
        if a < 0:
            margins.see(mpf(0))
        return sqrt(a * b)
    if a < 0 or b < 0:
        margins.see((a + b) / max(abs(a), abs(b)))
        if a < 0 and b < 0:
            pass  # the harmonic mean is negative as well
    return 2 * a * b / (a + b) if a + b else mpf(0)


def blend_name(friction):
    return friction.get('blend', 'mean')


class Coefficients:
    """Coefficients from the source given under `friction`."""

    def __init__(self, friction):
        self.friction = friction
        materials = friction.get('materials')
        if materials:
            self.plane = materials.get('plane_material')
            self.size = int(len(flat(materials.get('mu', materials.get('mu_s')))) ** 0.5 + 0.5)
            self.table = [table(materials.get('mu', materials.get(k)), self.size, self.size) for k in ('mu_s', 'mu_k')]
        vertex = [friction.get('vertex_mu', friction.get(k)) for k in ('vertex_mu_s', 'vertex_mu_k')]
        self.vertex = [reals(v) for v in vertex] if vertex[0] is not None else None

    def of(self, contact, kind, margins):
        if 'materials' in self.friction:
            a, b = self.materials(contact)
            return sum((x * y * self.table[kind][i][j] for x, i in a for y, j in b), mpf(0))
        if self.vertex:
            a, b = sides(contact.group, contact.beta)
            left, right = contact.members[:len(a)], contact.members[len(a):]
            values = [dot(w, [self.vertex[kind][v] for v in vs]) for w, vs in ((a, left), (b, right))]
            return blend_values(blend_name(self.friction), *values, margins) if b else values[0]
        return real(self.friction.get('mu', self.friction.get(('mu_s', 'mu_k')[kind])))

    def materials(self, contact):
        """[(weight, material)] of the two sides"""
        one, materials = mpf(1), self.friction['materials']
        if contact.group in BODY_GROUPS:
            pair = [(one, materials['body_material'][b]) for b in contact.members]
            return pair[:1], pair[1:] or [(one, self.plane)]
        a, b = sides(contact.group, contact.beta)
        named = [(w, materials['vertex_material'][v]) for w, v in zip(a + b, contact.members)]
        return named[:len(a)], named[len(a):] or [(one, self.plane)]


# --- the request ------------------------------------------------------------------------------------------------

PER_CONTACT = {'normal_force': 1, 'weight': 1, 'mu': 1, 'mu_s': 1, 'mu_k': 1, 'eps_v': 1, 'mu_s_aniso': 2, 'mu_k_aniso': 2,
               'stribeck_speed': 1, 'viscous': 1, 'spin_radius': 1, 'roll_radius': 1, 'mollifier': 1}
VECTORS = ('plane_normal', 'plane_origin', 'surface_velocity', 'anchor', 'grain', 'point', 'normal')


class Evaluation:
    def __init__(self, request, margins=None):
        self.request, self.dim = request, request['dim']
        self.margins = margins or Margins()
        d, twist = self.dim, 3 * self.dim - 3
        self.terms = request.get('terms', contacts.FRICTION_TERMS)
        self.time_step = real(request.get('time_step', 1))
        rows = [request[k] for k in ('velocities', 'current_positions', 'positions') if k in request]
        self.n_vertices = len(flat(rows[0] if rows else [])) // d
        self.n_bodies = len(flat(request.get('body_positions', []))) // d
        self.n_dofs = self.n_vertices * d + self.n_bodies * twist
        self.motion = self.moving('velocities', 'body_velocities', None)
        self.lagged = self.moving('lagged_velocities', 'lagged_body_velocities', self.motion)
        self.follows = [name in request for name in ('lagged_velocities', 'lagged_body_velocities')]
        self.positions = table(request['positions'], self.n_vertices, d) if 'positions' in request else None
        current = request.get('current_positions', request.get('positions'))
        self.current = table(current, self.n_vertices, d) if current is not None and (
            'barrier' in self.terms or 'longest_step' in request) else None
        self.body_positions = table(request.get('body_positions', []), self.n_bodies, d)
        self.friction = request.get('friction', {})
        self.law = laws.of(self.friction)
        self.coefficients = Coefficients(self.friction)
        self.rows = {}
        self.groups = {g: self.prepare_group(g) for g in [*GROUPS, *BODY_GROUPS] if g in request['collisions']}

    def moving(self, vertices, bodies, otherwise):
        """(velocities, twists) from a request's two fields, or from other values in their place."""
        if 'friction' not in self.terms:
            return [], []
        sizes = [(vertices, self.n_vertices, self.dim), (bodies, self.n_bodies, 3 * self.dim - 3)]
        return tuple(table(self.request[name], n, m) if name in self.request else otherwise[i] if otherwise else []
                     for i, (name, n, m) in enumerate(sizes))

    def prepare_group(self, group):
        fields, d = self.request['collisions'][group], self.dim
        name, size = ('bodies', BODY_GROUPS[group]) if group in BODY_GROUPS else ('vertices', STENCIL[group])
        members = flat(fields[name])
        n = len(members) // size
        shapes = {**PER_CONTACT, **{k: d for k in VECTORS}, 'mu_aniso': d - 1, 'tangent_basis': d * (d - 1),
                  'closest_point': BETA.get(group)}
        self.rows[group] = rows = {k: per_contact(v, n, shapes[k]) for k, v in fields.items() if k != name}
        return [self.prepare(group, i, members[i * size:(i + 1) * size], {k: v[i] for k, v in rows.items()})
                for i in range(n)]

    def prepare(self, group, index, members, row):
        c = (BodyContact if group in BODY_GROUPS else Contact)(self, group, index, members)
        c.read(row)
        c.time_step = self.time_step
        has_distance = group not in BODY_GROUPS and 'tangent_basis' not in row and (group != 'plane_vertex' or (
            'plane_origin' in row and self.positions is not None))
        try:
            if 'friction' in self.terms:
                self.lag(c, row)
            if 'barrier' in self.terms:
                c.acting = contacts.Acting(c, [self.current[v] for v in members], row, self.request, self.margins)
        except Degenerate as fault:
            if self.request.get('on_degenerate') != 'skip':
                name = 'bodies' if group in BODY_GROUPS else 'vertices'
                raise Refused(f'/collisions/{group}/{name}/{index}', str(fault)) from None
            if has_distance:
                c.distance = mpf(0)
            c.clear(str(fault), BETA.get(group, 0))
            c.acting = contacts.Absent(c, self.dim)
        return c

    def lag(self, c, row):
        if c.group in BODY_GROUPS:
            c.lag(row, self.body_positions, self.margins)
        else:
            self.lag_stencil(c, row)
        c.mu = [self.coefficient(c, row, kind) for kind in (0, 1)]
        if c.mollified:
            c.rest()
            return
        ellipses = [row.get('mu_s_aniso'), row.get('mu_k_aniso')]
        if any(e is not None for e in ellipses):
            c.choose_matchstick(self.lagged, self.follows[c.group in BODY_GROUPS], ellipses, self.margins)

    def lag_stencil(self, c, row):
        p = [self.positions[v] for v in c.vertices] if self.positions is not None else None
        c.feature, searched = features.whole(c.group), contacts.searches(c, row, self.request)
        if 'tangent_basis' in row:
            c.basis, c.beta = table(row['tangent_basis'], self.dim, self.dim - 1), row.get('closest_point', [])
        elif c.group == 'plane_vertex':
            c.beta, c.basis, c.distance = half_space(p, row['plane_normal'], row.get('plane_origin'))
            c.normal = unit(row['plane_normal'])
        elif searched:
            c.feature = contacts.find(c, p, searched, self.margins)
            c.beta, c.basis, c.distance, c.normal = contacts.derive(c, p, self.margins)
            c.mollified = contacts.is_mollified(p, contacts.mollifier(row), self.margins)
        else:
            c.beta, c.basis, c.distance = DERIVE[c.group](p, self.margins)
            c.normal = unit_normal(c.group, p)
            self.margins.lost(c.distance / max(norm(minus(x, p[0])) for x in p))
        if 'grain' in row:
            c.basis = grain_basis(row['grain'], c.normal, self.margins)
        if 'normal_force' in row:
            c.force = row['normal_force'][0]
        else:
            c.force = barrier_force(c.distance, self.request['barrier'], self.margins)

    def coefficient(self, c, row, kind):
        own = row.get('mu', row.get(('mu_s', 'mu_k')[kind]))
        if own is not None:
            return own[0]
        mu = self.coefficients.of(c, kind, self.margins)
        if mu:
            self.margins.see(mu, 1)
        if mu < -mpf('1e-50'):  # a zero may be off by rounding where numbers are complex (derivatives.py)
            raise Degenerate('negative_coefficient')
        return mu

    def all(self):
        return [c for contacts in self.groups.values() for c in contacts]

    def active(self):
        return [c for c in self.all() if not c.skipped]

    def move(self, motion, projection='none', margins=None):
        for c in self.active():
            if 'friction' in self.terms and not c.mollified:
                c.at(motion, projection, margins or self.margins)
            if 'barrier' in self.terms:
                c.acting.block = c.acting.matrix(projection)

    def gradient_of(self, c):
        parts = [c.local_gradient()] if 'friction' in self.terms else []
        parts += [c.acting.gradient] if 'barrier' in self.terms else []
        return [sum(x) for x in zip(*parts)]

    def matrix_of(self, c):
        """The barrier's Hessian times the time step."""
        parts = [c.local_matrix()] if 'friction' in self.terms else []
        if 'barrier' in self.terms:
            parts.append([[self.time_step * x for x in row] for row in getattr(c.acting, 'block', c.acting.hessian)])
        return [[sum(x) for x in zip(*rows)] for rows in zip(*parts)]

    # --- answers ------------------------------------------------------------------------------------------------

    def answer(self):
        request = self.request
        options = request.get('hessian', {})
        self.move(self.motion, options.get('projection', 'none'))
        wanted = request.get('outputs', DEFAULT_OUTPUTS)
        out = {'n_vertices': self.n_vertices, 'n_collisions': len(self.all())}
        if 'body_positions' in request:
            out['n_bodies'] = self.n_bodies
        if 'potential' in wanted:
            out['potential'] = doubles(self.potential())
        if 'gradient' in wanted:
            vertices, bodies = self.split(self.gradient())
            out['gradient'] = doubles(vertices)
            if 'body_positions' in request:
                out['body_gradient'] = doubles(bodies)
        if 'hessian' in wanted:
            out['hessian'] = self.hessian(options.get('format', 'triplets'), options.get('triangle', 'full'))
            if not options.get('pattern', True):
                out['hessian'] = {k: v for k, v in out['hessian'].items() if k in ('format', 'shape', 'values', 'data')}
        if 'collisions' in wanted:
            names = request.get('collision_outputs', DEFAULT_COLLISION_OUTPUTS)
            out['collisions'] = {g: self.outputs(g, names) for g in self.groups}
        if 'hessian_products' in wanted:  # uses the velocities of the request, which `line` replaces
            products = self.products(request['vectors'])
        if 'line' in wanted:
            out['line'] = self.line(request['line'])
        if 'hessian_products' in wanted:
            out['hessian_products'] = products
        if 'longest_step' in wanted:
            out['longest_step'] = self.longest_step()
        if request.get('on_degenerate') == 'skip':
            out['skipped'] = [{'group': c.group, 'index': c.index, 'reason': c.skipped} for c in self.all()
                              if c.skipped]
        return out

    def split(self, dofs):
        """(the vertices' part, flat; the bodies' part, in rows)"""
        n, k = self.n_vertices * self.dim, 3 * self.dim - 3
        return dofs[:n], [dofs[n + b * k:n + (b + 1) * k] for b in range(self.n_bodies)]

    def products(self, vectors):
        """Uses the blocks; the whole matrix is not formed."""
        n = self.n_dofs
        rows = table(vectors, len(flat(vectors)) // n, n)
        out = [[mpf(0)] * n for _ in rows]
        for c in self.active():
            dofs, matrix = c.dofs(self.n_vertices), self.matrix_of(c)
            for x, product in zip(rows, out):
                there = [x[i] for i in dofs]
                for i, row in zip(dofs, matrix):
                    product[i] += dot(row, there)
        return [doubles(product) for product in out]

    def line(self, line):
        """Potential and slope at the velocities v + t d, without rounding."""
        d, k = self.dim, 3 * self.dim - 3
        direction = (table(line.get('direction', []), self.n_vertices, d),
                     table(line.get('body_direction', []), self.n_bodies, k))
        along = [x for part in direction for row in part for x in row]
        potential, slope = [], []
        for t in reals(line['steps']):
            self.move(tuple([[v + t * d for v, d in zip(*rows)] for rows in zip(*parts)]
                            for parts in zip(self.motion, direction)))
            potential.append(self.potential())
            slope.append(dot(self.gradient(), along))
        return {'potential': doubles(potential), 'slope': doubles(slope)}

    def paths(self):
        """[(contact, how its pair moves)]"""
        n, d = self.n_vertices, self.dim
        moves, dmin = reals(self.request['longest_step']['direction']), self.request.get('barrier', {}).get('dmin', 0)
        moves = table(moves, n, d)
        for c in self.active():
            row = {k: v[c.index] for k, v in self.rows[c.group].items()}
            plane = (row['plane_normal'], row['plane_origin']) if c.group == 'plane_vertex' else None
            points, motion = ([[float(x) for x in rows[v]] for v in c.members] for rows in (self.current, moves))
            plane = [[float(x) for x in v] for v in plane] if plane else None
            yield c, contacts.Path(c.group, c.members, points, motion, dmin, plane)

    def longest_step(self):
        """The largest step of all, of which the service may answer any t >= 0.8 times as long."""
        keep, least = self.request['longest_step'].get('keep', 0.1), None
        for c, path in self.paths():
            if path.gap(0) <= 0:
                raise Refused(f'/collisions/{c.group}/vertices/{c.index}', 'penetration')
            safe, unsafe = path.bounds(keep)
            if unsafe is not None and (least is None or safe < least[0]):
                least = safe, c
        if least is None:
            return {'step': 1.0, 'group': None, 'vertices': None}
        return {'step': least[0], 'group': least[1].group, 'vertices': list(least[1].members)}

    def potential(self):
        friction = [c.potential for c in self.all()] if 'friction' in self.terms else []
        barrier = [c.acting.potential / self.time_step for c in self.all()] if 'barrier' in self.terms else []
        return sum(friction + barrier, mpf(0))

    def gradient(self):
        """One entry per degree of freedom, flat."""
        out = [mpf(0)] * self.n_dofs
        for c in self.active():
            for dof, x in zip(c.dofs(self.n_vertices), self.gradient_of(c)):
                out[dof] += x
        return out

    def triplets(self, triangle):
        for c in self.all():
            dofs, matrix = c.dofs(self.n_vertices), self.matrix_of(c)
            for row, entries in zip(dofs, matrix):
                for col, value in zip(dofs, entries):
                    if triangle == 'full' or row == col or (row < col) == (triangle == 'upper'):
                        yield row, col, value

    def hessian(self, form, triangle):
        ndof = self.n_dofs
        out = {'format': form, 'shape': [ndof, ndof]}
        if form == 'factors':
            return {**out, **{g: self.factors(g) for g in self.groups}}
        if form == 'bsr':
            return {**out, **self.blocks(triangle)}
        entries = list(self.triplets(triangle))
        if form == 'triplets':
            out.update(rows=[e[0] for e in entries], cols=[e[1] for e in entries],
                       values=doubles([e[2] for e in entries]))
            return out
        merged = {}
        for row, col, value in entries:
            merged[row, col] = merged.get((row, col), mpf(0)) + value
        keys = sorted(merged)
        counts = [0] * (ndof + 1)
        for row, _ in keys:
            counts[row + 1] += 1
        for i in range(ndof):
            counts[i + 1] += counts[i]
        out.update(indptr=counts, indices=[col for _, col in keys], data=doubles([merged[k] for k in keys]))
        return out

    def factors(self, group):
        names = ('jacobian', 'inner') if group in BODY_GROUPS else ('weights', 'tangent_basis', 'inner')
        made = [c.factors() for c in self.groups[group]]
        return {name: doubles([f[name] for f in made]) for name in names}

    def blocks(self, triangle):
        """Rows of blocks; blocks on the diagonal are whole."""
        assert not self.n_bodies
        d, merged = self.dim, {}
        for row, col, value in self.triplets('full'):
            r, c = row // d, col // d
            if triangle == 'full' or (r <= c if triangle == 'upper' else r >= c):
                block = merged.setdefault((r, c), [[mpf(0)] * d for _ in range(d)])
                block[row % d][col % d] += value
        keys = sorted(merged)
        counts = [sum(r < v for r, _ in keys) for v in range(self.n_vertices + 1)]
        return {'indptr': counts, 'indices': [c for _, c in keys], 'data': doubles([merged[k] for k in keys])}

    def outputs(self, group, names):
        contacts, fields = self.groups[group], self.request['collisions'][group]
        absent = set() if group in BODY_GROUPS else {'spin', 'rolling'}
        if self.dim == 2:
            absent.add('spin')
        if not BETA.get(group):
            absent.add('closest_point')
        if 'tangent_basis' in fields:
            absent.add('normal')
        if group in BODY_GROUPS or 'tangent_basis' in fields or (
                group == 'plane_vertex' and ('plane_origin' not in fields or self.positions is None)):
            absent.add('distance')
        if 'friction' not in self.terms:
            absent.update(set(names) - set(BARRIER_OUTPUTS))
        if 'barrier' not in self.terms:
            absent.update(BARRIER_OUTPUTS)
        return {k: doubles([c.output(k) for c in contacts]) for k in names if k not in absent}


def doubles(value):
    if isinstance(value, list):
        return [doubles(x) for x in value]
    if isinstance(value, int):
        return value
    value = to_double(value)
    if value in (float('inf'), float('-inf')):
        raise Refused('', 'not finite')
    return value


def evaluate(request, margins=None):
    return Evaluation(request, margins).answer()
