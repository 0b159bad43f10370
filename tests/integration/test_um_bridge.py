"""UM-Bridge 1.0 as its clients speak it: JSON without a Content-Type, indented, with integers for numbers; answers and
errors with the members that the protocol names and no others; values and derivatives against /v1/evaluate, /v1/jvp and
/v1/vjp, which are tested against other programs, and against differences of /Evaluate."""
import copy
import http.client
import itertools
import json
import math
import os
import random
import re
import sys
from urllib.parse import urlsplit

import pytest

from conftest import ROOT

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import sets  # noqa: E402

MODELS = ('friction', 'friction_gradient')
CALLS = ('Evaluate', 'Gradient', 'ApplyJacobian', 'ApplyHessian')
PAGE = (ROOT / 'docs' / 'um-bridge.md').read_text()
SCENE = json.loads(re.search(r'The scene.*?```json\n(.*?)```', PAGE, re.S)[1])
FIRST, SECOND = 'a' * 40, 'b' * 40


class Bridge:
    """A UM-Bridge client: posts JSON bodies to a URL."""

    def __init__(self, base, token=None):
        address = urlsplit(base)
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=300)
        self.headers = {'Authorization': f'Bearer {token}'} if token else {}

    def send(self, method, path, body=None, **headers):
        """(status, media type, body); headers' names with _ for -."""
        headers = {k.replace('_', '-'): v for k, v in headers.items()}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body, indent=4).encode()
        self.connection.request(method, path, body, {**self.headers, **headers})
        answer = self.connection.getresponse()
        return answer.status, answer.headers['Content-Type'], answer.read()

    def post(self, call, body, **headers):
        status, kind, text = self.send('POST', f'/{call}', body, **headers)
        assert kind == 'application/json', (status, kind, text)
        return status, json.loads(text)

    def ask(self, call, member, body):
        """The only member of a response."""
        status, answer = self.post(call, body)
        assert status == 200 and list(answer) == [member], (status, answer)
        return answer[member]

    def refused(self, call, body, kind, status=400):
        """The message of an error."""
        got, answer = self.post(call, body)
        assert got == status and list(answer) == ['error'], (got, answer)
        assert sorted(answer['error']) == ['message', 'type'], answer
        assert answer['error']['type'] == kind, answer
        assert isinstance(answer['error']['message'], str) and answer['error']['message']
        return answer['error']['message']

    def input_sizes(self, name='friction', **more):
        return self.ask('InputSizes', 'inputSizes', {'name': name, **more})

    def output_sizes(self, name='friction', **more):
        return self.ask('OutputSizes', 'outputSizes', {'name': name, **more})

    def evaluate(self, name, values, config=None):
        output = self.ask('Evaluate', 'output', {'name': name, 'input': values, 'config': config or {}})
        assert len(output) == 1
        return output[0]

    def gradient(self, name, values, sens, in_wrt, config=None):
        return self.ask('Gradient', 'output', {'name': name, 'input': values, 'sens': sens, 'inWrt': in_wrt,
                                               'outWrt': 0, 'config': config or {}})

    def jacobian(self, name, values, vec, in_wrt, config=None):
        return self.ask('ApplyJacobian', 'output', {'name': name, 'input': values, 'vec': vec, 'inWrt': in_wrt,
                                                    'outWrt': 0, 'config': config or {}})

    def hessian(self, values, sens, vec, in_wrt_1, in_wrt_2, config=None):
        return self.ask('ApplyHessian', 'output', {
            'name': 'friction', 'input': values, 'sens': sens, 'vec': vec, 'outWrt': 0, 'inWrt1': in_wrt_1,
            'inWrt2': in_wrt_2, 'config': config or {}})


@pytest.fixture(scope='module')
def bridge(server):
    return Bridge(server)


@pytest.fixture
def client(server):
    one = sets.Client(server)
    yield one
    for each in one.list().json['sets']:
        one.delete(each['name'])
    one.close()


def noise(seed, n, size=1.0):
    source = random.Random(seed)
    return [size * source.uniform(-1, 1) for _ in range(n)]


# ---- the models ----

def test_info(bridge):
    status, kind, body = bridge.send('GET', '/Info')
    assert status == 200 and kind == 'application/json'
    assert json.loads(body) == {'protocolVersion': 1.0, 'models': ['friction', 'friction_gradient']}
    head, _, empty = bridge.send('HEAD', '/Info')
    assert head == 200 and empty == b''


def test_model_info(bridge):
    for name in MODELS:
        assert bridge.ask('ModelInfo', 'support', {'name': name}) == {
            'Evaluate': True, 'Gradient': True, 'ApplyJacobian': True, 'ApplyHessian': name == 'friction'}


@pytest.mark.parametrize('config', [{}, {'config': None}, {'config': {}}, {'config': {'order': 3, 'other': {'a': [1]}}}])
def test_sizes_of_the_scene(bridge, config):
    for name, n in (('friction', 1), ('friction_gradient', 60)):
        assert bridge.input_sizes(name, **config) == [48, 12, 1, 1]
        assert bridge.output_sizes(name, **config) == [n]


def test_wrong_methods_are_refused_as_everywhere(bridge):
    for method, path, allowed in (('POST', '/Info', 'GET, HEAD'), ('GET', '/Evaluate', 'POST'),
                                  ('PUT', '/ModelInfo', 'POST'), ('OPTIONS', '/Gradient', 'POST')):
        bridge.connection.request(method, path, b'{}' if method in ('POST', 'PUT') else None)
        answer = bridge.connection.getresponse()
        body = json.loads(answer.read())
        assert (answer.status, answer.headers['Allow'], body['code']) == (405, allowed, 'method_not_allowed')
        assert answer.headers['Content-Type'] == 'application/problem+json'


# ---- any form of body ----

