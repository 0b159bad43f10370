"""The frame around the views: addresses, undo, copies, files; the first view, motions and fits. Closed forms and laws are
written down here."""
import csv
import io
import json
import math
import random
import re
import subprocess
import sys
import urllib.request

import pytest

import formulas
from conftest import servers
from test_explorer import VIEWS, replaceable  # noqa: F401

G = 9.81
ALL = ["start", "laws", "motion", "fit"]
AXE = """const session = await state.context.newCDPSession(state.page);
    const source = state.fs.readFileSync(state.axe, "utf8");
    await session.send("Runtime.evaluate", {expression: source + ";0"});
    const {result} = await session.send("Runtime.evaluate", {awaitPromise: true, returnByValue: true,
        expression: `axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(
            (r) => r.violations.map((v) => [v.id, v.help, v.nodes.map((n) => n.html)]))`});
    return result.value"""


@pytest.fixture
def view(browser, server, page_of):
    """Opens a view; a test fails if the page has logged an error or a warning."""
    opened = []

    def open_view(name, text="", **options):
        page = page_of(server)
        page.open(f"/#v1/{name}{text}", settled=False, **options)
        opened.append(page)
        page.idle()
        return page

    yield open_view
    for page in opened[-1:]:
        assert page.complaints() == []


def saved(page, kind):
    """The content of the file that a button saves."""
    return page.run("""const [download] = await Promise.all([state.page.waitForEvent("download"),
        state.page.click(`[data-save=${given.kind}]`)]);
        const file = await download.path();
        return [download.suggestedFilename(), state.fs.readFileSync(file).toString("base64")]""", kind=kind)


def text_of(page, kind):
    import base64
    return base64.b64decode(saved(page, kind)[1]).decode()


def copied(page, kind):
    page.run("""await state.context.grantPermissions(["clipboard-read", "clipboard-write"]);
        await state.page.evaluate(() => { document.getElementById("told").textContent = ""; });
        await state.page.click(`[data-copy=${given.kind}]`);
        await state.page.waitForFunction(() => document.getElementById("told").textContent !== "")""", kind=kind)
    return page.see("() => navigator.clipboard.readText()")


def asked(page):
    """How many requests for numbers the page has sent."""
    return sum("/v1/" in url.partition("#")[0] for url in page.run("return state.asked"))


def settle(page):
    """Waits until the address holds the settings."""
    page.idle()
    page.run("await state.page.waitForTimeout(500)")
    page.idle()


# ---- the start ----

def test_the_block_moves_at_once(view, server):
    page = view("start")
    first = page.see("() => document.querySelector('#start-scene polygon.block').getAttribute('points')")
    page.wait("(first) => document.querySelector('#start-scene polygon.block').getAttribute('points') !== first", first)
    dot = "() => document.querySelector('#start-plot .moving').getAttribute('cx')"
    page.wait(f"(first) => ({dot})() !== first", page.see(dot))
    assert re.search(r"^At \d+° gravity pulls with 0\.\d\d of the normal force", page.text("#sentence"))
    assert len([url for url in page.run("return state.asked") if "/v1/functions" in url]) == 1
    page.run("await state.page.click('#play')")
    page.wait("() => document.getElementById('play').textContent === 'Play'")
    still = page.see("() => document.querySelector('#start-scene').innerHTML")
    page.run("await state.page.waitForTimeout(120)")
    assert page.see("() => document.querySelector('#start-scene').innerHTML") == still


