"""The results of /v1/jvp, /v1/vjp and the output position_jacobian, by complex steps through the independent
evaluation.

    d = Derivatives(request)           a request of /v1/evaluate
    d.along({'/positions': [..]})      the directional derivative, from a single complex step of all fields at once
    d.back(psi, gamma, ['/positions']) the derivative of psi potential + gamma . gradient with respect to a field, from
                                       one complex step for every number of it and every contact that depends on it
    d.position_jacobian('csr')

Fields are named by JSON Pointers, flat inside; shaped() gives one the shape that it has in the request.
"""
import os
import sys

from mpmath import mpf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import laws  # noqa: E402
import oracle  # noqa: E402
from algebra import dot, flat, real  # noqa: E402
from oracle import BODY_GROUPS, Coefficients, Evaluation, doubles  # noqa: E402
from steps import STEP, slope, stepped  # noqa: E402

TOP = ('velocities', 'body_velocities', 'positions', 'body_positions', 'lagged_velocities', 'lagged_body_velocities')
FRICTION = ('eps_v', 'mu', 'mu_s', 'mu_k', 'vertex_mu', 'vertex_mu_s', 'vertex_mu_k', 'materials/mu', 'materials/mu_s',
            'materials/mu_k', 'stribeck_speed', 'viscous', 'curve/factors')
BARRIER = ('dhat', 'stiffness', 'dmin')
GROUP = (*(k for k in oracle.PER_CONTACT if k != 'mollifier'), *oracle.VECTORS, 'mu_aniso', 'closest_point', 'tangent_basis')


def value_at(request, pointer):
    """The value that a pointer leads to; None if there is none."""
    for name in pointer[1:].split('/'):
        request = request.get(name) if isinstance(request, dict) else None
    return request


def fields_of(request):
    """Pointers to all fields of the request with respect to which derivatives exist."""
    names = [*TOP, *(f'friction/{k}' for k in FRICTION), *(f'barrier/{k}' for k in BARRIER),
             *(f'collisions/{g}/{k}' for g in request['collisions'] for k in GROUP)]
    return [p for p in ('/' + k for k in names) if value_at(request, p) is not None]


def shaped(numbers, like):
    """Flat numbers in the shape of another value."""
    left = iter(numbers)

    def fill(value):
        return [fill(x) for x in value] if isinstance(value, list) else next(left)
    return fill(like)


class Number:
    """A number of the request: its place in multi-precision, and the contacts that may depend on it."""

    def __init__(self, container, key, contacts):
        self.container, self.key, self.contacts = container, key, contacts

    def shift(self, h):
        """Returns the number before the step."""
        before = self.container[self.key]
        self.container[self.key] = stepped(before, h)
        return before


