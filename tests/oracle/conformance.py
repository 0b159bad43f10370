"""The conformance vectors (docs/conformance.md): requests with expected results, computed by the independent program in
60-digit arithmetic. Prints one JSON document; the same on every machine.
"""
import json
import os
import sys

from mpmath import mpf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from combinations import LAYOUT  # noqa: E402
from derivatives import Derivatives  # noqa: E402
from oracle import BODY_GROUPS, STENCIL, Evaluation, doubles  # noqa: E402

VERSION = '1.0'
TOLERANCE = 1e-9
TYPES = [(group, dim) for dim in (3, 2) for group in STENCIL if (group, dim) in LAYOUT]
LEAST_SLIP = 1e-6  # as in docs/check.md
TRANSITIONS = ('cubic', 'quadratic', 'peak')
CURVE = {'speeds': [0, 0.5, 1.5, 4], 'factors': [1, 0.7, 0.9, 0.4]}
LAWS = {**{name: {'mu_transition': name, 'mu_s': 0.6, 'mu_k': 0.4} for name in TRANSITIONS},
        'stribeck': {'law': 'stribeck', 'stribeck_speed': 0.7, 'mu_s': 0.6, 'mu_k': 0.4},
        'exponential': {'law': 'exponential', 'stribeck_speed': 0.7, 'mu_s': 0.6, 'mu_k': 0.4},
        'curve': {'law': 'curve', 'curve': CURVE, 'mu': 0.5}, 'adhesion': {'law': 'adhesion', 'mu': 0.5}}
# Slips in units of eps_v, by name.
REGIMES = {'rest': 0, 'tiny': 1e-9, 'slow': 0.01, 'quarter': 0.25, 'half': 0.5, 'sticking': 0.75,
           'below eps_v': 1 - 2**-20, 'eps_v': 1, 'above eps_v': 1 + 2**-20, 'twice': 2, 'sliding': 3.7, 'fast': 1e4}
BLENDS = ('mean', 'min', 'max', 'product', 'geometric_mean', 'harmonic_mean')
BARRIERS = ('clamped_log', 'normalized_clamped_log', 'clamped_log_squared', 'cubic', 'two_stage')


# --- requests -------------------------------------------------------------------------------------------------------

class Builder:
    """A request, to which contacts are added one by one; all fields per contact are lists."""

    def __init__(self, dim, **friction):
        self.request = {'dim': dim, 'velocities': [], 'positions': [], 'friction': {'eps_v': 0.5, **friction}, 'collisions': {}}
        self.features = {f'dim:{dim}'}

    def add(self, group, slip=(0.3, 0.1, -0.2), shift=0, **fields):
        """A contact of new vertices whose first one moves by slip more than the others."""
        r, d = self.request, self.request['dim']
        n = len(r['positions'])
        for k, x in enumerate(LAYOUT[group, d]):
            r['positions'].append([a + 3 * n + shift for a in x])
            r['velocities'].append([0.125 + (s if k == 0 else 0) for s in slip[:d]])
            if group == 'plane_vertex':
                r['velocities'][-1] = list(slip[:d])
        defaults = {'normal_force': 2.5}
        if group == 'plane_vertex':
            defaults.update(plane_normal=[0, 0.6, 0.8][-d:] if d == 3 else [0.6, 0.8], plane_origin=[0.0] * d)
        return self.contact(group, list(range(n, n + STENCIL[group])), **{**defaults, **fields})

    def contact(self, group, vertices, **fields):
        rows = self.request['collisions'].setdefault(group, {'vertices': []})
        rows['vertices'].append(vertices if len(vertices) > 1 else vertices[0])
        for name, value in fields.items():
            if value is not None:
                rows.setdefault(name, []).append(value)
        self.features.add(f'type:{group}')
        return self

    def ask(self, *features, **more):
        self.request.update(more)
        self.features.update(features)
        return self


