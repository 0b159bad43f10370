"""Compares the experiments of examples/experiments with closed forms, SciPy's integrals and an integrator of
differential equations, and their output and pictures, as well as those of examples/c/rest.c, with docs/experiments.md.
"""
import math
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from scipy.integrate import dblquad

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples/experiments"))
import conveyor  # noqa: E402
import curve  # noqa: E402
import floor  # noqa: E402
import motion  # noqa: E402
import rest  # noqa: E402
import rolling  # noqa: E402
import stick_slip  # noqa: E402
from conftest import integration  # noqa: E402

G = 9.81
NAMES = ("rest", "floor", "conveyor", "stick_slip", "rolling", "curve")
LONG = ("rest", "floor", "stick_slip", "rolling")
PAGE = (ROOT / "docs/experiments.md").read_text()
NUMBER = r"[-+]?\d+\.?\d*(?:e[-+]\d+)?"
PROGRAM = ROOT / os.environ.get("FRICTIOND", "build/frictiond")
QUICK = integration.ONE_IN > 1
IN_FULL = pytest.mark.skipif(QUICK, reason="takes a minute; SHARE=1 runs it")


@pytest.fixture(scope="module")
def server():
    """A client of a server that does not log each of thousands of requests."""
    process, base = integration.start("--log-level", "warning")
    yield base
    assert integration.stop(process) == 0


@pytest.fixture(scope="module")
def client(server):
    """With a share of the cases, the service is in this process, which takes half the time. The programs use HTTP."""
    return motion.frictiond.local(threads=1) if QUICK else motion.frictiond.Client(server)


# -- a block that rests ------------------------------------------------------------------------------------------------

def creep(share):
    """The speed divided by eps_v at which 2z - z^2 has this value."""
    return 1 - math.sqrt(1 - share)


def test_blocks_rest(client):
    """At half of the cone the distance is the deflection whose force balances the load. At 0.95 the block slips a
    little first."""
    path, v = rest.rest(client, 400, anchors=True)
    assert path[-1, 0] == pytest.approx(creep(0.5) * 1e-3 * 1e-3, rel=1e-12)
    assert creep(0.95) * 1e-6 * (1 - 1e-12) <= path[-1, 1] < 2e-6
    assert abs(v).max() < 1e-14 * 1e-3


def test_blocks_creep_without_anchors(client):
    half = 50 if QUICK else 200
    path, v = rest.rest(client, 2 * half, anchors=False)
    assert v == pytest.approx([1e-3 * creep(0.5), 1e-3 * creep(0.95)], rel=1e-12)
    assert path[-1] - path[half] == pytest.approx(half * 1e-3 * v, rel=1e-12)


def test_ten_thousand_steps(defaults):
    """In the output of the program, the block does not move in the last half, up to rounding. Creep would amount to a
    millimetre."""
    rows = re.findall(rf"^ +(0\.5|0\.95)  (yes|no) +({NUMBER})  ({NUMBER})$", defaults["rest"][0], re.M)
    assert [(share, anchors) for share, anchors, *_ in rows] == [
        ("0.5", "yes"), ("0.95", "yes"), ("0.5", "no"), ("0.95", "no")]
    for share, anchors, way, expected in rows:
        creeps = 0 if anchors == "yes" else creep(float(share)) * 1e-3 * 1e-3 * 5000
        assert float(expected) == pytest.approx(creeps, rel=1e-5)
        assert float(way) == pytest.approx(creeps, rel=1e-5, abs=1e-17)


# -- a block on a floor of triangles -----------------------------------------------------------------------------------

def test_a_block_keeps_sticking_while_contacts_change(client):
    """It slides for 0.42 s, across several triangles. Then it rests, although every tenth step has other contacts."""
    steps, rests = 640, 480
    way, slid, contacts = floor.slide(client, steps, carries=True)
    assert slid[:400].all() and not slid[rests:].any() and 0.2 < way.sum() < 0.22
    assert len(set(contacts[:400])) > 3 and len(set(contacts[rests:])) == 2
    assert abs(way[rests + 1:]).max() < 1e-18