FORMS = {
    'indented': json.dumps({'name': 'friction', 'config': {'inputs': ['/friction/mu_s', '/friction/mu_k']},
                            'input': [[1], [0]]}, indent=4),
    'compact': '{"name":"friction","config":{"inputs":["/friction/mu_s","/friction/mu_k"]},"input":[[1],[0]]}',
    'reals': '{"name":"friction","config":{"inputs":["/friction/mu_s","/friction/mu_k"]},"input":[[1.0],[0e5]]}',
    'more members': '{"tid":7,"name":"friction","shmem_name":null,"config":{"inputs":["/friction/mu_s",'
                    '"/friction/mu_k"],"x":[1]},"input":[[1],[-0]]}',
}


@pytest.mark.parametrize('form', FORMS)
@pytest.mark.parametrize('kind', [None, 'application/json', 'text/plain', 'application/octet-stream', 'nonsense',
                                  'application/vnd.frictiond.frame'])
def test_bodies(bridge, form, kind):
    headers = {'Content_Type': kind} if kind else {}
    expected = bridge.evaluate('friction', [[0] * 48, [0] * 12, [1], [0]])
    status, answer = bridge.post('Evaluate', FORMS[form].encode(), **headers)
    assert (status, answer) == (200, {'output': [expected]})


def test_answers_are_json_whatever_is_accepted(bridge):
    for accept in ('*/*', 'text/html', 'application/vnd.frictiond.frame', 'application/json;q=0'):
        assert bridge.post('ModelInfo', {'name': 'friction'}, Accept=accept)[0] == 200


def test_chunked(bridge):
    text = FORMS['indented'].encode()
    bridge.connection.request('POST', '/Evaluate', iter([text[:30], text[30:]]), encode_chunked=True)
    answer = bridge.connection.getresponse()
    assert answer.status == 200
    assert json.loads(answer.read()) == {'output': [bridge.evaluate('friction', [[0] * 48, [0] * 12, [1], [0]])]}


# ---- the scene ----

def at(values, **more):
    return {**copy.deepcopy(SCENE), 'velocities': [values[0][3 * i:3 * i + 3] for i in range(16)],
            'body_velocities': [values[1][6 * i:6 * i + 6] for i in range(2)],
            'friction': {**SCENE['friction'], 'mu_s': values[2][0], 'mu_k': values[3][0]}, **more}


def values_of_scene(seed, size=0.02):
    return [noise(seed, 48, size), noise(seed + 1, 12, size), [0.6], [0.25]]


@pytest.mark.parametrize('seed', range(4))
def test_the_scene_is_what_the_page_says(bridge, client, seed):
    """Bit for bit: numbers are read and printed exactly."""
    values = values_of_scene(seed)
    answer = client.send('POST', '/v1/evaluate', at(values, outputs=['potential', 'gradient'])).json
    assert bridge.evaluate('friction', values) == [answer['potential']]
    assert bridge.evaluate('friction_gradient', values) == answer['gradient'] + sum(answer['body_gradient'], [])
    assert answer['n_collisions'] == sum(
        len(SCENE['collisions'][g]['vertices' if 'vertices' in SCENE['collisions'][g] else 'bodies'])
        for g in SCENE['collisions'])


def test_the_scene_has_every_type_and_a_force_on_all(bridge, client):
    assert list(SCENE['collisions']) == ['vertex_vertex', 'edge_vertex', 'edge_edge', 'face_vertex', 'plane_vertex',
                                         'body_body', 'body_world']
    answer = client.send('POST', '/v1/evaluate', at(values_of_scene(0), outputs=['collisions'], collision_outputs=[
        'normal_force', 'slip_ratio'])).json
    for group in answer['collisions'].values():
        assert all(force > 1 for force in group['normal_force'])


def test_all_is_finite_at_rest(bridge):
    """Includes zero coefficients."""
    for mu_s, mu_k in ((0, 0), (0.5, 0.3), (0.3, 0.5), (1, 0), (0, 1)):
        values = [[0] * 48, [0] * 12, [mu_s], [mu_k]]
        assert (bridge.evaluate('friction', values) == [0.0]) == (mu_s == mu_k == 0)
        assert not any(bridge.evaluate('friction_gradient', values))


def test_derivatives_are_finite_at_rest(bridge):
    for mu_s, mu_k in ((0, 0), (0.5, 0.3)):
        values = [[0] * 48, [0] * 12, [mu_s], [mu_k]]
        for i, n in enumerate((48, 12, 1, 1)):
            for name, size in (('friction', 1), ('friction_gradient', 60)):
                for sens in ([0] * size, [1] * size):
                    assert len(bridge.gradient(name, values, sens, i)) == n
                for vec in ([0] * n, [1] * n):
                    assert len(bridge.jacobian(name, values, vec, i)) == size
            for j, m in enumerate((48, 12, 1, 1)):
                assert len(bridge.hessian(values, [1], [1] * m, i, j)) == n
                assert not any(bridge.hessian(values, [1], [0] * m, i, j))


def test_velocities_that_are_no_inputs_are_zero(bridge, client):
    values = values_of_scene(5)
    still = [[0.0] * 48, values[1], values[2], values[3]]
    expected = client.send('POST', '/v1/evaluate', at(still, outputs=['potential'])).json['potential']
    for inputs in (['/body_velocities', '/friction/mu_s', '/friction/mu_k'],
                   ['/friction/mu_k', '/body_velocities', '/friction/mu_s']):
        given = {'/body_velocities': values[1], '/friction/mu_s': values[2], '/friction/mu_k': values[3]}
        assert bridge.evaluate('friction', [given[each] for each in inputs], {'inputs': inputs}) == [expected]
    assert bridge.evaluate('friction', [], {'inputs': []}) == bridge.evaluate(
        'friction', [[0] * 48, [0] * 12, [0.5], [0.3]])
    assert bridge.input_sizes(config={'inputs': []}) == []


