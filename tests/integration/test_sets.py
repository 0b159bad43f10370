"""Collision sets: routes, identity and responses follow the contract. test_sets_lifetime.py tests their lifetime."""
import json
import os
import re
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import generate  # noqa: E402
import sets  # noqa: E402
from sets import FRAME, JSON, Client  # noqa: E402

# Two edges that cross above each other, a vertex above a floor.
POSITIONS = [[-1, 0, 0], [1, 0, 0], [0, -1, 0.1], [0, 1, 0.1], [0.2, 0.1, 0.05]]
DOCUMENT = {
    'dim': 3, 'positions': POSITIONS, 'friction': {'eps_v': 0.5, 'mu': 0.4}, 'barrier': {'dhat': 0.3, 'stiffness': 100},
    'collisions': {'edge_edge': {'vertices': [[0, 1, 2, 3]]},
                   'plane_vertex': {'vertices': [4], 'plane_normal': [0, 0, 1], 'plane_origin': [0, 0, 0]}}}
VELOCITIES = [[1, 0, 0], [1, 0.5, 0], [0, 0, 0], [0, 0, 0], [0.1, 0.2, 0]]
ALL = ['potential', 'tangential_velocity', 'mu_s', 'mu_k', 'normal_force', 'distance', 'closest_point', 'tangent_basis',
       'status', 'slip_ratio']
PATCHED = [[-1, 0, 0], [1, 0, 0], [0, -1, 0.15], [0, 1, 0.12], [0.2, 0.1, 0.07]]


@pytest.fixture
def client(server):
    one = Client(server)
    yield one
    for each in one.list().json['sets']:
        one.delete(each['name'])
    one.close()


def whole(client, document, query, kind=JSON, accept=None):
    document = {k: v for k, v in document.items() if k != 'n_vertices'}
    return client.send('POST', '/v1/evaluate', {**document, **query}, kind, **({'Accept': accept} if accept else {}))


# ---- the resource ----

def test_put_get_delete(client):
    put = client.put('run-17', DOCUMENT)
    assert put.status == 201 and put.headers['Location'] == '/v1/sets/run-17', put
    described = put.json
    assert list(described) == ['name', 'version', 'n_vertices', 'n_collisions', 'groups', 'idle_seconds']
    assert described['name'] == 'run-17' and described['version'] == put.version
    assert re.fullmatch('[0-9a-f]{32}', put.version)
    assert (described['n_vertices'], described['n_collisions']) == (5, 2)
    assert described['groups'] == {'edge_edge': 1, 'plane_vertex': 1} and described['idle_seconds'] == 900
    assert re.fullmatch(r'decode;dur=\d+\.\d{3}, prepare;dur=\d+\.\d{3}, evaluate;dur=\d+\.\d{3}, encode;dur=\d+\.\d{3}',
                        put.headers['Server-Timing'])
    got = client.get('run-17')
    assert got.status == 200 and got.json == described and got.version == put.version
    again = client.put('run-17', DOCUMENT)
    for answer in (got, again):
        assert re.fullmatch(r'decode;dur=\d+\.\d{3}, prepare;.*', answer.headers['Server-Timing']), answer.headers
    assert 'Location' not in got.headers
    head = client.send('HEAD', '/v1/sets/run-17')
    assert head.status == 200 and head.body == b'' and int(head.headers['Content-Length']) == len(got.body)
    gone = client.delete('run-17')
    assert gone.status == 204 and gone.body == b''
    for answer in (client.get('run-17'), client.delete('run-17'), client.patch('run-17', {}),
                   client.evaluate('run-17', {'velocities': VELOCITIES}), client.pattern('run-17'),
                   client.check('run-17', {'velocities': VELOCITIES})):
        assert answer.status == 404 and answer.json['code'] == 'unknown_set', answer
        assert answer.version is None