def along(dim, group, size):
    """A velocity whose slip is as long as size, at least for planes."""
    if group == 'plane_vertex':
        return [size, 0, 0] if dim == 3 else [0.8 * size, -0.6 * size]
    return [size / 2, -size / 3, size / 5][:dim]


def types():
    """Every type at rest, sticking and sliding; projected and not."""
    for group, dim in TYPES:
        for name in ('rest', 'sticking', 'sliding'):
            b = Builder(dim, mu_s=0.6, mu_k=0.4)
            yield f'{group} in {dim}D, {name}', b.add(group, along(dim, group, 0.5 * REGIMES[name])).ask('law:cubic')
        b = Builder(dim, mu_s=0.6, mu_k=0.1)
        yield f'{group} in {dim}D, derivatives with respect to positions', b.add(group, along(dim, group, 0.2)).ask(
            'law:cubic', 'position_jacobian')


def laws():
    """Every law at every speed, along an axis of a plane (exact slips) and with all digits."""
    for law, friction in LAWS.items():
        for name, z in REGIMES.items():
            for dim in (3, 2):
                b = Builder(dim, **friction)
                normal = {'plane_normal': [0, 0, 1][-dim:]}
                slip = [0.5 * z, 0, 0][:dim]
                yield f'{law}, {name}, {dim}D', b.add('plane_vertex', slip, **normal).ask(f'law:{law}')


def projections():
    for law in ('cubic', 'quadratic', 'peak', 'exponential', 'adhesion'):
        friction = {**LAWS[law], **({'mu_s': 0.6, 'mu_k': 0.1} if 'mu_s' in LAWS[law] else {})}
        for projection in ('none', 'clamp', 'abs'):
            b = Builder(3, **friction)
            for z in (0.3, 0.6, 0.9, 1.2, 1.7):
                b.add('plane_vertex', [0.4 * z, 0.3 * z, 0.2 * z])
            b.add('face_vertex')
            yield f'{law}, projection {projection}', b.ask(f'law:{law}', f'projection:{projection}',
                                                           hessian={'projection': projection})


def coefficients():
    for blend in BLENDS:
        b = Builder(3)
        for group in STENCIL:
            b.add(group)
        n = len(b.request['velocities'])
        mu = [0.2 + 0.05 * ((5 * i) % 11) for i in range(n)]
        b.request['friction'].update(vertex_mu_s=mu, vertex_mu_k=[0.6 * x for x in mu], blend=blend)
        yield f'coefficients at vertices, {blend}', b.ask('law:cubic', f'blend:{blend}')
    b = Builder(3)
    for group in STENCIL:
        b.add(group)
    b.request['friction']['materials'] = {
        'vertex_material': [i % 3 for i in range(len(b.request['velocities']))], 'plane_material': 1,
        'mu_s': [[0.5, 0.4, 0.3], [0.4, 0.7, 0.6], [0.3, 0.6, 0.8]], 'mu_k': [[0.4, 0.3, 0.2], [0.3, 0.5, 0.4], [0.2, 0.4, 0.7]]}
    yield 'coefficients of materials', b.ask('law:cubic', 'materials')
    b = Builder(3)
    for group in STENCIL:
        b.add(group, mu_s=0.5, mu_k=0.25, eps_v=0.3)
    yield 'coefficients and eps_v of contacts', b.ask('law:cubic')
    for mu in ((0, 0), (0, 0.5), (0.5, 0), (0.3, 0.5)):
        b = Builder(3, mu_s=mu[0], mu_k=mu[1]).add('plane_vertex').add('edge_edge')
        yield f'mu_s {mu[0]}, mu_k {mu[1]}', b.ask('law:cubic')


