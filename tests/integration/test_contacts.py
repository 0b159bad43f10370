"""POST /v1/contacts and sets from meshes in the real server: what is found is what is evaluated, in every form."""
import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'oracle'))
from conftest import start, stop  # noqa: E402
from sets import FRAME, JSON, Client, path, unframe  # noqa: E402

DHAT, DMIN = 0.125, 0.015625
BARRIER = {'dhat': DHAT, 'dmin': DMIN, 'stiffness': 4, 'type': 'cubic'}
FRICTION = {'eps_v': 0.25, 'mu': 0.5}


@pytest.fixture
def client(server):
    client = Client(server)
    yield client
    client.send('DELETE', path('mesh'))
    client.close()


def grid(n, height, rng, first):
    """(positions, faces) of a square of n * n cells, slightly bumpy."""
    def at(i, j):
        return first + i * (n + 1) + j
    positions = [[i / n, j / n, height + rng.uniform(-0.01, 0.01)] for i in range(n + 1) for j in range(n + 1)]
    faces = [row for i in range(n) for j in range(n) for row in ([at(i, j), at(i + 1, j), at(i + 1, j + 1)],
                                                                 [at(i, j), at(i + 1, j + 1), at(i, j + 1)])]
    return positions, faces


def scene(seed, n=6):
    """Two sheets that nearly touch, a plane below, a particle between them, a rod above."""
    rng = random.Random(seed)
    lower, faces = grid(n, 0, rng, 0)
    upper, more = grid(n, 0.075, rng, len(lower))
    positions = lower + [[x + 0.031, y - 0.017, z] for x, y, z in upper]
    v = len(positions)
    positions += [[0.4, 0.4, 0.0375], [0.1, 0.2, 0.16], [0.7, 0.6, 0.165]]
    body = [0] * len(lower) + [1] * len(upper) + [2, 3, 3]
    return positions, {'faces': faces + more, 'vertices': [v], 'edges': [[v + 1, v + 2]], 'body': body,
                       'ignore': [[0, 0], [1, 1]], 'fixed': list(range(0, len(lower), 5)),
                       'planes': {'normal': [[0, 0, 2], [0, 1, 0]], 'origin': [[0, 0, -0.0625], [0, -0.0625, 9]]}}


def scene_2d(seed, n=20):
    rng = random.Random(seed)
    lower = [[i / n, rng.uniform(-0.02, 0.02)] for i in range(n + 1)]
    upper = [[i / n + 0.02, 0.08 + rng.uniform(-0.02, 0.02)] for i in range(n + 1)]
    edges = [[i, i + 1] for i in range(n)] + [[n + 1 + i, n + 2 + i] for i in range(n)]
    return lower + upper + [[0.5, 0.2]], {'edges': edges, 'vertices': [2 * n + 2],
                                          'planes': {'normal': [[0, -1]], 'origin': [[0, 0.25]]}}


SCENES = [(dim, seed, *(scene if dim == 3 else scene_2d)(seed)) for dim in (2, 3) for seed in range(3)]


def close(a, b, scale):
    return all(abs(p - q) <= 1e-12 * scale for p, q in zip(a, b, strict=True))


def flat(rows):
    return [x for row in rows for x in row]


def energies(client, dim, positions, collisions, **more):
    """Potential, gradient and diagonal products of friction and barrier."""
    rng = random.Random(5)
    velocities = [[rng.uniform(-1, 1) for _ in range(dim)] for _ in positions]
    answer = client.send('POST', '/v1/evaluate', {
        'dim': dim, 'positions': positions, 'velocities': velocities, 'barrier': BARRIER, 'friction': FRICTION,
        'collisions': collisions, 'terms': ['friction', 'barrier'],
        'outputs': ['potential', 'gradient', 'hessian_products'],
        'vectors': [[rng.uniform(-1, 1) for _ in range(dim * len(positions))]], **more})
    assert answer.status == 200, answer
    return answer.json


