"""The solvers of examples/solvers: their energies are compared with finite differences, their contacts with the
service's, their runs with Coulomb's law, and their output with docs/solvers.md."""
import math
import pathlib
import re
import subprocess
import sys
import urllib.request
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples/solvers"))
import ipc  # noqa: E402
from conftest import environment, integration  # noqa: E402

QUICK = integration.ONE_IN > 1
IN_FULL = pytest.mark.skipif(QUICK, reason="another simulation of the same kind; SHARE=1 runs it")

G, EPS_V = 9.81, 1e-3
INCLINE, DRAG = "examples/solvers/incline.py", "examples/solvers/drag.py"
CARDS, WAVY = "examples/solvers/cards.py", "examples/solvers/wavy.py"
RUN = [INCLINE] if QUICK else [INCLINE, DRAG]  # without options; the drag takes twice as long
CLOSING = re.compile(r"with collision sets (\d+) requests, ([\d.]+) MB; without (\d+) requests, about ([\d.]+) MB\n"
                     r"an evaluation, median of (\d+): ([\d.]+) kB, ([\d.]+) ms with a set; "
                     r"([\d.]+) kB, ([\d.]+) ms without\n"
                     r"(\d+) steps, (\d+) Newton iterations, (\d+) evaluations, (\d+) longest steps: "
                     r"([\d.]+) s of ([\d.]+) s \((\d+) %\)\n\Z")


@pytest.fixture(scope="module")
def server():
    """A client of a server that does not log each of thousands of requests."""
    process, base = integration.start("--log-level", "warning")
    yield base
    assert integration.stop(process) == 0


# -- the solver's own energies ----------------------------------------------------------------------------------------

def worst_difference(term, x, step=1e-6):
    """The largest relative difference of gradient and Hessian from central differences of the energy and of the
    gradient."""
    gradient, hessian = term.derivatives(x)
    hessian = hessian.toarray()
    moves = step * np.eye(x.size).reshape(-1, *x.shape)
    slopes = [(term.energy(x + move) - term.energy(x - move)) / (2 * step) for move in moves]
    turns = [(term.derivatives(x + move)[0] - term.derivatives(x - move)[0]).ravel() / (2 * step) for move in moves]
    assert abs(gradient).max() > 0.01 and abs(hessian).max() > 0.01
    return max(abs(gradient.ravel() - slopes).max() / abs(gradient).max(),
               abs(hessian - turns).max() / abs(hessian).max())


@pytest.mark.parametrize("size,cells", [((1.0, 0.7), (2, 2)), ((1.0, 0.7, 0.5), (2, 1, 1))])
@pytest.mark.parametrize("damping", [0.0, 0.2])
def test_elastic_derivatives(size, cells, damping):
    rng = np.random.default_rng(1)
    rest, simplices = ipc.block(size, cells)
    elastic = ipc.Elastic(rest, simplices, 1.0, 3.0, damping=damping, project=False)
    x = rest + 0.05 * rng.normal(size=rest.shape)
    elastic.begin_step(x, 0.1)
    assert worst_difference(elastic, x + 0.02 * rng.normal(size=rest.shape)) < 1e-8


def test_elastic_material():
    """At rest there is no force, whatever the rotation; a stretched bar has the force given by its modulus; masses add
    up to the body's."""
    rest, simplices = ipc.block((2.0, 0.5, 0.5), (4, 1, 1))
    elastic = ipc.Elastic(rest, simplices, 3.0, 100.0, poisson=0.25)
    turn = np.array([[0.0, -0.6, 0.8], [1.0, 0.0, 0.0], [0.0, 0.8, 0.6]])
    assert elastic.energy(rest @ turn.T) == pytest.approx(0, abs=1e-12)
    assert abs(elastic.derivatives(rest @ turn.T)[0]).max() < 1e-12
    strain = 1e-4
    stretched = rest * (1 + strain * np.array([1.0, -0.25, -0.25]))
    force = elastic.derivatives(stretched)[0][rest[:, 0] == 2.0].sum(axis=0)
    assert force == pytest.approx([100.0 * strain * 0.25, 0, 0], rel=1e-3, abs=1e-9)
    assert elastic.masses.sum() == pytest.approx(3.0 * 0.5)


