"""The transition peak: random requests against the independent evaluation program (tests/oracle), and the law functions
against its exact values.

RANDOM_REQUESTS: how many (100); RANDOM_FIRST: the first seed (0).
"""
import math
import os
import random
import sys
from fractions import Fraction

import pytest
from mpmath import mpf

from conftest import ONE_IN

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import compare  # noqa: E402
import generate  # noqa: E402
import law  # noqa: E402
import oracle  # noqa: E402
import peak  # noqa: E402
from client import pointers, post  # noqa: E402

TOLERANCE, ULPS = 1e-9, 8
FIRST, COUNT = int(os.environ.get('RANDOM_FIRST', 0)), int(os.environ.get('RANDOM_REQUESTS', 100 // ONE_IN))
FUNCTIONS = {'law_potential': 'f0', 'law_force': 'f1', 'law_force_derivative': 'f2',
             'law_force_over_speed': 'f1_over_x'}
CURVES = {'law_potential': 'smooth_mu_f0', 'law_force': 'smooth_mu_f1', 'law_force_derivative': 'smooth_mu_f2',
          'law_force_over_speed': 'smooth_mu_f1_over_x'}
LARGEST = Fraction(sys.float_info.max)
worst_seen = []


@pytest.mark.parametrize('seed', range(FIRST, FIRST + COUNT))
def test_request(server, seed):
    """The request with every output; tests/oracle/test_oracle.py makes sure that all options occur."""
    request = generate.request(seed, 'peak')
    request.update(outputs=generate.OUTPUTS, collision_outputs=generate.COLLISION_OUTPUTS)
    if needs_origin(request):
        request['collision_outputs'] = [x for x in generate.COLLISION_OUTPUTS if x != 'distance']
    status, answer = post(server, '/v1/evaluate', request)
    assert status == 200, (answer, request)
    largest, words, structure = compare.worst(answer, oracle.evaluate(request))
    assert structure == [], request
    worst_seen.append((largest, seed, words))
    assert largest <= TOLERANCE, (words, request)


def needs_origin(request):
    group = request['collisions'].get('plane_vertex', {})
    return bool(group) and ('plane_origin' not in group or 'positions' not in request)


@pytest.mark.parametrize('seed', range(FIRST, FIRST + COUNT, 4))
def test_check(server, seed):
    """The service compares gradient and Hessian with central differences of a second implementation of the
    potential."""
    request = generate.request(seed, 'peak')
    request.get('hessian', {}).pop('projection', None)
    status, answer = post(server, '/v1/check', request)
    assert status == 200 and answer['agrees'], (answer, request)


def test_report(capsys):
    assert len(worst_seen) > 0
    largest, seed, words = max(worst_seen)
    with capsys.disabled():
        print(f'\nworst of {len(worst_seen)} random requests with peak: {largest:.2e} (seed {seed}: {words})')


# --- the law functions ------------------------------------------------------------------------------------------------

PAIRS = [(1.0, 0.1), (0.3, 0.6), (0.5, 0.5), (0.0, 0.4), (0.7, 0.0), (0.0, 0.0), (1.0, 1e-9), (1e-12, 0.8),
         (1e-200, 1e200), (0.6, math.nextafter(0.6, 1)), (0.6, math.nextafter(0.6, 0)), (1.7, math.nextafter(1.7, 2)),
         (1e5, 0.3),
         (1 / 3, 2 / 3), (17 / 7, 1.0), (1.0, 1 - 1e-9), (1.0, 1 + 1e-12), (5e-324, 1.0), (1e-310, 3e-310)]
EPS = [1e-150, 2.5e-77, 1e-8, 1e-3, 0.5, 1.0, 3.0, 1e4, 6e99, 1e150]
TINY = [0.0, 5e-324, 1e-310, 2.2250738585072014e-308, 1e-200, 1e-150]


def points(rng, mu_s, mu_k, eps):
    """Speeds at and around the knots, at rest and far beyond."""
    exact = [Fraction(1)]
    if mu_s or mu_k:
        exact += peak.knots(Fraction(mu_s), Fraction(mu_k))
    knots = [float(z * Fraction(eps)) for z in exact]
    ys = [y for knot in knots for y in law.beside(knot, 3)]
    ys += [y * (1 + sign * 2.0 ** -k) for y in knots for sign in (-1, 1) for k in (8, 20, 30, 40, 46)]
    ys += [eps * rng.uniform(0, 1) for _ in range(15)] + [eps * 10 ** rng.uniform(-12, 3) for _ in range(10)]
    return [y * rng.choice([1, 1, -1]) for y in ys + TINY + [1e150]]


def rows():
    rng = random.Random('peak')
    pairs = PAIRS + [tuple(rng.uniform(0, 2) for _ in range(2)) for _ in range(10)]
    pairs += [(mu, math.nextafter(mu, rng.choice([0, 9]))) for mu in [rng.uniform(0, 2) for _ in range(5)]]
    return [(y, mu_s, mu_k, eps) for mu_s, mu_k in pairs for eps in rng.sample(EPS, 2) + [1.0]
            for y in points(rng, mu_s, mu_k, eps)]


ROWS = rows()


def expected(name, row):
    """(value, scale) as Fractions."""
    y, *rest = (Fraction(x) for x in row)
    value = peak.law(name, abs(y), *rest)
    return -value if y < 0 and name == 'f1' else value, peak.largest_term(name, abs(y), *rest)


def fits(value):
    return abs(value) < LARGEST * (1 - Fraction(1, 2**50))


def call(table, **more):
    y, mu_s, mu_k, eps_v = map(list, zip(*table))
    return {'y': y, 'mu_s': mu_s, 'mu_k': mu_k, 'eps_v': eps_v, 'mu_transition': 'peak', **more}


def ulp(scale):
    return Fraction(math.ulp(float(min(scale, LARGEST))))


@pytest.mark.parametrize('function', FUNCTIONS)
def test_accuracy(server, function):
    rows = ROWS if ONE_IN == 1 else random.Random(function).sample(ROWS, len(ROWS) // 3)
    table = [(row, *expected(FUNCTIONS[function], row)) for row in rows]
    table = [entry for entry in table if fits(entry[1])]
    status, answer = post(server, '/v1/functions/' + function, call([row for row, *_ in table]))
    assert status == 200, answer
    off = [(float(abs(Fraction(got) - value) / ulp(scale)), row, got)
           for got, (row, value, scale) in zip(answer['values'], table)]
    assert len(table) > (3000 if ONE_IN == 1 else 1000)
    assert [x for x in off if x[0] > ULPS] == [], f'worst {max(off)}'


@pytest.mark.parametrize('function,row', [
    ('law_potential', (1, 1, 1e200, 1e150)), ('law_potential', (1e150, 1, 1e200, 1)),
    ('law_force_derivative', (0, 1e200, 1, 1e-150)), ('law_force_over_speed', (0, 1e200, 1, 1e-150)),
    ('law_force_over_speed', (5e-324, 1, 1, 5e-324))])
def test_what_a_double_cannot_hold(server, function, row):
    status, problem = post(server, '/v1/functions/' + function, call([row]))
    assert (status, pointers(problem)) == (422, ['/y/0'])


@pytest.mark.parametrize('transition', ['cubic', 'quadratic'])
@pytest.mark.parametrize('function', FUNCTIONS)
def test_of_a_curve_of_mu_they_are_mu_times_f(server, function, transition):
    """Law and smooth_mu functions agree, each within a few ulp of the largest term."""
    table = [row for row in ROWS if row[3] == 1 and max(row[1:3]) < 1e10]
    sent = call(table, mu_transition=transition)
    status, answer = post(server, '/v1/functions/' + function, {**sent, 'law': 'smooth'})
    also, curve = post(server, '/v1/functions/' + CURVES[function], sent)
    assert (status, also) == (200, 200)
    for row, got, other in zip(table, answer['values'], curve['values']):
        scale = float(law.largest_term(FUNCTIONS[function], *map(mpf, row), transition))
        assert abs(got - other) <= ULPS * math.ulp(scale), row


@pytest.mark.parametrize('seed', range(10))
def test_peak_is_exact(server, seed):
    """The force is mu_s at the end of its rise and mu_k from eps_v on, to the last bit; it never exceeds the larger
    one."""
    rng = random.Random(seed)
    pairs = [(rng.uniform(0, 2), rng.uniform(0, 2)) for _ in range(40)]
    pairs += [(mu, math.nextafter(mu, rng.choice([0, 3]))) for mu in [rng.uniform(0, 2) for _ in range(40)]]
    for mu_s, mu_k in pairs:
        p, _ = peak.knots(Fraction(mu_s), Fraction(mu_k))
        eps = 2.0 ** rng.randrange(-40, 40)
        speeds = sorted({*law.beside(float(p) * eps, 4), *law.beside(eps, 4), *(eps * rng.uniform(0, 1.2) for _ in range(60))})
        _, answer = post(server, '/v1/functions/law_force', call([(y, mu_s, mu_k, eps) for y in speeds]))
        force = dict(zip(speeds, answer['values']))
        assert max(force.values()) == max(mu_s, mu_k)
        assert force[float(p) * eps] == mu_s and all(value == mu_k for y, value in force.items() if y >= eps)


def test_equal_coefficients_give_the_plain_law(server):
    """All transitions are then mu f1, to the last bit."""
    mu = [random.Random(i).uniform(0, 2) for i in range(200)]
    table = [(random.Random(-i - 1).uniform(0, 1.1), m, m, 1.0) for i, m in enumerate(mu)]
    plain = post(server, '/v1/functions/smooth_friction_f1', {'y': [row[0] for row in table], 'eps_v': 1})[1]['values']
    force = post(server, '/v1/functions/law_force', call(table))[1]['values']
    cubic = post(server, '/v1/functions/law_force', call(table, mu_transition='cubic'))[1]['values']
    assert all(abs(f - m * one) <= math.ulp(f) for f, m, one in zip(force, mu, plain))
    assert force == cubic