def test_a_block_creeps_if_anchors_are_lost(client):
    steps, rests = 640, 480
    way, slid, contacts = floor.slide(client, steps, carries=False)
    assert not slid[rests:].any()
    assert np.flatnonzero(np.diff(contacts[rests:])).tolist() == list(range(9, steps - rests - 1, 10))
    whole = way[rests + 11:]  # steps from one change to the last one before another
    assert whole.sum() == pytest.approx(len(whole) / 10 * 1e-6 * creep(0.5), rel=1e-3)


def test_ten_thousand_steps_on_a_floor(defaults):
    (carried, zero), (lost, expected) = (re.search(rf"^  {word} .* ({NUMBER})  ({NUMBER})$", defaults["floor"][0], re.M).groups()
                                         for word in ("carried", "lost"))
    assert abs(float(carried)) < 1e-17 and float(zero) == 0
    assert float(lost) == pytest.approx(500e-6 * creep(0.5), rel=1e-3) and float(expected) == pytest.approx(500e-6 * creep(0.5), rel=1e-5)


def linked(source, program):
    """Compiles a C example with the library."""
    folder = PROGRAM.parent / "release" if (PROGRAM.parent / "release/libfric.a").exists() else PROGRAM.parent
    sanitizers = ["-fsanitize=address,undefined"] if os.environ.get("MODE") == "asan" else []
    subprocess.run(["cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", *sanitizers, "-Icore", source,
                    folder / "libfric.a", "-fopenmp", "-lm", "-o", program], cwd=ROOT, check=True)


@IN_FULL
def test_a_million_steps_of_the_library(tmp_path):
    linked("examples/c/rest.c", tmp_path / "rest")
    text = subprocess.run([tmp_path / "rest"], check=True, capture_output=True, text=True).stdout
    rows = re.findall(rf"^(0\.\d+) of the cone, (with|without) anchors: ({NUMBER}) ({NUMBER})$", text, re.M)
    assert text.startswith("1000000 steps") and len(rows) == 4
    for share, anchors, half, way in rows:
        held = 1e-3 * 1e-3 * creep(float(share))
        if anchors == "with":
            assert abs(float(half)) < 1e-16 and held * (1 - 1e-5) <= float(way) < 2e-6
        else:
            assert float(half) == pytest.approx(held * 500000, rel=1e-5)
    block = re.search(r"```sh\ncc examples/c/rest\.c.*\n```\n```text\n((?:.*\n)+?)```", PAGE)[1]
    compare_numbers(block, text)


def compare_numbers(shown, printed):
    """The words are the same, and numbers agree to a few per mille; numbers that are zero up to rounding are small in
    both."""
    assert re.sub(NUMBER, "#", shown).split() == re.sub(NUMBER, "#", printed).split()
    for one, other in zip(re.findall(NUMBER, shown), re.findall(NUMBER, printed)):
        assert float(one) == pytest.approx(float(other), rel=3e-3, abs=1e-9)


def largest_force(mu_s, mu_k, transition):
    """The maximum of mu(y) f1(y), from the roots of its derivative in every piece."""
    f1, step, fall = np.poly1d([-1, 2, 0]), mu_k - mu_s, np.poly1d([-1, 1])
    pieces = {"cubic": [(0, 1, mu_s + step * np.poly1d([-2, 3, 0, 0]))],
              "quadratic": [(0, 0.5, mu_s + 2 * step * np.poly1d([1, 0, 0])), (0.5, 1, mu_k - 2 * step * fall**2)]}
    return max(float(force(z)) for first, last, mu in pieces[transition] for force in [mu * f1]
               for z in [first, last, *(z.real for z in force.deriv().roots if abs(z.imag) < 1e-9)] if first <= z <= last)