def test_inverted_elements_have_no_energy():
    rest, simplices = ipc.block((1.0, 1.0), (1, 1))
    assert ipc.Elastic(rest, simplices, 1.0, 1.0).energy(rest * [-1, 1]) == math.inf


# One contact of each type, at distances below dhat.
PLACES = np.array([[0, 0, 0.3], [1, 0.2, 0.4], [0.5, -0.5, 0.1], [0.3, 0.6, 0.0], [0.5, 0.3, 0.7], [0.2, 1, 0.3]])
GROUPS = {"edge_edge": [[0, 1, 2, 3]], "face_vertex": [[4, 0, 1, 5]], "plane_vertex": [4, 1]}
PLANE = {"plane_normal": (0.3, 0.4, 1.2), "plane_origin": (0.0, 0.0, -0.3)}


def barrier_3d():
    barrier = ipc.Barrier(2.0, 0.5)
    barrier.contacts = ipc.Contacts(GROUPS)
    return barrier, PLACES


def barrier_2d():
    barrier = ipc.Barrier(1.0, 2.0)
    barrier.contacts = ipc.Contacts({"edge_vertex": [[0, 1, 2], [3, 1, 2]]})
    return barrier, np.array([[0.3, 0.4], [0.0, 0.0], [1.0, 0.1], [0.8, 0.7]])


def friction_of(server, barrier, x):
    plane = {"plane_vertex": PLANE} if x.shape[1] == 3 else {}
    return ipc.Friction(ipc.frictiond.Client(server), {"mu_s": 0.5, "mu_k": 0.3}, 0.1, barrier, **plane)


@pytest.mark.parametrize("make", [barrier_2d, barrier_3d])
def test_barrier_and_friction_are_one_energy(server, make):
    """The gradient is that of the energy, which grows without bound; the Hessian is semidefinite."""
    barrier, x = make()
    friction, start, step = friction_of(server, barrier, x), x - 0.01, 1e-6
    friction.lag(start, 0.01 + 0 * x, start, 0.5)
    gradient, hessian = friction.derivatives(x)
    moves = step * np.eye(x.size).reshape(-1, *x.shape)
    slopes = [(friction.energy(x + move) - friction.energy(x - move)) / (2 * step) for move in moves]
    assert gradient.ravel() == pytest.approx(slopes, rel=1e-6, abs=1e-6 * abs(gradient).max())
    values = np.linalg.eigvalsh(hessian.toarray())
    assert values.max() > 0.01 and values.min() > -1e-12 * values.max()
    touching = x.copy()
    touching[barrier.contacts.groups["edge_vertex" if x.shape[1] == 2 else "face_vertex"][0, 0]] = x[1]
    assert friction.energy(touching) == math.inf
    friction.close()


def test_the_stiffness_carries_the_force_at_half_the_reach(server):
    stiffness = ipc.stiffness_for(7.0, 0.02)
    found = ipc.frictiond.Client(server).evaluate({
        "dim": 2, "positions": [[0, 0.01], [0, 0]], "velocities": [[0, 0], [0, 0]], "friction": {"mu": 0.5, "eps_v": 1.0},
        "barrier": {"dhat": 0.02, "stiffness": stiffness}, "collisions": {"vertex_vertex": {"vertices": [[0, 1]]}},
        "outputs": ["collisions"], "collision_outputs": ["normal_force"]})["collisions"]["vertex_vertex"]
    assert found["normal_force"] == pytest.approx([7.0], rel=1e-12)


