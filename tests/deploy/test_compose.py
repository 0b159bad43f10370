"""Checks the compose files, also against the nginx and Prometheus files that they mount."""
import json
import re
import subprocess

import pytest
import yaml

from files import DEPLOY, load

FILES = ["compose.yaml", "compose.cluster.yaml"]
CLUSTER = DEPLOY / "compose.cluster.yaml"


def config(path):
    """(exit code, the configuration as compose reads it, its messages). Needs no daemon."""
    done = subprocess.run(["docker-compose", "-f", str(path), "config"], capture_output=True, text=True)
    return done.returncode, yaml.safe_load(done.stdout), done.stderr


def accepted(path):
    load(path)
    status, document, text = config(path)
    assert status == 0 and "WARN" not in text, text
    networks = {name for service in document["services"].values() for name in service.get("networks", [])}
    assert networks == set(document.get("networks", {}))
    return document


@pytest.fixture(scope="module")
def cluster():
    return accepted(CLUSTER)


@pytest.fixture(scope="module")
def replicas(cluster):
    return {name: service for name, service in cluster["services"].items() if service["image"] == "frictiond"}


@pytest.mark.parametrize("name", FILES)
def test_compose_takes_the_file(name):
    accepted(DEPLOY / name)


MISTAKES = [("read_only: true", "reed_only: true"), ("mem_limit: 3g", "mem_limit: {}"),
            ("127.0.0.1:9090:9090", "x:y:z"), ("networks: [inside, outside]", "networks: [nowhere]"), ("volumes:\n  prometheus: {}", "volumes:"),
            ("internal: true", "internal: true\n    internal: true")]


@pytest.mark.parametrize("right,wrong", MISTAKES)
def test_a_mistake_is_noticed(directory, right, wrong):
    path = directory / "compose.cluster.yaml"
    text = CLUSTER.read_text()
    assert right in text
    path.write_text(text.replace(right, wrong, 1))
    with pytest.raises((AssertionError, yaml.YAMLError)):
        accepted(path)


@pytest.mark.parametrize("name", FILES)
def test_every_service_is_confined(name):
    for service in config(DEPLOY / name)[1]["services"].values():
        assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"] and service["restart"] == "unless-stopped"


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_published_beyond_this_machine(name):
    for service in config(DEPLOY / name)[1]["services"].values():
        assert all(re.match(r"127\.0\.0\.1:\d+:\d+(/tcp)?$", port) for port in service.get("ports", []))


def test_replicas_are_private(cluster, replicas):
    assert len(replicas) >= 2
    assert cluster["networks"]["inside"]["internal"] is True
    for service in replicas.values():
        assert set(service["networks"]) == {"inside"} and "ports" not in service


def test_replicas_have_time_to_drain(replicas):
    for service in replicas.values():
        grace = re.fullmatch(r"(\d+)s", service["stop_grace_period"])
        assert int(grace[1]) >= int(service["environment"]["FRICTIOND_DRAIN_SECONDS"]) + 5


def test_the_proxy_has_time_to_finish(cluster):
    text = (DEPLOY / "nginx/nginx.conf").read_text()
    seconds = {name: int(re.search(rf"{name} (\d+)s;", text)[1])
               for name in ("worker_shutdown_timeout", "proxy_read_timeout", "proxy_next_upstream_timeout")}
    grace = cluster["services"]["proxy"]["stop_grace_period"]
    minutes, rest = re.fullmatch(r"(?:(\d+)m)?(?:(\d+)s)?", grace).groups(default="0")
    assert 60 * int(minutes) + int(rest) > seconds["worker_shutdown_timeout"] > seconds["proxy_read_timeout"]
    assert cluster["services"]["proxy"]["stop_signal"] == "SIGQUIT"


def test_all_replicas_are_known_to_proxy_and_prometheus(cluster, replicas):
    hosts = dict(host.split(":") for host in cluster["services"]["proxy"]["extra_hosts"])
    assert hosts == {name: service["networks"]["inside"]["ipv4_address"] for name, service in replicas.items()}
    upstreams = re.findall(r"^server (\S+):8080 ", (DEPLOY / "nginx/upstreams.conf").read_text(), re.M)
    assert sorted(upstreams) == sorted(2 * list(replicas))
    ring = re.findall(r"^server (\S+):8080 ", (DEPLOY / "nginx/sets.conf").read_text(), re.M)
    assert sorted(ring) == sorted(replicas)
    [job] = load(DEPLOY / "prometheus/prometheus.yml")["scrape_configs"]
    assert job["static_configs"] == [{"targets": [f"{name}:8080" for name in replicas]}]
    assert job["job_name"] == "frictiond"


def test_pages_on_this_machine_are_kept_away(cluster, replicas):
    """Ports are published on loopback, so replicas must check the Host header; Prometheus addresses them by name."""
    for service in replicas.values():
        assert service["environment"]["FRICTIOND_ALLOW_HOST"].split(",") == list(replicas)
    [one] = config(DEPLOY / "compose.yaml")[1]["services"].values()
    assert one["environment"]["FRICTIOND_ALLOW_HOST"] == "localhost"


def test_what_is_mounted_is_there(cluster):
    volumes = [volume for service in cluster["services"].values() for volume in service.get("volumes", [])]
    folders = [volume.split(":")[0] for volume in volumes if volume.startswith("/")]
    assert len(folders) == 4
    for path in folders:
        assert path.startswith(str(DEPLOY)) and DEPLOY.joinpath(path).is_dir(), path


def test_grafana_finds_dashboard_and_source(cluster):
    grafana = cluster["services"]["grafana"]
    places = dict(volume.rsplit(":", 1)[0].split(":") for volume in grafana["volumes"])
    inside = {there: here for here, there in places.items()}
    [provider] = load(DEPLOY / "grafana/provisioning/dashboards/frictiond.yaml")["providers"]
    home = grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    folder, name = home.rsplit("/", 1)
    assert provider["options"]["path"] == folder
    assert json.loads((DEPLOY / inside[folder] / name).read_text())["title"] == "frictiond"
    [source] = load(DEPLOY / "grafana/provisioning/datasources/prometheus.yaml")["datasources"]
    assert source["url"] == "http://prometheus:9090" and "prometheus" in cluster["services"]
