"""Requests that are wrong in a field of laws, barriers, offsets or bodies: each is one merge patch away from a good one.
Every field is left out where it is needed, of another type, of another shape, out of its range, and where it does not
belong, in JSON and in a frame."""
import copy
import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import oracle  # noqa: E402
import sets  # noqa: E402
from sets import FRAME, JSON  # noqa: E402
from test_cases import find, leads_somewhere  # noqa: E402

CURVE = {'speeds': [0, 0.1, 0.4], 'factors': [1, 0.7, 0.5]}
SMOOTH = {'eps_v': 0.1, 'mu_s': 0.5, 'mu_k': 0.3}
ONE = {'eps_v': 0.1, 'mu': 0.5}
STRIBECK = {**SMOOTH, 'law': 'stribeck', 'stribeck_speed': 0.2}
EXPONENTIAL = {**STRIBECK, 'law': 'exponential'}
MEASURED, ADHESION = {**ONE, 'law': 'curve', 'curve': CURVE}, {**ONE, 'law': 'adhesion'}
MATERIALS = {'vertex_material': [0, 1, 0], 'plane_material': 1, 'body_material': [1, 0], 'mu_s': [[0.5, 0.4], [0.4, 0.3]],
             'mu_k': [[0.2, 0.2], [0.2, 0.1]]}


def vertices(friction, dim=3):
    """Three vertices on a plane, two pairs of them in contact."""
    return {'dim': dim, 'velocities': [[1, 2, 3][:dim], [0, 1, 0][:dim], [0, 0, 1][:dim]], 'friction': friction,
            'positions': [[0, 0, 0][:dim], [1, 0, 0.5][:dim], [0, 1, 0.25][:dim]], 'barrier': {'dhat': 2, 'stiffness': 3},
            'collisions': {'vertex_vertex': {'vertices': [[0, 1], [0, 2]]},
                           'plane_vertex': {'vertices': [0, 1], 'plane_normal': [0, 0, 1][3 - dim:], 'normal_force': [2, 3]}}}


def bodies(friction, dim=3):
    twists = [[1, 0, 2, 0, 1, 0], [0, 1, 0, 1, 0, 2]] if dim == 3 else [[1, 0, 2], [0, 1, 1]]
    both = {'point': [[0.5, 0.5, 0][:dim], [0.4, 0, 1][:dim]], 'normal': [[0, 1, 0][:dim], [1, 2, 0][:dim]],
            'normal_force': [2, 3]}
    return {'dim': dim, 'friction': friction, 'body_positions': [[0, 0, 0][:dim], [1, 1, 0][:dim]], 'body_velocities': twists,
            'collisions': {'body_body': {'bodies': [[0, 1], [1, 0]], **both}, 'body_world': {'bodies': [0, 1], **both}}}


def mixed(friction, dim=3):
    v, b = vertices(friction, dim), bodies(friction, dim)
    return {**v, **b, 'collisions': {**v['collisions'], **b['collisions']}}


GOOD = {
    'smooth': vertices(SMOOTH), 'stribeck': vertices(STRIBECK), 'exponential': vertices(EXPONENTIAL),
    'curve': vertices(MEASURED), 'adhesion': vertices(ADHESION), 'flat': vertices(ADHESION, 2), 'bodies': bodies(SMOOTH),
    'bodies-flat': bodies(SMOOTH, 2), 'mixed': mixed(STRIBECK), 'bodies-curve': bodies(MEASURED),
    'bodies-table': bodies({'eps_v': 0.1, 'materials': {k: v for k, v in MATERIALS.items() if k != 'vertex_material'}}),
    'mixed-table': mixed({'eps_v': 0.1, 'materials': MATERIALS}),
}
VV, PV, BB, BW = (f'/collisions/{name}' for name in ('vertex_vertex', 'plane_vertex', 'body_body', 'body_world'))
NULL, DELETE = object(), None


def put(pointer, value):
    """The merge patch that sets the value at a pointer."""
    for name in reversed(pointer.split('/')[1:]):
        value = {name: value}
    return value


def friction(**fields):
    return {'friction': fields}


REFUSED = []


def refuse(name, base, patch, pointer, code=None):
    REFUSED.append(pytest.param(base, patch, pointer, code, id=name))


def at(name, base, pointer, value, code=None, culprit=''):
    """One field is wrong; the pointer leads to it or to one of its elements."""
    refuse(name, base, put(pointer, value), tuple(pointer + end for end in culprits(culprit)), code)


def culprits(pointer):
    """The accepted pointers: one, or several."""
    return (pointer,) if isinstance(pointer, str) else pointer


# --- laws -------------------------------------------------------------------------------------------------------------