@pytest.mark.parametrize('dim, seed, positions, mesh', SCENES)
def test_merged_and_unmerged_give_the_same_energies(client, dim, seed, positions, mesh):
    request = {'dim': dim, 'positions': positions, 'distance': DHAT, 'min_distance': DMIN, 'mesh': mesh}
    merged = client.send('POST', '/v1/contacts', request)
    pairs = client.send('POST', '/v1/contacts', {**request, 'merge': False, 'distance': 2 * DHAT})
    assert merged.status == pairs.status == 200, (merged, pairs)
    assert merged.json['n_collisions'] > 20 and pairs.json['n_collisions'] > merged.json['n_collisions']
    one = energies(client, dim, positions, merged.json['collisions'])
    two = energies(client, dim, positions, pairs.json['collisions'], closest_features='search')
    assert abs(one['potential'] - two['potential']) <= 1e-12 * abs(one['potential'])
    for name in ('gradient', 'hessian_products'):
        a, b = (flat(one[name]), flat(two[name])) if name == 'hessian_products' else (one[name], two[name])
        assert close(a, b, max(map(abs, a))), name


@pytest.mark.parametrize('dim, seed, positions, mesh', SCENES[::3])
def test_the_same_in_every_form(client, dim, seed, positions, mesh):
    """As a frame and as JSON, both ways, and with every number of threads."""
    request = {'dim': dim, 'positions': positions, 'distance': DHAT, 'mesh': mesh, 'outputs': ['collisions', 'distances']}
    expected = client.send('POST', '/v1/contacts', request).json
    for kind in (JSON, FRAME):
        for accept in (JSON, FRAME):
            answer = client.send('POST', '/v1/contacts', request, kind, Accept=accept)
            assert answer.status == 200, answer
            assert (answer.json if accept == JSON else unframe(answer.body)) == expected
    process, base = start('--threads', '1')
    try:
        assert Client(base).send('POST', '/v1/contacts', request).json == expected
    finally:
        stop(process)


@pytest.mark.parametrize('dim', [2, 3])
def test_an_empty_answer_is_evaluated(client, dim):
    positions = [[float(i)] * dim for i in range(3)]
    for accept in (JSON, FRAME):
        found = client.send('POST', '/v1/contacts', {'dim': dim, 'positions': positions, 'distance': 0.5,
                                                     'mesh': {'vertices': [0, 1, 2]}}, Accept=accept)
        found = found.json if accept == JSON else unframe(found.body)
        assert found['n_collisions'] == 0 and found['min_distance'] is None
        for kind in (JSON, FRAME):
            answer = client.send('POST', '/v1/evaluate', {
                'dim': dim, 'positions': positions, 'velocities': positions, 'barrier': BARRIER, 'friction': FRICTION,
                'collisions': found['collisions'], 'outputs': ['potential']}, kind, Accept=JSON)
            assert answer.status == 200 and answer.json['potential'] == 0, answer


def test_more_contacts_than_memory():
    """The contacts of thousands of points in one place are stopped while they are counted."""
    process, base = start('--memory-bytes', '64M')
    try:
        request = {'dim': 3, 'positions': [[0, 0, 0]] * 20000, 'distance': 1, 'mesh': {'vertices': list(range(20000))}}
        answer = Client(base).send('POST', '/v1/contacts', request, FRAME)
        assert answer.status in (413, 503), answer
        assert answer.json['code'] in ('exceeds_memory', 'out_of_memory')
        request['positions'] = [[2.0 * i, 0, 0] for i in range(20000)]
        assert Client(base).send('POST', '/v1/contacts', request, FRAME, Accept=JSON).json['n_collisions'] == 0
    finally:
        stop(process)


