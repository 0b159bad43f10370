"""Contacts of a mesh by brute force: the answers of POST /v1/contacts, from the contract alone.

Every pair of primitives is looked at. Which pairs are close and what their closest features are is decided with
fractions; distances and areas are rounded once, from 60 digits. No tree, no order of evaluation, no tolerance.
"""
import os
import sys
from fractions import Fraction
from itertools import combinations

from mpmath import mpf, sqrt

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import anchors  # noqa: E402
import features  # noqa: E402
from algebra import flat  # noqa: E402
from law import to_double  # noqa: E402
from stencils import STENCIL, canonical, groups_of, once, per_row, rows  # noqa: E402

PARALLEL = Fraction(1, 1000)  # of |a|^2 |b|^2: less of |a x b|^2 is too parallel


def points(value, dim):
    return [[Fraction(x) for x in row] for row in rows(value, dim)]


def number(x):
    return mpf(x.numerator) / x.denominator


def root(square):
    return sqrt(number(Fraction(square)))


class Pair:
    """Two primitives that may touch, their stencil as it is written. `plane`: (row, normal, origin)."""

    def __init__(self, group, vertices, plane=None):
        self.group, self.vertices, self.plane = group, canonical(group, vertices), plane


# --- which pairs there are --------------------------------------------------------------------------------------

class Mesh:
    def __init__(self, mesh, dim, positions):
        self.dim, self.positions = dim, positions
        self.rest = points(mesh['rest_positions'], dim) if 'rest_positions' in mesh else positions
        self.faces = once(rows(mesh.get('faces', []), 3), frozenset)
        given = [tuple(sorted(e)) for e in rows(mesh.get('edges', []), 2)]
        derived = [tuple(sorted(e)) for f in self.faces for e in combinations(f, 2)]
        self.edges = once(derived + given, tuple)
        self.rods = [e for e in self.edges if e not in set(derived)] if dim == 3 else []
        self.particles = once(rows(mesh.get('vertices', []), 1), int)
        self.vertices = sorted({v for p in (*self.faces, *self.edges) for v in p} | set(self.particles))
        planes = mesh.get('planes', {})
        self.planes = [(i, *p) for i, p in enumerate(zip(rows(planes.get('normal', []), dim),
                                                         rows(planes.get('origin', []), dim)))]
        self.body = flat(mesh['body']) if 'body' in mesh else None
        self.ignored = {frozenset(pair) for pair in rows(mesh.get('ignore', []), 2)}
        self.fixed = set(flat(mesh.get('fixed', [])))

    def ignores(self, v, w):
        labels = self.body is not None and frozenset((self.body[v], self.body[w])) in self.ignored
        return labels or (v in self.fixed and w in self.fixed)

    def may_touch(self, first, second):
        return not all(self.ignores(v, w) for v in first for w in second)

    def candidates(self):
        """(group, first side, second side) before any filter."""
        for v in self.vertices:
            for f in self.faces:
                yield 'face_vertex', (v,), f
            if self.dim == 2:
                for e in self.edges:
                    yield 'edge_vertex', (v,), e
        if self.dim == 3:
            for a, b in combinations(self.edges, 2):
                yield 'edge_edge', a, b
        for v in self.particles:
            for e in self.rods:
                yield 'edge_vertex', (v,), e
        for v, w in combinations(self.particles, 2):
            yield 'vertex_vertex', (v,), (w,)

    def pairs(self):
        out = [Pair(group, first + second) for group, first, second in self.candidates()
               if not set(first) & set(second) and self.may_touch(first, second)]
        return out + [Pair('plane_vertex', (v,), plane) for plane in self.planes for v in self.vertices
                      if v not in self.fixed]

    # --- weights by area ----------------------------------------------------------------------------------------

    def measure(self):
        """Areas of vertices and edges: thirds of faces, in 2D halves of edges. `blur`: digits that slivers may lose."""
        self.of_vertex, self.of_edge, self.blur = {}, {}, 0
        for part in self.faces if self.dim == 3 else self.edges:
            p = [self.rest[v] for v in part]
            arms = [features.minus(x, p[0]) for x in p[1:]]
            size = root(features.square(features.cross(*arms))) / 2 if self.dim == 3 else root(features.square(arms[0]))
            self.blur = max(self.blur, max(float(features.square(a)) for a in arms) * 1e-19 if self.dim == 3 else 0)
            for v in part:
                self.of_vertex[v] = self.of_vertex.get(v, 0) + size / len(part)
            for e in combinations(sorted(part), 2):
                self.of_edge[e] = self.of_edge.get(e, 0) + size / 3

    def area(self, pair):
        v = pair.vertices
        if pair.group == 'edge_edge':
            return (self.of_edge[v[:2]] + self.of_edge[v[2:]]) / 4
        share = {'face_vertex': mpf(1) / 4, 'edge_vertex': mpf(1) / 2, 'plane_vertex': mpf(1)}[pair.group]
        return share * self.of_vertex[v[0]]


