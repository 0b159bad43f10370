"""Requests of POST /v1/evaluate made from the reference files."""
import glob
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
REFERENCE = os.path.join(HERE, '..', 'reference')
SHARED = os.path.join(HERE, '..', '..', '..', 'shared')
NO_FRAMES = ('compares with recorded frames of a simulation, which are not in this repository; nothing is wrong, and nothing '
             'has to be done (they would be next to it, in ../shared/data/cube-cube)')
DEFAULT_ALL = ['potential', 'gradient', 'hessian', 'collisions']


def load(name):
    with open(os.path.join(REFERENCE, name)) as file:
        return json.load(file)


def frames():
    """[(name, frame)] of the recorded simulation; empty if it is not there."""
    out = []
    for path in glob.glob(os.path.join(SHARED, 'data', 'cube-cube', 'frame_*.json')):
        with open(path) as file:
            out.append((os.path.basename(path)[:-5], json.load(file)))
    return sorted(out, key=lambda item: int(item[0].split('_')[1]))


def stencil(ids):
    """(group, stencil, weight, number of closest-point coordinates) of a row of mmcvids."""
    a, b, c, d = ids
    if a >= 0:
        return 'edge_edge', ids, 1, 2
    v = -a - 1
    if c >= 0 and d >= 0:
        return 'face_vertex', [v, b, c, d], 1, 2
    if c >= 0:
        return 'edge_vertex', [v, b, c], -d, 1
    return 'vertex_vertex', [v, b], -d, 0


def frame_request(frame, given):
    """The request of a frame, with geometry and normal forces given or derived from positions and barrier."""
    groups = {}
    for i, ids in enumerate(frame['mmcvids']):
        name, vertices, weight, m = stencil(ids)
        g = groups.setdefault(name, {'vertices': [], 'weight': []})
        g['vertices'].append(vertices)
        g['weight'].append(weight)
        if given:
            g.setdefault('normal_force', []).append(frame['normal_force_magnitudes'][i] / weight)
            g.setdefault('tangent_basis', []).append(frame['tangent_bases'][3 * i:3 * i + 3])
            if m:
                g.setdefault('closest_point', []).append(frame['closest_point_coordinates'][i][:m])
    velocities = [[e - s for e, s in zip(a, b)] for a, b in zip(frame['V_end'], frame['V_start'])]
    request = {'dim': 3, 'velocities': velocities, 'collisions': groups,
               'friction': {'eps_v': frame['epsv_times_h_squared'] ** 0.5, 'mu': frame['mu']}}
    if not given:
        request['positions'] = frame['V_lagged']
        request['barrier'] = {'dhat': frame['dhat_squared'] ** 0.5, 'stiffness': frame['barrier_stiffness']}
    return request


def dense(hessian):
    """Rows of the matrix of an answer in any of the three formats; the caller mirrors a triangle."""
    n = hessian['shape'][0]
    out = [[0.0] * n for _ in range(n)]
    if hessian['format'] == 'triplets':
        for r, c, v in zip(hessian['rows'], hessian['cols'], hessian['values']):
            out[r][c] += v
    elif hessian['format'] == 'csr':
        for r in range(n):
            for k in range(hessian['indptr'][r], hessian['indptr'][r + 1]):
                out[r][hessian['indices'][k]] += hessian['data'][k]
    return out


def dense_from_factors(hessian, request):
    """The same from factors: the sum of (w x P) A (w x P)^T over all contacts."""
    n, dim = hessian['shape'][0], request['dim']
    out = [[0.0] * n for _ in range(n)]
    for name, group in request['collisions'].items():
        for vertices, w, p, a in zip(group['vertices'], *(hessian[name][k]
                                                          for k in ('weights', 'tangent_basis', 'inner'))):
            vertices = vertices if isinstance(vertices, list) else [vertices]
            inner = [[a[0], a[1]], [a[1], a[2]]] if dim == 3 else [[a[0]]]
            m = [[sum(p[r][i] * inner[i][j] * p[c][j] for i in range(dim - 1) for j in range(dim - 1))
                  for c in range(dim)]
                 for r in range(dim)]
            for wi, vi in zip(w, vertices):
                for wj, vj in zip(w, vertices):
                    for r in range(dim):
                        for c in range(dim):
                            out[vi * dim + r][vj * dim + c] += wi * wj * m[r][c]
    return out