def test_replaced_as_a_whole(client):
    first = client.put('a', DOCUMENT)
    other = {**DOCUMENT, 'friction': {'eps_v': 0.5, 'mu': 0.9}}
    second = client.put('a', other)
    assert (first.status, second.status) == (201, 200) and 'Location' not in second.headers
    assert second.version != first.version
    query = {'velocities': VELOCITIES}
    assert client.evaluate('a', query).body == whole(client, other, query).body


@pytest.mark.parametrize('name', ['a', 'A-Z.a-z_0~9', '0123456789abcdef' * 4, '...', '-', '~', '_.'])
def test_names(client, name):
    assert client.put(name, DOCUMENT).status == 201
    assert client.get(name).json['name'] == name
    assert client.list().json['sets'][0]['name'] == name


@pytest.mark.parametrize('name', ['a' * 65, 'a' * 300, 'a%20b', '.', '..', '%2e', 'a:b', 'a@b', 'a!', '%C3%A4', '%FF',
                                  'a%00'.replace('%00', '%01')])
def test_invalid_names(client, name):
    for answer in (client.put(name, DOCUMENT), client.get(name), client.delete(name), client.patch(name, {}),
                   client.evaluate(name, {'velocities': VELOCITIES}), client.pattern(name)):
        assert answer.status == 422 and answer.pointers == ['/name'], answer


def test_an_encoded_name_is_the_same(client):
    assert client.put('%61b', DOCUMENT).status == 201
    assert client.get('ab').status == 200


def test_malformed_paths(client):
    for path in ('/v1/sets/', '/v1/sets/a/b', '/v1/sets/a/evaluate/', '/v1/sets//evaluate', '/v1/sets/a/hessian'):
        assert client.send('GET', path).status == 404


def test_methods(client):
    client.put('a', DOCUMENT)
    for path, allowed in (('/v1/sets', 'GET, HEAD'), ('/v1/sets/a', 'GET, HEAD, PUT, PATCH, DELETE'),
                          ('/v1/sets/a/evaluate', 'POST'), ('/v1/sets/a/check', 'POST'),
                          ('/v1/sets/a/pattern', 'GET, HEAD')):
        answer = client.send('OPTIONS', path)
        assert answer.status == 405 and answer.headers['Allow'] == allowed


def test_types_of_a_patch(client):
    client.put('a', DOCUMENT)
    for kind in ('application/merge-patch+json', JSON, FRAME, 'Application/Merge-Patch+JSON; charset=utf-8'):
        document = {'friction': {'mu': 0.25}}
        assert client.patch('a', sets.frame(document) if kind == FRAME else json.dumps(document).encode(),
                            kind).status == 200, kind
    for kind in ('application/json-patch+json', 'text/plain'):
        answer = client.patch('a', b'{}', kind)
        assert answer.status == 415
        assert answer.headers['Accept-Patch'] == f'application/merge-patch+json, application/json, {FRAME}'
    assert client.put('a', b'{}', 'application/merge-patch+json').status == 415


def test_the_answer_is_always_json(client):
    for accept in (FRAME, '*/*', 'text/plain'):
        for answer in (client.put('a', DOCUMENT, FRAME, Accept=accept), client.patch('a', {}, FRAME, Accept=accept),
                       client.get('a', Accept=accept)):
            assert answer.status in (200, 201) and answer.headers['Content-Type'] == JSON, answer


@pytest.mark.parametrize('field', ['velocities', 'body_velocities', 'outputs', 'collision_outputs', 'hessian', 'tangents',
                                   'cotangents', 'wrt'])
def test_the_query_is_no_part_of_a_set(client, field):
    value = {'velocities': VELOCITIES, 'outputs': ['potential'], 'collision_outputs': [], 'hessian': {}}.get(field, [])
    for answer in (client.put('a', {**DOCUMENT, field: value}),):
        assert answer.status == 422 and answer.json['code'] == 'unknown_field' and answer.pointers == [f'/{field}'], answer
    client.put('b', DOCUMENT)
    answer = client.patch('b', {field: value})
    assert answer.status == 422 and answer.pointers == [f'/{field}'], answer