at('law-unknown', 'smooth', '/friction/law', 'coulomb', 'unknown_word')
at('law-in-capitals', 'smooth', '/friction/law', 'Stribeck', 'unknown_word')
at('law-number', 'smooth', '/friction/law', 1, 'wrong_type')
at('law-null', 'smooth', '/friction/law', NULL, 'wrong_type')
at('law-list', 'smooth', '/friction/law', ['smooth'], 'wrong_type')
at('law-at-the-top', 'smooth', '/law', 'smooth', 'unknown_field')
at('law-of-a-group', 'smooth', f'{VV}/law', 'smooth', 'unknown_field')
for word in ('cubic', 'quadratic', 'peak'):
    at(f'transition-{word}-beside-stribeck', 'stribeck', '/friction/mu_transition', word, 'without_effect')
for base in ('exponential', 'curve', 'adhesion'):
    at(f'transition-beside-{base}', base, '/friction/mu_transition', 'cubic', 'without_effect')
for base in ('smooth', 'curve', 'adhesion'):
    at(f'stribeck-speed-beside-{base}', base, '/friction/stribeck_speed', 0.1, 'without_effect')
    at(f'stribeck-speed-of-a-group-beside-{base}', base, f'{PV}/stribeck_speed', [0.1, 0.2], 'without_effect')
for base in ('smooth', 'stribeck', 'exponential', 'adhesion'):
    at(f'curve-beside-{base}', base, '/friction/curve', CURVE, 'without_effect')
for base in ('stribeck', 'exponential'):
    at(f'{base}-without-speed', base, '/friction/stribeck_speed', DELETE, 'missing_field')
    refuse(f'{base}-one-group-without-speed', base, {'friction': {'stribeck_speed': DELETE}, **put(PV, {'stribeck_speed': 1})},
           '/friction/stribeck_speed', 'missing_field')
for name, value in (('zero', 0), ('negative', -0.1), ('minus-zero', -0.0)):
    at(f'stribeck-speed-{name}', 'stribeck', '/friction/stribeck_speed', value, 'out_of_range')
    at(f'stribeck-speed-of-a-group-{name}', 'stribeck', f'{PV}/stribeck_speed', [0.1, value], 'out_of_range', '/1')
    at(f'stribeck-speed-of-a-group-{name}-one-for-all', 'stribeck', f'{PV}/stribeck_speed', value, 'out_of_range')
at('stribeck-speed-word', 'stribeck', '/friction/stribeck_speed', '0.1', 'wrong_type')
at('stribeck-speed-null', 'stribeck', '/friction/stribeck_speed', NULL, 'wrong_type')
at('stribeck-speed-list', 'stribeck', '/friction/stribeck_speed', [0.1, 0.2])
at('stribeck-speed-long', 'stribeck', f'{PV}/stribeck_speed', [0.1, 0.2, 0.3], 'wrong_shape')
at('stribeck-speed-rows', 'stribeck', f'{PV}/stribeck_speed', [[0.1, 0.2], [0.3, 0.4]], 'wrong_shape')
at('stribeck-speed-of-bodies-negative', 'mixed', f'{BB}/stribeck_speed', [-1, 1], 'out_of_range', '/0')
at('viscous-negative', 'smooth', '/friction/viscous', -1e-9, 'out_of_range')
at('viscous-word', 'smooth', '/friction/viscous', 'none', 'wrong_type')
at('viscous-null', 'smooth', '/friction/viscous', NULL, 'wrong_type')
at('viscous-list', 'smooth', '/friction/viscous', [1, 2])
at('viscous-of-a-group-negative', 'adhesion', f'{VV}/viscous', [0, -1], 'out_of_range', '/1')
at('viscous-of-a-group-negative-one-for-all', 'curve', f'{VV}/viscous', -1, 'out_of_range')
at('viscous-of-a-group-short', 'smooth', f'{VV}/viscous', [1, 2, 3], 'wrong_shape')
at('viscous-of-a-group-rows', 'smooth', f'{VV}/viscous', [[1], [2], [3]], 'wrong_shape')
at('viscous-of-bodies-negative', 'bodies', f'{BW}/viscous', [1, -1], 'out_of_range', '/1')
at('viscous-of-bodies-true', 'bodies', f'{BB}/viscous', True, 'wrong_type')

# --- curves -----------------------------------------------------------------------------------------------------------

C = '/friction/curve'
at('curve-missing', 'curve', C, DELETE, 'missing_field')
for name, value in (('null', NULL), ('number', 3), ('list', [[0, 1], [0.1, 0.7]]), ('word', 'measured')):
    at(f'curve-{name}', 'curve', C, value, 'wrong_type')
at('curve-empty', 'curve', C, {'speeds': DELETE, 'factors': DELETE}, 'missing_field', ('/speeds', '/factors'))
for field in ('speeds', 'factors'):
    at(f'curve-without-{field}', 'curve', f'{C}/{field}', DELETE, 'missing_field')
    at(f'curve-{field}-null', 'curve', f'{C}/{field}', NULL, 'wrong_type')
    at(f'curve-{field}-word', 'curve', f'{C}/{field}', 'fast', 'wrong_type')
    at(f'curve-{field}-number', 'curve', f'{C}/{field}', 1)
    at(f'curve-{field}-rows', 'curve', f'{C}/{field}', [[0, 0.1, 0.4]] * 3, 'wrong_shape')
    at(f'curve-{field}-with-a-word', 'curve', f'{C}/{field}', [0, '0.1', 0.4], 'wrong_type', '/1')
