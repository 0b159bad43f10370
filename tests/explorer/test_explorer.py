"""The page in Chromium: correct values, usability, accessibility. Independent values come from formulas.py or are
computed here."""
import http.server
import json
import math
import re
import subprocess
import threading
import urllib.request

import pytest

import formulas
from conftest import servers

FUNCTIONS = ["smooth_mu_f1", "smooth_friction_f0", "smooth_friction_f1", "smooth_friction_f2",
             "smooth_friction_f1_over_x", "smooth_mu", "smooth_mu_derivative", "smooth_mu_f0", "smooth_mu_f2", "smooth_mu_f1_over_x"]
WITH_PEAK = ["law_force", "smooth_friction_f0", "smooth_friction_f1", "smooth_friction_f2", "smooth_friction_f1_over_x",
             "law_potential", "law_force_derivative", "law_force_over_speed"]
G = 9.81


def values(page, *controls):
    return page.see("(ids) => ids.map((id) => Number(document.getElementById(id).value))", list(controls))


def state_of(page, name):
    return page.see("(id) => document.getElementById(id).dataset.state", name)


# ---- loading ----

def test_loads_from_its_own_origin_without_a_complaint(page, server):
    page.idle()
    assert page.complaints() == []
    asked = page.run("return state.asked")
    assert len(asked) > 20 and all(url.startswith(server + "/") for url in asked)
    assert page.text("#version").startswith("frictiond ")
    names = page.see("() => [...document.querySelectorAll('svg[data-function]')].map((s) => s.dataset.function)")
    assert sorted(names) == sorted(FUNCTIONS)


def test_nothing_waits_for_another_answer(browser, server, page_of):
    """All requests are sent before any response arrives: one for all functions and one for each other section."""
    page = page_of(server).open()
    names = page.run("""state.held = [];
        await state.page.route("**/v1/**", (route) => { state.held.push(route); });
        await state.page.reload();
        while (state.held.length < given.n)
            await state.page.waitForTimeout(5);
        for (const route of state.held)
            await route.continue();
        return state.held.map((route) => route.request().url().split("/v1/")[1]);""", n=4)
    assert sorted(names) == ["evaluate", "functions", "functions/anisotropic_mu_eff_from_tau_aniso", "info"]
    page.idle()
    assert page.curve("smooth_mu")[1][0] == 0.8


@pytest.fixture
def prefix(server):
    """A proxy that serves the service at /tools/friction/."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self):
            if not self.path.startswith("/tools/friction/"):
                self.send_error(404)
                return
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))) or None
            target = server + self.path.removeprefix("/tools/friction")
            fields = {"Content-Type": self.headers["Content-Type"]} if body else {}
            with urllib.request.urlopen(urllib.request.Request(target, body, fields)) as answer:
                text = answer.read()
                self.send_response(answer.status)
                for name in ("Content-Type", "Content-Security-Policy", "X-Content-Type-Options"):
                    if answer.headers[name]:
                        self.send_header(name, answer.headers[name])
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = pass_on

        def log_message(self, *_):
            pass

    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=proxy.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{proxy.server_address[1]}"
    proxy.shutdown()
    proxy.server_close()


def test_below_a_prefix_of_a_proxy(browser, prefix, page_of):
    page = page_of(prefix).open("/tools/friction/#v1/laws")
    page.idle()
    assert page.complaints() == []
    assert f"{prefix}/tools/friction/v1/evaluate" in page.text("#incline pre.request")
    paths = page.see("""() => [...document.querySelectorAll("[href], [src]")].map(
        (e) => e.getAttribute("href") ?? e.getAttribute("src"))""")
    assert paths and not [path for path in paths if path.startswith("/")]


# ---- curves ----

SETTINGS = {
    "as it opens": {},
    "equal coefficients": {"mu_s": 0.5, "mu_k": 0.5},
    "tiny eps_v": {"eps_v": 1e-6, "mu_s": 1, "mu_k": 0.1},
    "large eps_v": {"eps_v": 10, "mu_s": 0.3, "mu_k": 0.7},
    "quadratic": {"eps_v": 0.02, "mu_s": 1.3, "mu_k": 0.2, "transition": "quadratic"},
    "peak": {"eps_v": 0.02, "mu_s": 1.3, "mu_k": 0.2, "transition": "peak"},
    "beyond the sliders": {"eps_v": 1e-9, "mu_s": 7, "mu_k": 0},
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_curves_are_right(page, setting):
    fields = dict(SETTINGS[setting])
    transition = fields.pop("transition", "cubic")
    page.run("await state.page.check(`[value=${given.transition}]`)", transition=transition)
    page.fill(**fields)
    page.idle()
    eps, mu_s, mu_k = fields.get("eps_v", 1e-3), fields.get("mu_s", 0.8), fields.get("mu_k", 0.4)
    shown = page.see("() => [...document.querySelectorAll('svg.curve')].map((svg) => svg.dataset.function)")
    assert shown == page.see("() => [...document.querySelector('#law select').options].map((option) => option.text)")
    assert shown == (WITH_PEAK if transition == "peak" else FUNCTIONS)
    for name in shown:
        x, y = page.curve(name)
        assert 200 <= len(x) == len(y) and x[0] == 0 and x[-1] == 2 * eps and eps in x
        picked = sorted({*range(0, len(x), len(x) // 24), x.index(eps), x.index(eps) - 1, x.index(eps) + 1})
        assert len(picked) >= 20
        expected = [formulas.value(name, x[i], eps, mu_s, mu_k, "quadratic" not in setting) for i in picked]
        # Near a change of sign, and in sums, errors are relative to the magnitude of the terms.
        size = max(abs(v) for v in expected)
        for i, value in zip(picked, expected):
            assert abs(y[i] - value) <= 1e-14 * max(abs(value), 0.01 * size), (name, x[i], y[i], value)


def path_points(page, name):
    d = page.see("(n) => document.querySelector(`svg[data-function=${n}] path.line`).getAttribute('d')", name)
    return [tuple(map(float, point.split())) for point in re.split("[ML]", d)[1:]]


def test_lines_are_drawn_where_the_ticks_say(page):
    """Compares pixels of the line with the labels of the axes."""
    for name, unit in (("smooth_mu_f1", 1), ("smooth_friction_f0", 1e-3), ("smooth_mu_derivative", 1)):
        x, y = page.curve(name)
        texts = page.see("""(name) => [...document.querySelectorAll(`svg[data-function=${name}] text:not([class])`)].map(
            (t) => [Number(t.getAttribute("x")), Number(t.getAttribute("y")), t.getAttribute("text-anchor"),
                    Number(t.textContent.replace("−", "-"))])""", name)
        columns = [(px, v * 1e-3) for px, _, anchor, v in texts if anchor == "middle"]
        rows = [(py - 5, v * unit) for _, py, anchor, v in texts if anchor == "end"]
        assert len(columns) >= 2 and len(rows) >= 2
        (px0, x0), (px1, x1) = columns[0], columns[-1]
        (py0, y0), (py1, y1) = rows[0], rows[-1]
        for (px, py), at, value in zip(path_points(page, name), x, y):
            assert abs(px - (px0 + (at - x0) / (x1 - x0) * (px1 - px0))) < 0.1
            assert abs(py - (py0 + (value - y0) / (y1 - y0) * (py1 - py0))) < 0.1


def test_sliders_move_curves_by_keyboard(page):
    page.press("#eps_v-slider", "Home")
    page.press("#mu_s-slider", "End")
    page.press("#mu_k-slider", *["ArrowRight"] * 3)
    page.idle()
    assert values(page, "eps_v", "mu_s", "mu_k") == [1e-6, 2, 0.43]
    x, y = page.curve("smooth_mu")
    assert x[-1] == 2e-6 and y[0] == 2 and y[-1] == 0.43
    page.press("#eps_v-slider", "End")
    page.idle()
    assert page.curve("smooth_mu")[0][-1] == 20
    assert page.see("() => document.getElementById('eps_v-slider').getAttribute('aria-valuetext')") == "10"


def test_fields_move_sliders(page):
    page.fill(eps_v=1, mu_s=1.25)
    assert values(page, "eps_v-slider", "mu_s-slider") == [0, 1.25]


def test_quick_changes_end_with_the_last(page):
    """Two hundred moves of a slider within a frame or two: the last one wins, and not every move sends a request."""
    before = len(page.run("return state.asked"))
    page.see("""() => { const slider = document.getElementById("mu_s-slider");
        for (let i = 0; i <= 200; i++) {
            slider.value = String(i / 100);
            slider.dispatchEvent(new Event("input", {bubbles: true}));
        } }""")
    page.idle()
    assert page.curve("smooth_mu")[1][0] == 2
    assert page.number("#ellipse", "mu_s")[0] > 0
    assert len(page.run("return state.asked")) - before < 40


def test_old_answers_never_replace_newer_ones(page):
    """The first setting's response is held back until the second has been typed."""
    page.run("""state.held = null;
        await state.page.route("**/v1/functions", (route) => { state.held = route; }, {times: 1})""")
    page.fill(mu_s=1.5)
    page.run("while (!state.held) await state.page.waitForTimeout(5)")
    page.fill(mu_s=1.75)
    page.run("await state.page.waitForTimeout(100); await state.held.continue()")
    page.idle()
    assert page.curve("smooth_mu")[1][0] == 1.75
    assert page.curve("smooth_mu_f1_over_x")[1][0] == 2 * 1.75 / 1e-3


