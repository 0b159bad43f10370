"""Tests of the independent evaluation program: reference values, recorded frames, its own finite differences."""
import copy
import os
import sys
from fractions import Fraction

import pytest
from mpmath import mp, mpf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import barriers  # noqa: E402
import generate  # noqa: E402
import oracle  # noqa: E402
import peak  # noqa: E402
import from_reference as made  # noqa: E402
from law import BLENDS, law, to_double  # noqa: E402

ONE_IN = max(1, int(os.environ.get('SHARE', 1)))  # set by tests/run


@pytest.mark.parametrize('c', made.load('collisions.json')['collisions'],
                         ids=lambda c: f"{c['id']}-{c['type']}-{c['dim']}d")
def test_reference_contacts(c):
    for projection in ('none', 'clamp'):
        found = made.contact_differences(c, oracle.evaluate(made.contact_request(c, projection)), projection)
        assert max(found.values()) <= 1e-7, found


@pytest.mark.parametrize('given', [True, False], ids=['given', 'derived'])
def test_frames(given):
    frames = made.frames()
    if not frames:
        pytest.skip(made.NO_FRAMES)
    for name, frame in frames[::8]:
        request = made.frame_request(frame, given)
        answer = oracle.evaluate(request)
        assert abs(answer['potential'] - frame['energy']) <= 1e-11 * abs(frame['energy']), name
        assert made.distance(answer['gradient'], frame['gradient']) <= 1e-11 * max(map(abs, frame['gradient'])), name
        expected = [[0.0] * 48 for _ in range(48)]
        for r, c, v in frame['hessian_triplets']:
            expected[r][c] += v
        scale = max(map(abs, made.flat(expected)))
        assert made.distance(made.flat(made.dense(answer['hessian'])), made.flat(expected)) <= 1e-11 * scale, name


@pytest.mark.parametrize('sample', made.load('normal_force.json')['samples'])
def test_normal_force(sample):
    barrier = {k: sample[k] for k in ('dhat', 'stiffness', 'dmin')}
    if sample['distance'] <= sample['dmin']:
        with pytest.raises(oracle.Degenerate):
            oracle.barrier_force(mpf(sample['distance']), barrier, oracle.Margins())
        return
    got = float(oracle.barrier_force(mpf(sample['distance']), barrier, oracle.Margins()))
    assert abs(got - sample['force_magnitude']) <= made.force_tolerance(sample)


def test_all_barriers():
    """Compares with differences of the barriers themselves (tests/reference/make_barriers.py)."""
    table = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'reference', 'barriers_mp.txt')
    seen = set()
    with open(table) as lines, mp.workdps(1300):
        for line in lines:
            kind, *numbers = line.split()
            distance, dhat, stiffness, dmin, *expected = map(float.fromhex, numbers)
            for scaling, force in zip(('none', 'physical'), expected):
                barrier = {'dhat': dhat, 'stiffness': stiffness, 'dmin': dmin, 'type': kind, 'scaling': scaling}
                assert to_double(oracle.barrier_force(mpf(distance), barrier, oracle.Margins())) == force, line
                seen.add((kind, scaling))
    assert len(seen) == 2 * len(barriers.TYPES)


def written_formulas(transition, z, s, k):
    """The polynomials of docs/physics.md, for eps = 1, z < 1."""
    d = k - s
    if transition == 'cubic':
        return {'mu': s + d * (3 * z**2 - 2 * z**3), 'mu_derivative': 6 * d * (z - z**2),
                'f0': (17 * k - 7 * s) / 30 + s * (z**2 - z**3 / 3)
                + d * (Fraction(3, 2) * z**4 - Fraction(7, 5) * z**5 + z**6 / 3),
                'f1': s * (2 * z - z**2) + d * (6 * z**3 - 7 * z**4 + 2 * z**5),
                'f1_over_x': s * (2 - z) + d * (6 * z**2 - 7 * z**3 + 2 * z**4),
                'f2': s * (2 - 2 * z) + d * (18 * z**2 - 28 * z**3 + 10 * z**4),
                'third': -s / z + d * (12 - 21 * z + 8 * z**2)}
    if 2 * z < 1:
        return {'mu': s + 2 * d * z**2,
                'f0': (27 * k - 11 * s) / 48 + s * (z**2 - z**3 / 3) + d * (z**4 - Fraction(2, 5) * z**5)}
    return {'mu': k - 2 * d * (1 - z)**2,
            'f0': (9 * k - 4 * s) / 15 + (2 * s - k) * z**2 + (3 * k - Fraction(10, 3) * s) * z**3 - 2 * d * z**4
            + Fraction(2, 5) * d * z**5}


