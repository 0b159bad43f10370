"""Notes of a check, about input that is valid but rarely intended: each note is provoked, and is absent otherwise."""
import copy
import json
import os
import re
import struct
import subprocess
import urllib.request

import pytest

from conftest import ROOT


PROGRAM = ROOT / os.environ.get('FRICTIOND', 'build/frictiond')
PAGE = (ROOT / 'docs' / 'check.md').read_text()
# Two vertices that slide on a floor.
BATCH = {'dim': 3, 'velocities': [[0.2, 0, 0], [0, 0.3, 0]], 'friction': {'eps_v': 0.1, 'mu': 0.5}, 'collisions': {
    'plane_vertex': {'vertices': [0, 1], 'normal_force': [2, 3], 'plane_normal': [0, 0, 1]}}}
FLOOR = '/collisions/plane_vertex'


def batch(friction=None, group=None, **more):
    request = copy.deepcopy(BATCH)
    request['friction'].update(friction or {})
    if friction and ('mu_s' in friction or 'vertex_mu_s' in friction or 'materials' in friction):
        del request['friction']['mu']
    request['collisions']['plane_vertex'].update(group or {})
    return {**request, **more}


def slow(*speeds):
    return [[v, 0, 0] for v in speeds]


TABLE = {'vertex_material': [0, 1], 'plane_material': 0}
PAIR = {'mu_s': 0.5, 'mu_k': 0.2}
ANCHOR = [[0.06, 0.08, 0], [0.3, 0.4, 0]]
CASES = {
    'nothing': (batch(), []),
    'nothing but equal coefficients': (batch({'mu_s': 0.5, 'mu_k': 0.5}), []),
    'nearly equal ones': (batch({'mu_s': 0.5, 'mu_k': 0.46}), []),
    'cubic': (batch(PAIR), [('holds_less_than_mu_s', '/friction/mu_s')]),
    'quadratic': (batch({**PAIR, 'mu_transition': 'quadratic'}), [('holds_less_than_mu_s', '/friction/mu_s')]),
    'peak': (batch({**PAIR, 'mu_transition': 'peak'}), []),
    'stribeck': (batch({**PAIR, 'law': 'stribeck', 'stribeck_speed': 1}), []),
    'unused coefficients': (batch(PAIR, {'mu': 0.5}), []),
    'the second contact': (batch(None, {'mu_s': [0.5, 0.5], 'mu_k': [0.5, 0.2]}),
                           [('holds_less_than_mu_s', f'{FLOOR}/mu_s/1')]),
    'one static coefficient for all': (batch(None, {'mu_s': 0.5, 'mu_k': [0.5, 0.2]}),
                                       [('holds_less_than_mu_s', f'{FLOOR}/mu_s')]),
    'a vertex': (batch({'vertex_mu_s': [0.5, 0.5], 'vertex_mu_k': [0.5, 0.2]}),
                 [('holds_less_than_mu_s', '/friction/vertex_mu_s/1')]),
    'a pair of materials': (batch({'materials': {**TABLE, 'mu_s': [[1, 1], [1, 1]], 'mu_k': [[1, 2], [2, 0.2]]}}), [
        ('mu_k_above_mu_s', '/friction/materials/mu_k/0/1'), ('holds_less_than_mu_s', '/friction/materials/mu_s/1/1')]),
    'an ellipse': (batch(None, {'mu_s_aniso': [0.5, 0.5], 'mu_k_aniso': [[0.5, 0.5], [0.5, 0.7]]}),
                   [('mu_k_above_mu_s', f'{FLOOR}/mu_k_aniso/1/1')]),
    'swapped': (batch({'mu_s': 0.3, 'mu_k': 0.5}), [('mu_k_above_mu_s', '/friction/mu_k')]),
    'five': (batch({'mu': 5}), []),
    'more than five': (batch({'mu': 5.1}), [('large_coefficient', '/friction/mu')]),
    'both above five': (batch({'mu_s': 30, 'mu_k': 30}), [('large_coefficient', '/friction/mu_s'),
                                                          ('large_coefficient', '/friction/mu_k')]),
    'a table above five': (batch({'materials': {**TABLE, 'mu': [[0, 1], [1, 6]]}}),
                           [('large_coefficient', '/friction/materials/mu/1/1')]),
    'both slow': (batch(velocities=slow(1e-5, 9e-5)), [('speeds_far_below_eps_v', '/friction/eps_v')]),
    'one slow, one at rest': (batch(velocities=slow(0, 9e-5)), [('speeds_far_below_eps_v', '/friction/eps_v')]),
    'half of them': (batch(velocities=slow(1e-5, 1.1e-4)), []),
    'at rest': (batch(velocities=slow(0, 0)), []),
    'eps_v of its own': (batch(None, {'eps_v': [0.2, 300.5]}, velocities=slow(0, 1e-1)),
                         [('speeds_far_below_eps_v', f'{FLOOR}/eps_v/1')]),
    'drag': (batch({'viscous': 2.6}), [('viscous_outweighs_coulomb', '/friction/viscous')]),
    'drag of one of two': (batch({'viscous': 2}), []),
    'less drag': (batch({'viscous': 1}), []),
    'drag of the group': (batch({'viscous': 1}, {'viscous': [0, 9]}, velocities=slow(0, 0.1)),
                          [('viscous_outweighs_coulomb', f'{FLOOR}/viscous/1')]),
    'drag against anchors': (batch({'viscous': 6}, {'anchor': [0, 0, 0.1]}, velocities=slow(0.05, 0.05)), []),
    'an anchor': (batch(None, {'anchor': ANCHOR}), [('anchor_longer_than_eps_v', f'{FLOOR}/anchor/1')]),
    'a flat anchor': (batch(None, {'anchor': sum(ANCHOR, [])}), [('anchor_longer_than_eps_v', f'{FLOOR}/anchor')]),
    'an anchor for all': (batch(None, {'anchor': ANCHOR[1]}), [('anchor_longer_than_eps_v', f'{FLOOR}/anchor')]),
    'an anchor of eps_v': (batch(None, {'anchor': ANCHOR[0]}), []),
    'an anchor of 2 eps_v': (batch(None, {'anchor': [0.12, 0.16, 0]}), [('anchor_longer_than_eps_v', f'{FLOOR}/anchor')]),
    'positions as velocities': (batch(positions=BATCH['velocities']), [('velocities_equal_positions', '/velocities')]),
    'current positions': (batch(positions=slow(9, 9), current_positions=BATCH['velocities']),
                          [('velocities_equal_positions', '/velocities')]),
    'nearly positions': (batch(positions=[[0.2, 0, 0], [0, 0.30000000000000004, 0]]), []),
    'zeros': (batch(velocities=slow(0, 0), positions=slow(0, 0)), []),
    'the same of adhesion': (batch({'law': 'adhesion'}, {'anchor': [0.12, 0.16, 0]}), []),
    'the same of a slower surface': (batch(None, {'anchor': [0.12, 0.16, 0], 'mu_aniso': [0.5, 1]}), []),
}


