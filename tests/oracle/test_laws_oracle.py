"""Compares the independent evaluation's laws, barriers, offsets and bodies with derivatives of their potentials, and
tests properties of the formulas."""
import copy
import os
import sys

import pytest
from mpmath import diff, log, mp, mpf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import barriers  # noqa: E402
import generate  # noqa: E402
import generate_laws  # noqa: E402
import laws  # noqa: E402
import oracle  # noqa: E402
from algebra import cross, dot, norm  # noqa: E402

ONE_IN = max(1, int(os.environ.get('SHARE', 1)))  # set by tests/run
CURVE = {'speeds': [0, 0.003, 0.004, 0.02, 0.05, 0.051, 0.3], 'factors': [1, 1.5, 1.4, 0.3, 0.3, 0.8, 0.7]}
FRICTIONS = [{'law': 'stribeck'}, {'law': 'exponential'}, {'law': 'adhesion'}, {'law': 'curve', 'curve': CURVE},
             {'mu_transition': 'peak'}, {'mu_transition': 'quadratic'}, {'law': 'smooth'}]
EPS, SPEED = mpf('0.01'), mpf('0.013')
SPEEDS = [mpf(x) for x in ('0.0001', '0.003', '0.0099', '0.0101', '0.0125', '0.0139', '0.0199', '0.0201', '0.035', '0.0605',
                           '0.1', '0.4', '3')]


@pytest.mark.parametrize('friction', FRICTIONS, ids=lambda f: ' '.join(str(x) for x in f.values())[:12])
def test_laws_by_differences(friction):
    """The force is the potential's derivative, and its own derivative is G2."""
    law, h = laws.of(friction), mpf('1e-20')
    one = friction.get('law') in laws.ONE_COEFFICIENT
    for mu in [[mpf('0.7'), mpf('0.7')]] + [[mpf('0.7'), mpf('0.2')], [mpf('0.1'), mpf('0.6')]] * (not one):
        for y in SPEEDS:
            below, here, above = (law(y + d, mu, EPS, SPEED) for d in (-h, 0, h))
            assert abs((above[0] - below[0]) / (2 * h) - here[1] * y) < mpf('1e-15'), y
            slope = (above[1] * (y + h) - below[1] * (y - h)) / (2 * h)
            assert abs(slope - here[2]) < mpf('1e-14') * (1 + abs(here[2])), y


def at(name, y, mu=(mpf('0.7'), mpf('0.2')), **friction):
    return laws.of({'law': name, **friction})(mpf(y), mu, EPS, SPEED)


@pytest.mark.parametrize('name', ['stribeck', 'exponential', 'curve', 'adhesion'])
def test_stiction_comes_first(name):
    """Up to eps_v every law equals plain stiction with mu_s (for adhesion, except for a constant in the potential).
    Potentials and forces are continuous there."""
    mu = (mpf('0.7'),) * 2 if name in laws.ONE_COEFFICIENT else (mpf('0.7'), mpf('0.2'))
    plain = laws.of({})
    for y in (mpf(0), EPS / 3, EPS * (1 - mpf('1e-30'))):
        got, expected = at(name, y, mu, curve=CURVE), plain(y, (mpf('0.7'),) * 2, EPS, None)
        assert abs(got[1] - expected[1]) < mpf('1e-50') and abs(got[2] - expected[2]) < mpf('1e-50')
        shift = mpf('0.7') * EPS / 3 if name == 'adhesion' else 0
        assert abs(got[0] + shift - expected[0]) < mpf('1e-50')
    below, there = (at(name, y, mu, curve=CURVE) for y in (EPS - mpf('1e-40'), EPS))
    assert abs(below[0] - there[0]) < mpf('1e-40') and abs(below[1] - there[1]) < mpf('1e-30')
    assert abs(there[1] * EPS - mpf('0.7')) < mpf('1e-50')
    if name != 'exponential':
        assert abs(below[2] - there[2]) < mpf('1e-30')


def test_decay():
    """At high speeds mu_k remains; at one stribeck_speed beyond eps_v, 1/e of the difference remains as well."""
    for name in laws.DECAYS:
        assert abs(at(name, EPS + SPEED)[1] * (EPS + SPEED) - (mpf('0.2') + mpf('0.5') / mp.e)) < mpf('1e-50')
        assert abs(at(name, 100)[1] * 100 - mpf('0.2')) < mpf('1e-50') and at(name, 1e6)[2] == 0
    assert at('exponential', EPS)[2] == -mpf('0.5') / SPEED and at('stribeck', EPS)[2] == 0


