"""The recorded frames of a real simulation, with geometry given and derived, compared with the recorded results."""
import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import from_reference as made  # noqa: E402
from client import post  # noqa: E402

TOLERANCE = 1e-11
FRAMES = made.frames() or [('none', None)]
FORMATS = [{}, {'format': 'triplets', 'triangle': 'upper'}, {'format': 'triplets', 'triangle': 'lower'},
           {'format': 'csr'},
           {'format': 'csr', 'triangle': 'upper'}, {'format': 'csr', 'triangle': 'lower'}, {'format': 'factors'}]


def full(hessian, request, triangle):
    """The full matrix; a triangle is mirrored after checking that there is nothing outside it."""
    if hessian['format'] == 'factors':
        return made.dense_from_factors(hessian, request)
    m = made.dense(hessian)
    if triangle == 'full':
        return m
    outside = [m[r][c] for r in range(len(m)) for c in range(len(m)) if (r > c if triangle == 'upper' else r < c)]
    assert not any(outside)
    return [[m[r][c] if (r <= c) == (triangle == 'upper') or r == c else m[c][r] for c in range(len(m))]
            for r in range(len(m))]


def expected_matrix(frame):
    n = len(frame['gradient'])
    out = [[0.0] * n for _ in range(n)]
    for r, c, v in frame['hessian_triplets']:
        out[r][c] += v
    return out


@pytest.mark.parametrize('given', [True, False], ids=['given', 'derived'])
@pytest.mark.parametrize('name,frame', FRAMES, ids=[name for name, _ in FRAMES])
def test_frame(server, name, frame, given):
    if frame is None:
        pytest.skip(made.NO_FRAMES)
    request = made.frame_request(frame, given)
    expected = made.flat(expected_matrix(frame))
    for options in FORMATS:
        request['hessian'] = options
        status, answer = post(server, '/v1/evaluate', request)
        assert status == 200, answer
        assert answer['n_collisions'] == len(frame['mmcvids'])
        assert abs(answer['potential'] - frame['energy']) <= TOLERANCE * abs(frame['energy'])
        assert made.distance(answer['gradient'], frame['gradient']) <= TOLERANCE * max(map(abs, frame['gradient']))
        got = made.flat(full(answer['hessian'], request, options.get('triangle', 'full')))
        assert made.distance(got, expected) <= TOLERANCE * max(map(abs, expected)), options


def test_all_frames_are_there():
    if FRAMES[0][1] is None:
        pytest.skip(made.NO_FRAMES)
    assert len(FRAMES) == 41
