"""POST /v1/evaluate implemented a second time, slowly: document of the request in, document of the answer out, in
60-digit arithmetic.

Written only from the HTTP contract and the formulas, not from the service's code. It assumes valid requests; faults
that depend on computed values (degenerate geometry, penetration, negative coefficients, overflow) raise Refused.
"""
import os
import sys
from fractions import Fraction

from mpmath import mp, mpf, sqrt

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from law import law, to_double  # noqa: E402

mp.dps = 60

GROUPS = ['vertex_vertex', 'edge_vertex', 'edge_edge', 'face_vertex', 'plane_vertex']
STENCIL = {'vertex_vertex': 2, 'edge_vertex': 3, 'edge_edge': 4, 'face_vertex': 4, 'plane_vertex': 1}
BETA = {'vertex_vertex': 0, 'edge_vertex': 1, 'edge_edge': 2, 'face_vertex': 2, 'plane_vertex': 0}
DEFAULT_OUTPUTS = ['potential', 'gradient', 'hessian']
DEFAULT_COLLISION_OUTPUTS = ['potential', 'tangential_velocity']


class Refused(Exception):
    def __init__(self, pointer, reason):
        super().__init__(f'{pointer}: {reason}')
        self.pointer, self.reason = pointer, reason


class Degenerate(Exception):
    """A fault of one contact, which may be skipped."""


# --- arrays -----------------------------------------------------------------------------------------------------

def real(x):
    return mpf(float(x))


def flat(value):
    if isinstance(value, (list, tuple)):
        return [x for row in value for x in flat(row)]
    return [value]


def reals(value):
    return [real(x) for x in flat(value)]


def table(value, rows, columns):
    values = reals(value)
    assert len(values) == rows * columns, (len(values), rows, columns)
    return [values[i * columns:(i + 1) * columns] for i in range(rows)]


def per_contact(value, n, m):
    """The n rows of an [n, m] field, also if one row stands for all."""
    values = reals(value)
    if len(values) == m and n != 1:
        return [values] * n
    return table(values, n, m)


# --- vectors ----------------------------------------------------------------------------------------------------

def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b)), mpf(0))


def norm(a):
    return sqrt(dot(a, a))


def unit(a):
    length = norm(a)
    return [x / length for x in a]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def columns(*vectors):
    return [list(row) for row in zip(*vectors)]


def largest(*points):
    return max(abs(x) for p in points for x in p)


# --- one contact's geometry -------------------------------------------------------------------------------------

class Margins:
    """How close a request comes to decisions that rounding could change; for the generator of random requests."""

    def __init__(self):
        self.worst = mpf(1)

    def see(self, ratio, floor=1):
        """`ratio` is the distance to a threshold, relative to it; `floor` (times 1e-6) is what still counts as safe."""
        if ratio is not None:
            self.worst = min(self.worst, abs(ratio) / floor)


def require_length(vector, ends, reason, margins):
    limit, length = largest(*ends) * mpf('1e-15'), norm(vector)
    if limit:
        margins.see(length / limit - 1, 1000)
    if length <= limit:
        raise Degenerate(reason)


def require_area(product, a, b, reason, margins):
    limit = mpf('1e-12') * norm(a) * norm(b)
    length = norm(product)
    if limit:
        margins.see(length / limit - 1, 1000)
    if length <= limit:
        raise Degenerate(reason)


def normal_basis(n, exact_n):
    """The vertex_vertex rule; exact_n decides which axis, without rounding."""
    if len(n) == 2:
        m = unit(n)
        return columns([-m[1], m[0]])
    x, y = mpf(1), mpf(0)
    c = cross([x, y, y], n) if abs(exact_n[1]) > abs(exact_n[0]) else cross([y, x, y], n)
    return columns(unit(c), unit(cross(n, c)))


def exact(point):
    """As fractions, which only numbers that are doubles allow."""
    return [Fraction(to_double(x)) for x in point]


def solve_gram(a, b, d):
    """x, y minimising |x a + y b - d|. Precision makes up for the squared condition number."""
    aa, ab, bb, ad, bd = dot(a, a), dot(a, b), dot(b, b), dot(a, d), dot(b, d)
    det = aa * bb - ab * ab
    return [(ad * bb - bd * ab) / det, (bd * aa - ad * ab) / det]