def test_inputs_replace_what_the_set_has(bridge, client):
    """Positions as inputs: everything is prepared anew."""
    config = {'inputs': ['/positions', '/collisions/body_body/normal_force', '/barrier/stiffness', '/body_velocities',
                         '/collisions/body_world/normal']}
    assert bridge.input_sizes(config=config) == [48, 2, 1, 12, 3]
    flat = [x for row in SCENE['positions'] for x in row]
    moved = [x + d for x, d in zip(flat, noise(8, 48, 5e-4))]
    values = values_of_scene(9)
    changed = at([[0.0] * 48, values[1], [0.5], [0.3]], outputs=['potential', 'gradient'])
    changed['positions'] = moved
    changed['collisions']['body_body']['normal_force'] = [1.5, 0]
    changed['collisions']['body_world']['normal'] = [0.1, -0.1, 2]
    changed['barrier']['stiffness'] = 2e6
    answer = client.send('POST', '/v1/evaluate', changed).json
    given = [moved, [1.5, 0], [2e6], values[1], [0.1, -0.1, 2]]
    assert bridge.evaluate('friction', given, config) == [answer['potential']]
    assert bridge.evaluate('friction_gradient', given, config) == answer['gradient'] + sum(answer['body_gradient'], [])


# ---- sets ----

FLOOR = {'dim': 2, 'n_vertices': 3, 'friction': {'eps_v': 0.01, 'mu': 0.4},
         'collisions': {'plane_vertex': {'vertices': [0, 2], 'plane_normal': [0, 1], 'normal_force': [3, 4]}}}
BODIES = {'dim': 2, 'body_positions': [[0, 1]], 'friction': {'eps_v': 0.01, 'mu_s': 0.4, 'mu_k': 0.3},
          'collisions': {'body_world': {'bodies': [0], 'point': [0, 0], 'normal': [0, 1], 'normal_force': 5,
                                        'roll_radius': 0.1}}}
MATERIALS = {'dim': 3, 'n_vertices': 2, 'lagged_velocities': [[1, 2, 0], [0, 0, 0]],
             'friction': {'eps_v': 0.01, 'viscous': 0.5, 'materials': {
                 'vertex_material': [0, 1], 'plane_material': 1, 'mu_s': [[0.1, 0.4], [0.4, 0.2]],
                 'mu_k': [[0.05, 0.3], [0.3, 0.1]]}},
             'collisions': {'plane_vertex': {
                 'vertices': [0, 1], 'plane_normal': [0, 0, 1], 'normal_force': 2, 'weight': [1, -0.5],
                 'mu_aniso': [1, 0.5], 'mu_s_aniso': [[0.5, 0.2], [0, 0]], 'mu_k_aniso': [0.4, 0.1]}}}
LAWS = {'dim': 3, 'positions': [[0, 0, 0], [1, 0, 0], [0.4, 0.3, 0.2], [0.5, -0.4, 0.1]],
        'friction': {'eps_v': 0.01, 'vertex_mu': [0.1, 0.2, 0.3, 0.4], 'law': 'curve',
                     'curve': {'speeds': [0, 0.02, 0.1], 'factors': [1, 0.7, 0.9]}},
        'barrier': {'dhat': 0.5, 'stiffness': 50, 'dmin': 0.01},
        'collisions': {'edge_vertex': {'vertices': [[2, 0, 1]]},
                       'edge_edge': {'vertices': [[0, 1, 2, 3]], 'eps_v': 0.02}}}


def test_a_set(bridge, client):
    client.put('floor', FLOOR)
    config = {'set': 'floor'}
    assert bridge.input_sizes(config=config) == [6, 1]
    assert bridge.output_sizes('friction_gradient', config=config) == [6]
    answer = client.send('POST', '/v1/evaluate', {
        **{k: v for k, v in FLOOR.items() if k != 'n_vertices'}, 'velocities': [1, 2, 3, 4, 5, 6],
        'friction': {'eps_v': 0.01, 'mu': 0.7}, 'outputs': ['potential', 'gradient']}).json
    values = [[1, 2, 3, 4, 5, 6], [0.7]]
    assert bridge.evaluate('friction', values, config) == [answer['potential']]
    assert bridge.evaluate('friction_gradient', values, config) == answer['gradient']
    # The set is unchanged.
    assert bridge.evaluate('friction', [values[0]], {**config, 'inputs': ['/velocities']}) == [
        client.evaluate('floor', {'velocities': values[0], 'outputs': ['potential']}).json['potential']]


def test_default_inputs_are_those_that_the_set_has(bridge, client):
    for name, document, sizes, n in (('bodies', BODIES, [3, 1, 1], 3), ('materials', MATERIALS, [6], 6),
                                     ('laws', LAWS, [12], 12)):
        client.put(name, document)
        assert bridge.input_sizes(config={'set': name}) == sizes
        assert bridge.output_sizes('friction_gradient', config={'set': name}) == [n]


def test_sizes_are_those_that_the_set_has(bridge, client):
    client.put('materials', MATERIALS)
    group = '/collisions/plane_vertex/'
    expected = {'/friction/materials/mu_s': 4, '/friction/viscous': 1, '/lagged_velocities': 6,
                group + 'normal_force': 1, group + 'weight': 2, group + 'mu_aniso': 2, group + 'mu_s_aniso': 4,
                group + 'mu_k_aniso': 2, group + 'plane_normal': 3, '/velocities': 6}
    assert bridge.input_sizes(config={'set': 'materials', 'inputs': list(expected)}) == list(expected.values())
    client.put('laws', LAWS)
    expected = {'/positions': 12, '/friction/vertex_mu': 4, '/friction/curve/factors': 3, '/barrier/dhat': 1,
                '/barrier/dmin': 1, '/collisions/edge_edge/eps_v': 1}
    assert bridge.input_sizes(config={'set': 'laws', 'inputs': list(expected)}) == list(expected.values())


def test_sets_that_came_as_frames(bridge, client):
    client.put('a', FLOOR)
    client.put('b', FLOOR, sets.FRAME)
    values = [[1, 2, 3, 4, 5, 6], [0.7]]
    assert bridge.evaluate('friction', values, {'set': 'a'}) == bridge.evaluate('friction', values, {'set': 'b'})


