"""The conformance vectors (tests/oracle/conformance.py, docs/conformance.md): the service passes them, the checkers in
examples/conformance pass right implementations, and catch faults that have been seen in published codes.
"""
import copy
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from conftest import ONE_IN, ROOT

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
sys.path.insert(0, str(ROOT / 'examples' / 'conformance'))
import check  # noqa: E402
import conformance  # noqa: E402
import faulty  # noqa: E402
import friction  # noqa: E402
from client import post  # noqa: E402
from oracle import BODY_GROUPS, GROUPS  # noqa: E402

STEP = 3 if ONE_IN > 1 else 1  # a share tries every third fault
FOLDER = ROOT / 'examples' / 'conformance'
PAGE = (ROOT / 'docs' / 'conformance.md').read_text()


@pytest.fixture(scope='module')
def vectors():
    return json.loads('\n'.join(conformance.lines(conformance.vectors())))


@pytest.fixture(scope='module')
def path(vectors, tmp_path_factory):
    made = tmp_path_factory.mktemp('conformance') / 'conformance.json'
    made.write_text('\n'.join(conformance.lines(vectors)))
    return made


def run(vectors, evaluate, **options):
    out = io.StringIO()
    return (*check.check(vectors, evaluate, out=out, **options), out.getvalue())


# --- the vectors ----------------------------------------------------------------------------------------------------

def test_what_is_in_them(vectors):
    assert vectors['version'] == '1.0' and f'`"{vectors["version"]}"`' in PAGE
    assert [case['id'] for case in vectors['cases']] == list(range(len(vectors['cases'])))
    names = [case['name'] for case in vectors['cases']]
    assert len(set(names)) == len(names)
    features = set(vectors['features'])
    assert {f'type:{group}' for group in (*GROUPS, *BODY_GROUPS)} <= features
    assert {f'law:{law}' for law in conformance.LAWS} | {f'blend:{blend}' for blend in conformance.BLENDS} <= features
    groups = re.findall(r'^\| `([a-z_]+)` \|', PAGE[PAGE.index('## What is in it'):], re.M)
    assert groups == list(dict.fromkeys(case['group'] for case in vectors['cases']))
    assert f'writes `build/dist/conformance.json`: {len(names)} requests' in PAGE


def test_they_are_the_same_every_time(vectors):
    again = [*conformance.types(), *conformance.projections()]
    for name, builder in again:
        case = next(c for c in vectors['cases'] if c['name'] == name)
        assert json.loads(json.dumps(conformance.expected(case['request'], builder.features)[0])) == case['expected']


def of_service(server, case, **changes):
    outputs = ['potential', 'gradient', 'hessian']
    if 'position_jacobian' in case['expected']:
        outputs.append('position_jacobian')
    request = {**copy.deepcopy(case['request']), **changes, 'outputs': outputs}
    request.setdefault('hessian', {})['format'] = 'triplets'
    request['position_jacobian'] = {'format': 'triplets'}
    status, answer = post(server, '/v1/evaluate', request)
    assert status == 200, (case['name'], answer)
    answer['gradient'] = answer['gradient'] + np.ravel(answer.get('body_gradient', [])).tolist()
    return answer


def test_the_service_passes(server, vectors):
    differs, agrees, unsupported, text = run(vectors, lambda case: of_service(server, case), tolerance=1e-11)
    assert (differs, unsupported) == ([], []) and len(agrees) == len(vectors['cases']), text


def closest_point(c):
    w = c['weights']
    return {'edge_vertex': [-x for x in w[2:]], 'face_vertex': [-x for x in w[2:]], 'edge_edge': [w[1 % len(w)], -w[-1]]}.get(c['type'])


def from_contacts(case):
    """A request with given geometry, from a case's lagged contacts."""
    r, groups = case['request'], {}
    law = {k: r['friction'][k] for k in ('law', 'mu_transition', 'curve', 'stribeck_speed') if k in r['friction']}
    one = law.get('law') in ('curve', 'adhesion')
    for c in case['contacts']:
        rows = {name: c[name] for name in ('tangent_basis', 'normal_force', 'weight', 'eps_v', 'mu_aniso', 'anchor', 'viscous')}
        rows.update({'mu': c['mu_s']} if one else {'mu_s': c['mu_s'], 'mu_k': c['mu_k']}, closest_point=closest_point(c),
                    vertices=c['vertices'] if len(c['vertices']) > 1 else c['vertices'][0],
                    surface_velocity=[a - o for a, o in zip(c['anchor'], c['offset'])])
        for name, value in rows.items():
            if value is not None:
                groups.setdefault(c['type'], {}).setdefault(name, []).append(value)
    return {'dim': r['dim'], 'velocities': r['velocities'], 'friction': law, 'collisions': groups, 'hessian': r.get('hessian', {})}


