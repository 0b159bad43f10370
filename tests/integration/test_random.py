"""Random requests with every option, compared with the independent evaluation program (tests/oracle).

RANDOM_REQUESTS: how many (400); RANDOM_FIRST: the first seed (0).
"""
import json
import os
import sys

import pytest

from conftest import ONE_IN

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import compare  # noqa: E402
import generate  # noqa: E402
import oracle  # noqa: E402
from client import post  # noqa: E402

TOLERANCE = 1e-9
FIRST, COUNT = int(os.environ.get('RANDOM_FIRST', 0)), int(os.environ.get('RANDOM_REQUESTS', 400 // ONE_IN))
worst_seen = []


@pytest.mark.parametrize('seed', range(FIRST, FIRST + COUNT))
def test_request(server, tmp_path, seed):
    request = generate.request(seed)
    kept = tmp_path / f'request-{seed}.json'
    kept.write_text(json.dumps(request))
    status, answer = post(server, '/v1/evaluate', request)
    assert status == 200, f'{answer}; request in {kept}'
    largest, words, structure = compare.worst(answer, oracle.evaluate(request))
    assert structure == [], f'request in {kept}'
    worst_seen.append((largest, seed, words))
    assert largest <= TOLERANCE, f'{words}; request in {kept}'


def test_report(capsys):
    assert len(worst_seen) > 0
    largest, seed, words = max(worst_seen)
    with capsys.disabled():
        print(f'\nworst of {len(worst_seen)} random requests: {largest:.2e} (seed {seed}: {words})')