def test_a_set_of_another_caller(server_with, tmp_path):
    tokens = tmp_path / 'tokens'
    tokens.write_text(f'first {FIRST}\nsecond {SECOND}\n')
    tokens.chmod(0o600)
    base = server_with('--tokens', str(tokens))
    sets.Client(base, FIRST).put('mine', FLOOR)
    first, second = Bridge(base, FIRST), Bridge(base, SECOND)
    assert first.input_sizes(config={'set': 'mine'}) == [6, 1]
    assert 'mine' in second.refused('InputSizes', {'name': 'friction', 'config': {'set': 'mine'}}, 'InvalidInput')
    sets.Client(base, SECOND).put('mine', BODIES)
    assert second.input_sizes(config={'set': 'mine'}) == [3, 1, 1]
    assert first.input_sizes(config={'set': 'mine'}) == [6, 1]
    # Without a token, the request is refused before the route, as everywhere.
    for method, path, body in (('GET', '/Info', None), ('POST', '/Evaluate', {'name': 'nobody'})):
        status, kind, text = Bridge(base).send(method, path, body)
        assert (status, kind) == (401, 'application/problem+json') and json.loads(text)['code'] == 'missing_token'


def test_large_sets_and_bodies(bridge, client):
    """Large enough to be computed by the worker."""
    n = 3000
    document = {'dim': 3, 'n_vertices': n, 'friction': {'eps_v': 0.01, 'mu': 0.4}, 'collisions': {
        'plane_vertex': {'vertices': list(range(n)), 'plane_normal': [0, 0, 1], 'normal_force': 1}}}
    assert client.put('large', document).status == 201
    velocities = noise(3, 3 * n)
    answer = client.evaluate('large', {'velocities': velocities, 'outputs': ['potential', 'gradient']}).json
    config = {'set': 'large'}
    assert bridge.evaluate('friction', [velocities, [0.4]], config) == [answer['potential']]
    assert bridge.evaluate('friction_gradient', [velocities, [0.4]], config) == answer['gradient']


def test_sets_and_inputs_of_nothing(bridge, client):
    """No vertices and bodies, or groups without contacts: all lengths are as announced."""
    friction = {'mu': 1, 'eps_v': 1}
    client.put('none', {'dim': 2, 'friction': friction, 'collisions': {'vertex_vertex': {'vertices': []}}})
    client.put('no-bodies', {'dim': 2, 'n_vertices': 2, 'body_positions': [], 'friction': friction,
                             'collisions': {'body_world': {'bodies': []}}})
    client.put('no-pairs', {'dim': 2, 'n_vertices': 1, 'on_degenerate': 'skip', 'friction': friction, 'collisions': {
        'vertex_vertex': {'vertices': [], 'normal_force': []},
        'plane_vertex': {'vertices': [0], 'plane_normal': [0, 1], 'normal_force': 2}}})
    assert bridge.input_sizes(config={'set': 'none'}) == [1]
    assert bridge.output_sizes('friction_gradient', config={'set': 'none'}) == [0]
    assert bridge.evaluate('friction_gradient', [[0.5]], {'set': 'none'}) == []
    assert bridge.gradient('friction_gradient', [[0.5]], [], 0, {'set': 'none'}) == [0.0]
    assert bridge.jacobian('friction_gradient', [[0.5]], [1], 0, {'set': 'none'}) == []
    assert bridge.evaluate('friction_gradient', [[1, 2, 3, 4], [1]], {'set': 'no-bodies'}) == [0.0] * 4
    config = {'set': 'no-pairs', 'inputs': ['/collisions/vertex_vertex/normal_force', '/velocities', '/friction/mu']}
    values = [[], [3, 4], [1]]
    assert bridge.input_sizes(config=config) == [0, 2, 1]
    assert bridge.gradient('friction', values, [2], 0, config) == []
    assert bridge.gradient('friction', values, [2], 1, config) == [4.0, 0.0]
    assert bridge.jacobian('friction_gradient', values, [], 0, config) == [0.0, 0.0]
    assert bridge.hessian(values, [1], [1, 0], 0, 1, config) == []
    assert bridge.hessian(values, [1], [], 2, 0, config) == [0.0]
    assert bridge.hessian(values, [1], [1, 0], 2, 1, config) == [2.0]


# ---- errors ----

GOOD = {'name': 'friction', 'input': [[0.5], [0.3]], 'config': {'inputs': ['/friction/mu_s', '/friction/mu_k']}}
ASKED = {'Evaluate': GOOD,
         'Gradient': {**GOOD, 'outWrt': 0, 'inWrt': 1, 'sens': [1]},
         'ApplyJacobian': {**GOOD, 'outWrt': 0, 'inWrt': 1, 'vec': [1]},
         'ApplyHessian': {**GOOD, 'outWrt': 0, 'inWrt1': 0, 'inWrt2': 1, 'sens': [1], 'vec': [1]}}
NAMED = ('ModelInfo', 'InputSizes', 'OutputSizes', *CALLS)


@pytest.mark.parametrize('call', NAMED)
def test_unknown_models(bridge, call):
    for body in ({'name': 'nobody'}, {'name': ''}, {'name': 'Friction'}, {**ASKED.get(call, {}), 'name': 'friction '},
                 {'name': 'nobody', 'input': 3, 'config': 'x', 'outWrt': -1}):
        bridge.refused(call, body, 'ModelNotFound')
    assert 'nobody' in bridge.refused(call, {'name': 'nobody'}, 'ModelNotFound')


@pytest.mark.parametrize('call', NAMED)
def test_bodies_that_are_not_objects(bridge, call):
    for body in (b'', b' ', b'{', b'{"name": "friction"', b'{"name": "friction"} x', b'[]', b'3', b'"friction"', b'null',
                 b'{"name": "friction", "name": "friction"}', b"{'name': 'friction'}", b'{"name": NaN}', b'\xff',
                 b'{"name": "friction", "input": [[NaN], [1]]}', b'{"name": "friction", "input": [[1e999], [1]]}',
                 b'{"name": "nobody", "input": [[1,]]}'):
        bridge.refused(call, body, 'InvalidInput')
    for name in (None, 3, ['friction'], {'friction': 1}, True):
        bridge.refused(call, {**ASKED.get(call, {}), 'name': name}, 'InvalidInput')
    bridge.refused(call, {k: v for k, v in ASKED.get(call, {}).items() if k != 'name'}, 'InvalidInput')


