"""Tests of the oracle's contacts of meshes: by hand, by symmetry, and merged beside unmerged; and of its generator."""
import copy
import os
import random
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import generate_meshes as made  # noqa: E402
import meshes  # noqa: E402
import oracle  # noqa: E402
from stencils import GROUPS, STENCIL, rows  # noqa: E402

SHARE = int(os.environ.get('SHARE', 1))
SEEDS = range(3 if SHARE > 1 else 40)


def answer(request):
    return meshes.Finding(request).answer()


def listed(fields, group):
    """{(stencil, plane): (weight, mollifier)}; the row of a face in any order."""
    planes = [tuple(map(tuple, p)) for p in zip(fields.get('plane_normal', []), fields.get('plane_origin', []))]
    stencils = rows(fields['vertices'], STENCIL[group])
    if group == 'face_vertex':
        stencils = [(v[0], *sorted(v[1:])) for v in stencils]
    n = len(stencils)
    return sorted(zip(stencils, planes or [()] * n, fields['weight'], fields.get('mollifier', [0] * n)))


def contacts(found):
    return {group: listed(fields, group) for group, fields in found['collisions'].items()}


def asked(seed, **changes):
    out = {k: v for k, v in made.request(seed).items() if k != 'previous'}
    return {**out, 'outputs': ['collisions', 'distances'], **changes}


def in_rows(request):
    request['positions'] = [list(p) for p in rows(request['positions'], request['dim'])]
    return request


# --- by hand ----------------------------------------------------------------------------------------------------

def test_a_triangle_over_another():
    """Its first corner over the inside, the others outside."""
    positions = [[0, 0, 0], [4, 0, 0], [0, 4, 0], [1, 1, 1], [5, 1, 1], [1, 5, 1]]
    request = {'dim': 3, 'positions': positions, 'distance': 1.25,
               'mesh': {'faces': [[2, 0, 1], [3, 4, 5]]}, 'outputs': ['collisions', 'distances']}
    found = answer(request)
    got = {name: fields['vertices'] for name, fields in found['collisions'].items()}
    # 0-1 is parallel to 3-4 and 0-2 to 3-5, at a distance of sqrt(2): too far. 1-2 crosses 3-4 and 3-5.
    assert got == {'vertex_vertex': [], 'edge_vertex': [], 'plane_vertex': [], 'face_vertex': [[3, 2, 0, 1]],
                   'edge_edge': [[1, 2, 3, 4], [1, 2, 3, 5]]}
    assert found['distances']['edge_edge'] == [1, 1] and found['min_distance'] == 1 and found['n_collisions'] == 3
    assert found['collisions']['edge_edge']['mollifier'] == [0, 0]
    assert answer({**request, 'distance': 1})['n_collisions'] == 0


def test_a_corner_over_a_fan():
    """A vertex over the common corner of four triangles: one contact that counts for all."""
    positions = [[0, 0, 0], [2, 0, 0], [0, 2, 0], [-2, 0, 0], [0, -2, 0], [0, 0, 1]]
    request = {'dim': 3, 'positions': positions, 'distance': 1.25,
               'mesh': {'faces': [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]], 'vertices': [5]}}
    found = answer(request)
    assert found['collisions']['vertex_vertex'] == {'vertices': [[0, 5]], 'weight': [4]}
    assert found['n_collisions'] == 1
    unmerged = answer({**request, 'merge': False})
    assert unmerged['collisions']['face_vertex'] == {'vertices': [[5, *f] for f in request['mesh']['faces']],
                                                     'weight': [1] * 4}
    assert answer({**request, 'distance': 1})['n_collisions'] == 0


