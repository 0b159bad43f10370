"""POST /v1/check and frictiond check: correct results agree for every request, and errors are the same as from POST
/v1/evaluate.
"""
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import urllib.request

import pytest

from conftest import ONE_IN, ROOT, eventually

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import from_reference  # noqa: E402
import generate  # noqa: E402
from client import call, post  # noqa: E402

PROGRAM = ROOT / os.environ.get('FRICTIOND', 'build/frictiond')
FRAME = 'application/vnd.frictiond.frame'
CASES = sorted(path.parent for path in (ROOT / 'tests' / 'cases').rglob('request.json')
               if not (path.parent / 'meta.json').exists())
SCENE = ROOT / 'examples' / 'scene' / 'scene.json'
BROKEN = ROOT / 'examples' / 'scene' / 'broken.json'
AGREEMENT = ['largest_difference', 'largest_entry', 'relative_difference', 'contacts', 'assembled']
WORST = ['group', 'index', 'vertices', 'quantity', 'relative_difference', 'status', 'slip_ratio']


def numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for entry in value for number in numbers(entry)]
    return [value] if isinstance(value, float) else []


def judge(answer, request):
    """Checks the invariants of every response."""
    names = ['n_vertices', 'n_collisions', 'agrees', 'tolerance', 'potential', 'gradient', 'hessian', 'worst', 'notes']
    if request.get('on_degenerate') == 'skip':
        names.append('skipped')
    assert list(answer) == names
    assert answer['agrees'] is True and answer['tolerance'] == 1e-8
    assert all(math.isfinite(x) for x in numbers(answer))
    for quantity in ('potential', 'gradient', 'hessian'):
        assert list(answer[quantity]) == AGREEMENT
        assert answer[quantity]['relative_difference'] == max(answer[quantity][name] for name in AGREEMENT[3:])
        assert answer[quantity]['relative_difference'] <= 1e-9
    worst = answer['worst']
    assert (worst is None) == (answer['n_collisions'] == 0)
    if worst:
        assert list(worst) == WORST
        rows = from_reference.flat(request['collisions'][worst['group']]['vertices'])
        k = len(worst['vertices'])
        assert worst['vertices'] == rows[k * worst['index']:k * (worst['index'] + 1)]


def send(server, body, content_type, accept=None):
    """(status, Content-Type, body)"""
    headers = {'Content-Type': content_type, **({'Accept': accept} if accept else {})}
    request = urllib.request.Request(server + '/v1/check', body, headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request) as answer:
        return answer.status, answer.headers['Content-Type'], answer.read()


def frame_of(document, arrays):
    """A frame; arrays: name -> (dtype, shape, bytes), each put at the top level of the document."""
    tail = b''
    for name, (dtype, shape, data) in arrays.items():
        document[name] = {'dtype': dtype, 'shape': shape, 'offset': len(tail)}
        tail += data
    header = json.dumps(document).encode()
    header += b' ' * (-(8 + len(header)) % 64)
    return struct.pack('<Q', len(header)) + header + tail