@pytest.mark.parametrize('field', ['dim', 'positions', 'friction', 'barrier', 'collisions', 'on_degenerate', 'n_vertices'])
def test_the_set_is_no_part_of_a_query(client, field):
    client.put('a', DOCUMENT)
    value = {**DOCUMENT, 'on_degenerate': 'error', 'n_vertices': 5}[field]
    answer = client.evaluate('a', {'velocities': VELOCITIES, field: value})
    assert answer.status == 422 and answer.json['code'] == 'unknown_field' and answer.pointers == [f'/{field}'], answer
    assert answer.version == client.get('a').version


def test_queries_are_refused(client):
    client.put('a', DOCUMENT)
    for answer in (client.send('PUT', '/v1/sets/a?x=1', DOCUMENT), client.send('GET', '/v1/sets?x=1'),
                   client.send('GET', '/v1/sets/a?x=1'), client.send('DELETE', '/v1/sets/a?x=1'),
                   client.send('POST', '/v1/sets/a/evaluate?x=1', {'velocities': VELOCITIES}),
                   client.pattern('a', '?x=1')):
        assert answer.status == 422, answer


# ---- the number of vertices ----

def given(**more):
    return {'dim': 2, 'friction': {'eps_v': 1, 'mu': 0.5},
            'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 1], 'normal_force': 2}}, **more}


@pytest.mark.parametrize('more,n', [
    ({'positions': [[0, 0], [1, 1], [2, 2]]}, 3), ({'positions': [0, 0, 1, 1]}, 2), ({'n_vertices': 7}, 7),
    ({'positions': [[0, 0], [1, 1]], 'n_vertices': 2}, 2), ({'lagged_velocities': [[0, 0]] * 4}, 4),
    ({'friction': {'eps_v': 1, 'vertex_mu': [0.1, 0.2]}}, 2),
    ({'friction': {'eps_v': 1, 'vertex_mu_s': [0.1] * 3, 'vertex_mu_k': [0.2] * 3}}, 3),
    ({'friction': {'eps_v': 1, 'materials': {'vertex_material': [0, 0, 0, 0, 0], 'plane_material': 0, 'mu': [[1]]}}}, 5),
])
def test_number_of_vertices(client, more, n):
    answer = client.put('a', given(**more))
    assert answer.status == 201 and answer.json['n_vertices'] == n, answer
    assert client.evaluate('a', {'velocities': [[0.5, 0]] * n}).status == 200
    wrong = client.evaluate('a', {'velocities': [[0.5, 0]] * (n + 1)})
    assert wrong.status == 422 and wrong.pointers == ['/velocities'], wrong


def test_number_of_vertices_must_agree(client):
    answer = client.put('a', given(positions=[[0, 0], [1, 1]], n_vertices=3))
    assert answer.status == 422 and answer.pointers == ['/n_vertices'], answer
    answer = client.put('a', given(n_vertices=2.0))
    assert answer.status == 422, answer
    answer = client.put('a', given())
    assert answer.status == 422 and answer.pointers == ['/collisions/plane_vertex/vertices/0'], answer


def test_an_empty_set(client):
    answer = client.put('a', {'dim': 3, 'collisions': {'edge_edge': {'vertices': []}}})
    assert answer.status == 201 and answer.json['n_vertices'] == 0 and answer.json['groups'] == {'edge_edge': 0}
    assert client.evaluate('a', {'velocities': []}).status == 200


def test_skipped_contacts_are_listed(client):
    document = {**DOCUMENT, 'on_degenerate': 'skip'}
    assert client.put('a', document).json['skipped'] == []
    answer = client.patch('a', {'positions': [[0, 0, 0]] * 4 + [[0, 0, 0.1]]})
    assert answer.json['skipped'] == [{'group': 'edge_edge', 'index': 0, 'reason': 'zero_length_edge'}]
    assert client.get('a').json == answer.json
    assert client.evaluate('a', {'velocities': VELOCITIES}).json['skipped'] == answer.json['skipped']


def test_only_the_first_skipped_contacts_describe_a_set(client):
    """Responses of evaluate list all of them."""
    groups = {'vertex_vertex': {'vertices': [[0, 1], [2, 3]] * 10, 'normal_force': 1},
              'edge_edge': {'vertices': [[0, 1, 2, 3]] * 30, 'normal_force': 1}}
    positions = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 0, 0], [0, 0, 1]]
    document = {'dim': 3, 'positions': positions, 'friction': DOCUMENT['friction'], 'on_degenerate': 'skip',
                'collisions': groups}
    expected = ([{'group': 'vertex_vertex', 'index': i, 'reason': 'coincident_vertices'} for i in range(1, 20, 2)] +
                [{'group': 'edge_edge', 'index': i, 'reason': 'zero_length_edge'} for i in range(30)])
    answer = client.put('many', document)
    assert answer.status == 201, answer
    for described in (answer.json, client.get('many').json, client.list().json['sets'][0]):
        assert (described['skipped'], described['n_skipped']) == (expected[:16], 40)
    assert client.evaluate('many', {'velocities': [[0, 0, 0]] * 5}).json['skipped'] == expected
    client.put('many', {**document, 'on_degenerate': 'error', 'collisions': {'vertex_vertex': {'vertices': []}}})
    assert not {'skipped', 'n_skipped'} & set(client.get('many').json)


