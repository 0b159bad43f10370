"""Bodies without contacts, contacts without bodies, neither vertices nor contacts: degrees of freedom exist even if
nothing acts on them, with any number of threads."""
import json
import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import sets  # noqa: E402
from conftest import ROOT  # noqa: E402
from sets import FRAME, JSON  # noqa: E402

PROGRAM = ROOT / os.environ.get('FRICTIOND', 'build/frictiond')
QUERY = {'outputs': ['potential', 'gradient', 'hessian', 'hessian_products', 'line', 'collisions']}


@pytest.fixture(params=['1', '8'])
def client(request, server_with):
    one = sets.Client(server_with('--threads', request.param))
    yield one
    one.close()


def scene(dim, n_vertices, n_bodies, groups):
    """A document and a query about it. The second of two bodies touches nothing."""
    twist = 6 if dim == 3 else 3
    n_dofs = n_vertices * dim + n_bodies * twist
    up = [0] * (dim - 1) + [1]
    every = {
        'plane_vertex': {'vertices': [0][:n_vertices], 'plane_normal': up, 'normal_force': 2},
        'body_world': {'bodies': [0], 'point': [0] * (dim - 1) + [-1], 'normal': up, 'normal_force': 3,
                       'roll_radius': 0.1},
        'body_body': {'bodies': [], 'point': [], 'normal': [], 'normal_force': []}}
    document = {'dim': dim, 'n_vertices': n_vertices, 'body_positions': [[0.5] * dim] * n_bodies,
                'friction': {'mu': 0.5, 'eps_v': 0.01}, 'collisions': {name: every[name] for name in groups}}
    query = {**QUERY, 'velocities': [[0.1 * (d + 1) for d in range(dim)]] * n_vertices,
                'body_velocities': [[0.1 * (d + 1) for d in range(twist)]] * n_bodies, 'vectors': [[1.0] * n_dofs],
                'line': {'direction': [[1.0] * dim] * n_vertices, 'body_direction': [[1.0] * twist] * n_bodies,
                         'steps': [0, 1]}}
    return document, query, n_dofs


SCENES = {
    'bodies alone': (0, 2, ['plane_vertex']), 'empty groups': (0, 2, ['body_body']), 'bodies in contact': (0, 2, ['body_world']),
    'vertices in contact': (2, 2, ['plane_vertex']), 'both': (2, 2, ['plane_vertex', 'body_world']),
    'vertices alone': (2, 0, ['plane_vertex'])}


def whole(document, query):
    return {**{name: value for name, value in document.items() if name != 'n_vertices'}, **query}


def check_shape(answer, document, n_dofs, form, touched):
    dim, n_bodies = document['dim'], len(document['body_positions'])
    twist = 6 if dim == 3 else 3
    assert answer['n_bodies'] == n_bodies and answer['n_vertices'] == document['n_vertices']
    assert len(answer['gradient']) == dim * document['n_vertices']
    assert [len(row) for row in answer['body_gradient']] == [twist] * n_bodies
    for body in range(touched, n_bodies):
        assert not any(answer['body_gradient'][body])
    hessian = answer['hessian']
    if form != 'factors':
        assert hessian['shape'] == [n_dofs, n_dofs]
    if form == 'csr':
        indptr, first = hessian['indptr'], n_dofs - (n_bodies - touched) * twist
        assert len(indptr) == n_dofs + 1 and indptr[first:] == [indptr[-1]] * (n_dofs + 1 - first)
        assert indptr[-1] == len(hessian['indices']) == len(hessian['data'])
    assert [len(row) for row in answer['hessian_products']] == [n_dofs]
    assert not any(answer['hessian_products'][0][n_dofs - (n_bodies - touched) * twist:])


@pytest.mark.parametrize('form', ['triplets', 'csr', 'factors'])
@pytest.mark.parametrize('dim', [2, 3])
@pytest.mark.parametrize('name', SCENES)
def test_evaluated(client, name, dim, form):
    """JSON, a frame and a set give the same response."""
    document, query, n_dofs = scene(dim, *SCENES[name])
    query['hessian'] = {'format': form}
    if not document['body_positions']:
        del query['body_velocities'], query['line']['body_direction'], document['body_positions']
    request = whole(document, query)
    answer = client.send('POST', '/v1/evaluate', request, JSON)
    assert answer.status == 200, answer
    if 'body_positions' in document:
        check_shape(json.loads(answer.body), document, n_dofs, form, 'body_world' in SCENES[name][2])
    for kind in JSON, FRAME:
        assert client.send('PUT', '/v1/sets/lonely', document, kind).status in (200, 201)
        asked = client.send('POST', '/v1/sets/lonely/evaluate', query, kind)
        again = client.send('POST', '/v1/evaluate', request, kind)
        assert asked.status == again.status == 200, (asked, again)
        assert asked.body == again.body
        assert client.send('DELETE', '/v1/sets/lonely').status == 204


@pytest.mark.parametrize('dim', [2, 3])
@pytest.mark.parametrize('name', SCENES)
def test_checked(client, name, dim, tmp_path):
    document, query, _ = scene(dim, *SCENES[name])
    if not document['body_positions']:
        del query['body_velocities'], query['line']['body_direction'], document['body_positions']
    request = whole(document, query)
    answer = client.send('POST', '/v1/check', request, JSON)
    assert answer.status == 200 and json.loads(answer.body)['agrees'], answer
    path = tmp_path / 'request.json'
    path.write_text(json.dumps(request))
    done = subprocess.run([PROGRAM, 'check', str(path)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done