def test_weights_by_area():
    """Two squares of side 2 over each other, halved along the same diagonal."""
    square = [[0, 0], [2, 0], [2, 2], [0, 2]]
    positions = [[*p, z] for z in (0, 1) for p in square]
    faces = [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]]
    found = meshes.Finding({'dim': 3, 'positions': positions, 'distance': 1.1, 'weighting': 'area', 'merge': False,
                            'mesh': {'faces': faces}})
    weights = {c.vertices: c.weight for c in found.contacts['edge_edge'] + found.contacts['face_vertex']}
    assert abs(weights[0, 1, 4, 5] - (2 / 3 + 2 / 3) / 4) < 1e-15  # sides belong to one triangle of area 2,
    assert abs(weights[0, 2, 4, 6] - (4 / 3 + 4 / 3) / 4) < 1e-15  # diagonals to two
    assert abs(weights[5, 0, 1, 2] - 2 / 3 / 4) < 1e-15 and abs(weights[4, 0, 1, 2] - 4 / 3 / 4) < 1e-15
    edges = answer({'dim': 2, 'positions': [[0, 0], [3, 4], [5, 4], [3, 5]], 'distance': 1.5, 'weighting': 'area',
                    'mesh': {'edges': [[0, 1], [1, 2], [3, 2]], 'planes': {'normal': [[0, 2]], 'origin': [[0, -1]]}}})
    assert edges['collisions']['plane_vertex'] == {'vertices': [0], 'weight': [2.5], 'plane_normal': [[0, 2]],
                                                   'plane_origin': [[0, -1]]}
    assert edges['collisions']['edge_vertex'] == {'vertices': [[1, 2, 3]], 'weight': [(5 + 2) / 4]}
    assert edges['collisions']['vertex_vertex'] == {'vertices': [[1, 3]], 'weight': [5 ** 0.5 / 2]}  # two edges


def test_filters():
    """Two crossed rods; labels, fixed vertices, planes."""
    base = {'dim': 3, 'positions': [[-1, 0, 0], [1, 0, 0], [0, -1, 1], [0, 1, 1]], 'distance': 1.5,
            'mesh': {'edges': [[0, 1], [2, 3]], 'planes': {'normal': [[0, 0, 1]], 'origin': [[0, 0, 0.5]]}}}

    def count(**more):
        return answer({**base, 'mesh': {**base['mesh'], **more}})['n_collisions']
    assert count() == 5
    assert count(body=[0, 0, 1, 1], ignore=[[1, 0]]) == 4
    assert count(body=[0, 0, 1, 2], ignore=[[1, 0]]) == 5  # vertices 0 and 3 may touch
    assert count(body=[0, 0, 0, 0], ignore=[[0, 0]]) == 4
    assert count(fixed=[0, 1, 2]) == 2 and count(fixed=[0, 1, 2, 3]) == 0  # fixed vertices touch no plane
    assert count(fixed=[0, 1]) == 3


def test_mollifiers_belong_to_rest_positions():
    positions = [[0, 0, 0], [8, 0, 0], [0, 0, 1], [8, 0.125, 1]]  # a sine of 1/64: its square is below 1e-3
    request = {'dim': 3, 'positions': positions, 'distance': 1.5, 'mesh': {'edges': [[0, 1], [2, 3]]}}
    area = 8 ** 2 * (8 ** 2 + 0.125 ** 2)
    assert answer(request)['collisions']['edge_edge'] == {'vertices': [[0, 1, 2, 3]], 'weight': [1],
                                                          'mollifier': [pytest.approx(1e-3 * area, rel=1e-15)]}
    small = [[x / 2 for x in p] for p in positions]  # a sixteenth of the product: no longer too parallel
    other = answer({**request, 'mesh': {**request['mesh'], 'rest_positions': small}})['collisions']
    assert other['edge_edge']['vertices'] == [] and other['vertex_vertex']['vertices'] == [[0, 2]]


def test_anchors_by_hand():
    """A vertex slides over two triangles of a floor. It takes over what was nearest, and turns it round."""
    positions = [[0, 0, 0], [4, 0, 0], [4, 4, 0], [0, 4, 0], [3, 1, 1]]
    request = {'dim': 3, 'positions': positions, 'distance': 1.5,
               'mesh': {'faces': [[0, 1, 2], [0, 2, 3]], 'vertices': [4]}}

    def anchors(collisions):
        found = answer({**request, 'previous': {'positions': positions, 'collisions': collisions}})['collisions']
        assert found['face_vertex']['vertices'] == [[4, 0, 1, 2]]
        return found['face_vertex']['anchor']
    far = {'vertices': [[4, 0, 2, 3]], 'anchor': [[1, 2, 3]]}
    assert anchors({}) == [[0, 0, 0]]
    assert anchors({'face_vertex': far}) == [[1, 2, 3]]
    two = [[1, 2, 3], [4, 5, 6]]
    assert anchors({'face_vertex': {'vertices': [[4, 0, 2, 3], [4, 0, 1, 2]], 'anchor': two}}) == [[4, 5, 6]]
    assert anchors({'edge_vertex': {'vertices': [[3, 2, 4], [1, 0, 3]], 'anchor': two}}) == [[0, 0, 0]]
    assert anchors({'edge_edge': {'vertices': [[0, 1, 3, 4]], 'anchor': [[1, 2, 3]]}}) == [[-1, -2, -3]]