def ask(server, method, path, body=None, **headers):
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(server + path, data, {'Content-Type': 'application/json', **headers}, method=method)
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
        return json.loads(text) if text else None


def check(server, request):
    return ask(server, 'POST', '/v1/check', request)['notes']


def places(notes):
    return [(note['code'], note['pointer']) for note in notes]


@pytest.mark.parametrize('name', CASES)
def test_notes(server, name):
    request, expected = CASES[name]
    assert places(check(server, request)) == expected


def test_the_note_names_the_highest_force(server):
    """The largest value of (0.5 - 0.3 (3z^2 - 2z^3)) (2z - z^2), which is 0.26254927 at z = 0.4367, found by hand."""
    detail = check(server, batch(PAIR))[0]['detail']
    assert 'mu_s 0.5' in detail and 'mu_k 0.2' in detail and 'only 0.2625:' in detail and 'peak would hold 0.5' in detail
    assert 'anchor of contact 1 is 0.5 long' in check(server, CASES['an anchor'][0])[0]['detail']


def test_the_named_force_is_the_highest(server):
    """Finds the value again on a fine grid, through the function that plots the law."""
    speeds = [i / 4096 for i in range(1, 4097)]
    for mu_k in (0, 0.1, 0.3, 0.6):
        for transition in ('cubic', 'quadratic'):
            request = {'y': speeds, 'mu_s': 1, 'mu_k': mu_k, 'eps_v': 1, 'mu_transition': transition}
            most = max(ask(server, 'POST', '/v1/functions/law_force', request)['values'])
            note, = check(server, batch({'mu_s': 1, 'mu_k': mu_k, 'mu_transition': transition}))
            assert abs(float(re.search('only ([0-9.e-]+)', note['detail'])[1]) - most) < 2e-4