def test_with_reduced_motion_it_is_a_complete_still(view):
    page = view("start", reducedMotion="reduce")
    still = page.see("() => document.querySelector('#start-scene').innerHTML")
    for kind in ("gravity", "normal", "force"):
        assert f"arrow {kind}" in still
    assert page.text("#sentence").startswith("At 25° gravity pulls with 0.47")
    page.run("await state.page.waitForTimeout(300)")
    assert page.see("() => document.querySelector('#start-scene').innerHTML") == still
    x, y = page.curve("law_force")
    dot = page.see("() => Number(document.querySelector('#start-plot .moving').getAttribute('cx'))")
    svg = page.see("() => document.querySelector('#start-plot svg').clientWidth")
    speed = (dot - 58) / (svg - 58 - 22) * x[-1]
    i = next(i for i, value in enumerate(y) if value >= math.tan(math.radians(25)))
    assert x[i - 1] <= speed <= x[i]  # it creeps where friction equals the pull


def test_a_lever_sends_one_request(view):
    page = view("start", reducedMotion="reduce")
    before = asked(page)
    page.fill(**{"start-mu_s": 0.9})
    page.idle()
    assert asked(page) - before == 1 and max(page.curve("law_force")[1]) == pytest.approx(0.9, rel=1e-3)
    page.see("""() => { const slider = document.getElementById("start-mu_k-slider");
        for (let i = 0; i <= 60; i++) {
            slider.value = String(i / 100);
            slider.dispatchEvent(new Event("input", {bubbles: true}));
        } }""")
    page.idle()
    assert asked(page) - before == 2 and page.curve("law_force")[1][-1] == pytest.approx(0.6)


def test_more_functions_are_folded(view):
    page = view("start", reducedMotion="reduce")
    assert page.see("() => !document.querySelector('#more').open && document.querySelectorAll('svg.curve').length === 1")
    page.run("await state.page.click('#more summary')")
    page.wait("() => document.querySelectorAll('#more svg[data-y]').length === 7")
    assert page.see("() => [...document.querySelectorAll('a')].every((a) => !/v1\\/|json/.test(a.getAttribute('href').replace('#v1', '')))")


def test_links_lead_to_pages(server):
    """Links from the page and its views into the documentation."""
    links = {link for file in (servers.ROOT / "web").iterdir() for link in re.findall(r'href="(docs/[^"#]*)', file.read_text())}
    assert len(links) >= 4
    for link in links:
        with urllib.request.urlopen(f"{server}/{link}") as answer:
            assert answer.status == 200 and b"<h1" in answer.read(), link


@pytest.mark.parametrize("size", [(360, 740), (800, 1000), (1280, 720)])
def test_levers_are_beside_their_picture(view, size):
    """While a slider is used, at least 60 % of the picture are visible."""
    page = view("start", reducedMotion="reduce", viewport={"width": size[0], "height": size[1]})
    for name in ("start-angle", "start-mu_s", "start-mu_k"):
        page.run("await state.page.locator(given.at).scrollIntoViewIfNeeded()", at=f"#{name}-slider")
        share = page.see("""() => { const {top, bottom, height} = document.getElementById("start-scene").getBoundingClientRect();
            return Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0)) / height; }""")
        assert share >= 0.6, (name, share)


def test_a_fault_beside_its_lever(view):
    page = view("start", reducedMotion="reduce")
    page.fill(**{"start-mu_s": -1})
    page.idle()
    assert page.text("#start-mu_s-fault").startswith("μs: ")
    page.run("state.messages.length = 0")  # messages about the refused request


# ---- addresses ----

STATES = {
    "start": {"angle": 33, "mu_s": 0.7, "mu_k": 0.2, "tilting": False},
    "laws": {"law": "curve", "eps_v": 0.002, "mu_s": 0.5, "viscous": 3, "direction": -40, "angle": 31,
             "curve": {"speeds": [0, 0.01, 0.05], "factors": [1, 0.5, 0.25]}, "range": "0 5"},
    "motion": {"scene": "oscillator", "law": "stribeck", "belt": 0.3, "stiffness": 70, "mu_s": 0.9, "duration": 3},
    "fit": {"law": "exponential", "eps_v": 0.01, "drag": True, "text": "v;mu\n0,02;0,5\n0,03;0,45\n0,06;0,4\n0,1;0,38\n0,3;0,37"},
}


