"""Malformed requests made by systematic mutation of good ones: status, problem, pointer to the mutated place; and the
server as it was before: answering, without a sanitizer's report, without having kept the memory.
"""
import copy
import http.client
import json
import os
import pathlib
import random
import signal
import subprocess
import time
from urllib.parse import urlsplit

import pytest

from conftest import READY, ROOT
from test_cases import find, leads_somewhere, problem_of

MIB = 1 << 20
EVALUATE = '/v1/evaluate'


# --- good documents: together they have every field ----------------------------------------------------------------

B3, B2 = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [[1.0], [0.0]]
POSITIONS = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.3, 0.5], [0.3, -0.7, 0.4], [0.2, 0.9, 0.6]]
ROWS = {'vertex_vertex': [[0, 3], [1, 4], [2, 5]], 'edge_vertex': [[3, 0, 1], [4, 0, 1], [5, 0, 2]],
        'edge_edge': [[0, 1, 3, 4], [0, 2, 3, 5], [0, 1, 4, 5]],
        'face_vertex': [[3, 0, 1, 2], [4, 0, 1, 2], [5, 0, 1, 2]], 'plane_vertex': [3, 4, 5]}
POINTS = {'edge_vertex': 1, 'edge_edge': 2, 'face_vertex': 2}


def velocities(dim, scale):
    return [[scale * (i + 1) * (a - 1.5) for a in range(dim)] for i in range(6)]


def document(dim, friction, groups):
    return {'dim': dim, 'velocities': velocities(dim, 0.01), 'lagged_velocities': velocities(dim, 0.02),
            'friction': friction, 'collisions': groups, 'outputs': ['potential', 'gradient', 'hessian', 'collisions'],
            'hessian': {'format': 'csr', 'triangle': 'upper', 'projection': 'clamp'},
            'collision_outputs': ['mu_s', 'status', 'distance'], 'on_degenerate': 'error'}


def derived(friction):
    groups = {name: {'vertices': rows, 'weight': [1.0, -2.0, 0.5], 'mu_aniso': [[1.0, 2.0], [0.5, 1.0], [1.0, 1.0]],
                     'eps_v': [0.1, 0.2, 0.3]} for name, rows in ROWS.items()}
    groups['vertex_vertex'].update(normal_force=[1.0, 2.0, 0.0])
    groups['edge_edge'].update(mu_s=[0.5, 0.4, 0.3], mu_k=[0.4, 0.3, 0.2])
    groups['edge_edge'].update(mu_s_aniso=[[0.5, 0.4]] * 3, mu_k_aniso=[[0.0, 0.4]] * 3)
    groups['face_vertex'].update(mu=[0.5, 0.0, 0.3])
    groups['plane_vertex'].update(plane_normal=[[0.0, 0.0, 2.0]] * 3, plane_origin=[[0.0, 0.0, -0.1]] * 3)
    barrier = {'dhat': 2.0, 'stiffness': 10.0, 'dmin': 0.001}
    return {**document(3, friction, groups), 'positions': POSITIONS, 'barrier': barrier}


def given(dim, friction):
    groups = {name: {'vertices': rows, 'normal_force': [1.0, 2.0, 0.5], 'tangent_basis': [B3 if dim == 3 else B2] * 3}
              for name, rows in ROWS.items() if dim == 3 or name not in ('edge_edge', 'face_vertex')}
    for name in groups:
        if name in POINTS:
            groups[name]['closest_point'] = [[0.25] * POINTS[name]] * 3
    return document(dim, friction, groups)


TABLE = [[0.5, 0.4], [0.4, 0.3]]
MATERIALS = {'vertex_material': [0, 1, 0, 1, 0, 1], 'plane_material': 1}
GOOD = {
    'derived-s-k': derived({'eps_v': 0.1, 'mu_s': 0.5, 'mu_k': 0.3, 'mu_transition': 'quadratic'}),
    'given-mu': given(3, {'eps_v': 0.1, 'mu': 0.5}),
    'given-vertex-s-k': given(3, {'eps_v': 0.1, 'vertex_mu_s': [0.5] * 6, 'vertex_mu_k': [0.25] * 6, 'blend': 'min'}),
    'given-vertex-2d': given(2, {'eps_v': 0.1, 'vertex_mu': [0.5] * 6, 'blend': 'mean'}),
    'given-table': given(3, {'eps_v': 0.1, 'materials': {**MATERIALS, 'mu': TABLE}}),
    'given-table-s-k-2d': given(2, {'eps_v': 0.1, 'materials': {**MATERIALS, 'mu_s': TABLE, 'mu_k': TABLE}}),
}
REQUIRED = {'dim', 'velocities', 'collisions', 'friction', 'positions', 'barrier', 'dhat', 'stiffness', 'vertices',
            'plane_normal', 'plane_origin', 'closest_point', 'tangent_basis', 'vertex_material', 'plane_material'}