def test_both_sides_of_zero_and_wider_ranges(page):
    page.run("await state.page.selectOption('#range', '-2 2')")
    page.idle()
    x, y = page.curve("smooth_mu_f1")
    assert x[0] == -2e-3 and x[-1] == 2e-3 and {-1e-3, 0, 1e-3} <= set(x)
    assert [-v for v in reversed(y)] == y
    page.run("await state.page.selectOption('#range', '0 5')")
    page.idle()
    x, y = page.curve("smooth_friction_f1")
    assert x[0] == 0 and x[-1] == 5e-3 and y[x.index(1e-3)] == 1 and y[x.index(1e-3) - 1] < 1


def test_crosshair_by_keys_and_pointer(page):
    svg = "svg[data-function=smooth_friction_f1]"
    page.press(svg, "Home")
    assert page.text(f"figure:has({svg}) .readout") == "f₁ = 0"
    page.press(svg, "ArrowRight", "ArrowRight", "Shift+ArrowRight")
    x, y = page.curve("smooth_friction_f1")
    assert page.text(f"figure:has({svg}) .readout") == f"f₁ = {json.dumps(y[12])}"
    assert page.see("(s) => document.querySelector(s).getAttribute('aria-valuenow')", svg) == "12"
    assert str(y[12]) in page.see("(s) => document.querySelector(s).getAttribute('aria-valuetext')", svg)
    assert float(re.search(r"y = (\S+) m/s", page.text(".reading"))[1]) == x[12]
    other = page.curve("smooth_mu")[1]
    assert page.text("figure:has(svg[data-function=smooth_mu]) .readout") == f"μ = {other[12]}"
    page.run("await state.page.locator(given.svg).hover({position: {x: 120, y: 80}})", svg=svg)
    assert page.see("(s) => document.querySelector(s).getAttribute('aria-valuenow')", svg) not in ("0", "12")


def test_table_of_values(page):
    page.run("await state.page.click('figure:has(svg[data-function=smooth_mu_f0]) summary')")
    page.wait("() => document.querySelector('figure:has(svg[data-function=smooth_mu_f0]) tbody tr')")
    x, y = page.curve("smooth_mu_f0")
    rows = page.see("""() => [...document.querySelectorAll("figure:has(svg[data-function=smooth_mu_f0]) tbody tr")].map(
        (row) => [...row.children].map((cell) => Number(cell.textContent)))""")
    assert rows == [list(row) for row in zip(x, y)]
    page.fill(mu_k=0.1)
    page.idle()
    assert page.see("""() => Number(document.querySelector(
        "figure:has(svg[data-function=smooth_mu_f0]) tbody tr:last-child td:last-child").textContent)""") == pytest.approx(2e-4)


# ---- anisotropy ----

def effective(axes, degrees):
    t = math.radians(degrees)
    return math.hypot(axes[0] * math.cos(t), axes[1] * math.sin(t))