at('curve-unknown-field', 'curve', f'{C}/speed', [0, 1], 'unknown_field')
at('curve-more-factors', 'curve', f'{C}/factors', [1, 0.7, 0.5, 0.4], 'wrong_shape')
at('curve-fewer-factors', 'curve', f'{C}/factors', [1, 0.7], 'wrong_shape')
at('curve-of-one-point', 'curve', C, {'speeds': [0], 'factors': [1]}, 'wrong_shape', '/speeds')
at('curve-of-no-point', 'curve', C, {'speeds': [], 'factors': []}, 'wrong_shape', '/speeds')
at('curve-of-4097-points', 'curve', C, {'speeds': list(range(4097)), 'factors': [1] * 4097}, 'wrong_shape', '/speeds')
at('curve-from-another-speed', 'curve', f'{C}/speeds', [0.05, 0.1, 0.4], 'out_of_range', '/0')
at('curve-from-a-negative-speed', 'curve', f'{C}/speeds', [-0.05, 0.1, 0.4], 'out_of_range', '/0')
at('curve-with-a-speed-twice', 'curve', f'{C}/speeds', [0, 0.1, 0.1], 'out_of_range', '/2')
at('curve-with-zero-twice', 'curve', f'{C}/speeds', [0, 0, 0.1], 'out_of_range', '/1')
at('curve-with-speeds-that-descend', 'curve', f'{C}/speeds', [0, 0.2, 0.1], 'out_of_range', '/2')
at('curve-from-another-factor', 'curve', f'{C}/factors', [0.9, 0.7, 0.5], 'out_of_range', '/0')
at('curve-from-factor-zero', 'curve', f'{C}/factors', [0, 0.7, 0.5], 'out_of_range', '/0')
at('curve-with-a-negative-factor', 'curve', f'{C}/factors', [1, 0.7, -0.1], 'out_of_range', '/2')
at('curve-of-a-group', 'curve', f'{PV}/curve', CURVE, 'unknown_field')

# --- laws of one coefficient ------------------------------------------------------------------------------------------

for base in ('curve', 'adhesion'):
    refuse(f'{base}-two-coefficients', base, friction(mu=DELETE, mu_s=0.5, mu_k=0.4), '/friction/mu_k')
    refuse(f'{base}-coefficients-that-differ-in-the-last-bit', base, friction(mu=DELETE, mu_s=0.1, mu_k=0.1 + 2**-56),
           '/friction/mu_k')
    refuse(f'{base}-two-of-a-group', base, put(PV, {'mu_s': [0.5, 0.5], 'mu_k': [0.5, 0.4]}), f'{PV}/mu_k/1')
    refuse(f'{base}-two-of-a-group-one-for-all', base, put(PV, {'mu_s': [0.5, 0.5], 'mu_k': 0.4}), f'{PV}/mu_k')
    refuse(f'{base}-two-of-a-vertex', base, friction(mu=DELETE, vertex_mu_s=[0.1, 0.2, 0.3], vertex_mu_k=[0.1, 0.2, 0.4]),
           '/friction/vertex_mu_k/2')
    refuse(f'{base}-two-tables', base, friction(mu=DELETE, materials={
        'vertex_material': [0, 1, 0], 'plane_material': 0, 'mu_s': [[0.5, 0.4], [0.4, 0.3]], 'mu_k': [[0.5, 0.4], [0.4, 0.2]]}),
        ('/friction/materials/mu_k/1/1', '/friction/materials/mu_k/1', '/friction/materials/mu_k/3'))
    refuse(f'{base}-two-ellipses', base, put(PV, {'mu_s_aniso': [[0.5, 0.4]] * 2, 'mu_k_aniso': [[0.5, 0.4], [0.5, 0.3]]}),
           (f'{PV}/mu_k_aniso/1/1', f'{PV}/mu_k_aniso/1'))
refuse('curve-two-of-bodies', 'bodies-curve', put(BB, {'mu_s': [0.5, 0.5], 'mu_k': [0.4, 0.5]}), f'{BB}/mu_k/0')

# --- offsets and grain ------------------------------------------------------------------------------------------------