def test_adhesion_breaks():
    mu = (mpf('0.7'),) * 2
    assert at('adhesion', 0, mu)[0] == 0 and at('adhesion', 2 * EPS, mu)[1:] == (0, 0)
    assert abs(at('adhesion', 5, mu)[0] - mpf(4) / 3 * mpf('0.7') * EPS) < mpf('1e-50')
    assert abs(at('adhesion', 2 * EPS * (1 - mpf('1e-40')), mu)[0] - at('adhesion', 5, mu)[0]) < mpf('1e-40')


def test_curve_meets_its_points_and_stays_between_them():
    mu = (mpf(2), mpf(2))
    points = [(mpf(float(x)), mpf(float(f))) for x, f in zip(*CURVE.values())]
    for x, f in points:
        assert abs(at('curve', EPS + x, mu, curve=CURVE)[1] * (EPS + x) - 2 * f) < mpf('1e-50')
    for (x0, f0), (x1, f1) in zip(points, points[1:]):
        for i in range(1, 40):
            y = EPS + x0 + (x1 - x0) * i / 40
            force, slope = at('curve', y, mu, curve=CURVE)[1] * y / 2, at('curve', y, mu, curve=CURVE)[2]
            assert min(f0, f1) - mpf('1e-50') <= force <= max(f0, f1) + mpf('1e-50')
            assert slope * (f1 - f0) >= -mpf('1e-40')


def test_slope_of_a_curve_by_hand():
    """Intervals 1 and 3, secants 2 and 1: weights 7 and 5, so 12 / (7/2 + 5/1) = 24/17; 0 at an extreme and at the
    ends."""
    measured = laws.Measured([0, 1, 4, 5], [1, 3, 6, 2])
    assert measured.slopes[0] == measured.slopes[2] == measured.slopes[3] == 0
    assert abs(measured.slopes[1] - mpf(24) / 17) < mpf('1e-55')


BARRIERS = {
    'clamped_log': lambda d, e: -(d - e)**2 * log(d / e),
    'normalized_clamped_log': lambda d, e: -(d / e - 1)**2 * log(d / e),
    'clamped_log_squared': lambda d, e: (d - e)**2 * log(d / e)**2,
    'cubic': lambda d, e: -mpf(2) / 3 * (d - e)**3 / e,
    'two_stage': lambda d, e: (d - e)**2 / 2 if 2 * d >= e else -e**2 / 4 * log(d)}


@pytest.mark.parametrize('kind', barriers.TYPES)
def test_barriers_by_differences(kind):
    e = mpf('0.37')
    for part in ('0.001', '0.1', '0.3', '0.49', '0.51', '0.8', '0.999'):
        d = e * mpf(part)
        assert abs(diff(lambda x: BARRIERS[kind](x, e), d) - barriers.SLOPES[kind](d, e)) < mpf('1e-20'), part


@pytest.mark.parametrize('kind', barriers.TYPES)
def test_barrier_forces(kind):
    """The force is repulsive, and zero from the end of the range on. With physical scaling it depends only on the
    shape, not on the unit."""
    dhat, dmin, kappa = mpf('0.0625'), mpf('0.03125'), mpf(100)

    def force(part, scaling='none', unit=1):
        return barriers.force(kind, scaling, unit * (dmin + dhat * part), unit * dhat, unit * dmin, kappa)
    inside = [force(mpf(x)) for x in ('0.25', '0.5', '0.75', '0.999')]
    assert all(a > b > 0 for a, b in zip(inside, inside[1:]))
    assert force(1) == force(2) == 0 and force(0) is force(mpf('-0.25')) is None
    assert abs(force(mpf('0.3'), 'physical', 10) / force(mpf('0.3'), 'physical') - 1) < mpf('1e-50')
    e, powers = (2 * dmin + dhat) * dhat, 0 if kind == 'normalized_clamped_log' else 2
    assert abs(force(mpf('0.3'), 'physical') * e**powers / (dhat * force(mpf('0.3'))) - 1) < mpf('1e-50')


