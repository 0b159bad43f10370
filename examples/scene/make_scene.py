#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Two blocks and a floor: writes scene.json, a request with contacts of every type, and broken.json, with a mistake.

A steel block rests on a wooden one, turned by four degrees, tilted a little and shifted so that one of its corners
hangs over a corner and one over an edge; the wooden block rests on a stone floor. Metres, kilograms, seconds. The upper
block turns about a point near one of its corners, so that contacts near it stick and those far away slide; the lower
one creeps and turns on the floor.

The narrow phase is the usual one of IPC: every vertex-triangle and edge-edge pair nearer than dhat is a contact of the
type of the features on which its two closest points lie.
"""
import json
import math
import os
from itertools import combinations, product

DHAT = 1e-3  # the barrier acts below this distance
STIFFNESS = 500_000_000  # gives a few newtons per contact
EPS_V = 1e-3  # slower contacts stick
WOOD, STEEL, STONE = 0, 1, 2
MU_S = [[0.50, 0.40, 0.62], [0.40, 0.58, 0.45], [0.62, 0.45, 0.70]]
MU_K = [[0.35, 0.25, 0.48], [0.25, 0.42, 0.30], [0.48, 0.30, 0.55]]


# --- vectors ----------------------------------------------------------------------------------------------------

def add(a, b):
    return [x + y for x, y in zip(a, b)]


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def scaled(s, a):
    return [s * x for x in a]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def distance(a, b):
    return math.dist(a, b)


def along(a, b, t):
    return add(a, scaled(t, minus(b, a)))


# --- the blocks -------------------------------------------------------------------------------------------------

def block(size):
    """The corners of a box around the origin (corner 4x + 2y + z), and two triangles for each of its sides."""
    corners = [[sign * length / 2 for sign, length in zip(signs, size)] for signs in product((-1, 1), repeat=3)]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]
    edges = sorted({tuple(sorted(e)) for t in triangles for e in combinations(t, 2)})
    return corners, edges, triangles


def turned(point, about, degrees, axis):
    """The point turned about a line through `about` along coordinate axis `axis`."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    r = minus(point, about)
    out = list(r)
    out[i], out[j] = c * r[i] - s * r[j], s * r[i] + c * r[j]
    return add(out, about)


def spinning(point, about, omega, slide):
    """Velocity of a rigid body that turns about the vertical line through `about` and moves by `slide`."""
    return add(cross([0.0, 0.0, omega], minus(point, about)), slide)


def body(first, edges, triangles):
    """Vertices, edges and triangles of a block whose first corner has the number `first`."""
    def shifted(features):
        return [tuple(v + first for v in f) for f in features]
    return range(first, first + 8), shifted(edges), shifted(triangles)


def geometry():
    lower, edges, triangles = block([0.1, 0.1, 0.05])
    upper, _, _ = block([0.101, 0.1011, 0.05])
    lower = [add(p, [0.0, 0.0, 0.0255]) for p in lower]
    lower = [turned(p, lower[0], 0.1, 1) for p in lower]
    corner = upper[6]  # the corner that will hang over corner 7 of the lower block
    upper = [add(minus(p, corner), add(lower[7], [3e-4, 4e-4, 5.5e-4])) for p in upper]
    corner = upper[6]
    upper = [turned(turned(p, corner, -4.0, 2), corner, 0.12, 1) for p in upper]
    upper = [turned(p, corner, 0.05, 0) for p in upper]
    positions = [[round(x, 6) for x in p] for p in lower + upper]
    velocities = [spinning(p, [0.02, 0.03, 0.0], 0.015, [3e-4, 0.0, 0.0]) for p in positions[:8]]
    velocities += [spinning(p, [0.04, 0.035, 0.0], -0.03, [0.0, 4e-4, -1e-4]) for p in positions[8:]]
    velocities = [[round(x, 7) for x in v] for v in velocities]
    return positions, velocities, [body(first, edges, triangles) for first in (0, 8)]


# --- the narrow phase -------------------------------------------------------------------------------------------

def nearest_on_edge(p, a, b):
    """The closest point of an edge and the vertices of the feature on which it lies: positions (0,), (1,) or (0, 1)."""
    e = minus(b, a)
    t = dot(minus(p, a), e) / dot(e, e)
    if t <= 0:
        return a, (0,)
    if t >= 1:
        return b, (1,)
    return along(a, b, t), (0, 1)