for field in ('surface_velocity', 'anchor'):
    for base, group in (('smooth', VV), ('smooth', PV), ('bodies', BB), ('bodies', BW)):
        kind = group.rpartition('/')[2]
        at(f'{field}-of-{kind}-number', base, f'{group}/{field}', 1)
        at(f'{field}-of-{kind}-word', base, f'{group}/{field}', 'still', 'wrong_type')
        at(f'{field}-of-{kind}-null', base, f'{group}/{field}', NULL, 'wrong_type')
        at(f'{field}-of-{kind}-two-columns', base, f'{group}/{field}', [[1, 2], [3, 4]], 'wrong_shape')
        at(f'{field}-of-{kind}-three-rows', base, f'{group}/{field}', [[1, 2, 3]] * 3, 'wrong_shape')
        at(f'{field}-of-{kind}-ragged', base, f'{group}/{field}', [[1, 2, 3], [4, 5]], 'wrong_shape', ('', '/1'))
        at(f'{field}-of-{kind}-with-a-null', base, f'{group}/{field}', [[1, 2, 3], [4, NULL, 6]], 'wrong_type', ('/1/1', '/1'))
    at(f'{field}-three-columns-in-2d', 'flat', f'{PV}/{field}', [[1, 2, 3]] * 2, 'wrong_shape')
    at(f'{field}-of-bodies-three-columns-in-2d', 'bodies-flat', f'{BB}/{field}', [[1, 2, 3]] * 2, 'wrong_shape')
    at(f'{field}-at-the-top', 'smooth', f'/{field}', [0, 0, 0], 'unknown_field')
    at(f'{field}-in-friction', 'smooth', f'/friction/{field}', [0, 0, 0], 'unknown_field')
for base, group in (('smooth', VV), ('smooth', PV), ('bodies', BB), ('bodies', BW)):
    kind = group.rpartition('/')[2]
    at(f'grain-of-{kind}-zero', base, f'{group}/grain', [0, 0, 0], 'zero_grain')
    at(f'grain-of-{kind}-zero-row', base, f'{group}/grain', [[1, 1, 1], [0, 0, 0]], 'zero_grain', '/1')
    at(f'grain-of-{kind}-two-columns', base, f'{group}/grain', [[1, 2], [3, 4]], 'wrong_shape')
    at(f'grain-of-{kind}-three-rows', base, f'{group}/grain', [[1, 2, 3]] * 3, 'wrong_shape')
    at(f'grain-of-{kind}-word', base, f'{group}/grain', 'x', 'wrong_type')
    refuse(f'grain-of-{kind}-with-tangent-basis', base, put(group, {
        'grain': [1, 1, 1], 'tangent_basis': [[1, 0], [0, 1], [0, 0]], 'normal_force': 1}),
        (f'{group}/grain', f'{group}/tangent_basis'))
at('grain-in-2d', 'flat', f'{PV}/grain', [1, 1], 'wrong_dimension')
at('grain-of-three-in-2d', 'flat', f'{VV}/grain', [1, 1, 1], 'wrong_dimension')
at('grain-of-bodies-in-2d', 'bodies-flat', f'{BW}/grain', [1, 1], 'wrong_dimension')
refuse('grain-along-the-plane-normal', 'smooth', put(PV, {'grain': [[1, 1, 1], [0, 0, -3]]}), f'{PV}/vertices/1',
       'grain_along_normal')
refuse('grain-nearly-along-the-plane-normal', 'smooth', put(PV, {'grain': [[1, 1, 1], [1e-13, 0, 1]]}), f'{PV}/vertices/1',
       'grain_along_normal')
refuse('grain-along-the-difference', 'smooth', put(VV, {'grain': [2, 0, 1]}), f'{VV}/vertices/0', 'grain_along_normal')
refuse('grain-along-the-normal-of-bodies', 'bodies', put(BW, {'grain': [[0, 5, 0], [1, 0, 0]]}), f'{BW}/bodies/0',
       'grain_along_normal')
refuse('grain-along-the-normal-of-a-pair', 'bodies', put(BB, {'grain': [[0, 0, 5], [-2, -4, 0]]}), f'{BB}/bodies/1',
       'grain_along_normal')

# --- bodies -----------------------------------------------------------------------------------------------------------

at('no-body-positions', 'bodies', '/body_positions', DELETE, 'missing_field')
at('no-body-velocities', 'bodies', '/body_velocities', DELETE, 'missing_field')
refuse('bodies-nowhere', 'smooth', {'collisions': bodies(SMOOTH)['collisions']}, ('/body_positions', '/body_velocities'),
       'missing_field')
