"""deploy/README.md mentions all files, and quotes them correctly."""
import re
import subprocess

import pytest

from files import DEPLOY, load

TEXT = (DEPLOY / "README.md").read_text()
NGINX = (DEPLOY / "nginx/nginx.conf").read_text()
FILES = re.search(r"^\| file \| purpose \|\n\|[-|]+\n((?:\|.*\n)+)", TEXT, re.M)[1]
PATHS = [path for row in FILES.splitlines() for path in re.findall(r"`([^`]+)`", row.split("|")[1])]
LIMITS = re.search(r"^\| limit \| in \| must be \|\n\|[-|]+\n((?:\|.*\n)+)", TEXT, re.M)[1]
QUOTED = re.findall(r"^\| `([a-z_]+)` (\w+)\b.*\| nginx.conf \|", LIMITS, re.M)


def test_every_file_is_explained():
    assert [path for path in PATHS if not (DEPLOY / path).exists()] == []
    left = [path for path in DEPLOY.rglob("*") if path.is_file() and path.name != "README.md" and
            not any(path == DEPLOY / given or DEPLOY / given in path.parents for given in PATHS)]
    assert left == []


@pytest.mark.parametrize("name,value", QUOTED)
def test_limits_are_those_of_nginx(name, value):
    assert re.search(rf"^\s*{name} {value};", NGINX, re.M)


def test_limits_fit_the_program(program):
    table = subprocess.run([program, "--print-options-markdown"], capture_output=True, text=True, check=True).stdout
    defaults = dict(re.findall(r"`--([a-z-]+) [A-Z]+` \| `\w+` \| (\d+[KMG]?)", table))
    seconds = {name: int(re.search(rf"\s{name} (\d+)s;", NGINX)[1])
               for name in ("proxy_read_timeout", "proxy_next_upstream_timeout", "worker_shutdown_timeout")}
    deadline = int(defaults.get("deadline-seconds", 300))
    assert seconds["proxy_next_upstream_timeout"] < deadline < seconds["proxy_read_timeout"]
    assert seconds["proxy_read_timeout"] < seconds["worker_shutdown_timeout"]
    assert defaults["max-frame-bytes"] == "1G" and "client_max_body_size 1g;" in NGINX
    assert int(defaults["drain-seconds"]) == 30


def test_alerts_are_those_of_prometheus():
    [group] = load(DEPLOY / "prometheus/alerts.yml")["groups"]
    named = set(re.findall(r"`(Frictiond[A-Z]\w+)`", TEXT))
    assert named == {rule["alert"] for rule in group["rules"]} - {"FrictiondMixedBuilds"}