def fields():
    """Each field of contacts alone."""
    b = Builder(3, mu_s=0.6, mu_k=0.4)
    for group in STENCIL:
        b.add(group, weight=-1.5).add(group, weight=0.0).add(group, weight=0.25)
    yield 'weights of any sign', b.ask('law:cubic', 'weight')
    b = Builder(3, mu_s=0.6, mu_k=0.4)
    for group in STENCIL:
        b.add(group, normal_force=0.0).add(group, normal_force=7.0)
    yield 'no normal force', b.ask('law:cubic')
    for name, value in {'mu_aniso': [0.5, 2.0], 'surface_velocity': [0.2, -0.1, 0.05], 'anchor': [0.1, 0.05, -0.02],
                        'viscous': 0.3, 'grain': [0.3, 1.0, 0.2]}.items():
        b = Builder(3, mu_s=0.6, mu_k=0.4)
        for group in STENCIL:
            b.add(group, **{name: value, 'mu_aniso': value if name == 'mu_aniso' else [0.7, 1.3]})
        yield name, b.ask('law:cubic', name, 'mu_aniso')
    b = Builder(3, mu_s=0.6, mu_k=0.4)
    for group in STENCIL:
        b.add(group, mu_s_aniso=[0.6, 0.2], mu_k_aniso=[0.4, 0.1])
    yield 'matchsticks along velocities', b.ask('law:cubic', 'matchsticks')
    n = len(b.request['velocities'])
    lagged = [[0.1 * (i % 3) + 0.01, 0.2 - 0.03 * i, 0.05 * (i % 2)] for i in range(n)]
    yield 'matchsticks along lagged velocities', copy_of(b).ask('lagged_velocities', lagged_velocities=lagged)
    b = Builder(2, mu_s=0.6, mu_k=0.4)
    for group in ('vertex_vertex', 'edge_vertex', 'plane_vertex'):
        b.add(group, mu_aniso=[0.7], surface_velocity=[0.2, -0.1], anchor=[0.05, 0.02], viscous=0.3)
    yield 'everything in 2D', b.ask('law:cubic', 'mu_aniso', 'surface_velocity', 'anchor', 'viscous')


def copy_of(b):
    other = Builder(b.request['dim'])
    other.request, other.features = json.loads(json.dumps(b.request)), set(b.features)
    return other


def assembly():
    """Contacts that share vertices, in a mesh."""
    b = Builder(3, mu_s=0.6, mu_k=0.4)
    b.request['positions'] = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.1], [0.3, 0.3, 0.2], [0.7, 0.6, 0.25], [0.2, 0.7, 0.3]]
    b.request['velocities'] = [[0.1 * i - 0.2, 0.05 * i * i - 0.3, 0.1 * (i % 3)] for i in range(7)]
    for v in (4, 5, 6):
        b.contact('face_vertex', [v, 0, 1, 2], normal_force=1.0 + v).contact('face_vertex', [v, 1, 3, 2], normal_force=0.5)
        b.contact('plane_vertex', [v], normal_force=0.3 * v, plane_normal=[0, 0, 1], plane_origin=[0, 0, 0])
    b.contact('edge_edge', [0, 3, 4, 5], normal_force=2.0).contact('edge_edge', [1, 2, 4, 6], normal_force=1.0)
    b.contact('edge_vertex', [4, 0, 1], normal_force=3.0).contact('vertex_vertex', [4, 5], normal_force=1.0)
    yield 'shared vertices', b.ask('law:cubic', 'shared')
    for triangle in ('upper', 'lower'):
        yield f'shared vertices, {triangle} triangle', copy_of(b).ask('triangle', hessian={'triangle': triangle})
    yield 'shared vertices, derivatives with respect to positions', copy_of(b).ask('position_jacobian')
    yield 'a vertex without contacts', Builder(3, mu=0.5).add('vertex_vertex').ask('law:cubic').with_vertex([9, 9, 9])


def with_vertex(self, x):
    self.request['positions'].append(x)
    self.request['velocities'].append([1.0] * len(x))
    return self


Builder.with_vertex = with_vertex


