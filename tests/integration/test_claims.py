"""Claims of POST /v1/check: somebody else's results are compared with the service's. Right ones pass (numbers of the
independent program), the fault of a wrong implementation is named (tests/oracle/faulty.py), and so is a wrong contact.

RANDOM_CLAIMS: how many right ones (300); RANDOM_FIRST: the first seed (0).
"""
import copy
import json
import math
import os
import struct
import subprocess
import sys

import numpy as np
import pytest

from conftest import ONE_IN, ROOT

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import faulty  # noqa: E402
import generate  # noqa: E402
import generate_laws  # noqa: E402
import oracle  # noqa: E402
from client import call, pointers, post  # noqa: E402

PROGRAM = ROOT / os.environ.get('FRICTIOND', 'build/frictiond')
PAGE = (ROOT / 'docs' / 'check.md').read_text()
FIRST, COUNT = int(os.environ.get('RANDOM_FIRST', 0)), int(os.environ.get('RANDOM_CLAIMS', 300 // ONE_IN))
QUANTITIES = ['potential', 'gradient', 'hessian']


def scene(seed):
    """All types at vertices, some of which contacts share; sticking, sliding, and on the way."""
    rng = np.random.default_rng(seed)
    x, v = rng.normal(size=(24, 3)), rng.normal(size=(24, 3)) * 0.7 * np.exp(rng.normal(size=(24, 1)))
    return {'dim': 3, 'velocities': v.tolist(), 'positions': x.tolist(), 'friction': {'eps_v': 1.5, 'mu_s': 0.8, 'mu_k': 0.5},
            'collisions': {
                'vertex_vertex': {'vertices': [[0, 1], [2, 3]], 'normal_force': [3, 2]},
                'edge_vertex': {'vertices': [[4, 5, 6], [7, 5, 6]], 'normal_force': [1, 4]},
                'edge_edge': {'vertices': [[8, 9, 10, 11]], 'normal_force': [2.5]},
                'face_vertex': {'vertices': [[12, 13, 14, 15], [16, 13, 14, 15]], 'normal_force': [2, 0.5]},
                'plane_vertex': {'vertices': [17, 18, 19, 20], 'normal_force': [2, 1, 3, 4], 'plane_normal': [0, 0, 1]}}}


def changed(request, weight=None, friction=None, projection=None, factor=1, vertices=False, current=False):
    """The scene in which a fault shows."""
    request = copy.deepcopy(request)
    request['velocities'] = (np.array(request['velocities']) * factor).tolist()
    request['friction'].update(friction or {})
    rng = np.random.default_rng(7)
    if weight:
        for group in request['collisions'].values():
            group['weight'] = weight
    if projection:
        request['hessian'] = {'projection': projection}
    if vertices:
        request['friction'] = {'eps_v': 1.5, 'vertex_mu': rng.uniform(0.4, 0.9, 24).tolist()}
    if vertices or current:
        request['positions'] = inside(request, rng)
    if current:
        request['current_positions'] = (np.array(request['positions']) + 0.02 * rng.normal(size=(24, 3))).tolist()
    return request


def inside(request, rng):
    """Positions whose closest points are on edges and faces, so that coefficients are means of positive ones."""
    x = np.array(request['positions'])
    at = lambda *rows: rng.dirichlet(np.ones(len(rows))) @ x[list(rows)] + 0.1 * rng.normal(size=3)  # noqa: E731
    x[[4, 7]] = at(5, 6), at(5, 6)
    x[[12, 16]] = at(13, 14, 15), at(13, 14, 15)
    x[10:12] += at(8, 9) - at(10, 11)
    return x.tolist()


def compare(server, request, claims):
    status, answer = post(server, '/v1/check', {**request, 'claims': claims})
    assert status == 200, answer
    assert answer['agrees'] is True
    judge(answer['claims'], claims)
    return answer['claims']


def numbers(value):
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [value] if isinstance(value, float) else [x for part in parts for x in numbers(part)]


def judge(got, claims):
    """Checks the invariants of every judgement."""
    largest = ['largest_difference', 'scale', 'relative_difference', 'entry', 'worst', 'looks_like']
    names = [q for q in QUANTITIES if q in claims or (q == 'gradient' and 'body_gradient' in claims)]
    assert list(got) == ['agrees', 'tolerance', 'quantity', *largest, *names]
    assert all(math.isfinite(x) for x in numbers(got))
    assert got['agrees'] == all(got[q]['agrees'] for q in names)
    assert got['agrees'] == (got['looks_like'] == [])
    for q in names:
        one = got[q]
        assert list(one)[:7] == ['agrees', *largest]
        assert one['agrees'] == (one['relative_difference'] <= got['tolerance']) == (one['looks_like'] == [])
        assert len(one['entry']) == QUANTITIES.index(q)
        assert ('detail' in one) == (one['looks_like'] not in ([], ['other']))
    assert got['relative_difference'] == max(got[q]['relative_difference'] for q in names)
    assert all(got[name] == got[got['quantity']][name] for name in largest[:-1])


# --- right ones -----------------------------------------------------------------------------------------------------

def right(seed):
    """A request and its right results."""
    request = (generate, generate_laws)[seed % 2].request(seed // 2)
    request = {name: value for name, value in request.items() if name not in ('collision_outputs', 'line', 'vectors')}
    request['outputs'] = QUANTITIES
    hessian = request.setdefault('hessian', {})
    hessian.pop('pattern', None)
    if hessian.get('format') == 'factors':
        hessian['format'] = 'csr'
    answer = oracle.evaluate(request)
    return request, {name: answer[name] for name in (*QUANTITIES, 'body_gradient') if name in answer}


@pytest.mark.parametrize('seed', range(FIRST, FIRST + COUNT))
def test_right_ones_pass(server, seed):
    request, claims = right(seed)
    got = compare(server, request, claims)
    assert got['agrees'], (got, json.dumps(request))
    assert got['relative_difference'] <= 1e-10


@pytest.mark.parametrize('seed', range(FIRST, FIRST + COUNT, 10))
def test_a_changed_number_does_not_pass(server, seed):
    """A relative change of 1e-6 of the largest entry."""
    request, claims = right(seed)
    values = claims['hessian'].get('values', claims['hessian'].get('data'))
    flat = np.ravel(values)
    for name, array in (('gradient', np.array(claims['gradient'])), ('hessian', flat)):
        if array.size == 0 or not np.any(array):
            continue
        k = int(np.argmax(abs(array)))
        wrong = copy.deepcopy(claims)
        array = array.copy()
        array[k] *= 1 + 1e-6
        if name == 'gradient':
            wrong['gradient'] = array.tolist()
        else:
            wrong['hessian']['values' if 'values' in wrong['hessian'] else 'data'] = array.reshape(np.shape(values)).tolist()
        got = compare(server, request, wrong)
        assert [q for q in QUANTITIES if not got[q]['agrees']] == [name]


@pytest.mark.parametrize('seed', range(3))
def test_the_small_code_is_right(server, seed):
    for projection in ('none', 'clamp', 'abs'):
        request = changed(scene(seed), projection=projection)
        assert compare(server, request, faulty.Code(request).results())['agrees']


# --- wrong ones -----------------------------------------------------------------------------------------------------

def test_there_are_enough_faults():
    assert len(faulty.FAULTS) >= 30


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('name', faulty.FAULTS)
def test_the_fault_is_named(server, name, seed):
    made, codes, changes = faulty.FAULTS[name]
    request = changed(scene(seed), **changes)
    assert compare(server, request, faulty.Code(request).results())['agrees']
    got = compare(server, request, made(request).results())
    assert not got['agrees'] and got['looks_like'] == codes, got
    for q in QUANTITIES:
        assert got[q]['looks_like'] in ([], codes, ['other'])




def claims_of(request, **changes):
    answer = oracle.evaluate({**request, 'outputs': QUANTITIES})
    return {**{name: answer[name] for name in QUANTITIES}, **changes}


def test_the_factor_is_found(server):
    request = scene(0)
    claims = claims_of(request)
    got = compare(server, request, {'gradient': [100 * x for x in claims['gradient']]})
    assert got['looks_like'] == ['cone_scaled'] and got['gradient']['factor'] == pytest.approx(100, rel=1e-9)
    hessian = {**claims['hessian'], 'values': [x / 0.01 for x in claims['hessian']['values']]}
    got = compare(server, request, {**claims, 'hessian': hessian})
    assert got['hessian']['looks_like'] == ['displacement_for_velocity']
    assert got['hessian']['factor'] == pytest.approx(0.01, rel=1e-9)
    for h in (0.3, 4, 50):
        other = {**request, 'velocities': (np.array(request['velocities']) * h).tolist()}
        got = compare(server, request, claims_of(other))
        assert got['looks_like'] == ['displacement_for_velocity']
        if h < 10:
            assert got['gradient']['factor'] == pytest.approx(h, rel=1e-6)


def test_the_time_step_of_the_request_is_tried(server):
    """Where all contacts slide, the gradient says nothing, and one number could have any factor."""
    request = {**scene(0), 'time_step': 0.01}
    request['velocities'] = (np.array(request['velocities']) * 1e3).tolist()
    claims = claims_of(request)
    wrong = {**claims, 'potential': 0.01 * claims['potential']}
    assert compare(server, request, wrong)['looks_like'] == ['displacement_for_velocity']
    assert compare(server, {**request, 'time_step': 1}, wrong)['looks_like'] == ['other']


@pytest.mark.parametrize('group, index', [('vertex_vertex', 1), ('edge_vertex', 0), ('edge_vertex', 1), ('edge_edge', 0),
                                          ('face_vertex', 0), ('face_vertex', 1), ('plane_vertex', 2)])
def test_the_wrong_contact_is_named(server, group, index):
    """Also where others share all but one of its vertices."""
    request = scene(1)
    wrong = copy.deepcopy(request)
    wrong['collisions'][group]['normal_force'][index] *= 1.25
    got = compare(server, request, claims_of(wrong))
    for q in ('gradient', 'hessian'):
        assert (got[q]['worst']['group'], got[q]['worst']['index']) == (group, index)
    assert got['potential']['worst'] is None and not got['potential']['agrees']


def test_a_vertex_without_contacts_has_no_worst_contact(server):
    request = scene(0)
    claims = claims_of(request)
    claims['gradient'][3 * 23 + 1] = 1e-3
    got = compare(server, request, claims)
    assert got['gradient']['entry'] == [3 * 23 + 1] and got['gradient']['worst'] is None
    assert got['gradient']['relative_difference'] == 1
    h = claims_of(request)['hessian']
    claims = {'hessian': {**h, 'rows': h['rows'] + [0], 'cols': h['cols'] + [69], 'values': h['values'] + [1]}}
    got = compare(server, request, claims)
    assert got['hessian']['entry'] == [0, 69] and got['hessian']['worst'] is None and got['looks_like'] == ['other']


def test_bodies(server):
    request = {'dim': 3, 'body_positions': [[0, 0, 1], [0.3, 0, 3]], 'body_velocities': [[0.1, 0.2, 0, 0, 0.3, 0.1], [1, 0, 0, 0, 0, 2]],
               'friction': {'eps_v': 0.5, 'mu_s': 0.5, 'mu_k': 0.3}, 'collisions': {
                   'body_world': {'bodies': [0], 'point': [[0.1, 0, 0]], 'normal': [0, 0, 1], 'normal_force': 5,
                                  'spin_radius': 0.1, 'roll_radius': 0.05},
                   'body_body': {'bodies': [[0, 1]], 'point': [[0.2, 0, 2]], 'normal': [0, 0, 1], 'normal_force': 3}}}
    answer = oracle.evaluate({**request, 'outputs': QUANTITIES})
    claims = {name: answer[name] for name in ('potential', 'body_gradient', 'hessian')}
    assert compare(server, request, claims)['agrees']
    wrong = [[-x for x in row] for row in claims['body_gradient']]
    got = compare(server, request, {**claims, 'body_gradient': wrong})
    assert got['looks_like'] == ['sign'] and 'bodies' in got['worst']
    for transition in ('quadratic', 'peak'):
        other = copy.deepcopy(request)
        other['friction']['mu_transition'] = transition
        answer = oracle.evaluate({**other, 'outputs': QUANTITIES})
        got = compare(server, request, {name: answer[name] for name in claims})
        assert got['looks_like'] == ['transition'] and transition in got['hessian']['detail']


def test_the_barrier(server):
    request = {'dim': 3, 'velocities': [[0.2, 0.1, 0], [0.01, 0, 0]], 'positions': [[0, 0, 0.5], [1, 0, 0.4]],
               'friction': {'eps_v': 0.1, 'mu': 0.4}, 'barrier': {'dhat': 1, 'stiffness': 10}, 'time_step': 0.1,
               'terms': ['friction', 'barrier'], 'current_positions': [[0.02, 0, 0.45], [1, 0, 0.38]],
               'collisions': {'plane_vertex': {'vertices': [0, 1], 'plane_normal': [0, 0, 1], 'plane_origin': [0, 0, 0]}}}
    claims = claims_of(request)
    assert compare(server, request, claims)['agrees']
    friction = claims_of({**request, 'terms': ['friction']})
    assert not compare(server, request, friction)['agrees']
    for terms in (['friction', 'barrier'], ['barrier']):
        right_ones = claims_of({**request, 'terms': terms})
        wrong = {**right_ones, 'gradient': [-x for x in right_ones['gradient']]}
        assert compare(server, {**request, 'terms': terms}, wrong)['looks_like'] == ['sign']
    other = {**request, 'friction': {'eps_v': 0.1, 'mu_s': 0.4, 'mu_k': 0.2}}
    assert compare(server, other, claims)['looks_like'] == ['transition']  # mu_s at all speeds


def test_tolerance(server):
    """Results in single precision."""
    request = scene(2)
    claims = claims_of(request)
    single = {'gradient': [float(np.float32(x)) for x in claims['gradient']]}
    assert not compare(server, request, single)['agrees']
    assert compare(server, request, {**single, 'tolerance': 1e-5})['agrees']
    minus = {'gradient': [-x for x in single['gradient']], 'tolerance': 1e-5}
    assert compare(server, request, minus)['looks_like'] == ['sign']


@pytest.mark.parametrize('triangle', ['full', 'upper', 'lower'])
@pytest.mark.parametrize('form', ['triplets', 'csr', 'bsr'])
def test_answers_are_right_claims(server, form, triangle):
    """In every format, and in another one than the request names."""
    request = {**scene(0), 'hessian': {'format': form, 'triangle': triangle, 'projection': 'clamp'}}
    status, answer = post(server, '/v1/evaluate', request)
    assert status == 200
    claims = {name: answer[name] for name in QUANTITIES}
    for other in ({}, {'format': 'triplets'}) if form != 'bsr' else ({},):
        assert compare(server, {**request, 'hessian': {**request['hessian'], **other}}, claims)['agrees']
    if triangle != 'full':
        whole = {**request, 'hessian': {'format': form, 'projection': 'clamp'}}
        assert not compare(server, whole, claims)['agrees']


# --- sets, frames, the program --------------------------------------------------------------------------------------

def test_a_set_compares_as_the_whole_request(server):
    request = changed(scene(0), projection='clamp')
    claims = faulty.OtherTransition(request).results()
    whole = compare(server, request, claims)
    query = {name: request.pop(name) for name in ('velocities', 'hessian')}
    assert call(server, 'PUT', '/v1/sets/claims', request)[0] in (200, 201)
    status, answer = post(server, '/v1/sets/claims/check', {**query, 'claims': claims})
    assert status == 200 and answer['claims'] == whole and whole['looks_like'] == ['transition']
    call(server, 'DELETE', '/v1/sets/claims')


def frame(request, claims):
    """The claimed gradient in the tail."""
    n = len(claims['gradient'])
    reference = {**claims, 'gradient': {'dtype': 'f64', 'shape': [n], 'offset': 0}}
    text = json.dumps({**request, 'claims': reference} if request else reference).encode()
    text += b' ' * (-(8 + len(text)) % 64)
    return len(text).to_bytes(8, 'little') + text + struct.pack(f'<{n}d', *claims['gradient'])


def check(*arguments, input=None):
    done = subprocess.run([str(PROGRAM), 'check', *map(str, arguments)], capture_output=True, input=input)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_the_program(tmp_path):
    request, paths = scene(0), [tmp_path / name for name in ('request', 'right', 'wrong', 'broken', 'framed')]
    claims = claims_of(request)
    wrong = {**claims, 'gradient': [-x for x in claims['gradient']]}
    answer = {'n_vertices': 24, 'n_collisions': 11, **claims, 'skipped': []}
    for path, content in zip(paths, (request, answer, {'claims': wrong}, None, None)):
        path.write_text(json.dumps(content) if content else '{"potential": }')
    paths[4].write_bytes(frame(None, wrong))
    code, out, err = check('--claims', paths[1], paths[0])
    assert (code, err) == (0, '') and out.splitlines()[-1].endswith('; claims agree within 1e-08')
    for form in (f'--claims={paths[2]}',), ('--claims', paths[4]):
        code, out, err = check(*form, paths[0])
        assert (code, err) == (1, '') and 'looks like sign' in out and 'claims DO NOT AGREE' in out
        code, out, err = check(*form, '--json', paths[0])
        assert code == 1 and json.loads(out)['claims']['looks_like'] == ['sign']
    code, out, err = check(paths[0], '--claims', paths[3])
    assert code == 2 and out == '' and str(paths[3]) in err and str(paths[0]) not in err
    code, out, err = check('--claims', tmp_path / 'absent', paths[0])
    assert code == 2 and 'absent' in err
    code, out, err = check(paths[0], '--claims')
    assert code == 2 and 'needs a value' in err
    paths[3].write_text('{"gradient": [1, 2]}')
    code, out, err = check(paths[0], '--claims', paths[3])
    assert code == 2 and '/claims/gradient' in err
    paths[3].write_text(json.dumps({**request, 'claims': wrong}))
    assert check(paths[3])[0] == 1
    paths[3].write_bytes(frame(request, wrong))
    assert check(paths[3])[0] == 1


# --- malformed ------------------------------------------------------------------------------------------------------

SMALL = {'dim': 2, 'velocities': [[1, 0], [0, 1]], 'friction': {'eps_v': 1, 'mu': 0.5},
         'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 1], 'normal_force': 2}}}
TRIPLETS = {'rows': [0], 'cols': [0], 'values': [1.5]}
CSR = {'format': 'csr', 'indptr': [0, 1, 1, 1, 1], 'indices': [0], 'data': [1.5]}
BSR = {'format': 'bsr', 'indptr': [0, 1, 1], 'indices': [0], 'data': [[[1.5, 0], [0, 0]]]}
MALFORMED = {
    'nothing': ({}, 'missing_field', '/claims'),
    'a tolerance alone': ({'tolerance': 1e-3}, 'missing_field', '/claims'),
    'a list': ([], 'wrong_type', '/claims'),
    'an unknown member': ({'potential': 1, 'hesian': {}}, 'unknown_field', '/claims/hesian'),
    'a text': ({'potential': 'one'}, 'wrong_type', '/claims/potential'),
    'a short gradient': ({'gradient': [1, 2, 3]}, 'wrong_shape', '/claims/gradient'),
    'a gradient of bodies': ({'body_gradient': [[1, 2, 3]]}, 'wrong_shape', '/claims/body_gradient'),
    'a tolerance of 0': ({'potential': 1, 'tolerance': 0}, 'out_of_range', '/claims/tolerance'),
    'a tolerance of 1': ({'potential': 1, 'tolerance': 1}, 'out_of_range', '/claims/tolerance'),
    'no rows': ({'hessian': {'cols': [0], 'values': [1]}}, 'missing_field', '/claims/hessian/rows'),
    'nothing of a Hessian': ({'hessian': {}}, 'missing_field', '/claims/hessian/rows'),
    'factors': ({'hessian': {'format': 'factors'}}, 'unknown_word', '/claims/hessian/format'),
    'too many columns': ({'hessian': {**TRIPLETS, 'cols': [0, 1]}}, 'wrong_shape', '/claims/hessian/cols'),
    'too many values': ({'hessian': {**TRIPLETS, 'values': [0, 1]}}, 'wrong_shape', '/claims/hessian/values'),
    'a row beyond the last': ({'hessian': {**TRIPLETS, 'rows': [4]}}, 'index_out_of_range', '/claims/hessian/rows/0'),
    'a negative column': ({'hessian': {**TRIPLETS, 'cols': [-1]}}, 'index_out_of_range', '/claims/hessian/cols/0'),
    'data of triplets': ({'hessian': {**TRIPLETS, 'data': [1]}}, 'without_effect', '/claims/hessian/data'),
    'rows of csr': ({'hessian': {**CSR, 'rows': [1]}}, 'without_effect', '/claims/hessian/rows'),
    'another shape': ({'hessian': {**TRIPLETS, 'shape': [4, 6]}}, 'wrong_shape', '/claims/hessian/shape/1'),
    'a first start': ({'hessian': {**CSR, 'indptr': [1, 1, 1, 1, 1]}}, 'out_of_range', '/claims/hessian/indptr/0'),
    'descending starts': ({'hessian': {**CSR, 'indptr': [0, 1, 0, 1, 1]}}, 'out_of_range', '/claims/hessian/indptr/2'),
    'starts beyond the end': ({'hessian': {**CSR, 'indptr': [0, 2, 2, 2, 1]}}, 'out_of_range', '/claims/hessian/indptr/1'),
    'a last start': ({'hessian': {**CSR, 'indptr': [0, 0, 0, 0, 0]}}, 'out_of_range', '/claims/hessian/indptr/4'),
    'few starts': ({'hessian': {**CSR, 'indptr': [0, 1]}}, 'wrong_shape', '/claims/hessian/indptr'),
    'a flat block': ({'hessian': {**BSR, 'data': [1.5]}}, 'wrong_shape', '/claims/hessian/data'),
    'a column of vertices': ({'hessian': {**BSR, 'indices': [2]}}, 'index_out_of_range', '/claims/hessian/indices/0'),
}


@pytest.mark.parametrize('name', MALFORMED)
def test_malformed_claims(server, name):
    claims, code, pointer = MALFORMED[name]
    status, problem = post(server, '/v1/check', {**SMALL, 'claims': claims})
    assert status == 422 and (problem['code'], pointers(problem)[0]) == (code, pointer), problem


def test_wellformed_claims(server):
    for hessian in (TRIPLETS, CSR, BSR, {'rows': [], 'cols': [], 'values': []}, {**TRIPLETS, 'shape': [4, 4]}):
        compare(server, SMALL, {'hessian': hessian})
    for gradient in ([1, 0, 0, 0], [[1, 0], [0, 0]]):
        assert compare(server, SMALL, {'gradient': gradient})['agrees']


def test_huge_claims_are_finite(server):
    got = compare(server, SMALL, {'potential': 1.7e308, 'gradient': [-1.7e308, 1.7e308, 1.7e308, 1e-320], 'hessian': {
        'rows': [0, 0, 3], 'cols': [0, 0, 3], 'values': [1.7e308, 1.7e308, -1.7e308]}})
    assert got['looks_like'] == ['other']


@pytest.mark.parametrize('wrong', [{'potential': -9}, {'gradient': [1, 2, 3, 4]},
                                   {'hessian': {'rows': [0], 'cols': [0], 'values': [1]}}], ids=QUANTITIES)
def test_one_wrong_quantity_alone(server, wrong):
    assert not compare(server, SMALL, wrong)['agrees']


def test_no_contacts(server):
    request = {'dim': 3, 'velocities': [[1, 2, 3]], 'collisions': {}, 'friction': {'eps_v': 1, 'mu': 1}}
    request['collisions'] = {'plane_vertex': {'vertices': [], 'plane_normal': [0, 0, 1], 'normal_force': 1}}
    nothing = {'rows': [], 'cols': [], 'values': []}
    assert compare(server, request, {'potential': 0, 'gradient': [0, 0, 0], 'hessian': nothing})['agrees']
    got = compare(server, request, {'potential': 0, 'gradient': [0, 1e-9, 0], 'hessian': nothing})
    assert got['gradient']['relative_difference'] == 1 and got['looks_like'] == ['other']


def test_only_checks_take_claims(server):
    request = {**SMALL, 'claims': {'potential': 1}}
    status, problem = post(server, '/v1/evaluate', request)
    assert status == 422 and (problem['code'], pointers(problem)) == ('unknown_field', ['/claims'])
    document = {name: value for name, value in request.items() if name != 'velocities'}
    status, problem = call(server, 'PUT', '/v1/sets/claims', {**document, 'n_vertices': 2})
    assert status == 422 and pointers(problem) == ['/claims']


def test_the_page_has_every_mistake(server):
    _, document = call(server, 'GET', '/openapi.json')
    words = document['components']['schemas']['ClaimedQuantity']['properties']['looks_like']['items']['enum']
    table = PAGE[PAGE.index('### Mistakes'):PAGE.index('## Derivatives')]
    assert [line.split('`')[1] for line in table.splitlines() if line.startswith('| `')][1:] == words
    assert {code for _, codes, _ in faulty.FAULTS.values() for code in codes} == set(words)