refuse('velocities-of-no-body', 'smooth', {'body_velocities': [[0] * 6]}, ('/body_velocities', '/body_positions'))
at('body-positions-two-columns', 'bodies', '/body_positions', [[0, 0], [1, 1]], 'wrong_shape')
at('body-positions-flat-odd', 'bodies', '/body_positions', [0, 0, 0, 1, 1], 'wrong_shape')
at('body-positions-word', 'bodies', '/body_positions', 'here', 'wrong_type')
at('body-positions-null', 'bodies', '/body_positions', NULL, 'wrong_type')
at('body-positions-ragged', 'bodies', '/body_positions', [[0, 0, 0], [1, 1]], 'wrong_shape', ('', '/1'))
for field in ('body_velocities', 'lagged_body_velocities'):
    at(f'{field}-of-one-body', 'bodies', f'/{field}', [[0] * 6], 'wrong_shape')
    at(f'{field}-three-columns', 'bodies', f'/{field}', [[0] * 3] * 2, 'wrong_shape')
    at(f'{field}-six-columns-in-2d', 'bodies-flat', f'/{field}', [[0] * 6] * 2, 'wrong_shape')
    at(f'{field}-number', 'bodies', f'/{field}', 0)
    at(f'{field}-null', 'bodies', f'/{field}', NULL, 'wrong_type')
    at(f'{field}-with-a-word', 'bodies', f'/{field}', [[0] * 6, [0, 0, 'x', 0, 0, 0]], 'wrong_type', ('/1/2', '/1'))
refuse('lagged-velocities-of-no-body', 'smooth', {'lagged_body_velocities': [[0] * 6]},
       ('/lagged_body_velocities', '/body_positions', '/body_velocities'))
at('lagged-velocities-of-no-vertex', 'bodies', '/lagged_velocities', [[0, 0, 0]])
for group, pair in ((BB, True), (BW, False)):
    kind = group.rpartition('/')[2]

    def ids(a, b, pair=pair):
        return [[0, 1], [a, b]] if pair else [0, a]
    last = '/1/0' if pair else '/1'
    at(f'{kind}-without-bodies', 'bodies', f'{group}/bodies', DELETE, 'missing_field')
    at(f'{kind}-number', 'bodies', group, 3, 'wrong_type')
    at(f'{kind}-of-a-body-that-is-not-there', 'bodies', f'{group}/bodies', ids(2, 1), 'index_out_of_range', last)
    at(f'{kind}-of-body-minus-one', 'bodies', f'{group}/bodies', ids(-1, 1), 'index_out_of_range', last)
    at(f'{kind}-of-body-2e9', 'bodies', f'{group}/bodies', ids(2000000000, 1), 'index_out_of_range', last)
    at(f'{kind}-of-a-fraction-of-a-body', 'bodies', f'{group}/bodies', ids(0.5, 1), None, (last, ''))
    at(f'{kind}-of-a-body-as-real', 'bodies', f'{group}/bodies', ids(1.0, 0), None, (last, ''))
    at(f'{kind}-of-a-word', 'bodies', f'{group}/bodies', 'all', 'wrong_type')
    at(f'{kind}-null', 'bodies', f'{group}/bodies', NULL, 'wrong_type')
    at(f'{kind}-of-triples', 'bodies', f'{group}/bodies', [[0, 1, 0], [1, 0, 1]], 'wrong_shape')
    for field in ('point', 'normal', 'normal_force'):
        at(f'{kind}-without-{field}', 'bodies', f'{group}/{field}', DELETE, 'missing_field')
        at(f'{kind}-{field}-word', 'bodies', f'{group}/{field}', 'there', 'wrong_type')
        at(f'{kind}-{field}-null', 'bodies', f'{group}/{field}', NULL, 'wrong_type')
        at(f'{kind}-{field}-four-rows', 'bodies', f'{group}/{field}', [[1, 2, 3]] * 4, 'wrong_shape')
        at(f'{kind}-{field}-two-columns', 'bodies', f'{group}/{field}', [[1, 2], [1, 2]], 'wrong_shape')
    refuse(f'{kind}-normal-force-from-a-barrier', 'mixed', put(f'{group}/normal_force', DELETE), f'{group}/normal_force',
           'missing_field')
    at(f'{kind}-normal-zero', 'bodies', f'{group}/normal', [0, 0, 0], 'zero_normal')
    at(f'{kind}-normal-zero-row', 'bodies', f'{group}/normal', [[0, 0, 1], [0, 0, 0]], 'zero_normal', '/1')
    at(f'{kind}-normal-zero-in-2d', 'bodies-flat', f'{group}/normal', [0, 0], 'zero_normal')
    refuse(f'{kind}-normal-zero-with-skip', 'bodies', {'on_degenerate': 'skip', **put(f'{group}/normal', [0, 0, 0])},
           f'{group}/normal', 'zero_normal')
    at(f'{kind}-normal-force-negative', 'bodies', f'{group}/normal_force', [1, -1], 'out_of_range', '/1')
    for field in ('spin_radius', 'roll_radius'):
        at(f'{kind}-{field}-negative', 'bodies', f'{group}/{field}', [0.1, -0.1], 'out_of_range', '/1')
        at(f'{kind}-{field}-negative-one-for-all', 'bodies', f'{group}/{field}', -0.1, 'out_of_range')
        at(f'{kind}-{field}-of-three', 'bodies', f'{group}/{field}', [1, 2, 3], 'wrong_shape')
        at(f'{kind}-{field}-word', 'bodies', f'{group}/{field}', 'R', 'wrong_type')
        at(f'{kind}-{field}-null', 'bodies', f'{group}/{field}', NULL, 'wrong_type')
    at(f'{kind}-spin-radius-in-2d', 'bodies-flat', f'{group}/spin_radius', [0.1, 0.1], 'wrong_dimension')
    at(f'{kind}-spin-radius-zero-in-2d', 'bodies-flat', f'{group}/spin_radius', 0, 'wrong_dimension')
    at(f'{kind}-ellipse-in-2d', 'bodies-flat', f'{group}/mu_s_aniso', [0.1, 0.2], 'wrong_dimension')
    for field, value in (('vertices', [[0, 1]]), ('closest_point', [0.5, 0.5]), ('plane_normal', [0, 0, 1]),
                         ('plane_origin', [0, 0, 1])):
        at(f'{kind}-with-{field}', 'bodies', f'{group}/{field}', value, 'unknown_field')
    at(f'{kind}-tangent-basis-transposed', 'bodies', f'{group}/tangent_basis', [[[1, 0, 0], [0, 1, 0]]] * 2, 'wrong_shape')
    at(f'{kind}-mu-aniso-zero', 'bodies', f'{group}/mu_aniso', [[1, 1], [0, 1]], 'out_of_range', ('/1/0', '/1'))
    at(f'{kind}-eps-zero', 'bodies', f'{group}/eps_v', [1, 0], 'out_of_range', '/1')
    refuse(f'{kind}-mu-k-alone', 'bodies', put(f'{group}/mu_k', [1, 0]), (f'{group}/mu_k', f'{group}/mu_s'))