def test_a_set_has_the_notes_of_its_document(server):
    document = batch(PAIR, {'anchor': ANCHOR})
    query = {'velocities': document.pop('velocities')}
    ask(server, 'PUT', '/v1/sets/notes', {**document, 'n_vertices': 2})
    whole = check(server, {**document, **query})
    assert ask(server, 'POST', '/v1/sets/notes/check', query)['notes'] == whole and len(whole) == 2
    ask(server, 'DELETE', '/v1/sets/notes')


def test_a_frame_has_the_same(server):
    request = batch(PAIR)
    expected = check(server, request)
    request['velocities'] = {'dtype': 'f64', 'shape': [2, 3], 'offset': 0}
    text = json.dumps(request).encode()
    text += b' ' * (-(8 + len(text)) % 64)
    frame = len(text).to_bytes(8, 'little') + text + struct.pack('<6d', *sum(BATCH['velocities'], []))
    headers = {'Content-Type': 'application/vnd.frictiond.frame', 'Accept': 'application/json'}
    assert ask(server, 'POST', '/v1/check', frame, **headers)['notes'] == expected


def test_there_are_at_most_sixteen(server):
    """Each group here has four."""
    request = batch()
    own = {'mu_s': [6, 7], 'mu_k': [1, 9], 'anchor': [1, 1, 1], 'normal_force': 1}
    basis = {'tangent_basis': [[1, 0], [0, 1], [0, 0]]}
    request['velocities'] = [[0.1 * i, 0.2, 0.3 * i * i] for i in range(6)]
    request['collisions'] = {
        'vertex_vertex': {'vertices': [[0, 1], [1, 2]], **own, **basis},
        'edge_vertex': {'vertices': [[0, 1, 2], [1, 2, 3]], 'closest_point': [0.5], **own, **basis},
        'edge_edge': {'vertices': [[0, 1, 2, 3], [1, 2, 3, 4]], 'closest_point': [0.5, 0.5], **own, **basis},
        'face_vertex': {'vertices': [[0, 1, 2, 3], [1, 2, 3, 4]], 'closest_point': [0.2, 0.5], **own, **basis}}
    notes = check(server, request)
    assert len(notes) == 16 and len(set(places(notes))) == 16


def test_the_program_prints_them(tmp_path):
    path = tmp_path / 'batch.json'
    path.write_text(json.dumps(batch(PAIR, {'anchor': ANCHOR})))
    done = subprocess.run([str(PROGRAM), 'check', str(path)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, '')
    notes = [line for line in done.stdout.splitlines() if line.startswith('note: ')]
    assert [line.split(': ')[1] for line in notes] == ['/friction/mu_s', f'{FLOOR}/anchor/1']


def test_the_page_has_every_code(server):
    schemas = ask(server, 'GET', '/openapi.json')['components']['schemas']
    codes = schemas['Note']['properties']['code']['enum']
    table = PAGE[PAGE.index('## Notes'):PAGE.index('## frictiond check')]
    assert re.findall(r'^\| `([a-z_]+)` \|', table, re.M) == ['code', *codes]
    assert {code for _, expected in CASES.values() for code, _ in expected} == set(codes)