def point_line(p, margins):
    e, r = minus(p[2], p[1]), minus(p[0], p[1])
    require_length(e, p[1:], 'zero_length_edge', margins)
    alpha = dot(r, e) / dot(e, e)
    if len(e) == 2:
        return [alpha], columns(unit(e)), abs(e[0] * r[1] - e[1] * r[0]) / norm(e)
    limit = largest(*p[:2]) * mpf('1e-15')
    if norm(r) <= limit:
        raise Degenerate('vertex_on_edge')
    area = cross(e, r)
    require_area(area, e, r, 'vertex_on_edge', margins)
    return [alpha], columns(unit(e), unit(area)), norm(area) / norm(e)


def line_line(p, margins):
    a, b = minus(p[1], p[0]), minus(p[3], p[2])
    require_length(a, p[:2], 'zero_length_edge', margins)
    require_length(b, p[2:], 'zero_length_edge', margins)
    n = cross(a, b)
    require_area(n, a, b, 'parallel_edges', margins)
    d = minus(p[2], p[0])
    beta = solve_gram(a, [-x for x in b], d)
    return beta, columns(unit(a), unit(cross(n, a))), abs(dot(n, d)) / norm(n)


def point_plane(p, margins):
    e, f = minus(p[2], p[1]), minus(p[3], p[1])
    require_length(e, p[1:3], 'collapsed_triangle', margins)
    require_length(f, [p[1], p[3]], 'collapsed_triangle', margins)
    n = cross(e, f)
    require_area(n, e, f, 'collapsed_triangle', margins)
    r = minus(p[0], p[1])
    return solve_gram(e, f, r), columns(unit(e), unit(cross(n, e))), abs(dot(n, r)) / norm(n)


def point_point(p, margins):
    n = minus(p[1], p[0])
    require_length(n, p, 'coincident_vertices', margins)
    exact_n = [b - a for a, b in zip(exact(p[0]), exact(p[1]))]
    return [], normal_basis(n, exact_n), norm(n)


def half_space(p, normal, origin):
    basis = normal_basis(normal, exact(normal))
    distance = abs(dot(unit(normal), minus(p[0], origin))) if p and origin else None
    return [], basis, distance


DERIVE = {'vertex_vertex': point_point, 'edge_vertex': point_line, 'edge_edge': line_line, 'face_vertex': point_plane}


def sides(group, beta):
    """Barycentric weights of the two primitives, in the order of the stencil."""
    one = mpf(1)
    if group == 'vertex_vertex':
        return [one], [one]
    if group == 'edge_vertex':
        return [one], [1 - beta[0], beta[0]]
    if group == 'edge_edge':
        return [1 - beta[0], beta[0]], [1 - beta[1], beta[1]]
    if group == 'face_vertex':
        return [one], [1 - beta[0] - beta[1], beta[0], beta[1]]
    return [one], []


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
    x = big_d - top
    return kappa * (2 * x * mp.log(big_d / top) + x * x / big_d) * 2 * distance


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
            margins.see(mpf(0))  # the mean is not real, a case that the contract leaves open
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
    """The source under `friction`."""

    def __init__(self, friction, n_vertices):
        self.friction = friction
        materials = friction.get('materials')
        if materials:
            self.material, self.plane = materials['vertex_material'], materials.get('plane_material')
            self.size = int(len(flat(materials.get('mu', materials.get('mu_s')))) ** 0.5 + 0.5)
            self.table = [table(materials.get('mu', materials.get(k)), self.size, self.size) for k in ('mu_s', 'mu_k')]
        vertex = [friction.get('vertex_mu', friction.get(k)) for k in ('vertex_mu_s', 'vertex_mu_k')]
        self.vertex = [reals(v) for v in vertex] if vertex[0] is not None else None

    def of(self, group, vertices, beta, kind, margins):
        a, b = sides(group, beta)
        left, right = vertices[:len(a)], vertices[len(a):]
        if 'materials' in self.friction:
            rows = [(w, self.material[v]) for w, v in zip(a, left)]
            cols = [(mpf(1), self.plane)] if group == 'plane_vertex' else [(w, self.material[v]) for w,
                                                                           v in zip(b, right)]
            return sum((x * y * self.table[kind][i][j] for x, i in rows for y, j in cols), mpf(0))
        if self.vertex:
            values = [dot(w, [self.vertex[kind][v] for v in vs]) for w, vs in ((a, left), (b, right))]
            return values[0] if group == 'plane_vertex' else blend_values(blend_name(self.friction), *values, margins)
        return real(self.friction.get('mu', self.friction.get(('mu_s', 'mu_k')[kind])))


