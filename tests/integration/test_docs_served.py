"""The documentation that the service has at /docs/: the site that scripts/site writes, compressed for clients that accept it."""
import gzip
import http.client
import pathlib
import subprocess
import urllib.parse

import pytest

from test_explorer import POLICY, ask

ROOT = pathlib.Path(__file__).resolve().parents[2]

TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".svg": "image/svg+xml; charset=utf-8", ".png": "image/png", ".json": "application/json"}


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([ROOT / "scripts/site", folder], check=True)
    return folder


def files(site):
    return {str(path.relative_to(site)): path.read_bytes() for path in sorted(site.rglob("*")) if path.is_file()}


def test_every_file_is_served_compressed_or_not(server, site):
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(server).netloc, timeout=60)
    for name, content in files(site).items():
        kind = "text/plain; charset=utf-8" if name.startswith("files/") else TYPES["." + name.rpartition(".")[2]]
        for encoding in (None, "gzip"):
            connection.request("GET", f"/docs/{name}", headers={"Accept-Encoding": encoding} if encoding else {})
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status == 200 and answer.headers["Content-Type"] == kind, name
            assert answer.headers["Content-Encoding"] == encoding, name
            assert answer.headers["Vary"] == "Accept-Encoding"
            assert (gzip.decompress(body) if encoding else body) == content, name
    connection.close()


def test_it_is_small(server, site):
    assert sum(len(gzip.compress(content)) for content in files(site).values()) < 2e6


@pytest.mark.parametrize("accepted,compressed", [
    ("gzip", True), ("deflate, gzip;q=0.5, br", True), ("GZIP", True), ("gzip ; q=1", True), ("x-gzip", True),
    ("gzip;q=0", False), ("gzip; q=0.0, br", False), ("br, deflate", False), ("identity", False), ("", False)])
def test_accept_encoding(server, accepted, compressed):
    status, headers, _ = ask(server, "GET", "/docs/site.css", {"Accept-Encoding": accepted})
    assert status == 200 and (headers["Content-Encoding"] == "gzip") == compressed


def test_pages_are_confined(server):
    _, headers, _ = ask(server, "GET", "/docs/")
    assert dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";")) == POLICY
    assert headers["Cache-Control"] == "no-cache" and headers["X-Content-Type-Options"] == "nosniff"


def test_the_folder_and_its_index(server):
    status, headers, body = ask(server, "GET", "/docs")
    assert (status, headers["Location"], body) == (308, "/docs/", b"")
    assert ask(server, "GET", "/docs/")[2] == ask(server, "GET", "/docs/index.html")[2]
    assert ask(server, "GET", "/docs/decisions/")[2] == ask(server, "GET", "/docs/decisions/index.html")[2]


def test_unchanged_files_are_not_sent_again(server):
    tags = set()
    for encoding in ("gzip", "identity"):
        headers = {"Accept-Encoding": encoding}
        tag = ask(server, "GET", "/docs/site.css", headers)[1]["ETag"]
        tags.add(tag)
        for method in ("GET", "HEAD"):
            status, answered, body = ask(server, method, "/docs/site.css", {**headers, "If-None-Match": tag})
            assert (status, body, answered["ETag"], answered["Vary"]) == (304, b"", tag, "Accept-Encoding")
        assert ask(server, "GET", "/docs/site.css", {**headers, "If-None-Match": '"other"'})[0] == 200
    assert len(tags) == 2


def test_head_has_the_headers_of_get(server):
    for encoding in ("gzip", "identity"):
        status, headers, body = ask(server, "HEAD", "/docs/physics.html", {"Accept-Encoding": encoding})
        _, expected, whole = ask(server, "GET", "/docs/physics.html", {"Accept-Encoding": encoding})
        assert (status, body, headers["Content-Length"]) == (200, b"", str(len(whole)))
        for name in ("Content-Type", "Content-Encoding", "ETag"):
            assert headers[name] == expected[name]


@pytest.mark.parametrize("path,near", [("solver.html", "solvers.html"), ("decisions/0001-interposed-read.html",
                                                                         "decisions/0001-interposed-reads.html")])
def test_a_missing_page_suggests_another(server, path, near):
    status, headers, body = ask(server, "GET", f"/docs/{path}")
    assert status == 404 and headers["Content-Type"] == "application/problem+json"
    assert f'did you mean \\"{near}\\"?'.encode() in body


@pytest.mark.parametrize("path", ["../v1/info", "%2e%2e/site.css", "nothing", "index.html/", "/index.html"])
def test_nothing_else_is_below(server, path):
    assert ask(server, "GET", f"/docs/{path}")[0] == 404


def test_only_reading_is_allowed(server):
    for path in ("/docs", "/docs/"):
        status, headers, _ = ask(server, "POST", path, {"Content-Length": "0"})
        assert status == 405 and headers["Allow"] == "GET, HEAD"


def test_a_short_limit_on_answers_holds(server_with):
    server = server_with("--max-answer-bytes", "100000")
    assert ask(server, "GET", "/docs/search-index.js")[0] == 413
    assert ask(server, "GET", "/docs/site.css")[0] == 200