def listed(candidates, dim):
    """The pairs of the caller: of equal ones the first."""
    out, planes = [], {}
    for group in groups_of(dim):
        fields = candidates.get(group, {})
        stencils = rows(fields.get('vertices', []), STENCIL[group])
        if group == 'plane_vertex':
            normals, origins = (per_row(fields.get(k, []), len(stencils), dim)
                                for k in ('plane_normal', 'plane_origin'))
            for v, normal, origin in zip(stencils, normals, origins):
                row = planes.setdefault((normal, origin), len(planes))
                out.append(Pair(group, (v,), (row, normal, origin)))
        else:
            out += [Pair(group, v) for v in stencils]
    same = {'face_vertex': lambda v: (v[0], frozenset(v[1:]))}
    return once(out, lambda p: (p.group, same.get(p.group, tuple)(p.vertices), p.plane[0] if p.plane else None))


# --- close pairs ------------------------------------------------------------------------------------------------

class Close:
    """The closest feature of a pair and its squared distance, exactly."""

    def __init__(self, pair, positions, rest):
        self.pair = pair
        p = [positions[v] for v in pair.vertices]
        if pair.plane:
            _, normal, origin = pair.plane
            normal, origin = [Fraction(x) for x in normal], [Fraction(x) for x in origin]
            height = features.dot(normal, features.minus(p[0], origin))
            self.square, self.feature = height * height / features.square(normal), features.whole(pair.group)
        else:
            self.feature = features.search(pair.group, p, pair.vertices, judged=False)
            self.square = features.square(features.mix(p, features.weights(pair.group, self.feature.beta)))
        self.limit, self.area = Fraction(0), Fraction(0)
        if pair.group == 'edge_edge':
            a, b = (features.minus(q[1], q[0]) for q in (p[:2], p[2:]))
            r = [rest[v] for v in pair.vertices]
            self.area = features.square(features.cross(a, b))
            self.limit = PARALLEL * features.square(features.minus(r[1], r[0])) * features.square(
                features.minus(r[3], r[2]))
        self.parallel = self.area < self.limit

    def contact(self):
        """(group, vertices) of the contact that a merged pair becomes."""
        if self.parallel or self.pair.plane:
            return self.pair.group, self.pair.vertices
        order, _ = self.feature.canonical(self.pair.vertices)
        return self.feature.kind, tuple(self.pair.vertices[i] for i in order)


def apart(pair, boxes, reach):
    """Whether boxes tell that a pair is out of reach; exact, and only to save time."""
    if pair.plane:
        return False
    split = features.SPLIT[pair.group]
    first, second = pair.vertices[:split], pair.vertices[split:]
    for axis in boxes:
        low = min(axis[v] for v in first) - max(axis[v] for v in second)
        high = min(axis[v] for v in second) - max(axis[v] for v in first)
        if max(low, high) > reach:
            return True
    return False


class Contact:
    def __init__(self, group, vertices, plane=None):
        self.group, self.vertices, self.plane = group, vertices, plane
        self.weight, self.mollifier, self.square, self.choice = Fraction(0), Fraction(0), None, None

    def take(self, close, weight, mollifier):
        self.weight, self.mollifier = self.weight + weight, mollifier
        self.square = close.square if self.square is None else min(self.square, close.square)