# --- properties ---------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('seed', SEEDS)
def test_rows_in_another_order(seed):
    """Faces turned and shuffled, edges and vertices shuffled: the same contacts."""
    request, rng = asked(seed), random.Random(seed)
    other = copy.deepcopy(request)
    for name in ('faces', 'edges', 'vertices', 'ignore', 'fixed'):
        lines = other.get('mesh', {}).get(name, [])
        rng.shuffle(lines)
        for row in lines:
            if isinstance(row, list):
                rng.shuffle(row)
    one, two = answer(request), answer(other)
    assert one['n_collisions'] == two['n_collisions'] and one['min_distance'] == two['min_distance']
    for group in GROUPS[:3] if request['dim'] == 3 else one['collisions']:
        assert collapsed(request) or listed(one['collisions'][group], group) == listed(two['collisions'][group], group)


def collapsed(request):
    """Of faces on a line, edges of equal right are taken in the order of the row."""
    found = meshes.Finding(request)
    return any(not any(meshes.features.cross(*(meshes.features.minus(found.positions[v], found.positions[f[0]])
                                               for v in f[1:]))) for f in (found.mesh.faces if found.mesh else []))


@pytest.mark.parametrize('seed', SEEDS)
def test_moved_scaled_and_mirrored(seed):
    request = in_rows(asked(seed))
    other, old = copy.deepcopy(request), request['positions']
    step = 2.0 ** -3

    def moved(p):
        return [float(8 * step * x) for x in (p[1], -p[0], *p[2:])]
    other['positions'] = [moved(p) for p in old]
    if 'rest_positions' in other.get('mesh', {}):
        other['mesh']['rest_positions'] = [moved(p) for p in rows(other['mesh']['rest_positions'], other['dim'])]
    planes = other.get('mesh', {}).get('planes')
    if planes:
        planes['normal'], planes['origin'] = ([moved(p) for p in planes[k]] for k in ('normal', 'origin'))
    for fields in other.get('candidates', {}).values():
        for name in {'plane_normal', 'plane_origin'} & set(fields):
            found = [moved(p) for p in rows(fields[name], other['dim'])]
            fields[name] = found[0] if len(found) == 1 and not isinstance(fields[name][0], list) else found
    one, two = answer(request), answer(other)
    for fields in (*one['collisions'].values(), *two['collisions'].values()):
        fields.pop('plane_normal', None), fields.pop('plane_origin', None)
    assert one == two


@pytest.mark.parametrize('seed', SEEDS)
def test_renumbered(seed):
    """Vertices between the others: nothing changes but numbers. Any order: the same pairs."""
    request, rng = in_rows(asked(seed, merge=False)), random.Random(seed)
    n = len(request['positions'])
    up = sorted(rng.sample(range(2 * n), n))
    for merge, order in ((True, up), (False, up), (False, rng.sample(range(2 * n), n))):
        other = renumbered(request, order)
        one, two = contacts(answer({**request, 'merge': merge})), contacts(answer({**other, 'merge': merge}))
        for group, old in one.items():
            new = [([order[v] for v in s] if group != 'plane_vertex' else order[s], p, w, m) for s, p, w, m in old]
            assert sorted(same(group, *c) for c in new) == sorted(same(group, *c) for c in two[group])


def same(group, stencil, *rest):
    if group == 'plane_vertex':
        return (stencil, *rest)
    split = {'edge_vertex': 1, 'edge_edge': 2, 'face_vertex': 1, 'vertex_vertex': 1}[group]
    sides = [tuple(sorted(stencil[:split])), tuple(sorted(stencil[split:]))]
    return (tuple(sorted(sides, key=lambda s: (len(s), s))), *rest)


def renumbered(request, order):
    out, n = copy.deepcopy(request), len(order)
    place = {new: old for old, new in enumerate(order)}

    def spread(values, other):
        return [values[place[i]] if i in place else other for i in range(2 * n)]
    out['positions'] = spread(request['positions'], request['positions'][0])
    mesh = out.get('mesh', {})
    for name in ('faces', 'edges'):
        if name in mesh:
            mesh[name] = [[order[v] for v in row] for row in mesh[name]]
    for name in ('vertices', 'fixed'):
        if name in mesh:
            mesh[name] = [order[v] for v in mesh[name]]
    if 'body' in mesh:
        mesh['body'] = spread(mesh['body'], 0)
    if 'rest_positions' in mesh:
        mesh['rest_positions'] = spread(mesh['rest_positions'], [0.0] * request['dim'])
    for group, fields in out.get('candidates', {}).items():
        fields['vertices'] = [[order[v] for v in s] if group != 'plane_vertex' else order[s]
                              for s in fields['vertices']]
    return out