@pytest.mark.parametrize("mu_s,mu_k,law,expected", [
    (0.6, 0.3, {"mu_transition": "peak"}, 0.6),
    (0.9, 0.05, {"mu_transition": "peak"}, 0.9),
    (0.5, 0.5, {"mu_transition": "peak"}, 0.5),
    (0.6, 0.3, {"law": "stribeck", "stribeck_speed": 1e-6}, 0.6),
    (0.6, 0.3, {"law": "exponential", "stribeck_speed": 1e-6}, 0.6),
    (0.4, 0.4, {"law": "adhesion"}, 0.4),
    (1.0, 0.1, {"mu_transition": "cubic"}, largest_force(1.0, 0.1, "cubic")),
    (0.6, 0.3, {"mu_transition": "quadratic"}, largest_force(0.6, 0.3, "quadratic")),
])
def test_break_away(client, mu_s, mu_k, law, expected):
    assert rest.break_away(client, mu_s, mu_k, **law) == pytest.approx(expected, abs=1e-9)


def test_cubic_holds_less():
    assert largest_force(1.0, 0.1, "cubic") == pytest.approx(0.44, abs=0.005)


@pytest.mark.parametrize("seed", range(0, 4, min(4, integration.ONE_IN)))
@pytest.mark.parametrize("size", [1.5] if QUICK else [0.6, 1.5, 6])
def test_no_energy_from_nothing(client, seed, size):
    """Over every part of the run, kinetic and stored energy grow by no more than the work of the loads."""
    energy, work = rest.shake(client, seed=seed, size=size)
    assert np.diff(energy - work).max() <= 1e-14 * abs(work).max()
    assert work[-1] > 1.5 * energy[-1] > 0 and energy.max() > 1e-3


def test_stored_energy_comes_back(client):
    """If the loads never break the contacts, most of the energy is stored, and it decreases again."""
    energy, work = rest.shake(client, size=0.05, h=2e-4, steps=100)
    assert np.diff(energy).min() < 0 and np.diff(work).min() < 0


FALLING = [{"law": "stribeck", "mu_s": 0.5, "mu_k": 0.3, "stribeck_speed": 0.01},
           {"mu_s": 0.5, "mu_k": 0.3, "mu_transition": "peak"}]


@pytest.mark.parametrize("law", FALLING[:1] if QUICK else FALLING)
def test_energy_where_friction_falls(client, law):
    """A force that decreases within a time step may add a little energy, which vanishes as steps get shorter."""
    energy, work = rest.shake(client, h=2.5e-5, steps=400, **law)
    assert np.diff(energy - work).max() <= 1e-3 * work[-1]


# -- belts -------------------------------------------------------------------------------------------------------------

def test_a_dropped_block_reaches_the_belts_speed(client):
    takes = 1.2 / (0.4 * G)
    speeds = conveyor.dropped(client, 350)
    slides = np.arange(math.floor(takes / 1e-3))
    assert speeds[slides] == pytest.approx(0.4 * G * 1e-3 * slides, rel=1e-12, abs=1e-15)
    assert speeds[slides[-1] + 2] == pytest.approx(1.2, abs=1e-5)
    assert speeds[-1] == pytest.approx(1.2, abs=1e-15)


def test_a_disc_between_belts(client):
    """In the steady state the disc rolls on both belts. Before that, momentum and angular momentum follow from the
    forces of the belts."""
    twists = conveyor.pressed(client, 150)
    t, f, mass, radius = 1e-3 * np.arange(151), 0.4 * 15, 2.0, 0.1
    first = 0.4 * mass / (4 * f)
    assert twists[-1] == pytest.approx([0.3, 0, 7], abs=1e-4)
    assert twists[t < first, 2] == pytest.approx(4 * f / (mass * radius) * t[t < first], rel=1e-10, abs=1e-12)
    assert abs(twists[t < first, 0]).max() < 1e-12
    last = first + 0.6 * 3 * mass / (8 * f)
    between = (t > first) & (t < last)
    assert twists[between, 0] == pytest.approx(4 * f / (3 * mass) * (t[between] - first), abs=5e-3)
    rim = twists[between, 0] - radius * twists[between, 2]
    assert rim[5:] == pytest.approx(-0.4, abs=1e-5)
    assert t[np.argmax(twists[:, 0] > 0.3 - 1e-5)] == pytest.approx(last, abs=2e-3)