def check_ellipse(page, degrees, static, kinetic):
    t = [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]
    assert page.number("#ellipse", "t") == pytest.approx(t, abs=1e-5)
    assert page.number("#ellipse", "force") == pytest.approx([-t[0], -t[1]], abs=1e-5)
    assert page.number("#ellipse", "mu_s")[0] == pytest.approx(effective(static, degrees), rel=1e-13)
    mu_k = effective(kinetic, degrees)
    assert page.number("#ellipse", "mu_k")[0] == pytest.approx(mu_k, rel=1e-13)
    assert page.number("#ellipse", "kinetic") == pytest.approx([-mu_k * t[0], -mu_k * t[1]], abs=1e-5)


def test_anisotropy_by_fields_and_keys(page):
    check_ellipse(page, 35, (1, 0.5), (0.6, 0.3))
    page.fill(mu_s_aniso_0=0.2, mu_s_aniso_1=1.7, mu_k_aniso_0=0.15, mu_k_aniso_1=0.9, direction=-120)
    page.idle()
    check_ellipse(page, -120, (0.2, 1.7), (0.15, 0.9))
    page.press("#ellipse .handle", "ArrowLeft", "ArrowLeft", "PageDown")
    page.idle()
    check_ellipse(page, -132, (0.2, 1.7), (0.15, 0.9))
    page.fill(direction=180)
    page.press("#ellipse .handle", "ArrowRight")
    page.idle()
    check_ellipse(page, -179, (0.2, 1.7), (0.15, 0.9))


def test_a_zero_ellipse_is_the_scalar_coefficient(page):
    page.fill(mu_s_aniso_0=0, mu_s_aniso_1=0, mu_k_aniso_0=0, mu_k_aniso_1=0)
    page.idle()
    check_ellipse(page, 35, (0.8, 0.8), (0.4, 0.4))


def drag(page, svg, handle, x, y, touch=False):
    """Drags a handle with the mouse to (x, y), in the picture's units."""
    page.run("""const svg = state.page.locator(given.svg), box = await svg.boundingBox();
        await svg.scrollIntoViewIfNeeded();
        const places = await state.page.evaluate(({svg, handle, x, y}) => {
            const matrix = document.querySelector(svg).getScreenCTM(), knob = document.querySelector(handle);
            const from = new DOMPoint(knob.cx.baseVal.value, knob.cy.baseVal.value).matrixTransform(matrix);
            const to = new DOMPoint(x, y).matrixTransform(matrix);
            return [[from.x, from.y], [to.x, to.y]];
        }, given);
        const mouse = state.page.mouse;
        await mouse.move(...places[0]);
        await mouse.down();
        await mouse.move(...places[1], {steps: 5});
        await mouse.up();""", svg=svg, handle=handle, x=x, y=y)
    page.idle()


def test_anisotropy_by_dragging(page):
    drag(page, "#ellipse-picture", "#ellipse .handle", 200, 30)
    assert page.number("#ellipse", "t") == pytest.approx([0, 1], abs=0.01)
    degrees = values(page, "direction")[0]
    assert abs(degrees - 90) < 0.5
    check_ellipse(page, degrees, (1, 0.5), (0.6, 0.3))


def test_handles_follow_a_finger(browser, server, page_of):
    page = page_of(server).open(**VIEWS["phone"])
    page.run("""await state.page.locator("#ellipse-picture").scrollIntoViewIfNeeded();
        const [from, to] = await state.page.evaluate(() => {
            const matrix = document.querySelector("#ellipse-picture").getScreenCTM();
            const knob = document.querySelector("#ellipse .handle");
            return [[knob.cx.baseVal.value, knob.cy.baseVal.value], [60, 200]].map(([x, y]) => {
                const at = new DOMPoint(x, y).matrixTransform(matrix);
                return [{x: at.x, y: at.y}]; });
        });
        const session = await state.context.newCDPSession(state.page);
        for (const [type, touchPoints] of [["touchStart", from], ["touchMove", to], ["touchEnd", []]])
            await session.send("Input.dispatchTouchEvent", {type, touchPoints});""")
    page.idle()
    assert abs(values(page, "direction")[0]) == pytest.approx(180, abs=1)
    assert page.complaints() == []


# ---- the block on the incline ----

def mu_f1(ratio, eps, mu_s, mu_k):
    return float(formulas.value("smooth_mu_f1", abs(ratio) * eps, eps, mu_s, mu_k)) * (1 if ratio >= 0 else -1)


def check_incline(page, degrees, ratio, mass=1, eps=1e-3, mu_s=0.8, mu_k=0.4):
    theta = math.radians(degrees)
    normal, pull = mass * G * math.cos(theta), mass * G * math.sin(theta)
    friction = -mu_f1(ratio, eps, mu_s, mu_k) * normal
    for name, value in {"normal": normal, "pull": pull, "friction": friction, "acceleration": (pull + friction) / mass,
                        "mu": abs(friction) / normal, "tan": math.tan(theta)}.items():
        assert page.number("#incline", name)[0] == pytest.approx(value, rel=1e-5, abs=1e-5 * mass * G), name
    assert state_of(page, "contact") == ("stick" if abs(ratio) < 1 else "slip")
    assert re.search("Sticks" if abs(ratio) < 1 else "Slides", page.text("#contact"))


def test_incline_forces(page):
    check_incline(page, 18, 0.2)
    page.fill(angle=33, speed=-0.5, mass=4)
    page.idle()
    check_incline(page, 33, -0.5, 4)
    page.fill(speed=12, mu_k=0.3, eps_v=0.01)
    page.idle()
    check_incline(page, 33, 12, 4, 0.01, 0.8, 0.3)
    page.fill(angle=0, speed=0)
    page.idle()
    check_incline(page, 0, 0, 4, 0.01, 0.8, 0.3)


def test_stick_or_slip(page):
    """The thresholds are the speed eps_v, and the angle whose tan is mu."""
    page.fill(mu_s=0.5, mu_k=0.5)
    limit = math.degrees(math.atan(0.5))
    for degrees, ratio in ((limit - 0.01, 0), (limit + 0.01, 0), (limit - 0.01, 3), (limit + 0.01, 0.999), (limit, 1.001)):
        page.fill(angle=degrees, speed=ratio)
        page.idle()
        check_incline(page, degrees, ratio, mu_s=0.5, mu_k=0.5)
        if degrees != limit:
            assert state_of(page, "verdict") == ("stick" if degrees < limit else "slip")
            assert ("cannot" in page.text("#verdict")) == (degrees > limit)


