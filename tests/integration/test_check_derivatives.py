"""Derivatives with respect to every field of a request: POST /v1/check?derivatives=true and frictiond check
--derivatives compare them with finite differences, and vjp with jvp."""
import json
import math
import os
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from conftest import ONE_IN, ROOT

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import generate_knots  # noqa: E402
import generate_laws  # noqa: E402
import sets  # noqa: E402

PROGRAM = ROOT / os.environ.get('FRICTIOND', 'build/frictiond')
SCENE = ROOT / 'examples' / 'scene' / 'scene.json'
# The seeds after the range give special cases: derivatives that are infinite, or too large for a double along a
# direction of ordinary length; bases whose axis depends on rounding, and normals that affect nothing; bodies that turn
# fast without affecting any contact.
SEEDS = [*range(0, 80, ONE_IN), 83, 106, 133, 135, 144, 256, 295, 505, 558, 563, 665, 797, 1132, 1140, 1217, 1323, 1695]
INFINITE = {256: ['/friction/vertex_mu_s', '/friction/vertex_mu_k'], 563: ['/friction/vertex_mu']}
# Requests with contacts at knots. Single ones once caused false alarms: forces that vanish compared with the normal
# force, torques without sliding, pieces of a law that differences cannot resolve.
AIMED = [*range(400, 800, ONE_IN), 42, 53, 62, 65, 91, 93, 100, 129, 141, 165, 222, 247, 262, 268, 280, 284, 1265, 1432,
         1528, 1659, 1717, 1847, 2240, 2508, 2717, 2740, 3348, 5836]
