"""GET /openapi.json: complete, valid, and true of every request that is accepted and every answer.

A request that the server accepts is valid by the schema; one that it refuses for something that a schema can express
(unknown fields, types, ranges, words, lengths of rows) is not. Every answer is as described, including problems and
headers.
"""
import functools
import http.client
import json
import os
import random
import re
import socket
import struct
import subprocess
import sys
from urllib.parse import quote, urlencode, urlsplit

import jsonschema
import pytest

import test_cases
from conftest import ONE_IN, ROOT, eventually, metric
from mutations import GOOD, MUTATED, text_of
from test_frame_format import FRAME, to_frame
from watched import served  # noqa: F401

sys.path.insert(0, str(ROOT / 'tests' / 'oracle'))
import generate  # noqa: E402

METHODS = ('get', 'head', 'post', 'put', 'patch', 'delete')


def printed(*options):
    program = ROOT / os.environ.get('FRICTIOND', 'build/frictiond')
    return subprocess.run([program, *options, '--print-openapi'], stdout=subprocess.PIPE, check=True).stdout


@functools.cache
def description():
    return json.loads(printed())


def find(document, pointer):
    for key in pointer.lstrip('#').split('/')[1:]:
        document = document[key.replace('~1', '/').replace('~0', '~')]
    return document


def resolved(document, node):
    return find(document, node['$ref']) if '$ref' in node else node


def validator_of(document, schema):
    """Resolves a reference, which starts at the root of the description."""
    return jsonschema.Draft202012Validator({'components': document['components'], **schema})


@functools.cache
def validator(name):
    return validator_of(description(), {'$ref': f'#/components/schemas/{name}'})


def faults(name, value):
    return [f'{"/".join(map(str, error.absolute_path))}: {error.message[:200]}' for error in validator(name).iter_errors(value)]


@functools.cache
def content_validator(text):
    return validator_of(description(), json.loads(text))


def operations(document):
    for path, methods in document['paths'].items():
        for method, operation in methods.items():
            yield path, method, operation


def template_of(path):
    """The documented path that a target belongs to."""
    path = path.partition('?')[0]
    for known in description()['paths']:
        if re.fullmatch(re.sub(r'\\{\w+\\}', '[^/]+', re.escape(known)), path):
            return known
    return None


def document_of_frame(body):
    length, = struct.unpack('<Q', body[:8])
    return json.loads(body[8:8 + length])


def judge(path, method, status, headers, body):
    """Checks that an answer is one of those described; returns the document in it, if there is one."""
    document = description()
    operation = document['paths'][path][method]
    described = operation['responses'].get(str(status))
    assert described, f'{method} {path}: {status} is not described'
    described = resolved(document, described)
    for name, header in described.get('headers', {}).items():
        header, value = resolved(document, header), headers.get(name.lower())
        assert value is not None or not header.get('required'), f'{method} {path}: {status} without {name}'
        if value is not None and 'pattern' in header['schema']:
            assert re.search(header['schema']['pattern'], value), (name, value)
    if 'content' not in described:
        assert body == b''
        return None
    media = headers['content-type'].partition(';')[0]
    content = described['content'].get(media, described['content'].get('*/*'))
    assert content is not None, f'{method} {path}: {status} as {media} is not described'
    if 'json' not in media and media != FRAME:
        return None
    value = document_of_frame(body) if media == FRAME else json.loads(body)
    schema = content['schema']
    errors = list(content_validator(json.dumps(schema.get('contentSchema', schema))).iter_errors(value))
    assert errors == [], (path, status, errors[0].message[:500])
    return value


# --- the document itself ----------------------------------------------------------------------------------------------

def references(node):
    if isinstance(node, dict):
        if isinstance(node.get('$ref'), str):
            yield node['$ref']
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def test_references_lead_to_what_is_there_and_all_is_used():
    document = description()
    used = set(references(document))
    for reference in used:
        find(document, reference)
    for kind in ('schemas', 'responses', 'headers', 'parameters'):
        for name in document['components'][kind]:
            assert f'#/components/{kind}/{name}' in used, name


