"""The page with laws other than smooth: their parameters, curves, the measured points, and the block on the incline.
Independent values come from formulas.py."""
import json
import math
import re

import pytest

import formulas
from conftest import servers
from test_explorer import G, VIEWS, state_of, values

PLOTS = ["law_force", "law_potential", "law_force_derivative", "law_force_over_speed"]
POINTS = {"speeds": [0, 0.002, 0.005, 0.01], "factors": [1, 0.62, 0.5, 0.56]}  # as the page opens
# Settings of the page, and the friction of the corresponding request.
SETTINGS = {
    "stribeck": {"law": "stribeck", "eps_v": 0.001, "mu_s": 0.8, "mu_k": 0.4, "stribeck_speed": 0.005},
    "stribeck, slow": {"law": "stribeck", "eps_v": 0.01, "mu_s": 0.5, "mu_k": 0.3, "stribeck_speed": 2e-4},
    "rising": {"law": "stribeck", "eps_v": 0.001, "mu_s": 0.2, "mu_k": 0.6, "stribeck_speed": 0.02},
    "exponential": {"law": "exponential", "eps_v": 0.001, "mu_s": 0.7, "mu_k": 0.2, "stribeck_speed": 0.01},
    "exponential and drag": {"law": "exponential", "eps_v": 0.001, "mu_s": 0.6, "mu_k": 0.3, "stribeck_speed": 0.01,
                             "viscous": 5},
    "curve": {"law": "curve", "eps_v": 0.001, "mu_s": 0.8, "curve": POINTS},
    "curve and drag": {"law": "curve", "eps_v": 0.002, "mu_s": 0.5, "curve": POINTS, "viscous": 12},
    "adhesion": {"law": "adhesion", "eps_v": 0.001, "mu_s": 0.7},
    "adhesion and drag": {"law": "adhesion", "eps_v": 0.001, "mu_s": 0.7, "viscous": 20},
    "smooth and drag": {"law": "smooth", "eps_v": 0.001, "mu_s": 0.8, "mu_k": 0.4, "viscous": 50},
}


def choose(page, name):
    """Sets the page to one of the SETTINGS; returns the request's friction."""
    setting = SETTINGS[name]
    select(page, setting["law"])
    page.fill(**{field: value for field, value in setting.items() if field not in ("law", "curve")})
    page.idle()
    return {"mu_k": setting["mu_s"], **setting}


def select(page, name):
    page.run("await state.page.selectOption('#friction-law', given.name)", name=name)


def plots_shown(page):
    return page.see("() => [...document.querySelectorAll('svg.curve')].map((svg) => svg.dataset.function)")


def request_of(page, section):
    """The body of the request below a section."""
    return json.loads(re.search(r"-d '(.*)'$", page.text(f"#{section} pre.request"), re.S)[1])


# ---- parameters ----

@pytest.mark.parametrize("name, visible", [
    ("smooth", ["mu_k", "cubic"]), ("stribeck", ["mu_k", "stribeck_speed"]), ("exponential", ["mu_k", "stribeck_speed"]),
    ("curve", ["curve-speed-1"]), ("adhesion", [])])
def test_a_law_shows_the_parameters_that_it_takes(page, name, visible):
    select(page, name)
    page.idle()
    shown = page.see("""() => ["mu_k", "stribeck_speed", "curve-speed-1"].filter(
        (id) => document.getElementById(id).offsetParent).concat(
        [...document.querySelectorAll("[value=cubic]")].filter((e) => e.offsetParent).map((e) => e.value))""")
    assert sorted(shown) == sorted(visible)
    label = page.see("() => document.querySelector('label[for=mu_s]').innerText.replace(/\\s+/g, ' ').trim()")
    assert label == ("μs static coefficient" if "mu_k" in visible else "μ coefficient")
    sent = request_of(page, "incline")["friction"]
    assert sent.get("law", "smooth") == name
    assert set(sent) - {"law"} == {"eps_v", "mu_s", "mu_k"} | {
        "smooth": {"mu_transition"}, "stribeck": {"stribeck_speed"}, "exponential": {"stribeck_speed"},
        "curve": {"curve"}, "adhesion": set()}[name]


def test_a_field_of_another_law_is_not_read(page):
    select(page, "stribeck")
    page.fill(stribeck_speed="")
    page.wait("() => document.getElementById('law').classList.contains('old')")
    assert "This is not a number" in page.text("#stribeck_speed-fault")
    select(page, "adhesion")
    page.idle()
    assert page.see("() => document.querySelector('.old')") is None and plots_shown(page) == PLOTS


