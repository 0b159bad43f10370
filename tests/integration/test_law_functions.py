"""law_potential, law_force, law_force_over_speed and law_force_derivative of every law over HTTP, against 60 digits:
within 8 ulp of the largest term of the expanded formulas, plus the effect of rounding x where a law has e^-(x^2) or
e^-x. test_peak.py and test_functions.py test the transitions of the law smooth."""
import math
import os
import random
import sys

import pytest
from mpmath import exp, mpf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import laws  # noqa: E402
from client import call, pointers, post  # noqa: E402

NAMES = {'law_potential': 0, 'law_force': 1, 'law_force_over_speed': 2, 'law_force_derivative': 3}
ULPS, UNIT, SMALLEST = 8, mpf(2)**-52, mpf(2)**-1074
BEYOND = ['stribeck', 'exponential', 'curve', 'adhesion']
COUNT = 400


def measured(rng, unit):
    """A curve of some points, in units of a speed."""
    speeds, factors = [0.0], [1.0]
    for _ in range(rng.choice([1, 2, 7, 30])):
        speeds.append(speeds[-1] + unit * 10 ** rng.uniform(-1, 1))
        factors.append(rng.choice([factors[-1], 0.0, rng.uniform(0, 2), rng.uniform(0, 2)]))
    return {'speeds': speeds, 'factors': factors}


def draw(law, rng):
    """A request body with several entries and an eps_v of any size."""
    eps = 10 ** rng.uniform(-150, 150)
    speed = eps * 10 ** rng.uniform(-3, 3)
    one = law in laws.ONE_COEFFICIENT
    mu_s = rng.choice([0.0, 0.5, 10 ** rng.uniform(-6, 1)])
    body = {'eps_v': eps, 'law': law, 'mu_s': mu_s, 'mu_k': mu_s if one else rng.choice([0.0, 0.3, 10 ** rng.uniform(-6, 1)])}
    if law in laws.DECAYS:
        body['stribeck_speed'] = speed
    if law == 'curve':
        body['curve'] = measured(rng, speed)
    if rng.random() < 0.4:
        body['viscous'] = rng.choice([0.0, 10 ** rng.uniform(-3, 3) / eps])
    far = {'stribeck': 26.5, 'exponential': 690}.get(law, 40)
    body['y'] = [*(eps * rng.choice([0, 1, 10 ** rng.uniform(-20, 0), rng.uniform(0, 1), 1 - 10 ** rng.uniform(-15, -1)])
                   for _ in range(8)),
                 *(eps + (speed if law in laws.DECAYS or law == 'curve' else eps) * rng.choice(
                     [far, rng.uniform(0, far), 10 ** rng.uniform(-15, math.log10(far))]) for _ in range(8)),
                 2 * eps, math.nextafter(2 * eps, 0), math.nextafter(eps, 0), math.nextafter(eps, math.inf), 10 ** 3 * far * speed]
    return body


def exact(friction, y, body):
    """(G0, G1, G1/y, G2) with the viscous term."""
    mu = (mpf(body['mu_s']), mpf(body['mu_k']))
    eps, speed, nu = (mpf(body.get(k, d)) for k, d in (('eps_v', 1), ('stribeck_speed', 1), ('viscous', 0)))
    g0, slope, g2 = laws.of(friction)(y, mu, eps, speed)
    return g0 + nu * y * y / 2, (slope + nu) * y, slope + nu, g2 + nu


def terms(friction, y, body):
    """For each of the four: (largest term, effect of rounding the argument of the exponential or the curve)."""
    s, k, nu = (mpf(body.get(name, 0)) for name in ('mu_s', 'mu_k', 'viscous'))
    eps, speed = mpf(body['eps_v']), mpf(body.get('stribeck_speed', 1))
    law, z, drag = body['law'], y / eps, (nu * y * y / 2, nu * y, nu)
    if y < eps or law == 'adhesion':
        if z >= 2:
            return [(max(a, 4 * s * eps / 3 * (i == 0)), 0) for i, a in enumerate((*drag[:2], drag[2], drag[2]))]
        size = s * eps * max(mpf(1) / 3 if law != 'adhesion' else 0, z * z), 2 * s * z, 2 * s / eps, 2 * s / eps * max(1, z)
        return [(max(a, b), 0) for a, b in zip(size, (*drag, nu))]
    x, fall = (y - eps) / speed, abs(s - k)
    if law == 'curve':
        return of_curve(friction, y, body, (*drag, nu))
    left, conditioning = (exp(-x * x), 4 * x * x) if law == 'stribeck' else (exp(-x), 4 * x)
    force, slope = fall * left, fall * left / speed * (2 * x if law == 'stribeck' else 1)
    return [(max(s * eps, k * (y - eps), fall * speed * min(x, 1), drag[0]), 0),
            (max(k, force, drag[1]), conditioning * force), (max(k, force, drag[1]) / y, conditioning * force / y),
            (max(slope, nu), conditioning * slope)]


def of_curve(friction, y, body, drag):
    mu, eps = mpf(body['mu_s']), mpf(body['eps_v'])
    m = laws.Measured(**friction['curve'])
    x = y - eps
    if x >= m.speeds[-1]:
        value, jump, bend, steep = m.factors[-1], mpf(0), mpf(0), mpf(0)
    else:
        i = next(i for i in range(len(m.widths)) if x < m.speeds[i + 1])
        c, h = m.powers(i), m.widths[i]
        value, steep = max(m.factors[i:i + 2]), max(abs(c[1]), 2 * abs(c[2]), 3 * abs(c[3])) / h
        jump, bend = x * (abs(c[1]) + 2 * abs(c[2]) + 3 * abs(c[3])) / h, x * (2 * abs(c[2]) + 6 * abs(c[3])) / h**2
    return [(max(mu * eps, mu * x * max(m.factors), drag[0]), 0), (max(mu * value, drag[1]), 4 * mu * jump),
            (max(mu * value, drag[1]) / y, 4 * mu * jump / y), (max(mu * steep, drag[3]), 4 * mu * bend)]