# --- whole requests ---------------------------------------------------------------------------------------------------

def bare_evaluation(seed, law=None):
    request = generate_laws.request(seed, law)
    for vertices, lagged in (('velocities', 'lagged_velocities'), ('body_velocities', 'lagged_body_velocities')):
        if vertices in request:
            request.setdefault(lagged, request[vertices])
    request['hessian'] = {}
    return oracle.Evaluation(request)


def moved(motion, step, direction):
    return tuple([[x + step * d for x, d in zip(r, q)] for r, q in zip(*parts)] for parts in zip(motion, direction))


@pytest.mark.parametrize('seed', range(0, 100, ONE_IN))
def test_gradient_and_hessian_by_differences(seed):
    """Central differences of potential and gradient in 60 digits, along one direction of all degrees of freedom."""
    e = bare_evaluation(seed, laws.LAWS[seed % len(laws.LAWS)] if seed < 50 else None)
    e.move(e.motion)
    unit = max((abs(x) for part in e.motion for row in part for x in row), default=mpf(1)) or mpf(1)
    direction = tuple([[unit * mpf(((7 * i + 3 * a) % 11) - 5) for a in range(len(row))] for i, row in enumerate(part)]
                      for part in e.motion)
    flat_direction = [x for part in direction for row in part for x in row]
    if any(c.y in (c.eps, c.eps / 2, 2 * c.eps) for c in e.active()):
        return  # at a knot, each side has another derivative
    sizes = [min(c.eps, c.y or c.eps) / (max(c.size, c.eps) + unit_speed(c, direction)) for c in e.active()]
    h = min(sizes, default=mpf(1)) * mpf('1e-16')
    values = []
    for step in (-h, mpf(0), h):
        e.move(moved(e.motion, step, direction))
        values.append((e.potential(), e.gradient()))
    below, (_, gradient), above = values
    e.move(e.motion)
    slope = dot(gradient, flat_direction)
    size = max((abs(g * d) for g, d in zip(gradient, flat_direction)), default=0) or 1
    assert abs((above[0] - below[0]) / (2 * h) - slope) <= mpf('1e-9') * size
    product, size = [mpf(0)] * e.n_dofs, mpf(0)
    for r, c, v in e.triplets('full'):
        product[r] += v * flat_direction[c]
        size = max(size, abs(v * flat_direction[c]))
    worst = max((abs((a - b) / (2 * h) - p) for a, b, p in zip(above[1], below[1], product)), default=0)
    assert worst <= mpf('1e-9') * (size or 1)


def unit_speed(c, direction):
    """An upper bound of the rate at which the slip changes along a direction."""
    turns = [norm(w) * sum(c.radii) for _, w in c.split(direction)] if c.group in oracle.BODY_GROUPS else []
    return c.relative(direction)[1] * max(c.aniso) + sum(turns, mpf(0))


def test_formats_agree():
    seen, seeds = 0, range(0, 40, 1 if ONE_IN == 1 else 3)
    for seed in seeds:
        request = generate_laws.request(seed)
        request['outputs'] = ['hessian']
        matrices = []
        for form in ('triplets', 'csr', 'factors'):
            r = copy.deepcopy(request)
            r['hessian'] = {'format': form, 'projection': 'clamp'}
            e = oracle.Evaluation(r)
            matrices.append(dense(e, e.answer()['hessian']))
        size = max((abs(x) for row in matrices[0] for x in row), default=0) or 1
        seen += size != 1
        for other in matrices[1:]:
            assert all(abs(a - b) <= 1e-12 * size for p, q in zip(matrices[0], other) for a, b in zip(p, q)), seed
    assert seen > len(seeds) / 2


def dense(e, hessian):
    out = [[0.0] * e.n_dofs for _ in range(e.n_dofs)]

    def add(rows, cols, values):
        for r, c, v in zip(rows, cols, values):
            out[r][c] += v
    if hessian['format'] == 'triplets':
        add(hessian['rows'], hessian['cols'], hessian['values'])
    elif hessian['format'] == 'csr':
        ends = hessian['indptr']
        add([r for r in range(e.n_dofs) for _ in range(ends[r], ends[r + 1])], hessian['indices'], hessian['data'])
    else:
        for group, contacts in e.groups.items():
            for i, c in enumerate(contacts):
                j, inner = jacobian({k: v[i] for k, v in hessian[group].items()}), hessian[group]['inner'][i]
                m = len(j)
                index = {(a, b): k for k, (a, b) in enumerate((a, b) for a in range(m) for b in range(a, m))}
                dofs = c.dofs(e.n_vertices)
                for p, r in enumerate(dofs):
                    for q, s in enumerate(dofs):
                        out[r][s] += sum(j[a][p] * inner[index[min(a, b), max(a, b)]] * j[b][q]
                                         for a in range(m) for b in range(m))
    return out