@pytest.mark.parametrize('call', CALLS)
def test_missing_members(bridge, call):
    for member in ASKED[call]:
        if member not in ('name', 'config'):
            body = {k: v for k, v in ASKED[call].items() if k != member}
            assert f'"{member}"' in bridge.refused(call, body, 'InvalidInput')


CONFIGS = [3, 'x', True, [], [1], {'set': 3}, {'set': None}, {'set': ['floor']}, {'set': ''}, {'set': 'nothing'},
           {'set': 'a/b'}, {'set': '..'}, {'set': 'x' * 1000}, {'set': 'é'}, {'inputs': 3}, {'inputs': 'x'},
           {'inputs': None}, {'inputs': {}}, {'inputs': [3]}, {'inputs': [[]]}, {'inputs': [None]}, {'inputs': ['']},
           {'inputs': ['/']}, {'inputs': ['velocities']}, {'inputs': ['/velocities/0']}, {'inputs': ['/dim']},
           {'inputs': ['/friction']}, {'inputs': ['/friction/mu']}, {'inputs': ['/friction/mu_s/']},
           {'inputs': ['/friction/mu_s', '/friction/mu_k', '/friction/mu_s']}, {'inputs': ['/friction~1mu_s']},
           {'inputs': ['/lagged_velocities']}, {'inputs': ['/collisions/edge_edge/vertices']},
           {'inputs': ['/collisions/edge_edge/normal_force']}, {'inputs': ['/collisions/none/weight']},
           {'inputs': ['/outputs']}, {'inputs': ['/x' * 500]}, {'inputs': ['/velocities', '/velocities']}]


@pytest.mark.parametrize('config', CONFIGS, ids=lambda c: str(c)[:60])
def test_configs(bridge, config):
    for call in ('InputSizes', 'OutputSizes', *CALLS):
        bridge.refused(call, {**ASKED.get(call, {'name': 'friction'}), 'config': config}, 'InvalidInput')
    # ModelInfo does not read the configuration.
    assert bridge.post('ModelInfo', {'name': 'friction', 'config': config})[0] == 200
    # Model and support are checked first.
    bridge.refused('Evaluate', {'name': 'nobody', 'config': config}, 'ModelNotFound')
    bridge.refused('ApplyHessian', {'name': 'friction_gradient', 'config': config}, 'UnsupportedFeature')


def test_speeds_of_a_curve_are_no_inputs(bridge, client):
    client.put('laws', LAWS)
    for pointer in ('/friction/curve/speeds', '/friction/curve', '/friction/mu', '/body_velocities'):
        message = bridge.refused('InputSizes', {'name': 'friction', 'config': {'set': 'laws', 'inputs': [pointer]}},
                                 'InvalidInput')
        assert pointer in message


INPUTS = [3, 'x', None, True, {}, [], [[0.5]], [[0.5], [0.3], [0.1]], [0.5, 0.3], [[0.5], 0.3], [[0.5], None],
          [[0.5], [None]], [[0.5], ['0.3']], [[0.5], [True]], [[0.5], [[0.3]]], [[0.5], []], [[], []], [[0.5, 0.3]],
          [[0.5, 0.3], []], [[0.5], [0.3, 0.3]], [[0.5], {}], [[0.5], {'0': 0.3}], [[[0.5]], [[0.3]]], [[]], 'null']


@pytest.mark.parametrize('values', INPUTS, ids=str)
def test_inputs_of_wrong_shape(bridge, values):
    for call in CALLS:
        bridge.refused(call, {**ASKED[call], 'input': values}, 'InvalidInput')


def test_messages_name_the_input(bridge):
    assert 'input 1 (/friction/mu_k)' in bridge.refused('Evaluate', {**GOOD, 'input': [[1], [1, 2]]}, 'InvalidInput')
    for call in CALLS:
        message = bridge.refused(call, {**ASKED[call], 'input': [[0.5], [-1]]}, 'InvalidInput')
        assert 'input 1 (/friction/mu_k)' in message and '-1' in message
    flat = [x for row in SCENE['positions'] for x in row]
    config = {'inputs': ['/velocities', '/collisions/body_body/normal_force']}
    message = bridge.refused('Evaluate', {'name': 'friction', 'input': [flat, [3, -2]], 'config': config}, 'InvalidInput')
    assert 'input 1 (/collisions/body_body/normal_force/1)' in message and '-2' in message


def test_messages_tell_inputs_apart_that_begin_alike(bridge, client):
    group = {'vertices': [0], 'plane_normal': [0, 0, 1], 'normal_force': 1, 'mu': [0.5], 'mu_aniso': [[1, 2]]}
    client.put('ellipses', {'dim': 3, 'n_vertices': 1, 'friction': {'eps_v': 1}, 'collisions': {'plane_vertex': group}})
    values = {'/velocities': [1, 0, 0], '/collisions/plane_vertex/mu': [0.5], '/collisions/plane_vertex/mu_aniso': [1, -2]}
    for inputs in itertools.permutations(values):
        config = {'set': 'ellipses', 'inputs': list(inputs)}
        message = bridge.refused('Evaluate', {'name': 'friction', 'input': [values[each] for each in inputs],
                                              'config': config}, 'InvalidInput')
        culprit = '/collisions/plane_vertex/mu_aniso'
        assert f'input {inputs.index(culprit)} ({culprit}' in message and '-2' in message


