"""The end of a set's time step: anchors and positions change in one request, as two requests would change them."""
import json
import os
import random
import sys
import threading

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import sets  # noqa: E402
from sets import FRAME, JSON, Client  # noqa: E402

# Two edges that cross above each other, a vertex above a floor, another one above an edge.
POSITIONS = [[-1, 0, 0], [1, 0, 0], [0, -1, 0.1], [0, 1, 0.1], [0.2, 0.1, 0.05], [0.5, 0.1, 0.1]]
DOCUMENT = {
    'dim': 3, 'positions': POSITIONS, 'friction': {'eps_v': 0.5, 'mu': 0.4}, 'barrier': {'dhat': 0.3, 'stiffness': 100},
    'collisions': {'edge_edge': {'vertices': [[0, 1, 2, 3]], 'anchor': [0, 0, 0]},
                   'edge_vertex': {'vertices': [[5, 0, 1]], 'anchor': [[0.1, 0, 0.2]], 'mu_s': 0.7, 'mu_k': 0.3},
                   'plane_vertex': {'vertices': [4, 5], 'plane_normal': [0, 0, 1], 'plane_origin': [0, 0, 0],
                                    'anchor': [[0.2, 0.1, 0], [0, 0, 0]]}}}
BODIES = {
    'dim': 3, 'body_positions': [[0, 0, 0], [0, 0, 1]], 'friction': {'eps_v': 0.5, 'mu': 0.4},
    'collisions': {'body_body': {'bodies': [[0, 1]], 'point': [0.1, 0, 0.5], 'normal': [0, 0, 1], 'normal_force': 3,
                                 'anchor': [0.1, 0, 0]},
                   'body_world': {'bodies': [0], 'point': [0, 0.2, -0.5], 'normal': [0, 0, 1], 'normal_force': 5,
                                  'anchor': [0, 0, 0], 'spin_radius': 0.1}}}
ANCHORS = {'outputs': ['collisions'], 'collision_outputs': ['anchor']}
EVERYTHING = {'outputs': ['potential', 'gradient', 'hessian', 'collisions'],
              'collision_outputs': ['tangential_velocity', 'anchor', 'status', 'normal_force', 'mu_s']}


@pytest.fixture
def client(server):
    one = Client(server)
    yield one
    for each in one.list().json['sets']:
        one.delete(each['name'])
    one.close()


def advance(client, name, step, kind=JSON, **headers):
    return client.send('POST', f'{sets.path(name)}/advance', step, kind, **headers)


def rows(rng, n, width, scale=1.0):
    return [[rng.gauss(0, scale) for _ in range(width)] for _ in range(n)]


def moved(rng, positions, by=0.02):
    return [[x + rng.uniform(-by, by) for x in row] for row in positions]


def in_two_requests(client, name, step):
    """Advances a set by evaluating its anchors and by a PATCH."""
    question = {k: v for k, v in step.items() if k in ('velocities', 'body_velocities')}
    patch = {k: v for k, v in step.items() if k not in question}
    answer = client.evaluate(name, {**question, **ANCHORS})
    assert answer.status == 200, answer
    anchors = {group: values for group, values in answer.json['collisions'].items() if values['anchor']}
    return client.patch(name, sets.merge(patch, {'collisions': anchors}))


def steps_of(rng, document):
    step = {}
    if 'positions' in document:
        n = len(document['positions'])
        step = {'velocities': rows(rng, n, 3, 0.4), 'positions': moved(rng, POSITIONS)}
        if rng.random() < 0.5:
            step['lagged_velocities'] = rows(rng, n, 3)
        if rng.random() < 0.5:
            step['collisions'] = {'plane_vertex': {'surface_velocity': rows(rng, 2, 3)}}
    if 'body_positions' in document:
        n = len(document['body_positions'])
        step |= {'body_velocities': rows(rng, n, 6, 0.4), 'body_positions': moved(rng, document['body_positions'])}
        if rng.random() < 0.5:
            step['lagged_body_velocities'] = rows(rng, n, 6)
        if rng.random() < 0.5:
            step.setdefault('collisions', {})['body_world'] = {'surface_velocity': [1, 0, 0]}
    return step