def test_the_service_passes_with_lagged_contacts(server, vectors):
    """The contacts are those of the requests."""
    def evaluate(case):
        if {'bodies', 'mollifier', 'barrier_energy', 'position_jacobian'} & set(case['features']):
            raise NotImplementedError
        return of_service(server, {**case, 'request': from_contacts(case)})
    differs, agrees, _, text = run(vectors, evaluate, tolerance=1e-11)
    assert differs == [] and len(agrees) > 200, text


# --- the checker in Python ------------------------------------------------------------------------------------------

SMALL = {'law:cubic', 'law:quadratic', 'weight', 'shared', 'position_jacobian'}


def supported(case):
    plain = case['features']
    law = {'law:cubic', 'law:quadratic'} & set(plain)
    return law and all(f in SMALL or f.split(':')[0] in ('dim', 'type', 'blend', 'projection') for f in plain)


def of_code(made):
    def evaluate(case):
        if not supported(case):
            raise NotImplementedError
        return made(case['request']).results()
    return evaluate


def test_right_ones_pass(vectors):
    differs, agrees, unsupported, text = run(vectors, of_code(faulty.Code))
    assert differs == [] and len(agrees) > 80, text
    differs, agrees, unsupported, text = run(vectors, friction.evaluate)
    assert differs == [] and len(agrees) > 100, text
    assert text.splitlines()[-1] in PAGE


CAUGHT = ['ForceInPlaceOfGradient', 'HessianOfTheForce', 'SameSignOnBothSides', 'ForceFourTimes', 'ForceHundredTimes',
          'SlipNotNormalised', 'DividedByEpsilon', 'NoSecondTerm', 'NoDerivativeAlong', 'NoChainRuleOfMu', 'NotProjected',
          'AlwaysProjected', 'EpsilonTimesStep', 'DisplacementsAsVelocities', 'OtherTransition', 'KineticOnly', 'SmallerCoefficient',
          'GeometricMean', 'LinearRamp', 'NormalPart', 'WeightForgotten']


@pytest.mark.parametrize('name', CAUGHT[::STEP])
def test_faults_are_caught(vectors, name):
    differs, agrees, _, text = run(vectors, of_code(faulty.FAULTS[name][0]))
    assert differs, text
    assert text.count('\n') > len(differs)


def test_a_shape_derivative_of_the_wrong_sign_is_caught(server, vectors):
    def evaluate(case):
        if 'position_jacobian' not in case['features']:
            raise NotImplementedError
        answer = of_service(server, case)
        j = answer['position_jacobian']
        return {'position_jacobian': {**j, 'values': [-x for x in j['values']]}}
    differs, agrees, _, text = run(vectors, evaluate)
    moving = [c['id'] for c in vectors['cases'] if any(c['expected'].get('position_jacobian', {}).get('values', []))]
    assert differs == moving and len(differs) >= 10 and 'position_jacobian[' in text


def test_a_shape_derivative_without_the_normal_force_is_caught(server, vectors):
    """The chain rule stops at lambda, which is a function of the distance."""
    def evaluate(case):
        if 'derivatives of normal forces' not in case['name']:
            raise NotImplementedError
        request = copy.deepcopy(case['request'])
        request.pop('barrier')
        for group in request['collisions'].values():
            group['normal_force'] = [case['contacts'][0]['normal_force']]
        answer = of_service(server, {**case, 'request': request})
        return {name: answer[name] for name in ('gradient', 'position_jacobian')}
    differs, agrees, _, text = run(vectors, evaluate)
    assert len(differs) == len(conformance.TYPES) and agrees == [] and 'gradient' not in text