def test_a_fast_block_does_not_pass_through_the_floor(server):
    """A block is thrown at a floor at 60 m/s, 300 times its height per step."""
    rest, triangles = ipc.block((0.2, 0.1), (2, 1))
    x = np.concatenate([rest + [0, 0.02], [[-50.0, 0.0], [50.0, 0.0]]])
    contacts = ipc.Contacts({"edge_vertex": [[v, len(rest), len(rest) + 1] for v in range(len(rest))]})
    friction = ipc.Friction(ipc.frictiond.Client(server), {"mu": 0.3}, EPS_V, ipc.Barrier(1e-3, 1e12))
    solver = ipc.Solver(x, ipc.Elastic(rest, triangles, 1000.0, 1e6), friction, lambda _: contacts, 0.5, [0, -G],
                        fixed=[len(rest), len(rest) + 1])
    solver.v[:len(rest)] = [10.0, -60.0]
    for _ in range(4):
        solver.step()
        assert solver.x[:len(rest), 1].min() > 0
    assert abs(solver.v).max() < 60 and np.array_equal(solver.x[len(rest):], x[len(rest):])


@pytest.mark.parametrize("make", [barrier_2d, barrier_3d])
def test_friction_keeps_its_contacts_with_the_service(server, make):
    """Whatever changes from lag to lag, responses equal those to a whole request."""
    barrier, x = make()
    client, rng = ipc.frictiond.Client(server), np.random.default_rng(3)
    friction, kept = friction_of(server, barrier, x), barrier.contacts
    fewer = ipc.Contacts({name: group[:1] for name, group in list(kept.groups.items())[-2:]})
    for contacts in (kept, kept, fewer, kept):
        barrier.contacts, start = contacts, x + 0.01 * rng.normal(size=x.shape)
        friction.lag(start, 0.02 * rng.normal(size=x.shape), start, 0.5)
        p, moved = 0.01 * rng.normal(size=x.shape), start + 0.03 * rng.normal(size=x.shape)
        whole = client.evaluate({**friction.lagged, "velocities": moved - start, "current_positions": moved,
                                 "terms": ["friction", "barrier"], "longest_step": {"direction": 30 * p},
                                 "outputs": ["potential", "gradient", "hessian", "longest_step"],
                                 "hessian": {"format": "csr", "projection": "clamp"}})
        gradient, hessian = friction.derivatives(moved)
        assert friction.energy(moved) == whole["potential"] and np.array_equal(gradient.ravel(), whole["gradient"])
        assert abs(hessian - ipc.frictiond.hessian_matrix(whole)).max() == 0
        assert friction.longest(moved, 30 * p) == whole["longest_step"]["step"]
    friction.close()
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(server + "/v1/sets") as answer:
        assert friction.contacts.name not in answer.read().decode()


class Alone:
    """If nothing touches, friction does not call the service."""
    def evaluate(self, batch):
        raise AssertionError("there is nothing to ask")


def alone(*terms):
    rest, triangles = ipc.block((0.2, 0.1), (2, 1))
    friction = ipc.Friction(Alone(), {"mu": 0.3}, EPS_V, ipc.Barrier(1e-3, 1e9))
    return ipc.Solver(rest, ipc.Elastic(rest, triangles, 1000.0, 1e6), friction, lambda _: ipc.Contacts({}), 0.01,
                      [0, -G], terms=terms)


def test_nothing_touches():
    """Free fall of implicit Euler: h^2 g (1 + 2 + 3)."""
    solver = alone()
    start = solver.x
    for _ in range(3):
        solver.step()
    assert solver.x - start == pytest.approx(np.broadcast_to([0, -6 * G * 1e-4], start.shape), abs=1e-12)


def test_a_term_whose_gradient_is_wrong_does_not_converge():
    class Wrong:
        def energy(self, x):
            return 1e3 * x.sum()

        def derivatives(self, x):
            return np.full_like(x, -1e3), ipc.csr_matrix((x.size, x.size))
    with pytest.raises(ipc.NotConverged, match="no smaller energy in step 0.* smaller time step"):
        alone(Wrong()).step()


# -- runs -------------------------------------------------------------------------------------------------------------

def evaluations_of(server):
    """(with sets, without them)"""
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(server + "/metrics") as answer:
        text = answer.read().decode()
    return tuple(sum(int(n) for name, n in re.findall(r'^frictiond_requests_total\{route="([^"]*)".*\} (\d+)$', text, re.M)
                     if name == route) for route in ("/v1/sets/{name}/evaluate", "/v1/evaluate"))