@pytest.mark.parametrize('merge', [True, False])
def test_more_pairs_than_contacts_are_allowed(merge):
    """The limit is exact, and counts pairs before they are merged."""
    dim, _, positions, mesh = SCENES[-1]
    request = {'dim': dim, 'positions': positions, 'distance': DHAT, 'mesh': mesh, 'merge': merge}
    process, base = start()
    client = Client(base)
    n_pairs = client.send('POST', '/v1/contacts', {**request, 'merge': False}).json['n_collisions']
    expected = client.send('POST', '/v1/contacts', request).body
    stop(process)
    process, base = start('--max-contacts', str(n_pairs))
    try:
        assert Client(base).send('POST', '/v1/contacts', request).body == expected
    finally:
        stop(process)
    process, base = start('--max-contacts', str(n_pairs - 1))
    try:
        client = Client(base)
        refused = [client.send('POST', '/v1/contacts', request),
                   client.put('mesh', lagged(dim, positions, mesh, margin=DHAT))]
        for answer in refused:
            assert answer.status == 413 and answer.json['code'] == 'too_many_entries', answer
            assert answer.pointers == ['/mesh'] and f'limit of {n_pairs - 1} contacts' in answer.json['detail'], answer
    finally:
        stop(process)


def test_all_pairs_of_a_large_mesh():
    """A margin that reaches everything is refused at once: not after all pairs have been looked at."""
    rng = random.Random(1)
    positions, faces = grid(100, 0, rng, 0)
    process, base = start('--max-contacts', '100000', '--memory-bytes', '256M')
    try:
        for margin in (10, 1e150, 1e300, 1e308):
            answer = Client(base).put('mesh', lagged(3, positions, {'faces': faces}, margin=margin), FRAME)
            assert answer.status == 413 and answer.json['code'] == 'too_many_entries', answer
    finally:
        stop(process)


# --- sets from meshes -------------------------------------------------------------------------------------------------

def lagged(dim, positions, mesh, **more):
    return {'dim': dim, 'positions': positions, 'mesh': mesh, 'barrier': BARRIER, 'friction': FRICTION, **more}


def question(positions, dim, **more):
    rng = random.Random(3)
    return {'velocities': [[rng.uniform(-1, 1) for _ in range(dim)] for _ in positions],
            'current_positions': [[x + rng.uniform(-1, 1) * 0.004 for x in row] for row in positions],
            'terms': ['friction', 'barrier'], 'outputs': ['potential', 'gradient', 'hessian', 'collisions'],
            'hessian': {'format': 'csr'}, 'collision_outputs': ['current_distance', 'feature'], **more}


@pytest.mark.parametrize('kind', [JSON, FRAME])
@pytest.mark.parametrize('dim, seed, positions, mesh', SCENES[::3])
def test_a_set_is_its_list(client, kind, dim, seed, positions, mesh):
    """A set from a mesh is a set of the pairs that /v1/contacts finds, searched."""
    made = client.put('mesh', lagged(dim, positions, mesh), kind)
    assert made.status == 201, made
    found = client.send('POST', '/v1/contacts', {'dim': dim, 'positions': positions, 'distance': 2 * DHAT,
                                                 'min_distance': DMIN, 'mesh': mesh, 'merge': False}).json
    assert made.json['n_collisions'] == found['n_collisions'] and made.json['margin'] == DHAT
    assert made.json['min_distance'] == found['min_distance']
    assert made.json['groups'] == {name: len(group['vertices']) for name, group in found['collisions'].items()}
    asked = question(positions, dim)
    whole = client.send('POST', '/v1/evaluate', {
        'dim': dim, 'positions': positions, 'barrier': BARRIER, 'friction': FRICTION, 'closest_features': 'search',
        'collisions': found['collisions'], **asked})
    answer = client.evaluate('mesh', asked)
    assert answer.status == 200, answer
    assert answer.body == whole.body
    assert client.send('GET', path('mesh') + '/contacts?merge=false').json == found
    merged = client.send('POST', '/v1/contacts', {'dim': dim, 'positions': positions, 'distance': DHAT,
                                                  'min_distance': DMIN, 'mesh': mesh})
    assert client.send('GET', path('mesh') + '/contacts').body == merged.body
    framed = client.send('GET', path('mesh') + '/contacts?merge=false', Accept=FRAME)
    assert unframe(framed.body) == found