def nearest_on_triangle(p, corners):
    a, b, c = corners
    n = cross(minus(b, a), minus(c, a))
    inside = [dot(cross(minus(v, u), minus(p, u)), n) for u, v in ((a, b), (b, c), (c, a))]
    if all(x > 0 for x in inside):
        return minus(p, scaled(dot(minus(p, a), n) / dot(n, n), n)), (0, 1, 2)
    found = []
    for i, j in ((0, 1), (1, 2), (2, 0)):
        q, feature = nearest_on_edge(p, corners[i], corners[j])
        found.append((distance(p, q), q, tuple((i, j)[k] for k in feature)))
    return min(found)[1:]


def nearest_of_edges(a, b, c, d):
    """Distance of two edges and, on each, the feature of its closest point."""
    found = []
    for k, p in enumerate((a, b)):
        q, feature = nearest_on_edge(p, c, d)
        found.append((distance(p, q), (k,), feature))
    for k, p in enumerate((c, d)):
        q, feature = nearest_on_edge(p, a, b)
        found.append((distance(p, q), feature, (k,)))
    u, v, w = minus(b, a), minus(d, c), minus(c, a)
    n = cross(u, v)
    s, t = dot(cross(w, v), n), dot(cross(w, u), n)
    if 0 < s < dot(n, n) and 0 < t < dot(n, n):
        found.append((abs(dot(w, n)) / math.sqrt(dot(n, n)), (0, 1), (0, 1)))
    return min(found)


def contact(one, other):
    """The group of a contact and its stencil, from the vertices of the features on its two sides."""
    if len(one) == 2 and len(other) == 2:
        return 'edge_edge', tuple(sorted(one)) + tuple(sorted(other))
    one, other = sorted((one, other), key=lambda feature: (len(feature), feature))
    group = {1: 'vertex_vertex', 2: 'edge_vertex', 3: 'face_vertex'}[len(other)]
    return group, one + (other if len(other) == 3 else tuple(sorted(other)))


def contacts_between(x, one, other):
    found = set()
    for (vertices, _, _), (_, _, triangles) in ((one, other), (other, one)):
        for v in vertices:
            for t in triangles:
                q, feature = nearest_on_triangle(x[v], [x[i] for i in t])
                if distance(x[v], q) < DHAT:
                    found.add(contact((v,), tuple(t[i] for i in feature)))
    for e in one[1]:
        for f in other[1]:
            d, on_e, on_f = nearest_of_edges(*(x[i] for i in e + f))
            if d < DHAT:
                found.add(contact(tuple(e[i] for i in on_e), tuple(f[i] for i in on_f)))
    return found


# --- the documents ----------------------------------------------------------------------------------------------

def scene():
    positions, velocities, (lower, upper) = geometry()
    groups = {name: [] for name in ('vertex_vertex', 'edge_vertex', 'edge_edge', 'face_vertex')}
    for group, stencil in sorted(contacts_between(positions, lower, upper)):
        groups[group].append(list(stencil))
    collisions = {name: {'vertices': stencils} for name, stencils in groups.items()}
    collisions['plane_vertex'] = {'vertices': [v for v in lower[0] if 0 < positions[v][2] < DHAT],
                                  'plane_normal': [0, 0, 1], 'plane_origin': [0, 0, 0]}
    return {
        'dim': 3,
        'positions': positions,
        'velocities': velocities,
        'friction': {
            'eps_v': EPS_V,
            'materials': {'vertex_material': [WOOD] * 8 + [STEEL] * 8, 'plane_material': STONE,
                          'mu_s': MU_S, 'mu_k': MU_K},
        },
        'barrier': {'dhat': DHAT, 'stiffness': STIFFNESS},
        'collisions': collisions,
        'outputs': ['potential', 'gradient', 'hessian', 'collisions'],
        'collision_outputs': ['potential', 'normal_force', 'distance', 'slip_ratio', 'status'],
    }


def text(node, indent=''):
    """JSON with one row of an array per line."""
    if isinstance(node, dict):
        inner = indent + '  '
        rows = [f'{inner}{json.dumps(k)}: {text(v, inner)}' for k, v in node.items()]
        return '{\n' + ',\n'.join(rows) + '\n' + indent + '}'
    if isinstance(node, list) and node and isinstance(node[0], list):
        inner = indent + '  '
        return '[\n' + ',\n'.join(inner + json.dumps(row) for row in node) + '\n' + indent + ']'
    return json.dumps(node)


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    document = scene()
    with open(os.path.join(folder, 'scene.json'), 'w', encoding='utf-8') as out:
        out.write(text(document) + '\n')
    document['collisions']['edge_edge']['vertices'][1][2] = len(document['positions'])
    with open(os.path.join(folder, 'broken.json'), 'w', encoding='utf-8') as out:
        out.write(text(document) + '\n')


if __name__ == '__main__':
    main()