POSITIVE = {'eps_v', 'dhat', 'stiffness', 'mu_aniso'}
NON_NEGATIVE = {'mu', 'mu_s', 'mu_k', 'vertex_mu', 'vertex_mu_s', 'vertex_mu_k', 'dmin', 'normal_force',
                'mu_s_aniso', 'mu_k_aniso'}
INDICES = {'vertices', 'vertex_material', 'plane_material'}
FINE = json.dumps({'dim': 2, 'velocities': [[0.05, 0]], 'friction': {'mu': 0.3, 'eps_v': 0.1}, 'collisions': {
    'plane_vertex': {'vertices': [0], 'normal_force': 1, 'plane_normal': [0, 1]}}}).encode()


# --- mutations: (what, new value or GONE, where the pointer must lead: a path of keys) --------------------------------

GONE = object()
NO_NUMBER = {'null': None, 'string': '1', 'true': True, 'object': {'x': 1}}


def is_required(good, path):
    """Whether the document is wrong without this field, and the pointer to it."""
    name = path[-1]
    if name in ('normal_force', 'tangent_basis'):
        return 'closest_point' in good['collisions'][path[1]]
    if name == 'eps_v':
        return path[0] == 'friction' and not all(name in group for group in good['collisions'].values())
    return name in REQUIRED or name in ('mu_s', 'mu_k', 'vertex_mu_s', 'vertex_mu_k')


def objects(value, path):
    yield 'unknown field', {**value, 'no_such/field': 1}, path + ['no_such/field']
    for word, other in {'null': None, 'string': 'x', 'number': 3, 'numbers': [1, 2], 'list': ['x'],
                        'true': True}.items():
        yield f'{word} for an object', other, path


def words(path):
    for word, other in {'null': None, 'number': 3, 'unknown word': 'no such word', 'no word': '', 'list': ['mean'],
                        'object': {}, 'false': False}.items():
        yield f'{word} for a word', other, path


def word_lists(value, path):
    for word, other in {'null': None, 'a word': value[0], 'number': 3, 'object': {}, 'true': True}.items():
        yield f'{word} for a list', other, path
    for word, other in {'number': 3, 'null': None, 'unknown word': 'no such word', 'list': [value[0]],
                        'object': {}}.items():
        yield f'{word} in a list', value + [other], path + [len(value)]


def ranges(name, value):
    if name in POSITIVE:
        yield 'zero', 0.0
    if name in POSITIVE | NON_NEGATIVE:
        yield 'negative', -1e-9
    if name in INDICES:
        yield from {'real': float(value), 'negative': -1, 'too large': 6, 'huge': 1 << 62}.items()
    if name == 'dim':
        yield from {'another': 4, 'zero': 0, 'negative': -value, 'real': float(value)}.items()


def numbers(name, value, path):
    for word, other in {**NO_NUMBER, 'array': [value], 'nest': [[value]], 'nothing': []}.items():
        yield f'{word} for a number', other, path
    for word, other in ranges(name, value):
        yield word, other, path


def leaves(value, path):
    if isinstance(value, list):
        for i, row in enumerate(value):
            yield from leaves(row, path + [i])
    else:
        yield path, value