class Derivatives:
    def __init__(self, request, margins=None):
        self.request = request
        self.e = e = Evaluation(precise(request), margins)
        self.contacts = e.all()
        e.move(e.motion)
        self.potential, self.gradient = e.potential(), e.gradient()
        self.numbers = {p: self.find(p) for p in fields_of(request)}
        self.scales = {p: self.scale(p) for p in self.numbers}

    # --- places of numbers ----------------------------------------------------------------------------------------

    def find(self, pointer):
        where, *names = pointer[1:].split('/')
        if where == 'collisions':
            return self.of_group(*names)
        if where in TOP:
            return self.of_rows(where)
        holder = self.e.request[where]
        for name in names[:-1]:
            holder = holder[name]
        if not isinstance(holder[names[-1]], list):
            return [Number(holder, names[-1], self.contacts)]
        values = holder[names[-1]]
        rows = values if values and isinstance(values[0], list) else [values]
        numbers = [Number(row, k, self.contacts) for row in rows for k in range(len(row))]
        if names[-1].startswith('vertex_mu'):
            for vertex, number in enumerate(numbers):
                number.contacts = [c for c in self.contacts if vertex in c.vertices]
        return numbers

    def of_rows(self, name):
        """Rows of vertices or bodies."""
        e, bodies = self.e, 'body' in name
        rows = {'velocities': e.motion[0], 'body_velocities': e.motion[1], 'positions': e.positions,
                'body_positions': e.body_positions, 'lagged_velocities': e.lagged[0],
                'lagged_body_velocities': e.lagged[1]}[name]
        kind = [c for c in self.contacts if (c.group in BODY_GROUPS) == bodies]
        return [Number(row, axis, [c for c in kind if i in c.members])
                for i, row in enumerate(rows) for axis in range(len(row))]

    def of_group(self, group, name):
        """A contact's row, or the single row that all contacts share."""
        rows, contacts = self.e.rows[group][name], self.e.groups[group]
        if not rows:  # one value for all, but there are no contacts
            return [Number([real(x)], 0, []) for x in flat(value_at(self.request, f'/collisions/{group}/{name}'))]
        if all(row is rows[0] for row in rows):
            return [Number(rows[0], k, contacts) for k in range(len(rows[0]))]
        return [Number(row, k, [c]) for row, c in zip(rows, contacts) for k in range(len(row))]

    def scale(self, pointer):
        """A step's unit: the field's largest number."""
        return max((abs(n.container[n.key]) for n in self.numbers[pointer]), default=mpf(0)) or mpf(1)

    # --- evaluation at stepped numbers ----------------------------------------------------------------------------

    def again(self, pointers):
        """Recomputes quantities that were derived from these fields when the request was read."""
        e = self.e
        if any(p.startswith('/friction/') for p in pointers):
            e.coefficients = Coefficients(e.friction)
        if '/friction/curve/factors' in pointers:
            law = laws.of(e.friction)
            for c in self.contacts:
                c.law = law
            e.law = law

    def contact(self, old):
        """Potential and gradient of a contact, for its own degrees of freedom."""
        e = self.e
        c = e.prepare(old.group, old.index, old.members, {k: v[old.index] for k, v in e.rows[old.group].items()})
        c.pulled(e.motion, e.margins)
        return [c.potential, *c.local_gradient()]

    def steps(self, pointer):
        """[{contact: derivative of its potential and gradient}], for every number of a field."""
        h, out = self.scales[pointer] * STEP, []
        for number in self.numbers[pointer]:
            before = number.shift(h)
            self.again([pointer])
            out.append({c: slope(self.contact(c), h) for c in number.contacts if not c.skipped})
            number.container[number.key] = before
        self.again([pointer])
        return out

    # --- products -------------------------------------------------------------------------------------------------

    def along(self, tangents):
        """The tangents (of the potential, of the gradient), with all fields stepped together."""
        moved = []
        for pointer, tangent in tangents.items():
            for number, t in zip(self.numbers[pointer], map(real, flat(tangent))):
                moved.append((number, number.shift(t * STEP)))
        self.again(tangents)
        potential, gradient = mpf(0), [mpf(0)] * self.e.n_dofs
        for c in self.e.active():
            first, *rest = slope(self.contact(c), STEP)
            potential += first
            for dof, x in zip(c.dofs(self.e.n_vertices), rest):
                gradient[dof] += x
        for number, before in moved:
            number.container[number.key] = before
        self.again(tangents)
        return potential, gradient

    def back(self, psi, gamma, pointers):
        """{pointer: flat numbers}; gamma has one entry per degree of freedom."""
        out = {}
        for pointer in pointers:
            out[pointer] = [sum((self.weighed(c, part, psi, gamma) for c, part in parts.items()), mpf(0))
                            for parts in self.steps(pointer)]
            if 'materials' in pointer:
                out[pointer] = symmetric(out[pointer])
        return out

    def weighed(self, c, part, psi, gamma):
        return psi * part[0] + dot([gamma[i] for i in c.dofs(self.e.n_vertices)], part[1:])

    def position_triplets(self):
        """(row, column, value) of the whole block of every contact of vertices."""
        e, d = self.e, self.e.dim
        columns = self.steps('/positions')
        for c in self.contacts:
            if c.group in BODY_GROUPS:
                continue
            dofs = c.dofs(e.n_vertices)
            for k, row in enumerate(dofs):
                for v in c.members:
                    for column in range(v * d, v * d + d):
                        yield row, column, columns[column][c][1 + k] if c in columns[column] else mpf(0)

    def position_jacobian(self, form='csr'):
        """The matrix in the form of the response."""
        e, entries = self.e, list(self.position_triplets())
        out = {'format': form, 'shape': [e.n_dofs, e.n_vertices * e.dim]}
        if form == 'triplets':
            rows, cols, values = zip(*entries) if entries else ([], [], [])
            return {**out, 'rows': list(rows), 'cols': list(cols), 'values': doubles(list(values))}
        merged = {}
        for row, col, value in entries:
            merged[row, col] = merged.get((row, col), mpf(0)) + value
        keys = sorted(merged)
        return {**out, 'indptr': [sum(r < i for r, _ in keys) for i in range(e.n_dofs + 1)],
                'indices': [c for _, c in keys], 'data': doubles([merged[k] for k in keys])}

    # --- answers --------------------------------------------------------------------------------------------------

    def split(self, gradient, potential):
        """Members of a response."""
        vertices, bodies = self.e.split(gradient)
        out = {'potential': doubles(potential), 'gradient': doubles(vertices)}
        if 'body_positions' in self.request:
            out['body_gradient'] = doubles(bodies)
        return out

    def jvp(self, tangents):
        potential, gradient = self.along(tangents)
        return {**self.split(self.gradient, self.potential), 'tangents': self.split(gradient, potential)}

    def vjp(self, cotangents, pointers):
        psi = real(cotangents.get('potential', 0))
        back = self.back(psi, self.cotangent(cotangents), pointers)
        return {**self.split(self.gradient, self.potential),
                'cotangents': {p: shaped(doubles(x), value_at(self.request, p)) for p, x in back.items()}}

    def cotangent(self, cotangents):
        """One entry per degree of freedom."""
        n, e = self.e.n_vertices * self.e.dim, self.e
        parts = (('gradient', n), ('body_gradient', e.n_dofs - n))
        return [real(x) for name, size in parts for x in flat(cotangents.get(name, [0] * size))]


def precise(value):
    """A copy with every number that is not an index in multi-precision."""
    if isinstance(value, dict):
        return {k: v if k in ('vertices', 'bodies', 'dim', 'vertex_material', 'body_material', 'plane_material')
                else precise(v) for k, v in value.items()}
    if isinstance(value, list):
        return [precise(x) for x in value]
    return real(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def symmetric(numbers):
    """A flat square table made symmetric: its product with any symmetric table is the same."""
    m = round(len(numbers) ** 0.5)
    return [(numbers[i * m + j] + numbers[j * m + i]) / 2 for i in range(m) for j in range(m)]


def jvp(request):
    """The response to a request of /v1/jvp."""
    return Derivatives(plain(request)).jvp(request['tangents'])


def vjp(request):
    """The response to a request of /v1/vjp."""
    return Derivatives(plain(request)).vjp(request['cotangents'], request['wrt'])


def plain(request):
    return {k: v for k, v in request.items() if k not in ('tangents', 'cotangents', 'wrt')}