# -- stick-slip --------------------------------------------------------------------------------------------------------

def shown(text, name):
    """(measured, analytic) of every line with that name."""
    return [tuple(map(float, row)) for row in re.findall(rf"^  {re.escape(name)} +({NUMBER}) +({NUMBER})", text, re.M)]


def test_stick_slip_by_coulomb(defaults):
    """m = 1, k = 100, N = 10, coefficients 0.5 and 0.3, belt 0.1: the block sticks until k x = 5, then oscillates about
    0.03."""
    text = defaults["stick_slip"][0]
    [(amplitude, analytic)], [(period, expected)] = shown(text, "amplitude"), shown(text, "period")
    assert analytic == pytest.approx(math.hypot(0.02, 0.01), rel=1e-5) and amplitude == pytest.approx(analytic, rel=0.01)
    swings = (2 * math.pi - 2 * math.atan2(0.02, 0.01)) / 10
    assert expected == pytest.approx(0.04 / 0.1 + swings, rel=1e-5) and period == pytest.approx(expected, rel=0.01)


def test_falling_coefficient_by_an_integrator(defaults):
    text = defaults["stick_slip"][0]
    for name in ("first maximum", "last maximum"):
        rows = shown(text, name)
        assert len(rows) == 2
        for measured, expected in rows:
            assert measured == pytest.approx(expected, rel=0.005)
    growing, decaying = shown(text, "rate of the first maxima")
    x = (1 - 1e-3) / 1
    slope = -2 * x * 0.2 * math.exp(-x * x)
    assert growing == pytest.approx((-10 * slope / 2, -10 * slope / 2), rel=0.01) and growing[0] > 0.7
    assert decaying == pytest.approx((-10 * (slope + 0.25) / 2,) * 2, rel=0.01) and decaying[0] < -0.5


@IN_FULL
def test_a_whole_path_by_an_integrator(client):
    law = {**stick_slip.GROWING, "viscous": 0.05}
    first = 10 * (0.3 + 0.2 * math.exp(-(0.9 - 1e-3) ** 2) + 0.05 * 0.9) - 100 * 0.05
    t, path = stick_slip.ride(client, x=0.05, v=0.1 - 2.5e-4 * first, h=5e-4, seconds=1, **law)
    expected = stick_slip.reference(x=0.05, v=0.1, t=t, **law)
    assert path[:, 0] == pytest.approx(expected, abs=2e-3 * np.ptp(expected))


# -- bodies ------------------------------------------------------------------------------------------------------------

def test_a_ball_rolls_with_five_sevenths(client):
    ball = rolling.thrown(client, 3.0)
    takes = 2 * 3.0 / (7 * 0.2 * G)
    slides = np.arange(math.floor(takes / 5e-3))
    assert ball[slides, 0] == pytest.approx(3 - 0.2 * G * 5e-3 * slides, rel=1e-12)
    assert ball[-1, 0] == pytest.approx(3 * 5 / 7, rel=1e-9) and ball[-1, 4] == pytest.approx(3 * 5 / 7 / 0.1, rel=1e-9)
    kept = 2.0 * 0.1 * ball[:, 0] + 0.4 * 2.0 * 0.1**2 * ball[:, 4]
    assert kept == pytest.approx(np.full(len(kept), kept[0]), rel=1e-13)