@pytest.mark.parametrize('seed', SEEDS)
def test_merged_weights_are_sums(seed):
    request = asked(seed)
    found, pairs = meshes.Finding({**request, 'merge': True}), meshes.Finding({**request, 'merge': False})
    for group in found.contacts.values():
        assert [(c.plane[0] if c.plane else 0, c.vertices) for c in group] == sorted(
            {(c.plane[0] if c.plane else 0, c.vertices) for c in group})
    total = [sum(c.weight for group in f.contacts.values() for c in group) for f in (found, pairs)]
    assert abs(total[0] - total[1]) <= 1e-40 * total[1]
    assert found.answer()['min_distance'] == pairs.answer()['min_distance']
    far = [c for c in pairs.found if c.parallel]
    assert sum(bool(c.mollifier) for c in found.contacts.get('edge_edge', [])) == len(far)


@pytest.mark.parametrize('seed', range(2 if SHARE > 1 else 12))
def test_merged_energies_are_sums(seed):
    """The oracle of evaluations on both lists: the same potential and gradient."""
    request = in_rows(asked(seed, distance=asked(seed)['distance'] * 1.03125))
    results = []
    for merge in (True, False):
        found = answer({**request, 'merge': merge})
        if not found['n_collisions'] or found['min_distance'] <= request.get('min_distance', 0):
            return
        results.append(oracle.evaluate({
            'dim': request['dim'], 'positions': request['positions'], 'collisions': found['collisions'],
            'terms': ['barrier'], 'closest_features': 'given' if merge else 'search',
            'outputs': ['potential', 'gradient'],
            'barrier': {'dhat': request['distance'], 'dmin': request.get('min_distance', 0), 'stiffness': 1}}))
    merged, unmerged = results
    assert abs(merged['potential'] - unmerged['potential']) <= 1e-14 * abs(unmerged['potential'])
    largest = max(map(abs, unmerged['gradient']))
    assert max(abs(a - b) for a, b in zip(merged['gradient'], unmerged['gradient'])) <= 1e-14 * largest


# --- the generator ------------------------------------------------------------------------------------------------

@pytest.mark.skipif(SHARE > 1, reason='changes only with the generator; SHARE=1 runs it')
def test_every_option_is_generated():
    requests = [made.request(seed) for seed in range(120)]
    words = {w for r in requests for w in (*r, *r.get('mesh', {}), *map(str, r.values()), *r.get('candidates', {}))}
    for word in ('faces', 'edges', 'vertices', 'planes', 'rest_positions', 'body', 'ignore', 'fixed', 'candidates',
                 'min_distance', 'previous', 'area', 'count', 'True', 'False', *GROUPS):
        assert word in words, word
    found = [meshes.Finding(r) for r in requests]
    assert {r['dim'] for r in requests} == {2, 3}
    assert sum(not f.answer()['n_collisions'] for f in found) < 30
    assert any(c.parallel for f in found for c in f.found)
    assert any(not c.square for f in found for c in f.found)  # touching
    bits = {(c.pair.group, c.feature.bits) for f in found for c in f.found}
    assert {('edge_edge', b) for b in (5, 6, 7, 9, 10, 11, 13, 14, 15)} <= bits
    assert {('face_vertex', b) for b in (3, 5, 7, 9, 11, 13, 15)} | {('edge_vertex', b) for b in (3, 5, 7)} <= bits


@pytest.mark.skipif(SHARE > 1, reason='changes only with the generator; SHARE=1 runs it')
def test_distances_are_met_exactly():
    exact = 0
    for seed in range(120):
        request = made.request(seed)
        found = meshes.Finding({**request, 'distance': request['distance'] * 2})
        exact += any(c.square == meshes.Fraction(request['distance']) ** 2 for c in found.found)
    assert exact > 10


def test_faults_spoil_good_requests():
    for start in made.GOOD:
        answer(start())
    for index, (start, _, pointers) in enumerate(made.FAULTS):
        request, _, _ = made.faulty(index)
        assert repr(request) != repr(start()) or start is made.touching
        assert all(p.startswith('/') for p in pointers)