refuse('same-body-twice', 'bodies', put(f'{BB}/bodies', [[0, 1], [1, 1]]), (f'{BB}/bodies/1', f'{BB}/bodies/1/1'))
refuse('same-body-twice-flat', 'bodies', put(f'{BB}/bodies', [0, 1, 0, 0]),
       (f'{BB}/bodies/1', f'{BB}/bodies/1/1', f'{BB}/bodies/3', f'{BB}/bodies/2'))
refuse('same-body-twice-with-skip', 'bodies', {'on_degenerate': 'skip', **put(f'{BB}/bodies', [[0, 0], [0, 1]])},
       (f'{BB}/bodies/0', f'{BB}/bodies/0/1'))
for field, value in (('bodies', [0, 1]), ('point', [0, 0, 1]), ('normal', [0, 0, 1]), ('spin_radius', 1), ('roll_radius', 1)):
    for group in (VV, PV):
        at(f'{group.rpartition("/")[2]}-with-{field}', 'smooth', f'{group}/{field}', value, 'unknown_field')
refuse('bodies-with-coefficients-of-vertices-alone', 'mixed', friction(
    mu_s=DELETE, mu_k=DELETE, vertex_mu_s=[0.1, 0.2, 0.3], vertex_mu_k=[0.1, 0.2, 0.3]),
    (f'{BB}/mu', f'{BW}/mu', '/friction/mu', '/friction/vertex_mu_s', '/friction/vertex_mu', BB, BW))
refuse('bodies-without-coefficients', 'bodies', friction(mu_s=DELETE, mu_k=DELETE), '/friction/mu', 'missing_field')
refuse('bodies-without-eps', 'bodies', friction(eps_v=DELETE), '/friction/eps_v', 'missing_field')
for base in ('bodies-table', 'mixed-table'):
    at(f'no-body-material-{base}', base, '/friction/materials/body_material', DELETE, 'missing_field')
    at(f'no-plane-material-{base}', base, '/friction/materials/plane_material', DELETE, 'missing_field')
    at(f'body-material-of-three-{base}', base, '/friction/materials/body_material', [0, 1, 0], 'wrong_shape')
    at(f'body-material-unknown-{base}', base, '/friction/materials/body_material', [0, 2], 'index_out_of_range', '/1')
    at(f'body-material-negative-{base}', base, '/friction/materials/body_material', [-1, 0], 'index_out_of_range', '/0')
    at(f'body-material-real-{base}', base, '/friction/materials/body_material', [0.0, 1.5], None, ('', '/0', '/1'))
    at(f'body-material-word-{base}', base, '/friction/materials/body_material', 'steel', 'wrong_type')
    at(f'body-material-number-{base}', base, '/friction/materials/body_material', 1)
at('no-vertex-material-beside-bodies', 'mixed-table', '/friction/materials/vertex_material', DELETE, 'missing_field')
for triangle in (None, 'full', 'upper'):
    hessian = {'format': 'bsr', **({'triangle': triangle} if triangle else {})}
    for base in ('bodies', 'mixed', 'bodies-flat'):
        refuse(f'bsr-{triangle or "plain"}-with-{base}', base, {'hessian': hessian}, '/hessian/format')

# --- queries about bodies ---------------------------------------------------------------------------------------------

