"""How many requests a change sends, also while a control moves for seconds, in every view; and what each view does when
the service is killed in the middle of it."""
import pytest

from conftest import servers
from test_explorer import replaceable  # noqa: F401
from test_views import STATES, asked, link_of, view  # noqa: F401

MOST = 6
SETTLED_MS = 400  # as in web/service.js: without a change of settings, after which a change is over

# In every view the controls that move: sliders, or handles in pictures with the point to which they are dragged.
SLIDERS = {
    "start": ["#start-mu_s-slider", "#start-mu_k-slider"],
    "laws": ["#mu_s-slider", "#eps_v-slider", "#viscous-slider", "#direction-slider", "#angle-slider"],
    "motion": ["#motion-mu_k-slider", "#motion-angle-slider"],
    "fit": ["#fit-eps_v-slider"],
    "batch": ["#batch-force"],
}
MOVES = [(name, slider) for name, sliders in SLIDERS.items() for slider in sliders]

# Moves a slider to and fro with the pointer for some seconds, in steps with pauses of that many milliseconds. Returns how
# often the page saw no change for so long that the change was over, as on a busy machine.
DRAG = """await state.page.evaluate((settled) => {
        let last = Infinity;
        window.rests = 0;
        addEventListener("input", () => {
            const now = performance.now();
            window.rests += now - last > settled;
            last = now;
        }, true);
    }, given.settled);
    const {x, y, width, height} = await state.page.locator(given.at).boundingBox();
    const to = (share) => state.page.mouse.move(x + width * (0.5 + 0.35 * Math.sin(share)), y + height / 2);
    await to(0);
    await state.page.mouse.down();
    const end = Date.now() + 1000 * given.seconds;
    for (let k = 1; Date.now() < end; k++) {
        await to(k / 9);
        await state.page.waitForTimeout(given.pause);
    }
    await state.page.mouse.up();
    return state.page.evaluate(() => window.rests);"""


def drag(page, slider, pause):
    page.run("await state.page.locator(given.at).scrollIntoViewIfNeeded()", at=slider)
    page.idle()
    before = asked(page)
    rests = page.run(DRAG, at=slider, seconds=2.5, pause=pause, settled=SETTLED_MS - 10)
    page.idle()
    return asked(page) - before, 1 + rests


@pytest.mark.parametrize("name,slider", MOVES)
@pytest.mark.parametrize("pause", [16, 120])
def test_a_long_drag_sends_few_requests(view, name, slider, pause):  # noqa: F811
    page = view(name, reducedMotion="reduce")
    sent, changes = drag(page, slider, pause)
    assert sent <= MOST * changes and (sent > 0 or name == "batch")
    assert page.see("() => document.querySelector('.view:not([hidden]) .old')") is None
    if name == "laws" and slider == "#mu_s-slider":  # what is shown is where the slider has been left
        assert page.curve("smooth_mu")[1][0] == page.see("() => Number(document.getElementById('mu_s').value)")
    if name == "start":
        largest = page.see("() => Number(document.getElementById('start-mu_s').value)")
        assert max(page.curve("law_force")[1]) >= largest * (1 - 1e-3)
    page.run("state.messages.length = 0")  # a motion may be refused on the way


def test_a_held_key_sends_few_requests(view):  # noqa: F811
    """Sixty repetitions of a key, each of which changes the slider and ends a change of its own for the browser."""
    page = view("laws")
    before = asked(page)
    page.see("""async () => { const slider = document.getElementById("mu_k-slider");
        for (let k = 1; k <= 60; k++) {
            slider.value = String(0.4 + k / 100);
            for (const type of ["input", "change"]) slider.dispatchEvent(new Event(type, {bubbles: true}));
            await new Promise((done) => setTimeout(done, 25));
        } }""")
    page.idle()
    assert 0 < asked(page) - before <= MOST and page.curve("smooth_mu")[1][-1] == 1.0


def test_results_of_a_long_drag_look_old_until_it_ends(view):  # noqa: F811
    """A change sends a limited number of requests, and outdated results are marked as such."""
    page = view("laws")
    page.run("""const {x, y, width, height} = await state.page.locator("#mu_s-slider").boundingBox();
        await state.page.mouse.move(x + width / 2, y + height / 2);
        await state.page.mouse.down();
        const seen = () => state.page.evaluate(() => document.querySelector("#law.old .stale")?.textContent);
        for (let k = 0; (await seen()) !== "Not current: still changing"; k++)
            await state.page.mouse.move(x + width * (0.3 + 0.01 * (k % 40)), y + height / 2);
        await state.page.mouse.up();""")
    page.idle()
    assert page.see("() => document.querySelector('.old')") is None


CHANGES = {"start": [("start-mu_s", 0.9)], "laws": [("mu_s", 0.9), ("angle", 30), ("direction", 10)],
           "motion": [("motion-mu_k", 0.3), ("motion-angle", 10), ("motion-duration", 1)], "fit": [("fit-eps_v", 0.0005)]}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_sends_few_requests(view, name):  # noqa: F811
    page = view(name, reducedMotion="reduce")
    for field, value in CHANGES[name]:
        before = asked(page)
        page.fill(**{field: value})
        page.idle()
        assert 1 <= asked(page) - before <= MOST, field
    before = asked(page)
    page.run("await state.page.evaluate((hash) => { location.hash = hash; }, given.hash)", hash=link_of(page, name, STATES[name]))
    page.run("await state.page.waitForTimeout(600)")
    page.idle()
    assert asked(page) - before <= MOST


# A change in each view, and the element that shows its effect.
TOUCHED = {
    "start": ("await state.page.fill('#start-mu_s', '0.75')", "() => document.querySelector('#sentence strong')"),
    "start, more": ("await state.page.click('#more summary')", "() => document.querySelectorAll('#more svg[data-y]').length === 7"),
    "laws": ("await state.page.fill('#mu_s', '0.75')", "() => JSON.parse(document.querySelector('svg[data-function=smooth_mu]').dataset.y)[0] === 0.75"),
    "batch": ("await state.page.selectOption('#batch-example', 'heap')", "() => /in 2D: /.test(document.querySelector('#batch-summary').textContent)"),
    "motion": ("await state.page.fill('#motion-mu_s', '0.75')", "() => document.querySelector('#motion dd')"),
    "fit": ("await state.page.selectOption('#fit-law', 'exponential')", "() => document.querySelector('#fit dd')"),
}


@pytest.mark.parametrize("name", TOUCHED)
def test_a_service_that_is_killed(page_of, replaceable, name):  # noqa: F811
    """The page says so, marks what is not current, and catches up once the service is back. The browser itself logs
    connections that are refused; the page logs nothing."""
    act, done = TOUCHED[name]
    base, stop = replaceable(0)
    page = page_of(base)
    page.open(f"/#v1/{name.partition(',')[0]}", settled=False, reducedMotion="reduce")
    page.idle()
    assert stop() == 0
    page.run(act)
    page.wait("() => /does not respond/.test(document.getElementById('trouble').textContent)")
    if name != "start, more":
        page.wait("() => document.querySelector('.view:not([hidden]) .old .stale:not([hidden])')")
    _, stop = replaceable(base.rsplit(":", 1)[1])
    page.wait("() => document.getElementById('trouble').hidden")
    page.wait(done)
    page.idle()
    assert page.see("() => document.querySelector('.view:not([hidden]) .old')") is None
    assert {message["text"] for message in page.complaints()} <= {"Failed to load resource: net::ERR_CONNECTION_REFUSED"}
    assert all(url.startswith(base + "/") for url in page.run("return state.asked"))
    assert stop() == 0