# ---- responses equal those to the whole request ----

KINDS = [(JSON, None), (FRAME, None), (JSON, FRAME), (FRAME, JSON)]


@pytest.mark.parametrize('seed', range(int(os.environ.get('RANDOM_SETS', 80))))
def test_random_sets(client, seed):
    request = generate.request(seed)
    document, query = sets.document_of(request)
    kind, accept = KINDS[seed % 4]
    headers = {'Accept': accept} if accept else {}
    assert client.put('a', document, KINDS[seed // 4 % 4][0]).status == 201
    expected = whole(client, document, query, kind, accept)
    assert expected.status == 200
    for _ in range(3):
        answer = client.evaluate('a', query, kind, **headers)
        assert answer.status == 200 and answer.body == expected.body, seed
        assert answer.headers['Content-Type'] == expected.headers['Content-Type']
    checked = client.check('a', query)
    expected = client.send('POST', '/v1/check', request)
    assert checked.status == 200 and checked.body == expected.body


@pytest.mark.parametrize('format,triangle', [(f, t) for f in ('triplets', 'csr') for t in ('full', 'upper', 'lower')] +
                         [('factors', None)])
def test_formats_of_the_hessian(client, format, triangle):
    client.put('a', DOCUMENT)
    hessian = {'format': format, **({'triangle': triangle} if triangle else {})}
    for projection in ('none', 'clamp'):
        query = {'velocities': VELOCITIES, 'outputs': ['hessian', 'collisions'], 'collision_outputs': ALL,
                    'hessian': {**hessian, 'projection': projection}}
        expected = whole(client, DOCUMENT, query)
        for _ in range(3):
            assert client.evaluate('a', query).body == expected.body


MATCHSTICK = {'dim': 3, 'n_vertices': 1, 'friction': {'eps_v': 0.1, 'mu': 0.5},
              'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 0, 1], 'normal_force': 8,
                                              'mu_s_aniso': [0.2, 0.8], 'mu_k_aniso': [0.1, 0.6]}}}