ALONG, STEPS = {'outputs': ['line']}, {'steps': [0, 1]}
refuse('line-without-directions', 'mixed', {**ALONG, 'line': STEPS}, ('/line/direction', '/line/body_direction'),
       'missing_field')
refuse('line-without-direction', 'mixed', {**ALONG, 'line': {**STEPS, 'body_direction': [[1] * 6] * 2}}, '/line/direction',
       'missing_field')
refuse('line-without-body-direction', 'mixed', {**ALONG, 'line': {**STEPS, 'direction': [[1] * 3] * 3}}, '/line/body_direction',
       'missing_field')
refuse('line-of-bodies-without-direction', 'bodies', {**ALONG, 'line': STEPS}, '/line/body_direction', 'missing_field')
refuse('body-direction-of-one', 'bodies', {**ALONG, 'line': {**STEPS, 'body_direction': [[1] * 6]}}, '/line/body_direction',
       'wrong_shape')
refuse('body-direction-three-columns', 'bodies', {**ALONG, 'line': {**STEPS, 'body_direction': [[1] * 3] * 2}},
       '/line/body_direction', 'wrong_shape')
refuse('body-direction-word', 'bodies', {**ALONG, 'line': {**STEPS, 'body_direction': 'on'}}, '/line/body_direction', 'wrong_type')
refuse('body-direction-without-bodies', 'smooth', {**ALONG, 'line': {
    **STEPS, 'direction': [[1] * 3] * 3, 'body_direction': [[1] * 6]}}, '/line/body_direction')
for base, wrong in (('bodies', 6), ('mixed', 9), ('mixed', 12), ('bodies-flat', 12)):
    refuse(f'vectors-of-{wrong}-for-{base}', base, {'outputs': ['hessian_products'], 'vectors': [[1] * wrong]}, '/vectors',
           'wrong_shape')

# --- barriers ---------------------------------------------------------------------------------------------------------

for field in ('type', 'scaling'):
    at(f'barrier-{field}-unknown', 'smooth', f'/barrier/{field}', 'quartic', 'unknown_word')
    at(f'barrier-{field}-empty', 'smooth', f'/barrier/{field}', '', 'unknown_word')
    at(f'barrier-{field}-number', 'smooth', f'/barrier/{field}', 2, 'wrong_type')
    at(f'barrier-{field}-null', 'smooth', f'/barrier/{field}', NULL, 'wrong_type')
    at(f'barrier-{field}-true', 'smooth', f'/barrier/{field}', True, 'wrong_type')
    at(f'barrier-{field}-list', 'smooth', f'/barrier/{field}', ['none'], 'wrong_type')
    at(f'barrier-{field}-in-friction', 'smooth', f'/friction/{field}', 'none', 'unknown_field')
at('barrier-type-that-is-a-scaling', 'smooth', '/barrier/type', 'physical', 'unknown_word')
at('barrier-scaling-that-is-a-type', 'smooth', '/barrier/scaling', 'cubic', 'unknown_word')
for kind in ('normalized_clamped_log', 'clamped_log_squared', 'cubic', 'two_stage'):
    refuse(f'penetration-{kind}', 'smooth', {'barrier': {'type': kind, 'dmin': 1.0625}}, f'{VV}/vertices/1', 'penetration')
at('output-of-no-name', 'bodies', '/collision_outputs', ['spin', 'roll'], 'unknown_word', '/1')
at('output-friction-force-misspelt', 'smooth', '/collision_outputs', ['frictional_force'], 'unknown_word', '/0')


# --- the tests --------------------------------------------------------------------------------------------------------

def replace_nulls(value):
    if value is NULL:
        return None
    if isinstance(value, dict):
        return {k: replace_nulls(v) for k, v in value.items()}
    return [replace_nulls(v) for v in value] if isinstance(value, list) else value


def send(server, request, kind):
    client = sets.Client(server)
    try:
        return client.send('POST', '/v1/evaluate', request, kind)
    finally:
        client.close()


@pytest.mark.parametrize('name', GOOD)
def test_good_requests_are_accepted(server, name):
    answer = send(server, GOOD[name], JSON)
    assert answer.status == 200, answer
    assert set(answer.json) == set(oracle.evaluate(GOOD[name]))


@pytest.mark.parametrize('kind', [JSON, FRAME], ids=['json', 'frame'])
@pytest.mark.parametrize('base,patch,pointer,code', REFUSED)
def test_refused(server, base, patch, pointer, code, kind):
    request = replace_nulls(sets.merge(copy.deepcopy(GOOD[base]), patch))
    answer = send(server, request, kind)
    assert answer.status == 422, answer
    if code == 'not_an_integer' and kind == FRAME:
        code = 'wrong_type'  # refers to the whole array
    assert code is None or answer.json['code'] == code, answer
    assert answer.pointers and answer.pointers[0] in culprits(pointer), answer
    assert all(leads_somewhere(request, p) for p in answer.pointers), answer


