"""The files of the explorer page: they are served as in web/, without comments and indentation, with headers that confine
the page to this service."""
import http.client
import pathlib
import re
import subprocess
import urllib.parse

import pytest

WEB = pathlib.Path(__file__).resolve().parents[2] / "web"
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".svg": "image/svg+xml; charset=utf-8"}
FILES = {("/" if path.name == "index.html" else f"/explorer/{path.name}"): path for path in sorted(WEB.iterdir())}
POLICY = {"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self'", "connect-src": "'self'",
          "frame-ancestors": "'none'", "base-uri": "'none'", "form-action": "'none'"}


def stripped(path):
    return subprocess.run([WEB.parent / "scripts/strip_web", path], stdout=subprocess.PIPE, check=True).stdout


def ask(base, method, path, headers=None):
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(base).netloc, timeout=60)
    connection.request(method, path, headers=headers or {})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.headers, body


@pytest.mark.parametrize("path", FILES)
def test_files_are_served_without_comments(server, path):
    status, headers, body = ask(server, "GET", path, {"Accept": "text/html"})
    assert status == 200 and body == stripped(FILES[path])
    assert headers["Content-Type"] == TYPES[FILES[path].suffix]
    assert headers["Content-Length"] == str(len(body))
    assert headers["Cache-Control"] == "no-cache"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Request-Id"]
    policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
    assert policy == POLICY


@pytest.mark.parametrize("path", FILES)
def test_head_has_the_headers_of_get(server, path):
    status, headers, body = ask(server, "HEAD", path)
    _, expected, whole = ask(server, "GET", path)
    assert (status, body) == (200, b"")
    assert headers["Content-Length"] == str(len(whole))
    for name in ("Content-Type", "ETag", "Content-Security-Policy"):
        assert headers[name] == expected[name]


def test_unchanged_files_are_not_sent_again(server):
    tags = {path: ask(server, "GET", path)[1]["ETag"] for path in FILES}
    assert len(set(tags.values())) == len(FILES)
    for path, tag in tags.items():
        assert re.fullmatch(r'"[0-9a-f]{16}"', tag)
        for value in (tag, f'"other", {tag}', f"W/{tag}", "*", " *"):
            for method in ("GET", "HEAD"):
                status, headers, body = ask(server, method, path, {"If-None-Match": value})
                assert (status, body) == (304, b""), value
                assert headers["ETag"] == tag and headers["Cache-Control"] == "no-cache"
        for value in ('"other"', "", tag[:-2] + '"', '"*"'):
            assert ask(server, "GET", path, {"If-None-Match": value})[0] == 200, value


def test_304_leaves_the_connection_usable(server):
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(server).netloc, timeout=60)
    for headers, status in (({}, 200), ({"If-None-Match": "*"}, 304), ({}, 200)):
        connection.request("GET", "/", headers=headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == status
    connection.close()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize("path", ["/", "/explorer/explorer.js"])
def test_only_reading_is_allowed(server, path, method):
    status, headers, _ = ask(server, method, path, {"Content-Length": "0"})
    assert status == 405 and headers["Allow"] == "GET, HEAD"
    assert headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/explorer", "/explorer/", "/explorer/index.html", "/explorer/nothing.js", "/index.html",
                                  "/explorer/../explorer/explorer.js", "/explorer//explorer.js", "/explorer/%2e%2e/v1/info"])
def test_other_paths_get_404(server, path):
    assert ask(server, "GET", path)[0] == 404


def test_queries_change_nothing(server):
    assert ask(server, "GET", "/?from=mail")[2] == stripped(FILES["/"])


def test_the_page_names_files_that_are_there_and_no_other_host():
    for path in FILES.values():
        text = path.read_text()
        assert not re.findall(r"""(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}""", text.replace("http://www.w3.org/2000/svg", "")), path
        for name in re.findall(r"""(?:src|href)="(explorer/[^"]+)\"""", text) + \
                [f"explorer/{name}" for name in re.findall(r'(?:from |import\(|URL\()"\./([^"]+)"', text)]:
            assert f"/{name}" in FILES, f"{path}: {name}"
    page = FILES["/"].read_text()
    assert not re.search(r"\sstyle=|\son[a-z]+=|<style|<script(?![^>]*\ssrc=)", page), "the policy forbids inline styles and scripts"


def test_stripping_leaves_code(tmp_path):
    file = tmp_path / "x.js"
    file.write_text("/* one */\n/* two\n * lines */\n\nconst a = 1; /* kept */\n\t\tb(`\n\t\t<p>`);\n/* c */ d();\n")
    assert stripped(file) == b"const a = 1; /* kept */\nb(`\n<p>`);\n/* c */ d();\n"


def test_page_and_files_are_small():
    assert sum(len(stripped(path)) for path in FILES.values()) <= 250_000