def test_values_out_of_range(bridge, client):
    client.put('materials', MATERIALS)
    client.put('laws', LAWS)
    group = '/collisions/plane_vertex/'
    for name, pointer, values in (
            ('materials', '/friction/materials/mu_s', [0.1, 0.4, 0.5, 0.2]), ('materials', '/friction/viscous', [-1]),
            ('materials', group + 'mu_aniso', [1, 0]), ('materials', group + 'plane_normal', [0, 0, 0]),
            ('laws', '/friction/eps_v', [0]), ('laws', '/friction/curve/factors', [0.5, 1, 1]),
            ('laws', '/barrier/dhat', [-0.1]), ('laws', '/friction/vertex_mu', [0, 0, 0, -1e-300])):
        config = {'set': name, 'inputs': [pointer]}
        assert pointer in bridge.refused('Evaluate', {'name': 'friction', 'input': [values], 'config': config},
                                         'InvalidInput')
    # Contacts that become degenerate: the message names them.
    config = {'set': 'laws', 'inputs': ['/positions']}
    assert 'edge_vertex' in bridge.refused('Evaluate', {'name': 'friction', 'input': [[0] * 12], 'config': config},
                                           'InvalidInput')


@pytest.mark.parametrize('wrong', [-1, 2, 1e300, 0.5, '0', None, True, [0], {}, -1e300, 1e18], ids=str)
def test_numbers_of_inputs(bridge, wrong):
    for call, member in (('Gradient', 'inWrt'), ('ApplyJacobian', 'inWrt'), ('ApplyHessian', 'inWrt1'),
                         ('ApplyHessian', 'inWrt2'), *((call, 'outWrt') for call in CALLS[1:])):
        message = bridge.refused(call, {**ASKED[call], member: wrong}, 'InvalidInput')
        assert f'"{member}"' in message
    if wrong == 2:
        bridge.refused('Gradient', {**ASKED['Gradient'], 'outWrt': 1}, 'InvalidInput')


def test_messages_in_singular_and_plural(bridge):
    asked = ASKED['Gradient']

    def told(**changes):
        return bridge.refused('Gradient', {k: v for k, v in {**asked, **changes}.items() if v is not None}, 'InvalidInput')
    for wrong in (-1, 1, 1e300):
        assert told(outWrt=wrong) == f'"outWrt" is {float(wrong):.17g}, but the only output has the number 0'
        assert told(inWrt=wrong if wrong != 1 else 2).endswith(', but there are 2 inputs, numbered from 0')
    one = {'inputs': ['/friction/mu_s']}
    assert told(config=one, input=[[1]], inWrt=1) == '"inWrt" is 1, but the only input has the number 0'
    assert told(config={'inputs': []}, input=[], inWrt=0) == '"inWrt" is 0, but there is no input'
    rest = ', expected 2, a list of numbers for each input (/friction/mu_s, /friction/mu_k)'
    assert told(input=[[1]]) == '"input" has 1 entry' + rest
    assert told(input=[[1], [1], [1]]) == '"input" has 3 entries' + rest
    assert told(sens=[]) == '"sens" has 0 numbers, expected 1' and told(sens=[1, 2]) == '"sens" has 2 numbers, expected 1'
    assert told(name='friction_gradient', sens=[1]) == '"sens" has 1 number, expected 60'
    assert told(sens=None) == '"sens" is missing: 1 number'


@pytest.mark.parametrize('wrong', [1, 'x', None, [], [1, 1], [None], ['1'], {}, [[1]], True], ids=str)
def test_sensitivities_and_vectors(bridge, wrong):
    for call, member in (('Gradient', 'sens'), ('ApplyJacobian', 'vec'), ('ApplyHessian', 'sens'),
                         ('ApplyHessian', 'vec')):
        assert f'"{member}"' in bridge.refused(call, {**ASKED[call], member: wrong}, 'InvalidInput')


def test_order_of_judgements(bridge):
    """Faults are reported in the order model, support, range of outWrt and inWrt, sizes, values."""
    wrong = {**ASKED['ApplyHessian'], 'outWrt': 7, 'inWrt1': 8, 'inWrt2': 9, 'input': [[1, 2], [-1]], 'sens': [1, 2]}
    bridge.refused('ApplyHessian', {**wrong, 'name': 'nobody'}, 'ModelNotFound')
    bridge.refused('ApplyHessian', {**wrong, 'name': 'friction_gradient'}, 'UnsupportedFeature')
    for member in ('outWrt', 'inWrt1', 'inWrt2'):
        assert f'"{member}"' in bridge.refused('ApplyHessian', wrong, 'InvalidInput')
        wrong[member] = 0
    assert 'input 0' in bridge.refused('ApplyHessian', wrong, 'InvalidInput')
    wrong['input'] = [[0.5], [-1]]
    assert '"sens"' in bridge.refused('ApplyHessian', wrong, 'InvalidInput')
    wrong['sens'] = [1]
    assert 'input 1' in bridge.refused('ApplyHessian', wrong, 'InvalidInput')


def test_what_has_no_second_derivatives(bridge, client):
    config = {'inputs': ['/positions', '/barrier/stiffness', '/friction/mu_s', '/velocities',
                         '/collisions/body_body/spin_radius']}
    flat = [x for row in SCENE['positions'] for x in row]
    body = {'name': 'friction', 'config': config, 'outWrt': 0, 'sens': [1], 'vec': [1],
            'input': [flat, [1e6], [0.5], [0] * 48, [0.05]]}
    for first, second in ((0, 2), (2, 0), (1, 2), (2, 1), (4, 2), (3, 0), (0, 0)):
        message = bridge.refused('ApplyHessian', {**body, 'inWrt1': first, 'inWrt2': second}, 'UnsupportedFeature')
        named = next(i for i in (first, second) if i in (0, 1, 4))
        assert config['inputs'][named] in message
    # The range is checked before, sizes after.
    bridge.refused('ApplyHessian', {**body, 'inWrt1': 0, 'inWrt2': 5}, 'InvalidInput')
    bridge.refused('ApplyHessian', {**body, 'inWrt1': 0, 'inWrt2': 2, 'input': []}, 'UnsupportedFeature')
    # Other inputs have second derivatives.
    assert bridge.ask('ApplyHessian', 'output', {**body, 'inWrt1': 2, 'inWrt2': 2}) == [0.0]
    # The gradient model has no second derivatives.
    for call in CALLS[1:3]:
        bridge.refused('ApplyHessian', {**ASKED['ApplyHessian'], 'name': 'friction_gradient'}, 'UnsupportedFeature')


