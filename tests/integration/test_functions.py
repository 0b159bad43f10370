"""The scalar functions over HTTP: within 4 ulp of correctly rounded values (scalars_mp.txt), and their errors."""
import math
import os
import sys
from urllib.parse import urlencode

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
from client import call, pointers, post  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PATH = '/v1/functions/'
HELPERS = ['anisotropic_x_from_tau_aniso', 'anisotropic_mu_eff_f', 'anisotropic_mu_eff_from_tau_aniso']


def load():
    """{(function, transition): [[y, mu_s, mu_k, eps_v, value, scale]]}"""
    out = {}
    with open(os.path.join(HERE, '..', 'reference', 'scalars_mp.txt')) as file:
        for line in file:
            function, transition, *numbers = line.split()
            out.setdefault((function, transition), []).append([float.fromhex(x) for x in numbers])
    return out


TABLE = load()
FUNCTIONS = sorted({function for function, _ in TABLE})


def parameters(transition, rows):
    y, mu_s, mu_k, eps_v = ([row[i] for row in rows] for i in range(4))
    if transition == '-':
        return {'y': y, 'eps_v': eps_v}
    return {'y': y, 'mu_s': mu_s, 'mu_k': mu_k, 'eps_v': eps_v, 'mu_transition': transition}


def values(answer):
    status, document = answer
    assert status == 200, document
    return document['values']


def test_the_table_is_whole():
    assert len(FUNCTIONS) == 12 and len(TABLE) == 5 + 2 * 7
    assert all(len(rows) > 200 for rows in TABLE.values())


@pytest.mark.parametrize('function,transition', sorted(TABLE))
def test_accuracy(server, function, transition):
    rows = [row for row in TABLE[function, transition] if math.isfinite(row[4])]
    got = values(post(server, PATH + function, parameters(transition, rows)))
    assert len(got) == len(rows)
    off = [(abs(g - row[4]) / math.ulp(max(abs(row[4]), row[5])), row, g) for g, row in zip(got, rows)]
    bad = [x for x in off if not x[0] <= 4]
    assert bad == [], f'{len(bad)} of {len(rows)}, worst {max(off)}'


@pytest.mark.parametrize('function,transition', sorted(TABLE))
def test_what_a_double_cannot_hold(server, function, transition):
    for row in [row for row in TABLE[function, transition] if not math.isfinite(row[4])]:
        status, problem = post(server, PATH + function, parameters(transition, [row]))
        assert status == 422, (row, problem)
        assert pointers(problem) == ['/y/0'], row


def test_some_values_do_not_fit():
    assert sum(not math.isfinite(row[4]) for rows in TABLE.values() for row in rows) > 50


def test_post_answer_names_the_function(server):
    status, answer = post(server, PATH + 'smooth_mu', {'y': [0, 1], 'mu_s': 1, 'mu_k': 0.5, 'eps_v': 1})
    assert (status, answer) == (200, {'function': 'smooth_mu', 'values': [1.0, 0.5]})


def test_default_transition_is_cubic(server):
    sent = {'y': [0.25, 0.7], 'mu_s': 1, 'mu_k': 0.5, 'eps_v': 1}
    default, cubic, quadratic = (values(post(server, PATH + 'smooth_mu', {**sent, **extra})) for extra in (
        {}, {'mu_transition': 'cubic'}, {'mu_transition': 'quadratic'}))
    assert default == cubic != quadratic


@pytest.mark.parametrize('function', FUNCTIONS)
def test_get_gives_the_bits_of_post(server, function):
    y = [5e-324, -1e-4, 0.0003, 0.0005, 0.001, 2.5]
    query, sent = {'y': ','.join(map(repr, y)), 'eps_v': '0.001'}, {'y': y, 'eps_v': 0.001}
    if function.startswith('smooth_mu'):
        query.update(mu_s='1', mu_k='0.1', mu_transition='quadratic')
        sent.update(mu_s=1, mu_k=0.1, mu_transition='quadratic')
    if function.endswith('over_x3'):
        query['y'], sent['y'] = ','.join(map(repr, y[1:])), y[1:]
    for safe in (',', ''):
        got = call(server, 'GET', PATH + function + '?' + urlencode(query, safe=safe))
        assert values(got) == values(post(server, PATH + function, sent))


def test_one_value_for_all_or_one_each(server):
    def f(**sent):
        return values(post(server, PATH + 'smooth_mu_f1', sent))
    y = [0.1, 0.2, 0.9]
    each = f(y=y, mu_s=[1, 1, 1], mu_k=[0.1, 0.1, 0.1], eps_v=[1, 1, 1])
    assert f(y=y, mu_s=1, mu_k=[0.1], eps_v=1) == each
    assert f(y=0.2, mu_s=1, mu_k=0.1, eps_v=1) == each[1:2]
    assert f(y=[], mu_s=1, mu_k=0.1, eps_v=1) == []