def jacobian(factors):
    if 'jacobian' in factors:
        return factors['jacobian']
    return [[w * row[c] for w in factors['weights'] for row in factors['tangent_basis']]
            for c in range(len(factors['tangent_basis'][0]))]


# --- bodies -----------------------------------------------------------------------------------------------------------

def two_bodies(dim, **fields):
    d3 = dim == 3
    return {'dim': dim, 'friction': {'eps_v': 0.01, 'mu_s': 0.5, 'mu_k': 0.3, 'mu_transition': 'peak'},
            'body_positions': [[0.1, 0.2, 0.3][:dim], [-0.4, 0.7, 0.25][:dim]],
            'body_velocities': [[1, -0.4, 0.3, 0.2, 0.5, -0.7], [0.2, 0.1, -0.5, 0.3, -0.2, 0.9]] if d3 else
            [[1, -0.4, 0.8], [0.2, 0.1, -0.3]],
            'collisions': {'body_body': {'bodies': [[0, 1]], 'point': [0.3, 0.35, -0.1][:dim], 'normal': [1, 2, -0.5][:dim],
                                         'normal_force': 7, 'roll_radius': 0.05, **({'spin_radius': 0.1} if d3 else {}),
                                         **fields}}}


@pytest.mark.parametrize('dim', [2, 3])
def test_action_equals_reaction(dim):
    request = two_bodies(dim, mu_aniso=[0.7, 1.4][:dim - 1], viscous=3, anchor=[0.1, 0.2, 0.3][:dim])
    e = oracle.Evaluation(request)
    e.answer()
    a, b = e.split(e.gradient())[1]
    assert all(abs(x + y) < mpf('1e-50') for x, y in zip(a[:dim], b[:dim]))
    totals = [[w + t for w, t in zip(g[dim:], moment(p, g[:dim]))] for g, p in zip((a, b), e.body_positions)]
    assert any(abs(x) > 0.1 for x in totals[0]) and all(abs(x + y) < mpf('1e-50') for x, y in zip(*totals))


def moment(arm, force):
    return cross(arm, force) if len(arm) == 3 else [arm[0] * force[1] - arm[1] * force[0]]


@pytest.mark.parametrize('dim', [2, 3])
def test_moving_together_and_a_body_at_rest(dim):
    request = two_bodies(dim)
    request['body_velocities'][1] = [0] * (3 * dim - 3)
    alone = copy.deepcopy(request)
    alone['collisions'] = {'body_world': {**request['collisions']['body_body'], 'bodies': [0]}}
    both, one = oracle.evaluate(request), oracle.evaluate(alone)
    assert both['potential'] == one['potential'] and both['body_gradient'][0] == one['body_gradient'][0]
    together = oracle.Evaluation(two_bodies(dim))
    together.answer()
    before = together.potential()
    v, w = [mpf('0.3'), mpf('-0.2'), mpf('0.9')][:dim], [mpf('0.4'), mpf(1), mpf('-0.6')][:2 * dim - 3]
    rigid = [[x + y for x, y in zip(t, [a + b for a, b in zip(v, sweep(w, p))] + w)]
             for t, p in zip(together.motion[1], together.body_positions)]
    together.move(([], rigid))
    assert abs(together.potential() - before) < mpf('1e-50')


def sweep(w, p):
    return cross(w, p) if len(p) == 3 else [-w[0] * p[1], w[0] * p[0]]