def test_results_that_do_not_fit(bridge):
    config = {'inputs': ['/body_velocities']}
    body = {'config': config, 'input': [[1e308] * 12], 'outWrt': 0, 'inWrt': 0, 'vec': [1] * 12}
    for name in MODELS:
        sens = [1] * (1 if name == 'friction' else 60)
        for call in CALLS[:3]:
            bridge.refused(call, {**body, 'name': name, 'sens': sens}, 'InvalidOutput', 500)
    rest = {**ASKED['ApplyHessian'], 'config': {'inputs': ['/velocities']}, 'inWrt2': 0, 'input': [[0.001] * 48],
            'vec': [1e300, *[0] * 47], 'sens': [1e300]}
    bridge.refused('ApplyHessian', rest, 'InvalidOutput', 500)


def test_what_is_refused_before_the_route_is_a_problem(server_with):
    base = server_with('--max-json-bytes', '1K')
    bridge = Bridge(base)
    status, kind, body = bridge.send('POST', '/Evaluate', b' ' * 2000)
    assert (status, kind) == (413, 'application/problem+json') and json.loads(body)['code'] == 'body_too_long'
    status, kind, body = Bridge(base).send('POST', '/Evaluate', {'name': 'nobody'}, Host='example.org')
    assert (status, kind) == (421, 'application/problem+json')
    status, kind, body = Bridge(base).send('POST', '/Evaluate', {'name': 'nobody'}, Origin='https://example.org')
    assert (status, kind) == (403, 'application/problem+json')
    connection = Bridge(base).connection
    connection.putrequest('POST', '/Evaluate')
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 411 and answer.headers['Content-Type'] == 'application/problem+json'


# ---- derivatives ----

def differences(function, x, direction, step):
    """The derivative of a list along a direction: two central differences, extrapolated."""
    def moved(t):
        return function([a + t * b for a, b in zip(x, direction)])

    def central(h):
        return [(p - m) / (2 * h) for p, m in zip(moved(h), moved(-h))]

    return [(4 * a - b) / 3 for a, b in zip(central(step / 2), central(step))]


def agree(values, expected, tolerance):
    scale = max(map(abs, expected), default=0) or 1
    assert len(values) == len(expected)
    assert max((abs(a - b) for a, b in zip(values, expected)), default=0) <= tolerance * scale, (values, expected)


POINTERS = ['/velocities', '/body_velocities', '/friction/mu_s', '/friction/mu_k', '/friction/eps_v', '/positions',
            '/body_positions', '/barrier/dhat', '/barrier/stiffness', '/collisions/body_body/point',
            '/collisions/body_body/normal', '/collisions/body_body/normal_force', '/collisions/body_body/spin_radius',
            '/collisions/plane_vertex/plane_normal', '/collisions/plane_vertex/plane_origin']


def found(document, pointer):
    for key in pointer.split('/')[1:]:
        document = document[key]
    return document


def flattened(value):
    return [x for each in value for x in flattened(each)] if isinstance(value, list) else [value]


def scene_inputs(pointers, seed):
    """Some contacts stick, some slide."""
    values = values_of_scene(seed, 0.008)
    given = {'/velocities': values[0], '/body_velocities': values[1]}
    return [given[p] if p in given else [float(x) for x in flattened(found(SCENE, p))] for p in pointers]


@pytest.mark.parametrize('wrt', range(len(POINTERS)), ids=POINTERS)
@pytest.mark.parametrize('name', MODELS)
def test_derivatives_agree_with_differences(bridge, name, wrt):
    """Steps are small compared with the distances and eps_v of the scene."""
    config, values = {'inputs': POINTERS}, scene_inputs(POINTERS, 21)
    x, size = values[wrt], 1 if name == 'friction' else 60
    length = {'/velocities': 1e-4, '/body_velocities': 1e-4, '/positions': 1e-5, '/friction/eps_v': 1e-5,
              '/barrier/dhat': 1e-5, '/barrier/stiffness': 1e3, '/collisions/plane_vertex/plane_origin': 1e-5}
    direction = noise(31 + wrt, len(x))

    def function(at):
        return bridge.evaluate(name, [*values[:wrt], at, *values[wrt + 1:]], config)

    expected = differences(function, x, direction, length.get(POINTERS[wrt], 1e-4))
    along = bridge.jacobian(name, values, direction, wrt, config)
    agree(along, expected, 1e-6)
    # <sens, Jacobian vec> = <gradient, vec>
    sens = noise(77, size)
    by = bridge.gradient(name, values, sens, wrt, config)
    assert len(by) == len(x)
    terms = [a * b for a, b in zip(by, direction)]
    total = math.fsum(abs(t) for t in terms) + math.fsum(abs(a * b) for a, b in zip(sens, along))
    assert abs(math.fsum(terms) - math.fsum(a * b for a, b in zip(sens, along))) <= 1e-11 * total


@pytest.mark.parametrize('size', [0.02, 0.004, 0])
def test_second_derivatives_by_the_default_inputs(bridge, size):
    """Sliding, sticking, and at rest, where derivatives are those of a parabola; steps are much smaller than eps_v."""
    values = values_of_scene(71, size)
    for first in range(4):
        for second, n in enumerate((48, 12, 1, 1)):
            direction = noise(81 + second, n)

            def gradient(at, first=first, second=second):
                return bridge.gradient('friction', [*values[:second], at, *values[second + 1:]], [1.7], first)

            reference = differences(gradient, values[second], direction, 1e-5 if size else 1e-9)
            along = bridge.hessian(values, [1.7], direction, first, second)
            largest = max(max(map(abs, reference)), max(map(abs, gradient(values[second]))) / 0.02)
            assert len(along) == len(reference)
            assert max(abs(a - b) for a, b in zip(along, reference)) <= 1e-6 * largest


