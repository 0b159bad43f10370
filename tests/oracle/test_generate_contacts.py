"""Tests of the random requests for contacts: they have every option, and the oracle answers them."""
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import barriers  # noqa: E402
import generate_contacts as made  # noqa: E402
import oracle  # noqa: E402

GENERATOR = pytest.mark.skipif(int(os.environ.get('SHARE', 1)) > 1, reason='changes only with the generator; SHARE=1 runs it')


@GENERATOR
def test_every_option_is_generated():
    text = repr([made.request(seed) for seed in range(100)])
    words = [*made.FRICTION_OUTPUTS, *made.BARRIER_OUTPUTS, *oracle.GROUPS, *barriers.TYPES, 'terms', 'time_step',
             'current_positions', 'search', 'given', 'mollifier', 'longest_step', 'keep', 'clamp', 'abs', 'none', 'skip',
             'hessian_products', 'triplets', 'csr', 'bsr', 'upper', 'lower', 'physical', 'weight', 'anchor', 'grain']
    assert [w for w in words if f"'{w}'" not in text] == []


@GENERATOR
def test_contacts_are_of_every_kind():
    """Parts of all primitives, statuses, and distances from tiny to beyond dhat."""
    features, statuses, ratios = set(), set(), []
    for seed in range(200):
        request = made.request(seed)
        e = oracle.Evaluation(request)
        e.answer()
        for c in e.all():
            if c.acting and c.acting.feature:
                features.add((c.group, c.acting.feature.bits))
                ratios.append(c.acting.distance / request['barrier']['dhat'])
            if 'friction' in e.terms:
                statuses.add(c.output('status'))
    assert {(g, b) for g in ('edge_edge',) for b in (5, 6, 7, 9, 10, 11, 13, 14, 15)} <= features
    assert {('face_vertex', b) for b in (3, 5, 7, 9, 11, 13, 15)} | {('edge_vertex', b) for b in (3, 5, 7)} <= features
    assert {0, 1, 3} <= statuses
    assert min(ratios) < 1e-9 and max(ratios) > 1


def test_faults_spoil_a_good_request():
    oracle.evaluate(made.plain())
    for index in range(len(made.FAULTS)):
        request, _, pointer = made.faulty(index)
        assert request != made.plain() and pointer.startswith('/')
