"""Reference values of the C++ ipc-toolkit (tests/reference) through the server, with its transition."""
import math
import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import from_reference as made  # noqa: E402
from client import pointers, post  # noqa: E402

TOLERANCE = 1e-7
SCALARS = made.load('scalars.json')


@pytest.mark.parametrize('c', made.load('collisions.json')['collisions'],
                         ids=lambda c: f"{c['id']}-{c['type']}-{c['dim']}d")
def test_contact(server, c):
    for projection in ('none', 'clamp'):
        status, answer = post(server, '/v1/evaluate', made.contact_request(c, projection))
        assert status == 200, answer
        found = made.contact_differences(c, answer, projection)
        assert max(found.values()) <= TOLERANCE, (projection, found)


def barrier_request(sample):
    """Two vertices `distance` apart on the x axis."""
    return {'dim': 3, 'velocities': [[0, 0, 0], [0, 0, 1]], 'positions': [[0, 0, 0], [sample['distance'], 0, 0]],
            'friction': {'eps_v': 1e-3, 'mu': 0.5}, 'barrier': {k: sample[k] for k in ('dhat', 'stiffness', 'dmin')},
            'collisions': {'vertex_vertex': {'vertices': [[0, 1]]}}, 'outputs': ['collisions'],
            'collision_outputs': ['normal_force', 'distance']}


@pytest.mark.parametrize('sample', made.load('normal_force.json')['samples'])
def test_normal_force(server, sample):
    status, answer = post(server, '/v1/evaluate', barrier_request(sample))
    if sample['distance'] <= sample['dmin']:  # the reference returns 0, the service an error
        assert status == 422
        assert pointers(answer) == ['/collisions/vertex_vertex/vertices/0']
        return
    assert status == 200, answer
    group = answer['collisions']['vertex_vertex']
    assert group['distance'] == [sample['distance']]
    assert abs(group['normal_force'][0] - sample['force_magnitude']) <= made.force_tolerance(sample)


def values(server, function, parameters):
    status, answer = post(server, '/v1/functions/' + function, parameters)
    assert status == 200, answer
    assert answer['function'] == function
    return answer['values']


def column(rows, key):
    return [row[key] for row in rows]


def natural(function, row):
    """The scale of the tolerance 1e-12 below eps_v: the terms of the reference's expanded polynomials, which round."""
    mu, eps = max(row.get('mu_s', 1), row.get('mu_k', 1)), row['eps_v']
    if row['y'] >= eps:
        return 0.0
    if function.endswith('over_x3'):
        return mu / eps**3 * (21 + eps / row['y'])
    if function.endswith('f0'):
        return mu * eps
    return mu / eps if function.endswith(('derivative', 'f2', 'over_x')) else mu


def check_scalar(server, rows, key, function, names, constants):
    """Values that are not finite, and poles with residue zero, are left out: test_functions.py has the errors."""
    rows = [row for row in rows if not isinstance(row[key], str)]
    assert len(rows) > 50
    got = values(server, function, {**{name: column(rows, name) for name in names}, **constants})
    for row, value in zip(rows, got):
        tolerance = 1e-12 * (abs(row[key]) + natural(function, row)) + 1e-300
        assert math.isfinite(value) and abs(value - row[key]) <= tolerance, (function, row, value)


@pytest.mark.parametrize('key', ['f0', 'f1', 'f2', 'f1_over_x', 'f2_x_minus_f1_over_x3'])
def test_smooth_friction(server, key):
    check_scalar(server, SCALARS['smooth_friction'], key, 'smooth_friction_' + key, ['y', 'eps_v'], {})


@pytest.mark.parametrize('key,function', [
    ('mu', 'smooth_mu'), ('mu_derivative', 'smooth_mu_derivative'), ('f0', 'smooth_mu_f0'), ('f1', 'smooth_mu_f1'),
    ('f2', 'smooth_mu_f2'), ('f1_over_x', 'smooth_mu_f1_over_x'),
    ('f2_x_minus_mu_f1_over_x3', 'smooth_mu_f2_x_minus_mu_f1_over_x3')])
def test_smooth_mu(server, key, function):
    check_scalar(server, SCALARS['smooth_mu_quadratic'], key, function, ['y', 'mu_s', 'mu_k', 'eps_v'],
                 {'mu_transition': 'quadratic'})


def near(got, expected):
    assert len(got) == len(expected)
    for g, e in zip(got, expected):
        assert made.distance(g, e) <= 1e-14 * max(1.0, *map(abs, e)), (g, e)


def test_anisotropic_mu_eff_f(server):
    rows = SCALARS['anisotropic_mu_eff_f']
    got = values(server, 'anisotropic_mu_eff_f', {k: column(rows, k) for k in ('tau_dir', 'mu_s_aniso', 'mu_k_aniso')})
    near(got, [[row['mu_s_eff'], row['mu_k_eff']] for row in rows])


def without_overflow(rows):
    """The reference squares 1e200, gets inf, and then the direction (0, 0), which is a defect."""
    return [row for row in rows if max(map(abs, row['tau_aniso'])) < 1e150]


def test_anisotropic_x_from_tau_aniso(server):
    rows = without_overflow(SCALARS['anisotropic_x_from_tau_aniso'])
    near(values(server, 'anisotropic_x_from_tau_aniso', {'tau_aniso': column(rows, 'tau_aniso')}), column(rows, 'x'))


def test_anisotropic_mu_eff_from_tau_aniso(server):
    rows = without_overflow(SCALARS['anisotropic_mu_eff_from_tau_aniso'])
    assert not any(row['no_mu'] for row in rows)
    got = values(server, 'anisotropic_mu_eff_from_tau_aniso', {
        **{k: column(rows, k) for k in ('tau_aniso', 'mu_s_aniso',
                                        'mu_k_aniso')}, 'mu_s': column(rows, 'mu_s_isotropic'),
        'mu_k': column(rows, 'mu_k_isotropic'), 'no_mu': False})
    near(got, [[row['mu_s'], row['mu_k']] for row in rows])