def test_lagged_velocities(client):
    """The query's lagged velocities take precedence, then the set's, then the velocities."""
    query, own = {'velocities': [[1, 0.2, 0]]}, {'lagged_velocities': [[0.3, 1, 0]]}
    client.put('without', MATCHSTICK)
    client.put('with', {**MATCHSTICK, 'lagged_velocities': [[1, 1, 0]]})
    ways = [client.evaluate('without', query), client.evaluate('with', query),
            client.evaluate('without', {**query, **own}), client.evaluate('with', {**query, **own})]
    expected = [whole(client, MATCHSTICK, query),
                whole(client, MATCHSTICK, {**query, 'lagged_velocities': [[1, 1, 0]]}),
                whole(client, MATCHSTICK, {**query, **own}), whole(client, MATCHSTICK, {**query, **own})]
    assert [a.body for a in ways] == [e.body for e in expected]
    assert len({a.body for a in ways}) == 3
    assert client.patch('with', {'lagged_velocities': None}).status == 200
    assert client.evaluate('with', query).body == expected[0].body


def test_distances_that_cannot_be_told(client):
    """Planes with an origin, vertices without positions: refused when distances are requested, as in a whole
    request."""
    document = {**MATCHSTICK, 'collisions': {'plane_vertex': {**MATCHSTICK['collisions']['plane_vertex'],
                                                              'plane_origin': [0, 0, 0]}}}
    assert client.put('a', document).status == 201
    query = {'velocities': [[1, 0, 0]], 'outputs': ['collisions'], 'collision_outputs': ['distance']}
    answer, expected = client.evaluate('a', query), whole(client, document, query)
    assert answer.status == expected.status == 422
    assert answer.json['code'] == expected.json['code'] and answer.pointers == expected.pointers == ['/positions']


# ---- patches ----

PATCHES = [
    {'positions': PATCHED}, {'friction': {'mu': 0.1}}, {'friction': {'mu': None, 'mu_s': 0.6, 'mu_k': 0.3}},
    {'collisions': {'edge_edge': None}}, {'barrier': {'dmin': 0.01}},
    {'barrier': {'type': 'two_stage', 'scaling': 'physical'}},
    {'barrier': None, 'collisions': {'edge_edge': {'normal_force': 3}, 'plane_vertex': {'normal_force': [2.5]}}},
    {'collisions': {'edge_edge': {'vertices': [[0, 1, 2, 3], [0, 1, 3, 2]]}}}, {}, {'on_degenerate': 'skip'},
    {'collisions': {'plane_vertex': {'plane_normal': [0.1, 0, 1]}}}, {'friction': {'eps_v': 1e3}},
    {'friction': {'mu': None, 'vertex_mu': [0.1, 0.2, 0.3, 0.4, 0.5], 'blend': 'max'}},
    {'positions': [x for row in PATCHED for x in row]},
]


@pytest.mark.parametrize('put_kind', [JSON, FRAME])
@pytest.mark.parametrize('kind', ['application/merge-patch+json', FRAME])
@pytest.mark.parametrize('patch', PATCHES, ids=range(len(PATCHES)))
def test_patches(client, patch, kind, put_kind):
    before = client.put('a', DOCUMENT, put_kind)
    answer = client.patch('a', patch, kind)
    assert answer.status == 200 and answer.version not in (before.version, None), answer
    merged = sets.merge(DOCUMENT, patch)
    for outputs in (['potential', 'gradient', 'hessian'], ['collisions']):
        query = {'velocities': VELOCITIES, 'outputs': outputs, 'hessian': {'format': 'csr'}}
        if 'collisions' in outputs:
            query['collision_outputs'] = ALL
        expected = whole(client, merged, query)
        assert expected.status == 200
        assert client.evaluate('a', query).body == expected.body
        assert client.evaluate('a', query, FRAME).body == whole(client, merged, query, FRAME).body
    assert client.get('a').json == answer.json


