"""Tests of the oracle's closest features and barrier energies: against brute force, differences and invariance."""
import os
import random
import sys
from fractions import Fraction

import pytest
from mpmath import mp, mpf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import contacts  # noqa: E402
import features  # noqa: E402
import potential  # noqa: E402

SIZES = {'edge_vertex': (1, 2), 'edge_edge': (2, 2), 'face_vertex': (1, 3)}


def points(rng, group, dim=3):
    """Small integers, so that many choices are on borders."""
    return [[rng.randrange(-2, 3) for _ in range(dim)] for _ in range(sum(SIZES[group]))]


def grid(count, steps=12):
    """Weights of points of a side."""
    if count == 1:
        return [[Fraction(1)]]
    if count == 2:
        return [[1 - Fraction(i, steps), Fraction(i, steps)] for i in range(steps + 1)]
    return [[1 - Fraction(i + j, steps), Fraction(i, steps), Fraction(j, steps)]
            for i in range(steps + 1) for j in range(steps + 1 - i)]


@pytest.mark.parametrize('group', SIZES)
def test_nothing_is_closer(group):
    rng = random.Random(group)
    for _ in range(60):
        p, (first, _) = points(rng, group), SIZES[group]
        found = features.search(group, p, range(4))
        w = features.weights(group, found.beta)
        nearest = features.square(features.mix([[Fraction(x) for x in q] for q in p], w))
        assert all(x >= 0 for x in w[:first]) and all(x <= 0 for x in w[first:])
        assert {i for i, x in enumerate(w) if x} == {*found.first, *found.second}, (p, w)
        for a in grid(SIZES[group][0]):
            for b in grid(SIZES[group][1]):
                r = features.mix(p, a + [-x for x in b])
                assert features.square(r) >= nearest, (p, found.bits)


def test_ties():
    """Parallel edges: the first nearest of a0-b, a1-b, b0-a, b1-a. No length: the lower vertex."""
    a0, a1 = [0, 0, 0], [4, 0, 0]
    for b, bits in (([[1, 1, 0], [3, 1, 0]], 0b0111), ([[0, 1, 0], [4, 1, 0]], 0b0101), ([[4, 1, 0], [-1, 1, 0]], 0b1101),
                    ([[2, 1, 0], [9, 1, 0]], 0b1110), ([[4, 1, 0], [9, 1, 0]], 0b0110), ([[9, 1, 0], [5, 1, 0]], 0b1010)):
        assert features.search('edge_edge', [a0, a1, *b], range(4)).bits == bits, b
    short = [[1, 1, 1], [1, 1, 1]]
    assert features.search('edge_edge', [a0, a1, *short], [0, 1, 2, 3]).bits == 0b0111
    assert features.search('edge_edge', [a0, a1, *short], [0, 1, 3, 2]).bits == 0b1011
    assert features.search('edge_edge', [*short, a0, a1], [1, 0, 2, 3]).bits == 0b1110
    assert features.search('edge_vertex', [a0, *short], [0, 2, 1]).bits == 0b101


@pytest.mark.parametrize('barrier', potential.BARRIERS)
@pytest.mark.parametrize('group', SIZES)
def test_derivatives_by_differences(group, barrier):
    """Along one direction, the mollifier included. The closest point of a feature follows."""
    rng, h = random.Random(f'{group}/{barrier}'), mpf(10) ** -18
    for _ in range(6):
        p = [[mpf(rng.uniform(-1, 1)) for _ in range(3)] for _ in range(sum(SIZES[group]))]
        d = [[rng.choice([-2, -1, 1, 2]) for _ in range(3)] for _ in p]
        flat = [x for row in d for x in row]
        where, energy = potential.Barrier(barrier, 'physical', 10, 3, 0), []
        feature = features.search(group, [[float(x) for x in q] for q in p], range(4))
        limit = potential.area_squared(p) * mpf(1.5) if group == 'edge_edge' else mpf(0)
        for step in (-h, mpf(0), h):
            moved = [[x + step * y for x, y in zip(*rows)] for rows in zip(p, d)]
            energy.append(potential.energy(feature, moved, where, limit))
        value, gradient, hessian = potential.derivatives(feature, p, where, limit)
        slope = sum(g * x for g, x in zip(gradient, flat))
        curve = sum(x * y * v for x, row in zip(flat, hessian) for y, v in zip(flat, row))
        assert abs(value - energy[1]) <= mpf('1e-50') * value
        assert abs((energy[2] - energy[0]) / (2 * h) - slope) <= mpf('1e-25') * max(map(abs, gradient))
        assert abs((energy[2] - 2 * value + energy[0]) / h**2 - curve) <= mpf('1e-15') * max(abs(x) for r in hessian
                                                                                         for x in r)


def test_projections():
    block = [[mpf(x) for x in row] for row in ([2, 1, 0], [1, -3, 1], [0, 1, 1])]
    clamped, absolute = (potential.projected(block, how) for how in ('clamp', 'abs'))
    for i in range(3):
        for j in range(3):  # the positive part is half of the sum
            assert abs(2 * clamped[i][j] - absolute[i][j] - block[i][j]) < mpf('1e-50')
    square = [[sum(absolute[i][k] * absolute[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    other = [[sum(block[i][k] * block[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    assert max(abs(a - b) for r, s in zip(square, other) for a, b in zip(r, s)) < mpf('1e-50')
    assert min(mp.eigsy(mp.matrix(absolute), eigvals_only=True)) > 0


def test_longest_steps():
    """Falling onto a face: 0.9 of the height. Passing beside it: everything."""
    still, face = [0, 0, 0], [[0, 0, 0], [4, 0, 0], [0, 4, 0]]
    fall = contacts.Path('face_vertex', range(4), [[1, 1, 2], *face], [[0, 0, -4], still, still, still], 0)
    safe, unsafe = fall.bounds(0.1)
    assert safe <= 0.45 <= unsafe and unsafe - safe < 1e-8
    aside = contacts.Path('face_vertex', range(4), [[1, 1, 2], *face], [[9, 0, 0], still, still, still], 0)
    assert aside.bounds(0.1) == (1.0, None)
    through = contacts.Path('plane_vertex', [0], [[0, 0, 3]], [[5, 0, -6]], 1, ([0, 0, 2], [0, 0, 0]))
    safe, unsafe = through.bounds(0.5)
    assert safe <= 1 / 6 <= unsafe and unsafe - safe < 1e-8
