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


CLIENT = """async (url) => {
    const { Client, FrictiondError } = await import("frictiond"), client = new Client(url, {retries: 0});
    const vertices = Int32Array.from({length: 1000}, (_, i) => i), normal_force = new Float64Array(1000).fill(8);
    const lagged = {dim: 3, n_vertices: 1000, friction: {eps_v: 0.5, mu: 0.5},
        collisions: {plane_vertex: {vertices, plane_normal: [0, 0, 1], normal_force}}};
    const velocities = new Float64Array(3000).fill(0.25), outputs = ["gradient"], found = [];
    await client.withSet(lagged, async (contacts) => {
        const { gradient } = await contacts.evaluate(velocities, {outputs});
        found.push([gradient.constructor.name, gradient.shape, gradient[0], gradient[2999]]);
        await contacts.patch({friction: {mu: 0.25}});
        await client.request("DELETE /v1/sets/{name}", {path: {name: contacts.name}});
        found.push((await contacts.evaluate(velocities, {outputs})).gradient[0] / gradient[0]);
        const error = await contacts.evaluate(velocities, {outputs: ["none"]}).catch((error) => error);
        found.push([error instanceof FrictiondError, error.status, error.pointer, error.requestId.length]);
        const controller = new AbortController(), late = contacts.evaluate(velocities, {}, {signal: controller.signal});
        controller.abort();
        found.push(await late.catch((error) => error.name));
    });
    const unix = new Client("http+unix:///nowhere", {retries: 0});
    found.push((await client.sets()).sets.length, await unix.info().catch((error) => error.name));
    return found;
}"""


def test_the_client_in_a_page(server_with, browser, origin):
    """Typed arrays both ways, a set that is lost and put again, an error, an abort."""
    found = browser.run("""
        await state.open({url: given.origin + "/tile.html"});
        return state.page.evaluate(state.read(given.client), given.service);""",
                        origin=origin, client=CLIENT, service=server_with("--allow-origin", origin))
    [kind, shape, first, last], ratio, error, aborted, sets, unix = found
    assert (kind, shape, last) == ("Float64Array", [3000], 0) and first > 0 and ratio == 0.5
    assert error == [True, 422, "/outputs/0", 32]
    assert (aborted, sets, unix) == ("AbortError", 0, "Unavailable")


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
