"""Tests of the clients without NumPy: each suite test_LANGUAGE.py imports these tests and provides two commands, the
fixtures `example` (the tile) and `probe`.

A probe is a small program that uses the language's client:  PROBE URL WHAT [ARGUMENT]
  exact FILE      reads numbers from a file, sends them through smooth_friction_f0, prints the results
  one, none       a vertex on a floor with one contact or none: prints gradient, potential, the potential per contact
  wrong           a contact of a vertex that does not exist
  token TOKEN     prints the name of a service that needs a token
  functions       prints how many scalar functions there are
  hessian FILE    (Octave, R) posts the batch in a file, prints the full matrix row by row
  sets FILE       (Octave, R, Rust) see collision_sets.py
  carry FILE, law FILE   see carried.py
Numbers are printed one per line, with as many digits as a double needs.
"""
import concurrent.futures
import http.client
import json
import pathlib
import re
import urllib.parse

import numpy as np
import pytest

from fake import FakeService

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKEN = "0123456789abcdef0123456789abcdef"
BUSY = (503, {"Retry-After": "0"})


def batch(vertices):
    floor = {"vertices": vertices, "plane_normal": [0, 0, 1], "normal_force": [9.81] * len(vertices)}
    return {"dim": 3, "velocities": [[0.02, 0.01, 0]], "friction": {"eps_v": 1e-3, "mu": 0.3},
            "collisions": {"plane_vertex": floor}, "outputs": ["potential", "gradient", "collisions"],
            "collision_outputs": ["potential"]}


def evaluate(server, document, path="/v1/evaluate"):
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(server).netloc)
    connection.request("POST", path, json.dumps(document), {"Content-Type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer


def numbers(text):
    return [float(word) for word in text.split()]


def test_the_tile_is_that_of_python(example, run, server, tile, same):
    same(tile, run(*example, server))


def test_a_busy_service_is_asked_again(example, run, server, tile, same):
    with FakeService(server, BUSY, "reset", (503, {"Retry-After": "1"})) as fake:
        same(tile, run(*example, fake.url))
        assert len(fake.requests) == 4
        assert len({body for *_, body in fake.requests}) == 1


def test_the_example_says_what_is_wrong(example, fail, nobody, refusing, server):
    with FakeService(server, *[BUSY] * 99) as fake, concurrent.futures.ThreadPoolExecutor(3) as all_three:
        wrong, nothing, busy = (all_three.submit(fail, *example, url) for url in (refusing, nobody, fake.url))
        output = wrong.result()
        assert "422" in output and "must be larger than 0" in output and "/friction/eps_v" in output
        assert "onnect" in nothing.result() and nobody in nothing.result() and "is it running?" in nothing.result()
        assert "503" in busy.result() and "as told" in busy.result()
        assert len(fake.requests) == 6


def test_a_page_of_a_proxy_is_no_answer(probe, fail, server):
    with FakeService(server, (404, {"Content-Type": "text/html"})) as fake:
        assert "404" in fail(*probe, fake.url, "functions")


def test_the_wrong_field_is_named(probe, fail, server):
    output = fail(*probe, server, "wrong")
    assert "422" in output and "912 is not a vertex" in output and "/collisions/plane_vertex/vertices/0" in output


@pytest.mark.parametrize("vertices", [[0], []], ids=["one", "none"])
def test_few_contacts(probe, run, server, vertices):
    answer = evaluate(server, batch(vertices))
    expected = answer["gradient"] + [answer["potential"]] + answer["collisions"]["plane_vertex"]["potential"]
    assert numbers(run(*probe, server, "one" if vertices else "none")) == expected


@pytest.mark.parametrize("n", [0, 15, 1000])  # up to 15 numbers, an answer is text even in a frame
def test_doubles_survive_both_ways(probe, run, server, tmp_path, n):
    rng = np.random.default_rng(n)
    sent = (rng.uniform(1, 10, n) * 10.0 ** rng.integers(-290, 290, n)).tolist()
    (tmp_path / "numbers").write_text("".join(f"{number!r}\n" for number in sent))
    assert numbers(run(*probe, server, "exact", tmp_path / "numbers")) == sent


def test_a_token_is_sent(probe, run, fail, server_with, tmp_path):
    (tmp_path / "tokens").write_text(f"lab {TOKEN}\n")
    server = server_with("--tokens", str(tmp_path / "tokens"))
    assert run(*probe, server, "token", TOKEN).strip() == "frictiond"
    assert "401" in fail(*probe, server, "functions")


def test_the_scalar_functions_are_listed(probe, run, server):
    assert numbers(run(*probe, server, "functions")) == [19]


def hessian_as_matrix(probe, run, server, path, document, **options):
    """Asserts that the sparse matrix of a probe is the sum of the triplets."""
    document = {**{k: v for k, v in document.items() if k != "collision_outputs"}, "outputs": ["hessian"]}
    h = evaluate(server, document)["hessian"]
    expected = np.zeros(h["shape"])
    np.add.at(expected, (h["rows"], h["cols"]), h["values"])
    expected = {"upper": np.triu, "lower": np.tril}.get(options.get("triangle"), lambda matrix: matrix)(expected)
    path.write_text(json.dumps({**document, "hessian": options}))
    assert numbers(run(*probe, server, "hessian", path)) == pytest.approx(expected.ravel().tolist(), rel=1e-15)


def command_of(path, program):
    """The shell command that builds an example, from the comment at its top, with another name for the program."""
    lines = [line.strip(" */\n") for line in (ROOT / path).read_text().splitlines()[:12]]
    first = next(i for i, line in enumerate(lines) if line.startswith(("cc ", "c++ ")))
    command = " ".join(lines[first:first + 2]).split(" &&")[0]
    assert " -o build/" in command
    return re.sub(r" -o \S+", f" -o {program}", command)
