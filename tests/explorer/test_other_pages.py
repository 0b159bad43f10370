"""Requests that the browser sends for the service's pages and for other pages, also under other names for loopback:
Chromium resolves every name below .localhost to it."""
import contextlib
import http.client
import http.server
import json
import re
import threading
import urllib.parse
import urllib.request

import pytest
BATCH = json.dumps({"dim": 2, "velocities": [[0, 0]], "friction": {"mu": 0.3, "eps_v": 0.1}, "collisions": {
    "plane_vertex": {"vertices": [0], "normal_force": 1, "plane_normal": [0, 1]}}})


class Quiet(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def send(self, status, content_type, text):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def listening(handler):
    """The port of a server run by the test."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as listener:
        listener.daemon_threads = True
        thread = threading.Thread(target=listener.serve_forever, args=(0.02,))
        thread.start()
        yield listener.server_address[1]
        listener.shutdown()
        thread.join()


class Elsewhere(Quiet):
    def do_GET(self):
        self.send(200, "text/html", b"<!DOCTYPE html><title>elsewhere</title><a href='#'>the explorer</a>")


@pytest.fixture(scope="module")
def elsewhere():
    """A page on another origin."""
    with listening(Elsewhere) as port:
        yield f"http://127.0.0.1:{port}/"


@contextlib.contextmanager
def proxy_of(base):
    """A reverse proxy that passes on the complete head of a request, including Host."""
    address = urllib.parse.urlsplit(base)

    class PassOn(Quiet):
        def do_GET(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            connection = http.client.HTTPConnection(address.hostname, address.port)
            connection.request(self.command, self.path, body, dict(self.headers))
            answer = connection.getresponse()
            self.send(answer.status, answer.headers["Content-Type"], answer.read())
            connection.close()

        do_POST = do_GET

    with listening(PassOn) as port:
        yield port


def port_of(base):
    return urllib.parse.urlsplit(base).port


def metrics(base):
    with urllib.request.urlopen(base + "/metrics") as answer:
        return {series: int(n) for series, n in re.findall(r"^(frictiond_\S+) (\d+)$", answer.read().decode(), re.M)}


def works(page):
    page.idle()
    assert page.complaints() == []
    assert page.see("() => document.querySelectorAll('svg[data-y]').length") == 10
    assert any(url.endswith("/v1/evaluate") for url in page.run("return state.asked"))


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "127.0.0.9"])
def test_the_explorer_by_names_of_loopback(page_of, server_with, name):
    works(page_of(f"http://{name}:{port_of(server_with('--host', name))}").open())


def test_a_link_leads_to_the_explorer(page_of, server_with, elsewhere):
    base = server_with()
    page = page_of(elsewhere).open("", settled=False)
    page.run("""await state.page.evaluate((url) => { document.querySelector("a").href = url; }, given.url);
        await state.page.click("a");
        await state.page.waitForURL(given.url);""", url=base + "/#v1/laws")
    page.wait("() => document.querySelectorAll('svg[data-y]').length === 10")
    works(page)


def test_other_pages_can_do_nothing(page_of, server_with, elsewhere):
    base = server_with()
    page = page_of(elsewhere).open("", settled=False)
    page.see("""async ({base, batch}) => {
        const load = (name, url) => new Promise((done) => {
            const element = document.createElement(name);
            element.onload = element.onerror = done;
            element.src = url;
            document.body.append(element);
        });
        const quietly = (url, options) => fetch(url, {mode: "no-cors", ...options}).catch(() => {});
        await quietly(`${base}/v1/evaluate`, {method: "POST", body: batch});
        await quietly(`${base}/v1/info`);
        await fetch(`${base}/v1/info`).catch(() => {});
        await fetch(`${base}/v1/evaluate`, {method: "POST", body: batch, headers: {"Content-Type": "application/json"}})
            .catch(() => {});
        await load("img", `${base}/metrics`);
        await load("script", `${base}/explorer/explorer.js`);
        await load("iframe", `${base}/`);
    }""", {"base": base, "batch": BATCH})
    counts = metrics(base)
    answered = {series: n for series, n in counts.items() if series.startswith("frictiond_requests_total{") and n}
    assert answered and all('status="403"' in series for series in answered)
    assert counts['frictiond_rejected_total{reason="forbidden"}'] == sum(answered.values()) == 7


def test_names_of_others_are_refused(page_of, server_with):
    """The browser considers the service a part of the page's own site, and marks its requests accordingly."""
    base = server_with()
    page = page_of(f"http://evil.localhost:{port_of(base)}").open("/", settled=False)
    assert "--allow-host" in page.text("body")
    statuses = page.see("""async (batch) => [(await fetch("/v1/info")).status,
        (await fetch("/v1/evaluate", {method: "POST", body: batch})).status]""", BATCH)
    assert statuses == [421, 421]
    assert metrics(base)['frictiond_rejected_total{reason="misdirected"}'] >= 3


def test_the_explorer_behind_a_proxy(page_of, server_with):
    with proxy_of(server_with("--allow-host", "friction.localhost")) as port:
        works(page_of(f"http://friction.localhost:{port}").open())
    with proxy_of(server_with()) as port:
        page = page_of(f"http://friction.localhost:{port}").open("/", settled=False)
        assert f'"friction.localhost:{port}' in page.text("body").replace("\\", "")