class Finding:
    """What a request finds. `unsafe` tells why rounding could decide, if it could."""

    def __init__(self, request):
        self.request, self.dim = request, request['dim']
        self.positions = points(request['positions'], self.dim)
        self.reach = Fraction(request['distance']) + Fraction(request.get('min_distance', 0))
        self.mesh = Mesh(request['mesh'], self.dim, self.positions) if 'mesh' in request else None
        self.pairs = self.mesh.pairs() if self.mesh else listed(request['candidates'], self.dim)
        self.merge = request.get('merge', True)
        self.by_area = request.get('weighting', 'count') == 'area'
        if self.by_area:
            self.mesh.measure()
        self.contacts = self.find()
        if 'previous' in request:
            self.carry()

    def close(self):
        rest = self.mesh.rest if self.mesh else self.positions
        boxes = list(zip(*self.positions))
        found = [Close(pair, self.positions, rest) for pair in self.pairs if not apart(pair, boxes, self.reach)]
        return [c for c in found if c.square < self.reach ** 2]

    def find(self):
        self.found, made = self.close(), {}
        for c in self.found:
            weight = self.mesh.area(c.pair) if self.by_area else Fraction(1)
            group, vertices = c.contact() if self.merge else (c.pair.group, c.pair.vertices)
            key = group, vertices, c.pair.plane[0] if c.pair.plane else None
            contact = made.setdefault(key, Contact(group, vertices, c.pair.plane))
            contact.take(c, weight, c.limit if c.parallel or not self.merge else Fraction(0))
        ordered = sorted(made.values(), key=lambda c: (c.plane[0] if c.plane else 0, c.vertices))
        return {group: [c for c in ordered if c.group == group] for group in groups_of(self.dim)}

    def carry(self):
        previous = self.request['previous']
        old = anchors.old_contacts(previous['collisions'], self.dim)
        new = [c for group in self.contacts.values() for c in group]
        for contact, choice in zip(new, anchors.choices(old, new, self.positions, self.dim)):
            contact.choice = choice

    def unsafe(self):
        """Decisions that are closer than rounding but not exact: nothing that a test can judge."""
        for c in self.found:
            if c.limit and c.area != c.limit and abs(c.area / c.limit - 1) < Fraction(1, 10 ** 11):
                return 'parallel'
        rest, boxes = self.mesh.rest if self.mesh else self.positions, list(zip(*self.positions))
        near = self.reach * (1 + Fraction(1, 10 ** 9))
        for pair in self.pairs:
            if not apart(pair, boxes, near):
                ratio = Close(pair, self.positions, rest).square / self.reach ** 2
                if ratio != 1 and abs(ratio - 1) < Fraction(1, 10 ** 11):
                    return 'reach'
        return None

    # --- the answer ---------------------------------------------------------------------------------------------

    def answer(self):
        """Without the longest step, which is judged, not compared."""
        outputs = self.request.get('outputs', ['collisions'])
        squares = [c.square for group in self.contacts.values() for c in group]
        out = {'n_vertices': len(self.positions), 'n_collisions': len(squares),
               'min_distance': to_double(root(min(squares))) if squares else None}
        if 'collisions' in outputs:
            out['collisions'] = {name: self.fields(name, group) for name, group in self.contacts.items()}
        if 'distances' in outputs:
            out['distances'] = {name: [to_double(root(c.square)) for c in group]
                                for name, group in self.contacts.items()}
        return out

    def fields(self, name, group):
        out = {'vertices': [list(c.vertices) if name != 'plane_vertex' else c.vertices[0] for c in group],
               'weight': [to_double(c.weight if self.by_area else number(c.weight)) for c in group]}
        if name == 'edge_edge':
            out['mollifier'] = [to_double(number(c.mollifier)) for c in group]
        if name == 'plane_vertex':
            out['plane_normal'] = [list(c.plane[1]) for c in group]
            out['plane_origin'] = [list(c.plane[2]) for c in group]
        if 'previous' in self.request:
            out['anchor'] = [[float(x) for x in c.choice.anchor] for c in group]
        return out
