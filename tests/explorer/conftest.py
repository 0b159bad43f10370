"""Fixtures: a running server as in tests/integration, and its explorer page in Chromium."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "integration"))
os.environ.update(no_proxy="127.0.0.1", NO_PROXY="127.0.0.1")
import importlib.util  # noqa: E402

_path = pathlib.Path(__file__).parents[1] / "integration" / "conftest.py"
_spec = importlib.util.spec_from_file_location("servers", _path)
servers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(servers)
server, server_with = servers.server, servers.server_with
os.environ.setdefault("FRICTIOND_LOG_LEVEL", "warning")

SETTLED = """() => document.querySelectorAll("svg[data-y]").length === 10
    && document.querySelector("#spy").dataset.entries && document.querySelector("#ellipse pre.answer").textContent"""


class Browser:
    """Chromium, controlled through driver.js."""

    def __init__(self):
        self.process = subprocess.Popen(["node", str(pathlib.Path(__file__).with_name("driver.js"))],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, code, **arguments):
        """Runs JavaScript in node, with `state` (page, messages, asked …) and `given`, and returns its value."""
        self.process.stdin.write(json.dumps({"code": code, "arguments": arguments}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the browser is gone"
        answer = json.loads(line)
        assert "error" not in answer, answer["error"]
        return answer["value"]

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


class Page:
    """The page as a user sees and operates it."""

    def __init__(self, browser, base):
        self.browser, self.base = browser, base

    def run(self, code, **arguments):
        return self.browser.run(code, **arguments)

    def open(self, path=None, settled=True, **options):
        """path: of the view of the laws by default; options: of a Playwright context, such as viewport and
        colorScheme."""
        path = "/#v1/laws" if path is None else path
        options.setdefault("viewport", {"width": 1280, "height": 900})
        self.run("await state.open(given)", url=self.base + path, **options)
        if settled:
            self.wait(SETTLED)
        return self

    def wait(self, condition, given=None):
        """Waits until a function in the page returns a true value."""
        self.run("await state.page.waitForFunction(state.read(given.condition), given.given)",
                 condition=condition, given=given)

    def see(self, expression, given=None):
        """The value of a JavaScript function in the page."""
        return self.run("return state.page.evaluate(state.read(given.expression), given.given)",
                        expression=expression, given=given)

    def fill(self, **fields):
        """Types numbers into the fields #NAME."""
        for name, value in fields.items():
            self.run("await state.page.fill(given.at, given.text)", at=f"#{name}", text=str(value))

    def press(self, selector, *keys):
        self.run("await state.page.focus(given.at); for (const key of given.keys) await state.page.keyboard.press(key)",
                 at=selector, keys=keys)

    def idle(self):
        """Waits until every request has a response and the page shows it."""
        self.run("""do {
            while (state.busy > 0)
                await state.page.waitForTimeout(5);
        } while (await state.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() =>
            done(document.getElementById("main")?.getAttribute("aria-busy") === "true"))))) || state.busy > 0)""")

    def picture(self, name):
        """Keeps a picture of the whole page for manual inspection, unless only a share of the cases is tried."""
        if servers.ONE_IN == 1:
            self.run("await state.page.screenshot({path: `build/explorer/${given.name}.png`, fullPage: true})", name=name)

    def curve(self, name):
        return self.see("""(name) => { const {x, y} = document.querySelector(`svg[data-function=${name}]`).dataset;
                           return [JSON.parse(x), JSON.parse(y)]; }""", name)

    def text(self, selector):
        return self.see("(selector) => document.querySelector(selector).textContent", selector)

    def number(self, section, name):
        """One of the numbers of a section's list."""
        text = self.text(f"{section} dd[data-name={name}]").replace("−", "-")
        for plain, raised in zip("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"):
            text = text.replace(raised, plain)
        return [float(part.replace("×10", "e").strip("() ").split(" ")[0]) for part in text.split(",")]

    def complaints(self):
        return [message for message in self.run("return state.messages") if message["type"] in ("error", "warning")]


@pytest.fixture(scope="session")
def browser():
    chromium = Browser()
    yield chromium
    chromium.close()


@pytest.fixture
def page(browser, server):
    """The page, opened; a test fails if the page has logged an error or a warning."""
    opened = Page(browser, server).open()
    yield opened
    assert opened.complaints() == []


@pytest.fixture
def page_of(browser):
    return lambda base: Page(browser, base)


def pytest_collection_modifyitems(config, items):
    """Every test opens the page anew: of the cases of one test, a share is tried, at least one, beginning with another
    case in each test."""
    cases = {}
    for item in items:
        if hasattr(item, "callspec"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left = []
    for k, own in enumerate(cases.values()):
        chosen = own[k % min(servers.ONE_IN, len(own))::servers.ONE_IN]
        left += [item for item in own if item not in chosen]
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=left)