def arrays(name, value, path):
    for word, other in {**NO_NUMBER, 'strings': ['x', 'y'], 'a longer array': value + [value[0]],
                        'a shorter array': value[:-1], 'extra nesting': [value], 'six levels': [[[[[[1]]]]]]}.items():
        # These two say how long others must be: the others are then wrong.
        if name not in ('velocities', 'vertices') or word not in ('a longer array', 'a shorter array'):
            yield f'{word} for an array', other, (path + [0] if word == 'strings' else path)
    if isinstance(value[0], list):
        end = len(value) - 1
        yield 'a number for an array', 1.0, path
        yield 'a short row', replaced(value, [1], value[1][:-1]), path + [1]
        yield 'a long row', replaced(value, [end], value[end] + [value[end][0]]), path + [end]
        yield 'a number for a row', replaced(value, [1], 1.0), path + [1]
        yield 'an empty row', replaced(value, [end], []), path + [end]
    else:
        yield 'a row for a number', replaced(value, [1], [value[1]]), path + [1]
    *_, (last, number) = leaves(value, [])
    for word, other in NO_NUMBER.items():
        yield f'{word} for a number inside', replaced(value, last, other), path + last
    for word, other in ranges(name, number):
        if not (name in ('mu', 'mu_s', 'mu_k') and 'materials' in path):
            yield f'{word} inside', replaced(value, last, other), path + last
    if name == 'vertices' and isinstance(value[0], list):
        yield 'a vertex twice', replaced(value, [end, 1], value[end][0]), path + [end]
    if 'materials' in path and name != 'vertex_material':
        yield 'negative', replaced(value, [1, 1], -1), path + [1, 1]
        yield 'asymmetric', replaced(value, [1, 0], value[1][0] + 1), path + [1, 0]


def replaced(document_, path, value):
    if not path:
        return value
    out = copy.copy(document_)
    if value is GONE and len(path) == 1:
        del out[path[0]]
    else:
        out[path[0]] = replaced(out[path[0]], path[1:], value)
    return out


def mutations_of(good, value, path):
    name = path[-1] if path else ''
    if isinstance(value, dict):
        yield from objects(value, path)
        for key in value:
            yield from mutations_of(good, value[key], path + [key])
    elif isinstance(value, str):
        yield from words(path)
    elif not isinstance(value, list):
        yield from numbers(name, value, path)
    elif isinstance(value[0], str):
        yield from word_lists(value, path)
    else:
        yield from arrays(name, value, path)
    if path and is_required(good, path):
        yield 'missing', GONE, path


def mutations():
    for name, good in GOOD.items():
        for what, value, where in mutations_of(good, good, []):
            pointer = ''.join('/' + str(key).replace('~', '~0').replace('/', '~1') for key in where)
            yield name, what, value, where, pointer


def changed_at(good, where, what):
    """The path of the field whose value a mutation replaces: `where` may lead into that value."""
    if what == 'unknown field':
        return where[:-1]
    document_, path = good, []
    for key in where:
        if not isinstance(document_, dict):
            break
        document_ = document_[key]
        path.append(key)
    return path


def mutated():
    for name, what, value, where, pointer in mutations():
        good = GOOD[name]
        yield f'{name} {pointer} {what}', replaced(good, changed_at(good, where, what), value), pointer


MUTATED = list(mutated())


# --- a server of our own, whose log and memory we see ----------------------------------------------------------------

class Server:
    def __init__(self, log):
        self.log = log
        with open(log, 'wb') as out:
            self.process = subprocess.Popen([str(ROOT / os.environ.get('FRICTIOND', 'build/frictiond')), '--port', '0'],
                                            stdout=subprocess.PIPE, stderr=out, text=True)
        self.address = urlsplit(self.process.stdout.readline().rstrip('\n')[len(READY):])
        self.connection = None

    def send(self, method, path, body, headers=None):
        """(status, headers by lower-case name, body) on a connection that is kept."""
        try:
            return self.exchange(method, path, body, headers)
        except (http.client.HTTPException, ConnectionError):
            self.connection = None  # it was idle for too long, or the server refused a body before its end
            return self.exchange(method, path, body, headers)

    def exchange(self, method, path, body, headers):
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.address.hostname, self.address.port)
        self.connection.request(method, path, body, {'Content-Type': 'application/json', **(headers or {})})
        answer = self.connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

    def evaluate(self, body):
        return self.send('POST', EVALUATE, body)

    def resident(self):
        text = pathlib.Path(f'/proc/{self.process.pid}/status').read_text()
        return int(text.split('VmRSS:')[1].split()[0]) * 1024

    def assert_well(self):
        assert self.process.poll() is None
        status, _, content = self.evaluate(FINE)
        assert status == 200 and json.loads(content)['gradient'] == pytest.approx([0.225, 0])