def test_creep_balances_gravity(page):
    """At the speed that the page states, friction equals gravity's pull."""
    page.fill(angle=20)
    page.idle()
    ratio = float(re.search(r"creeps down at ([0-9.]+)", page.text("#why"))[1])
    below, above = (mu_f1(ratio + d, 1e-3, 0.8, 0.4) for d in (-0.006, 0.006))
    assert below < math.tan(math.radians(20)) < above


# mu_s, mu_k, transition
LAWS = {"as it opens": (0.8, 0.4, "cubic"), "quadratic": (1, 0.1, "quadratic"), "peak": (0.8, 0.4, "peak"), "steep": (1, 0.1, "cubic"),
        "no peak": (0.5, 0.45, "cubic"), "equal": (0.5, 0.5, "cubic"), "rising": (0.3, 0.7, "cubic")}


def resistance(mu_s, mu_k, transition):
    """mu f1 as a function of the speed divided by eps_v, in doubles."""
    def at(z):
        if z >= 1:
            return mu_k
        if transition == "peak":
            return float(formulas.value("law_force", z, 1, mu_s, mu_k))
        return float(mu_s + (mu_k - mu_s) * formulas.transition(z, transition == "cubic")) * (2 * z - z * z)
    return at


def peak_of(at):
    """The argument at which mu f1 is largest, by ternary search: mu f1 rises, and may then fall."""
    low, high = 0.0, 1.0
    while high - low > 1e-12:
        third = (high - low) / 3
        low, high = (low + third, high) if at(low + third) < at(high - third) else (low, high - third)
    return (low + high) / 2


def root(at, value, low, high):
    """The argument between low and high at which at() equals value, by bisection."""
    below = at(low) < value
    while abs(high - low) > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if (at(middle) < value) == below else (low, middle)
    return low


def ends_held(at, tan, speed):
    """Whether the block settles or runs away: integrates its equation of motion in time steps."""
    step = 0.02
    while speed < 2 or at(1) > tan:
        push = tan - math.copysign(at(abs(speed)), speed)
        if speed >= 0 and abs(push) < 1e-6:
            return True
        speed += step * push * (50 if speed > 2 else 1)
    return False


def set_law(page, mu_s, mu_k, transition):
    page.fill(mu_s=mu_s, mu_k=mu_k)
    page.run("await state.page.check(`[value=${given.transition}]`)", transition=transition)


@pytest.mark.parametrize("name", LAWS)
def test_the_motion_of_the_block(page, name):
    """At every angle and speed the verdict and the numbers shown agree with the equation of motion."""
    at, mu_k = resistance(*LAWS[name]), LAWS[name][1]
    set_law(page, *LAWS[name])
    top = peak_of(at)
    largest = at(top)
    tangents = [0.3 * mu_k, 0.95 * mu_k, 1.02 * largest, 2 * largest]
    if largest > 1.001 * mu_k:
        tangents += [mu_k + share * (largest - mu_k) for share in (0.1, 0.5, 0.98)]
    some = slice(1, None, 2) if servers.ONE_IN > 1 else slice(None)
    for tan in tangents[some]:
        page.fill(angle=math.degrees(math.atan(tan)))
        attained, bistable = tan < largest, mu_k < tan < largest
        threshold = root(at, tan, top, 1) if bistable else None
        speeds = [-3, -0.5, 0, 0.9 * top, 1, 2, 15]
        for speed in speeds[some] + ([threshold - 0.002, threshold + 0.002] if bistable else []):
            page.fill(speed=speed)
            page.idle()
            held = ends_held(at, tan, speed)
            verdict, why = page.text("#verdict"), page.text("#why")
            assert state_of(page, "verdict") == ("stick" if held else "slip"), (tan, speed, verdict)
            assert ("cannot" in verdict) == (not attained) and ("Too fast" in verdict) == (bistable and not held)
            acceleration = page.number("#incline", "acceleration")[0]
            assert ("friction is less than" in why) == (speed >= 0 and acceleration > 0), why
            assert ("friction is more than" in why) == (acceleration < 0), why
            assert ("moves uphill" in why) == (speed < 0), why
            if bistable and speed > top:
                assert (acceleration > 0) == (not held)
        limits = page.text("#incline dd[data-name=held]")
        if attained:
            assert page.number("#incline", "creep")[0] == pytest.approx(root(at, tan, 0, top), abs=1e-3)
        if bistable:
            assert float(re.fullmatch("below ([0-9.]+) εᵥ", limits)[1]) == pytest.approx(threshold, abs=1e-3)
            assert limits in why and "either can happen" in why
        else:
            assert limits == ("any" if attained else "none")
            assert "either can happen" not in why


def test_too_fast_to_be_held(page):
    """At this angle friction can hold the block, but not at this speed."""
    page.fill(angle=23.27, speed=2)
    page.idle()
    check_incline(page, 23.27, 2)
    assert page.number("#incline", "acceleration")[0] == pytest.approx(0.270787, rel=1e-5)
    assert page.text("#verdict") == "▶ Too fast for friction to hold the block"
    page.fill(speed=0.5)
    page.idle()
    assert page.text("#verdict") == "■ Friction holds the block to a creep"


def test_a_level_floor_and_a_slope_to_the_other_side(page):
    page.fill(angle=0, speed=0)
    page.idle()
    assert page.text("#verdict") == "■ Friction holds the block" and "rests" in page.text("#why")
    page.fill(speed=-4)
    page.idle()
    assert page.text("#verdict") == "■ Friction stops the block" and "comes to rest" in page.text("#why")
    page.fill(mu_s=0, mu_k=0)
    page.idle()
    assert page.text("#verdict") == "▶ Nothing changes the block's speed"
    page.fill(mu_s=0.8, mu_k=0.4, angle=-23.27, speed=-2)
    page.idle()
    assert page.text("#verdict") == "▶ Too fast for friction to hold the block"
    page.fill(speed=2)  # uphill
    page.idle()
    assert page.text("#verdict") == "■ Friction slows the block to a creep" and "moves uphill" in page.text("#why")