def await_evaluations(server, before, *printed):
    """The last request may be counted a moment after its response; then no further one may come."""
    expected = tuple(map(sum, zip(before, *printed)))
    integration.eventually(lambda: evaluations_of(server) >= expected)
    assert evaluations_of(server) == expected


def evaluations_in(text):
    """Checks the statistics at the end of a solver's output; returns the numbers of evaluations with sets and
    without."""
    closing = CLOSING.search(text)
    assert closing, text
    requests, size, without, size_without, pairs, kept, t_kept, whole, t_whole = map(float, closing.groups()[:9])
    steps, iterations, evaluations, limits = map(int, closing.groups()[9:13])
    contacts, total, share = map(float, closing.groups()[13:])
    assert 0 < steps <= iterations <= evaluations and iterations <= limits and 0 < contacts < total
    assert evaluations + limits == without < requests
    assert 0.8 * evaluations / 16 - 10 <= pairs <= evaluations / 16 + 10 and min(t_kept, t_whole) > 0
    assert kept < 0.7 * whole and size < size_without
    assert share == pytest.approx(100 * contacts / total, abs=1 / total + 1)
    return evaluations + limits + int(pairs), int(pairs)


@pytest.fixture(scope="module")
def counting():
    """A server for the solvers only, so that its counters count nothing else."""
    process, base = integration.start()
    yield base
    assert integration.stop(process) == 0


@pytest.fixture(scope="module")
def solve(counting, run):
    """Runs a solver, checks its statistics, and returns its output before them."""
    def solve_one(script, *options):
        before = evaluations_of(counting)
        text = run("python3", script, counting, *options)
        await_evaluations(counting, before, evaluations_in(text))
        return CLOSING.sub("", text)
    return solve_one


@pytest.fixture(scope="module")
def defaults(counting, run, tmp_path_factory):
    """{script: (output, picture)} of runs without options, at the same time."""
    folder, before = tmp_path_factory.mktemp("pictures"), evaluations_of(counting)
    pictures = {script: folder / (pathlib.Path(script).stem + ".svg") for script in RUN}
    with ThreadPoolExecutor() as pool:
        texts = list(pool.map(lambda script: run("python3", script, counting, "--plot", pictures[script]), pictures))
    await_evaluations(counting, before, *map(evaluations_in, texts))
    return {script: (CLOSING.sub("", text), pictures[script]) for script, text in zip(pictures, texts)}


def slopes(text):
    """{angle: (state of the block, analytic, simulated, unit, conclusion)}"""
    rows = re.findall(r"^ *(-?[\d.]+)  (sticks|slides) +(\S+) +(\S+)  (m/s|m/s\^2) +(.*)$", text, re.M)
    return {float(row[0]): (row[1], float(row[2]), float(row[3]), row[4], row[5]) for row in rows}


def sticks(row, analytic, eps_v=EPS_V):
    """The block creeps more slowly than eps_v, at the speed that follows from the slope and the law."""
    word, printed, creep, unit, rest = row
    fastest = float(re.fullmatch(r"at most ([\d.]+) eps_v", rest)[1])
    assert (word, unit) == ("sticks", "m/s") and fastest < 1 and abs(creep) <= (fastest + 1e-4) * eps_v
    assert printed == pytest.approx(analytic, rel=1e-3, abs=1e-12)
    assert creep == pytest.approx(analytic, abs=0.03 * eps_v)


def slides(row, analytic):
    word, printed, acceleration, unit, rest = row
    assert (word, unit) == ("slides", "m/s^2") and rest.endswith(" %")
    assert printed == pytest.approx(analytic, abs=1e-6)
    assert acceleration == pytest.approx(analytic, rel=1e-3)


def creep(angle, mu, eps_v=EPS_V):
    """z, the creep speed divided by eps_v, from mu (2 z - z^2) = tan(angle)."""
    theta = math.radians(angle)
    return math.copysign(eps_v * (1 - math.sqrt(1 - abs(math.tan(theta)) / mu)), angle)


def coulomb(angle, mu):
    theta = math.radians(abs(angle))
    return math.copysign(G * (math.sin(theta) - mu * math.cos(theta)), angle)


