"""Builds the overlays with kubectl and checks them against the schemas of Kubernetes."""
import json
import pathlib
import re
import shutil
import subprocess

import yaml

from files import DEPLOY, ROOT, load, load_all

KUBERNETES = DEPLOY / "kubernetes"
OVERLAYS = sorted(path.parent.name for path in KUBERNETES.glob("overlays/*/kustomization.yaml"))


def is_old():
    """Debian's kubectl is 1.20, with kustomize 2.0.3."""
    text = subprocess.run(["kubectl", "version", "--client", "-o", "json"], stdout=subprocess.PIPE, check=True).stdout
    minor = json.loads(text)["clientVersion"]["minor"]
    return int(re.match(r"\d+", minor)[0]) <= 20


def translate(path):
    """Writes a kustomization.yaml in the syntax of kustomize 2.0.3: folders are bases, patches a list of files."""
    document = load(path)
    resources = document.pop("resources", [])
    document["bases"] = [name for name in resources if (path.parent / name).is_dir()]
    document["resources"] = [name for name in resources if not (path.parent / name).is_dir()]
    document["patchesStrategicMerge"] = [patch["path"] for patch in document.pop("patches", [])]
    path.write_text(yaml.safe_dump(document))


def build(overlay, directory):
    """The objects of an overlay. All files are first read strictly, as kubectl does not notice duplicate keys."""
    copy = pathlib.Path(directory) / "deploy"
    if not copy.exists():
        shutil.copytree(DEPLOY, copy)
        for path in copy.glob("**/kustomization.yaml"):
            translate(path) if is_old() else load(path)
    for path in copy.glob("kubernetes/**/*.yaml"):
        load_all(path.read_text())
    done = subprocess.run(["kubectl", "kustomize", str(copy / "kubernetes/overlays" / overlay)], capture_output=True,
                          text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return load_all(done.stdout)


def faults(directory, variants):
    """Checks lists of objects, given by name, against the schemas; returns the faults of each as a list of lines."""
    files = {name: pathlib.Path(directory) / f"{i}.json" for i, name in enumerate(variants)}
    for name, path in files.items():
        path.write_text(json.dumps(variants[name]))
    done = subprocess.run(["node", str(ROOT / "tests/deploy/check_kubernetes.js"), *map(str, files.values())],
                          capture_output=True, text=True)
    lines = done.stdout.splitlines()
    found = {name: [line for line in lines if line.startswith(f"{path}: ")] for name, path in files.items()}
    assert all(found.values()) and not done.stderr, done.stdout + done.stderr
    found = {name: [] if output[0].endswith(": ok") else output for name, output in found.items()}
    assert done.returncode == (1 if any(found.values()) else 0)
    return found