# --- a contact --------------------------------------------------------------------------------------------------

class Contact:
    """The lagged quantities of one contact, and its evaluation at given velocities."""
    skipped = None

    def weights(self):
        a, b = sides(self.group, self.beta)
        return a + [-x for x in b]

    def slip(self, velocities, margins):
        w = self.weights()
        gamma = [sum((x * velocities[v][axis] for x, v in zip(w, self.vertices)), mpf(0)) for axis in range(self.dim)]
        u = [sum((self.basis[r][c] * gamma[r] for r in range(self.dim)), mpf(0)) for c in range(self.dim - 1)]
        size = sum((abs(x) * norm(velocities[v]) for x, v in zip(w, self.vertices)), mpf(0))
        size *= max(norm(column) for column in zip(*self.basis))
        if size and not self.skipped:
            margins.see(norm(u) / size, 10)
        return u

    def choose_matchstick(self, lagged, ellipses, margins):
        u = self.slip(lagged, margins)
        scaled = [a * x for a, x in zip(self.aniso, u)]
        limit = mpf('1e-10') * self.eps
        margins.see(norm(scaled) / limit - 1, 1000)
        t = [mpf(1), mpf(0)] if norm(scaled) < limit else unit(scaled)
        for kind, ellipse in enumerate(ellipses):
            if ellipse is not None and any(ellipse):
                self.mu[kind] = norm([ellipse[0] * t[0], ellipse[1] * t[1]])

    def at(self, velocities, transition, projection, margins):
        self.u = self.slip(velocities, margins)
        scaled = [a * x for a, x in zip(self.aniso, self.u)]
        y = norm(scaled)
        if y != self.eps:
            margins.see(y / self.eps - 1)
        s = self.weight * self.force
        self.y = y
        self.potential = s * self.law('f0', y, transition)
        slope = s * self.law('f1_over_x', y, transition)
        self.force_vector = [sum((self.basis[r][c] * self.aniso[c] * slope * scaled[c] for c in range(self.dim - 1)),
                                 mpf(0))
                             for r in range(self.dim)]
        along, across = s * self.law('f2', y, transition), slope
        if projection == 'clamp':
            along, across = max(along, mpf(0)), max(across, mpf(0))
        elif projection == 'abs':
            along, across = abs(along), abs(across)
        self.inner = self.inner_matrix(along, across, scaled, y)

    def law(self, name, y, transition):
        return law(name, y, self.mu[0], self.mu[1], self.eps, transition)

    def inner_matrix(self, along, across, scaled, y):
        m = self.dim - 1
        if m == 1:
            return [[along * self.aniso[0] ** 2]]
        t = [x / y for x in scaled] if y else [mpf(0)] * m
        return [[self.aniso[i] * self.aniso[j] * ((across if i == j else 0) + (along - across) * t[i] * t[j])
                 for j in range(m)] for i in range(m)]

    def block(self):
        """[dim, dim]; the block of vertices i, j is w_i w_j times this."""
        m, d = self.dim - 1, self.dim
        return [[sum((self.basis[r][i] * self.inner[i][j] * self.basis[c][j] for i in range(m) for j in range(m)),
                     mpf(0))
                 for c in range(d)] for r in range(d)]

    def clear(self, reason):
        """A skipped contact: zeros everywhere."""
        d, zero = self.dim, mpf(0)
        self.skipped = reason
        self.zero_weights = [zero] * STENCIL[self.group]
        self.weights = lambda: self.zero_weights
        self.beta, self.basis = [zero] * BETA[self.group], [[zero] * (d - 1) for _ in range(d)]
        self.mu, self.force, self.potential, self.y = [zero, zero], zero, zero, zero
        self.u, self.force_vector = [zero] * (d - 1), [zero] * d
        self.distance = None if self.distance is None else zero
        self.inner = [[zero] * (d - 1) for _ in range(d - 1)]


