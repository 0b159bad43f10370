"""examples/um-bridge/slips.py: the model of how far pucks slide against quadratures of the law's formula, the random walk against
the posterior on a grid, which is computed here without the service; the output and the picture against docs/um-bridge.md.
"""
import pathlib
import re
import sys

import numpy as np
import pytest
from scipy.integrate import quad
from test_experiments import NUMBER, lines

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples/um-bridge"))
import slips  # noqa: E402

PAGE = (ROOT / "docs/um-bridge.md").read_text()
EPS_V, STRIBECK, G = 0.005, 0.15, 9.81


def force(v, mu_s, mu_k):
    """The force of the law in docs/physics.md, on a mass of 1."""
    z = v / EPS_V
    return G * (mu_s * z * (2 - z) if z < 1 else mu_k + (mu_s - mu_k) * np.exp(-((v - EPS_V) / STRIBECK) ** 2))


def slid(mu):
    def way(low, high):
        return quad(lambda v: v / force(v, *mu), low, high, epsabs=0, epsrel=1e-12)[0]

    return np.array([way(1e-300, EPS_V) + way(EPS_V, push) for push in slips.PUSHES])


@pytest.fixture(scope="module")
def pucks(server):
    made = slips.Pucks(server)
    yield made
    made.close()


@pytest.mark.parametrize("mu", [(0.5, 0.3), (0.9, 0.1), (0.2, 0.19)])
def test_slips_are_those_of_the_formula(pucks, mu):
    assert pucks.slips(mu) == pytest.approx(slid(mu), rel=1e-8)
    step = 1e-5
    for i, column in enumerate(pucks.slopes(mu).T):
        moved = np.eye(2)[i] * step
        assert column == pytest.approx((slid(mu + moved) - slid(mu - moved)) / (2 * step), rel=1e-6)


def test_the_measured_slips_have_the_error_that_is_stated():
    """The stated slips were generated from the true coefficients, and rounded to micrometres."""
    noise = np.random.default_rng(20).normal(size=12)
    assert slips.SLIPS == pytest.approx(np.round(slid(slips.TRUE) * (1 + slips.ERROR * noise), 6), abs=1e-12)


@pytest.fixture(scope="module")
def posterior():
    """(mean, covariance) on a grid that extends seven standard deviations in each direction."""
    mu_s, mu_k = np.meshgrid(np.linspace(0.43, 0.56, 41), np.linspace(0.27, 0.34, 41), indexing="ij")
    grid = np.transpose([mu_s.ravel(), mu_k.ravel()])
    weights = np.exp([-0.5 * (((slid(mu) - slips.SLIPS) / (0.03 * slips.SLIPS)) ** 2).sum() for mu in grid])
    weights /= weights.sum()
    edge = weights.reshape(41, 41)
    assert max(edge[0].max(), edge[-1].max(), edge[:, 0].max(), edge[:, -1].max()) < 1e-8 * edge.max()
    mean = weights @ grid
    return mean, (grid - mean).T @ ((grid - mean) * weights[:, None])


def test_the_walk_samples_the_posterior(pucks, posterior):
    """Means are within five standard errors, computed for as many independent samples as the walk is worth."""
    mean, covariance = posterior
    best, linear = slips.most_likely(pucks, np.array([0.4, 0.35]))
    samples, taken = slips.walk(pucks, best, linear, 4000, np.random.default_rng(7))
    worth = min(map(slips.effective, samples.T))
    assert 200 < worth < 4000 and 0.2 < taken < 0.6
    deviation = np.sqrt(np.diag(covariance))
    assert abs(samples.mean(axis=0) - mean).max() < 5 * (deviation / np.sqrt(worth)).max()
    assert (abs(samples.mean(axis=0) - mean) < 5 * deviation / np.sqrt(worth)).all()
    assert samples.std(axis=0) == pytest.approx(deviation, rel=5 / np.sqrt(2 * worth))
    correlation = covariance[0, 1] / deviation.prod()
    assert np.corrcoef(samples.T)[0, 1] == pytest.approx(correlation, abs=5 / np.sqrt(worth))
    assert (samples[:, 1] < samples[:, 0]).all() and (samples > 0).all() and (samples < 1).all()


def test_the_posterior_covers_the_truth(pucks):
    """Three sigmas in two dimensions: chi^2 exceeds 11.8 once in 370 measurements."""
    best, linear = slips.most_likely(pucks, np.array([0.4, 0.35]))
    samples, _ = slips.walk(pucks, best, linear, 2000, np.random.default_rng(8))
    away = slips.TRUE - samples.mean(axis=0)
    assert away @ np.linalg.solve(np.cov(samples.T), away) < 11.8
    low, high = np.quantile(samples, (0.005, 0.995), axis=0)
    assert (low < slips.TRUE).all() and (slips.TRUE < high).all()


def test_most_likely_is_the_least(pucks):
    best, _ = slips.most_likely(pucks, np.array([0.45, 0.33]))
    least = slips.misfit(slid(best))
    for away in np.eye(2) * 1e-3:
        assert slips.misfit(slid(best + away)) > least < slips.misfit(slid(best - away))


def test_effective_samples():
    """For independent samples nearly all count; for an autoregression with a = 0.9, (1 - a) / (1 + a) of them do."""
    rng = np.random.default_rng(3)
    noise = rng.normal(size=200_000)
    assert slips.effective(noise) == pytest.approx(200_000, rel=0.05)
    x = np.zeros(200_000)
    for i in range(1, len(x)):
        x[i] = 0.9 * x[i - 1] + noise[i]
    assert slips.effective(x) == pytest.approx(200_000 * 0.1 / 1.9, rel=0.1)


@pytest.fixture(scope="module")
def told(server, run, tmp_path_factory):
    """The output of a run without options, and its picture."""
    picture = tmp_path_factory.mktemp("slips") / "slips.svg"
    return run("python3", "examples/um-bridge/slips.py", server, "--plot", picture), picture


def test_the_page_shows_what_is_printed(told):
    shown = re.search(r"```sh\npython3 examples/um-bridge/slips\.py.*\n```\n```text\n((?:.*\n)+?)```", PAGE)[1]
    one, other = shown.splitlines(), told[0].splitlines()
    assert [re.sub(NUMBER, "#", line) for line in one] == [re.sub(NUMBER, "#", line) for line in other]
    for line, new in zip(one, other):
        assert list(map(float, re.findall(NUMBER, line))) == pytest.approx(list(map(float, re.findall(NUMBER, new))), rel=0.02)


def test_the_set_is_deleted_afterwards(pucks, told):
    assert [each["name"] for each in pucks.model.send("GET", "/v1/sets", None)["sets"]] == [pucks.name]


def test_the_picture_is_up_to_date(told):
    kept = ROOT / "docs/pictures/slips.svg"
    (words, count), (new_words, new_count) = lines(kept), lines(told[1])
    assert words == new_words and count == pytest.approx(new_count, rel=0.02)
    assert kept.stat().st_size <= 40_000 and "(pictures/slips.svg)" in PAGE


def test_refusals(fail, nobody, refusing):
    assert "must be larger than 0" in fail("python3", "examples/um-bridge/slips.py", refusing)
    assert "Traceback" not in fail("python3", "examples/um-bridge/slips.py", nobody)
