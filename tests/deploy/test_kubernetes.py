"""deploy/kubernetes: the objects that kubectl builds from the overlays match the schemas and each other."""
import copy
import re
import subprocess
import tempfile

import pytest

from files import DEPLOY, load
from kubernetes import KUBERNETES, OVERLAYS, build, faults
from proxy import Proxy, post

SECRETS = {"frictiond-tokens"}
EVERYWHERE = ["ConfigMap frictiond-options", "Deployment frictiond", "Namespace frictiond", "NetworkPolicy frictiond",
              "Service frictiond", "ServiceAccount frictiond"]
SCALED = ["ConfigMap frictiond-proxy", "Deployment frictiond-proxy", "HorizontalPodAutoscaler frictiond",
          "NetworkPolicy frictiond-proxy", "PodDisruptionBudget frictiond", "PodDisruptionBudget frictiond-proxy",
          "Service frictiond-pods", "Service frictiond-proxy"]
EXPECTED = {"single": EVERYWHERE, "production": EVERYWHERE + SCALED,
            "monitoring": EVERYWHERE + SCALED + ["NetworkPolicy frictiond-monitoring"]}


def named(objects):
    """Objects by kind and name, without the hash of generated names."""
    def name(o):
        return re.sub(r"-[a-z0-9]{10}$" if o["kind"] == "ConfigMap" else "$", "", o["metadata"]["name"])
    return {f'{o["kind"]} {name(o)}': o for o in objects}


@pytest.fixture(scope="module")
def overlays():
    with tempfile.TemporaryDirectory(prefix="frictiond-deploy.") as directory:
        yield {name: build(name, directory) for name in OVERLAYS}


@pytest.fixture(params=OVERLAYS)
def objects(request, overlays):
    return named(overlays[request.param])


def deployments(objects):
    return [o for o in objects.values() if o["kind"] == "Deployment"]


def container(deployment):
    [only] = deployment["spec"]["template"]["spec"]["containers"]
    return only


def test_the_objects_are_those(overlays):
    assert {name: sorted(named(objects)) for name, objects in overlays.items()} == \
        {name: sorted(expected) for name, expected in EXPECTED.items()}


def test_the_objects_fit_the_schemas(overlays, directory):
    assert faults(directory, overlays) == {name: [] for name in OVERLAYS}


def put(path, value):
    """Returns a function that sets the value at the path of an object."""
    def change(o):
        *way, last = path
        for step in way:
            o = o[step]
        o[last] = value
    return change


def drop(*path):
    def change(o):
        *way, last = path
        for step in way:
            o = o[step]
        del o[last]
    return change


POD = ["spec", "template", "spec"]
FIRST = [*POD, "containers", 0]
BROKEN = {
    "unknown field": ("Deployment frictiond", put(["spec", "replica"], 3)),
    "unknown field, deep": ("Deployment frictiond", put([*FIRST, "readinessProbe", "httpget"], {})),
    "unknown field of the metadata": ("Service frictiond", put(["metadata", "label"], {})),
    "misspelt protection": ("Deployment frictiond", put([*FIRST, "securityContext", "readonlyRootFilesystem"], True)),
    "required field is missing": ("Deployment frictiond", drop("spec", "selector")),
    "required field is missing, deep": ("Deployment frictiond", drop(*FIRST, "name")),
    "text for a number": ("Deployment frictiond", put(["spec", "replicas"], "3")),
    "fraction": ("Deployment frictiond", put(["spec", "replicas"], 1.5)),
    "number for a text": ("ConfigMap frictiond-options", put(["data", "FRICTIOND_PORT"], 8080)),
    "truth for a text": ("ConfigMap frictiond-options", put(["data", "FRICTIOND_ANONYMOUS"], False)),
    "number for a label": ("Service frictiond", put(["metadata", "labels", "tier"], 1)),
    "no quantity": ("Deployment frictiond", put([*FIRST, "resources", "limits", "memory"], "4 Gigs")),
    "no such word": ("NetworkPolicy frictiond", put(["spec", "policyTypes"], "Ingress")),
    "no such choice": ("Deployment frictiond", put([*POD, "restartPolicy"], "Sometimes")),
    "field of another version": ("HorizontalPodAutoscaler frictiond",
                                 put(["spec", "targetCPUUtilizationPercentage"], 70)),
    "list for an object": ("PodDisruptionBudget frictiond", put(["spec", "selector"], [])),
    "no such kind": ("Service frictiond", put(["kind"], "Servise")),
    "no such version": ("PodDisruptionBudget frictiond", put(["apiVersion"], "policy/v2")),
}


