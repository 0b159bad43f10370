"""Random requests with barriers, searched features and longest steps: the service beside the oracle.

CONTACT_REQUESTS: how many (300, or 25 with SHARE); CONTACT_FIRST: the first seed (0).
"""
import json
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'integration')]
import compare  # noqa: E402
import contacts  # noqa: E402
import generate_contacts as made  # noqa: E402
import oracle  # noqa: E402
from client import pointers, post  # noqa: E402
from conftest import server  # noqa: E402, F401

TOLERANCE = 1e-9
MOST = 25 if int(os.environ.get('SHARE', 1)) > 1 else 300
FIRST, COUNT = int(os.environ.get('CONTACT_FIRST', 0)), int(os.environ.get('CONTACT_REQUESTS', MOST))


@pytest.mark.parametrize('seed', range(FIRST, FIRST + COUNT))
def test_request(server, tmp_path, seed):  # noqa: F811
    request = made.request(seed)
    kept = tmp_path / f'request-{seed}.json'
    kept.write_text(json.dumps(request))
    status, answer = post(server, '/v1/evaluate', request)
    assert status == 200, f'{answer}; request in {kept}'
    evaluation = oracle.Evaluation(request)
    expected = evaluation.answer()
    if 'longest_step' in expected:
        judge_step(evaluation, answer.pop('longest_step', None))
        del expected['longest_step']
    for c in evaluation.all():
        contacts.leave_open(c, answer, expected)
    largest, words, structure = compare.worst(answer, expected)
    assert structure == [], f'request in {kept}'
    assert largest <= TOLERANCE, f'{words}; request in {kept}'


def judge_step(evaluation, got):
    """Conservative, at least 0.8 of the largest step, and the pair that is named limits it."""
    keep, bounds = evaluation.request['longest_step'].get('keep', 0.1), {}
    for c, path in evaluation.paths():
        bounds.setdefault((c.group, c.members if isinstance(c.members, int) else tuple(c.members)), path.bounds(keep))
    least = min((safe for safe, _ in bounds.values()), default=1.0)
    unsafe = min((x for _, x in bounds.values() if x is not None), default=None)
    assert set(got) == {'step', 'group', 'vertices'}
    assert 0.8 * least * (1 - 1e-9) <= got['step'] <= (1.0 if unsafe is None else unsafe), (got, least, unsafe)
    if got['step'] == 1:
        assert got['group'] is None and got['vertices'] is None
    else:
        named = got['vertices'] if isinstance(got['vertices'], list) else [got['vertices']]
        assert 0.8 * bounds[got['group'], tuple(named)][0] * (1 - 1e-9) <= got['step']


@pytest.mark.parametrize('index', range(len(made.FAULTS)))
def test_fault(server, index):  # noqa: F811
    request, status, pointer = made.faulty(index)
    assert post(server, '/v1/evaluate', made.plain())[0] == 200
    got, answer = post(server, '/v1/evaluate', request)
    assert got == status, answer
    assert pointer in pointers(answer), answer