def test_numbers_that_are_none_are_caught(vectors):
    def evaluate(case):
        right = case['expected']
        return {'potential': float('nan'), 'gradient': [float('inf')] * len(right['gradient']['values'])}
    assert len(run(vectors, evaluate)[0]) == len(vectors['cases'])
    short = run(vectors, lambda case: {'gradient': case['expected']['gradient']['values'][:-1]})
    assert len(short[0]) == len(vectors['cases'])


def test_the_checker_is_a_program(path, tmp_path):
    def start(*arguments, folder=FOLDER):
        return subprocess.run([sys.executable, str(FOLDER / 'check.py'), str(path), *arguments], cwd=folder,
                              capture_output=True, text=True)
    done = start('friction')
    assert (done.returncode, done.stderr) == (0, '') and done.stdout.strip() in PAGE
    some = start('friction', '--only', 'type:edge_edge', '--only', 'mu_aniso')
    assert some.returncode == 0 and 0 < int(some.stdout.split()[0]) < int(done.stdout.split()[0])
    assert start('friction', '--only', 'bodies').returncode == 2
    (tmp_path / 'wrong.py').write_text('def evaluate(case):\n    return {"potential": 1}\n')
    done = start('wrong', folder=tmp_path)
    assert done.returncode == 1 and 'potential is 1, expected 0' in done.stdout


# --- the checker in C -----------------------------------------------------------------------------------------------

def compiled(folder, source):
    (folder / 'friction.c').write_text(source)
    program = folder / 'check'
    subprocess.run([os.environ.get('CC', 'cc'), '-std=c11', '-O1', '-Wall', '-Wextra', '-Werror', f'-I{FOLDER}', str(FOLDER / 'check.c'),
                    str(folder / 'friction.c'), '-ljansson', '-lm', '-o', str(program)], check=True)
    return program


SOURCE = (FOLDER / 'friction.c').read_text()
MISTAKES = {
    'force four times': ('s * law.force * t[j]', '4 * s * law.force * t[j]'),
    'force a hundred times': ('s * law.force * t[j]', '100 * s * law.force * t[j]'),
    'slip not normalised': ('s * law.force * t[j]', 's * law.force * u[j]'),
    'no second term': ('along = projected(slope, p->projection)', 'along = across_of(ratio, p->projection)'),
    'no chain rule': (' + 6 * d * z * (1 - z) * f}', '}'),
    'sign': ('gradient[row] += ', 'gradient[row] -= '),
    'both sides alike': ('gradient[row] += c->weights[k]', 'gradient[row] += fabs(c->weights[k])'),
    'no projection': ('strcmp(projection, "clamp") == 0 ?', 'strcmp(projection, "") == 0 ?'),
    'mu_aniso once': ('block[i * d + l] += q[i][j] * q[l][k]', 'block[i * d + l] += q[i][j] * c->tangent_basis[l * m + k]'),
    'weight forgotten': ('s = c->weight * c->normal_force', 's = c->normal_force'),
    'eps_v scaled': ('law_at(y / c->eps_v,', 'law_at(100 * y / c->eps_v,'),
    'surface at rest': ('relative = c->offset[i]', 'relative = 0'),
    'coefficients exchanged': ('law_at(y / c->eps_v, c->mu_s, c->mu_k)', 'law_at(y / c->eps_v, c->mu_k, c->mu_s)'),
}


def test_the_checker_in_c(path, tmp_path):
    program = compiled(tmp_path, SOURCE)
    done = subprocess.run([program, path], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, '') and done.stdout.strip() in PAGE
    (tmp_path / 'broken').write_text('{')
    for arguments in ([], [tmp_path / 'broken'], [tmp_path / 'absent']):
        assert subprocess.run([program, *arguments], capture_output=True).returncode == 2


@pytest.mark.parametrize('name', list(MISTAKES)[::STEP])
def test_the_checker_in_c_catches(path, tmp_path, name):
    right, wrong = MISTAKES[name]
    assert SOURCE.count(right) == 1
    source = SOURCE.replace(right, wrong)
    if 'across_of' in wrong:
        source = source.replace('static void add(', 'static double across_of(double x, const char *projection)\n{\n'
                                '\treturn projected(x, projection);\n}\n\nstatic void add(')
    done = subprocess.run([compiled(tmp_path, source), path], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == '' and 'relative difference' in done.stdout