@pytest.mark.parametrize("name", LAWS)
def test_cones(page, name):
    """The attainable cone leans by the largest mu f1, the other cones by their coefficients."""
    set_law(page, *LAWS[name])
    page.idle()
    mu_s, mu_k, _ = LAWS[name]
    at = resistance(*LAWS[name])
    cones = page.see("""() => Object.fromEntries(["attainable", "kinetic"].map((kind) => {
        const [apex, left, right] = document.querySelector(`#cone polygon.${kind}`).points;
        return [kind, [(apex.x - left.x) / (apex.y - left.y), (right.x - apex.x) / (apex.y - right.y)]]; }))""")
    lines = page.see("""() => [...document.querySelectorAll("#cone line.static")].map((line) =>
        Math.abs(line.x2.baseVal.value - line.x1.baseVal.value) / (line.y1.baseVal.value - line.y2.baseVal.value))""")
    assert cones["attainable"] == pytest.approx([at(peak_of(at))] * 2, abs=1e-5)
    assert cones["kinetic"] == pytest.approx([mu_k] * 2, abs=1e-5) and lines == pytest.approx([mu_s] * 2, abs=1e-5)
    assert page.number("#incline", "largest")[0] == pytest.approx(at(peak_of(at)), rel=1e-5)


def cone_texts(page):
    """The visible legend and caption of the cones."""
    return page.see("""() => { const {innerText} = document.querySelector("#cone").closest("figure");
                       return innerText.replace(/\\s+/g, " "); }""")


def test_the_cones_are_named_by_the_transition(page):
    """The transition peak has no mu, and attains the cone of mu_s."""
    page.fill(mu_s=0.8, mu_k=0.4)
    page.idle()
    texts = cone_texts(page)
    assert texts.count("largest μ f1") == 3 and "G1" not in texts
    assert "cannot be reached" in texts
    page.run("await state.page.check('[value=peak]')")
    page.idle()
    texts = cone_texts(page)
    assert texts.count("largest G1") == 3 and "f1" not in texts
    assert "cannot be reached" not in texts and "the largest force lies on the cone of μs" in texts
    page.run("await state.page.check('[value=quadratic]')")
    page.idle()
    assert "cannot be reached" in cone_texts(page) and "G1" not in cone_texts(page)


@pytest.mark.parametrize("mu_k", [0.999, 0.95, 0.9, 1.05])
def test_labels_of_coefficients_are_apart(page, mu_k):
    """Labels of two nearly equal values do not overlap."""
    page.fill(mu_s=1, mu_k=mu_k)
    page.idle()
    boxes = page.see("""() => [...document.querySelectorAll("svg[data-function=smooth_mu_f1] text.mark")]
        .filter((text) => /^μ/.test(text.textContent)).map((text) => text.getBBox())
        .map(({x, y, width, height}) => [x, y, x + width, y + height])""")
    assert len(boxes) == 2
    (left, top, right, bottom), (x0, y0, x1, y1) = sorted(boxes)
    assert right <= x0 or bottom <= y0 or y1 <= top


def test_both_sections_name_the_same_peak(page):
    page.run("await state.page.selectOption('#range', '0 5')")  # coarse points
    page.fill(mu_s=1, mu_k=0.15, angle=40)
    page.idle()
    told = [re.search("largest μ f₁ is ([0-9.]+)", page.text(at))[1] for at in (".reading", "#why")]
    at = resistance(1, 0.15, "cubic")
    assert told == [f"{at(peak_of(at)):.4g}"] * 2


def test_what_the_picture_leaves_out_is_said(page):
    caption = page.text("#incline figcaption")
    assert "moments are not balanced" in caption and "anchors carried from step to step" in caption


def test_arrows_show_the_forces(page):
    """The arrows' lengths are proportional to the forces, and their directions match the slope."""
    page.fill(angle=30, speed=10)
    page.idle()
    tips = page.see("""() => Object.fromEntries(["gravity", "normal", "force"].map((kind) => [kind,
        [...document.querySelectorAll(`#incline-picture .arrow.${kind}`)].map((arrow) => {
            const line = arrow.querySelector("line"), tip = arrow.querySelector("polygon").points[0];
            return [tip.x - line.x1.baseVal.value, tip.y - line.y1.baseVal.value]; })]))""")
    (gravity,), c, s = tips["gravity"], math.cos(math.pi / 6), math.sin(math.pi / 6)
    assert gravity[0] == pytest.approx(0, abs=0.02)
    for x, y in tips["normal"]:
        assert (x, y) == pytest.approx((gravity[1] * c / 2 * s, -gravity[1] * c / 2 * c), abs=0.05)
    for x, y in tips["force"]:  # up the slope, which falls to the right
        assert (x, y) == pytest.approx((-gravity[1] * 0.4 * c / 2 * c, -gravity[1] * 0.4 * c / 2 * s), abs=0.05)
    assert len(tips["normal"]) == len(tips["force"]) == 2
    (x, y), = page.see("""() => [...document.querySelectorAll("#cone .arrow")].map((arrow) => {
        const line = arrow.querySelector("line"), tip = arrow.querySelector("polygon").points[0];
        return [tip.x - line.x1.baseVal.value, tip.y - line.y1.baseVal.value]; })""")
    assert x / y == pytest.approx(0.4, abs=1e-3)  # on the kinetic cone


def test_hessian_is_what_the_service_says(page, server):
    page.fill(angle=25, speed=0.4)
    page.idle()
    entries = page.see("() => JSON.parse(document.getElementById('spy').dataset.entries)")
    shown = {(row, col): value for row, col, value in entries}
    theta, ratio, eps = math.radians(25), 0.4, 1e-3
    normal = G * math.cos(theta) / 2
    stiffness = normal * float(formulas.value("smooth_mu_f2", ratio * eps, eps, 0.8, 0.4))
    tangent = (math.cos(theta), -math.sin(theta))
    expected = {}
    for corner, alpha in ((0, (2 - 0.5) / 2 / 2), (1, (2 + 0.5) / 2 / 2)):  # places on the slope, 2 m long
        weights = {corner: 1, 4: alpha - 1, 5: -alpha}
        for i, wi in weights.items():
            for j, wj in weights.items():
                for a in (0, 1):
                    for b in (0, 1):
                        key = (2 * i + a, 2 * j + b)
                        expected[key] = expected.get(key, 0) + stiffness * wi * wj * tangent[a] * tangent[b]
    assert shown.keys() == expected.keys()
    for key, value in expected.items():
        assert shown[key] == pytest.approx(value, rel=1e-9, abs=1e-9 * abs(stiffness)), key
    page.press("#spy", "ArrowDown", "ArrowRight")
    assert page.text("#incline .readout").startswith("row 1, column 1: ")
    page.press("#spy", "ArrowUp", "ArrowRight", "ArrowRight")
    assert page.text("#incline .readout") == "row 0, column 3: not in the pattern"