MATCHSTICKS = sets.merge(DOCUMENT, {'collisions': {'edge_edge': {'mu_s_aniso': [0.9, 0.3], 'mu_k_aniso': [0.5, 0.2]}},
                                    'lagged_velocities': rows(random.Random(1), 6, 3)})
MIXED = {**DOCUMENT, **BODIES, 'collisions': {**DOCUMENT['collisions'], **BODIES['collisions']}}
PLANE = {'dim': 2, 'positions': [[0, 0.1]], 'friction': {'eps_v': 0.5, 'mu': 0.4},
         'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 1], 'normal_force': 2, 'anchor': [0.1, 0]},
                        'vertex_vertex': {'vertices': []}}}


@pytest.mark.parametrize('kind', [JSON, FRAME])
@pytest.mark.parametrize('document', [DOCUMENT, BODIES, MATCHSTICKS, MIXED], ids=['vertices', 'bodies', 'matchsticks', 'mixed'])
def test_equals_evaluate_and_patch(client, document, kind):
    rng = random.Random(repr(document))
    for name in ('one', 'two'):
        assert client.put(name, document).status == 201
    for _ in range(10):
        step = steps_of(rng, document)
        one, two = advance(client, 'one', step, kind), in_two_requests(client, 'two', step)
        assert one.status == two.status == 200, (one, two)
        described, other = one.json, two.json
        for each in (described, other):
            del each['name'], each['version']
        assert described == other
        question = {**{k: v for k, v in steps_of(rng, document).items() if k.endswith('velocities')}, **EVERYTHING}
        answers = [client.evaluate(name, question) for name in ('one', 'two')]
        assert answers[0].status == 200 and answers[0].body == answers[1].body, answers


def test_two_dimensions_and_empty_groups(client):
    client.put('a', PLANE)
    assert advance(client, 'a', {'velocities': [[0.2, 0]], 'positions': [[0.2, 0.1]]}).status == 200
    answer = client.evaluate('a', {'velocities': [[0, 0]], **ANCHORS}).json
    assert answer['collisions'] == {'vertex_vertex': {'anchor': []}, 'plane_vertex': {'anchor': [[pytest.approx(0.3), 0]]}}


def test_without_contacts(client):
    document = {'dim': 2, 'positions': [[0, 0]], 'friction': {'eps_v': 1, 'mu': 1}, 'collisions': {'vertex_vertex': {'vertices': []}}}
    client.put('a', document)
    answer = advance(client, 'a', {'velocities': [[1, 0]], 'positions': [[1, 0]]})
    assert answer.status == 200 and answer.json['n_collisions'] == 0, answer


def test_skipped_contacts(client):
    document = sets.merge(DOCUMENT, {'on_degenerate': 'skip'})
    client.put('a', document)
    flat = [[x, y, 0] for x, y, _ in POSITIONS]
    answer = advance(client, 'a', {'velocities': [[0.1, 0, 0]] * 6, 'positions': flat})
    assert answer.status == 200 and answer.json['n_skipped'] == 3, answer
    assert advance(client, 'a', {'velocities': [[0.1, 0, 0]] * 6, 'positions': POSITIONS}).json['n_skipped'] == 0