def edges():
    """Edge cases of motion and geometry."""
    for group, dim in TYPES:
        b = Builder(dim, mu_s=0.6, mu_k=0.4).add(group)
        same = [0.0] * dim if group == 'plane_vertex' else [1.7, -0.3, 0.9][:dim]
        b.request['velocities'] = [list(same) for _ in b.request['velocities']]
        yield f'{group} in {dim}D, a common velocity', b.ask('law:cubic')
    b = Builder(3, mu_s=0.6, mu_k=0.4)
    for group in STENCIL:
        b.add(group, [100.0, -50.0, 25.0])
    yield 'fast', b.ask('law:cubic')
    for exponent in (-40, 40):
        scale = 2.0**exponent
        b = Builder(3, eps_v=0.5 * scale, mu_s=0.6, mu_k=0.4)
        for group in STENCIL:
            b.add(group, [0.3 * scale, 0.1 * scale, -0.2 * scale])
        b.request['velocities'] = [[x if abs(x) != 0.125 else 0.0 for x in v] for v in b.request['velocities']]
        yield f'velocities times 2^{exponent}', b.ask('law:cubic')
        b = Builder(3, mu_s=0.6, mu_k=0.4)
        for group in STENCIL:
            b.add(group, normal_force=2.5 * scale)
        yield f'forces times 2^{exponent}', b.ask('law:cubic')
    b = Builder(3, mu_s=0.6, mu_k=0.4)
    b.request['positions'] = [[-1, 0, 0], [1, 0, 0], [-1, -0.01, 0.4], [1, 0.01, 0.4]]
    b.request['velocities'] = [[0.3, 0.1, 0], [0, 0, 0], [0, 0.2, 0], [0, 0, 0]]
    yield 'nearly parallel edges', b.contact('edge_edge', [0, 1, 2, 3], normal_force=2.0).ask('law:cubic')
    for group, x in (('edge_vertex', [1.7, 0.1, 0.5]), ('face_vertex', [1.3, 1.2, 0.4])):
        b = Builder(3, mu_s=0.6, mu_k=0.4).add(group)
        b.request['positions'][0] = x
        yield f'{group}, closest point outside', b.ask('law:cubic')
    for normal in ([1, 1, 0], [1, -1, 0.5], [0, 0, -3], [1, 0, 0], [0, 2, 0]):
        b = Builder(3, mu_s=0.6, mu_k=0.4).add('plane_vertex', plane_normal=normal, mu_aniso=[0.5, 2.0])
        yield f'the basis of the normal {normal}', b.ask('law:cubic', 'mu_aniso')


def normal_forces():
    """Normal forces of barriers at the lagged positions."""
    for kind in BARRIERS:
        for scaling in ('none', 'physical'):
            for dmin in (0, 0.05):
                b = Builder(3, mu_s=0.6, mu_k=0.4)
                for group in STENCIL:
                    b.add(group, normal_force=None)
                barrier = {'type': kind, 'scaling': scaling, 'dhat': 1.1, 'stiffness': 3.0, 'dmin': dmin}
                yield f'normal forces of {kind}, scaling {scaling}, dmin {dmin}', b.ask('law:cubic', 'barrier', barrier=barrier)
    for group, dim in TYPES:
        b = Builder(dim, mu_s=0.6, mu_k=0.4).add(group, along(dim, group, 0.2), normal_force=None)
        yield f'{group} in {dim}D, derivatives of normal forces', b.ask(
            'law:cubic', 'barrier', 'position_jacobian', barrier={'dhat': 1.1, 'stiffness': 3.0})
    for kind in BARRIERS:
        for terms in (['barrier'], ['friction', 'barrier']):
            b = Builder(3, mu_s=0.6, mu_k=0.4)
            for group in STENCIL:
                b.add(group, normal_force=None)
            current = [[x + 0.01 * ((3 * i + k) % 5 - 2) for k, x in enumerate(row)]
                       for i, row in enumerate(b.request['positions'])]
            yield f'{" and ".join(terms)}, {kind}', b.ask(
                'law:cubic', 'barrier', 'barrier_energy', terms=terms, current_positions=current, time_step=0.25,
                barrier={'type': kind, 'dhat': 1.1, 'stiffness': 3.0})


