"""Scrape configurations, alerts and dashboard: promtool accepts them, and they refer only to existing metrics."""
import json
import re
import shutil
import subprocess
import urllib.request

import pytest
import yaml

from files import DEPLOY, ROOT, load
from real import Replicas

ALERTS = DEPLOY / "prometheus/alerts.yml"
RULES = load(ALERTS)["groups"][0]["rules"]
ALERT_NAMES = [rule["alert"] for rule in RULES]
TESTS = ROOT / "tests/deploy/alerts.test.yml"
DASHBOARD = json.loads((DEPLOY / "grafana/dashboards/frictiond.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
QUERIES = [(panel["title"], target["expr"]) for panel in PANELS for target in panel["targets"]]
EXPRESSIONS = [(rule["alert"], rule["expr"]) for rule in RULES] + QUERIES
METRICS = {name: (kind, set(labels)) for name, kind, *labels in
           (line.split() for line in (ROOT / "tests/deploy/metrics.txt").read_text().splitlines() if line[0] != "#")}
WORDS = {"sum", "count", "min", "max", "by", "rate", "increase", "changes", "absent", "histogram_quantile", "time",
         "or", "and", "unless", "offset", "le", "m", "s"}


def promtool(*arguments):
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_the_scrape_configuration_is_valid():
    status, text = promtool("check", "config", DEPLOY / "prometheus/prometheus.yml")
    assert status == 0, text


def pod(**labels):
    found = {"pod_label_app_kubernetes_io_name": "frictiond", "pod_annotation_prometheus_io_scrape": "true",
             "pod_annotation_prometheus_io_path": "/metrics", "pod_annotation_prometheus_io_port": "8080",
             "pod_phase": "Running", "pod_ip": "10.0.0.7", "pod_name": "frictiond-abc", "pod_node_name": "n1", **labels}
    return {"__meta_kubernetes_" + name: value for name, value in found.items()}


def test_pods_are_found_by_their_annotations(directory):
    """Debian's promtool does not support Kubernetes, so pods come from a static list, with the labels that discovery
    would set: one must be scraped, and three must be ignored."""
    pods = [pod(), pod(pod_label_app_kubernetes_io_name="another"), pod(pod_phase="Succeeded"),
            pod(pod_annotation_prometheus_io_scrape="false")]
    configuration = load(DEPLOY / "prometheus/kubernetes.yml")
    [job] = configuration["scrape_configs"]
    assert job.pop("kubernetes_sd_configs") == [{"role": "pod", "namespaces": {"names": ["frictiond"]}}]
    job["static_configs"] = [{"targets": [f"10.0.0.7:{i}"], "labels": labels} for i, labels in enumerate(pods)]
    shutil.copy(ALERTS, directory)
    (directory / "kubernetes.yml").write_text(yaml.safe_dump(configuration))
    status, text = promtool("check", "config", directory / "kubernetes.yml")
    assert status == 0, text
    for seconds in (1, 4, 16, 64):  # promtool always searches for that long
        status, text = promtool("check", "service-discovery", f"--timeout={seconds}s", directory / "kubernetes.yml",
                                "frictiond")
        assert status == 0, text
        targets = [target["labels"] for target in json.loads(text)]
        if len(targets) == len(pods):
            break
    [labels] = [labels for labels in targets if labels]
    assert len(targets) == len(pods)
    assert labels["__address__"] == "10.0.0.7:8080" and labels["__metrics_path__"] == "/metrics"
    assert (labels["job"], labels["instance"], labels["node"]) == ("frictiond", "frictiond-abc", "n1")


def test_the_alerts_are_valid():
    status, text = promtool("check", "rules", "--lint=all", "--lint-fatal", ALERTS)
    assert status == 0, text


def test_the_alerts_do_what_they_should():
    status, text = promtool("test", "rules", TESTS)
    assert status == 0, text


@pytest.mark.parametrize("name", ALERT_NAMES)
@pytest.mark.parametrize("expression", [None, "vector(0) > 1", "vector(1)"], ids=["as it is", "never", "always"])
def test_each_alert_is_tested_both_ways(directory, name, expression):
    [rule] = [dict(rule, expr=expression or rule["expr"]) for rule in RULES if rule["alert"] == name]
    (directory / "alerts.yml").write_text(yaml.safe_dump({"groups": [{"name": "one", "rules": [rule]}]}))
    tests = load(TESTS)
    tests["rule_files"] = ["alerts.yml"]
    for group in tests["tests"]:
        group["alert_rule_test"] = [test for test in group["alert_rule_test"] if test["alertname"] == name]
    tests["tests"] = [group for group in tests["tests"] if group["alert_rule_test"]]
    (directory / "tests.yml").write_text(yaml.safe_dump(tests))
    status, text = promtool("test", "rules", directory / "tests.yml")
    assert (status == 0) == (expression is None), text


@pytest.mark.parametrize("rule", RULES, ids=ALERT_NAMES)
def test_an_alert_says_what_to_do(rule):
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert set(rule["annotations"]) == {"summary", "description"}


def metric_of(name):
    """The entry of metrics.txt for the name of a series, which has a suffix if it belongs to a histogram."""
    base = re.sub(r"_(bucket|sum|count)$", "", name)
    if METRICS.get(base, ("",))[0] == "histogram":
        return METRICS[base][1] | ({"le"} if name.endswith("_bucket") else set())
    assert name in METRICS and METRICS[name][0] != "histogram", f"no metric {name}"
    return METRICS[name][1]


@pytest.mark.parametrize("title,expression", EXPRESSIONS, ids=[f"{i}-{e[0]}" for i, e in enumerate(EXPRESSIONS)])
def test_expressions_use_existing_metrics(title, expression):
    labels = {"job", "instance"}
    selectors = re.findall(r"([a-z_]+)\{([^}]*)\}", expression)
    assert selectors
    for name, matchers in selectors:
        known = metric_of(name) | {"job", "instance"}
        used = re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers)
        assert set(used) <= known and "job" in used, (name, used)
        labels |= known
    rest = re.sub(r"[a-z_]+\{[^}]*\}(\[[^]]*\])?", " ", expression)
    for group in re.findall(r"by \(([^)]*)\)", rest):
        assert set(re.split(r",\s*", group)) <= labels, group
    rest = re.sub(r"by \([^)]*\)", " ", rest)
    assert set(re.findall(r"[a-zA-Z_]+", rest)) <= WORDS, "a metric without a selector, or a new word"


def test_the_queries_of_the_dashboard_are_valid(directory):
    filled = [expression.replace("$__rate_interval", "1m").replace("$instance", ".*") for _, expression in QUERIES]
    assert not any("$" in expression for expression in filled)
    rules = [{"record": f"query:{i}", "expr": expression} for i, expression in enumerate(filled)]
    (directory / "queries.yml").write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))
    status, text = promtool("check", "rules", directory / "queries.yml")
    assert status == 0, text


