"""examples/javascript/tile.html from a static server, with the npm package, posting to a service on another origin."""
import functools
import http.server
import pathlib
import subprocess
import sys
import threading

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from npm_project import npm_project  # noqa: E402

TOKEN = "0123456789abcdef0123456789abcdef"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return npm_project(tmp_path_factory.mktemp("npm"))


@pytest.fixture(scope="module")
def origin(project):
    """The origin of a static server of a project in which the npm package is installed."""
    handler = functools.partial(Quiet, directory=project)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as listener:
        listener.daemon_threads = True
        thread = threading.Thread(target=listener.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{listener.server_address[1]}"
        listener.shutdown()
        thread.join()


@pytest.fixture
def evaluated(browser, origin):
    """Returns a function that gives the page's text for a service, and its console messages."""
    def show(service, token=""):
        return browser.run("""
            await state.open({url: given.origin + "/tile.html"});
            await state.page.fill("[name=url]", given.service);
            await state.page.fill("[name=token]", given.token);
            await state.page.click("button");
            await state.page.waitForFunction(() => document.querySelector("pre").textContent.length > 1);
            return [await state.page.textContent("pre"), state.messages];""", origin=origin, service=service, token=token)
    return show


def test_the_page_shows_what_node_prints(server_with, evaluated, origin, project):
    service = server_with("--allow-origin", origin)
    expected = subprocess.run(["node", "tile.mjs", service], cwd=project, check=True,
                              capture_output=True, text=True).stdout
    shown, messages = evaluated(service)
    assert shown == expected.rstrip("\n")
    assert messages == []


def test_tokens(server_with, evaluated, origin, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(f"lab {TOKEN}\n")
    tokens.chmod(0o600)
    service = server_with("--allow-origin", origin, "--tokens", str(tokens))
    assert evaluated(service, TOKEN)[0].startswith("4 contacts")
    assert evaluated(service, "x" * 32)[0].startswith("401 ")


def test_an_origin_that_is_not_allowed(server_with, evaluated, origin):
    shown, _ = evaluated(server_with())
    assert f"--allow-origin {origin}" in shown