def link_of(page, name, state):
    """The address of a state, as the page encodes it."""
    return page.see("""async ([name, state]) => {
        const {encode, fragment} = await import("./explorer/link.js");
        return fragment(name, await encode(state)); }""", [name, state])


@pytest.mark.parametrize("name", STATES)
def test_a_link_brings_the_same_requests_and_numbers(view, page_of, name):
    page = view(name, reducedMotion="reduce")
    page.run("""await state.page.evaluate((hash) => { location.hash = hash; }, given.hash)""",
             hash=link_of(page, name, STATES[name]))
    settle(page)
    link, data = copied(page, "link"), text_of(page, "json")
    assert f"#v1/{name}/" in link and re.fullmatch(r"[A-Za-z0-9_-]+", link.rpartition("/")[2])
    assert json.loads(data)["state"] == STATES[name]
    other = view(name, "/" + link.rpartition("/")[2], reducedMotion="reduce")
    settle(other)
    assert text_of(other, "json") == data


def test_a_damaged_link_is_told(view):
    page = view("laws", "/not-a-state")
    assert "damaged" in page.text("#told") and page.see("() => document.getElementById('eps_v').value") == "0.001"


def test_old_fragments_lead_to_their_sections(browser, server, page_of):
    page = page_of(server).open("/#incline", settled=False)
    page.idle()
    assert page.see("() => document.querySelector('[aria-current]').textContent") == "Laws"


def test_views_keep_their_settings(view):
    page = view("laws")
    page.fill(mu_s=1.25)
    settle(page)
    page.run("await state.page.click('[data-view=fit]')")
    page.wait("() => location.hash.startsWith('#v1/fit') && document.querySelector('#fit dd')")
    page.run("await state.page.goBack()")
    page.wait("() => !document.querySelector('.view.laws').hidden")
    settle(page)
    assert page.see("() => document.getElementById('mu_s').value") == "1.25"
    assert page.see("() => document.title") == "Laws · frictiond explorer"


def test_a_long_state_becomes_a_file(view):
    page = view("fit")
    random.seed(5)
    rows = "\n".join(f"{i / 1000 + 0.002:.6f}\t{random.random():.9f}" for i in range(1500))
    page.run("await state.page.fill('#fit-text', given.text)", text=rows)
    settle(page)
    assert page.see("() => location.hash") == "#v1/fit"
    page.run("await state.page.click('[data-copy=link]')")
    page.wait("() => /Save settings/.test(document.getElementById('told').textContent)")
    name = page.run("""const [download] = await Promise.all([state.page.waitForEvent("download"),
        state.page.click("#save-settings")]);
        state.file = await download.path();
        return download.suggestedFilename()""")
    assert name == "frictiond-fit.settings.json"
    rms = page.text("#fit dd[data-name=rms]")
    page.run("""await state.page.click("[data-view=start]");
        await state.page.reload();
        await state.page.setInputFiles("#open-settings", state.file);""")
    page.wait("(rms) => document.querySelector('#fit dd[data-name=rms]')?.textContent === rms", rms)


# ---- undo ----

def test_undo_and_redo(view):
    page = view("laws")
    for value in (0.5, 0.9):
        page.fill(mu_k=value)
        settle(page)
    assert page.see("() => document.getElementById('redo').disabled")
    for button, value in (("undo", "0.5"), ("undo", "0.4"), ("redo", "0.5")):
        page.run("await state.page.click(`#${given.button}`)", button=button)
        page.idle()
        assert page.see("() => document.getElementById('mu_k').value") == value
        assert page.curve("smooth_mu")[1][-1] == float(value)
    page.press("#mu_k-slider", "Control+z")
    page.idle()
    assert page.see("() => document.getElementById('mu_k').value") == "0.4"


# ---- copies and files ----

