"""Random requests of POST /v1/contacts, valid or not.

request(seed) depends only on the seed. Coordinates are small integers times a power of two, so that borders and
ties are met exactly, or doubles in general position. faulty(index) gives (request, status,
pointers of which one is expected).
"""
import copy
import os
import random
import sys
from fractions import Fraction
from itertools import combinations

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import meshes  # noqa: E402
from stencils import GROUPS, IN_2D, canonical  # noqa: E402

NORMALS = {2: [(0, 1), (3, 4), (-1, 0), (0, -2.5), (1, 1)],
           3: [(0, 0, 1), (2, 3, 6), (0, -1, 0), (1, 2, 2), (0, 3, 4), (1, 1, 0), (-0.5, 0, 0)]}
TETRAHEDRON = [(0, 0, 0), (4, 0, 0), (0, 4, 0), (0, 0, 4)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
OCTAHEDRON = ([(2, 0, 0), (-2, 0, 0), (0, 2, 0), (0, -2, 0), (0, 0, 2), (0, 0, -2)],
              [(i, j, k) for i in (0, 1) for j in (2, 3) for k in (4, 5)])
TURNS = {3: [((1, 0, 0), (0, 1, 0), (0, 0, 1)), ((0, 1, 0), (0, 0, -1), (-1, 0, 0)), ((0, 0, 1), (0, -1, 0), (1, 0, 0)),
             ((1, 2, 2), (2, 1, -2), (2, -2, 1)), ((2, 3, 6), (3, -6, 2), (6, 2, -3))],
         2: [((1, 0), (0, 1)), ((0, -1), (1, 0)), ((3, 4), (-4, 3))]}
PLAIN = 'plain'


def request(seed):
    for attempt in range(1000):
        out = Scene(random.Random(f'meshes/{seed}/{attempt}')).request()
        if meshes.Finding(out).unsafe() is None:
            return out
    raise AssertionError(f'seed {seed}: nothing acceptable in 1000 attempts')


class Scene:
    """Parts that are put together; `mesh` has faces, edges and particles as lists of numbers of vertices."""

    def __init__(self, rng, crowds=0.08):
        self.rng = rng
        self.dim = rng.choice([2, 3, 3, 3])
        self.kind = rng.choice(['lattice', 'lattice', 'lattice', PLAIN, 'jittered'])
        self.positions, self.faces, self.edges, self.particles, self.body = [], [], [], [], []
        parts = [self.sheet, self.solid, self.soup, self.slivers, self.collapsed, self.rods, self.loose, self.touching]
        if self.dim == 2:
            parts = [self.outline, self.outline, self.rods, self.loose, self.collapsed]
        for label in range(rng.choice([1, 2, 2, 3]) if rng.random() >= crowds else rng.randrange(6, 10)):
            start = len(self.positions)
            rng.choice(parts)()
            self.body += [label] * (len(self.positions) - start)
        self.spoil()
        self.scale = 2.0 ** rng.choice([0, 0, -20, -7, 3, 30])
        self.shift = rng.choice([0, 0, 0, 2 ** 10, -2 ** 20])
        self.place()

    def chance(self, p):
        return self.rng.random() < p

    # --- parts --------------------------------------------------------------------------------------------------

    def add(self, points, faces=(), edges=(), particles=()):
        """A part, turned and shifted; numbers of vertices in a random order."""
        turn, size = self.rng.choice(TURNS[self.dim]), self.dim
        start = len(self.positions)
        shift = [self.rng.randrange(-3, 4) * (1 + start // 60) for _ in range(size)]
        order = self.rng.sample(range(len(points)), len(points))
        moved = [[s + sum(a * b for a, b in zip(row, p)) for s, row in zip(shift, turn)] for p in points]
        self.positions += [moved[i] for i in order]
        number = {old: start + new for new, old in enumerate(order)}
        self.faces += [[number[v] for v in f] for f in faces]
        self.edges += [[number[v] for v in e] for e in edges]
        self.particles += [number[v] for v in particles]

    def point(self, most=3):
        return tuple(self.rng.randrange(-most, most + 1) for _ in range(self.dim))

    def sheet(self):
        """A bumpy grid; bumps of zero leave it flat, so that neighbours are parallel."""
        nx, ny = self.rng.choice([(2, 2), (3, 2), (3, 3), (4, 2)])
        bump = self.rng.choice([0, 0, 1])
        points = [(2 * i, 2 * j, self.rng.randrange(-bump, bump + 1)) for i in range(nx) for j in range(ny)]
        faces = []
        for i in range(nx - 1):
            for j in range(ny - 1):
                a, b, c, d = i * ny + j, (i + 1) * ny + j, (i + 1) * ny + j + 1, i * ny + j + 1
                faces += [(a, b, c), (a, c, d)]
        self.add(points, faces)

    def solid(self):
        self.add(*self.rng.choice([TETRAHEDRON, OCTAHEDRON]))

    def soup(self):
        """Triangles that share vertices at random, and cross."""
        n = self.rng.randrange(5, 9)
        faces = [self.rng.sample(range(n), 3) for _ in range(self.rng.randrange(2, 6))]
        self.add([self.point() for _ in range(n)], faces)

    def slivers(self):
        length = 2 ** self.rng.randrange(4, 9)
        points = [(0, 0, 0), (length, 0, 1), (2 * length, 1, 0), (length, 1, 1), (0, 2, 0), (2 * length, 2, 2)]
        self.add(points, [(0, 1, 2), (0, 3, 2), (4, 3, 5)])

    def collapsed(self):
        """Corners on a line or at one point, but different vertices."""
        p, q = self.point(), self.point()
        middle = tuple((a + b) / 2 for a, b in zip(p, q))
        if self.dim == 2:
            self.add([p, p, q, middle, q], edges=[(0, 1), (1, 2), (2, 3), (4, 0)])
        else:
            self.add([p, q, middle, p, p, self.point(), q], [(0, 1, 2), (0, 3, 1), (0, 3, 4), (1, 5, 6)])

    def rods(self):
        n = self.rng.randrange(2, 5)
        self.add([self.point() for _ in range(n + 1)], edges=[(i, i + 1) for i in range(n)])

    def loose(self):
        n = self.rng.randrange(1, 5)
        self.add([self.point() for _ in range(n)], particles=range(n))

    def touching(self):
        """Two triangles, one at a corner, on an edge or on the inside of the other."""
        touch = self.rng.choice([(0, 0, 0), (2, 0, 0), (2, 2, 0), (1, 1, 0), (1, 2, 0)])
        other = [touch, (touch[0] + 1, touch[1], 3), (touch[0], touch[1] - 2, self.rng.choice([0, 2]))]
        self.add([(0, 0, 0), (4, 0, 0), (0, 4, 0), *other], [(0, 1, 2), (3, 4, 5)])

    def outline(self):
        n = self.rng.randrange(3, 7)
        closed = self.chance(0.6)
        self.add([self.point(4) for _ in range(n)], edges=[(i, (i + 1) % n) for i in range(n if closed else n - 1)])

    # --- what is done to all parts ------------------------------------------------------------------------------

    def spoil(self):
        """Duplicates, edges that faces already have, vertices that nothing mentions."""
        rng = self.rng
        if self.chance(0.3):
            for f in rng.sample(self.faces, min(2, len(self.faces))):
                self.faces.insert(rng.randrange(len(self.faces) + 1), rng.sample(f, 3))
        if self.chance(0.3):
            self.edges += [e[::-1] for e in rng.sample(self.edges, min(2, len(self.edges)))]
        if self.chance(0.3):
            self.particles += self.particles[:2]
        if self.chance(0.3):
            self.edges += [rng.sample(f, 2) for f in self.faces[:2]]
        for _ in range(rng.choice([0, 0, 1, 2])):
            at = rng.choice(self.positions)
            self.positions.append(at if self.chance(0.5) else list(self.point()))
            self.body.append(rng.randrange(3))
        for rows in (self.faces, self.edges, self.particles):
            rng.shuffle(rows)

    def place(self):
        blur = {'lattice': 0, PLAIN: 0.4, 'jittered': 1e-7}[self.kind]
        self.positions = [[(x + self.shift + self.rng.uniform(-blur, blur)) * self.scale if blur else
                           float((x + self.shift) * self.scale) for x in p] for p in self.positions]

    # --- documents ----------------------------------------------------------------------------------------------

    def mesh(self):
        rng, out = self.rng, {}
        if self.dim == 3 and (self.faces or self.chance(0.3)):
            out['faces'] = self.faces
        if self.edges or self.chance(0.3):
            out['edges'] = self.edges
        if self.particles or self.chance(0.3):
            out['vertices'] = self.particles
        if self.chance(0.35):
            n = rng.choice([0, 1, 1, 2])
            normals = [list(map(float, rng.choice(NORMALS[self.dim]))) for _ in range(n)]
            origins = [[(x + self.shift) * self.scale for x in self.point()] for _ in range(n)]
            if n == 2 and self.chance(0.3):
                normals[1], origins[1] = normals[0], origins[0]
            out['planes'] = {'normal': normals, 'origin': origins}
        if self.chance(0.4):
            out['body'] = self.body
            if self.chance(0.8):
                labels = [[rng.randrange(3), rng.randrange(3)] for _ in range(rng.choice([0, 1, 1, 2]))]
                out['ignore'] = labels
        if self.chance(0.3):
            n = len(self.positions)
            out['fixed'] = [rng.randrange(n) for _ in range(rng.randrange(n))]
        if self.chance(0.3):
            stretch = rng.choice([0.25, 1, 2])
            out['rest_positions'] = [[x * stretch for x in self.rng.choice(self.positions)] if self.chance(0.1) else
                                     [x * stretch for x in p] for p in self.positions]
        return {k: out[k] for k in rng.sample(list(out), len(out))}

    def candidates(self):
        """Stencils of random vertices, some twice and written another way."""
        rng, n, out = self.rng, len(self.positions), {}
        for group in IN_2D if self.dim == 2 else GROUPS:
            size = meshes.STENCIL[group]
            if n < size or self.chance(0.3):
                continue
            stencils = [rng.sample(range(n), size) for _ in range(rng.choice([0, 1, 4, 9]))]
            stencils += [self.rewritten(group, v) for v in stencils[:2] if self.chance(0.5)]
            rng.shuffle(stencils)
            out[group] = {'vertices': stencils}
            if group == 'plane_vertex':
                planes = [(list(map(float, rng.choice(NORMALS[self.dim]))),
                           [(x + self.shift) * self.scale for x in self.point()]) for _ in stencils]
                if self.chance(0.3) or not planes:
                    normal, origin = planes[0] if planes else ([1.0] * self.dim, [0.0] * self.dim)
                    out[group] |= {'plane_normal': normal, 'plane_origin': origin}
                else:
                    out[group] |= {'plane_normal': [p[0] for p in planes], 'plane_origin': [p[1] for p in planes]}
                out[group]['vertices'] = [v[0] for v in stencils]
        return out

    def rewritten(self, group, v):
        if group == 'vertex_vertex':
            return v[::-1]
        if group == 'edge_edge':
            return self.rng.choice([v[2:] + v[:2], [v[1], v[0], v[2], v[3]], v[::-1]])
        return v[:1] + self.rng.sample(v[1:], len(v) - 1)

    def shaped(self, rows):
        return [x for r in rows for x in r] if self.chance(0.2) else rows

    def request(self):
        rng = self.rng
        out = {'dim': self.dim, 'positions': self.positions}
        if self.chance(0.15):
            out['candidates'] = self.candidates()
        else:
            out['mesh'] = self.mesh()
        self.reach(out)
        if self.chance(0.4):
            out['merge'] = self.chance(0.4)
        plain = 'mesh' in out and not self.particles and (self.dim == 2 or not self.rods_left())
        if self.chance(0.5 if plain else 0.2):
            out['weighting'] = 'area' if plain and self.chance(0.8) else 'count'
        out['outputs'] = rng.choice([['collisions', 'distances'], ['distances', 'collisions'], ['collisions']])
        if self.chance(0.1):
            del out['outputs']
        if self.chance(0.3):
            self.previous(out)
        out['positions'] = self.shaped(out['positions'])
        return {k: out[k] for k in rng.sample(list(out), len(out))}

    def rods_left(self):
        sides = {frozenset(e) for f in self.faces for e in combinations(f, 2)}
        return any(frozenset(e) not in sides for e in self.edges)

    def reach(self, out):
        """Often exactly a distance that occurs, so that `<` counts."""
        unit = self.scale
        out['distance'] = self.rng.choice([0.5, 1, 1.5, 2, 3, 5, 8]) * unit
        if self.kind == PLAIN:
            out['distance'] *= self.rng.uniform(0.5, 1)
        if self.chance(0.3):
            out['distance'] *= 0.5
            out['min_distance'] = out['distance'] * self.rng.choice([0, 1, 0.5])
        elif self.kind == 'lattice' and self.chance(0.5):
            wide = dict(out, distance=6 * unit, merge=False)
            squares = sorted({c.square for c in meshes.Finding(wide).found if c.square})
            exact = [r for r in map(exact_root, squares) if r is not None]
            if exact:
                out['distance'] = float(self.rng.choice(exact))

    def previous(self, out):
        """Contacts of the same mesh a little earlier, with anchors; some missing, some written by hand."""
        step = self.rng.choice([0, 1, 1]) * self.scale
        before = [[x + step * self.rng.randrange(-1, 2) for x in p] for p in self.positions]
        earlier = dict(out, positions=before, merge=self.chance(0.5), outputs=['collisions'])
        found = meshes.Finding(earlier).answer()['collisions']
        for fields in found.values():
            del fields['weight']
            fields.pop('mollifier', None)
            keep = [i for i in range(len(fields['vertices'])) if self.chance(0.7)]
            for name in fields:
                fields[name] = [fields[name][i] for i in keep]
            fields['anchor'] = [[self.rng.uniform(-1, 1) for _ in range(self.dim)] for _ in keep]
        out['previous'] = {'positions': before, 'collisions': found}


def exact_root(square):
    """The root if it is a double."""
    up, down = (round(float(x) ** 0.5) if x < 2 ** 100 else 0 for x in (square.numerator, square.denominator))
    if not down or Fraction(up, down) ** 2 != square:
        return None
    root = Fraction(up, down)
    return root if Fraction(float(root)) == root else None


# --- malformed requests -----------------------------------------------------------------------------------------

def plain():
    """A good request, which every fault below spoils."""
    return {'dim': 3,
            'positions': [[0, 0, 0], [4, 0, 0], [0, 4, 0], [1, 1, 1], [5, 1, 1], [1, 5, 1], [2, 1, 2], [9, 9, 9],
                          [1, 1, 3]],
            'distance': 1.5, 'min_distance': 0.25,
            'mesh': {'faces': [[0, 1, 2], [3, 4, 5]], 'edges': [[6, 7]], 'vertices': [8],
                     'planes': {'normal': [[0, 0, 1]], 'origin': [[0, 0, -1]]}, 'body': [0, 0, 0, 1, 1, 1, 2, 2, 3],
                     'ignore': [[0, 0], [2, 0]], 'fixed': [0, 1]},
            'weighting': 'count', 'merge': True,
            'outputs': ['collisions', 'distances', 'longest_step'],
            'longest_step': {'direction': [[0, 0, -1]] * 9, 'keep': 0.2}}


def caller():
    """A good request with candidates."""
    out = plain()
    del out['mesh']
    out['candidates'] = {'vertex_vertex': {'vertices': [[6, 8]]}, 'edge_vertex': {'vertices': [[3, 0, 1]]},
                         'edge_edge': {'vertices': [[0, 1, 3, 4]]}, 'face_vertex': {'vertices': [[3, 0, 1, 2]]},
                         'plane_vertex': {'vertices': [3], 'plane_normal': [[0, 0, 1]], 'plane_origin': [[0, 0, 0]]}}
    return out


def flat_scene():
    """A good request in 2D."""
    return {'dim': 2, 'positions': [[0, 0], [4, 0], [1, 1], [2, 1]], 'distance': 2,
            'mesh': {'edges': [[0, 1]], 'vertices': [2, 3]}}


def touching():
    """The third vertex of the second face lies in the first one."""
    out = plain()
    out['positions'][3] = [1, 1, 0]
    out['min_distance'] = 0
    return out


ANCHORED = {'positions': [[0, 0, 0]] * 9,
            'collisions': {'edge_vertex': {'vertices': [[3, 0, 1]], 'anchor': [[1, 0, 0]]}}}
FAULTS = [  # (the request that is spoilt, what is put where (None takes it away), pointers of which one is expected)
    (plain, {'/distance': 0}, ['/distance']), (plain, {'/distance': -1}, ['/distance']),
    (plain, {'/distance': 'x'}, ['/distance']), (plain, {'/distance': None}, ['/distance']),
    (plain, {'/distance': [1]}, ['/distance']), (plain, {'/min_distance': -1}, ['/min_distance']),
    (plain, {'/min_distance': True}, ['/min_distance']), (plain, {'/dim': 4}, ['/dim']),
    (plain, {'/dim': None}, ['/dim']),
    (plain, {'/positions': None}, ['/positions']), (plain, {'/positions/3': [1, 2]}, ['/positions/3']),
    (plain, {'/positions/3/1': 'x'}, ['/positions/3/1']), (plain, {'/positions/3/1': None}, ['/positions/3/1']),
    (plain, {'/mesh': None}, ['/mesh', '/candidates']), (plain, {'/mesh': []}, ['/mesh']),
    (plain, {'/mesh/faces/1': [3, 4, 3]}, ['/mesh/faces/1']), (plain, {'/mesh/faces/0': [1, 1, 2]}, ['/mesh/faces/0']),
    (plain, {'/mesh/faces/1/2': 9}, ['/mesh/faces/1/2']), (plain, {'/mesh/faces/1/2': -1}, ['/mesh/faces/1/2']),
    (plain, {'/mesh/faces/1/2': 3.5}, ['/mesh/faces/1/2']), (plain, {'/mesh/faces/1/2': 5.0}, ['/mesh/faces/1/2']),
    (plain, {'/mesh/faces/1': [3, 4]}, ['/mesh/faces/1', '/mesh/faces']), (plain, {'/mesh/faces': 3}, ['/mesh/faces']),
    (plain, {'/mesh/faces/1/2': 2 ** 32}, ['/mesh/faces/1/2']),
    (plain, {'/mesh/edges/0': [6, 6]}, ['/mesh/edges/0']), (plain, {'/mesh/edges/0/1': 77}, ['/mesh/edges/0/1']),
    (plain, {'/mesh/vertices/0': 7}, ['/mesh/vertices/0']), (plain, {'/mesh/vertices/0': 2}, ['/mesh/vertices/0']),
    (plain, {'/mesh/vertices/0': 9}, ['/mesh/vertices/0']), (plain, {'/mesh/vertices/0': -1}, ['/mesh/vertices/0']),
    (plain, {'/mesh/planes/normal/0': [0, 0, 0]}, ['/mesh/planes/normal/0']),
    (plain, {'/mesh/planes/normal': None}, ['/mesh/planes/normal']),
    (plain, {'/mesh/planes/origin': None}, ['/mesh/planes/origin']),
    (plain, {'/mesh/planes/origin': [[0, 0, 0], [0, 0, 0]]}, ['/mesh/planes/origin', '/mesh/planes/normal']),
    (plain, {'/mesh/planes/origin/0': [0, 0]}, ['/mesh/planes/origin/0', '/mesh/planes/origin']),
    (plain, {'/mesh/planes/normals': []}, ['/mesh/planes/normals']),
    (plain, {'/mesh/body/2': -1}, ['/mesh/body/2']), (plain, {'/mesh/body': [0, 0]}, ['/mesh/body']),
    (plain, {'/mesh/body/2': 0.5}, ['/mesh/body/2']), (plain, {'/mesh/body': None}, ['/mesh/ignore', '/mesh/body']),
    (plain, {'/mesh/ignore/1/0': -1}, ['/mesh/ignore/1/0']), (plain, {'/mesh/ignore/1': [0]}, ['/mesh/ignore/1']),
    (plain, {'/mesh/ignore/1': [0, 1, 2]}, ['/mesh/ignore/1']), (plain, {'/mesh/ignore': 'all'}, ['/mesh/ignore']),
    (plain, {'/mesh/fixed/1': 9}, ['/mesh/fixed/1']), (plain, {'/mesh/fixed/1': -1}, ['/mesh/fixed/1']),
    (plain, {'/mesh/fixed': {}}, ['/mesh/fixed']),
    (plain, {'/mesh/rest_positions': [[0, 0, 0]]}, ['/mesh/rest_positions']),
    (plain, {'/mesh/triangles': []}, ['/mesh/triangles']), (plain, {'/dhat': 1}, ['/dhat']),
    (plain, {'/weighting': 'areas'}, ['/weighting']), (plain, {'/weighting': 1}, ['/weighting']),
    (plain, {'/weighting': 'area'}, ['/weighting', '/mesh/edges/0', '/mesh/vertices', '/mesh/vertices/0']),
    (plain, {'/weighting': 'area', '/mesh/vertices': []}, ['/weighting', '/mesh/edges', '/mesh/edges/0']),
    (plain, {'/weighting': 'area', '/mesh/edges': []}, ['/weighting', '/mesh/vertices', '/mesh/vertices/0']),
    (plain, {'/merge': 1}, ['/merge']), (plain, {'/merge': 'yes'}, ['/merge']),
    (plain, {'/outputs/1': 'distance'}, ['/outputs/1']), (plain, {'/outputs': 'collisions'}, ['/outputs']),
    (plain, {'/longest_step': None}, ['/longest_step']),
    (plain, {'/longest_step/keep': 0}, ['/longest_step/keep']),
    (plain, {'/longest_step/keep': 1}, ['/longest_step/keep']),
    (plain, {'/longest_step/direction': None}, ['/longest_step/direction']),
    (plain, {'/longest_step/direction/1': [0, 0]}, ['/longest_step/direction/1']),
    (plain, {'/longest_step/directions': []}, ['/longest_step/directions']),
    (touching, {}, ['/positions/3']),
    (plain, {'/min_distance': 1}, [f'/positions/{v}' for v in range(8)]),
    (caller, {'/weighting': 'area'}, ['/weighting']), (caller, {'/mesh': {}}, ['/mesh', '/candidates']),
    (caller, {'/candidates': None}, ['/mesh', '/candidates']), (caller, {'/candidates/edge_face': {}},
                                                               ['/candidates/edge_face']),
    (caller, {'/candidates/body_body': {'vertices': []}}, ['/candidates/body_body']),
    (caller, {'/candidates/edge_edge/vertices/0/2': 9}, ['/candidates/edge_edge/vertices/0/2']),
    (caller, {'/candidates/edge_edge/vertices/0/2': 0}, ['/candidates/edge_edge/vertices/0',
                                                         '/candidates/edge_edge/vertices/0/2']),
    (caller, {'/candidates/face_vertex/vertices/0/3': 3}, ['/candidates/face_vertex/vertices/0',
                                                           '/candidates/face_vertex/vertices/0/3']),
    (caller, {'/candidates/edge_edge/vertices': None}, ['/candidates/edge_edge/vertices']),
    (caller, {'/candidates/edge_edge/weight': [1]}, ['/candidates/edge_edge/weight']),
    (caller, {'/candidates/edge_edge/mollifier': [1]}, ['/candidates/edge_edge/mollifier']),
    (caller, {'/candidates/face_vertex/plane_normal': [[0, 0, 1]]}, ['/candidates/face_vertex/plane_normal']),
    (caller, {'/candidates/plane_vertex/plane_normal': None}, ['/candidates/plane_vertex/plane_normal']),
    (caller, {'/candidates/plane_vertex/plane_origin': None}, ['/candidates/plane_vertex/plane_origin']),
    (caller, {'/candidates/plane_vertex/plane_normal/0': [0, 0, 0]}, ['/candidates/plane_vertex/plane_normal/0']),
    (caller, {'/candidates/plane_vertex/vertices/0': 9}, ['/candidates/plane_vertex/vertices/0']),
    (flat_scene, {'/mesh/faces': [[0, 1, 2]]}, ['/mesh/faces']),
    (flat_scene, {'/dim': 3}, ['/positions', '/positions/0']),
    (flat_scene, {'/mesh/vertices/0': 1}, ['/mesh/vertices/0']),
    (plain, {'/previous': {}}, ['/previous/positions', '/previous/collisions']),
    (plain, {'/previous': dict(ANCHORED, positions=[[0, 0, 0]])}, ['/previous/positions']),
    (plain, {'/previous': dict(ANCHORED, velocities=[])}, ['/previous/velocities']),
    (plain, {'/previous': dict(ANCHORED, collisions={'edge_vertex': {'vertices': [[3, 0, 11]],
                                                                     'anchor': [[1, 0, 0]]}})},
     ['/previous/collisions/edge_vertex/vertices/0/2']),
    (plain, {'/previous': dict(ANCHORED, collisions={'edge_vertex': {'vertices': [[3, 0, 1]], 'anchor': [[1, 0]]}})},
     ['/previous/collisions/edge_vertex/anchor/0', '/previous/collisions/edge_vertex/anchor']),
    (plain, {'/previous': dict(ANCHORED, collisions=[])}, ['/previous/collisions']),
]
GOOD = [plain, caller, flat_scene]


def faulty(index):
    """(request, status, pointers) of the fault with this number."""
    start, changes, pointers = FAULTS[index]
    out = copy.deepcopy(start())
    for where, value in changes.items():
        *names, last = where[1:].split('/')
        holder = out
        for name in names:
            holder = holder[int(name) if isinstance(holder, list) else name]
        if isinstance(holder, list):
            holder[int(last)] = value
        elif value is None:
            del holder[last]
        else:
            holder[last] = value
    if '/candidates' in changes and changes['/candidates'] is None or '/dim' in changes:
        out.pop('longest_step', None)
        out['outputs'] = ['collisions']
    return out, 422, pointers


def main():
    import json
    first, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for seed in range(first, first + count):
        print(json.dumps(request(seed)))


if __name__ == '__main__':
    main()