def test_incline(defaults):
    rows = slopes(defaults[INCLINE][0])
    assert list(rows) == [15, 25, 30, 40]
    for angle, row in rows.items():
        sticks(row, creep(angle, 0.5)) if angle < 26 else slides(row, coulomb(angle, 0.5))


@pytest.mark.parametrize("mu,angles,more", [
    (0.35, (-12, -33), ("--step", "0.02", "--eps-v", "0.004", "--lags", "2")),
    pytest.param(0.2, (6.5, 11, 12, 50), (), marks=IN_FULL),
    pytest.param(0.9, (20, 41.5, 43), (), marks=IN_FULL),
    pytest.param(0.0, (0, 9), (), marks=IN_FULL),
])
def test_other_inclines(solve, mu, angles, more):
    eps_v = 0.004 if more else EPS_V
    rows = slopes(solve(INCLINE, "--mu", mu, "--angles=" + ",".join(map(str, angles)), "--seconds", "0.3", *more))
    assert list(rows) == list(angles)
    for angle, row in rows.items():
        if abs(angle) <= math.degrees(math.atan(mu)):
            sticks(row, creep(angle, mu, eps_v) if mu else 0, eps_v)
        else:
            slides(row, coulomb(angle, mu))


def test_incline_with_static_and_kinetic_friction(solve):
    """From rest the block slides only if tan(angle) exceeds the peak of mu(y) f1(y) (0.341 for 0.6 and 0.3), and then
    with mu_k."""
    held = (17,) if QUICK else (12, 17)
    rows = slopes(solve(INCLINE, "--mu", "0.6", "--mu-k", "0.3", "--angles", ",".join(map(str, (*held, 20))), "--seconds", "0.4"))
    z = np.linspace(0, 1, 100001)
    borne = (0.6 - 0.3 * (3 * z**2 - 2 * z**3)) * (2 * z - z**2)
    assert math.tan(math.radians(17)) > 0.3  # the static coefficient holds the block
    for angle in held:
        sticks(rows[angle], EPS_V * z[np.argmax(borne >= math.tan(math.radians(angle)))])
    slides(rows[20], coulomb(20, 0.3))


def table(text):
    """{name: (analytic, simulated)}; names of the second push end in "'"."""
    found = {}
    for name, analytic, simulated in re.findall(r"^  (\w.*?)  +(-?[\d.]+) +(-?[\d.]+) +[+-]", text, re.M):
        found[name + "'" if name in found else name] = float(analytic), float(simulated)
    return found


def judge(text, mu_s, mu_k, push, angle, aniso, peak_error):
    rows, z = table(text), np.linspace(0, 1, 100001)
    analytic, simulated = rows["static peak / weight"]
    assert analytic == pytest.approx(((mu_s + (mu_k - mu_s) * (3 * z**2 - 2 * z**3)) * (2 * z - z**2)).max(), abs=1e-4)
    assert simulated == pytest.approx(analytic, rel=peak_error)
    analytic, simulated = rows["kinetic friction / weight"]
    assert analytic == mu_k and simulated == pytest.approx(mu_k, rel=1e-3)
    towards = math.radians(angle)
    pushed = push * np.array([math.cos(towards), math.sin(towards)])
    # Scaled velocities: in the simulated motion, push minus friction must point in the direction of motion.
    (printed, degrees), (acceleration, measured) = rows["direction, degrees"], rows["acceleration, m/s^2"]
    assert abs(printed - angle) > 5  # the push is not along an axis of symmetry
    along = np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])
    scaled = np.array(aniso) * along
    rest = G * (pushed - mu_k * np.array(aniso) * scaled / np.linalg.norm(scaled))
    assert degrees == pytest.approx(printed, abs=0.1)
    assert math.degrees(math.atan2(rest[1], rest[0])) == pytest.approx(degrees, abs=0.2)
    assert measured == pytest.approx(np.linalg.norm(rest), rel=2e-3) == acceleration
    # Ellipses: the block moves straight on, and the radius in that direction is the coefficient.
    (printed, degrees), (acceleration, measured) = rows["direction, degrees'"], rows["acceleration, m/s^2'"]
    assert printed == angle and degrees == pytest.approx(angle, abs=0.1)
    held = mu_k * math.hypot(aniso[0] * math.cos(towards), aniso[1] * math.sin(towards))
    assert measured == pytest.approx(G * (push - held), rel=2e-3) == acceleration