def bodies():
    for dim, twist in ((3, [0.3, 0.1, -0.05, 0.4, -0.2, 0.7]), (2, [0.3, 0.1, 0.7])):
        for name in ('sliding', 'sticking', 'rest'):
            size = {'sliding': 1, 'sticking': 0.2, 'rest': 0}[name]
            request = {'dim': dim, 'body_positions': [[0, 0, 1.0][:dim], [0.3, 0.2, 3.0][:dim]], 'velocities': [],
                       'body_velocities': [[size * x for x in twist], [-0.5 * size * x for x in reversed(twist)]],
                       'friction': {'eps_v': 0.5, 'mu_s': 0.6, 'mu_k': 0.4}, 'collisions': {
                           'body_body': {'bodies': [[0, 1]], 'point': [[0.2, 0.1, 2][:dim]], 'normal': [[0.1, 0.2, 1][:dim]],
                                         'normal_force': [3.0], 'roll_radius': [0.05]},
                           'body_world': {'bodies': [0, 1], 'point': [[0.1, 0, 0][:dim], [0.3, 0.2, 2.5][:dim]],
                                          'normal': [[0, 0, 1][-dim:], [0, 1, 1][:dim]], 'normal_force': [5.0, 1.0],
                                          'roll_radius': [0.05, 0.0]}}}
            if dim == 3:
                for group in request['collisions'].values():
                    group['spin_radius'] = [0.1] * len(group['normal_force'])
            b = Builder(dim)
            b.request = request
            yield f'bodies in {dim}D, {name}', b.ask('law:cubic', 'bodies', 'type:body_body', 'type:body_world')


def searches():
    """Pairs of primitives whose closest features are found, and edges that are nearly parallel."""
    b = Builder(3, mu_s=0.6, mu_k=0.4)
    for group in ('edge_vertex', 'edge_edge', 'face_vertex'):
        b.add(group).add(group)
    b.request['positions'][0] = [1.6, 0.1, 0.5]
    yield 'closest features', b.ask('law:cubic', 'closest_features', closest_features='search')
    b = Builder(3, mu_s=0.6, mu_k=0.4).add('edge_edge', mollifier=20.0).add('edge_edge', mollifier=0.001)
    yield 'a mollified contact', b.ask('law:cubic', 'mollifier')


def cases():
    for make in (types, laws, projections, coefficients, fields, assembly, edges, normal_forces, bodies, searches):
        for name, builder in make():
            yield make.__name__, name, builder


# --- results --------------------------------------------------------------------------------------------------------

def arms(c, n):
    """The absolute weight of each DOF of a contact in its slip."""
    if c.group in BODY_GROUPS:
        return [max(abs(row[k]) for row in c.jacobian()) for k in range(n)]
    return [abs(w) for w in c.weights() for _ in range(c.dim)]


class Scales:
    """What contacts can contribute to each number (docs/conformance.md)."""

    def __init__(self, e):
        self.potential, self.force, self.stiffness = mpf(0), [mpf(0)] * e.n_dofs, [mpf(0)] * e.n_dofs
        for c in e.active():
            dofs = c.dofs(e.n_vertices)
            if 'friction' in e.terms and not c.mollified:
                self.friction(c, dofs)
            if 'barrier' in e.terms:
                self.barrier(c, dofs, e)

    def friction(self, c, dofs):
        a = 1 if c.group in BODY_GROUPS else max(c.aniso)
        cone, motion = abs(c.weight * c.force) * max(abs(x) for x in c.mu) * a, LEAST_SLIP * c.size
        inner = max(abs(x) for row in c.inner_matrix() for x in row) if c.group not in BODY_GROUPS else max(
            abs(x) for row in c.matrix for x in row)
        stiffness = inner + a * cone / max(c.y, c.eps)
        force = max(abs(x) for x in c.pull) * a + cone * min(1, c.y / c.eps) + stiffness * motion
        self.potential += abs(c.potential) + cone * max(c.y, c.eps) + force * motion
        for dof, w in zip(dofs, arms(c, len(dofs))):
            self.force[dof] += w * force
            self.stiffness[dof] += w * w * stiffness

    def barrier(self, c, dofs, e):
        stiffness = e.time_step * max(abs(x) for row in c.acting.hessian for x in row)
        motion = LEAST_SLIP * max(abs(x) for v in c.members for x in e.current[v]) / e.time_step
        force = max(abs(x) for x in c.acting.gradient) + stiffness * motion
        self.potential += abs(c.acting.potential / e.time_step) + force * motion
        for dof in dofs:
            self.force[dof] += force
            self.stiffness[dof] += stiffness