@pytest.mark.parametrize('law', BEYOND)
def test_against_sixty_digits(server, law):
    rng, worst, compared = random.Random(law), mpf(0), 0
    for _ in range(COUNT // 10):
        body = draw(law, rng)
        friction = {'law': law, **({'curve': body['curve']} if 'curve' in body else {})}
        for name, which in NAMES.items():
            status, answer = post(server, f'/v1/functions/{name}', body)
            assert status == 200, (answer, body)
            for y, got in zip(map(mpf, body['y']), answer['values']):
                value, (largest, more) = exact(friction, y, body)[which], terms(friction, y, body)[which]
                allowed = UNIT * (ULPS * max(largest, abs(value)) + more) + SMALLEST
                worst = max(worst, abs(mpf(got) - value) / allowed)
                assert abs(mpf(got) - value) <= allowed, (name, float(y), got, float(value), body)
                compared += 1
    assert compared > 3000 and worst > 0.01


@pytest.mark.parametrize('law', BEYOND)
def test_even_and_odd(server, law):
    rng = random.Random(f'even/{law}')
    body = draw(law, rng)
    for name in NAMES:
        _, plus = post(server, f'/v1/functions/{name}', body)
        _, minus = post(server, f'/v1/functions/{name}', {**body, 'y': [-y for y in body['y']]})
        sign = -1 if name == 'law_force' else 1
        assert minus['values'] == [sign * x for x in plus['values']], (name, body)


def scaled(body, factor):
    """The body in another unit of speed."""
    out = {**body, 'y': [y * factor for y in body['y']], 'eps_v': body['eps_v'] * factor,
           'viscous': body.get('viscous', 0) / factor}
    if 'stribeck_speed' in body:
        out['stribeck_speed'] = body['stribeck_speed'] * factor
    if 'curve' in body:
        out['curve'] = {**body['curve'], 'speeds': [x * factor for x in body['curve']['speeds']]}
    return out


@pytest.mark.parametrize('law', BEYOND)
@pytest.mark.parametrize('power', [-900, -300, 300, 900])
def test_scale_freedom(server, law, power):
    """All speeds are multiplied by 2^power."""
    body, f = draw(law, random.Random(f'scale/{law}')), 2.0 ** power
    body = scaled(body, 2.0 ** -round(math.log2(body['eps_v'])))
    for name, power_of in (('law_potential', f), ('law_force', 1), ('law_force_over_speed', 1 / f), ('law_force_derivative', 1 / f)):
        before, after = (post(server, f'/v1/functions/{name}', b) for b in (body, scaled(body, f)))
        assert before[0] == after[0] == 200, (before, after)
        assert after[1]['values'] == [x * power_of for x in before[1]['values']], (name, body)


def test_url_query(server):
    query = 'y=0.004,0.02&mu_s=0.5&mu_k=0.2&eps_v=0.01&law=exponential&stribeck_speed=0.01&viscous=3'
    status, answer = call(server, 'GET', f'/v1/functions/law_force?{query}')
    assert status == 200
    assert answer['values'] == pytest.approx([0.5 * 0.64 + 0.012, 0.2 + 0.3 * math.exp(-1) + 0.06], rel=1e-14)


REFUSED = {
    'transition-beside-law': ({'law': 'adhesion', 'mu_transition': 'peak'}, '/mu_transition'),
    'speed-beside-law': ({'law': 'adhesion', 'stribeck_speed': 1}, '/stribeck_speed'),
    'speed-missing': ({'law': 'stribeck'}, '/stribeck_speed'),
    'speed-zero': ({'law': 'stribeck', 'stribeck_speed': 0}, '/stribeck_speed'),
    'speed-of-an-entry-negative': ({'law': 'exponential', 'stribeck_speed': [1, -1]}, '/stribeck_speed/1'),
    'curve-missing': ({'law': 'curve'}, '/curve'),
    'curve-beside-law': ({'curve': {'speeds': [0, 1], 'factors': [1, 2]}}, '/curve'),
    'curve-descends': ({'law': 'curve', 'curve': {'speeds': [0, -1], 'factors': [1, 2]}}, '/curve/speeds/1'),
    'two-coefficients': ({'law': 'adhesion', 'mu_k': 0.25}, '/mu_k'),
    'two-coefficients-of-an-entry': ({'law': 'adhesion', 'mu_s': [0.5, 0.5], 'mu_k': [0.5, 0.25]}, '/mu_k/1'),
    'viscous-negative': ({'viscous': -1}, '/viscous'), 'viscous-word': ({'viscous': 'oil'}, '/viscous'),
    'law-unknown': ({'law': 'coulomb'}, '/law'), 'law-number': ({'law': 0}, '/law'),
}


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('case', REFUSED)
def test_refused(server, name, case):
    fields, pointer = REFUSED[case]
    status, problem = post(server, f'/v1/functions/{name}', {'y': [0.5, 1.5], 'mu_s': 0.5, 'mu_k': 0.5, 'eps_v': 1, **fields})
    assert status == 422 and pointers(problem)[0] == pointer, problem