def test_the_check_notices_what_is_wrong(overlays, directory):
    variants = {}
    for name, (which, change) in BROKEN.items():
        objects = copy.deepcopy(overlays["production"])
        change(named(objects)[which])
        variants[name] = objects
    found = faults(directory, variants)
    assert [name for name, lines in found.items() if not lines] == []


@pytest.mark.parametrize("file,text", [("base/service.yaml", "spec: {}\nspec: {}\n"),
                                       ("base/kustomization.yaml", "resource: []\n"),
                                       ("overlays/single/one.yaml", "    replicas: 1\n")])
def test_a_broken_file_is_noticed(directory, file, text):
    """The checks report a duplicate key, an unknown field, wrong indentation."""
    build("single", directory)
    path = directory / "deploy/kubernetes" / file
    path.write_text(path.read_text() + text)
    with pytest.raises(Exception):
        build("single", directory)


def test_all_are_in_one_namespace(objects):
    for o in objects.values():
        if o["kind"] != "Namespace":
            assert o["metadata"]["namespace"] == "frictiond"
    assert objects["Namespace frictiond"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_pods_are_confined(objects):
    """Pods satisfy Kubernetes' level "restricted", and have a read-only file system."""
    for deployment in deployments(objects):
        pod = deployment["spec"]["template"]["spec"]
        security = pod["securityContext"]
        assert security["runAsNonRoot"] is True and security["runAsUser"] > 0
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not any(pod.get(name) for name in ("hostNetwork", "hostPID", "hostIPC"))
        assert pod["automountServiceAccountToken"] is False and pod["enableServiceLinks"] is False
        assert container(deployment)["securityContext"] == {
            "allowPrivilegeEscalation": False, "privileged": False, "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]}}
        assert set(container(deployment)["resources"]) == {"requests", "limits"}
    assert objects["ServiceAccount frictiond"]["automountServiceAccountToken"] is False


def test_the_user_is_that_of_the_image(objects):
    image = (DEPLOY.parent / "Dockerfile").read_text()
    user = re.search(r"^USER (\d+):(\d+)$", image, re.M)
    security = objects["Deployment frictiond"]["spec"]["template"]["spec"]["securityContext"]
    assert (security["runAsUser"], security["runAsGroup"]) == (int(user[1]), int(user[2]))


def test_selectors_find_their_pods(objects):
    labels = {o["metadata"]["name"]: o["spec"]["template"]["metadata"]["labels"] for o in deployments(objects)}
    for o in objects.values():
        spec = o.get("spec", {})
        if o["kind"] == "Service":
            selector = spec["selector"]
        elif o["kind"] in ("Deployment", "PodDisruptionBudget"):
            selector = spec["selector"]["matchLabels"]
        elif o["kind"] == "NetworkPolicy":
            selector = spec["podSelector"]["matchLabels"]
        else:
            continue
        assert [name for name, has in labels.items() if selector.items() <= has.items()] == \
            [re.sub("-(monitoring|pods)$", "", o["metadata"]["name"])]
    for deployment in deployments(objects):
        for spread in deployment["spec"]["template"]["spec"]["topologySpreadConstraints"]:
            assert spread["labelSelector"] == deployment["spec"]["selector"]


def test_ports_have_the_names_that_others_use(objects):
    for deployment in deployments(objects):
        only = container(deployment)
        assert only["ports"] == [{"name": "http", "containerPort": 8080, "protocol": "TCP"}]
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            [how] = [only[probe][kind] for kind in ("httpGet", "tcpSocket") if kind in only.get(probe, {})] or [None]
            assert how is None or how["port"] == "http"
        service = objects[f'Service {deployment["metadata"]["name"]}']
        assert [port["targetPort"] for port in service["spec"]["ports"]] == ["http"]


def test_what_is_referred_to_is_there(objects):
    maps = {o["metadata"]["name"] for o in objects.values() if o["kind"] == "ConfigMap"}
    for deployment in deployments(objects):
        pod = deployment["spec"]["template"]["spec"]
        assert f'ServiceAccount {pod["serviceAccountName"]}' in objects
        volumes = {volume["name"]: volume for volume in pod.get("volumes", [])}
        assert set(volumes) == {mount["name"] for mount in container(deployment).get("volumeMounts", [])}
        used = {v["configMap"]["name"] for v in volumes.values() if "configMap" in v}
        used |= {source["configMapRef"]["name"] for source in container(deployment).get("envFrom", [])}
        assert used <= maps
        assert {v["secret"]["secretName"] for v in volumes.values() if "secret" in v} <= SECRETS
    for o in objects.values():
        if o["kind"] == "HorizontalPodAutoscaler":
            target = o["spec"]["scaleTargetRef"]
            assert f'{target["kind"]} {target["name"]}' in objects
            assert "replicas" not in objects["Deployment frictiond"]["spec"], "it would undo what the autoscaler did"


def options(objects):
    return objects["ConfigMap frictiond-options"]["data"]


def test_options_are_those_of_the_program(objects, program):
    table = subprocess.run([program, "--print-options-markdown"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"`(FRICTIOND_[A-Z_]+)`", table))
    used = set(options(objects)) | {variable["name"] for variable in container(objects["Deployment frictiond"])["env"]}
    assert used <= known, used - known


def test_threads_are_the_limit_of_the_pod(objects):
    only = container(objects["Deployment frictiond"])
    [threads] = [variable for variable in only["env"] if variable["name"] == "FRICTIOND_THREADS"]
    assert threads["valueFrom"]["resourceFieldRef"] == {
        "containerName": only["name"], "resource": "limits.cpu", "divisor": "1"}
    assert re.fullmatch(r"\d+", only["resources"]["limits"]["cpu"]), "whole CPUs"


def test_pods_have_time_to_end(objects):
    nginx = (DEPLOY / "nginx/nginx.conf").read_text()
    drain = {"frictiond": int(options(objects)["FRICTIOND_DRAIN_SECONDS"]),
             "frictiond-proxy": int(re.search(r"worker_shutdown_timeout (\d+)s", nginx)[1])}
    for deployment in deployments(objects):
        word, seconds = container(deployment)["lifecycle"]["preStop"]["exec"]["command"]
        assert word == "sleep"
        grace = deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
        assert grace >= int(seconds) + drain[deployment["metadata"]["name"]] + 5


def test_probes_ask_what_needs_no_token(objects):
    only = container(objects["Deployment frictiond"])
    assert {name: only[name]["httpGet"]["path"] for name in ("startupProbe", "livenessProbe", "readinessProbe")} == {
        "startupProbe": "/readyz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}


def test_probes_pass_whatever_hosts_are_allowed(objects):
    only = container(objects["Deployment frictiond"])
    for name in "startupProbe", "livenessProbe", "readinessProbe":
        assert only[name]["httpGet"]["httpHeaders"] == [{"name": "Host", "value": "localhost"}]


def test_without_tokens_pods_answer_to_the_names_of_their_service(overlays):
    for name, all_objects in overlays.items():
        objects = named(all_objects)
        service = objects["Service frictiond"]["metadata"]
        full = f'{service["name"]}.{service["namespace"]}.svc.cluster.local'
        expected = {".".join(full.split(".")[:n]) for n in (1, 2, 3, 5)}
        hosts = options(objects).get("FRICTIOND_ALLOW_HOST")
        assert hosts is None if name != "single" else set(hosts.split(",")) == expected


def test_replicas_have_no_way_out(objects):
    policy = objects["NetworkPolicy frictiond"]["spec"]
    assert set(policy["policyTypes"]) == {"Ingress", "Egress"} and policy.get("egress", []) == []


def test_tokens_are_asked_for_unless_it_is_a_trial(overlays):
    for name, all_objects in overlays.items():
        objects = named(all_objects)
        variables = {v["name"]: v.get("value") for v in container(objects["Deployment frictiond"])["env"]}
        assert options(objects)["FRICTIOND_ANONYMOUS"] == ("yes" if name == "single" else "no")
        assert ("FRICTIOND_TOKENS" in variables) == (name != "single")
        if "FRICTIOND_TOKENS" in variables:
            [mount] = [m for m in container(objects["Deployment frictiond"])["volumeMounts"] if m["name"] == "tokens"]
            assert variables["FRICTIOND_TOKENS"] == mount["mountPath"] + "/tokens" and mount["readOnly"] is True
    assert "yes" not in [literal.split("=")[1] for literal in
                         load(KUBERNETES / "base/kustomization.yaml")["configMapGenerator"][0]["literals"]]


def test_in_production_only_the_proxy_asks(overlays):
    [rule] = named(overlays["production"])["NetworkPolicy frictiond"]["spec"]["ingress"]
    assert rule["from"] == [{"podSelector": {"matchLabels": {"app.kubernetes.io/name": "frictiond-proxy"}}}]


def test_prometheus_finds_the_pods(overlays):
    template = named(overlays["monitoring"])["Deployment frictiond"]["spec"]["template"]["metadata"]
    assert template["annotations"] == {
        "prometheus.io/scrape": "true", "prometheus.io/port": "8080", "prometheus.io/path": "/metrics"}
    assert template["labels"] == {"app.kubernetes.io/name": "frictiond"}


def test_nginx_takes_its_configuration(overlays, directory, fakes):
    """Writes the files of the ConfigMap, with the service's name replaced by an address."""
    files = named(overlays["production"])["ConfigMap frictiond-proxy"]["data"]
    assert sorted(files) == ["listen.conf", "nginx.conf", "sets.conf", "upstreams.conf"]
    assert files["nginx.conf"] == (DEPLOY / "nginx/nginx.conf").read_text()
    service = named(overlays["production"])["Service frictiond"]
    address = f'{service["metadata"]["name"]}:{service["spec"]["ports"][0]["port"]}'
    assert set(re.findall(r"^server (\S+)", files["upstreams.conf"], re.M)) == {address}
    proxy = Proxy(directory, [fakes[0].address])
    (directory / "nginx/upstreams.conf").write_text(files["upstreams.conf"].replace(address, fakes[0].address))
    status, text = proxy.check()
    assert status == 0 and "warn" not in text, text


def test_nginx_tries_the_service_three_times(overlays, directory, fakes):
    files = named(overlays["production"])["ConfigMap frictiond-proxy"]["data"]
    proxy = Proxy(directory, [fakes[0].address])
    (directory / "nginx/upstreams.conf").write_text(files["upstreams.conf"].replace("frictiond:80", fakes[0].address))
    fakes[0].answer = None
    with proxy as running:
        for n in range(1, 21):
            assert post(running)[0] == 503 and len(fakes[0].requests) == 3 * n
        fakes[0].answer = 200
        assert post(running)[0] == 200


def test_nginx_finds_the_pods_for_the_sets(overlays):
    """The service is headless, so that its name resolves to the pods, and its port has the name that nginx looks up."""
    objects = named(overlays["production"])
    service = objects["Service frictiond-pods"]
    assert service["spec"]["clusterIP"] == "None" and "publishNotReadyAddresses" not in service["spec"]
    assert service["spec"]["selector"] == objects["Service frictiond"]["spec"]["selector"]
    [port] = service["spec"]["ports"]
    [only] = container(objects["Deployment frictiond"])["ports"]
    assert (port["port"], port["targetPort"]) == (only["containerPort"], only["name"])
    text = objects["ConfigMap frictiond-proxy"]["data"]["sets.conf"]
    name = f'{service["metadata"]["name"]}.{service["metadata"]["namespace"]}.svc.cluster.local'
    [server] = re.findall(r"^server (.*) max_fails=3 fail_timeout=2s;$", text, re.M)
    assert server == f'{name} service={port["name"]} resolve weight=2'
    image = container(objects["Deployment frictiond-proxy"])["image"]
    assert tuple(map(int, image.removeprefix("nginx:").split("."))) >= (1, 28), "older ones cannot resolve"
    assert re.findall(r"^resolver \S+\.kube-system\.svc\.cluster\.local valid=5s;$", text, re.M)
    assert {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}} in \
        objects["NetworkPolicy frictiond-proxy"]["spec"]["egress"][1]["to"]