def contact_request(c, projection='none', form='triplets'):
    """The request for an entry of collisions.json: its barrier contains the weight, and so does the potential."""
    k = len(c['lagged_positions'])
    group = {'vertices': [list(range(k))] if c['type'] != 'plane_vertex' else [0], 'weight': [c['weight']],
             'mu_s': c['mu_s'], 'mu_k': c['mu_k'], 'mu_aniso': [c['mu_aniso'][:c['dim'] - 1]]}
    if c['dim'] == 3:
        group.update(mu_s_aniso=[c['mu_s_aniso']], mu_k_aniso=[c['mu_k_aniso']])
    if c['type'] == 'plane_vertex':
        group['plane_normal'] = c['plane_normal']
        group['plane_origin'] = [-c['plane_offset'] * x for x in c['plane_normal']]
    return {'dim': c['dim'], 'velocities': c['velocities'], 'positions': c['lagged_positions'],
            'friction': {'eps_v': c['eps_v'], 'mu_transition': 'quadratic'},
            'barrier': {k: c[k] for k in ('dhat', 'stiffness', 'dmin')}, 'collisions': {c['type']: group},
            'outputs': DEFAULT_ALL, 'hessian': {'format': form, 'projection': projection},
            'collision_outputs': ['potential', 'tangential_velocity', 'mu_s', 'mu_k', 'normal_force', 'closest_point',
                                  'tangent_basis']}


def contact_differences(c, answer, projection='none'):
    """{quantity: difference between an answer and an entry of collisions.json, in units of its tolerance}."""
    group = answer['collisions'][c['type']]
    force = abs(c['normal_force_magnitude'])
    mu = max(c['mu_s_effective_lagged'], c['mu_k_effective_lagged'])
    s = abs(c['weight']) * force
    matrix = dense(answer['hessian'])
    aniso = max([1.0] + c['mu_aniso'])
    out = {'gradient': distance(answer['gradient'], c['gradient']) / (2 * s * mu or 1),
           'potential': abs(answer['potential'] - c['potential']) / (s * mu * max(c['eps_v'], norm(c['u']) * aniso)
                                                                     or 1),
           'normal_force': abs(group['normal_force'][0] - c['normal_force_magnitude']) / (force or 1),
           'tangent_basis': distance(flat(group['tangent_basis'][0]), flat(c['tangent_basis'])),
           'closest_point': distance(group.get('closest_point', [[]])[0], c['closest_point']),
           'u': distance(group['tangential_velocity'][0], c['u']) / max(c['eps_v'], norm(flat(c['velocities']))),
           'mu_s': abs(group['mu_s'][0] - c['mu_s_effective_lagged']),
           'mu_k': abs(group['mu_k'][0] - c['mu_k_effective_lagged'])}
    if 'hessian_' + projection in c:
        out['hessian'] = distance(flat(matrix), flat(c['hessian_' + projection])) / (2 * s * mu / c['eps_v'] or 1)
    return out


def force_tolerance(sample):
    """Tolerance: 1e-7 of the force; near the edge of the barrier's range, where it vanishes, 1e-14 of its scale."""
    dhat, dmin = sample['dhat'], sample['dmin']
    scale = sample['stiffness'] * (2 * dmin + dhat) * dhat * 2 * (dmin + dhat)
    return 1e-7 * abs(sample['force_magnitude']) + 1e-14 * scale


def flat(value):
    return [x for row in value for x in flat(row)] if isinstance(value, list) else [value]


def norm(v):
    return sum(x * x for x in v) ** 0.5


def distance(a, b):
    assert len(a) == len(b), (len(a), len(b))
    return max((abs(x - y) for x, y in zip(a, b)), default=0.0)