def test_the_dashboard_is_whole():
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    taken = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken and at["x"] + at["w"] <= 24, panel["title"]
        taken |= cells
    variables = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    assert set(re.findall(r"\$\{?([a-z]+)", json.dumps(DASHBOARD))) <= variables
    for panel in PANELS:
        assert panel["title"] and panel["fieldConfig"]["defaults"]["unit"] and panel["targets"]
        assert all(target["datasource"]["uid"] == "${datasource}" for target in panel["targets"])


def test_every_metric_is_on_the_dashboard():
    text = " ".join(expression for _, expression in QUERIES)
    assert [name for name in METRICS if not re.search(rf"\b{name}(_bucket|_sum|_count)?\{{", text)] == []


CONTACT = b"""{"dim": 2, "velocities": [[1, 2]], "friction": {"mu": 0.3, "eps_v": 0.1},
    "collisions": {"plane_vertex": {"vertices": [0], "normal_force": 1, "plane_normal": [0, 1]}}}"""


def samples(text):
    """Names and labels of the series; without suffixes and `le` for histograms."""
    for name, labels in re.findall(r"^([a-z_]+)(?:\{(.*)\})? \S+$", text, re.M):
        names = set(re.findall(r"(\w+)=\"", labels)) - {"le"}
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        yield (base if METRICS.get(base, ("",))[0] == "histogram" else name), names


def test_the_server_has_these_metrics(program):
    with Replicas(program, 1) as replicas:
        base = f"http://{replicas.addresses()[0]}"
        post = urllib.request.Request(base + "/v1/evaluate", CONTACT, {"Content-Type": "application/json"})
        with urllib.request.urlopen(post) as answer:
            assert answer.status == 200
        with urllib.request.urlopen(base + "/metrics") as answer:
            text = answer.read().decode()
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    labels = dict(samples(text))
    expected = {name: metric for name, metric in METRICS.items() if name != "up"}
    assert {name: (kinds.get(name), labels.get(name)) for name in expected} == expected