ENTRIES = [0.1, -0.2, 0.9, 3]
PAIRS = [[1, 0], [0.6, -0.8]]
ELLIPSES = {'mu_s_aniso': [0.5, 0.25], 'mu_k_aniso': [[0.25, 0.125], [0.2, 0.1]]}
BUNDLE = {
    **{name: {'y': ENTRIES, 'eps_v': [0.5, 0.5, 2, 1]} if name.startswith('smooth_friction')
       else {'y': ENTRIES, 'mu_s': 0.5, 'mu_k': [0.4, 0.3, 0.2, 0.1], 'eps_v': 0.5} for name in FUNCTIONS},
    'law_force': {'y': ENTRIES, 'mu_s': 0.5, 'mu_k': 0.25, 'eps_v': 0.5, 'law': 'stribeck', 'stribeck_speed': 0.3},
    'law_potential': {'y': ENTRIES, 'mu_s': 0.5, 'mu_k': 0.5, 'eps_v': 0.5, 'law': 'curve', 'viscous': 0.1,
                      'curve': {'speeds': [0, 1, 2], 'factors': [1, 0.5, 0.75]}},
    'law_force_derivative': {'y': 0.25, 'mu_s': 1, 'mu_k': 0, 'eps_v': 1, 'mu_transition': 'peak'},
    HELPERS[0]: {'tau_aniso': PAIRS},
    HELPERS[1]: {'tau_dir': PAIRS, **ELLIPSES},
    HELPERS[2]: {'tau_aniso': PAIRS, **ELLIPSES, 'mu_s': 1, 'mu_k': 1},
}


def single(server, name, sent):
    status, answer = post(server, PATH + name, sent)
    return status, {'values': answer.get('values')} if status == 200 else answer


def test_a_bundle_has_the_bits_of_single_requests(server):
    status, answer = post(server, '/v1/functions', {'functions': BUNDLE})
    assert status == 200, answer
    assert list(answer) == ['functions'] and list(answer['functions']) == list(BUNDLE)
    for name, sent in BUNDLE.items():
        assert (200, answer['functions'][name]) == single(server, name, sent), name


@pytest.mark.parametrize('name', BUNDLE)
def test_a_bundle_refuses_what_single_requests_refuse(server, name):
    """The fault of one function among others, with the same words, and the pointer into the bundle."""
    for change in ({'eps': 1}, {list(BUNDLE[name])[0]: None}, {list(BUNDLE[name])[-1]: [[]]}):
        sent = {**BUNDLE[name], **change}
        status, alone = single(server, name, sent)
        assert status == 422, alone
        got, problem = post(server, '/v1/functions', {'functions': {**BUNDLE, name: sent}})
        assert (got, problem['code'], problem['detail']) == (422, alone['code'], alone['detail'])
        assert problem['errors'] == [{**error, 'pointer': f'/functions/{name}{error["pointer"]}'}
                                     for error in alone['errors']]


def test_list(server):
    status, answer = call(server, 'GET', '/v1/functions')
    assert status == 200
    text = repr(answer)
    for name in FUNCTIONS + HELPERS:
        assert f"'{name}'" in text
    for name in ('y', 'mu_s', 'mu_k', 'eps_v', 'mu_transition', 'tau_aniso', 'tau_dir', 'mu_s_aniso', 'mu_k_aniso',
                 'no_mu'):
        assert name in text


def test_pole_names_the_entry(server):
    status, problem = post(server, PATH + 'smooth_friction_f2_x_minus_f1_over_x3', {'y': [1, 0.5, 0, 0], 'eps_v': 1})
    assert (status, pointers(problem)[0]) == (422, '/y/2')
    status, problem = call(server, 'GET', PATH + 'smooth_friction_f2_x_minus_f1_over_x3?y=1,0&eps_v=1')
    assert (status, pointers(problem)[0]) == (422, '/y/1')


