"""Collision sets for the tests: a request in its two parts, requests with headers in JSON or frames, and merge patches
as RFC 7396 specifies them."""
import http.client
import json
import math
import select
import struct
from urllib.parse import quote, urlsplit

FRAME = 'application/vnd.frictiond.frame'
JSON = 'application/json'
OPTIONS = ('outputs', 'hessian', 'collision_outputs', 'line', 'vectors', 'position_jacobian')  # not for derivatives
TERMS = ('terms', 'time_step', 'current_positions')  # not for derivatives, either
QUERY = ('velocities', 'body_velocities', *TERMS, *OPTIONS, 'tangents', 'cotangents', 'wrt')
WORDS = ('outputs', 'collision_outputs', 'wrt')  # a group without contacts: not an array of numbers
VERSION = 'Collision-Set-Version'


def split(request):
    """(the set's document, the query)"""
    document = {k: v for k, v in request.items() if k not in QUERY}
    return document, {k: v for k, v in request.items() if k in QUERY}


def n_vertices(request):
    rows = request.get('velocities', [])
    return len(rows) if rows and isinstance(rows[0], list) else len(rows) // request['dim']


def document_of(request):
    """The set's document with n_vertices, which other fields may not determine."""
    document, query = split(request)
    return {**document, 'n_vertices': n_vertices(request)}, query


def merge(target, patch):
    if not isinstance(patch, dict):
        return patch
    target = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            target.pop(name, None)
        else:
            target[name] = merge(target.get(name), value)
    return target


def frame(document):
    """Every array of numbers of the document goes to the tail: i32 if all are integers, else f64."""
    tail = b''

    def put(value):
        nonlocal tail
        if isinstance(value, dict):
            return {k: v if k in WORDS else put(v) for k, v in value.items()}
        shape, flat = shape_of(value)
        if shape is None:
            return value
        whole = all(isinstance(x, int) for x in flat)
        tail += b'\0' * (-len(tail) % 8)
        reference = {'dtype': 'i32' if whole else 'f64', 'shape': shape, 'offset': len(tail)}
        tail += struct.pack(f'<{len(flat)}{"i" if whole else "d"}', *flat)
        return reference

    text = json.dumps(put(document)).encode()
    text += b' ' * (-(8 + len(text)) % 64)
    return struct.pack('<Q', len(text)) + text + tail


def unframe(body):
    """The document of a frame, with nested arrays in place of its references."""
    length, = struct.unpack_from('<Q', body)
    tail = memoryview(body)[8 + length:]

    def take(value):
        if isinstance(value, list):
            return [take(x) for x in value]
        if not isinstance(value, dict):
            return value
        if set(value) != {'dtype', 'shape', 'offset'}:
            return {k: take(v) for k, v in value.items()}
        code = {'f64': 'd', 'f32': 'f', 'i32': 'i', 'u32': 'I', 'i64': 'q'}[value['dtype']]
        numbers = struct.unpack_from(f'<{math.prod(value["shape"])}{code}', tail, value['offset'])
        return nested(list(numbers), value['shape'])

    return take(json.loads(body[8:8 + length]))


def nested(numbers, shape):
    for size in reversed(shape[1:]):
        numbers = [numbers[i * size:(i + 1) * size] for i in range(len(numbers) // size)]
    return numbers


def shape_of(value):
    """([n, ...], numbers) of a regular array of numbers, else (None, None)."""
    if not isinstance(value, list) or any(isinstance(x, (str, dict, bool, type(None))) for x in value):
        return None, None
    if not any(isinstance(x, list) for x in value):
        return [len(value)], value
    inner = [shape_of(x) for x in value]
    if any(s is None or s != inner[0][0] for s, _ in inner):
        return None, None
    return [len(value), *inner[0][0]], [x for _, flat in inner for x in flat]


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def version(self):
        return self.headers.get(VERSION)

    @property
    def pointers(self):
        return [e['pointer'] for e in self.json['errors']]

    def __repr__(self):
        return f'{self.status} {self.body[:600]!r}'


class Client:
    """One connection, reopened after it was closed."""

    def __init__(self, base, token=None):
        address = urlsplit(base)
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=300)
        self.token = token

    def send(self, method, path, body=None, kind=JSON, **headers):
        """body: bytes as they are, or a document, as JSON or a frame. Header names with _ for -."""
        headers = {k.replace('_', '-'): v for k, v in headers.items()}
        if body is not None:
            if not isinstance(body, bytes):
                body = frame(body) if kind == FRAME else json.dumps(body).encode()
            headers['Content-Type'] = kind
        if self.token:
            headers['Authorization'] = f'Bearer {self.token}'
        self.reopen()
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())

    def reopen(self):
        """The server closes a connection that is idle for a minute, which happens on a busy machine."""
        if self.connection.sock and select.select([self.connection.sock], [], [], 0)[0]:
            self.connection.close()  # the next request opens it

    def put(self, name, document, kind=JSON, **headers):
        return self.send('PUT', path(name), document, kind, **headers)

    def patch(self, name, document, kind='application/merge-patch+json', **headers):
        return self.send('PATCH', path(name), document, kind, **headers)

    def get(self, name, **headers):
        return self.send('GET', path(name), **headers)

    def delete(self, name, **headers):
        return self.send('DELETE', path(name), **headers)

    def evaluate(self, name, query, kind=JSON, **headers):
        return self.send('POST', path(name) + '/evaluate', query, kind, **headers)

    def check(self, name, query, kind=JSON, **headers):
        return self.send('POST', path(name) + '/check', query, kind, **headers)

    def pattern(self, name, query='', **headers):
        return self.send('GET', f'{path(name)}/pattern{query}', **headers)

    def list(self):
        return self.send('GET', '/v1/sets')

    def close(self):
        self.connection.close()


def path(name):
    return '/v1/sets/' + quote(name, safe='%')