def test_a_block_that_sticks_keeps_sticking(client):
    """A block on an incline, held by friction: the first step deflects its contacts, after which nothing moves. Without
    anchors it creeps."""
    n, slope, force = 4, 0.3, 10.0
    floor = {'vertices': list(range(n)), 'plane_normal': [0, 1], 'normal_force': force, 'anchor': [0, 0]}
    document = {'dim': 2, 'positions': [[i, 0.1] for i in range(n)], 'friction': {'eps_v': 1e-3, 'mu': 0.5},
                'collisions': {'plane_vertex': floor}}
    client.put('a', document)

    def end_of_step(positions):
        """Minimises the potential minus the work of a load, by Newton's method for the one velocity of the block."""
        v = 0.0
        for _ in range(50):
            answer = client.evaluate('a', {'velocities': [[v, 0]] * n, 'outputs': ['gradient', 'hessian'],
                                           'hessian': {'format': 'triplets'}}).json
            unbalanced = sum(answer['gradient'][::2]) - n * force * slope
            hessian = answer['hessian']
            stiffness = sum(x for i, j, x in zip(*(hessian[k] for k in ('rows', 'cols', 'values'))) if i % 2 == j % 2 == 0)
            if abs(unbalanced) < 1e-13 * n * force:
                break
            v -= unbalanced / stiffness
        return v, [[x + v, y] for x, y in positions]

    velocities, positions = [], document['positions']
    for _ in range(100):
        v, positions = end_of_step(positions)
        velocities.append(v)
        assert advance(client, 'a', {'velocities': [[v, 0]] * n, 'positions': positions}).status == 200
    assert velocities[0] > 1e-4
    assert max(abs(v) for v in velocities[1:]) < 1e-15, velocities[:5]
    creeping = [end_of_step(positions)[0] for _ in range(3) if client.patch('a', {'collisions': {'plane_vertex': {
        'anchor': [0, 0]}}}).status == 200]
    assert min(creeping) > 1e-4


# ---- faults ----

STEP = {'velocities': [[0, 0, 0]] * 6, 'positions': POSITIONS}
OF_BODIES = {'body_velocities': [[0] * 6] * 2, 'body_positions': BODIES['body_positions']}


def without(step, name):
    return {k: v for k, v in step.items() if k != name}


@pytest.mark.parametrize('document, step, pointers', [
    (DOCUMENT, {}, ['/velocities', '/positions']),
    (DOCUMENT, without(STEP, 'positions'), ['/positions']),
    (DOCUMENT, without(STEP, 'velocities'), ['/velocities']),
    (DOCUMENT, {**STEP, 'velocities': [[0, 0, 0]] * 5}, ['/velocities']),
    (DOCUMENT, {**STEP, 'positions': [[0, 0, 0]] * 7}, ['/positions']),
    (DOCUMENT, {**STEP, 'positions': None}, ['/positions']),
    (DOCUMENT, {**STEP, 'lagged_velocities': None}, ['/lagged_velocities']),
    (DOCUMENT, {**STEP, 'lagged_velocities': [[0, 0]] * 6}, ['/lagged_velocities']),
    (DOCUMENT, {**STEP, 'friction': {'mu': 0.1}}, ['/friction']),
    (DOCUMENT, {**STEP, 'outputs': ['gradient']}, ['/outputs']),
    (DOCUMENT, {**STEP, 'body_positions': [[0, 0, 0]]}, ['/body_positions']),
    (DOCUMENT, {**STEP, 'body_velocities': [[0] * 6]}, ['/body_positions']),
    (DOCUMENT, {**STEP, 'collisions': 3}, ['/collisions']),
    (DOCUMENT, {**STEP, 'collisions': {'edge_edge': {'anchor': [0, 0, 0]}}}, ['/collisions/edge_edge/anchor']),
    (DOCUMENT, {**STEP, 'collisions': {'edge_edge': {'surface_velocity': None}}},
     ['/collisions/edge_edge/surface_velocity']),
    (DOCUMENT, {**STEP, 'collisions': {'edge_edge': {'surface_velocity': [[0, 0, 0]] * 2}}},
     ['/collisions/edge_edge/surface_velocity']),
    (DOCUMENT, {**STEP, 'collisions': {'edges': {}}}, ['/collisions/edges']),
    (DOCUMENT, {**STEP, 'collisions': {'face_vertex': {'surface_velocity': [0, 0, 0]}}},
     ['/collisions/face_vertex/vertices']),
    (DOCUMENT, {**STEP, 'positions': [[0, 0, 0]] * 6}, ['/collisions/edge_vertex/vertices/0']),
    (sets.merge(DOCUMENT, {'collisions': {'plane_vertex': {'anchor': None}}}), STEP, ['/collisions/plane_vertex/anchor']),
    (sets.merge(DOCUMENT, {'collisions': {'edge_edge': {'anchor': None}, 'plane_vertex': {'anchor': None}}}),
     STEP, ['/collisions/edge_edge/anchor', '/collisions/plane_vertex/anchor']),
    (BODIES, STEP, ['/velocities', '/positions', '/body_positions', '/body_velocities']),
    (BODIES, without(OF_BODIES, 'body_positions'), ['/body_positions']),
    (BODIES, without(OF_BODIES, 'body_velocities'), ['/body_velocities']),
    (BODIES, {**OF_BODIES, 'body_positions': [[0, 0, 0]]}, ['/body_positions']),
    (MIXED, STEP, ['/body_positions', '/body_velocities']),
    (MIXED, OF_BODIES, ['/velocities', '/positions']),
])
@pytest.mark.parametrize('kind', [JSON, FRAME])
def test_a_step_that_does_not_pass_changes_nothing(client, document, step, pointers, kind):
    before = client.put('a', document)
    assert before.status == 201, before
    question = {k: v for k, v in {**STEP, **OF_BODIES}.items() if k.endswith('velocities')
                and (k.startswith('body') == ('body_positions' in document) or document is MIXED)}
    numbers = client.evaluate('a', question)
    assert numbers.status == 200, numbers
    answer = advance(client, 'a', step, kind)
    assert answer.status == 422, answer
    assert sorted(answer.pointers) == sorted(pointers), answer
    assert answer.version == before.version == client.get('a').version
    assert client.evaluate('a', question).body == numbers.body