def test_patched_positions_find_anew(client):
    dim, _, positions, mesh = SCENES[3]
    client.put('mesh', lagged(dim, positions, mesh))
    tag = client.send('GET', path('mesh') + '/pattern').headers['ETag']
    moved = [[x, y, z + 0.5 * (i >= len(positions) // 2)] for i, (x, y, z) in enumerate(positions)]
    patched = client.patch('mesh', {'positions': moved})
    assert patched.status == 200 and patched.json['min_distance'] > 0
    whole = Client.put(client, 'mesh', lagged(dim, moved, mesh))
    assert whole.json['n_collisions'] == patched.json['n_collisions']
    client.patch('mesh', {'positions': positions})
    assert client.send('GET', path('mesh') + '/pattern').headers['ETag'] == tag
    client.patch('mesh', {'positions': moved})
    assert client.send('GET', path('mesh') + '/pattern').headers['ETag'] != tag
    grown = client.patch('mesh', {'margin': 1.0}).json
    assert grown['margin'] == 1.0 and grown['n_collisions'] > patched.json['n_collisions']


def test_the_margin(client):
    """Twice the motion of the vertex that moved farthest is compared with the margin; vertices outside do not count."""
    positions, mesh = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.25, 0.25, 1], [5, 5, 5]], {'faces': [[0, 1, 2]], 'vertices': [3]}
    assert client.put('mesh', lagged(3, positions, mesh, margin=0.5)).status == 201
    for vertex, by, status in ((3, 0.25, 200), (3, 0.3125, 422), (0, 0.3125, 422), (4, 9, 200)):
        moved = [list(row) for row in positions]
        moved[vertex][2] += by
        answer = client.evaluate('mesh', {'terms': ['barrier'], 'current_positions': moved, 'outputs': ['potential']})
        assert answer.status == status, answer
        if status == 422:
            assert answer.json['code'] == 'moved_too_far' and answer.pointers == [f'/current_positions/{vertex}']


FAULTS = [  # (changes of the document, code, pointers)
    ({'barrier': None}, 'missing_field', ['/barrier']), ({'positions': None}, 'missing_field', ['/positions']),
    ({'friction': None}, 'missing_field', ['/friction']), ({'friction': {'mu': 0.5}}, 'missing_field', ['/friction/eps_v']),
    ({'collisions': {'vertex_vertex': {'vertices': []}}}, 'conflicting_fields', ['/mesh', '/collisions']),
    ({'closest_features': 'given'}, 'conflicting_fields', ['/closest_features']),
    ({'margin': -1}, 'out_of_range', ['/margin']), ({'anchors': 1}, 'wrong_type', ['/anchors']),
    ({'mesh': None, 'collisions': {'vertex_vertex': {'vertices': []}}, 'margin': 1}, 'without_effect', ['/margin']),
    ({'mesh': None, 'collisions': {'vertex_vertex': {'vertices': []}}, 'anchors': True}, 'without_effect', ['/anchors']),
    ({'mesh': None}, 'missing_field', ['/collisions']),
    ({'mesh': None, 'collisions': {'vertex_vertex': {'vertices': []}}, 'previous': {'collisions': {}}}, 'without_effect',
     ['/previous']),
    ({'previous': {'collisions': {}}}, 'without_effect', ['/previous']),
    ({'anchors': True, 'previous': {}}, 'missing_field', ['/previous/collisions']),
    ({'anchors': True, 'previous': {'collisions': {'face_vertex': {'vertices': [[3, 0, 1, 4]]}}}}, 'index_out_of_range',
     ['/previous/collisions/face_vertex/vertices/0/3']),
    ({'mesh': {'faces': [[0, 1, 1]]}}, 'repeated_vertex', ['/mesh/faces/0']),
    ({'positions': [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.25, 0.25, DMIN]]}, 'penetration', ['/positions/3']),
]


@pytest.mark.parametrize('changes, code, pointers', FAULTS)
def test_faults(client, changes, code, pointers):
    document = lagged(3, [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.25, 0.25, 1]], {'faces': [[0, 1, 2]], 'vertices': [3]})
    for name, value in changes.items():
        if value is None:
            del document[name]
        else:
            document[name] = value
    answer = client.put('mesh', document)
    assert answer.status == 422 and answer.json['code'] == code and answer.pointers == pointers, answer
    assert client.get('mesh').status == 404