@pytest.fixture(scope='module')
def served(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp('errors') / 'log')
    yield server
    if server.connection:
        server.connection.close()
    server.process.send_signal(signal.SIGTERM)
    server.process.communicate()
    assert server.process.returncode == 0
    log = server.log.read_text(errors='replace')
    assert 'Sanitizer' not in log and 'runtime error' not in log, log[-5000:]


def text_of(document_):
    return json.dumps(document_).encode()


# --- tests ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('name', GOOD)
def test_good_documents_are_good(served, name):
    status, _, content = served.evaluate(text_of(GOOD[name]))
    assert status == 200, content


def test_good_documents_have_every_field():
    def names(value):
        return set(value).union(*(names(inner) for inner in value.values())) if isinstance(value, dict) else set()
    assert set().union(*(names(good) for good in GOOD.values())) >= REQUIRED | POSITIVE | NON_NEGATIVE | set(ROWS) | {
        'blend', 'mu_transition', 'hessian', 'format', 'triangle', 'projection', 'outputs', 'collision_outputs',
        'on_degenerate'}
    assert len(MUTATED) >= 200


@pytest.mark.parametrize('what,request_,pointer', MUTATED, ids=[case[0] for case in MUTATED])
def test_mutated(served, what, request_, pointer):
    status, headers, content = served.evaluate(text_of(request_))
    assert status == 422, content[:1000]
    pointers = [error['pointer'] for error in problem_of(status, headers, content)['errors']]
    assert pointer in pointers or any(p.startswith(pointer + '/') for p in pointers if 'six levels' in what)
    assert all(leads_somewhere(request_, p) for p in pointers)
    assert served.evaluate(FINE)[0] == 200


def test_numbers_out_of_range_anywhere(served):
    for name, good in GOOD.items():
        for path, number in leaves_of(good, []):
            if isinstance(number, (int, float)) and not isinstance(number, bool):
                text = text_of(replaced(good, path, 'HERE')).replace(b'"HERE"', b'-1e999')
                status, headers, content = served.evaluate(text)
                assert status == 400, (name, path)
                problem_of(status, headers, content)
    served.assert_well()


def leaves_of(value, path):
    for key, inner in (value.items() if isinstance(value, dict) else enumerate(value)):
        if isinstance(inner, (dict, list)):
            yield from leaves_of(inner, path + [key])
        else:
            yield path + [key], inner


def test_cut_anywhere(served):
    """No beginning of a document is a document."""
    text = text_of(GOOD['given-table'])
    for end in range(0, len(text), 7):
        status, headers, content = served.evaluate(text[:end])
        assert status == 400, text[:end][-40:]
        problem_of(status, headers, content)
    served.assert_well()


def test_bytes_changed_at_random(served):
    """Whatever it is by then, it is answered, and never by a 500."""
    chance = random.Random(1)
    seen = set()
    for _ in range(1500):
        text = bytearray(text_of(GOOD[chance.choice(list(GOOD))]))
        for _ in range(chance.choice((1, 1, 2, 5))):
            text[chance.randrange(len(text))] = chance.choice(b'[]{},:"\\0123456789.-+eE \x00\xff\xc3tfn/~')
        status, headers, content = served.evaluate(bytes(text))
        seen.add(status)
        assert status in (200, 400, 422), (status, bytes(text))
        if status == 200:
            json.loads(content)
        else:
            problem_of(status, headers, content)
    assert seen == {200, 400, 422}
    served.assert_well()


