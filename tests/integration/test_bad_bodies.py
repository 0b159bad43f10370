"""Bodies that are wrong as a whole: cut, changed at random, huge. Each gets an answer; the server continues to work and
does not keep the memory.
"""
import json
import os
import random
import signal
import time

import pytest

from conftest import ONE_IN
from mutations import FINE, GOOD, MUTATED, text_of
from test_cases import problem_of
from watched import MIB, Server, served  # noqa: F401


def test_cut_anywhere(served):  # noqa: F811
    """No proper prefix of a document is accepted."""
    text = text_of(GOOD['given-table'])
    for end in range(0, len(text), 7 if ONE_IN == 1 else 29):
        status, headers, content = served.evaluate(text[:end])
        assert status == 400, text[:end][-40:]
        problem_of(status, headers, content)
    served.assert_well()


def test_bytes_changed_at_random(served):  # noqa: F811
    """Whatever the change does, the server responds, and never with 500."""
    chance = random.Random(1)
    seen = set()
    for _ in range(1500 // ONE_IN):
        text = bytearray(text_of(GOOD[chance.choice(list(GOOD))]))
        for _ in range(chance.choice((1, 1, 2, 5))):
            text[chance.randrange(len(text))] = chance.choice(b'[]{},:"\\0123456789.-+eE \x00\xff\xc3tfn/~')
        status, headers, content = served.evaluate(bytes(text))
        seen.add(status)
        assert status in (200, 400, 422), (status, bytes(text))
        if status == 200:
            json.loads(content)
        else:
            problem_of(status, headers, content)
    assert seen == {200, 400, 422}
    served.assert_well()


# Bodies of 100 MB are read whole, validated and freed; in a share 20 MB, which take the same path, and with
# AddressSanitizer 10 MB.
IS_ASAN = os.environ.get('MODE') == 'asan'
HUGE = 10_000_000 if IS_ASAN else 20_000_000 if ONE_IN > 1 else 100_000_000
BODIES = {
    'numbers in an unknown field': (lambda: FINE[:-1] + b',"x":[' + b'0.1234567,' * (HUGE // 10) + b'1]}', 422, '/x'),
    'small numbers in an unknown field': (lambda: FINE[:-1] + b',"x":[' + b'1,' * (HUGE // 2) + b'1]}', 422, '/x'),
    'opening brackets': (lambda: b'[' * HUGE, 400, ''),
    'opening braces': (lambda: b'{"a":' * (HUGE // 5), 400, ''),
    'closing brackets': (lambda: FINE + b']' * HUGE, 400, ''),
    'a string': (lambda: b'"' + b's' * HUGE + b'"', 413, None),
    'a string in an unknown field': (lambda: FINE[:-1] + b',"x":"' + b'\xc3\xa9' * (HUGE // 2) + b'"}', 413, None),
    'a string without an end': (lambda: b'"' + b's' * HUGE, 413, None),
    'backslashes': (lambda: b'["' + b'\\' * HUGE + b'"]', 413, None),
    'a key': (lambda: FINE[:-1] + b',"' + b'k' * HUGE + b'":1}', 413, None),
    'a number': (lambda: b'[' + b'1' * HUGE + b']', 413, None),
    'a number with many zeros': (lambda: b'[0.' + b'0' * HUGE + b'1]', 413, None),
    'white space': (lambda: b' ' * HUGE, 400, ''),
    'white space around': (lambda: b' ' * (HUGE // 2) + FINE + b'\n' * (HUGE // 2), 200, None),
    'words': (lambda: b'[' + b'null,' * (HUGE // 5) + b'null]', 413, None),
    'commas': (lambda: b'[' + b',' * HUGE, 400, ''),
    'bytes of no meaning': (lambda: random.Random(2).randbytes(HUGE), 400, ''),
    'zeros': (lambda: bytes(HUGE), 400, ''),
}


@pytest.mark.parametrize('name', BODIES)
def test_huge_bodies(served, name):  # noqa: F811
    make, expected, pointer = BODIES[name]
    status, headers, content = served.evaluate(make())
    assert status == expected, content[:500]
    if status != 200:
        problem = problem_of(status, headers, content)
        assert len(content) < 10_000
        if pointer is not None:
            assert [error['pointer'] for error in problem['errors']] == [pointer]
    served.assert_well()


@pytest.mark.parametrize('bad', ['null', '"NaN"', 'true', '{}', '[1]'])
@pytest.mark.parametrize('n', [10, 99_990, 150_000])
def test_one_wrong_entry_of_a_large_array(served, n, bad):  # noqa: F811
    """Encoders that write NaN as null send such arrays: the pointer must be exact in a large batch, too."""
    rows = b'[1.5,2.5],' * n
    text = FINE.replace(b'[[0.05, 0]]', b'[' + rows + b'[0,%b],' % bad.encode() + rows + b'[0,0]]')
    status, headers, content = served.evaluate(text)
    assert status == 422, content[:500]
    assert [error['pointer'] for error in problem_of(status, headers, content)['errors']] == [f'/velocities/{n}/1']


def bad_bodies():
    texts = [text_of(request) for _, request, _ in MUTATED[::7]]
    texts += [text[:len(text) // 2] for text in texts]
    return texts + [b'', b'[' * 10_000, b'{"a":' * 10_000, b'\xff' * 1000, b'["a",' * 20_000]


def large_bad_bodies():
    n = min(HUGE, 20_000_000)
    numbers_ = b'0.1234567,' * (n // 10)
    return [FINE[:-1] + b',"x":[' + numbers_ + b'1]}', b'[' * n, b'"' + b's' * n + b'"',
            FINE.replace(b'[[0.05, 0]]', b'[' + numbers_ + b'"x"]'),
            FINE.replace(b'[[0.05, 0]]', b'[' + numbers_ + b'[1]]'),
            FINE[:-1] + b',"' + b'k' * n + b'":1}', b'[' + b'null,' * (n // 5) + b'null]']


def test_memory_is_released(tmp_path):
    """Memory is compared with that of a fresh server: allocators may keep some, but not bodies of 20 MB."""
    server = Server(tmp_path / 'log')
    slack = (768 if IS_ASAN else 64) * MIB
    server.assert_well()
    before = server.resident()
    small, large = bad_bodies(), large_bad_bodies()
    apart = 100 if ONE_IN == 1 else 25
    for i in range(2000 if ONE_IN == 1 else apart * len(large)):  # each large one at least once
        body = large[i // apart % len(large)] if i % apart == apart // 2 else small[i % len(small)]
        status, headers, content = server.evaluate(body)
        assert status in (400, 413, 422)
        problem_of(status, headers, content)
    server.assert_well()
    for _ in range(60):  # large blocks are kept warm for some seconds
        after = server.resident()
        if after - before <= slack:
            break
        time.sleep(1)
    server.connection.close()
    server.process.send_signal(signal.SIGTERM)
    server.process.communicate()
    assert server.process.returncode == 0
    assert 'Sanitizer' not in (tmp_path / 'log').read_text(errors='replace')
    assert after - before <= slack, f'{before // MIB} MiB before, {after // MIB} MiB after'