def test_spinning_disc_by_hand():
    """A disc spins about the normal, far beyond eps_v: the torque is mu lambda spin_radius."""
    request = two_bodies(3, spin_radius=0.1, roll_radius=0)
    request['collisions'] = {'body_world': {'bodies': [0], 'point': [0.1, 0.2, 0], 'normal': [0, 0, 2], 'normal_force': 7,
                                            'spin_radius': 0.1}}
    request['body_velocities'] = [[0, 0, 0, 0, 0, 5], [0] * 6]
    request['outputs'], request['collision_outputs'] = ['gradient', 'collisions'], ['spin', 'rolling', 'slip_ratio']
    answer = oracle.evaluate(request)
    assert answer['body_gradient'][0] == [0, 0, 0, 0, 0, pytest.approx(0.3 * 7 * 0.1, rel=1e-15)]
    assert answer['collisions']['body_world'] == {'spin': [5.0], 'rolling': [[0.0, 0.0]],
                                                  'slip_ratio': [pytest.approx(50, rel=1e-15)]}


def test_grain_by_hand():
    """A belt in the x-y plane with a grain along (1, 1, 5), so that slip along it is along the first axis."""
    request = {'dim': 3, 'velocities': [[3, 3, 9]], 'friction': {'mu': 0.5, 'eps_v': 0.1}, 'outputs': ['collisions'],
               'collision_outputs': ['tangential_velocity', 'tangent_basis', 'anchor', 'friction_force'],
               'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 0, 2], 'normal_force': 2,
                                               'grain': [1, 1, 5], 'surface_velocity': [1, 0, 0], 'anchor': [0, 1, 4]}}}
    got, root = oracle.evaluate(request)['collisions']['plane_vertex'], 2 ** -0.5
    assert got['tangent_basis'][0] == [[pytest.approx(root), pytest.approx(-root)], [pytest.approx(root)] * 2, [0, 0]]
    assert got['tangential_velocity'][0] == [pytest.approx(6 * root), pytest.approx(2 * root)]
    length = 20 ** 0.5
    assert got['anchor'][0] == [pytest.approx(0.2 / length), pytest.approx(0.4 / length), 0]
    assert got['friction_force'][0] == [pytest.approx(-2 / length), pytest.approx(-4 / length), 0]


# --- the random requests ----------------------------------------------------------------------------------------------

@pytest.mark.skipif(ONE_IN > 1, reason="changes only with the generator; SHARE=1 runs it")
def test_every_option_is_generated():
    """The first 200 requests contain every word, and slips in every range."""
    requests = [generate_laws.request(seed) for seed in range(200)]
    text = repr(requests)
    words = [*generate_laws.COLLISION_OUTPUTS, *laws.LAWS, *barriers.TYPES, *oracle.BODY_GROUPS, *oracle.GROUPS,
             *generate.OUTPUTS, 'peak', 'quadratic', 'cubic', 'physical', 'stribeck_speed', 'viscous', 'surface_velocity', 'grain',
             'spin_radius', 'roll_radius', 'body_material', 'vertex_material', 'lagged_body_velocities', 'body_direction',
             'direction', 'hessian_products', 'line', 'csr', 'bsr', 'factors', 'triplets', 'upper', 'lower', 'clamp', 'abs',
             'mu_aniso', 'mu_s_aniso', 'vertex_mu', 'blend', 'skip']
    assert [w for w in words if f"'{w}'" not in text] == []
    where, reasons, alone, mixed, one_for_all = {}, set(), 0, 0, 0
    for r in requests:
        groups = r['collisions']
        alone += not oracle.flat(r.get('velocities', []))
        mixed += any(g in groups for g in oracle.BODY_GROUPS) and any(g in groups for g in oracle.GROUPS)
        one_for_all += any(isinstance(f.get('viscous'), float) for f in groups.values())
        e = oracle.Evaluation(r)
        e.answer()
        reasons |= {c.skipped for c in e.all() if c.skipped}
        for c in e.active():
            z = c.y / c.eps
            place = next(k for k, end in enumerate((1e-30, 0.1, 0.99, 1.01, 2, 5, 1e99)) if z <= end)
            name = r['friction'].get('law', 'smooth')
            where.setdefault(name, [0] * 7)[place] += 1
    assert set(where) == set(laws.LAWS)
    assert all(sum(row[k] for row in where.values()) > 5 for k in range(7)), where
    assert all(min(row[1:]) > 0 for row in where.values()), where
    assert 'grain_along_normal' in reasons and min(alone, mixed, one_for_all) > 10, (reasons, alone, mixed, one_for_all)