@pytest.mark.parametrize('transition', BLENDS)
def test_law_is_the_written_one(transition):
    for i in range(1, 64):
        z, s, k = Fraction(i, 64), Fraction(13, 16), Fraction(5, 32)
        for name, value in written_formulas(transition, z, s, k).items():
            got = law(name, mpf(i) / 64, mpf(13) / 16, mpf(5) / 32, mpf(1), transition)
            assert abs(got - mpf(value.numerator) / value.denominator) < mpf('1e-50'), (name, i)


@pytest.mark.parametrize('transition', BLENDS)
def test_law_is_consistent_by_differences(transition):
    h = mpf('1e-20')
    s, k, eps = mpf('0.8'), mpf('0.3'), mpf('0.01')
    for y in [mpf('0.001'), mpf('0.0049'), mpf('0.0051'), mpf('0.0099'), mpf('0.02'), mpf('-0.003')]:
        def f(name, x):
            return law(name, x, s, k, eps, transition)
        for low, high in (('mu', 'mu_derivative'), ('f0', 'f1'), ('f1', 'f2')):
            slope = (f(low, y + h) - f(low, y - h)) / (2 * h)
            assert abs(slope - f(high, y)) < mpf('1e-15') * max(1, abs(f(high, y))), (low, y)
        assert abs(f('f1_over_x', y) - f('f1', y) / y) < mpf('1e-40')
        assert abs(f('third', y) - (f('f2', y) * y - f('f1', y)) / y**3) < mpf('1e-40') * abs(f('third', y))


PEAK_PAIRS = [(Fraction(13, 16), Fraction(5, 32)), (Fraction(1, 4), Fraction(3, 4)), (Fraction(1), Fraction(0)),
              (Fraction(0), Fraction(2)), (Fraction(1, 3), Fraction(1, 3)),
              (Fraction(2, 3), Fraction(2, 3) + Fraction(1, 2**53))]


def peak_at(name, z, pair):
    return peak.law(name, z, *pair, Fraction(1))


@pytest.mark.parametrize('pair', PEAK_PAIRS)
def test_peak_joins(pair):
    """Force and slope are continuous, and bounded as the coefficients meet; the force peaks at the larger one."""
    h = Fraction(1, 10**80)
    s, k = pair
    assert peak_at('f1', Fraction(0), pair) == 0 and peak_at('f1', Fraction(1), pair) == k
    assert peak_at('f1', peak.knots(s, k)[0], pair) == s
    for z in {*peak.knots(s, k), Fraction(1)}:
        for name, bound in (('f0', 2), ('f1', 10), ('f2', max(k, s) / max(abs(k - s), 2 * h) * 100)):
            assert abs(peak_at(name, z + h, pair) - peak_at(name, z - h, pair)) <= 2 * h * bound, (z, name)
    grid = [Fraction(i, 200) for i in range(300)]
    assert all(0 <= peak_at('f1', z, pair) <= max(s, k) for z in grid)
    assert all(abs(peak_at('f2', z, pair)) <= 4 * max(s, k) for z in grid)


