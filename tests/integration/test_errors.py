"""Malformed requests made by systematic mutation of good ones. Each gets the right status and a problem with a pointer
to the mutated place, and afterwards the server still works, without a sanitizer's report."""
import os

import pytest

from conftest import ONE_IN
from mutations import FINE, GOOD, MUTATED, NON_NEGATIVE, POSITIVE, REQUIRED, ROWS, replaced, text_of
from test_cases import leads_somewhere, problem_of
from watched import served  # noqa: F401


@pytest.mark.parametrize('name', GOOD)
def test_good_documents_are_good(served, name):  # noqa: F811
    status, _, content = served.evaluate(text_of(GOOD[name]))
    assert status == 200, content


def test_good_documents_have_every_field():
    def names(value):
        return set(value).union(*(names(inner) for inner in value.values())) if isinstance(value, dict) else set()
    assert set().union(*(names(good) for good in GOOD.values())) >= REQUIRED | POSITIVE | NON_NEGATIVE | set(ROWS) | {
        'blend', 'mu_transition', 'hessian', 'format', 'triangle', 'projection', 'outputs', 'collision_outputs',
        'on_degenerate'}
    assert len(MUTATED) >= 200


CHOSEN = MUTATED if ONE_IN == 1 else MUTATED[::5 if os.environ.get('MODE') == 'asan' else 3]


@pytest.mark.parametrize('what,request_,pointer', CHOSEN, ids=[case[0] for case in CHOSEN])
def test_mutated(served, what, request_, pointer):  # noqa: F811
    status, headers, content = served.evaluate(text_of(request_))
    assert status == 422, content[:1000]
    pointers = [error['pointer'] for error in problem_of(status, headers, content)['errors']]
    assert pointer in pointers or any(p.startswith(pointer + '/') for p in pointers if 'six levels' in what)
    assert all(leads_somewhere(request_, p) for p in pointers)
    assert served.evaluate(FINE)[0] == 200


def test_numbers_out_of_range_anywhere(served):  # noqa: F811
    for name, good in GOOD.items():
        for path, number in leaves_of(good, []):
            if isinstance(number, (int, float)) and not isinstance(number, bool):
                text = text_of(replaced(good, path, 'HERE')).replace(b'"HERE"', b'-1e999')
                status, headers, content = served.evaluate(text)
                assert status == 400, (name, path)
                problem_of(status, headers, content)
    served.assert_well()


def leaves_of(value, path):
    for key, inner in (value.items() if isinstance(value, dict) else enumerate(value)):
        if isinstance(inner, (dict, list)):
            yield from leaves_of(inner, path + [key])
        else:
            yield path + [key], inner