def resolved(e):
    """Lagged quantities of contacts at vertices, for implementations of the law alone."""
    for c in e.all():
        if c.group in BODY_GROUPS or c.mollified or 'friction' not in e.terms:
            continue
        yield {'type': c.group, 'vertices': list(c.members), 'weights': doubles(c.weights()), 'tangent_basis': doubles(c.basis),
               'normal_force': doubles(c.force), 'weight': doubles(c.weight), 'mu_s': doubles(c.mu[0]),
               'mu_k': doubles(c.mu[1]), 'eps_v': doubles(c.eps), 'mu_aniso': doubles(c.aniso),
               'offset': doubles([b - a for a, b in zip(c.surface, c.anchor)]), 'anchor': doubles(c.anchor),
               'viscous': doubles(c.viscous), 'stribeck_speed': doubles(c.speed)}


def dense(e, triangle):
    """Triplets whose duplicates have been added."""
    merged = {}
    for row, col, value in e.triplets(triangle):
        merged[row, col] = merged.get((row, col), mpf(0)) + value
    keys = sorted(merged)
    return {'rows': [r for r, _ in keys], 'cols': [c for _, c in keys], 'values': doubles([merged[k] for k in keys])}


def expected(request, features):
    e = Evaluation(request)
    options = request.get('hessian', {})
    e.move(e.motion, options.get('projection', 'none'))
    scales = Scales(e)
    out = {'potential': {'value': doubles(e.potential()), 'scale': doubles(scales.potential)},
           'gradient': {'values': doubles(e.gradient()), 'scales': doubles(scales.force)},
           'hessian': {**dense(e, options.get('triangle', 'full')), 'scales': doubles(scales.stiffness)}}
    if 'position_jacobian' in features:
        jacobian = Derivatives(request).position_jacobian('triplets')
        merged = {}
        for row, col, value in zip(jacobian['rows'], jacobian['cols'], jacobian['values']):
            merged[row, col] = merged.get((row, col), 0.0) + value
        keys = sorted(merged)
        values = [merged[k] for k in keys]
        out['position_jacobian'] = {'rows': [r for r, _ in keys], 'cols': [c for _, c in keys], 'values': values,
                                    'scale': max(map(abs, values))}
    return out, list(resolved(e))


def vectors():
    made = []
    for number, (group, name, builder) in enumerate(cases()):
        request = {k: v for k, v in builder.request.items() if v not in ([], {}) or k in ('velocities', 'collisions')}
        if 'body_positions' in request:
            request.pop('velocities')
        results, plain = expected(request, builder.features)
        made.append({'id': number, 'group': group, 'name': name, 'features': sorted(builder.features), 'request': request,
                     'contacts': plain, 'expected': results})
    return {'format': 'frictiond conformance vectors', 'version': VERSION, 'tolerance': TOLERANCE,
            'features': sorted({f for case in made for f in case['features']}), 'cases': made}


def lines(document):
    """One line per case, so that versions can be compared."""
    head = {name: value for name, value in document.items() if name != 'cases'}
    yield json.dumps(head)[:-1] + ', "cases": ['
    last = len(document['cases']) - 1
    for i, case in enumerate(document['cases']):
        yield json.dumps(case) + (',' if i < last else '')
    yield ']}'


if __name__ == '__main__':
    print('\n'.join(lines(vectors())))