def test_a_pattern_alone_has_all_its_members():
    schemas = description()['components']['schemas']
    patterns = [name for name in schemas if re.fullmatch(r'\w+Pattern(Frame)?', name)]
    assert len(patterns) == 6
    for name in patterns:
        assert set(schemas[name]['required']) == set(schemas[name]['properties']), name


def schemas_in(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ('schema', 'contentSchema'):
                yield value
            elif key != 'examples':
                yield from schemas_in(value)
    elif isinstance(node, list):
        for value in node:
            yield from schemas_in(value)


def test_schemas_are_schemas():
    schemas = [*description()['components']['schemas'].values(), *schemas_in(description())]
    assert len(schemas) >= 100
    for schema in schemas:
        jsonschema.Draft202012Validator.check_schema(schema)


def test_operations_are_complete():
    seen = set()
    for path, method, operation in operations(description()):
        assert method in METHODS
        assert operation['operationId'] not in seen and operation['summary'] and operation['tags']
        seen.add(operation['operationId'])
        if method != 'head':
            assert operation['description'] and {'200', '204', '308'} & set(operation['responses'])
            assert {'400', '405', '408', '413', '500', '503'} <= set(operation['responses'])
            assert ('401' in operation['responses']) == (operation.get('security') != [])
        names = [resolved(description(), parameter)['name'] for parameter in operation['parameters']]
        assert set(re.findall(r'\{(\w+)\}', path)) <= set(names)


def test_the_description_is_served(server):
    address = urlsplit(server)
    connection = http.client.HTTPConnection(address.hostname, address.port)
    bodies = []
    for method in ('GET', 'GET', 'HEAD'):
        connection.request(method, '/openapi.json')
        answer = connection.getresponse()
        bodies.append(answer.read())
        assert answer.status == 200 and answer.headers['Content-Type'] == 'application/json'
        assert int(answer.headers['Content-Length']) == len(bodies[0])
    connection.close()
    assert bodies == [bodies[0], bodies[0], b''] and bodies[0] + b'\n' == printed()
    assert len(bodies[0]) < 600_000


def test_it_needs_no_token_and_has_the_limits_of_its_server(server_with, tmp_path):
    tokens = tmp_path / 'tokens'
    tokens.write_text('me ' + 'x' * 32 + '\n')
    tokens.chmod(0o600)
    limits = ['--max-contacts', '3', '--max-vertices', '5', '--max-json-bytes', '4K', '--max-answer-bytes', '1G']
    address = urlsplit(server_with('--tokens', str(tokens), *limits))
    connection = http.client.HTTPConnection(address.hostname, address.port)
    connection.request('GET', '/openapi.json')
    answer = connection.getresponse()
    assert answer.status == 200
    document = json.loads(answer.read())
    assert document == json.loads(printed(*limits))
    for text in ('4096 bytes', f'{1 << 30} bytes', '3 contacts', '5 vertices'):
        assert text in document['info']['description']
    validate = validator_of(document, {'$ref': '#/components/schemas/EvaluateRequest'})

    def send(n_vertices, n_contacts):
        batch = {'dim': 2, 'velocities': [[0, 0]] * n_vertices, 'collisions': {'plane_vertex': {
            'vertices': list(range(n_contacts)), 'plane_normal': [0, 1], 'normal_force': 1, 'mu': 1, 'eps_v': 1}}}
        connection.request('POST', '/v1/evaluate', json.dumps(batch), {'Authorization': 'Bearer ' + 'x' * 32})
        taken = connection.getresponse()
        taken.read()
        return taken.status, validate.is_valid(batch)

    assert send(5, 3) == (200, True)
    assert send(6, 3) == send(5, 4) == (413, False)
    connection.request('GET', '/v1/info')
    assert connection.getresponse().status == 401
    connection.close()


# --- complete ---------------------------------------------------------------------------------------------------------

def sources(name):
    return (ROOT / name).read_text()


def test_every_route_is_there():
    rows = re.findall(r'^\t\{"(/[^"]*)"', sources('api/routes/table.c'), re.M)
    assert len(rows) >= 11
    assert list(description()['paths']) == rows


def test_every_route_takes_the_methods_that_are_described(server):
    address = urlsplit(server)
    connection = http.client.HTTPConnection(address.hostname, address.port)
    for path, methods in description()['paths'].items():
        if path in ('/explorer/{file}', '/docs/{file}'):
            continue  # the names of its files may change; `/` has the same methods
        other = next(method for method in ('DELETE', 'POST') if method.lower() not in methods)
        connection.request(other, path.replace('{name}', 'smooth_mu').replace('{code}', 'not_finite'), b'')
        answer = connection.getresponse()
        body = answer.read()
        assert answer.status == 405
        assert set(answer.headers['Allow'].lower().split(', ')) == set(methods), path
        for method in set(methods) - {'head'}:
            judge(path, method, 405, {name.lower(): value for name, value in answer.getheaders()}, body)
    connection.close()


def test_every_status_is_described():
    """The statuses of the table that problems are made from, except those that only a proxy returns."""
    table = re.findall(r'^\t\{(\d{3}), "([^"]+)", (\w+)', sources('api/problem.c'), re.M)
    titles = {status: title for status, title, where in table if where != '0'}
    responses = description()['components']['responses']
    assert set(titles) == {name.removeprefix('Failure') for name in responses} and len(titles) >= 15
    for status, title in titles.items():
        assert responses[status]['description'].startswith(title + '. ')


def test_the_table_of_statuses_in_the_docs_is_complete():
    page = (ROOT / 'docs' / 'api.md').read_text()
    table = re.search(r'^\| status \| when .*\n((?:\|.*\n)+)', page, re.M).group(1)
    listed = {status for row in table.splitlines() for status in re.findall(r'\b[45]\d\d\b', row.split('|')[1])}
    assert listed == {name.removeprefix('Failure') for name in description()['components']['responses']}


# --- requests and answers ---------------------------------------------------------------------------------------------

CASES = [name for name in test_cases.CASES if 'options' not in test_cases.load(test_cases.FOLDER / name, 'meta.json', {})]


def request_schema(path, method, target):
    if path in ('/v1/evaluate', '/v1/check'):
        return 'EvaluateRequest'
    if not path.startswith('/v1/functions/'):
        described = description()['paths'][path][method]['requestBody']['content']['application/json']['schema']
        [first, *_] = described.get('anyOf', [described])  # a set's document: with contacts, or with a mesh
        return first['$ref'].rpartition('/')[2]
    name = target.partition('?')[0].rpartition('/')[2]
    for schema, value in description()['components']['schemas'].items():
        if name in value.get('x-functions', []):
            return schema
    raise AssertionError(name)


def test_cases_are_as_described(served):  # noqa: F811
    """For every request of tests/cases, the answer is described and valid, and so is the request if it is accepted."""
    seen, accepted = set(), 0
    for name in CASES:
        folder = test_cases.FOLDER / name
        meta = test_cases.load(folder, 'meta.json', {})
        bodies = [folder / file for file in ('request.json', 'request.raw') if (folder / file).exists()]
        method = meta.get('method', 'POST' if bodies else 'GET').lower()
        target = meta.get('path', '/v1/evaluate')
        path = template_of(target)
        if path is None or method not in description()['paths'][path] or method == 'head':
            continue
        lines = [line.partition(':') for line in meta.get('headers', [])]
        if {key.strip().lower() for key, _, _ in lines} - {'content-type', 'accept', 'x-request-id'}:
            continue  # about HTTP itself: test_cases.py sends it with curl
        headers = {key.strip(): value.strip() for key, _, value in lines if value.strip()}
        body = bodies[0].read_bytes() if bodies else None
        try:
            status, answered, content = served.send(method.upper(), target, body, headers)
        except UnicodeEncodeError:
            continue
        try:
            judge(path, method, status, answered, content)
        except AssertionError as error:
            raise AssertionError(f'{name}: {error}') from error
        seen.add((path, method, status))
        if status == 200 and method == 'post' and b'frame' not in str(headers).encode():
            accepted += 1
            assert faults(request_schema(path, method, target), json.loads(body)) == [], name
    assert accepted >= 100
    assert {status for _, _, status in seen} >= {200, 400, 404, 406, 415, 422}


@pytest.mark.parametrize('seed', range(120 // ONE_IN))
def test_random_requests(served, seed):  # noqa: F811
    request = generate.request(f'openapi/{seed}')
    assert faults('EvaluateRequest', request) == []
    status, headers, body = served.evaluate(text_of(request))
    assert status == 200
    judge('/v1/evaluate', 'post', status, headers, body)
    if '/v1/check' in description()['paths']:
        status, headers, body = served.send('POST', '/v1/check', text_of(request))
        judge('/v1/check', 'post', status, headers, body)
    frame = to_frame(request, random.Random(seed))
    assert faults('EvaluateRequestFrame', document_of_frame(frame)) == []
    status, headers, body = served.send('POST', '/v1/evaluate', frame, {'Content-Type': FRAME})
    assert status == 200 and headers['content-type'] == FRAME
    judge('/v1/evaluate', 'post', status, headers, body)


@pytest.mark.parametrize('name', GOOD)
def test_good_requests(name):
    assert faults('EvaluateRequest', GOOD[name]) == []


# Constraints that a schema cannot express: lengths that must agree, values that depend on others, that 3.0 is not an
# integer.
BEYOND = ('a longer array', 'a shorter array', 'too large', 'huge', 'real', 'a vertex twice', 'asymmetric', 'missing',
          'nothing for a number')


def is_beyond(what):
    return any(words in what for words in BEYOND) or (('/materials/' in what or '/vectors' in what) and ' row' in what)


def test_refused_requests_are_invalid():
    """All requests with one mistake that test_errors sends."""
    judged = [(what, request) for what, request, _ in MUTATED if not is_beyond(what)]
    assert len(judged) >= 2000
    judge = validator('EvaluateRequest')
    assert [what for what, request in judged[::ONE_IN] if judge.is_valid(request)] == []


def test_references_are_for_frames_only():
    request = {**GOOD['given-mu'], 'velocities': {'dtype': 'f64', 'shape': [6, 3], 'offset': 0}}
    assert faults('EvaluateRequest', request) != []
    assert faults('EvaluateRequestFrame', request) == []
    request['velocities'] = {'dtype': 'f16', 'shape': [6, 3], 'offset': 0}
    assert faults('EvaluateRequestFrame', request) != []


def objects_with_defaults(document, name, path=()):
    """(path of fields, default) in a request, down through objects."""
    for field, schema in document['components']['schemas'][name]['properties'].items():
        if 'default' in schema:
            yield (*path, field), schema['default']
        if '$ref' in schema:
            yield from objects_with_defaults(document, schema['$ref'].rpartition('/')[2], (*path, field))


DEFAULTS = list(objects_with_defaults(description(), 'EvaluateRequest'))


@pytest.mark.parametrize('path,value', DEFAULTS, ids=lambda part: '/'.join(part) if isinstance(part, tuple) else '')
def test_defaults_are_the_defaults(served, path, value):  # noqa: F811
    """A request that states the defaults gets the same bytes."""
    bare = json.loads(text_of(next(good for good in GOOD.values() if has(good, path[:-1]) and suits(good, path))))
    place = functools.reduce(dict.__getitem__, path[:-1], bare)
    place.pop(path[-1], None)
    if path[-1] == 'outputs':
        bare.pop('collision_outputs', None)  # the default has no collisions
    first = served.evaluate(text_of(bare))
    place[path[-1]] = value
    second = served.evaluate(text_of(bare))
    assert first[0] == second[0] == 200 and first[2] == second[2], (first[2][:300], second[2][:300])


def has(document, path):
    return not path or (path[0] in document and has(document[path[0]], path[1:]))


def suits(good, path):
    if path[-1] == 'collision_outputs':
        return 'collisions' in good.get('outputs', [])
    return path[-1] != 'blend' or any(name.startswith('vertex_mu') for name in good['friction'])


def test_there_are_defaults():
    assert {path[-1] for path, _ in DEFAULTS} >= {
        'outputs', 'collision_outputs', 'on_degenerate', 'format', 'triangle', 'projection', 'pattern', 'dmin', 'weight',
        'blend', 'law', 'mu_transition', 'viscous', 'type', 'scaling', 'spin_radius', 'roll_radius'}


# --- functions --------------------------------------------------------------------------------------------------------

CALLS = {name: schema for schema, value in description()['components']['schemas'].items()
         for name in value.get('x-functions', [])}


def test_all_functions_are_there(served):  # noqa: F811
    status, headers, body = served.send('GET', '/v1/functions', None)
    listed = judge('/v1/functions', 'get', status, headers, body)['functions']
    assert {entry['name'] for entry in listed} == set(CALLS) and len(CALLS) == 19
    for entry in listed:
        schema = description()['components']['schemas'][CALLS[entry['name']]]
        assert entry['parameters'] == list(schema['properties'])
    parameters = description()['paths']['/v1/functions/{name}']['get']['parameters']
    queried = [p['name'] for p in parameters if p.get('in') == 'query']
    assert len(queried) == len(set(queried))
    assert set(queried) == set().union(*(entry['parameters'] for entry in listed))
    named = next(p for p in parameters if p.get('name') == 'name')
    assert set(named['schema']['enum']) == set(CALLS)


CURVE = {'speeds': [0, 1, 2.5], 'factors': [1, 0.5, 0.75]}
OWNERS = {'mu_transition': ['smooth'], 'stribeck_speed': ['stribeck', 'exponential'], 'curve': ['curve']}


def of_the_law(request, rng):
    """Mostly without the fields of other laws, and with one coefficient where the law takes one."""
    law = request.get('law', 'smooth')
    kept = {field: value for field, value in request.items()
            if law in OWNERS.get(field, [law]) or field not in OWNERS or rng.random() < 0.1}
    if law in ('curve', 'adhesion') and 'mu_s' in kept and rng.random() < 0.9:
        kept['mu_k'] = kept['mu_s']
    return kept


def calls(name, rng):
    """Random parameters of a function, mostly valid."""
    schema = description()['components']['schemas'][CALLS[name]]
    n = rng.choice([1, 1, 2, 5])
    for field, value in schema['properties'].items():
        if rng.random() < 0.06:
            continue
        if '$ref' in value:
            yield field, rng.choice([CURVE, CURVE, CURVE, {}, {**CURVE, 'speeds': 'x'}, {**CURVE, 'slopes': [0, 0]}, 3])
            continue
        if 'anyOf' not in value and value.get('type') != 'array':
            words = [value['const']] if 'const' in value else value.get('enum', [True, False])
            yield field, rng.choice(words if rng.random() < 0.9 else ['x', 1, None])
            continue
        rows = [[rng.uniform(0.1, 2) for _ in range(2)] for _ in range(n)]
        numbers = [rng.choice([0.5, 1, 2.5]) for _ in range(n)]
        pairs = 'tau' in field or 'aniso' in field
        right = [rows, rows, rows[0]] if pairs else [numbers, numbers, numbers[0]]
        yield field, rng.choice(right if rng.random() < 0.85 else [-1, 0, [-1] * n, '1', [[1]], {}, None, sum(rows, [])])
    if rng.random() < 0.03:
        yield 'unknown', 1


@pytest.mark.parametrize('name', CALLS)
def test_calls(served, name):  # noqa: F811
    """A call that is accepted is valid; one that is refused is invalid, unless lengths do not fit or a double cannot
    hold the result."""
    rng, statuses = random.Random(name), []
    for _ in range(60):
        request = dict(calls(name, rng))
        if name.startswith('law_'):
            request = of_the_law(request, rng)
        status, headers, body = served.send('POST', f'/v1/functions/{name}', text_of(request))
        answer = judge('/v1/functions/{name}', 'post', status, headers, body)
        valid = validator(CALLS[name]).is_valid(request)
        statuses.append(status)
        assert valid or status == 422, request
        if valid and status == 422:
            assert re.search('shape|does not fit|one coefficient', answer['detail']), (request, answer)
        frame = to_frame(request, rng)
        status, headers, body = served.send('POST', f'/v1/functions/{name}', frame, {'Content-Type': FRAME})
        judge('/v1/functions/{name}', 'post', status, headers, body)
        assert status == 422 or faults(CALLS[name] + 'Frame', document_of_frame(frame)) == []
    assert set(statuses) == {200, 422}


def test_peak_is_for_laws_alone():
    """The schemas state which functions take it; the query, which stands for all of them, allows it."""
    schemas = description()['components']['schemas']

    def transitions(name):
        return schemas[CALLS[name]]['properties']['mu_transition']['enum']
    assert transitions('law_force') == ['cubic', 'quadratic', 'peak'] == (
        schemas['Friction']['properties']['mu_transition']['enum'])
    assert transitions('smooth_mu') == ['cubic', 'quadratic']
    query = next(p for p in description()['paths']['/v1/functions/{name}']['get']['parameters']
                 if p.get('name') == 'mu_transition')
    assert query['schema']['enum'] == transitions('law_force')


@pytest.mark.parametrize('accept', ['application/json', FRAME])
@pytest.mark.parametrize('path', [path for path, method, o in operations(description())
                                  if method == 'get' and '{' not in path])
def test_plain_answers(served, path, accept):  # noqa: F811
    status, headers, body = served.send('GET', path, None, {'Accept': accept, 'traceparent': f'00-{"a" * 32}-{"b" * 16}-01'})
    assert status == (308 if path == '/docs' else 200) and 'traceresponse' in headers
    judge(path, 'get', status, headers, body)


def test_problems_of_the_server(server_with, tmp_path):
    """Problems that need a special server: 401, 413, 503."""
    tokens = tmp_path / 'tokens'
    tokens.write_text('me ' + 'x' * 32 + '\n')
    tokens.chmod(0o600)
    for options, headers, status in ((['--tokens', str(tokens)], {}, 401), (['--tokens', str(tokens)], {
            'Authorization': 'Bearer y'}, 401), (['--max-json-bytes', '8'], {}, 413), (['--max-answer-bytes', '10'], {}, 413),
            (['--memory-bytes', '16M'], {}, 503)):
        base = server_with(*options)
        address = urlsplit(base)
        connection = http.client.HTTPConnection(address.hostname, address.port)
        if status == 503:
            holder = socket.create_connection((address.hostname, address.port))
            holder.sendall(b'POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n' % (14 << 20)
                           + b' ' * (13 << 20))
            eventually(lambda: metric(base, 'frictiond_memory_bytes{kind="requests"}') >= 13 << 20)
        body = text_of(GOOD['given-mu']) + b' ' * (8 << 20 if status == 503 else 0)
        connection.request('POST', '/v1/evaluate', body, {'Content-Type': 'application/json', **headers})
        answer = connection.getresponse()
        assert answer.status == status
        judge('/v1/evaluate', 'post', status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        connection.close()
    holder.close()


# --- sets -------------------------------------------------------------------------------------------------------------

SET = '/v1/sets/{name}'
DOCUMENT = {'dim': 3, 'n_vertices': 1, 'friction': {'eps_v': 0.5, 'mu': 0.5}, 'collisions': {'plane_vertex': {
    'vertices': [0], 'plane_normal': [0, 0, 1], 'normal_force': 8}}}


def ask(served, method, path, body=None, more=None, **headers):  # noqa: F811
    """A response about the set "described", which must be as described: (status, headers)"""
    headers = {name.replace('_', '-'): value for name, value in headers.items()}
    status, answered, content = served.send(method, path.replace('{name}', 'described') + (more or ''),
                                            body if body is None or isinstance(body, bytes) else text_of(body), headers)
    judge(path, method.lower(), status, answered, content)
    return status, answered


def parameters_of(method, path):
    return {parameter['name']: parameter for parameter in (
        resolved(description(), p) for p in description()['paths'][path][method]['parameters'])}


def test_answers_about_sets_are_as_described(served):  # noqa: F811
    query = {'velocities': [[0.25, 0, 0]]}
    assert ask(served, 'GET', SET)[0] == 404
    status, headers = ask(served, 'PUT', SET, DOCUMENT)
    assert status == 201 and headers['location'] == '/v1/sets/described'
    version = headers['collision-set-version']
    assert ask(served, 'PUT', SET, DOCUMENT)[0] == 200
    assert ask(served, 'PUT', SET, DOCUMENT, If_None_Match='*')[0] == 412
    assert ask(served, 'PUT', SET, {**DOCUMENT, 'velocities': [[0, 0, 0]]})[0] == 422
    assert ask(served, 'GET', SET, If_Collision_Set_Version='0' * 32)[0] == 412
    assert ask(served, 'POST', SET + '/evaluate', query, If_Collision_Set_Version=version)[0] == 200
    assert ask(served, 'POST', SET + '/evaluate', query, Accept=FRAME)[0] == 200
    assert ask(served, 'POST', SET + '/check', query)[0] == 200
    assert ask(served, 'GET', '/v1/sets')[0] == 200
    patch = {'collisions': {'plane_vertex': {'normal_force': 10}}}
    assert ask(served, 'PATCH', SET, patch, Content_Type='application/merge-patch+json')[0] == 200
    assert ask(served, 'PATCH', SET, patch, If_Collision_Set_Version='0' * 32)[0] == 412
    status, headers = ask(served, 'PATCH', SET, patch, Content_Type='text/plain')
    assert status == 415 and 'application/merge-patch+json' in headers['accept-patch']
    for pattern in ('csr', 'bsr', 'triplets'):
        status, headers = ask(served, 'GET', SET + '/pattern', more=f'?format={pattern}')
        assert status == 200
        assert ask(served, 'GET', SET + '/pattern', more=f'?format={pattern}', If_None_Match=headers['etag'])[0] == 304
    assert ask(served, 'DELETE', SET, If_Collision_Set_Version=version)[0] == 412
    assert ask(served, 'DELETE', SET)[0] == 204
    assert ask(served, 'DELETE', SET)[0] == 404


def test_what_requests_to_sets_may_bring_is_described():
    paths = description()['paths']
    for path in (path for path in paths if path.startswith('/v1/sets/')):
        for method in set(paths[path]) - {'head'}:
            assert 'If-Collision-Set-Version' in parameters_of(method, path)
            for status in set(paths[path][method]['responses']) & {'200', '201', '204', '304', '412'}:
                answer = resolved(description(), paths[path][method]['responses'][status])
                assert 'Collision-Set-Version' in answer['headers'], (path, method, status)
    assert 'If-None-Match' in parameters_of('put', SET)
    assert 'If-None-Match' in parameters_of('get', SET + '/pattern')
    assert 'If-None-Match' not in parameters_of('patch', SET)
    assert set(paths[SET]['patch']['requestBody']['content']) == {'application/json', FRAME, 'application/merge-patch+json'}
    assert set(paths[SET]['put']['requestBody']['content']) == {'application/json', FRAME}
    for method, status in (('put', '200'), ('put', '201'), ('patch', '200'), ('get', '200')):
        assert set(paths[SET][method]['responses'][status]['content']) == {'application/json'}
    assert set(paths[SET + '/evaluate']['post']['responses']['200']['content']) == {'application/json', FRAME}
    assert {'Location'} == set(paths[SET]['put']['responses']['201']['headers']) - set(
        paths[SET]['put']['responses']['200']['headers'])
    assert {'ETag', 'Vary'} <= set(paths[SET + '/pattern']['get']['responses']['304']['headers'])
    assert 'Accept-Patch' in description()['components']['responses']['415']['headers']


@pytest.mark.parametrize('name', ['a', 'run-17.step_3~', 'A' * 64, '...', '.', '..', 'A' * 65, 'a b', 'ä', 'a:b'])
def test_names_of_sets_have_the_described_pattern(served, name):  # noqa: F811
    pattern = parameters_of('get', SET)['name']['schema']['pattern']
    status, _, _ = served.send('GET', '/v1/sets/' + quote(name).replace('.', '%2E'), None)
    assert (re.search(pattern, name) is not None) == (status == 404), status
    assert status in (404, 422)


# --- examples ---------------------------------------------------------------------------------------------------------

def examples():
    """(path, method, name, target, body, {status: expected answer})"""
    document = description()
    for path, method, operation in operations(document):
        requests, queries = {}, {}
        for parameter in operation['parameters'] if method == 'get' else ():
            for name, example in resolved(document, parameter).get('examples', {}).items():
                queries.setdefault(name, {})[parameter['name']] = example['value']
        for name, example in operation.get('requestBody', {}).get('content', {}).get('application/json', {}).get(
                'examples', {}).items():
            requests[name] = example['value']
        answers = {}
        for status, response in operation['responses'].items() if method != 'head' else ():
            for content in resolved(document, response).get('content', {}).values():
                for name, example in content.get('examples', {}).items():
                    answers.setdefault(name, {})[int(status)] = example['value']
        for name in set(requests) | set(queries) | (set(answers) if method == 'get' and '{' not in path else set()):
            query = dict(queries.get(name, {}))
            called = query.pop('name', name if path == '/v1/functions/{name}' else 'example')
            target = path.replace('{name}', called)
            if query:
                target += '?' + urlencode({key: ','.join(map(str, value)) if isinstance(value, list) else value
                                           for key, value in query.items()}, quote_via=quote)
            yield path, method, name, target, requests.get(name), answers.get(name, {})


EXAMPLES = list(examples())


@pytest.mark.parametrize('path,method,name,target,body,answers', EXAMPLES, ids=[
    f'{method} {path} {name}' for path, method, name, *_ in EXAMPLES])
def test_examples(served, path, method, name, target, body, answers):  # noqa: F811
    if body is not None:
        assert faults(request_schema(path, method, target), body) == []
    if path.startswith('/v1/sets/'):
        put_example(served, method)
    status, headers, content = served.send(method.upper(), target, None if body is None else text_of(body))
    answer = judge(path, method, status, headers, content)
    if answers or path != '/v1/check' and not path.startswith('/v1/sets/'):
        assert status in answers
        assert test_cases.same(answer, answers[status]) == [] and test_cases.same(answers[status], answer) == []
    else:
        assert status == (201 if method == 'put' else 200)


def put_example(served, method):  # noqa: F811
    """Puts the set that the other examples use; a PUT finds its name free."""
    served.send('DELETE', '/v1/sets/example', None)
    if method != 'put':
        operation = description()['paths']['/v1/sets/{name}']['put']
        document, = operation['requestBody']['content']['application/json']['examples'].values()
        assert served.send('PUT', '/v1/sets/example', text_of(document['value']))[0] == 201


def test_all_examples_of_answers_are_executed():
    executed = {name for _, _, name, *_ in EXAMPLES}
    for path, method, operation in operations(description()):
        for response in operation['responses'].values():
            for content in resolved(description(), response).get('content', {}).values():
                assert set(content.get('examples', {})) <= executed
    assert len(EXAMPLES) >= 9


# --- the page made of it ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize('kind', ['CollisionValues', 'GroupCounts', 'Factors'])
def test_answers_per_group_have_every_group_of_a_request(kind):
    schemas = description()['components']['schemas']
    groups = set(schemas['Collisions']['properties'])
    assert groups == {'vertex_vertex', 'edge_vertex', 'edge_edge', 'face_vertex', 'plane_vertex', 'body_body', 'body_world'}
    assert groups <= set(schemas[kind]['properties'])


@pytest.mark.parametrize('kind', ['BodyBody', 'BodyWorld'])
def test_the_reference_says_what_a_contact_of_bodies_requires(kind):
    """The page marks the fields that the service requires."""
    page = (ROOT / 'docs' / 'reference' / 'objects.md').read_text()
    section = page.partition(f'## {kind}\n')[2].partition('\n## ')[0]
    for field in ('bodies', 'point', 'normal', 'normal_force'):
        row = next(line for line in section.splitlines() if line.startswith(f'| `{field}` |'))
        assert 'required' in row, row


def test_the_reference_is_current():
    made = subprocess.run([ROOT / 'scripts' / 'reference', '-'], input=printed(), stdout=subprocess.PIPE, check=True)
    index = ROOT / 'docs' / 'reference.md'
    names = dict.fromkeys(re.findall(r'\((reference/[\w-]+\.md)[)#]', index.read_text()))
    order = [name for name in names if not re.search('objects|statuses', name)] + ['reference/objects.md', 'reference/statuses.md']
    assert {f'reference/{path.name}' for path in (ROOT / 'docs' / 'reference').iterdir()} == set(order)
    assert made.stdout.decode() == index.read_text() + ''.join((ROOT / 'docs' / name).read_text() for name in order), \
        'run scripts/reference'


def test_every_group_of_routes_opens_with_three_uses():
    for path in (ROOT / 'docs' / 'reference').iterdir():
        if path.stem not in ('objects', 'statuses'):
            assert len(re.findall('^- ', path.read_text().partition('\n## ')[0], re.M)) == 3, path