ONE = {'dim': 2, 'velocities': [[0.5, 0]], 'friction': {'mu': 0.5, 'eps_v': 1},
       'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 1], 'normal_force': [4]}}}


def ask(base, path, document, method='POST'):
    """(status, answer)"""
    request = urllib.request.Request(base + path, json.dumps(document).encode(), {'Content-Type': 'application/json'},
                                     method=method)
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def judge(answer, infinite=()):
    """@param infinite pointers of fields with respect to which vjp is infinite; @return the fields' pointers"""
    derivatives = answer['derivatives']
    assert list(derivatives) == ['tolerance', 'transpose_tolerance', 'fields', 'worst']
    assert (derivatives['tolerance'], derivatives['transpose_tolerance']) == (1e-7, 1e-9)
    for field in derivatives['fields']:
        assert field['agrees'] is True, field
        sizes = {name: field[name] for name in list(field)[2:]}
        assert list(field) == ['pointer', 'agrees', *sizes] and all(math.isfinite(size) for size in sizes.values())
        assert list(sizes) == ['potential', 'gradient', 'transposed'][:2 if field['pointer'] in infinite else 3]
        assert max(field['potential'], field['gradient']) <= 1e-7 and sizes.get('transposed', 0) <= 1e-9
    assert answer['agrees'] is True
    return [field['pointer'] for field in derivatives['fields']]


@pytest.mark.parametrize('seed', SEEDS)
def test_random_requests_agree(server, seed):
    request = generate_laws.request(seed)
    status, answer = ask(server, '/v1/check?derivatives=true', request)
    assert status == 200, answer
    pointers = judge(answer, INFINITE.get(seed, ()))
    worst = answer['derivatives']['worst']
    assert (worst is None) == (answer['n_collisions'] == 0)
    if worst:
        sizes = [max(field['potential'] / 1e-7, field['gradient'] / 1e-7, field.get('transposed', 0) / 1e-9)
                 for field in answer['derivatives']['fields']]
        assert worst['pointer'] == pointers[sizes.index(max(sizes))]
        assert 0 <= worst['index'] < len(request['collisions'][worst['group']]['vertices' if 'vertices' in request[
            'collisions'][worst['group']] else 'bodies'])


def test_requests_at_knots_agree(server):
    for seed in AIMED:
        status, answer = ask(server, '/v1/check?derivatives=true', generate_knots.request(seed))
        assert status == 200, answer
        assert answer['agrees'] is True, (seed, [f for f in answer['derivatives']['fields'] if not f['agrees']])


def test_fields_that_answers_depend_on(server):
    status, answer = ask(server, '/v1/check?derivatives=true', ONE)
    assert status == 200
    assert judge(answer) == ['/velocities', '/friction/eps_v', '/friction/mu', '/collisions/plane_vertex/normal_force',
                             '/collisions/plane_vertex/plane_normal']


def test_derivatives_only_on_request(server):
    plain = ask(server, '/v1/check', ONE)
    assert 'derivatives' not in plain[1] and ask(server, '/v1/check?derivatives=false', ONE) == plain
    more = ask(server, '/v1/check?derivatives=true', ONE)[1]
    more.pop('derivatives')
    assert more == plain[1]


@pytest.mark.parametrize('query,pointer', [('derivatives=maybe', '/derivatives'), ('derivatives=1', '/derivatives'),
                                           ('derivative=true', '/derivative'), ('y=1', '/y')])
def test_other_queries(server, query, pointer):
    status, answer = ask(server, '/v1/check?' + query, ONE)
    assert status == 422 and [error['pointer'] for error in answer['errors']] == [pointer]


def test_derivatives_is_no_member_of_the_body(server):
    status, answer = ask(server, '/v1/check', {**ONE, 'derivatives': True})
    assert status == 422 and answer['errors'][0]['pointer'] == '/derivatives'


def test_checks_of_a_set(server):
    request = generate_laws.request(3)
    query = {name: value for name, value in request.items() if name in sets.QUERY}
    document = {name: value for name, value in request.items() if name not in query}
    assert ask(server, '/v1/sets/checked', document, 'PUT')[0] == 201
    status, answer = ask(server, '/v1/sets/checked/check?derivatives=true', query)
    assert status == 200 and judge(answer)
    whole = ask(server, '/v1/check?derivatives=true', request)[1]
    assert sorted(judge(answer)) == sorted(judge(whole))


def check(*arguments):
    done = subprocess.run([str(PROGRAM), 'check', *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_a_report_of_infinite_derivatives(tmp_path):
    """Derivative of a geometric mean with respect to a coefficient that is 0."""
    path = pathlib.Path(tmp_path) / 'mean.json'
    path.write_text(json.dumps({
        'dim': 2, 'velocities': [[0.5, 0], [0, 0]], 'positions': [[0, 0], [0, 1]],
        'friction': {'vertex_mu': [0, 0.5], 'blend': 'geometric_mean', 'eps_v': 1},
        'collisions': {'vertex_vertex': {'vertices': [[0, 1]], 'normal_force': [4]}}}))
    code, out, err = check('--derivatives', path)
    line = next(line for line in out.splitlines() if line.startswith('by /friction/vertex_mu'))
    assert (code, err) == (0, '') and line.split()[2:] == ['agrees', 'potential', '0', 'gradient', '0', 'transposed',
                                                           'infinite']


def test_report():
    code, out, err = check('--derivatives', SCENE)
    lines = out.splitlines()
    assert (code, err) == (0, '')
    by = [line.split() for line in lines if line.startswith('by /')]
    assert len(by) > 5 and all(words[2] == 'agrees' for words in by)
    assert any(line.startswith('worst: with respect to /') for line in lines)
    assert lines[-1] == 'agrees within 1e-08, derivatives with respect to fields within 1e-07'


def test_json_is_the_answer_of_the_service(server, tmp_path):
    path = pathlib.Path(tmp_path) / 'one.json'
    path.write_text(json.dumps(ONE))
    code, out, err = check('--json', '--derivatives', path)
    assert (code, err) == (0, '') and json.loads(out) == ask(server, '/v1/check?derivatives=true', ONE)[1]


def test_help():
    assert '--derivatives' in check('--help')[1]