@IN_FULL
def test_drag(defaults):
    judge(defaults[DRAG][0], 0.8, 0.3, 0.6, 50, (1, 0.5), peak_error=0.01)


def test_another_drag(solve):
    pull, seconds = ("0.06", "0.3") if QUICK else ("0.03", "0.6")
    text = solve(DRAG, "--mu-s", "0.5", "--mu-k", "0.4", "--pull", pull, "--seconds", seconds, "--push", "0.8",
                 "--angle", "-70", "--aniso", "0.7,1.2", "--push-seconds", "0.15")
    judge(text, 0.5, 0.4, 0.8, -70, (0.7, 1.2), peak_error=0.01)


def test_runs_are_reproducible(solve, tmp_path):
    options = ("--angles", "35", "--seconds", "0.1", "--plot")
    texts = [solve(INCLINE, *options, tmp_path / name) for name in ("a.svg", "b.svg")]
    assert texts[0] == texts[1] and (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


# -- pictures ---------------------------------------------------------------------------------------------------------

def marks(path):
    """The number of points and lines of an SVG."""
    return sum(node.tag.split("}")[1] in ("use", "path") for node in ElementTree.parse(path).iter())


@pytest.mark.parametrize("script", RUN)
def test_pictures(defaults, script):
    picture = defaults[script][1]
    kept = ROOT / "docs/pictures" / picture.name
    assert marks(picture) > 300 and len(set(re.findall(r"#[0-9a-f]{6}", picture.read_text()))) > 5
    assert marks(kept) == pytest.approx(marks(picture), rel=0.05), f"{kept} is not what {script} draws today"
    assert kept.stat().st_size <= 40_000


@IN_FULL
def test_picture_in_pixels(solve, tmp_path):
    from matplotlib import image
    solve(INCLINE, "--angles", "30", "--seconds", "0.1", "--plot", tmp_path / "small.png")
    pixels = image.imread(tmp_path / "small.png")
    assert min(pixels.shape[:2]) > 500
    assert len(np.unique((255 * pixels[::3, ::3, :3]).astype(int).reshape(-1, 3), axis=0)) > 50


# -- errors and the page ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("script", [DRAG] if QUICK else [INCLINE, DRAG])
def test_refusals(server, nobody, refusing, fail, script):
    assert '/eps_v: -' in fail("python3", script, server, "--eps-v=-1")
    refused = fail("python3", script, refusing)
    assert "Traceback" not in refused and "must be larger than 0" in refused
    assert "Traceback" not in fail("python3", script, nobody)


BAD_OPTIONS = [
    (INCLINE, ["--angles", "20,x"], "--angles"),
    (INCLINE, ["--angles", "90"], "between -90 and 90"),
    (INCLINE, ["--eps-v", "nan"], "--eps-v"),
    (INCLINE, ["--step", "0"], "--step"),
    (INCLINE, ["--seconds", "0.01"], "less than four steps"),
    (INCLINE, ["--plot", "nowhere/a.svg"], "--plot"),
    (INCLINE, ["--plot", "a.txt"], "--plot"),
    (DRAG, ["--aniso", "1"], "two numbers"),
    (DRAG, ["--lags", "0"], "--lags"),
]


@pytest.mark.parametrize("script,options,message", BAD_OPTIONS[::2] if QUICK else BAD_OPTIONS)
def test_bad_options(server, script, options, message):
    done = subprocess.run(["/usr/bin/python3", script, server, *options], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr


def test_a_push_that_moves_nothing(server, fail):
    message = fail("python3", DRAG, server, "--push", "0.2", "--seconds", "0.05")
    assert "may not move the slab" in message and "Traceback" not in message


@pytest.mark.parametrize("script", RUN)
def test_the_page_shows_what_is_printed(defaults, script):
    """All output except for times, from the blocks that follow the commands."""
    page = (ROOT / "docs/solvers.md").read_text()
    shown = re.search(r"```sh\npython3 " + re.escape(script) + r".*\n```\n```text\n((?:.*\n)+?)```", page)[1]
    lines, printed = shown.splitlines(), defaults[script][0].splitlines()
    assert CLOSING.search(shown) and len(lines) - 3 == len(printed)
    for one, other in zip(lines, printed):
        number = r"[-+]?\d+\.?\d*(?:e[-+]\d+)?"
        assert re.sub(number, "#", one).split() == re.sub(number, "#", other).split()
        values = [[float(n) for n in re.findall(number, line)] for line in (one, other)]
        assert values[0] == pytest.approx(values[1], rel=2e-3, abs=2e-3)


# -- from meshes alone -------------------------------------------------------------------------------------------------

SHARES = re.compile(r"(\d+) steps in [\d.]+ s, (\d+) % of it in the service\n\Z")


def run(script, *options):
    return subprocess.run(["/usr/bin/python3", script, *options], cwd=ROOT, env=environment(), check=True,
                          capture_output=True, text=True).stdout


def shown(script):
    page = (ROOT / "docs/solvers.md").read_text()
    return re.search(r"```sh\npython3 " + re.escape(script) + r".*\n```\n```text\n((?:.*\n)+?)```", page)[1]


def test_a_house_of_cards(server, tmp_path):
    """It stands or falls as theory says, rests only with anchors, and the page has its lines."""
    printed = run(CARDS, server, "--plot", str(tmp_path / "cards.svg"))
    assert "without anchors" in (tmp_path / "cards.svg").read_text()
    rows = [line.split() for line in printed.splitlines()[1:4]]
    assert [row[:3] for row in rows] == [["0.60", "yes", "stands"], ["0.10", "yes", "falls"], ["0.60", "no", "stands"]]
    speeds = [abs(float(row[4])) for row in rows]
    assert speeds[0] < 1e-7 < 1e-4 < speeds[2] < EPS_V < speeds[1]
    assert SHARES.search(printed)
    for line, other in zip(shown(CARDS).splitlines()[1:4], rows):
        assert line.split()[:3] == other[:3] and float(line.split()[3]) == pytest.approx(float(other[3]), abs=0.2)


@pytest.mark.parametrize("mu,stands", [(0.3, True), (0.2, False)])
@IN_FULL
def test_the_house_stands_above_two_thirds_of_the_tangent(mu, stands):
    assert ("stands" if stands else "falls") in run(CARDS, "--mu", str(mu), "--seconds", "0.8").splitlines()[1]


@IN_FULL
def test_a_wavy_floor(server, tmp_path):
    printed = run(WAVY, server, "--plot", str(tmp_path / "wavy.svg"))
    mean, coulomb, low, high = map(float, re.findall(r"0\.\d{3,4}", printed))
    assert mean == pytest.approx(coulomb, rel=0.02)
    theta, phi = math.atan(math.pi * 0.01 / 0.4), math.atan(0.4)
    assert low == pytest.approx(math.tan(phi - theta), abs=0.02) and high == pytest.approx(math.tan(phi + theta), abs=0.02)
    assert [float(x) for x in re.findall(r"0\.\d{3,4}", shown(WAVY))] == pytest.approx([mean, coulomb, low, high], abs=5e-3)
    assert SHARES.search(printed)


def test_the_spring_of_the_wavy_floor():
    """Gradient and Hessian of its energy against differences."""
    import wavy
    rest, tetrahedra = ipc.block((1.0, 0.7, 0.5), (1, 1, 1))
    x = np.concatenate([rest, [[5.0, 5, 5]]])
    drag = wavy.Drag(rest, tetrahedra, len(x))
    drag.elastic.project, drag.end = False, 0.3

    class Term:
        def energy(self, x):
            return drag(x)[0]

        def derivatives(self, x):
            return drag(x)[1:]
    rng = np.random.default_rng(1)
    assert worst_difference(Term(), x + 0.02 * rng.normal(size=x.shape)) < 1e-6


def test_solvers_from_meshes_are_short():
    for script in (CARDS, WAVY):
        assert len((ROOT / script).read_text().splitlines()) < 150