# The whole body of 100 MB is read, judged and forgotten; under AddressSanitizer, by the same code, 20 MB.
HUGE = 20_000_000 if os.environ.get('MODE') == 'asan' else 100_000_000
BODIES = {
    'numbers in an unknown field': (lambda: FINE[:-1] + b',"x":[' + b'0.1234567,' * (HUGE // 10) + b'1]}', 422, '/x'),
    'small numbers in an unknown field': (lambda: FINE[:-1] + b',"x":[' + b'1,' * (HUGE // 2) + b'1]}', 422, '/x'),
    'opening brackets': (lambda: b'[' * HUGE, 400, ''),
    'opening braces': (lambda: b'{"a":' * (HUGE // 5), 400, ''),
    'closing brackets': (lambda: FINE + b']' * HUGE, 400, ''),
    'a string': (lambda: b'"' + b's' * HUGE + b'"', 413, None),
    'a string in an unknown field': (lambda: FINE[:-1] + b',"x":"' + b'\xc3\xa9' * (HUGE // 2) + b'"}', 413, None),
    'a string without an end': (lambda: b'"' + b's' * HUGE, 413, None),
    'backslashes': (lambda: b'["' + b'\\' * HUGE + b'"]', 413, None),
    'a key': (lambda: FINE[:-1] + b',"' + b'k' * HUGE + b'":1}', 413, None),
    'a number': (lambda: b'[' + b'1' * HUGE + b']', 413, None),
    'a number with many zeros': (lambda: b'[0.' + b'0' * HUGE + b'1]', 413, None),
    'white space': (lambda: b' ' * HUGE, 400, ''),
    'white space around': (lambda: b' ' * (HUGE // 2) + FINE + b'\n' * (HUGE // 2), 200, None),
    'words': (lambda: b'[' + b'null,' * (HUGE // 5) + b'null]', 413, None),
    'commas': (lambda: b'[' + b',' * HUGE, 400, ''),
    'bytes of no meaning': (lambda: random.Random(2).randbytes(HUGE), 400, ''),
    'zeros': (lambda: bytes(HUGE), 400, ''),
}


@pytest.mark.parametrize('name', BODIES)
def test_huge(served, name):
    make, expected, pointer = BODIES[name]
    status, headers, content = served.evaluate(make())
    assert status == expected, content[:500]
    if status != 200:
        problem = problem_of(status, headers, content)
        assert len(content) < 10_000
        if pointer is not None:
            assert [error['pointer'] for error in problem['errors']] == [pointer]
    served.assert_well()


@pytest.mark.parametrize('bad', ['null', '"NaN"', 'true', '{}', '[1]'])
@pytest.mark.parametrize('n', [10, 99_990, 150_000])
def test_one_wrong_entry_of_a_large_array(served, n, bad):
    """As encoders make it that write NaN as null: the size of the batch must not hide the place."""
    rows = b'[1.5,2.5],' * n
    text = FINE.replace(b'[[0.05, 0]]', b'[' + rows + b'[0,%b],' % bad.encode() + rows + b'[0,0]]')
    status, headers, content = served.evaluate(text)
    assert status == 422, content[:500]
    assert [error['pointer'] for error in problem_of(status, headers, content)['errors']] == [f'/velocities/{n}/1']


def bad_bodies():
    texts = [text_of(request) for _, request, _ in MUTATED[::7]]
    texts += [text[:len(text) // 2] for text in texts]
    return texts + [b'', b'[' * 10_000, b'{"a":' * 10_000, b'\xff' * 1000, b'["a",' * 20_000]


def large_bad_bodies():
    numbers_ = b'0.1234567,' * 2_000_000
    return [FINE[:-1] + b',"x":[' + numbers_ + b'1]}', b'[' * 20_000_000, b'"' + b's' * 20_000_000 + b'"',
            FINE.replace(b'[[0.05, 0]]', b'[' + numbers_ + b'"x"]'),
            FINE.replace(b'[[0.05, 0]]', b'[' + numbers_ + b'[1]]'),
            FINE[:-1] + b',"' + b'k' * 20_000_000 + b'":1}', b'[' + b'null,' * 4_000_000 + b'null]']


def test_memory_comes_back(tmp_path):
    """Against the start of a fresh server: what allocators keep for themselves is allowed, 20 MB bodies are not."""
    server = Server(tmp_path / 'log')
    slack = (768 if 'asan' in os.environ.get('FRICTIOND', '') else 64) * MIB
    server.assert_well()
    before = server.resident()
    small, large = bad_bodies(), large_bad_bodies()
    for i in range(2000):
        body = large[i // 100 % len(large)] if i % 100 == 50 else small[i % len(small)]
        status, headers, content = server.evaluate(body)
        assert status in (400, 413, 422)
        problem_of(status, headers, content)
    server.assert_well()
    for _ in range(60):  # large blocks are kept warm for some seconds
        after = server.resident()
        if after - before <= slack:
            break
        time.sleep(1)
    server.connection.close()
    server.process.send_signal(signal.SIGTERM)
    server.process.communicate()
    assert server.process.returncode == 0
    assert 'Sanitizer' not in (tmp_path / 'log').read_text(errors='replace')
    assert after - before <= slack, f'{before // MIB} MiB before, {after // MIB} MiB after'