def scene_frame():
    scene = json.loads(SCENE.read_text())
    v = from_reference.flat(scene['velocities'])
    return frame_of(scene, {'velocities': ('f64', [len(v) // 3, 3], struct.pack(f'<{len(v)}d', *v))})


def document_of(frame):
    return json.loads(frame[8:8 + struct.unpack('<Q', frame[:8])[0]])


# --- over HTTP ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('first', range(0, 240 // min(ONE_IN, 3), 40))
def test_random_requests_agree(server, first):
    for seed in range(first, first + 40):
        request = generate.request(seed)
        status, answer = post(server, '/v1/check', request)
        assert status == 200, (seed, answer)
        judge(answer, request)


@pytest.mark.parametrize('given', [True, False], ids=['given', 'derived'])
def test_frames_of_a_simulation_agree(server, given):
    frames = from_reference.frames()
    if not frames:
        pytest.skip(from_reference.NO_FRAMES)
    for name, frame in frames:
        request = from_reference.frame_request(frame, given)
        status, answer = post(server, '/v1/check', request)
        assert status == 200, (name, answer)
        judge(answer, request)
        assert abs(answer['gradient']['largest_entry'] - max(map(abs, frame['gradient']))) <= 1e-11


def test_cases_are_judged_as_by_evaluate(server):
    """Valid cases agree; invalid ones get the same problem. The compared results may overflow even if the requested
    outputs do not. Cases that are refused for their longest steps are left out, because nothing compares these."""
    good = bad = 0
    for folder in CASES:
        body = (folder / 'request.json').read_bytes()
        expected = json.loads((folder / 'expect.json').read_text())
        request = json.loads(body)
        if 'overflow' in str(folder):
            request = {**request, 'outputs': ['potential', 'gradient', 'hessian'], 'hessian': {'format': 'csr'}}
            expected = call(server, 'POST', '/v1/evaluate', request)[1]
        answers = [call(server, 'POST', path, request) for path in ('/v1/evaluate', '/v1/check')]
        if answers[0][0] != answers[1][0] == 200 and 'longest_step' in request.get('outputs', ()):
            continue
        if answers[0][0] == 200:
            assert answers[1][0] == 200, (folder.name, answers[1])
            judge(answers[1][1], request)
            good += 1
        else:
            assert answers[0] == answers[1] and answers[1][0] == expected['status'], folder.name
            bad += 1
    assert good > 50 and bad > 100


def test_json_and_frames_agree(server):
    text, frame = SCENE.read_bytes(), scene_frame()
    plain = send(server, text, 'application/json')
    assert plain[:2] == (200, 'application/json')
    judge(json.loads(plain[2]), json.loads(text))
    assert send(server, frame, FRAME, 'application/json') == plain
    for answer in (send(server, frame, FRAME), send(server, text, 'application/json', FRAME)):
        assert answer[:2] == (200, FRAME)
        assert document_of(answer[2]) == json.loads(plain[2])


def test_what_is_asked_for_does_not_matter(server):
    scene = json.loads(SCENE.read_text())
    for key in ('outputs', 'hessian', 'collision_outputs'):
        scene.pop(key, None)
    first = post(server, '/v1/check', scene)
    for more in ({'outputs': []}, {'outputs': ['gradient']}, {'hessian': {'format': 'factors', 'projection': 'clamp'}},
                 {'hessian': {'format': 'csr', 'triangle': 'upper', 'projection': 'abs'}}):
        assert post(server, '/v1/check', {**scene, **more}) == first
    status, problem = post(server, '/v1/check', {**scene, 'hessian': {'format': 'dense'}})
    assert status == 422 and problem['errors'][0]['pointer'] == '/hessian/format'


def test_empty_and_skipped(server):
    batch = {'dim': 2, 'velocities': [[1, 0], [0, 0]], 'positions': [[0, 0], [0, 0]],
             'friction': {'mu': 1, 'eps_v': 1}, 'collisions': {'vertex_vertex': {'vertices': []}}}
    status, answer = post(server, '/v1/check', batch)
    assert status == 200 and answer['agrees'] and answer['worst'] is None and answer['n_collisions'] == 0
    batch['collisions'] = {'vertex_vertex': {'vertices': [[0, 1]], 'normal_force': 1}}
    status, problem = post(server, '/v1/check', batch)
    assert status == 422 and problem['errors'][0]['pointer'] == '/collisions/vertex_vertex/vertices/0'
    status, answer = post(server, '/v1/check', {**batch, 'on_degenerate': 'skip'})
    assert status == 200
    judge(answer, {**batch, 'on_degenerate': 'skip'})
    assert answer['skipped'] == [{'group': 'vertex_vertex', 'index': 0, 'reason': 'coincident_vertices'}]
    assert answer['worst']['status'] == 2 and answer['worst']['relative_difference'] == 0
    assert answer['gradient']['largest_entry'] == 0


def test_as_many_may_be_skipped_as_an_answer_lists(server):
    batch = {'dim': 2, 'velocities': [[1, 0], [0, 0]], 'positions': [[0, 0], [0, 0]], 'on_degenerate': 'skip',
             'friction': {'mu': 1, 'eps_v': 1},
             'collisions': {'vertex_vertex': {'vertices': [[0, 1]] * 100000, 'normal_force': 1}}}
    status, answer = post(server, '/v1/check', batch)
    assert status == 200 and len(answer['skipped']) == 100000
    batch['collisions']['vertex_vertex']['vertices'].append([0, 1])
    status, problem = post(server, '/v1/check', batch)
    assert status == 413 and '100001 contacts would be skipped' in json.dumps(problem)


def test_overflow_is_named(server):
    batch = {'dim': 2, 'velocities': [[1e-300, 0]], 'friction': {'mu': 1, 'eps_v': 1e-300},
             'collisions': {'plane_vertex': {'vertices': [0], 'normal_force': 1e300, 'plane_normal': [0, 1]}}}
    batch['velocities'] = [[5e-301, 0]]
    status, problem = post(server, '/v1/check', batch)
    assert (status, problem) == post(server, '/v1/evaluate', batch)
    assert status == 422 and problem['errors'][0]['pointer'] == '/collisions/plane_vertex/vertices/0'


def many(n):
    return {'dim': 3, 'velocities': [[1, 2, 0]] * 100, 'friction': {'mu_s': 0.5, 'mu_k': 0.3, 'eps_v': 1e-3},
            'collisions': {'plane_vertex': {'vertices': [i % 100 for i in range(n)], 'plane_normal': [0, 0, 1],
                                            'normal_force': 1}}}


def test_threads_do_not_matter(server_with):
    batch = json.dumps(many(30000)).encode()
    one, two = (send(server_with('--threads', str(n)), batch, 'application/json') for n in (1, 3))
    assert one == two


def test_limits_apply(server_with):
    base = server_with('--max-contacts', '10', '--max-json-bytes', '4K')
    assert post(base, '/v1/check', many(10))[0] == 200
    assert post(base, '/v1/check', many(11))[0] == 413
    assert post(base, '/v1/check', many(1000))[0] == 413


def test_a_deadline_stops_it(server_with):
    base = server_with('--deadline-seconds', '1', '--threads', '1')
    status, problem = post(base, '/v1/check', many(2000000))
    assert status == 503, problem
    assert eventually(lambda: post(base, '/v1/check', many(10))[0] == 200)  # may also be late on a busy machine


def test_checks_have_a_metric_of_their_own(server_with):
    base = server_with()
    assert post(base, '/v1/check', many(10))[0] == 200
    counted = 'frictiond_requests_total{route="/v1/check",status="200"} 1\n'
    assert eventually(lambda: counted in call(base, 'GET', '/metrics')[1])  # after the answer was sent


# --- the program ----------------------------------------------------------------------------------------------------

def check(*arguments, given=b''):
    """(exit code, standard output, standard error)"""
    done = subprocess.run([str(PROGRAM), 'check', *map(str, arguments)], input=given, capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_report():
    code, out, err = check(SCENE)
    lines = out.splitlines()
    assert (code, err) == (0, '')
    assert lines[0] == f'{SCENE}: 16 vertices, 19 contacts'
    assert [line.split()[:2] for line in lines[1:4]] == [[name, 'agrees'] for name in ('potential', 'gradient', 'hessian')]
    assert lines[4].startswith('worst: ') and 'slip ratio' in lines[4]
    assert lines[5].startswith('note: /friction/materials/mu_s/0/0: mu_s 0.5 with mu_k 0.35 ')
    assert lines[6:] == ['agrees within 1e-08']


def test_json_is_the_answer_of_the_service(server):
    code, out, err = check('--json', SCENE, '--threads', 1)
    assert (code, err) == (0, '')
    assert out.encode() == send(server, SCENE.read_bytes(), 'application/json')[2] + b'\n'


def test_frames_and_standard_input(tmp_path):
    (tmp_path / 'scene').write_bytes(scene_frame())
    expected = check('--json', SCENE)
    assert check('--json', tmp_path / 'scene') == expected
    assert check('--json', '-', given=scene_frame()) == expected
    assert check('-', '--json', given=SCENE.read_bytes()) == expected


@pytest.mark.parametrize('arguments,given,says', [
    ([], b'', 'check needs a FILE'),
    ([SCENE, SCENE], b'', f"unexpected argument '{SCENE}'"),
    (['--frobnicate', SCENE], b'', "unknown option '--frobnicate'"),
    (['--threads', 'x', SCENE], b'', "--threads: 'x' is not a whole number"),
    (['/nowhere/scene.json'], b'', '/nowhere/scene.json: No such file or directory'),
    ([ROOT], b'', 'Is a directory'),
    ([BROKEN], b'', '/collisions/edge_edge/vertices/1/2: 16 is not a vertex'),
    (['-'], b'', '-: '),
    (['-'], b'{"dim":2', 'line 1, column 9'),
    (['-'], b'{"dim":2}', '-: /velocities: '),
    (['-'], struct.pack('<Q', 57) + b' ' * 56, '-: '),
    (['--max-contacts', '18', SCENE], b'', '/collisions/'),
    (['--max-json-bytes', '10', SCENE], b'', 'longer than the limit of 10 bytes (--max-json-bytes)'),
])
def test_unusable_input(arguments, given, says):
    code, out, err = check(*arguments, given=given)
    assert (code, out) == (2, '')
    assert says in err and err.startswith('frictiond: ')


@pytest.mark.parametrize('format', ['json', 'frame'])
def test_a_request_of_just_the_limit(tmp_path, format):
    body = SCENE.read_bytes() if format == 'json' else scene_frame()
    (tmp_path / 'scene').write_bytes(body)
    option = f'--max-{format}-bytes'
    assert check(option, len(body), tmp_path / 'scene')[0] == 0
    code, out, err = check(option, len(body) - 1, tmp_path / 'scene')
    assert (code, out) == (2, '')
    assert f'{len(body)} bytes are longer than the limit of {len(body) - 1} bytes ({option})' in err


def test_help():
    code, out, err = check('--help')
    assert (code, err) == (0, '') and 'frictiond check [OPTION]... FILE' in out and '--json' in out
    done = subprocess.run([str(PROGRAM), '--help'], capture_output=True, text=True)
    assert 'frictiond check' in done.stdout
    refused = subprocess.run([str(PROGRAM), '--port', '0', 'check'], capture_output=True, text=True)
    assert refused.returncode == 2 and "unexpected argument 'check'" in refused.stderr


def test_a_full_disk_is_no_agreement():
    if not pathlib.Path('/dev/full').exists():
        pytest.skip('no /dev/full')
    with open('/dev/full', 'w') as full:
        done = subprocess.run([str(PROGRAM), 'check', str(SCENE)], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and 'cannot be written' in done.stderr


def test_the_status_of_a_mollified_contact(tmp_path):
    path = tmp_path / 'mollified.json'
    path.write_text(json.dumps({
        'dim': 3, 'positions': [[0, 0, 0], [1, 0, 0], [0, 0, 0.1], [1, 0.01, 0.1]], 'velocities': [[0.1, 0, 0]] * 2 + [[0] * 3] * 2,
        'friction': {'eps_v': 0.1, 'mu': 0.5}, 'barrier': {'dhat': 0.2, 'stiffness': 10}, 'terms': ['friction', 'barrier'],
        'collisions': {'edge_edge': {'vertices': [[0, 1, 2, 3]], 'mollifier': 0.001}}}))
    done = subprocess.run([str(PROGRAM), 'check', str(path)], capture_output=True, text=True)
    assert done.returncode == 0 and '), mollified, ' in done.stdout, done