class Evaluation:
    def __init__(self, request, margins=None):
        self.request, self.dim = request, request['dim']
        self.margins = margins or Margins()
        values = flat(request['velocities'])
        self.n_vertices = len(values) // self.dim
        self.velocities = table(values, self.n_vertices, self.dim)
        self.lagged = table(request.get('lagged_velocities', values), self.n_vertices, self.dim)
        self.positions = table(request['positions'], self.n_vertices, self.dim) if 'positions' in request else None
        self.friction = request.get('friction', {})
        self.coefficients = Coefficients(self.friction, self.n_vertices)
        self.transition = self.friction.get('mu_transition', 'cubic')
        self.groups = {g: self.prepare_group(g) for g in GROUPS if g in request['collisions']}

    def prepare_group(self, group):
        fields = self.request['collisions'][group]
        n = len(flat(fields['vertices'])) // STENCIL[group]
        stencils = [flat(fields['vertices'])[i * STENCIL[group]:(i + 1) * STENCIL[group]] for i in range(n)]
        shapes = {'normal_force': 1, 'weight': 1, 'mu': 1, 'mu_s': 1, 'mu_k': 1, 'eps_v': 1, 'mu_aniso': self.dim - 1,
                  'mu_s_aniso': 2, 'mu_k_aniso': 2, 'closest_point': BETA[group], 'plane_normal': self.dim,
                  'tangent_basis': self.dim * (self.dim - 1), 'plane_origin': self.dim}
        rows = {k: per_contact(v, n, shapes[k]) for k, v in fields.items() if k != 'vertices'}
        return [self.prepare(group, i, stencils[i], {k: v[i] for k, v in rows.items()}) for i in range(n)]

    def prepare(self, group, index, vertices, row):
        c = Contact()
        c.group, c.index, c.vertices, c.dim, c.distance = group, index, vertices, self.dim, None
        c.weight = row.get('weight', [mpf(1)])[0]
        c.eps = row['eps_v'][0] if 'eps_v' in row else real(self.friction['eps_v'])
        c.aniso = row.get('mu_aniso', [mpf(1)] * (self.dim - 1))
        c.has_distance = 'tangent_basis' not in row and (group != 'plane_vertex' or (
            'plane_origin' in row and self.positions is not None))
        try:
            self.lag(c, row)
        except Degenerate as fault:
            if self.request.get('on_degenerate') != 'skip':
                raise Refused(f'/collisions/{group}/vertices/{index}', str(fault)) from None
            if c.has_distance:
                c.distance = mpf(0)
            c.clear(str(fault))
        return c

    def lag(self, c, row):
        p = [self.positions[v] for v in c.vertices] if self.positions is not None else None
        if 'tangent_basis' in row:
            c.basis, c.beta = table(row['tangent_basis'], self.dim, self.dim - 1), row.get('closest_point', [])
        elif c.group == 'plane_vertex':
            c.beta, c.basis, c.distance = half_space(p, row['plane_normal'], row.get('plane_origin'))
        else:
            c.beta, c.basis, c.distance = DERIVE[c.group](p, self.margins)
            self.margins.see(c.distance / max(norm(minus(x, p[0])) for x in p), mpf('0.1'))  # digits of a tiny distance
        if 'normal_force' in row:
            c.force = row['normal_force'][0]
        else:
            c.force = barrier_force(c.distance, self.request['barrier'], self.margins)
        c.mu = [self.coefficient(c, row, kind) for kind in (0, 1)]
        ellipses = [row.get('mu_s_aniso'), row.get('mu_k_aniso')]
        if any(e is not None for e in ellipses):
            c.choose_matchstick(self.lagged, ellipses, self.margins)

    def coefficient(self, c, row, kind):
        own = row.get('mu', row.get(('mu_s', 'mu_k')[kind]))
        if own is not None:
            return own[0]
        mu = self.coefficients.of(c.group, c.vertices, c.beta, kind, self.margins)
        if mu:
            self.margins.see(mu, 1)
        if mu < 0:
            raise Degenerate('negative_coefficient')
        return mu

    def all(self):
        return [c for contacts in self.groups.values() for c in contacts]

    # --- answers ------------------------------------------------------------------------------------------------

    def answer(self):
        request = self.request
        options = request.get('hessian', {})
        for c in self.all():
            if not c.skipped:
                c.at(self.velocities, self.transition, options.get('projection', 'none'), self.margins)
        wanted = request.get('outputs', DEFAULT_OUTPUTS)
        out = {'n_vertices': self.n_vertices, 'n_collisions': len(self.all())}
        if 'potential' in wanted:
            out['potential'] = doubles(sum((c.potential for c in self.all()), mpf(0)))
        if 'gradient' in wanted:
            out['gradient'] = doubles(self.gradient())
        if 'hessian' in wanted:
            out['hessian'] = self.hessian(options.get('format', 'triplets'), options.get('triangle', 'full'))
            if not options.get('pattern', True):
                out['hessian'] = {k: v for k, v in out['hessian'].items() if k in ('format', 'shape', 'values', 'data')}
        if 'collisions' in wanted:
            names = request.get('collision_outputs', DEFAULT_COLLISION_OUTPUTS)
            out['collisions'] = {g: self.outputs(g, names) for g in self.groups}
        if 'hessian_products' in wanted:  # of the inner matrices at the velocities, which a line replaces
            products = self.products(request['vectors'])
        if 'line' in wanted:
            out['line'] = self.line(request['line'])
        if 'hessian_products' in wanted:
            out['hessian_products'] = products
        if request.get('on_degenerate') == 'skip':
            out['skipped'] = [{'group': c.group, 'index': c.index, 'reason': c.skipped} for c in self.all()
                              if c.skipped]
        return out

    def products(self, vectors):
        """The matrix is not formed here either, but its blocks are."""
        n = self.n_vertices * self.dim
        rows = table(vectors, len(flat(vectors)) // n, n)
        out = [[mpf(0)] * n for _ in rows]
        for row, col, value in self.triplets('full'):
            for x, product in zip(rows, out):
                product[row] += value * x[col]
        return [doubles(product) for product in out]

    def line(self, line):
        """Potential and slope where velocities are v + t d, which is not rounded."""
        direction = table(line['direction'], self.n_vertices, self.dim)
        potential, slope = [], []
        for t in reals(line['steps']):
            there = [[v + t * d for v, d in zip(*rows)] for rows in zip(self.velocities, direction)]
            for c in self.all():
                if not c.skipped:
                    c.at(there, self.transition, 'none', self.margins)
            potential.append(sum((c.potential for c in self.all()), mpf(0)))
            slope.append(dot(self.gradient(), [d for row in direction for d in row]))
        return {'potential': doubles(potential), 'slope': doubles(slope)}

    def gradient(self):
        out = [mpf(0)] * (self.n_vertices * self.dim)
        for c in self.all():
            for w, v in zip(c.weights(), c.vertices):
                for axis in range(self.dim):
                    out[v * self.dim + axis] += w * c.force_vector[axis]
        return out

    def triplets(self, triangle):
        d = self.dim
        for c in self.all():
            w, m = c.weights(), c.block()
            for i, vi in enumerate(c.vertices):
                for r in range(d):
                    for j, vj in enumerate(c.vertices):
                        for s in range(d):
                            row, col = vi * d + r, vj * d + s
                            if triangle == 'full' or row == col or (row < col) == (triangle == 'upper'):
                                yield row, col, w[i] * w[j] * m[r][s]

    def hessian(self, form, triangle):
        ndof = self.n_vertices * self.dim
        out = {'format': form, 'shape': [ndof, ndof]}
        if form == 'factors':
            for g, contacts in self.groups.items():
                inner = [[c.inner[0][0], c.inner[0][1], c.inner[1][1]] if self.dim == 3 else [c.inner[0][0]]
                         for c in contacts]
                out[g] = {'weights': doubles([c.weights() for c in contacts]),
                          'tangent_basis': doubles([c.basis for c in contacts]),
                          'inner': doubles(inner)}
            return out
        entries = list(self.triplets(triangle))
        if form == 'triplets':
            out.update(rows=[e[0] for e in entries], cols=[e[1] for e in entries],
                       values=doubles([e[2] for e in entries]))
            return out
        if form == 'bsr':
            return {**out, **self.blocks(triangle)}
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

    def blocks(self, triangle):
        """Rows of blocks; those of the diagonal are whole."""
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
        contacts = self.groups[group]
        fields = self.request['collisions'][group]
        absent = set()
        if not BETA[group]:
            absent.add('closest_point')
        if 'tangent_basis' in fields or (group == 'plane_vertex' and ('plane_origin' not in fields
                                                                      or self.positions is None)):
            absent.add('distance')
        make = {
            'potential': lambda c: c.potential, 'tangential_velocity': lambda c: c.u, 'mu_s': lambda c: c.mu[0],
            'mu_k': lambda c: c.mu[1], 'normal_force': lambda c: c.force, 'distance': lambda c: c.distance,
            'closest_point': lambda c: c.beta, 'tangent_basis': lambda c: c.basis,
            'status': lambda c: 2 if c.skipped else int(c.y >= c.eps), 'slip_ratio': lambda c: c.y / c.eps}
        return {k: doubles([make[k](c) for c in contacts]) for k in names if k not in absent}


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
