"""Every folder under tests/cases is a request as a user sends it with curl, and the expected response.

request.json, or request.raw for bytes that are not JSON; neither: no body.
meta.json    optional: method (default: POST with a body, otherwise GET), path (/v1/evaluate), headers (lines for
             curl), options (of a server for this case alone)
expect.json  status; code; pointers: the problem's pointers in order, or pointers_any: the allowed pointers; says: words
             of the detail, or a list of them; headers: some headers of the answer; answer: the relevant part of the
             answer (or of an error that is not a problem), numbers within 1e-12 relative; absent: pointers that must
             lead nowhere
CASES selects the folders whose name contains it.
"""
import json
import math
import os
import pathlib
import subprocess

import pytest

from conftest import ONE_IN, start, stop

FOLDER = pathlib.Path(__file__).resolve().parents[1] / 'cases'
CASES = sorted(str(p.parent.relative_to(FOLDER)) for p in FOLDER.rglob('expect.json')
               if os.environ.get('CASES', '') in str(p.parent.relative_to(FOLDER)))
if os.environ.get('MODE') == 'tsan':
    CASES = CASES[::ONE_IN]  # requests are sent one after the other: some of each kind suffice
TOLERANCE = 1e-12
FILES = {'request.json', 'request.raw', 'meta.json', 'expect.json'}


# --- sending ------------------------------------------------------------------------------------------------------

def quoted(text):
    return '"' + str(text).replace('\\', '\\\\').replace('"', '\\"').replace('\t', '\\t').replace('\n', '\\n').replace('\r', '\\r') + '"'


def load(folder, name, otherwise=None):
    path = folder / name
    return json.loads(path.read_text()) if path.exists() else otherwise


def request_of(folder, meta):
    """(method, path, the file with the body or None)"""
    bodies = [folder / name for name in ('request.json', 'request.raw') if (folder / name).exists()]
    body = bodies[0] if bodies else None
    return meta.get('method', 'POST' if body else 'GET'), meta.get('path', '/v1/evaluate'), body


def options_of(base, name, answers, i):
    """The lines of curl's configuration for a case; the answer goes to the files answers/i.head and .body."""
    meta = load(FOLDER / name, 'meta.json', {})
    method, path, body = request_of(FOLDER / name, meta)
    headers = list(meta.get('headers', []))
    yield f'url = {quoted(base + path)}'
    yield 'head' if method == 'HEAD' else f'request = {quoted(method)}'
    if body is not None:
        yield f'data-binary = {quoted(f"@{body}")}'
        if not any(line.lower().startswith('content-type:') for line in headers):
            headers.append('Content-Type: application/json')
    yield from (f'header = {quoted(line)}' for line in headers)
    yield f'dump-header = {quoted(answers / f"{i}.head")}'
    yield f'output = {quoted(answers / f"{i}.body")}'
    yield 'write-out = "%{http_code} %{exitcode}\\n"'
    yield from ('silent', 'globoff', 'path-as-is')


def curl(base, names, answers):
    """{name: (status, headers by lower-case name, body)}, the last response to each case. One curl process sends all
    requests."""
    (answers / 'curlrc').write_text('\nnext\n'.join(
        '\n'.join(options_of(base, name, answers, i)) for i, name in enumerate(names)) + '\n')
    done = subprocess.run(['curl', '-K', str(answers / 'curlrc')], stdout=subprocess.PIPE, text=True, check=False)
    results = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(results) == len(names), f'curl ended with {done.returncode} after {len(results)} of {len(names)} cases'
    return {name: answer_of(*result, answers, i) for i, (name, result) in enumerate(zip(names, results))}


def answer_of(status, code, answers, i):
    """Describes curl's exit code unless it is 0; otherwise returns the response."""
    if code != 0:
        return code
    head, body = answers / f'{i}.head', answers / f'{i}.body'
    lines = head.read_bytes().decode('latin-1').rstrip().split('\r\n\r\n')[-1].split('\r\n')
    headers = dict(line.split(': ', 1) for line in lines[1:] if ': ' in line)
    content = body.read_bytes() if body.exists() else b''
    return status, {name.lower(): value for name, value in headers.items()}, content


# --- checking -----------------------------------------------------------------------------------------------------

def tokens(pointer):
    assert pointer == '' or pointer.startswith('/'), f'{pointer!r} is not a JSON Pointer'
    parts = pointer.split('/')[1:]
    for part in parts:
        assert '~' not in part.replace('~0', '').replace('~1', ''), f'{pointer!r} has a broken escape'
    return [part.replace('~1', '/').replace('~0', '~') for part in parts]


def find(document, pointer):
    """(True, the value at the pointer) or (False, None)."""
    for token in tokens(pointer):
        if isinstance(document, list) and token.isdigit() and str(int(token)) == token and int(token) < len(document):
            document = document[int(token)]
        elif isinstance(document, dict) and token in document:
            document = document[token]
        else:
            return False, None
    return True, document