@pytest.mark.parametrize('pair', PEAK_PAIRS)
def test_peak_is_consistent(pair):
    """Potential, force and derivative by differences that are exact for the parabolas, away from the knots."""
    h = Fraction(1, 10**30)
    s, k = pair
    for z in {Fraction(i, 199) for i in range(1, 260)} - {*peak.knots(s, k), 1}:
        up, down = ({name: peak_at(name, z + d, pair) for name in ('f0', 'f1')} for d in (h, -h))
        assert abs((up['f0'] - down['f0']) / (2 * h) - peak_at('f1', z, pair)) <= 20 * h**2
        assert (up['f1'] - down['f1']) / (2 * h) == peak_at('f2', z, pair)
        assert peak_at('f1_over_x', z, pair) * z == peak_at('f1', z, pair)
    p, _ = peak.knots(s, k)
    assert peak_at('f0', Fraction(1), pair) == k
    assert peak_at('f0', Fraction(0), pair) == k - Fraction(2, 3) * s * p - (s + k) * (1 - p) / 2
    assert peak_at('f1_over_x', Fraction(0), pair) == 2 * s / p == peak_at('f2', Fraction(0), pair)


def test_peak_of_equal_coefficients_is_the_plain_law():
    mu, eps = mpf(2) / 3, mpf('0.01')
    for y in [mpf(0), mpf('0.001'), mpf('-0.0075'), mpf('0.00999'), mpf('0.01'), mpf('0.5')]:
        for name in ('f0', 'f1', 'f2', 'f1_over_x'):
            plain, got = law(name, y, mu, mu, eps, 'cubic'), law(name, y, mu, mu, eps, 'peak')
            assert abs(got - plain) <= mpf('1e-55') * abs(plain), (name, y)
    assert law('f1', mpf('0.004'), mpf(0), mpf(0), eps, 'peak') == 0


@pytest.mark.skipif(ONE_IN > 1, reason="changes only with the generator; SHARE=1 runs it")
def test_peak_in_random_requests():
    """The requests of tests/integration/test_peak.py contain every case."""
    requests = [generate.request(seed, 'peak') for seed in range(100)]
    text = repr(requests)
    words = generate.COLLISION_OUTPUTS + oracle.GROUPS + generate.OUTPUTS + [
        'vertex_mu_s', 'materials', 'mu_s_aniso', 'mu_k_aniso', 'mu_aniso', 'lagged_velocities', 'closest_point',
        'barrier', 'clamp', 'abs', 'csr', 'factors', 'triplets', 'skip']
    assert [w for w in words if f"'{w}'" not in text] == []
    assert all(r['friction']['mu_transition'] == 'peak' for r in requests)
    assert {r['dim'] for r in requests} == {2, 3}
    where = [0, 0, 0, 0]
    for r in requests:
        e = oracle.Evaluation(r)
        e.answer()
        for c in e.all():
            if c.skipped is None and any(c.mu):
                where[sum(c.y / c.eps > knot for knot in (*peak.knots(*c.mu), 1))] += 1
    assert min(where) > 10, where


def test_scalar_reference():
    for row in made.load('scalars.json')['smooth_mu_quadratic'] + made.load('scalars.json')['smooth_friction']:
        s, k = mpf(row.get('mu_s', 1)), mpf(row.get('mu_k', 1))
        names = {'mu': 'mu', 'mu_derivative': 'mu_derivative', 'f0': 'f0', 'f1': 'f1', 'f2': 'f2',
                 'f1_over_x': 'f1_over_x',
                 'f2_x_minus_mu_f1_over_x3': 'third', 'f2_x_minus_f1_over_x3': 'third'}
        for key, name in names.items():
            if key not in row or isinstance(row[key], str):
                continue
            value = law(name, mpf(row['y']), s, k, mpf(row['eps_v']), 'quadratic')
            if value is not None:
                eps = mpf(row['eps_v'])
                natural = max(s, k) * {'mu_derivative': 1 / eps, 'f0': eps, 'f2': 1 / eps,
                                       'third': 21 / eps**3}.get(name, 1)
                natural *= mpf('1e-12') if row['y'] < row['eps_v'] else 0
                assert abs(value - mpf(row[key])) <= mpf('1e-12') * abs(value) + natural + mpf('1e-300'), (row, key,
                                                                                                           float(value))


def test_to_double_rounds_correctly():
    mp_dps, mp.dps = mp.dps, 400
    try:
        tiny = mpf(2) ** -1074
        assert to_double(tiny / 2) == 0.0 and to_double(tiny * mpf('0.51')) == 5e-324
        assert to_double(mpf(2) ** 1024) == float('inf') and to_double(-mpf(2) ** 1024) == float('-inf')
        assert to_double(mpf(1) + mpf(2) ** -53 + mpf(2) ** -300) == 1 + 2.0 ** -52
    finally:
        mp.dps = mp_dps