@pytest.mark.parametrize("name", ALL)
def test_copies_run(view, name):
    page = view(name, reducedMotion="reduce")
    python, curl = copied(page, "python"), copied(page, "curl")
    run = subprocess.run([sys.executable, "-"], input=python, stdout=subprocess.PIPE, check=True, text=True)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    done = subprocess.run(["bash"], input=curl.replace("\n\n", "\necho\n"), stdout=subprocess.PIPE, check=True, text=True)
    assert answers and [json.loads(line) for line in done.stdout.splitlines()] == answers


@pytest.mark.parametrize("name", ALL)
def test_files_are_saved(view, name):
    page = view(name, reducedMotion="reduce")
    rows = list(csv.reader(io.StringIO(text_of(page, "csv"))))
    assert len(rows) > 10 and len({len(row) for row in rows}) == 1
    assert all(math.isfinite(float(cell)) for row in rows[1:] for cell in row)
    picture = text_of(page, "svg")
    assert picture.startswith("<svg") and picture.count("<path") >= 1 and "class=" not in picture and "stroke-width" in picture
    name, png = saved(page, "png")
    assert name.endswith(".png")
    shown = page.see("""async (png) => { const bytes = Uint8Array.from(atob(png), (c) => c.charCodeAt(0));
        const image = await createImageBitmap(new Blob([bytes])), canvas = new OffscreenCanvas(image.width, image.height);
        const to = canvas.getContext("2d");
        to.drawImage(image, 0, 0);
        return [image.width, new Set(new Uint32Array(to.getImageData(0, 0, image.width, image.height).data.buffer)).size]; }""", png)
    assert shown[0] > 600 and shown[1] > 50  # it is painted, in many shades


# ---- motion ----

def trajectory(page, scene, **fields):
    page.run("await state.page.selectOption('#motion-kind', given.scene)", scene=scene)
    page.fill(**{f"motion-{name}": value for name, value in fields.items()})
    page.idle()
    rows = list(csv.reader(io.StringIO(text_of(page, "csv"))))
    columns = dict(zip(rows[0], map(list, zip(*[[float(cell) for cell in row] for row in rows[1:]]))))
    assert page.number("#motion", "imbalance")[0] < 1e-11
    return columns


def test_motions_agree_with_closed_forms(view):
    page = view("motion", reducedMotion="reduce")
    before = asked(page)
    slide = trajectory(page, "incline", angle=35, start=0, duration=2)
    assert asked(page) - before <= 3 * 3  # each change of a field is one of at most 3 requests
    a = G * (math.sin(math.radians(35)) - 0.4 * math.cos(math.radians(35)))
    for kind in ("anchored", "loose"):
        for t, x in list(zip(slide["t"], slide[f"x_{kind}"]))[500::100]:
            assert x == pytest.approx(a * t * t / 2, rel=5e-3)
    belt = trajectory(page, "belt")
    moves = next(t for t, v in zip(belt["t"], belt["v_anchored"]) if v >= 0.999)
    assert moves == pytest.approx(1 / (0.4 * G), rel=1e-2)
    ball = trajectory(page, "ball", start=1.4)
    for kind in ("anchored", "loose"):
        assert ball[f"v_{kind}"][-1] == pytest.approx(1, rel=1e-6)
        assert ball[f"spin_{kind}"][-1] * 0.1 == pytest.approx(1, rel=1e-6)
    disc = trajectory(page, "disc", spin=20, duration=1)
    stops = next(t for t, v in zip(disc["t"], disc["v_loose"]) if v < 1e-3 * 20)
    assert stops == pytest.approx(20 * 0.5 * 0.1**2 / (0.4 * G * 0.2 / 3), rel=1e-2)


def test_anchors_hold_the_block(view):
    page = view("motion", reducedMotion="reduce")
    rest = trajectory(page, "incline", angle=20, start=0.3, duration=2)
    assert abs(rest["x_anchored"][-1] - rest["x_anchored"][500]) <= 1e-12
    creep = (rest["x_loose"][-1] - rest["x_loose"][500]) / 1
    assert creep == pytest.approx(creep_speed(math.tan(math.radians(20))), rel=1e-3)