def leads_somewhere(document, pointer):
    """Whether a pointer leads to a value or, if that is missing, to the object that should have it."""
    if find(document, pointer)[0]:
        return True
    found, parent = find(document, pointer.rpartition('/')[0])
    return found and isinstance(parent, dict)


def problem_of(status, headers, content):
    """The problem document of an answer; checks its form."""
    assert headers['content-type'] == 'application/problem+json'
    problem = json.loads(content.decode())
    assert {'type', 'code', 'title', 'status', 'detail', 'errors'} <= set(problem), problem
    assert problem['type'] == f"/errors/{problem['code']}", problem
    for name in ('title', 'detail'):
        assert isinstance(problem[name], str) and problem[name], problem
    assert problem['status'] == status and isinstance(problem['errors'], list), problem
    for error in problem['errors']:
        assert isinstance(error['detail'], str) and error['detail'], problem
        tokens(error['pointer'])
    return problem


def same(got, expected, place=''):
    """Differences between an answer and the expected part of it."""
    if isinstance(expected, dict):
        if not isinstance(got, dict):
            return [f'{place}: {got!r} is not an object']
        return [d for key in expected for d in
                (same(got[key], expected[key], f'{place}/{key}') if key in got else [f'{place}/{key} is missing'])]
    if isinstance(expected, list):
        if not isinstance(got, list) or len(got) != len(expected):
            return [f'{place}: {got!r} is not {expected!r}']
        return [d for i, pair in enumerate(zip(got, expected)) for d in same(*pair, f'{place}/{i}')]
    if isinstance(expected, (int, float)) and not isinstance(expected, bool):
        if isinstance(got, (int, float)) and not isinstance(got, bool) and math.isclose(
                got, expected, rel_tol=TOLERANCE, abs_tol=TOLERANCE * 1e-3):
            return []
    elif got == expected and type(got) is type(expected):
        return []
    return [f'{place}: {got!r} is not {expected!r}']


def judge_problem(problem, expect, request):
    pointers = [error['pointer'] for error in problem['errors']]
    if 'pointers' in expect:
        assert pointers == expect['pointers'], problem
    if 'pointers_any' in expect:
        assert pointers and set(pointers) <= set(expect['pointers_any']), problem
    if request is not None and problem['status'] in (413, 422):
        for pointer in pointers:
            assert leads_somewhere(request, pointer), pointer
    says = expect.get('says', [])
    for words in [says] if isinstance(says, str) else says:
        assert words in problem['detail'], problem
    assert expect.get('code', problem['code']) == problem['code'], problem


def judge_answer(headers, content, expect):
    assert headers['content-type'] == 'application/json'
    answer = json.loads(content.decode(), parse_constant=lambda word: pytest.fail(f'{word} in an answer'))
    assert same(answer, expect.get('answer', {})) == []
    for pointer in expect.get('absent', []):
        assert not find(answer, pointer)[0], f'{pointer} is there'


# --- running ------------------------------------------------------------------------------------------------------

def judge(name, answered):
    folder = FOLDER / name
    method, path, _ = request_of(folder, load(folder, 'meta.json', {}))
    expect = json.loads((folder / 'expect.json').read_text())
    assert isinstance(answered, tuple), f'curl fails with {answered}'
    status, headers, content = answered
    assert status == expect['status'], content[:2000]
    assert headers.get('x-request-id'), 'no X-Request-Id'
    for header, value in expect.get('headers', {}).items():
        assert headers.get(header.lower()) == value
    if method == 'HEAD':
        assert int(headers['content-length']) > 0
    elif status == 200 or 'answer' in expect:
        judge_answer(headers, content, expect)
    else:
        sent = load(folder, 'request.json') if '?' not in path else None
        judge_problem(problem_of(status, headers, content), expect, sent)


def server_options(name):
    return load(FOLDER / name, 'meta.json', {}).get('options')


@pytest.fixture(scope='module')
def answers(server, tmp_path_factory):
    """The answers to all cases that need no server of their own."""
    return curl(server, [name for name in CASES if server_options(name) is None], tmp_path_factory.mktemp('answers'))


@pytest.mark.parametrize('name', [name for name in CASES if server_options(name) is None])
def test_case(answers, name):
    judge(name, answers[name])


@pytest.mark.parametrize('name', [name for name in CASES if server_options(name) is not None])
def test_case_with_options(tmp_path, name):
    process, base = start(*server_options(name))
    try:
        judge(name, curl(base, [name], tmp_path)[name])
    finally:
        code = stop(process)
    assert code == 0


def test_folders_are_complete():
    assert CASES
    for path in FOLDER.rglob('*'):
        if path.is_file():
            assert path.name in FILES and (path.parent / 'expect.json').exists(), path
            assert not ((path.parent / 'request.json').exists() and (path.parent / 'request.raw').exists()), path