@pytest.mark.parametrize('dim,seed,positions,mesh', SCENES)
def test_claims_about_a_set(client, dim, seed, positions, mesh):
    """The set's own answer is a right claim. A wrong one is explained by a contact of its list."""
    asked = {**question(positions, dim), 'outputs': ['potential', 'gradient', 'hessian']}
    del asked['collision_outputs']
    assert client.put('mesh', lagged(dim, positions, mesh)).status == 201
    answer = client.evaluate('mesh', asked).json
    claims = {name: answer[name] for name in ('potential', 'gradient', 'hessian')}
    question_alone = {name: value for name, value in asked.items() if name not in ('outputs', 'hessian')}
    got = client.check('mesh', {**question_alone, 'claims': claims})
    assert got.status == 200 and got.json['agrees'] and got.json['claims']['agrees'], got
    wrong = client.check('mesh', {**question_alone, 'claims': {**claims, 'gradient': [-x for x in claims['gradient']]}})
    assert wrong.status == 200 and wrong.json['agrees'] and not wrong.json['claims']['agrees'], wrong
    assert wrong.json['claims']['quantity'] == 'gradient' and wrong.json['claims']['looks_like'] == ['sign'], wrong
    worst = wrong.json['claims']['worst']
    rows = client.send('GET', path('mesh') + '/contacts?merge=false').json['collisions'][worst['group']]['vertices']
    row = rows[worst['index']]
    assert worst['vertices'] == (row if isinstance(row, list) else [row])


def test_contacts_of_a_set_of_stencils(client):
    client.put('mesh', {'dim': 2, 'n_vertices': 1, 'friction': FRICTION, 'collisions': {'vertex_vertex': {'vertices': []}}})
    answer = client.send('GET', path('mesh') + '/contacts')
    assert answer.status == 422 and answer.pointers == ['/mesh'], answer
    answer = client.send('GET', path('mesh') + '/contacts?merge=perhaps')
    assert answer.status == 422, answer


def test_the_longest_step_of_all_pairs(client):
    """A pair that is not among the set's contacts limits the step."""
    positions, mesh = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.25, 0.25, 8]], {'faces': [[0, 1, 2]], 'vertices': [3]}
    made = client.put('mesh', lagged(3, positions, mesh))
    assert made.json['n_collisions'] == 0 and made.json['min_distance'] is None
    step = {'direction': [[0, 0, 0]] * 3 + [[0, 0, -16]]}
    answer = client.evaluate('mesh', {'terms': ['barrier'], 'outputs': ['longest_step'], 'longest_step': step})
    limit = answer.json['longest_step']
    assert limit['group'] == 'face_vertex' and limit['vertices'] == [3, 0, 1, 2]
    largest = 0.9 * (8 - DMIN) / 16
    assert 0.8 * largest <= limit['step'] <= largest
    alone = client.send('POST', '/v1/contacts', {'dim': 3, 'positions': positions, 'distance': DHAT, 'min_distance': DMIN,
                                                 'mesh': mesh, 'outputs': ['longest_step'], 'longest_step': step})
    assert alone.json['longest_step'] == limit
    client.patch('mesh', {'barrier': {'dmin': 7.75}})
    client.patch('mesh', {'barrier': {'dmin': 8}, 'on_degenerate': 'skip'})
    answer = client.evaluate('mesh', {'terms': ['barrier'], 'outputs': ['longest_step'], 'longest_step': step})
    assert answer.status == 422 and answer.json['code'] == 'penetration' and answer.pointers == ['/positions/3'], answer


# --- anchors ----------------------------------------------------------------------------------------------------------

def anchors_of(client):
    found = client.send('GET', path('mesh') + '/contacts?merge=false').json['collisions']
    return {(name, *(v if isinstance(v, list) else [v])): a for name, group in found.items()
            for v, a in zip(group['vertices'], group['anchor'])}