SMOOTH = ['/velocities', '/body_velocities', '/friction/mu_s', '/friction/mu_k', '/friction/eps_v',
          '/collisions/body_body/normal_force', '/collisions/body_world/normal_force']


@pytest.mark.parametrize('second', range(len(SMOOTH)), ids=SMOOTH)
@pytest.mark.parametrize('first', range(len(SMOOTH)), ids=SMOOTH)
def test_second_derivatives_agree_with_differences(bridge, first, second):
    config, values = {'inputs': SMOOTH}, scene_inputs(SMOOTH, 23)
    direction = noise(41 + second, len(values[second]))

    def gradient(at):
        return bridge.gradient('friction', [*values[:second], at, *values[second + 1:]], [2.5], first, config)

    along = bridge.hessian(values, [2.5], direction, first, second, config)
    step = 1e-5 if SMOOTH[second] == '/friction/eps_v' else 1e-4
    reference = differences(gradient, values[second], direction, step)
    scale = max(map(abs, gradient(values[second]))) / 0.02  # all of them change over a speed of eps_v
    assert max(abs(a - b) for a, b in zip(along, reference)) <= 1e-6 * max(scale, max(map(abs, reference)))
    assert len(along) == len(values[first])
    # Symmetric: <a, H b> = <b, H a>
    other = noise(51 + first, len(values[first]))
    back = bridge.hessian(values, [2.5], other, second, first, config)
    left, right = [a * b for a, b in zip(other, along)], [a * b for a, b in zip(direction, back)]
    assert abs(math.fsum(left) - math.fsum(right)) <= 1e-11 * (math.fsum(map(abs, left)) + math.fsum(map(abs, right)))


def shaped(values, like):
    """Flat numbers in the shape of a field."""
    source = iter(values)

    def fill(node):
        return [fill(each) for each in node] if isinstance(node, list) else next(source)

    return fill(like)


SETS = {'floor': FLOOR, 'bodies': BODIES, 'materials': MATERIALS, 'laws': LAWS}
OF_SETS = [('floor', '/velocities'), ('floor', '/friction/mu'), ('floor', '/friction/eps_v'),
           ('floor', '/collisions/plane_vertex/normal_force'), ('bodies', '/body_velocities'),
           ('bodies', '/friction/mu_k'), ('bodies', '/collisions/body_world/roll_radius'),
           ('bodies', '/body_positions'), ('materials', '/lagged_velocities'), ('materials', '/friction/materials/mu_s'),
           ('materials', '/collisions/plane_vertex/mu_k_aniso'), ('materials', '/collisions/plane_vertex/plane_normal'),
           ('materials', '/collisions/plane_vertex/weight'), ('laws', '/positions'), ('laws', '/friction/vertex_mu'),
           ('laws', '/friction/curve/factors'), ('laws', '/barrier/dmin'), ('laws', '/collisions/edge_edge/eps_v')]


@pytest.mark.parametrize('name, pointer', OF_SETS)
def test_the_same_as_jvp_and_vjp(bridge, client, name, pointer):
    """A set gives the same bits; with its own lagged velocities, directions of ellipses are differentiated as well."""
    document = SETS[name]
    client.put(name, document)
    moves = '/body_velocities' if name == 'bodies' else '/velocities'
    inputs = [moves] if pointer == moves else [moves, pointer]
    config, wrt = {'set': name, 'inputs': inputs}, len(inputs) - 1
    sizes = bridge.input_sizes(config=config)
    speeds = noise(61, sizes[0], 0.02)
    values = [speeds] if wrt == 0 else [speeds, [float(x) for x in flattened(found(document, pointer))]]
    direction = noise(62, sizes[wrt])
    if 'materials/' in pointer:
        direction[2] = direction[1]
    like = speeds if wrt == 0 else found(document, pointer)
    query = {moves[1:]: speeds}
    tangents = client.send('POST', f'/v1/sets/{name}/jvp', {**query, 'tangents': {
        pointer: shaped(direction, like)}}).json['tangents']
    gradient = tangents['gradient'] + flattened(tangents.get('body_gradient', []))
    assert bridge.jacobian('friction', values, direction, wrt, config) == [tangents['potential']]
    assert bridge.jacobian('friction_gradient', values, direction, wrt, config) == gradient
    cotangents = client.send('POST', f'/v1/sets/{name}/vjp', {**query, 'wrt': [pointer],
                                                             'cotangents': {'potential': 3}}).json['cotangents']
    assert bridge.gradient('friction', values, [3], wrt, config) == flattened(cotangents[pointer])
    sens = noise(63, len(gradient))
    halves = {'body_gradient': sens} if name == 'bodies' else {'gradient': sens}
    cotangents = client.send('POST', f'/v1/sets/{name}/vjp', {**query, 'wrt': [pointer],
                                                             'cotangents': halves}).json['cotangents']
    assert bridge.gradient('friction_gradient', values, sens, wrt, config) == flattened(cotangents[pointer])


def test_tangents_of_a_table_are_symmetric(bridge, client):
    client.put('materials', MATERIALS)
    config = {'set': 'materials', 'inputs': ['/friction/materials/mu_s']}
    body = {'name': 'friction', 'config': config, 'input': [[0.1, 0.4, 0.4, 0.2]], 'outWrt': 0}
    for call, more in (('ApplyJacobian', {'inWrt': 0}), ('ApplyHessian', {'inWrt1': 0, 'inWrt2': 0, 'sens': [1]})):
        assert '"vec"' in bridge.refused(call, {**body, **more, 'vec': [1, 2, 3, 4]}, 'InvalidInput')
        assert bridge.ask(call, 'output', {**body, **more, 'vec': [1, 2, 2, 4]})