def creep_speed(tan, mu_s=0.6, mu_k=0.4, eps_v=1e-3):
    """Where the law, which rises to mu_s at 3/4 eps_v, equals tan."""
    low, high = 0.0, 0.75 * eps_v
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if formulas.value("law_force", middle, eps_v, mu_s, mu_k) < tan else (low, middle)
    return low


def test_the_oscillator_sticks_and_slips(view):
    page = view("motion", reducedMotion="reduce")
    motion = trajectory(page, "oscillator", belt=0.2, stiffness=40, duration=4)
    sticks = [abs(v - 0.2) < 1e-3 for v in motion["v_anchored"]]
    assert sum(a and not b for a, b in zip(sticks, sticks[1:])) >= 3
    # it lets go where the spring has the strength of static friction
    lets_go = [x for x, a, b in zip(motion["x_anchored"], sticks, sticks[1:]) if a and not b][1:]
    assert lets_go == pytest.approx([0.6 * G / 40] * len(lets_go), rel=0.02)
    # the spring's and the block's energy, and what friction took, are the belt's work
    assert motion["heat_anchored"][-1] > 1


def test_play_pause_and_scrub(view):
    page = view("motion")
    page.run("await state.page.click('#motion-play')")
    page.wait("() => Number(document.getElementById('motion-time').value) > 20")
    page.run("await state.page.click('#motion-play')")
    at = page.see("() => document.getElementById('motion-time').value")
    page.run("await state.page.waitForTimeout(100)")
    assert page.see("() => document.getElementById('motion-time').value") == at
    page.press("#motion-time", "End")
    assert page.text("#motion-now") == "2.000 s"
    assert page.see("() => document.querySelectorAll('#motion-scene .block').length") == 2
    assert "with anchors at" in page.see("() => document.getElementById('motion-scene').getAttribute('aria-label')")
    assert page.see("() => [...document.querySelectorAll('svg.chart')].map((svg) => svg.dataset.chart)") == [
        "position", "phase", "loop", "energy"]


# ---- fit ----

def law(y, mu_s, mu_k, speed, eps_v=1e-3, kind="stribeck"):
    z = y / eps_v
    if z < 1:
        return mu_s * (2 * z - z * z)
    x = (y - eps_v) / speed
    return mu_k + (mu_s - mu_k) * math.exp(-(x if kind == "exponential" else x * x))


def fitted(page, kind, text):
    page.run("await state.page.selectOption('#fit-law', given.kind)", kind=kind)
    page.run("await state.page.fill('#fit-text', given.text)", text=text)
    page.idle()
    return [page.number("#fit", name)[0] for name in ("mu_s", "mu_k", "stribeck_speed")]


def test_fits_recover_the_law(view):
    page = view("fit")
    random.seed(3)
    laws = (("stribeck", 0.8, 0.4, 0.005, 0), ("stribeck", 0.31, 0.25, 0.1, 1e-4), ("exponential", 1.2, 0.1, 0.3, 1e-3),
            ("stribeck", 0.3, 0.6, 0.05, 0))
    for kind, mu_s, mu_k, speed, noise in laws[::min(2, servers.ONE_IN)]:
        speeds = [0.0012 + 5 * speed * (i / 50)**1.5 for i in range(50)]
        rows = [f"{y:.7f}\t{law(y, mu_s, mu_k, speed, kind=kind) + random.gauss(0, noise):.7f}" for y in speeds]
        assert fitted(page, kind, "\n".join(rows)) == pytest.approx([mu_s, mu_k, speed], rel=0.01), kind


FORMS = ["{}\t{}", "{};{}", "{}, {}", "{},{}", "  {}   {}", "Speed [mm/s]\tµ\n{}\t{}", "time;mu;velocity (mm/s)\n0;{1};{0}",
         "# measured on Monday\nspeed, mu\n\n{},{}"]