@pytest.mark.parametrize('kind', [JSON, FRAME])
@pytest.mark.parametrize('patch,place,removed', [
    ({'friction': {'mu_s': 0.5, 'mu_k': 0.3}}, '/friction/mu', 'mu'),
    ({'friction': {'vertex_mu': [1, 1, 1, 1, 1]}}, '/friction/mu', 'mu'),
])
def test_a_second_source_of_coefficients(client, patch, place, removed, kind):
    """The message names the members that the patch has to remove, and the patch passes with that."""
    client.put('a', DOCUMENT)
    answer = client.patch('a', patch, kind)
    assert answer.status == 422 and place in answer.pointers, answer
    assert f'send "{removed}": null in the patch as well' in answer.json['detail']
    assert client.patch('a', {'friction': {**patch['friction'], removed: None}}, kind).status == 200
    both = client.put('b', {**DOCUMENT, 'friction': {**DOCUMENT['friction'], **patch['friction']}})
    assert both.status == 422 and 'patch' not in both.json['detail'], both


def test_a_json_patch_is_no_merge_patch(client):
    client.put('a', DOCUMENT)
    answer = client.patch('a', [{'op': 'replace', 'path': '/friction/mu', 'value': 1}])
    assert answer.status == 422 and answer.pointers == ['']
    assert 'a patch is a JSON Merge Patch (RFC 7396)' in answer.json['detail']


@pytest.mark.parametrize('patch,pointers', [
    ({'positions': PATCHED[:4]}, None), ({'friction': {'mu': -1}}, ['/friction/mu']), ({'frictoin': {}}, ['/frictoin']),
    ({'dim': None}, ['/dim']), ({'collisions': {'edge_edge': {'vertices': [[0, 1, 2, 9]]}}},
                                ['/collisions/edge_edge/vertices/0/3']),
    ({'collisions': None}, ['/collisions']), ([1, 2], ['']), ('x', ['']), (b'null', ['']), (3, ['']),
    ({'positions': [[0, 0, 0]] * 5}, ['/collisions/edge_edge/vertices/0']),
    ({'barrier': {'dhat': 'a'}}, ['/barrier/dhat']), ({'friction': 3}, ['/friction']),
])
def test_a_patch_that_does_not_pass_changes_nothing(client, patch, pointers):
    before, query = client.put('a', DOCUMENT), {'velocities': VELOCITIES}
    numbers = client.evaluate('a', query).body
    answer = client.patch('a', patch)
    assert answer.status == 422, answer
    assert pointers is None or answer.pointers == pointers, answer
    assert answer.version == before.version == client.get('a').version
    assert client.evaluate('a', query).body == numbers


def test_a_patch_with_too_long_an_answer_changes_nothing(server_with):
    """A response that lists skipped contacts may be too long; the set is then unchanged."""
    client = Client(server_with('--max-answer-bytes', '600'))
    edges = {'dim': 3, 'positions': POSITIONS, 'friction': DOCUMENT['friction'], 'on_degenerate': 'skip',
             'collisions': {'edge_edge': {'vertices': [[0, 1, 2, 3]] * 9, 'normal_force': 1}}}
    version = client.put('a', edges).version
    flat = {'positions': [[x, 0, 0] for x, _, _ in POSITIONS]}
    for send in (lambda: client.patch('a', flat), lambda: client.put('a', {**edges, **flat})):
        answer = send()
        assert (answer.status, answer.json['code'], answer.version) == (413, 'answer_too_long', version)
        assert client.get('a').version == version
    assert client.put('b', {**edges, **flat}).status == 413
    assert client.get('b').status == 404
    client.close()


def test_a_patch_of_a_patch(client):
    client.put('a', DOCUMENT, FRAME)
    document = DOCUMENT
    for patch in PATCHES:
        merged = sets.merge(document, patch)
        if whole(client, merged, {'velocities': VELOCITIES}).status != 200:
            continue
        document = merged
        assert client.patch('a', patch, FRAME if len(patch) % 2 else JSON).status == 200
        query = {'velocities': VELOCITIES}
        assert client.evaluate('a', query).body == whole(client, document, query).body


def test_malformed_bodies(client):
    client.put('a', DOCUMENT)
    for answer in (client.put('b', b'{'), client.patch('a', b'{"dim": 3, "dim": 3}'), client.put('b', b'', FRAME),
                   client.patch('a', b'x' * 64, FRAME), client.put('b', b'{"dim": 1e999}'),
                   client.evaluate('a', b'{]')):
        assert answer.status == 400, answer
    assert client.get('b').status == 404