def test_incline_by_dragging(page):
    drag(page, "#incline-picture", "#incline .handle.ground", 200 - 150 * math.cos(0.7), 180 - 150 * math.sin(0.7))
    angle = values(page, "angle")[0]
    assert angle == pytest.approx(math.degrees(0.7), abs=0.5)
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    drag(page, "#incline-picture", "#incline .handle.slip", 200 + 63 * s - 60 * c, 180 - 63 * c - 60 * s)
    speed = values(page, "speed")[0]
    assert speed == pytest.approx(-20 * math.sinh(3) / math.sinh(6), rel=0.1)
    check_incline(page, angle, speed)
    page.press("#incline .handle.ground", "ArrowDown")
    page.press("#incline .handle.slip", *["ArrowUp"] * 30)
    page.idle()
    assert values(page, "angle")[0] == pytest.approx(angle - 1, abs=0.1)
    assert values(page, "speed")[0] > speed


# ---- curl ----

@pytest.mark.parametrize("section", ["law", "ellipse", "incline"])
def test_curl_in_bash_gives_the_same_answer(page, section):
    page.fill(mu_s=1.1, speed=2)
    page.idle()
    command, shown = page.text(f"#{section} pre.request"), json.loads(page.text(f"#{section} pre.answer"))
    done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, check=True)
    assert json.loads(done.stdout) == shown


def test_any_function_as_curl(page):
    page.run("await state.page.click('#law details.exchange summary')")
    page.run("await state.page.selectOption('#law select', 'smooth_mu_f2')")
    command = page.text("#law pre.request")
    assert "/v1/functions/smooth_mu_f2'" in command
    done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, check=True)
    assert json.loads(done.stdout)["values"] == page.curve("smooth_mu_f2")[1]


def test_copy(page):
    page.run("await state.context.grantPermissions(['clipboard-read', 'clipboard-write'])")
    page.run("await state.page.click('#incline details.exchange summary')")
    page.run("await state.page.click('#incline details.exchange button')")
    page.wait("() => document.querySelector('#incline .exchange [role=status]').textContent === 'Copied.'")
    assert page.see("() => navigator.clipboard.readText()") == page.text("#incline pre.request")


# ---- failures ----

def test_what_the_service_refuses_is_shown(browser, server, page_of):
    """Beside the field that caused it, with its name; the sections say which field it is."""
    page = page_of(server).open()
    before = page.curve("smooth_mu")
    page.fill(eps_v=-1)
    page.idle()
    assert re.match("εv: .*0", page.text("#eps_v-fault")) and "/" not in page.text("#eps_v-fault")
    assert page.see("() => document.getElementById('eps_v').getAttribute('aria-invalid')") == "true"
    assert page.text("#law .stale") == page.text("#incline .stale") == "Not current: see εv"
    assert page.curve("smooth_mu") == before
    assert page.see("() => Number(getComputedStyle(document.querySelector('#law svg')).opacity)") < 1
    page.fill(eps_v=0.5)
    page.idle()
    assert page.see("() => [...document.querySelectorAll('[role=alert]')].every((e) => e.hidden || !e.textContent)")
    assert page.see("() => document.getElementById('eps_v').getAttribute('aria-invalid')") == "false"
    assert page.curve("smooth_mu")[0][-1] == 1


def test_a_slope_beyond_the_vertical(page):
    """The field names itself, and the picture keeps the last slope."""
    page.fill(angle=40)
    page.idle()
    before = page.see("() => document.querySelector('#incline .handle.ground').getAttribute('cx')")
    page.fill(angle=95)
    page.idle()
    assert page.text("#angle-fault").startswith("Angle θ: Beyond 90°")
    assert page.see("() => document.querySelector('#incline .handle.ground').getAttribute('cx')") == before
    page.run("state.messages.length = 0")  # messages about the refused request


RESULTS = {"law": [".reading", ".readout", "table", "pre"], "ellipse": ["dd", "pre"],
           "incline": ["#contact", "#verdict", "#why", "dd", ".readout", "pre"]}


def looks_old(page):
    """The sections shown as outdated: pictures pale and all texts italic. No section is shown partly so."""
    looks = page.see("""(results) => Object.entries(results).map(([id, texts]) => {
        const all = (selector) => [...document.querySelectorAll(`#${id} ${selector}`)].map((e) => getComputedStyle(e));
        return [id, [...all("svg").map((style) => Number(style.opacity) < 1),
                     ...texts.flatMap((text) => all(text)).map((style) => style.fontStyle === "italic"),
                     !document.querySelector(`#${id} .stale`).hidden]]; })""", RESULTS)
    assert all(len(set(signs)) == 1 and len(signs) > 3 for _, signs in looks), looks
    return {name for name, signs in looks if signs[0]}


def wait_until_old(page, *sections):
    for section in sections:
        page.wait("(id) => document.getElementById(id).classList.contains('old')", section)
    assert looks_old(page) == set(sections)


@pytest.mark.parametrize("fields, sections", [
    ({"mu_s": -1}, ["law", "ellipse", "incline"]), ({"eps_v": 0}, ["law", "incline"]),
    ({"mu_s_aniso_0": -1}, ["ellipse"]), ({"angle": 120}, ["incline"])])
def test_refused_results_look_old(page, fields, sections):
    assert looks_old(page) == set()
    page.fill(**fields)
    page.idle()
    wait_until_old(page, *sections)
    page.run("await state.page.click('#reset')")
    page.idle()
    assert looks_old(page) == set()
    page.run("state.messages.length = 0")  # messages about the refused requests


@pytest.mark.parametrize("field, sections", [
    ("mu_s", ["law", "ellipse", "incline"]), ("direction", ["ellipse"]), ("mass", ["incline"])])