@pytest.mark.parametrize("name, field", [("stribeck", "stribeck_speed"), ("adhesion", "viscous")])
def test_what_the_service_refuses_is_told(page, name, field):
    select(page, name)
    page.fill(**{field: -1})
    for section in ("law", "incline"):
        page.wait("(id) => /^Not current: see /.test(document.querySelector(`#${id} .stale`).textContent)", section)
    page.idle()
    assert page.text(f"#{field}-fault") != ""
    page.run("state.messages.length = 0")  # messages about the refused requests


def test_the_drag_can_be_none(page):
    """The slider is logarithmic to base 10, with zero at its left end."""
    page.press("#viscous-slider", "End")
    page.idle()
    assert values(page, "viscous") == [1e4]
    page.press("#viscous-slider", "Home")
    page.idle()
    assert values(page, "viscous") == [0] and "viscous" not in request_of(page, "incline")["friction"]
    page.press("#viscous-slider", "ArrowRight")
    page.idle()
    assert values(page, "viscous") == [0.0102]
    page.fill(viscous=0)
    assert values(page, "viscous-slider") == [-2]


def test_reset_brings_the_first_law_back(page):
    choose(page, "curve and drag")
    page.fill(**{"curve-factor-1": 2})
    page.run("await state.page.click('#reset')")
    page.idle()
    assert values(page, "viscous", "eps_v") == [0, 0.001] and page.text("#friction-law-words") == "Changes from μₛ to μₖ below εᵥ."
    assert len(plots_shown(page)) == 10
    select(page, "curve")
    page.idle()
    assert request_of(page, "incline")["friction"]["curve"] == POINTS


# ---- curves ----