# ---- identity ----

def test_versions_follow_from_what_was_sent(client, server_with):
    body = json.dumps(DOCUMENT).encode()
    first = client.put('a', body)
    assert client.put('b', body).version == first.version
    assert client.put('c', body + b' ').version != first.version
    frame = sets.frame(DOCUMENT)
    assert client.put('d', frame, FRAME).version != first.version
    assert client.put('a', body, 'application/json; charset=utf-8').version == first.version
    patch = b'{"friction": {"mu": 0.1}}'
    patched = client.patch('a', patch)
    other = Client(server_with())
    assert other.put('x', body).version == first.version
    assert other.put('y', frame, FRAME).version == client.get('d').version
    assert other.patch('x', patch).version == patched.version
    assert other.patch('x', patch).version != patched.version


def test_putting_an_identical_set(client):
    first = client.put('a', DOCUMENT)
    again = client.put('a', DOCUMENT)
    assert (first.status, again.status) == (201, 200) and first.json == again.json and again.version == first.version


def test_if_collision_set_version(client):
    version = client.put('a', DOCUMENT).version
    other = 'f' * 32
    query = {'velocities': VELOCITIES}

    def ask(if_version):
        headers = {'If_Collision_Set_Version': if_version}
        return [client.evaluate('a', query, **headers), client.check('a', query, **headers),
                client.pattern('a', **headers), client.get('a', **headers)]

    assert [a.status for a in ask(version)] == [200] * 4
    for answer in ask(other) + [client.patch('a', {}, If_Collision_Set_Version=other),
                                client.delete('a', If_Collision_Set_Version=other),
                                client.put('a', {**DOCUMENT, 'n_vertices': 5}, If_Collision_Set_Version=other),
                                client.put('a', DOCUMENT, If_Collision_Set_Version=other)]:
        assert answer.status == 412 and answer.json['code'] == 'set_changed', answer
        assert answer.version == version
    absent = {'If_Collision_Set_Version': version}
    answer = client.put('none', DOCUMENT, **absent)
    assert answer.status == 412 and answer.json['code'] == 'set_changed'
    for answer in (client.get('none', **absent), client.patch('none', {}, **absent), client.delete('none', **absent),
                   client.evaluate('none', query, **absent)):
        assert answer.status == 404 and answer.json['code'] == 'unknown_set'
    assert client.delete('a', If_Collision_Set_Version=version).status == 204


def test_if_none_match(client):
    assert client.put('a', DOCUMENT, If_None_Match='*').status == 201
    for document in (DOCUMENT, {**DOCUMENT, 'n_vertices': 5}):
        assert client.put('a', document, If_None_Match='*').status == 412
    client.delete('a')
    assert client.put('a', DOCUMENT, If_None_Match='*').status == 201


def test_requests_can_be_repeated(client):
    version = client.put('a', DOCUMENT).version
    patch = {'friction': {'mu': 0.1}}
    once = client.patch('a', patch, If_Collision_Set_Version=version)
    again = client.patch('a', patch, If_Collision_Set_Version=version)
    assert once.status == again.status == 200 and once.json == again.json
    assert client.patch('a', {'friction': {'mu': 0.2}}, If_Collision_Set_Version=version).status == 412
    replaced = client.put('a', DOCUMENT, If_Collision_Set_Version=once.version)
    again = client.put('a', DOCUMENT, If_Collision_Set_Version=once.version)
    assert replaced.status == again.status == 200 and replaced.json == again.json


# ---- the list ----