def test_anchors_that_overflow(client):
    client.put('a', sets.merge(DOCUMENT, {'friction': {'eps_v': 1e308}, 'collisions': {'plane_vertex': {'anchor': [[1e308, 0, 0]] * 2}}}))
    answer = advance(client, 'a', {**STEP, 'velocities': [[1.5e308, 0, 0]] * 6})
    assert answer.status == 422, answer


def test_malformed_bodies(client):
    client.put('a', DOCUMENT)
    for step in ([], 3, 'x', None):
        answer = advance(client, 'a', json.dumps(step).encode())
        assert answer.status == 422 and answer.pointers == [''], answer
    for body, kind, status in ((b'', JSON, 400), (b'{', JSON, 400), (b'{}', FRAME, 400), (b'{}', 'text/plain', 415),
                               (b'{}', 'application/merge-patch+json', 415)):
        answer = advance(client, 'a', body, kind)
        assert answer.status == status, answer
    for method in ('GET', 'PUT', 'PATCH', 'DELETE'):
        answer = client.send(method, '/v1/sets/a/advance', b'{}')
        assert answer.status == 405 and answer.headers['Allow'] == 'POST', answer
    assert client.send('POST', '/v1/sets/a/advance?x=1', STEP).status == 422


def test_an_unknown_set_and_an_invalid_name(client):
    answer = advance(client, 'none', STEP)
    assert answer.status == 404 and answer.json['code'] == 'unknown_set' and answer.version is None
    assert advance(client, 'a' * 65, STEP).pointers == ['/name']


def test_with_too_long_an_answer_nothing_changes(server_with):
    client = Client(server_with('--max-answer-bytes', '600'))
    edges = {'dim': 3, 'positions': POSITIONS, 'friction': DOCUMENT['friction'], 'on_degenerate': 'skip',
             'collisions': {'edge_edge': {'vertices': [[0, 1, 2, 3]] * 9, 'normal_force': 1, 'anchor': [0, 0, 0]}}}
    version = client.put('a', edges).version
    answer = advance(client, 'a', {'velocities': [[0, 0, 0]] * 6, 'positions': [[x, 0, 0] for x, _, _ in POSITIONS]})
    assert (answer.status, answer.json['code'], answer.version) == (413, 'answer_too_long', version)
    assert client.get('a').version == version
    client.close()


# ---- versions and repetition ----