def test_a_rolling_ball_stops(client):
    """Friction f and torque T act on the ball: m v' = -f, I w' = R f - T. They share one budget, f = mu N sin, T = mu N
    rho cos, at the constant ratio v : w that they preserve. It takes as many steps as it is fast."""
    speed = 0.25 if QUICK else 1.0
    ball = rolling.rolled(client, speed)
    m, R, rho, load = 2.0, 0.1, 0.01, 0.2 * 2.0 * G
    ratio = ball[0, 0] / ball[0, 4]
    tangent = (ratio - R) / rho
    f, T = load * math.sin(math.atan(tangent)), load * rho * math.cos(math.atan(tangent))
    assert (R * f - T) / (0.4 * m * R * R) * ratio == pytest.approx(-f / m, rel=1e-12)
    assert rolling.way(ball) == pytest.approx(m * speed**2 / (2 * f), rel=1e-4)
    assert rolling.way(ball) == pytest.approx(7 * speed**2 * R / (10 * G * 0.2 * rho), rel=rho**2 / R**2)  # the textbook's formula


def test_a_spinning_disc_stops(client):
    spun = rolling.move(client, rolling.one(), rolling.DISC, [0, 0, 0, 0, 0, 40.0])
    takes = 3 * 0.1 * 40 / (4 * 0.2 * G)
    spins = np.arange(math.floor(takes / 5e-3))
    assert spun[spins, 5] == pytest.approx(40 - 4 * 0.2 * G / (3 * 0.1) * 5e-3 * spins, rel=1e-11)
    assert 5e-3 * (len(spun) - 1) == pytest.approx(takes, abs=1e-2)


def by_area(ratio):
    """Force and torque of a disc with radius 1 and spin 1, divided by their values for either motion alone: integrals
    over the area, in polar coordinates about the point at rest, where the direction of slip is smooth."""
    def reach(angle):  # from that point, (0, ratio), to the rim
        along = ratio * math.sin(angle)
        return math.sqrt(max(along * along + 1 - ratio * ratio, 0)) - along
    force = dblquad(lambda r, angle: -math.sin(angle) * r, 0, 2 * math.pi, 0, reach, epsabs=1e-10)[0]
    torque = dblquad(lambda r, angle: (r + ratio * math.sin(angle)) * r, 0, 2 * math.pi, 0, reach, epsabs=1e-10)[0]
    return force / math.pi, torque / math.pi * 1.5


@pytest.mark.parametrize("ratio", [0.07, 0.25, 0.5, 0.653, 0.77, 0.9])
def test_coulombs_disc(client, ratio):
    """Compares 400 contacts and the example's integral by ellipses with an integral over the area."""
    expected = by_area(ratio)
    assert rolling.coulomb(ratio) == pytest.approx(expected, abs=1e-8)
    assert rolling.resisted(client, rolling.many(30), ratio * 3, 30) == pytest.approx(expected, abs=1e-3)


def test_one_contact_for_a_disc(client):
    """One contact is exact for either motion alone, and has a known result for both: u and rho w are on a circle."""
    assert rolling.resisted(client, rolling.one(), 1.0, 0.0) == pytest.approx((1, 0), abs=1e-15)
    assert rolling.resisted(client, rolling.one(), 0.0, 9.0) == pytest.approx((0, 1), abs=1e-15)
    for ratio in (0.1, 0.5, 1.0, 3.0):
        u, w = ratio * 0.9, 2 / 3 * 0.9
        force = rolling.resisted(client, rolling.one(), ratio * 0.9, 9.0)
        assert force == pytest.approx((u / math.hypot(u, w), w / math.hypot(u, w)), rel=1e-14)


def test_a_thrown_disc_by_the_integral(client):
    found = rolling.slides(client, rolling.many, 1.0, 15.0, 0.2)
    assert found[:, [0, 5]] == pytest.approx(rolling.by_integral(1.0, 15.0, 0.2), rel=2e-4)
    assert abs(found[:, [1, 2, 3, 4]]).max() < 1e-3