def test_results_look_old_if_a_field_has_no_number(page, field, sections):
    value = values(page, field)[0]
    page.fill(**{field: ""})
    wait_until_old(page, *sections)
    for section in sections:
        assert page.text(f"#{section} .stale").startswith("Not current: see ")
    assert "This is not a number" in page.text(f"#{field}-fault")
    assert page.see("(id) => document.getElementById(id).getAttribute('aria-errormessage')", field) == f"{field}-fault"
    page.fill(**{field: value})
    page.idle()
    assert looks_old(page) == set()


def test_results_look_old_while_no_answer_comes(page):
    """The service accepts the request and never responds."""
    page.run("""state.held = [];
        await state.page.route("**/v1/evaluate", (route) => { state.held.push(route); })""")
    page.fill(angle=30)
    wait_until_old(page, "incline")
    assert page.number("#incline", "tan")[0] == pytest.approx(math.tan(math.radians(18)), rel=1e-5)
    page.run("for (const route of state.held) await route.continue()")
    page.wait("() => !document.querySelector('.old')")
    assert page.number("#incline", "tan")[0] == pytest.approx(math.tan(math.radians(30)), rel=1e-5)
    assert looks_old(page) == set()


def test_pictures_show_what_was_asked_for(browser, server, page_of):
    """A value typed before the response arrives does not affect the response's picture."""
    page = page_of(server).open()
    page.run("""state.held = null;
        await state.page.route("**/v1/evaluate", (route) => { state.held = route; }, {times: 1})""")
    page.fill(angle=30)
    page.run("while (!state.held) await state.page.waitForTimeout(5)")
    page.fill(angle=120)
    page.run("await state.held.continue()")
    page.idle()
    wait_until_old(page, "incline")
    assert page.number("#incline", "tan")[0] == pytest.approx(math.tan(math.radians(30)), rel=1e-5)
    assert page.text("#incline-picture .angle") == "θ = 30°"


def test_what_has_no_value_is_not_shown_as_a_number(page):
    page.fill(mass=0)
    page.idle()
    assert page.text("#incline dd[data-name=mu]") == "–"
    assert page.text("#verdict") == "" and "nothing to hold" in page.text("#why")
    assert "NaN" not in page.text("main")


def test_text_that_is_not_a_number_changes_nothing(page):
    page.run("await state.page.fill('#mu_s', '')")
    assert page.see("() => document.getElementById('mu_s').getAttribute('aria-invalid')") == "true"
    page.idle()
    assert page.curve("smooth_mu")[1][0] == 0.8
    page.fill(mu_s=0.9)
    assert page.see("() => document.getElementById('mu_s').getAttribute('aria-invalid')") == "false"


def test_a_busy_service_is_tried_again(browser, server, page_of):
    page = page_of(server).open()
    page.run("""state.refused = 0; state.seen = false;
        await state.page.route("**/v1/functions", (route) => {
            if (state.refused++ < 2 || !state.seen)
                return route.fulfill({status: 503, headers: {"Retry-After": "1"},
                    contentType: "application/problem+json",
                    body: JSON.stringify({title: "Service Unavailable", status: 503, detail: "Full.", errors: []})});
            return route.continue();
        })""")
    page.fill(mu_s=1.9)
    page.wait("() => /busy/.test(document.getElementById('trouble').textContent)")
    page.run("state.seen = true")
    page.wait("() => document.getElementById('trouble').hidden")
    page.idle()
    x, y = page.curve("smooth_mu_f1")
    assert y[20] == pytest.approx(float(formulas.value("smooth_mu_f1", x[20], 1e-3, 1.9, 0.4)), rel=1e-14)


@pytest.fixture
def replaceable():
    """Returns a function that starts the service on a port (0: any) and returns its URL and a stop function."""
    running = []

    def start(port):
        process, base = servers.start("--port", str(port))
        running.append(process)
        return base, lambda: servers.stop(running.pop())

    yield start
    for process in running:
        process.kill()
        process.wait()


def test_a_service_that_goes_away_and_comes_back(page_of, replaceable):
    base, stop = replaceable(0)
    page = page_of(base).open()
    assert stop() == 0
    page.fill(mu_k=0.25)
    page.wait("() => /does not respond/.test(document.getElementById('trouble').textContent)")
    wait_until_old(page, "law", "ellipse", "incline")
    _, stop = replaceable(base.rsplit(":", 1)[1])
    page.wait("() => document.getElementById('trouble').hidden")
    page.idle()
    assert page.curve("smooth_mu")[1][-1] == 0.25
    assert looks_old(page) == set()
    assert stop() == 0


# ---- tokens and policy ----

TOKEN = "explorer-test-0123456789abcdefghijklmnopqrstuvwxyz"


@pytest.fixture
def guarded(server_with, tmp_path):
    file = tmp_path / "tokens"
    file.write_text(f"explorer {TOKEN}\n")
    file.chmod(0o600)
    return server_with("--tokens", str(file))


def enter_token(page, token):
    page.run("await state.page.fill('#token-field', given.token); await state.page.keyboard.press('Enter')", token=token)