def test_columns_are_read(view):
    page = view("start", reducedMotion="reduce")
    rows = [(0.002, 0.75), (0.25, 0.5), (1.5, 0.25)]
    for form in FORMS:
        for has_commas in (False, True):
            *head, line = form.split("\n")
            factor = 1000 if "mm/s" in form else 1
            text = "\n".join(head + [line.format(*(str(v).replace(".", ",") if has_commas else str(v) for v in (y * factor, mu)))
                                     for y, mu in rows]) + "\n"
            found = page.see("async (text) => (await import('./explorer/columns.js')).parseColumns(text)", text)
            assert found["speeds"] == pytest.approx([y for y, _ in rows]), text
            assert found["coefficients"] == [mu for _, mu in rows], text


def test_use_as_curve(view):
    page = view("fit")
    page.run("await state.page.click('#fit-curve')")
    page.wait("() => location.hash.startsWith('#v1/laws')")
    page.idle()
    friction = json.loads(text_of(page, "json"))["state"]
    assert friction["law"] == "curve" and friction["mu_s"] == 0.779 and friction["eps_v"] == pytest.approx(0.0012)
    assert friction["curve"]["speeds"][:3] == pytest.approx([0, 0.0008, 0.0018]) and friction["curve"]["factors"][0] == 1
    x, y = page.curve("law_force")
    assert y[x.index(0.0012)] == pytest.approx(0.779)


def test_text_without_numbers_is_told_beside_it(view):
    page = view("fit")
    page.run("await state.page.fill('#fit-text', 'nothing\\n1 2')")
    page.idle()
    assert "1 lines with a speed" in page.text("#fit-read")
    assert page.see("() => document.getElementById('fit-text').getAttribute('aria-invalid')") == "true"


# ---- all views ----

@pytest.mark.parametrize("name", ["start", "motion", "fit"])  # that of the laws is tested in test_explorer.py
@pytest.mark.parametrize("look", ["desktop", "dark", "phone"])
def test_views_are_accessible(view, name, look):
    page = view(name, **{"reducedMotion": "reduce", **VIEWS[look]})
    page.picture(f"{name}-{look}")
    assert page.see("() => document.documentElement.scrollWidth <= innerWidth")
    assert page.run(AXE) == []


@pytest.mark.parametrize("name, field", [("start", "start-mu_s"), ("laws", "mu_s"), ("motion", "motion-mu_s"), ("fit", "fit-eps_v")])
@pytest.mark.parametrize("look", ["desktop", "dark", "phone"])
def test_faults_are_accessible(view, name, field, look):
    page = view(name, **{"reducedMotion": "reduce", **VIEWS[look]})
    page.fill(**{field: -1})
    page.idle()
    assert page.text(f"#{field}-fault") != "" and page.run(AXE) == []
    page.run("state.messages.length = 0")  # messages about the refused requests


OVERLAPS = """() => {
    const found = [];
    for (const svg of document.querySelectorAll("svg")) {
        const texts = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim() && t.getClientRects().length)
            .map((t) => [t.textContent, t.getBoundingClientRect()]);
        for (let i = 0; i < texts.length; i++)
            for (let k = 0; k < i; k++) {
                const [a, p] = texts[i], [b, q] = texts[k];
                if (Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1
                    && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 4)
                    found.push([svg.id || svg.dataset.function || svg.dataset.chart, a, b]);
            }
    }
    const letters = JSON.parse(document.querySelector("#batch-scene")?.dataset.letters ?? "[]");
    letters.forEach(([x, y], i) => letters.slice(0, i).forEach(([a, b]) => {
        if (Math.abs(x - a) < 12 && Math.abs(y - b) < 14) found.push(["batch-scene", x, y]);
    }));
    /* text outside pictures, except in elements that scroll or stick */
    const texts = [], walker = document.createTreeWalker(document.querySelector(".view:not([hidden])"), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode;
        if (!node.data.trim() || node.parentElement.closest("details:not([open]) > :not(summary), svg, .scroll, pre, textarea, select, .stage, aside, .bench > figure:first-child")) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const box of range.getClientRects()) if (box.width > 1) texts.push([node.data.trim(), box]);
    }
    texts.sort(([, p], [, q]) => p.top - q.top);
    for (let i = 0; i < texts.length; i++)
        for (let k = i + 1; k < texts.length && texts[k][1].top < texts[i][1].bottom - 4; k++) {
            const [a, p] = texts[i], [b, q] = texts[k];
            if (Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1 && Math.min(p.bottom, q.bottom) - q.top > 6)
                found.push(["page", a, b]);
        }
    return found; }"""