@pytest.mark.parametrize("name", SETTINGS)
def test_curves_of_every_law_are_right(page, name):
    friction = choose(page, name)
    assert plots_shown(page) == PLOTS
    eps = friction["eps_v"]
    end = {"stribeck": lambda: eps + 3 * friction["stribeck_speed"],
           "exponential": lambda: eps + 5 * friction["stribeck_speed"], "smooth": lambda: 2 * eps,
           "curve": lambda: eps + 1.15 * POINTS["speeds"][-1], "adhesion": lambda: 3 * eps}[friction["law"]]()
    for plot in PLOTS:
        x, y = page.curve(plot)
        assert x[0] == 0 and x[-1] == pytest.approx(max(end, 2 * eps), rel=1e-15) and eps in x and x == sorted(set(x))
        picked = sorted({*range(0, len(x), len(x) // 24), x.index(eps), x.index(eps) - 1, x.index(eps) + 1})
        expected = [formulas.of_friction(plot, x[i], friction) for i in picked]
        size = max(abs(v) for v in expected)
        for i, value in zip(picked, expected):
            assert abs(y[i] - value) <= 1e-14 * max(abs(value), 0.01 * size), (plot, x[i], y[i], value)


def test_a_range_is_that_of_all_laws(page):
    choose(page, "stribeck")
    page.run("await state.page.selectOption('#range', '-2 2')")
    page.idle()
    x, y = page.curve("law_force")
    assert x[0] == -2e-3 and x[-1] == 2e-3 and [-v for v in reversed(y)] == y
    x, y = page.curve("law_potential")
    assert list(reversed(y)) == y


def test_the_crosshair_meets_the_pointer(page):
    """Also holds if the points are not equidistant."""
    choose(page, "stribeck")
    svg = "svg[data-function=law_force]"
    box = page.see("(s) => document.querySelector(s).clientWidth", svg)
    for share in (0.02, 0.5, 0.9):
        at = 46 + share * (box - 46 - 12)
        page.run("await state.page.locator(given.svg).hover({position: {x: given.at, y: 80}})", svg=svg, at=at)
        hair = page.see("(s) => Number(document.querySelector(s + ' .hair').getAttribute('x1'))", svg)
        assert abs(hair - at) < 3


def test_the_peak_of_a_law_is_told(page):
    choose(page, "exponential")
    assert "The largest G₁ is 0.7, at 1 εᵥ." in page.text("#law .reading")
    choose(page, "exponential and drag")
    assert "largest" not in page.text("#law .reading")
    choose(page, "rising")
    assert "largest" not in page.text("#law .reading")


# ---- measured points ----

def measured(page):
    """Positions of the circles in the plot of the force, and the curve's points at the same speeds."""
    return page.see("""() => { const svg = document.querySelector("svg[data-function=law_force]");
        const path = svg.querySelector("path.line").getAttribute("d").slice(1).split("L").map((at) => at.split(" ").map(Number));
        return [[...svg.querySelectorAll(".measured")].map((c) => [c.cx.baseVal.value, c.cy.baseVal.value]), path]; }""")


@pytest.mark.parametrize("name", ["curve", "curve and drag"])
def test_the_curve_goes_through_its_points(page, name):
    friction = choose(page, name)
    x, y = page.curve("law_force")
    circles, path = measured(page)
    assert len(circles) == 4
    for (cx, cy), speed, factor in zip(circles, POINTS["speeds"], POINTS["factors"]):
        i = x.index(friction["eps_v"] + speed)
        assert (cx, cy) == pytest.approx(path[i], abs=0.02)
        drag = friction.get("viscous", 0) * x[i]
        assert y[i] == pytest.approx(friction["mu_s"] * factor + drag, rel=1e-14)


def test_points_are_edited(page):
    choose(page, "curve")
    page.fill(**{"curve-speed-3": 0.02, "curve-factor-2": 0.75})
    page.run("await state.page.click('#curve .more')")
    page.idle()
    told = request_of(page, "incline")["friction"]["curve"]
    assert told == {"speeds": [0, 0.002, 0.005, 0.02, 0.035], "factors": [1, 0.62, 0.75, 0.56, 0.56]}
    assert page.see("() => document.activeElement.id") == "curve-speed-4"
    page.run("await state.page.click('[aria-label=\"Remove point 2\"]')")
    page.idle()
    told = request_of(page, "incline")["friction"]["curve"]
    assert told == {"speeds": [0, 0.002, 0.02, 0.035], "factors": [1, 0.62, 0.56, 0.56]}
    assert page.see("() => document.activeElement.id") == "curve-speed-2" and len(measured(page)[0]) == 4


def test_the_first_point_and_a_second_one_stay(page):
    choose(page, "curve")
    for _ in range(2):
        page.run("await state.page.click('[aria-label=\"Remove point 1\"]')")
    page.idle()
    assert page.see("() => [...document.querySelectorAll('#curve button')].filter((b) => b.offsetParent).length") == 1
    assert page.see("() => document.getElementById('curve-speed-0').readOnly")
    assert request_of(page, "incline")["friction"]["curve"] == {"speeds": [0, 0.01], "factors": [1, 0.56]}


def test_points_that_are_no_curve_are_refused(page):
    choose(page, "curve")
    page.fill(**{"curve-speed-2": 0.001})
    page.wait("() => /^speed of point 2: /.test(document.getElementById('curve-speed-2-fault')?.textContent)")
    page.idle()
    page.run("state.messages.length = 0")  # messages about the refused requests
    page.fill(**{"curve-speed-2": ""})
    page.wait("() => /not a number/.test(document.getElementById('curve-speed-2-fault').textContent)")
    assert page.see("() => document.getElementById('curve-speed-2').getAttribute('aria-invalid')") == "true"
    page.fill(**{"curve-speed-2": 0.004})
    page.idle()
    assert page.see("() => document.querySelector('.old')") is None


@pytest.mark.parametrize("text", ["0\t1\n0.01\t0.8\n0.02\t0.7\n", "0, 1\r\n0.01, 0.8\r\n0.02, 0.7", "0 1\n0.01 0.8\n0.02 0.7"])
def test_two_columns_are_pasted(page, text):
    choose(page, "curve")
    paste = """(text) => { const clipboardData = new DataTransfer();
        clipboardData.setData("text", text);
        document.getElementById("curve-speed-1").dispatchEvent(
            new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true})); }"""
    page.see(paste, text)
    page.idle()
    assert request_of(page, "incline")["friction"]["curve"] == {"speeds": [0, 0.01, 0.02], "factors": [1, 0.8, 0.7]}
    page.see(paste, "0.5")  # a single number is pasted into its field, and replaces no points
    page.idle()
    assert len(request_of(page, "incline")["friction"]["curve"]["speeds"]) == 3


# ---- the block on the incline ----

@pytest.mark.parametrize("name", SETTINGS)
def test_the_block_feels_the_law(page, name):
    friction = choose(page, name)
    for ratio in (0.4, -3):
        page.fill(angle=25, speed=ratio)
        page.idle()
        normal = G * math.cos(math.radians(25))
        force = float(formulas.of_friction("law_force", abs(ratio) * friction["eps_v"], friction)) * normal
        assert page.number("#incline", "friction")[0] == pytest.approx(-math.copysign(force, ratio), rel=1e-5)
        assert state_of(page, "contact") == ("stick" if abs(ratio) < 1 else "slip")


def ends_at(force, tan, speed):
    """The speed, divided by eps_v, at which a block settles, or infinity: integrates until the force changes sign or
    the block is so fast that it will never slow down again."""
    speed = max(speed, 0.0)  # gravity turns it around
    push = tan - force(speed)
    while True:
        following = speed + math.copysign(0.002 * (1 + speed), push)
        if following <= 0:
            return 0
        now = tan - force(following)
        if now * push <= 0:
            return (speed + following) / 2
        speed, push = following, now
        if speed > 2e4:
            return math.inf


@pytest.mark.parametrize("name", SETTINGS)
def test_the_motion_of_the_block(page, name):
    """At every angle and speed the verdict agrees with the equation of motion."""
    friction = choose(page, name)
    tabulated = {}

    def force(ratio):
        if ratio not in tabulated:
            tabulated[ratio] = float(formulas.of_friction("law_force", ratio * friction["eps_v"], friction))
        return tabulated[ratio]

    some = slice(None, None, 2) if servers.ONE_IN > 1 else slice(None)
    for tan in (0.13, 0.31, 0.47, 0.66, 1.1)[some]:
        page.fill(angle=math.degrees(math.atan(tan)))
        for speed in (-2, 1.3, 4.5, 19):
            page.fill(speed=speed)
            page.idle()
            end, verdict, why = ends_at(force, tan, speed), page.text("#verdict"), page.text("#why")
            assert state_of(page, "verdict") == ("stick" if end <= 1 else "slip"), (tan, speed, end, verdict)
            assert ("steady" in verdict) == (1 < end < math.inf), (tan, speed, end, verdict)
            told = re.findall(r"(?:creeps down|slides) at ([0-9.×⁰¹²³⁴]+) εᵥ", why)
            if end < math.inf:
                assert any(abs(float(text) / end - 1) < 0.02 for text in told), (tan, speed, end, why)
            else:
                assert "speed" in why and "cannot" in verdict or "Too fast" in verdict, (tan, speed, verdict, why)
    assert "NaN" not in page.text("main") and "undefined" not in page.text("main")


def test_the_cones_of_other_laws(page):
    choose(page, "curve")
    sides = page.see("""() => Object.fromEntries(["attainable", "kinetic"].map((kind) => {
        const [apex, left] = document.querySelector(`#cone polygon.${kind}`).points;
        return [kind, (apex.x - left.x) / (apex.y - left.y)]; }))""")
    assert sides == pytest.approx({"attainable": 0.8, "kinetic": 0.8 * 0.56}, abs=1e-5)
    texts = page.see("() => document.querySelector('#cone').closest('figure').innerText.replace(/\\s+/g, ' ')")
    assert "the law at high speed" in texts and "largest G1" in texts and "μs" not in texts and "μk" not in texts
    choose(page, "curve and drag")
    assert page.text("#incline dd[data-name=largest]") == "∞"


# ---- accessibility ----

@pytest.mark.parametrize("view", VIEWS)
def test_the_table_is_accessible(browser, server, page_of, view):
    page = page_of(server).open(**VIEWS[view])
    choose(page, "curve and drag")
    page.picture("curve-" + view.replace(" ", "-"))
    assert page.see("() => document.documentElement.scrollWidth <= innerWidth")
    found = page.run("""const session = await state.context.newCDPSession(state.page);
        const source = state.fs.readFileSync(state.axe, "utf8");
        await session.send("Runtime.evaluate", {expression: source + ";0"});
        const {result} = await session.send("Runtime.evaluate", {awaitPromise: true, returnByValue: true,
            expression: `axe.run().then((r) => r.violations.map((v) => [v.id, v.help, v.nodes.map((n) => n.html)]))`});
        return result.value""")
    assert found == [] and page.complaints() == []


def test_tab_reaches_every_point(page):
    choose(page, "curve")
    page.run("await state.page.focus('#mu_s')")
    reached = page.run("""const seen = [];
        for (let i = 0; i < 12; i++) {
            await state.page.keyboard.press("Tab");
            seen.push(await state.page.evaluate(() => document.activeElement.id || document.activeElement.className
                || document.activeElement.getAttribute("aria-label")));
        }
        return seen""")
    expected = [f"curve-{column}-{i}" for i in range(4) for column in ("speed", "factor")]
    assert [name for name in reached if name.startswith("curve-")] == expected
    assert "Remove point 1" in reached and "more" in reached