def test_with_a_token(browser, guarded, page_of):
    page = page_of(guarded).open(settled=False)
    page.wait("() => !document.getElementById('token').hidden")
    enter_token(page, "wrong-wrong-wrong-wrong-wrong-wrong-wrong")
    page.wait("() => /does not accept/.test(document.getElementById('token-fault').textContent)")
    enter_token(page, TOKEN)
    page.wait("() => document.querySelectorAll('svg[data-y]').length === 10 && document.getElementById('token').hidden")
    page.idle()
    assert page.curve("smooth_mu")[1][0] == 0.8
    assert page.text("#version").startswith("frictiond ")
    command = page.text("#incline pre.request")
    assert TOKEN not in page.see("() => document.documentElement.outerHTML")
    done = subprocess.run(["bash", "-c", f"TOKEN={TOKEN}\n{command}"], stdout=subprocess.PIPE, check=True)
    assert json.loads(done.stdout) == json.loads(page.text("#incline pre.answer"))
    assert page.see("() => [localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    page.run("await state.page.reload()")
    page.wait("() => !document.getElementById('token').hidden")


def test_policy_holds(browser, server, page_of):
    """Content injected into the page cannot run scripts, load anything or send requests elsewhere."""
    page = page_of(server).open()
    page.see("""() => {
        window.violations = [];
        document.addEventListener("securitypolicyviolation", ({effectiveDirective}) => {
            window.violations.push(effectiveDirective);
        });
        document.body.insertAdjacentHTML("beforeend",
            '<img src="x" onerror="window.ran = 1"><p style="color: red" id="styled">x</p>');
        const script = document.createElement("script");
        script.textContent = "window.ran = 2";
        document.body.append(script);
        const frame = document.createElement("iframe");
        frame.src = "https://frictiond.invalid/";
        document.body.append(frame);
        const image = new Image();
        image.src = "https://frictiond.invalid/x.png";
        setTimeout("window.ran = 3");
    }""")
    assert page.see("() => fetch('https://frictiond.invalid/').then(() => 'sent', () => 'blocked')") == "blocked"
    page.wait("() => window.violations.length >= 5")
    found = set(page.see("() => window.violations"))
    assert {"script-src-elem", "style-src-attr", "frame-src", "img-src", "connect-src"} <= found
    assert page.see("() => window.ran ?? null") is None
    assert page.see("() => getComputedStyle(document.getElementById('styled')).color") != "rgb(255, 0, 0)"
    assert not [url for url in page.run("return state.asked") if url.startswith("https://frictiond.invalid/")
                and page.see("(u) => performance.getEntriesByName(u).some((e) => e.transferSize > 0)", url)]


def test_no_other_page_may_frame_it(browser, server, page_of):
    page = page_of(server).open()
    page.run("""await state.page.route("**/framing", (route) => route.fulfill({contentType: "text/html",
            body: `<iframe src="${given.base}/"></iframe>`}));
        await state.page.goto(given.base + "/framing");
        await state.page.waitForTimeout(300)""", base=server)
    titles = page.run("return Promise.all(state.page.frames().slice(1).map((frame) => frame.title().catch(() => '')))")
    assert not any("frictiond" in title for title in titles)


# ---- accessibility ----

VIEWS = {
    "desktop": {}, "dark": {"colorScheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 740}, "isMobile": True, "hasTouch": True},
    "dark phone": {"viewport": {"width": 360, "height": 740}, "isMobile": True, "hasTouch": True, "colorScheme": "dark"},
    "calm": {"reducedMotion": "reduce"},
}


@pytest.mark.parametrize("view", VIEWS)
def test_the_page_is_accessible(browser, server, page_of, view):
    page = page_of(server).open(**VIEWS[view])
    page.picture(view.replace(" ", "-"))
    # Opens one of the ten tables: each has hundreds of rows, and axe examines all of them.
    page.see("""() => { for (const details of document.querySelectorAll(".exchange, .large details"))
        details.open = true; }""")
    page.idle()
    assert page.see("() => document.documentElement.scrollWidth <= innerWidth")
    page.fill(angle=50, speed=5)
    page.idle()
    assert page.see("() => document.documentElement.scrollWidth <= innerWidth")
    # Runs axe through the debugger, to which the page's policy does not apply.
    found = page.run("""const session = await state.context.newCDPSession(state.page);
        const source = state.fs.readFileSync(state.axe, "utf8");
        await session.send("Runtime.evaluate", {expression: source + ";0"});
        const {result} = await session.send("Runtime.evaluate", {awaitPromise: true, returnByValue: true,
            expression: `axe.run().then((r) => ({passes: r.passes.length,
                violations: r.violations.map((v) => [v.id, v.help, v.nodes.map((n) => n.html)])}))`});
        return result.value""")
    assert found["violations"] == [] and found["passes"] > 20
    if view.startswith("dark"):
        paper = page.see("() => getComputedStyle(document.body).backgroundColor")
        assert all(int(v) < 64 for v in re.findall("[0-9]+", paper))


def test_tab_reaches_everything(page):
    """Elements get the focus in the order of the page, and a ring shows the focus."""
    reached = page.run("""const seen = [];
        for (let i = 0; i < 120; i++) {
            await state.page.keyboard.press("Tab");
            const at = await state.page.evaluate(() => {
                const e = document.activeElement, style = getComputedStyle(e);
                return e === document.body ? null : {
                    name: e.id || e.dataset.function || e.className.baseVal || e.tagName,
                    ring: style.outlineStyle !== "none" || e.classList.contains("handle")};
            });
            if (!at) break;
            seen.push(at);
        }
        return seen""")
    names = [at["name"] for at in reached]
    for name in ("eps_v-slider", "eps_v", "mu_s", "mu_k", "range", "reset", "smooth_mu_f1", "smooth_mu_f1_over_x",
                 "handle slip", "handle ground", "direction", "angle", "speed", "mass", "spy"):
        assert name in names, name
    assert all(at["ring"] for at in reached)


def test_peak_and_back(page):
    """For laws without a μ(y) other plots appear instead, and the texts name them."""
    page.fill(mu_s=0.8, mu_k=0.4)
    page.run("await state.page.check('[value=peak]')")
    page.idle()
    x, y = page.curve("law_force")
    assert y[x.index(0.75e-3)] == 0.8 == max(y)
    assert "The largest G₁ is 0.8, at 0.75 εᵥ: static friction holds up to μₛ." in page.text("#law .reading")
    page.fill(angle=38)
    page.idle()
    assert state_of(page, "verdict") == "stick" and "G₁ = " in page.text("#why") and "μ f₁" not in page.text("#incline")
    page.run("await state.page.click('#law details.exchange summary')")
    page.run("await state.page.selectOption('#law select', 'law_force_derivative')")
    command = page.text("#law pre.request")
    assert "/v1/functions/law_force_derivative'" in command and re.search('"mu_transition": ?"peak"', command)
    page.run("await state.page.check('[value=cubic]')")
    page.idle()
    assert page.see("() => [...document.querySelectorAll('svg.curve')].map((svg) => svg.dataset.function)") == FUNCTIONS
    assert "stays below μₛ" in page.text("#law .reading") and "G₁ = " not in page.text("#why")
    assert state_of(page, "verdict") == "slip"


def test_reset(page):
    page.fill(eps_v=0.5, mu_s=0.1, angle=44)
    page.run("await state.page.check('[value=quadratic]')")
    page.run("await state.page.click('#reset')")
    page.idle()
    assert values(page, "eps_v", "mu_s", "angle") == [0.001, 0.8, 18]
    x, y = page.curve("smooth_mu_derivative")
    assert y[x.index(0.5e-3)] == pytest.approx(6 * -0.4 * 0.25 / 1e-3)