def test_versions(client, server_with):
    version = client.put('a', DOCUMENT).version
    once = advance(client, 'a', STEP)
    assert once.status == 200 and once.version == once.json['version'] != version
    assert client.get('a').version == once.version
    other = Client(server_with())
    other.put('b', DOCUMENT)
    assert advance(other, 'b', STEP).version == once.version  # the same requests lead to the same version anywhere
    other.put('b', DOCUMENT)
    assert advance(other, 'b', STEP, FRAME).version != once.version
    other.close()
    again = advance(client, 'a', STEP)  # without a condition it is another step
    assert again.status == 200 and again.version not in (version, once.version)


def test_repeated(client):
    version = client.put('a', DOCUMENT).version
    for answer in (advance(client, 'a', STEP, If_Collision_Set_Version='f' * 32),
                   advance(client, 'a', STEP, If_Collision_Set_Version='*')):
        assert answer.status == 412 and answer.json['code'] == 'set_changed' and answer.version == version
    once = advance(client, 'a', STEP, If_Collision_Set_Version=version)
    again = advance(client, 'a', STEP, If_Collision_Set_Version=version)
    assert once.status == again.status == 200 and once.json == again.json and once.version == again.version
    assert advance(client, 'a', {**STEP, 'velocities': [[1, 0, 0]] * 6}, If_Collision_Set_Version=version).status == 412
    assert advance(client, 'none', STEP, If_Collision_Set_Version=version).status == 404
    for header in ('If-Match', 'If-Unmodified-Since'):
        assert advance(client, 'a', STEP, **{header: '"x"'}).json['code'] == 'without_effect'


def test_the_pattern_stays(client):
    client.put('a', DOCUMENT)
    tag = client.pattern('a').headers['ETag']
    advance(client, 'a', {'velocities': [[0.1, 0, 0]] * 6, 'positions': moved(random.Random(2), POSITIONS)})
    assert client.pattern('a', If_None_Match=tag).status == 304


# ---- concurrent requests ----

def test_each_step_is_taken_once(server, client):
    """Clients that advance and patch a set at the same time, each without a condition: no step is lost. A contact that
    never slips adds up the velocities of all steps."""
    threads, each = 4, 25
    client.put('shared', {'dim': 2, 'positions': [[0, 0]], 'friction': {'eps_v': 1e6, 'mu': 0.5}, 'collisions': {
        'plane_vertex': {'vertices': [0], 'plane_normal': [0, 1], 'normal_force': 1, 'anchor': [0, 0]}}})
    failures = []

    def run(number):
        own = Client(server)
        try:
            for i in range(each):
                answer = advance(own, 'shared', {'velocities': [[1, 0]], 'positions': [[number, i]]}, (JSON, FRAME)[i % 2])
                assert answer.status == 200, answer
                assert own.patch('shared', {'friction': {'mu': 0.5 + 0.001 * i}}).status == 200
        except Exception as e:  # noqa: BLE001
            failures.append(repr(e)[:1000])
        finally:
            own.close()

    running = [threading.Thread(target=run, args=(k,)) for k in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not failures, failures
    answer = client.evaluate('shared', {'velocities': [[0, 0]], **ANCHORS}).json
    assert answer['collisions']['plane_vertex']['anchor'] == [[threads * each, 0]]


def test_with_a_condition_one_of_many_succeeds(server, client):
    """Of different steps from the same version, one is taken; the same step, sent by all, is taken once."""
    for same in (False, True):
        version = client.put('shared', DOCUMENT).version
        answers, lock = [], threading.Lock()

        def run(number):
            own = Client(server)
            step = {**STEP, 'velocities': [[0 if same else number, 0, 0]] * 6}
            answer = advance(own, 'shared', step, If_Collision_Set_Version=version)
            with lock:
                answers.append(answer)
            own.close()

        running = [threading.Thread(target=run, args=(k,)) for k in range(6)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        statuses = sorted(answer.status for answer in answers)
        assert statuses == ([200] * 6 if same else [200] + [412] * 5), answers
        assert len({json.dumps(answer.json) for answer in answers if answer.status == 200}) == 1
        client.delete('shared')