TICKS = """() => [...document.querySelectorAll("svg.curve, svg.chart")].filter((svg) => svg.getClientRects().length).map((svg) =>
    ["middle", "end"].map((anchor) => svg.querySelectorAll(`text:not([class])[text-anchor=${anchor}]`).length))"""


def random_state(name, dice):
    pick = dice.choice
    coefficients = {"mu_s": round(dice.uniform(0, 1.5), 3), "mu_k": round(dice.uniform(0, 1.5), 3)}
    speeds = {"eps_v": 10**dice.uniform(-6, 1), "stribeck_speed": 10**dice.uniform(-6, 1)}
    return {
        "start": {**coefficients, "angle": round(dice.uniform(0, 45), 1), "tilting": False},
        "laws": {**coefficients, **speeds, "law": pick(["smooth", "stribeck", "exponential", "adhesion", "curve"]),
                 "mu_transition": pick(["cubic", "quadratic", "peak"]), "viscous": pick([0, 0.1, 100]),
                 "range": pick(["whole", "0 2", "0 5", "-2 2"]), "direction": dice.uniform(-180, 180),
                 "angle": dice.uniform(0, 60), "speed": dice.uniform(-20, 20)},
        "motion": {**coefficients, **speeds, "scene": pick(["incline", "belt", "oscillator", "ball", "disc"]),
                   "law": pick(["peak", "cubic", "stribeck"]), "angle": dice.uniform(0, 60), "start": dice.uniform(0, 3),
                   "duration": 10**dice.uniform(-1, 1)},
        "fit": {"law": pick(["stribeck", "exponential", "peak", "cubic"]), "text": "\n".join(
            f"{10**dice.uniform(-4, 1)} {dice.uniform(0.1, 1)}" for _ in range(8))},
        "batch": {"example": pick(["blocks", "heap", "brushed", "bodies", "broken"]), "selected": dice.randrange(12),
                  "force": dice.uniform(-1, 1), "velocity": dice.uniform(-1, 1),
                  "switched": dice.sample(["stencils", "force", "split", "slip", "normals", "bases", "cones", "ellipses"], 3)},
    }[name]


@pytest.mark.parametrize("look", ["desktop", "dark", "phone"])
def test_pages_of_errors_are_accessible(browser, server, page_of, look):
    page = page_of(server)
    codes = re.findall(r'X\(\w+, "(\w+)"', (servers.ROOT / "api/base/codes.h").read_text())
    assert len(codes) > 20
    for code in codes[::1 if servers.ONE_IN == 1 else 4 * servers.ONE_IN]:
        page.open(f"/errors/{code}", settled=False, **VIEWS[look])
        assert page.run(AXE) == [], code
        assert page.see("() => document.documentElement.scrollWidth <= innerWidth"), code
        assert page.complaints() == []


N_STATES = 100 if servers.ONE_IN == 1 else 3


