"""Random collision sets of meshes: what PUT, PATCH and advance find beside brute force, and which anchors they keep.

MESH_SETS: how many (120, or 5 with SHARE); MESH_FIRST: the first seed (0).
"""
import json
import os
import random
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'integration')]
import generate_meshes as made  # noqa: E402
import meshes  # noqa: E402
from client import call, pointers, post  # noqa: E402
from conftest import server  # noqa: E402, F401
from test_meshes_oracle import differences  # noqa: E402

FIRST = int(os.environ.get('MESH_FIRST', 0))
COUNT = int(os.environ.get('MESH_SETS', 5 if int(os.environ.get('SHARE', 1)) > 1 else 120))
SEEDS = range(FIRST, FIRST + COUNT)


class Run:
    """A set and what is known about it."""

    def __init__(self, server, seed):  # noqa: F811
        self.rng, self.path = random.Random(f'sets/{seed}'), f'/v1/sets/mesh-{seed}'
        self.server, scene = server, made.Scene(self.rng)
        self.scene, unit = scene, scene.scale
        self.document = {'dim': scene.dim, 'positions': scene.positions, 'mesh': scene.mesh(), 'on_degenerate': 'skip',
                         'barrier': {'dhat': self.rng.choice([0.75, 1.25, 2.5]) * unit, 'stiffness': 1},
                         'friction': {'mu': 0.5, 'eps_v': 0.25 * unit}, 'anchors': True}
        if self.rng.random() < 0.3:
            self.document['barrier']['dmin'] = 0.125 * unit
        if self.rng.random() < 0.5:
            self.document['margin'] = self.rng.choice([0, 0.5, 3]) * unit
        self.old = {}

    def margin(self):
        return self.document.get('margin', self.document['barrier']['dhat'])

    def finding(self, merge, **more):
        barrier = self.document['barrier']
        return meshes.Finding({'dim': self.scene.dim, 'positions': self.document['positions'],
                               'mesh': self.document['mesh'], 'merge': merge,
                               'distance': barrier['dhat'] + (0 if merge else self.margin()),
                               'min_distance': barrier.get('dmin', 0), **more})

    def judge(self):
        """Both lists. Returns the neighbour list."""
        finding = self.finding(False, previous={'positions': self.document['positions'], 'collisions': self.old})
        assert self.finding(True).unsafe() is None
        status, got = call(self.server, 'GET', f'{self.path}/contacts?merge=false')
        assert status == 200, got
        assert list(differences(got, finding.answer(), finding)) == []
        merged = self.finding(True)
        status, answer = call(self.server, 'GET', f'{self.path}/contacts')
        assert status == 200, answer
        assert list(differences(answer, merged.answer(), merged)) == []
        status, description = call(self.server, 'GET', self.path)
        assert description['n_collisions'] == got['n_collisions'] and description['margin'] == self.margin()
        assert description['min_distance'] == got['min_distance']
        return got['collisions']

    def velocities(self):
        speed = self.document['friction']['eps_v'] * 10 ** self.rng.uniform(-2, 1)
        return [[self.rng.gauss(0, speed) for _ in p] for p in self.document['positions']]

    def moved(self):
        step = self.rng.choice([0, 0.25, 1, 3]) * self.scene.scale
        return [[x + step * self.rng.randrange(-1, 2) for x in p] for p in self.document['positions']]


@pytest.mark.parametrize('seed', SEEDS)
def test_steps(server, tmp_path, seed):  # noqa: F811
    run = Run(server, seed)
    (tmp_path / 'document.json').write_text(json.dumps(run.document))
    status, answer = call(server, 'PUT', run.path, run.document)
    assert status == 201, answer
    try:
        contacts = run.judge()
        for _ in range(3):
            contacts = step(run, contacts)
    finally:
        assert call(server, 'DELETE', run.path)[0] == 204


def step(run, contacts):
    velocities, positions = run.velocities(), run.moved()
    asked = {'velocities': velocities, 'outputs': ['potential', 'gradient', 'collisions'],
             'collision_outputs': ['anchor', 'status', 'normal_force']}
    status, answer = post(run.server, f'{run.path}/evaluate', asked)
    assert status == 200, answer
    whole = {k: v for k, v in run.document.items() if k not in ('mesh', 'margin', 'anchors')}
    whole |= {'collisions': contacts, 'closest_features': 'search'}
    status, same = post(run.server, '/v1/evaluate', {**whole, **asked})
    assert status == 200 and same == answer, (same, answer)
    stencils = {name: {k: v for k, v in fields.items() if k in ('vertices', 'plane_normal', 'plane_origin', 'anchor')}
                for name, fields in contacts.items()}
    if run.rng.random() < 0.7:
        status, answer = post(run.server, f'{run.path}/advance', {'velocities': velocities, 'positions': positions})
        if status == 200:
            for name, fields in stencils.items():
                fields['anchor'] = same['collisions'][name]['anchor']
    else:
        status, answer = call(run.server, 'PATCH', run.path, {'positions': positions})
    assert status == 200, answer
    run.old, run.document['positions'] = stencils, positions
    return run.judge()


@pytest.mark.parametrize('seed', SEEDS[::2])
def test_moved_too_far(server, seed):  # noqa: F811
    """A question may move vertices of the mesh by half of the margin."""
    run = Run(server, seed)
    assert call(server, 'PUT', run.path, run.document)[0] == 201
    mesh = meshes.Mesh(run.document['mesh'], run.scene.dim, run.finding(False).positions)
    try:
        for _ in range(6):
            factor = run.rng.choice([0, 0.25, 0.5, 0.5, 0.5625, 1, 4]) * run.margin()
            moves = [[0.0] * run.scene.dim for _ in run.scene.positions]
            for v in run.rng.sample(range(len(moves)), run.rng.randrange(1, len(moves) + 1)):
                moves[v][run.rng.randrange(run.scene.dim)] = factor * run.rng.choice([-1, 1, 0.5])
            current = [[x + y for x, y in zip(*rows)] for rows in zip(run.document['positions'], moves)]
            exact = [meshes.features.square(meshes.features.minus(*([meshes.Fraction(x) for x in p] for p in rows)))
                     for rows in zip(current, run.document['positions'])]
            square = meshes.Fraction(run.margin()) ** 2
            ratios = {v: float(4 * exact[v] / square) if square else float(exact[v] > 0) * 9 for v in mesh.vertices}
            worst = max(ratios.values(), default=0)
            if worst != 1 and abs(worst - 1) < 1e-12:
                continue  # sums of doubles in general position
            status, answer = post(server, f'{run.path}/evaluate', {
                'velocities': run.velocities(), 'current_positions': current, 'terms': ['friction', 'barrier']})
            if worst > 1:
                assert status == 422 and answer['code'] == 'moved_too_far', (answer, ratios)
                furthest = [v for v, x in ratios.items() if x >= worst * (1 - 1e-9)]
                assert pointers(answer)[0] in [f'/current_positions/{v}' for v in furthest]
            else:
                assert status == 200, answer
    finally:
        assert call(server, 'DELETE', run.path)[0] == 204