def test_anchors_begin_at_zero_and_are_carried(client):
    dim, _, positions, mesh = SCENES[3]
    client.put('mesh', lagged(dim, positions, mesh, anchors=True))
    assert set(flat(anchors_of(client).values())) == {0.0}
    asked = question(positions, dim, terms=['friction'], outputs=['collisions'], collision_outputs=['anchor'])
    del asked['current_positions'], asked['hessian']
    before = client.send('GET', path('mesh') + '/contacts?merge=false').json
    answer = client.evaluate('mesh', asked).json
    moved = [[x + 0.002, y, z - 0.001] for x, y, z in positions]
    advanced = client.send('POST', path('mesh') + '/advance', {'velocities': asked['velocities'], 'positions': moved})
    assert advanced.status == 200, advanced
    old = {name: {**group, 'anchor': answer['collisions'][name]['anchor']} for name, group in before['collisions'].items()}
    expected = client.send('POST', '/v1/contacts', {
        'dim': dim, 'positions': moved, 'distance': 2 * DHAT, 'min_distance': DMIN, 'mesh': mesh, 'merge': False,
        'previous': {'positions': positions, 'collisions': old}}).json
    assert client.send('GET', path('mesh') + '/contacts?merge=false').json == expected
    carried = anchors_of(client)
    assert any(any(a) for a in carried.values())
    client.patch('mesh', {'friction': {'mu': 0.25}})
    assert anchors_of(client) == carried
    whole = client.send('POST', '/v1/evaluate', {
        'dim': dim, 'positions': moved, 'barrier': BARRIER, 'friction': {**FRICTION, 'mu': 0.25},
        'closest_features': 'search', 'collisions': expected['collisions'], **asked})
    assert client.evaluate('mesh', asked).body == whole.body
    checked = client.send('POST', path('mesh') + '/check?derivatives=true', {'velocities': asked['velocities']})
    assert checked.json['agrees'], checked
    client.put('mesh', lagged(dim, positions, mesh, anchors=True))
    assert set(flat(anchors_of(client).values())) == {0.0}


def test_anchors_of_earlier_contacts(client):
    """A set that is put again with its list has the anchors it had. The list is not part of it."""
    dim, _, positions, mesh = SCENES[3]
    document = lagged(dim, positions, mesh, anchors=True)
    client.put('mesh', document)
    v = [[0.01 * (i % 3), -0.02, 0.01] for i in range(len(positions))]
    moved = [[x + 0.001, y, z] for x, y, z in positions]
    assert client.send('POST', path('mesh') + '/advance', {'velocities': v, 'positions': moved}).status == 200
    kept, listed = anchors_of(client), client.send('GET', path('mesh') + '/contacts?merge=false').json
    assert any(any(a) for a in kept.values())
    client.delete('mesh')
    previous = {'positions': moved, 'collisions': listed['collisions']}
    assert client.put('mesh', {**document, 'positions': moved, 'previous': previous}).status == 201
    assert anchors_of(client) == kept
    bytes_of = [each['bytes'] for each in client.list().json['sets']]
    client.put('other', {**document, 'positions': moved})
    assert [each['bytes'] for each in client.list().json['sets']] == 2 * bytes_of
    client.patch('mesh', {'friction': {'mu': 0.25}})
    assert anchors_of(client) == kept


def test_advance_needs_anchors(client):
    dim, _, positions, mesh = SCENES[3]
    client.put('mesh', lagged(dim, positions, mesh))
    answer = client.send('POST', path('mesh') + '/advance', {'velocities': positions, 'positions': positions})
    assert answer.status == 422 and answer.pointers == ['/anchors'], answer


def test_advance_is_repeated_safely(client):
    """The second of two equal requests with the same version changes nothing."""
    dim, _, positions, mesh = SCENES[0]
    made = client.put('mesh', lagged(dim, positions, mesh, anchors=True))
    body = {'velocities': [[0.01, 0]] * len(positions), 'positions': positions}
    answers = [client.send('POST', path('mesh') + '/advance', body, **{'If-Collision-Set-Version': made.version})
               for _ in range(2)]
    assert answers[0].status == answers[1].status == 200 and answers[0].body == answers[1].body
    assert anchors_of(client) and any(any(a) for a in anchors_of(client).values())