def smooth_evaluation(first):
    """The first random request from this seed on in which no contact is skipped, at a knot or at rest."""
    for seed in range(first, first + 100):
        request = generate.request(seed)
        request.setdefault('lagged_velocities', oracle.flat(request['velocities']))
        request['hessian'] = {}
        e = oracle.Evaluation(request)
        e.answer()
        if e.all() and not any(c.skipped or c.y in (0, c.eps, c.eps / 2) for c in e.all()):
            return e
    raise AssertionError('nothing smooth')


@pytest.mark.parametrize('first', range(0, 3000, 100 * ONE_IN))
def test_gradient_and_hessian_by_differences(first):
    """Central differences of potential and gradient in 60 digits, along one direction."""
    e = smooth_evaluation(first)
    base = e.motion[0]
    direction = [[mpf(((7 * i + 3 * a) % 11) - 5) for a in range(e.dim)] for i in range(e.n_vertices)]

    def at(step):
        v = [[x + step * d for x, d in zip(r, q)] for r, q in zip(base, direction)]
        e.move((v, []), margins=oracle.Margins())
        return e.potential(), e.gradient()
    h = min(x for c in e.all() for x in (c.eps, c.y)) * mpf('1e-14')
    up, down = at(h), at(-h)
    _, gradient = at(mpf(0))
    flat_direction = [x for row in direction for x in row]
    slope = sum((g * d for g, d in zip(gradient, flat_direction)), mpf(0))
    size = max((abs(g) for g in gradient), default=0) or 1
    assert abs((up[0] - down[0]) / (2 * h) - slope) <= mpf('1e-12') * size
    product = [mpf(0)] * len(gradient)
    for r, c, v in e.triplets('full'):
        product[r] += v * flat_direction[c]
    size = max((abs(v) for _, _, v in e.triplets('full')), default=0) or 1
    worst = max((abs((a - b) / (2 * h) - p) for a, b, p in zip(up[1], down[1], product)), default=0)
    assert worst <= mpf('1e-12') * size


@pytest.mark.parametrize('seed', range(0, 40, ONE_IN))
def test_formats_agree(seed):
    request = generate.request(seed)
    request['outputs'] = ['hessian']
    matrices = []
    for form in ('triplets', 'csr', 'factors'):
        r = copy.deepcopy(request)
        r['hessian'] = {'format': form, 'projection': 'abs'}
        for name, g in r['collisions'].items():
            k = oracle.STENCIL[name]
            ids = oracle.flat(g['vertices'])
            g['vertices'] = [ids[i:i + k] for i in range(0, len(ids), k)] if k > 1 else ids
        h = oracle.evaluate(r)['hessian']
        matrices.append(made.flat(made.dense_from_factors(h, r) if form == 'factors' else made.dense(h)))
    size = max(map(abs, matrices[0]), default=0) or 1
    assert made.distance(matrices[0], matrices[1]) <= 1e-13 * size
    assert made.distance(matrices[0], matrices[2]) <= 1e-13 * size


def test_every_option_is_generated():
    """The first 400 requests contain every word of the contract; those after the last word are not made."""
    words = set(generate.BLENDS + generate.COLLISION_OUTPUTS + oracle.GROUPS + [
        'lagged_velocities', 'vertex_mu_s', 'materials', 'plane_material', 'quadratic', 'mu_s_aniso', 'mu_k_aniso',
        'mu_aniso',
        'closest_point', 'plane_origin', 'clamp', 'abs', 'upper', 'lower', 'csr', 'factors', 'skip', 'barrier',
        'weight', 'line', 'hessian_products', 'bsr', 'pattern', 'scaling', 'physical', *barriers.TYPES])
    for seed in range(400):
        text = repr(generate.request(seed)) if words else ''
        words = {w for w in words if f"'{w}'" not in text}
    assert words == set()