GOOD = {'y': [0.1, 0.2], 'mu_s': 1, 'mu_k': 0.5, 'eps_v': 1}
WRONG = [
    ('smooth_mu', {**GOOD, 'epsv': 1}, '/epsv'),
    ('smooth_friction_f1', {'y': [0.1], 'eps_v': 1, 'mu_s': 1}, '/mu_s'),
    ('smooth_friction_f1', {'y': [0.1], 'eps_v': 1, 'mu_transition': 'cubic'}, '/mu_transition'),
    ('smooth_mu', {'y': [0.1], 'mu_s': 1, 'mu_k': 1}, '/eps_v'),
    ('smooth_mu', {'mu_s': 1, 'mu_k': 1, 'eps_v': 1}, '/y'),
    ('smooth_mu', {**GOOD, 'mu_s': [1, 1, 1]}, '/mu_s'),
    ('smooth_mu', {**GOOD, 'mu_s': [[1], [1]]}, '/mu_s'),
    ('smooth_mu', {**GOOD, 'y': [[0.1], [0.2]]}, '/y'),
    ('smooth_mu', {**GOOD, 'y': 'x'}, '/y'),
    ('smooth_mu', {**GOOD, 'y': None}, '/y'),
    ('smooth_mu', {**GOOD, 'eps_v': 0}, '/eps_v'),
    ('smooth_mu', {**GOOD, 'eps_v': [1, -1]}, '/eps_v/1'),
    ('smooth_mu', {**GOOD, 'mu_s': -0.1}, '/mu_s'),
    ('smooth_mu', {**GOOD, 'mu_k': [0.1, -0.1]}, '/mu_k/1'),
    ('smooth_mu', {**GOOD, 'mu_transition': 'linear'}, '/mu_transition'),
    ('smooth_mu', {**GOOD, 'mu_transition': 1}, '/mu_transition'),
    ('anisotropic_x_from_tau_aniso', {'tau_aniso': [[1, 2, 3]]}, '/tau_aniso'),
    ('anisotropic_mu_eff_f', {'tau_dir': [[1, 0]], 'mu_s_aniso': [[1, 1], [1, 1]], 'mu_k_aniso': [1, 1]},
     '/mu_s_aniso'),
    ('anisotropic_mu_eff_from_tau_aniso', {'tau_aniso': [[1, 0]], 'mu_s_aniso': [1, 1], 'mu_k_aniso': [1, 1],
                                           'mu_s': 1, 'mu_k': 1,
                                           'no_mu': 1}, '/no_mu'),
]


@pytest.mark.parametrize('function,sent,pointer', WRONG, ids=[f'{i}{w[2]}' for i, w in enumerate(WRONG)])
def test_wrong_parameters(server, function, sent, pointer):
    status, problem = post(server, PATH + function, sent)
    assert status == 422, problem
    assert pointers(problem)[0] == pointer


@pytest.mark.parametrize('query,pointer', [
    ('y=0.1&mu_s=1&mu_k=1', '/eps_v'), ('y=0.1&mu_s=1&mu_k=1&eps_v=1&z=1', '/z'), ('y=0.1,x&mu_s=1&mu_k=1&eps_v=1',
                                                                                   '/y/1'),
    ('y=0.1,0.2&mu_s=1,1,1&mu_k=1&eps_v=1', '/mu_s'), ('y=0.1&mu_s=1&mu_k=1&eps_v=1&mu_transition=linear',
                                                       '/mu_transition')])
def test_wrong_query(server, query, pointer):
    status, problem = call(server, 'GET', PATH + 'smooth_mu?' + query)
    assert status == 422, problem
    assert pointers(problem)[0] == pointer


def test_not_a_finite_number_in_a_query(server):
    for bad in ('nan', 'inf', '1e999', '0x1p3', '', '+1 '):
        status, problem = call(server, 'GET', PATH + 'smooth_mu?' + urlencode({'y': bad, 'mu_s': 1, 'mu_k': 1,
                                                                               'eps_v': 1}))
        assert status in (400, 422), (bad, problem)


def test_unknown_function(server):
    for method in ('GET', 'POST'):
        status, _ = call(server, method, PATH + 'smooth_nu', {'y': [1]} if method == 'POST' else None)
        assert status == 404


def test_anisotropic_direction(server):
    status, answer = call(server, 'GET', PATH + 'anisotropic_x_from_tau_aniso?tau_aniso=3,-4')
    assert status == 200 and answer['values'] == [[0.6, -0.8]]
    got = values(post(server, PATH + 'anisotropic_x_from_tau_aniso', {
        'tau_aniso': [[0, 0], [9e-11, 0], [0, 1.1e-10], [3e300, 4e300], [0, -5e150]]}))
    expected = [[1, 0], [1, 0], [0, 1], [0.6, 0.8], [0, -1]]
    assert all(abs(g - e) <= 2e-16 for a, b in zip(got, expected) for g, e in zip(a, b)), got


def test_anisotropic_coefficients(server):
    f = PATH + 'anisotropic_mu_eff_from_tau_aniso'
    sent = {'tau_aniso': [[3, 4], [0, 0], [0, -2]], 'mu_s_aniso': [0.5, 1.0], 'mu_k_aniso': [0, 0], 'mu_s': 0.25,
            'mu_k': [1, 2, 3]}
    got = values(post(server, f, {**sent, 'no_mu': False}))
    expected = [[math.hypot(0.3, 0.8), 1], [0.5, 2], [1.0, 3]]
    assert all(abs(g - e) <= 4e-16 for a, b in zip(got, expected) for g, e in zip(a, b)), got
    assert values(post(server, f, {**sent, 'no_mu': True})) == [[1, 1]] * 3
    got = values(post(server, PATH + 'anisotropic_mu_eff_f', {'tau_dir': [[0.6, 0.8], [1, 0]], 'mu_s_aniso': [0.5, 1],
                                                              'mu_k_aniso': [[0, 0], [2, 7]]}))
    expected = [[math.hypot(0.3, 0.8), 0], [0.5, 2]]
    assert all(abs(g - e) <= 4e-16 for a, b in zip(got, expected) for g, e in zip(a, b)), got