def test_every_new_field_is_here():
    text = repr([(p.values[1], p.values[2]) for p in REFUSED])
    for field in ('law', 'stribeck_speed', 'curve', 'speeds', 'factors', 'viscous', 'surface_velocity', 'anchor', 'grain',
                  'body_positions', 'body_velocities', 'lagged_body_velocities', 'body_material', 'bodies', 'point', 'normal',
                  'spin_radius', 'roll_radius', 'body_direction', 'type', 'scaling'):
        assert f"'{field}'" in text or f'/{field}' in text, field
    assert find({'a': [1]}, '/a/0') == (True, 1) and len({p.id for p in REFUSED}) == len(REFUSED) > 250


# --- unusual but valid ------------------------------------------------------------------------------------------------

ACCEPTED = {
    'zero-viscosity': ('smooth', friction(viscous=0)), 'smooth-named': ('smooth', friction(law='smooth', mu_transition='peak')),
    'stribeck-equal-coefficients': ('stribeck', friction(mu_k=0.5)), 'stribeck-mu-k-above': ('stribeck', friction(mu_k=0.9)),
    'stribeck-speeds-of-groups-alone': ('stribeck', {'friction': {'stribeck_speed': DELETE}, 'collisions': {
        'vertex_vertex': {'stribeck_speed': [1, 2]}, 'plane_vertex': {'stribeck_speed': 1}}}),
    'curve-of-two-points': ('curve', put(C, {'speeds': [0, 1], 'factors': [1, 0]})),
    'curve-of-4096-points': ('curve', put(C, {'speeds': list(range(4096)), 'factors': [1] * 4096})),
    'curve-two-equal-coefficients': ('curve', friction(mu=DELETE, mu_s=0.5, mu_k=0.5)),
    'adhesion-equal-ellipses': ('adhesion', put(PV, {'mu_s_aniso': [0.5, 0.4], 'mu_k_aniso': [[0.5, 0.4]] * 2})),
    'no-bodies': ('smooth', {'body_positions': [], 'body_velocities': []}),
    'empty-groups': ('bodies', put(BB, {'bodies': [], 'point': [], 'normal': [], 'normal_force': []})),
    'bodies-and-empty-velocities': ('bodies', {'velocities': []}),
    'bodies-without-groups': ('smooth', {'body_positions': [[0, 0, 0]], 'body_velocities': [[0] * 6]}),
    'radii-zero': ('bodies', put(BB, {'spin_radius': 0, 'roll_radius': [0, 0]})),
    'own-coefficients-beside-those-of-vertices': ('mixed', {'friction': {
        'mu_s': DELETE, 'mu_k': DELETE, 'vertex_mu': [0.1, 0.2, 0.3]}, 'collisions': {
            'body_body': {'mu': 0.5}, 'body_world': {'mu': [0.5, 0.25]}}}),
    'outputs-that-vertices-do-not-have': ('smooth', {'outputs': ['collisions'], 'collision_outputs': ['spin', 'rolling']}),
    'outputs-that-bodies-do-not-have': ('bodies', {'outputs': ['collisions'],
                                                   'collision_outputs': ['closest_point', 'distance', 'status']}),
    'spin-in-2d': ('bodies-flat', {'outputs': ['collisions'], 'collision_outputs': ['spin', 'rolling']}),
    'grain-along-normal-skipped': ('smooth', {'on_degenerate': 'skip', **put(PV, {'grain': [[1, 1, 1], [0, 0, -3]]})}),
    'line-of-bodies': ('bodies', {**ALONG, 'line': {**STEPS, 'body_direction': [[1] * 6] * 2}}),
    'csr-with-bodies': ('mixed', {'hessian': {'format': 'csr', 'triangle': 'lower'}}),
    'bsr-without-bodies': ('curve', {'hessian': {'format': 'bsr'}}),
    'types-and-scalings': ('smooth', {'barrier': {'type': 'two_stage', 'scaling': 'physical'}}),
    'barrier-that-is-not-needed': ('bodies', {'barrier': {'dhat': 1, 'stiffness': 1, 'type': 'cubic', 'scaling': 'none'}}),
}


@pytest.mark.parametrize('kind', [JSON, FRAME], ids=['json', 'frame'])
@pytest.mark.parametrize('name', ACCEPTED)
def test_accepted(server, name, kind):
    base, patch = ACCEPTED[name]
    request = sets.merge(copy.deepcopy(GOOD[base]), patch)
    answer = send(server, request, kind)
    assert answer.status == 200, answer
    got, expected = sets.unframe(answer.body) if kind == FRAME else answer.json, oracle.evaluate(request)
    assert set(got) == set(expected)
    assert got.get('skipped') == expected.get('skipped')
    for group, fields in expected.get('collisions', {}).items():
        assert set(got['collisions'][group]) == set(fields)
