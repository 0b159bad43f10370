"""examples/experiments/identify.py: friction from a trajectory. The trajectory is compared with one that is computed
here with the law's formula and a root finder, its derivatives with differences of it, and the output with
docs/inverse.md.
"""
import pathlib
import re
import sys

import numpy as np
import pytest
from scipy.optimize import brentq
from test_experiments import NUMBER, lines

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples/experiments"))
import identify  # noqa: E402

PAGE = (ROOT / "docs/inverse.md").read_text()
WEIGHT = 0.2 * 9.81


@pytest.fixture(scope="module")
def client(server):
    return identify.frictiond.Client(server)


@pytest.fixture
def puck(client):
    made = identify.Puck(client, 300)
    yield made
    made.close()


def force(slip, mu_s, mu_k, eps_v, stribeck_speed):
    """The force of the law in docs/physics.md, with its sign."""
    z = abs(slip) / eps_v
    if z < 1:
        return np.sign(slip) * mu_s * WEIGHT * z * (2 - z)
    x = (abs(slip) - eps_v) / stribeck_speed
    return np.sign(slip) * WEIGHT * (mu_k + (mu_s - mu_k) * np.exp(-x * x))


def slid(theta, steps):
    """The puck's velocities. Each step of implicit Euler is the root of an increasing function."""
    h, v, path = 1e-3, 0.0, []
    for n in range(1, steps + 1):
        table = 0.8 * n / steps * np.sin(2 * np.pi * 3 * h * n)
        v = brentq(lambda new: 0.2 / h * (new - v) + force(new - table, *theta), v - 1, v + 1, xtol=1e-16, rtol=1e-15)
        path.append(v)
    return np.array(path)


THETAS = [identify.TRUE, identify.START, [0.3, 0.2, 0.05, 0.02]]


@pytest.mark.parametrize("theta", THETAS)
def test_the_trajectory_is_that_of_a_root_finder(puck, theta):
    assert puck.simulate(np.array(theta)) == pytest.approx(slid(theta, 300), abs=1e-12)


@pytest.mark.parametrize("theta", THETAS)
def test_derivatives_are_those_of_the_trajectory(puck, theta):
    """Compares vjp and jvp with central differences of the root finder's trajectory. At a knot of the law, where the
    puck begins to slide, the differences are off by the jump of the second derivative."""
    theta, rng = np.array(theta), np.random.default_rng(4)
    cotangent = rng.normal(size=300)
    puck.simulate(theta)
    back, columns = puck.pull_back(cotangent), [puck.push_forward(k) for k in range(4)]
    for k, column in enumerate(columns):
        assert back[k] == pytest.approx(column @ cotangent, rel=1e-9, abs=1e-12 * abs(column).max())
        ahead, behind = (slid(theta * np.where(np.arange(4) == k, 1 + h, 1), 300) for h in (1e-6, -1e-6))
        differences = (ahead - behind) / (2e-6 * theta[k])
        assert column == pytest.approx(differences, abs=1e-4 * abs(differences).max())


def test_refusals(fail, nobody, refusing):
    assert "must be larger than 0" in fail("python3", "examples/experiments/identify.py", refusing)
    assert "Traceback" not in fail("python3", "examples/experiments/identify.py", nobody)


@pytest.fixture(scope="module")
def told(server, run, tmp_path_factory):
    """The output of a run without options, and its picture."""
    picture = tmp_path_factory.mktemp("identify") / "identify.svg"
    return run("python3", "examples/experiments/identify.py", server, "--plot", picture), picture


def numbers(line):
    return [float(number) for number in re.findall(rf"(?<= ){NUMBER}", line)]


def test_the_coefficients_are_found(told):
    """Errors are within what the noise allows: one of four numbers exceeds four standard deviations once in 4000
    runs."""
    rows = [line for line in told[0].splitlines() if line.split()[0] in identify.NAMES]
    assert len(rows) == 4
    for row, true in zip(rows, identify.TRUE):
        given, start, found, deviation = numbers(row)
        assert given == true and abs(found - true) < 4 * deviation < 0.2 * true < abs(start - true)


def test_derivatives_save_simulations(told):
    """Differences need five simulations where the vjp needs one. Both find the same minimum, about half a square per
    measurement."""
    rows = {line.strip()[:12].strip(): numbers(line) for line in told[0].splitlines()}
    assert rows["simulations"][0] < 100 and rows["simulations"][1] > 3 * rows["simulations"][0]
    assert rows["requests"][0] < rows["requests"][1]
    assert rows["least"][0] <= rows["least"][1] + 1e-6
    assert rows["least"][0] == pytest.approx(500, rel=4 * np.sqrt(2 / 1000))
    assert rows["at the start"][0] < 1e-5 and rows["0.01 % from"][-1] < 1e-2


def test_the_page_shows_what_is_printed(told):
    """Numbers of simulations may differ a little between machines, and times do."""
    shown = re.search(r"```sh\npython3 examples/experiments/identify\.py.*\n```\n```text\n((?:.*\n)+?)```", PAGE)[1]
    assert len(shown.splitlines()) == len(told[0].splitlines())
    for one, other in zip(shown.splitlines(), told[0].splitlines()):
        assert re.sub(rf" *{NUMBER}", " #", one) == re.sub(rf" *{NUMBER}", " #", other)
        if one.split()[0] in (*identify.NAMES, "least"):
            assert numbers(one) == pytest.approx(numbers(other), rel=1e-3)


def test_the_picture_is_up_to_date(told):
    kept = ROOT / "docs/pictures/identify.svg"
    (words, count), (new_words, new_count) = lines(kept), lines(told[1])
    assert [word for word in words if not re.fullmatch(r"[-−\d.]+", word)] == [
        word for word in new_words if not re.fullmatch(r"[-−\d.]+", word)]
    assert count == pytest.approx(new_count, rel=0.05)
    assert kept.stat().st_size <= 40_000 and "(pictures/identify.svg)" in PAGE