def test_list(client):
    assert client.list().json['sets'] == []
    for name in ('b', 'a', 'B', '~', '-', 'a1'):
        client.put(name, DOCUMENT)
    listed = client.list().json
    assert list(listed) == ['sets', 'bytes', 'limit_bytes']
    assert [s['name'] for s in listed['sets']] == ['-', 'B', 'a', 'a1', 'b', '~']
    for each in listed['sets']:
        described = dict(each)
        assert described.pop('bytes') > 500
        assert described == client.get(each['name']).json
    assert listed['bytes'] == sum(s['bytes'] for s in listed['sets']) <= listed['limit_bytes']


def test_patterns_count(client):
    client.put('a', DOCUMENT)
    before = client.list().json['bytes']
    client.pattern('a')
    after = client.list().json['bytes']
    assert after > before
    client.pattern('a')
    assert client.list().json['bytes'] == after
    client.patch('a', {'positions': PATCHED})
    client.pattern('a')
    assert abs(client.list().json['bytes'] - after) < 256  # the pattern stayed, and is counted once


# ---- the pattern ----

def without_numbers(hessian):
    return {k: v for k, v in hessian.items() if k not in ('data', 'values')}


@pytest.mark.parametrize('format', ['csr', 'triplets', 'bsr'])
@pytest.mark.parametrize('triangle', ['full', 'upper', 'lower'])
def test_pattern(client, format, triangle):
    client.put('a', DOCUMENT)
    expected = whole(client, DOCUMENT, {'velocities': VELOCITIES, 'outputs': ['hessian'],
                                        'hessian': {'format': format, 'triangle': triangle}})
    answer = client.pattern('a', f'?format={format}&triangle={triangle}')
    assert answer.status == 200 and answer.json == without_numbers(expected.json['hessian']), answer
    assert answer.headers['Vary'] == 'Accept' and answer.version == client.get('a').version
    if triangle == 'full':
        assert client.pattern('a', f'?format={format}').body == answer.body
        if format == 'csr':
            assert client.pattern('a').body == answer.body
    head = client.send('HEAD', f'/v1/sets/a/pattern?format={format}&triangle={triangle}')
    assert head.headers['ETag'] == answer.headers['ETag'] and head.body == b''


def test_tags_of_patterns(client):
    client.put('a', DOCUMENT)
    tags = {}
    for format in ('csr', 'triplets', 'bsr'):
        for triangle in ('full', 'upper', 'lower'):
            for accept in (JSON, FRAME):
                query = f'?format={format}&triangle={triangle}'
                answer = client.pattern('a', query, Accept=accept)
                assert answer.headers['Content-Type'] == accept
                tags[query, accept] = answer.headers['ETag']
    assert len(set(tags.values())) == len(tags) == 18 and all(re.fullmatch('"[^"]+"', t) for t in tags.values())
    client.patch('a', {'positions': PATCHED, 'friction': {'mu': 0.9}})
    for (query, accept), tag in tags.items():
        answer = client.pattern('a', query, Accept=accept, If_None_Match=tag)
        assert answer.status == 304 and answer.body == b'' and answer.headers['ETag'] == tag
        assert answer.headers['Vary'] == 'Accept'
    assert client.pattern('a', If_None_Match='"other"').status == 200
    assert client.pattern('a', If_None_Match='*').status == 304
    for patch in ({'collisions': {'edge_edge': {'vertices': [[0, 1, 3, 2]]}}},
                  {'positions': PATCHED + [[9, 9, 9]]}):
        client.patch('a', patch)
        answer = client.pattern('a', If_None_Match=tags['?format=csr&triangle=full', JSON])
        assert answer.status == 200 and answer.headers['ETag'] not in tags.values()


def test_wrong_words_for_patterns(client):
    client.put('a', DOCUMENT)
    for query, pointer in (('?format=factors', '/format'), ('?format=CSR', '/format'), ('?triangle=both', '/triangle'),
                           ('?projection=none', '/projection')):
        answer = client.pattern('a', query)
        assert answer.status == 422 and answer.pointers == [pointer], answer
    assert client.pattern('a', '?format=csr&format=csr').status in (400, 422)