@pytest.mark.parametrize("name", [*ALL, "batch"])
def test_text_never_overlaps(view, name):
    """In random states and widths; every axis has two ticks at least."""
    page = view(name, reducedMotion="reduce")
    dice = random.Random(name)
    for _ in range(N_STATES):
        state, width = random_state(name, dice), dice.choice([360, 700, 1280])
        page.run("""await state.page.setViewportSize({width: given.width, height: 800});
            await state.page.evaluate((hash) => { location.hash = hash; }, given.hash);
            await state.page.waitForTimeout(60)""", width=width, hash=link_of(page, name, state))
        page.idle()
        assert page.see(OVERLAPS) == [], (state, width)
        assert all(n >= 2 for pair in page.see(TICKS) for n in pair), (state, width)
    page.run("state.messages.length = 0")  # messages about refused states


def test_arrows_have_letters_and_shapes(view):
    page = view("start", reducedMotion="reduce")
    shapes = page.see("""() => Object.fromEntries([...document.querySelectorAll("#start-scene .arrow")].map((arrow) => [
        arrow.getAttribute("class").split(" ")[1],
        [arrow.querySelectorAll("polygon").length, arrow.querySelectorAll("polyline").length,
         arrow.querySelector("text")?.textContent ?? ""]]))""")
    assert shapes["normal"] == [2, 0, "N"] and shapes["force"] == [1, 0, "F"] and shapes["gravity"] == [1, 0, "W"]
    page.fill(**{"start-angle": 44, "start-mu_s": 0.3})
    page.idle()
    assert page.see("""() => { const v = document.querySelector("#start-scene .arrow.slip");
        return [v.querySelectorAll("polygon").length, v.querySelectorAll("polyline").length, v.textContent]; }""") == [0, 1, "v"]


def test_text_is_large_enough(view):
    """Also where a picture is scaled down."""
    for name in ("start", "laws", "motion"):
        page = view(name, reducedMotion="reduce", **VIEWS["phone"])
        sizes = page.see("""() => [...document.querySelectorAll("svg text, svg tspan")].filter((t) => t.textContent.trim()
            && t.getClientRects().length).map((t) => { const svg = t.ownerSVGElement;
            return parseFloat(getComputedStyle(t).fontSize) * svg.getScreenCTM().a; })""")
        assert sizes and min(sizes) >= 13.9


def test_handles_go_to_their_ends(view):
    page = view("laws")
    for handle, field, ends in (("#incline .handle.ground", "angle", ("0", "60")), ("#ellipse .handle", "direction", ("-180", "180")),
                                ("#incline .handle.slip", "speed", ("-20", "20"))):
        for key, value in zip(("Home", "End"), ends):
            page.press(handle, key)
            assert page.see("(id) => document.getElementById(id).value", field) == value


def test_weights(page_of, server, browser):
    page = page_of(server)
    page.open("/", settled=False)
    page.idle()
    files = {url for url in page.run("return state.asked") if "/v1/" not in url}
    everything = [server + "/"] + [f"{server}/explorer/{path.name}" for path in (servers.ROOT / "web").iterdir() if path.name != "index.html"]
    first, whole = [], []
    for sizes, urls in ((first, files), (whole, everything)):
        for url in urls:
            with urllib.request.urlopen(url.partition("#")[0]) as answer:
                sizes.append(len(answer.read()))
    assert len(first) > 5 and sum(first) <= 120_000
    assert len(whole) > 30 and sum(whole) <= 250_000


def test_a_view_is_loaded_once_the_service_is_back(page_of, replaceable):  # noqa: F811
    base, stop = replaceable(0)
    page = page_of(base)
    page.open("/", settled=False, reducedMotion="reduce")
    page.idle()
    assert stop() == 0
    page.run("await state.page.click('[data-view=fit]')")
    page.wait("() => /does not respond/.test(document.getElementById('trouble').textContent)")
    _, stop = replaceable(base.rsplit(":", 1)[1])
    page.wait("() => document.querySelector('#fit dd')")
    page.wait("() => document.getElementById('trouble').hidden")
    assert stop() == 0