def test_action_equals_reaction(client):
    rng = np.random.default_rng(5)
    places, n = rng.normal(size=(2, 3)), 50
    contacts = {"bodies": [[0, 1]] * n, "point": rng.normal(size=(n, 3)), "normal": rng.normal(size=(n, 3)),
                "normal_force": rng.uniform(0, 9, n), "spin_radius": rng.uniform(0, 1, n),
                "roll_radius": rng.uniform(0, 1, n), "anchor": rng.normal(size=(n, 3))}
    request = {"dim": 3, "body_positions": places, "friction": {"mu_s": 0.8, "mu_k": 0.3, "eps_v": 2.0, "viscous": 0.1},
               "collisions": {"body_body": contacts}}
    answer = motion.evaluate(client, request, rng.normal(size=(2, 6)), outputs=["gradient"])
    force, torque = answer["body_gradient"][:, :3], answer["body_gradient"][:, 3:]
    assert abs(force).max() > 10
    assert abs(force.sum(axis=0)).max() <= 1e-14 * abs(force).max()
    about_one_point = torque + np.cross(places, force)
    assert abs(about_one_point.sum(axis=0)).max() <= 1e-13 * abs(torque).max()


# -- a measured curve --------------------------------------------------------------------------------------------------

def test_a_measured_curve(client):
    table = np.loadtxt(curve.TABLE, delimiter=",")
    assert curve.slid(client, curve.law(table), table[:, 0]) == pytest.approx(table[:, 1], rel=1e-15)
    fine = np.linspace(table[0, 0], 3, 3001)
    found = curve.slid(client, curve.law(table), fine)
    assert found == pytest.approx(curve.between(table, fine), rel=1e-14)
    for (first, a), (last, b) in zip(table, table[1:]):
        inside = np.diff(found[(fine >= first) & (fine <= last)])
        assert (inside <= 1e-15).all() if b <= a else (inside >= -1e-15).all()


def test_points_in_order(client):
    rng = np.random.default_rng(2)
    table = np.column_stack([np.cumsum(rng.uniform(1e-3, 1, 40)), rng.uniform(0.1, 0.9, 40)])
    assert curve.slid(client, curve.law(table), table[:, 0]) == pytest.approx(table[:, 1], rel=1e-14)


# -- the programs and the page -----------------------------------------------------------------------------------------

class Defaults:
    """defaults[name]: (output, picture) of a run without options. With a share of the cases, runs of a minute are
    skipped."""

    def __init__(self, server, run, folder):
        self.server, self.run, self.folder, self.known = server, run, folder, {}

    def __getitem__(self, name):
        if QUICK and name in LONG:
            pytest.skip("takes a minute; SHARE=1 runs it")
        if name not in self.known:
            picture = self.folder / f"{name}.svg"
            self.known[name] = self.run("python3", f"examples/experiments/{name}.py", self.server, "--plot", picture), picture
        return self.known[name]


@pytest.fixture(scope="module")
def defaults(server, run, tmp_path_factory):
    return Defaults(server, run, tmp_path_factory.mktemp("pictures"))


def lines(path):
    """The texts of a picture, and the numbers of its lines and points."""
    nodes = list(ElementTree.parse(path).getroot().iter())
    return ([(node.text or "").strip() for node in nodes if node.tag.endswith("}text")],
            sum(node.tag.split("}")[1] in ("use", "path") for node in nodes))


@pytest.mark.parametrize("name", NAMES)
def test_pictures(defaults, name):
    kept = ROOT / f"docs/pictures/{name.replace('_', '-')}.svg"
    (words, count), (new_words, new_count) = lines(kept), lines(defaults[name][1])
    assert words == new_words and count == pytest.approx(new_count, rel=0.02), f"{kept} is not what {name}.py draws"
    assert kept.stat().st_size <= 40_000 and f"(pictures/{kept.name})" in PAGE


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_what_is_printed(defaults, name):
    block = re.search(rf"```sh\npython3 examples/experiments/{name}\.py.*\n```\n```text\n((?:.*\n)+?)```", PAGE)[1]
    compare_numbers(block, defaults[name][0])


@pytest.mark.parametrize("name", NAMES[:1] if QUICK else NAMES)
def test_refusals(fail, nobody, refusing, name):
    assert "must be larger than 0" in fail("python3", f"examples/experiments/{name}.py", refusing)
    assert "Traceback" not in fail("python3", f"examples/experiments/{name}.py", nobody)
