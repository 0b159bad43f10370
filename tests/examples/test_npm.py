"""The npm package: its tarball, installed in a clean project; its types, which are current, accept right programs and
refuse wrong ones; and an example of every route, compiled and run. test_javascript.py tests what the client does."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import snippets  # noqa: E402

PACKAGE, TOOLS = ROOT / "clients/javascript", ROOT / "build/openapi"
FILES = {"package.json", "README.md", "LICENSE", "frictiond.mjs", "frictiond.d.mts", "openapi.d.mts", "types.d.mts"}
NODE = ["--module", "nodenext", "--moduleResolution", "nodenext"]
BUNDLER = ["--module", "esnext", "--moduleResolution", "bundler"]
# TypeScript's own declarations need no check.
STRICT = ["--strict", "--noUncheckedIndexedAccess", "--target", "es2022", "--lib", "es2022,dom", "--skipDefaultLibCheck"]


@pytest.fixture(scope="module")
def description(run):
    return json.loads(run("build/frictiond", "--print-openapi"))


@pytest.fixture(scope="module")
def tsc(npm_project):
    """tsc(file, options): the compiler's complaints about a file of the project, one per line."""
    subprocess.run([ROOT / "scripts/npm_packages", ROOT / "tests/examples/openapi", TOOLS], check=True)
    shutil.copy(ROOT / "tests/examples/openapi/globals.d.ts", npm_project)

    def compile_one(file, *options):
        compiler = TOOLS / "node_modules/typescript/bin/tsc"
        done = subprocess.run(["node", compiler, *STRICT, *(options or NODE), file, "globals.d.ts"], cwd=npm_project,
                              stdout=subprocess.PIPE, text=True, check=False)
        assert done.returncode in (0, 1, 2) and (done.stdout or done.returncode == 0), done
        return done.stdout

    return compile_one


# The package

def test_the_tarball_has_the_files_of_the_repository(npm_project):
    [packed] = npm_project.glob("frictiond-*.tgz")
    with tarfile.open(packed) as tar:
        files = {member.name.removeprefix("package/"): tar.extractfile(member).read() for member in tar}
    assert set(files) == FILES
    for name, content in files.items():
        assert content == ((ROOT if name == "LICENSE" else PACKAGE) / name).read_bytes(), name
        assert (npm_project / "node_modules/frictiond" / name).read_bytes() == content, name


def test_the_same_files_give_the_same_bytes(npm_project, tmp_path):
    """In another place, from files of another age and other permissions."""
    files = ["scripts/npm", "scripts/version", "core/fric.h", "LICENSE", *(f"clients/javascript/{name}" for name in FILES)]
    for name in files:
        if (ROOT / name).exists():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    changed = "find . -type f -exec touch -d 2001-01-01 {} + && chmod -R o-r,g+w clients && umask 077"
    subprocess.run(["bash", "-c", f"{changed} && scripts/npm"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    [one], [other] = npm_project.glob("frictiond-*.tgz"), tmp_path.glob("build/dist/frictiond-*.tgz")
    assert one.name == other.name and one.read_bytes() == other.read_bytes()


def test_the_description_of_the_package(run, npm_project):
    package = json.loads((PACKAGE / "package.json").read_text())
    version = run("scripts/version").strip()
    assert package["version"] == version and [npm_project / f"frictiond-{version}.tgz"] == [*npm_project.glob("*.tgz")]
    assert not [key for key in package if "ependencies" in key or key == "scripts"]
    assert run("node", "-e", "import('frictiond').then(({VERSION}) => console.log(VERSION))", cwd=npm_project).strip() == version
    for file in package["exports"]["."].values():
        assert (npm_project / "node_modules/frictiond" / file).is_file()


@pytest.mark.parametrize("page,heading", [
    ("README.md", "From JavaScript"),
    ("clients/javascript/README.md", "frictiond for JavaScript")])
def test_the_installation_of_the_pages(server, npm_project, tmp_path, page, heading):
    """In a new folder that has the tarball in build/dist; apt-get only finds out whether the packages are known."""
    (tmp_path / "build/dist").mkdir(parents=True)
    shutil.copy(*npm_project.glob("frictiond-*.tgz"), tmp_path / "build/dist")
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin/apt-get"
    fake.write_text('#!/bin/sh\n[ "$1 $2 $3 $4 $5" = "install -y nodejs npm " ] && command -v node npm\n')
    fake.chmod(0o755)
    suite, port = "tests/examples/test_npm.py", server.rpartition(":")[2]
    done = subprocess.run(["sh", "-c", snippets.script_of(page, heading, suite, port)], cwd=tmp_path, text=True,
                          stdout=subprocess.PIPE, env={**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
                                                       "npm_config_offline": "true", "no_proxy": "127.0.0.1"})
    assert done.returncode == 0
    snippets.compare_in_turn(page, heading, suite, done.stdout)


def test_the_examples_run_in_the_project(server, tile, same, run, npm_project):
    same(tile, run("node", "tile.mjs", server, cwd=npm_project))


def test_bundlers_find_nothing_to_load():
    """A literal in import() would send a bundler for browsers to a module of node."""
    code = re.sub(r"(?s:/\*\*.*?\*/)|//.*", "", (PACKAGE / "frictiond.mjs").read_text())
    assert "import(" in code and not re.search(r"""import\s*\(\s*["'`]|\bfrom ["']|require\(""", code)


# Types

def test_types_are_current(run):
    run("scripts/javascript_types", "--check")


def test_stale_types_are_noticed(fail, tmp_path):
    """The description that a fake program prints has one more field."""
    program = tmp_path / "frictiond"
    program.write_text(f"""#!/bin/sh
{ROOT}/build/frictiond --print-openapi | sed 's/"properties":{{"dim"/"properties":{{"more":{{"type":"boolean"}},"dim"/'
""")
    program.chmod(0o755)
    assert "clients/javascript/openapi.d.mts: stale" in fail("scripts/javascript_types", "--check", program)


TEXTS = ("/", "/metrics", "/errors/{code}", "/explorer/{file}", "/docs", "/docs/{file}")


def test_every_route_compiles_and_runs(tsc, run, server, npm_project, description):
    assert tsc("routes.mts") == ""
    lines = run("node", "routes.mjs", server, cwd=npm_project).splitlines()
    called = dict(re.match(r"20[014] (\w+ \S+) -> (.*)", line).groups() for line in lines if line.startswith("20"))
    assert set(called) == {f"{method.upper()} {path}" for path, methods in description["paths"].items() for method in methods}
    for route, kind in called.items():
        method, path = route.split(" ")
        assert (kind == "nothing") == (method in ("HEAD", "DELETE")), route
        assert (kind == "text") == (method == "GET" and path in TEXTS), route
    assert lines[len(called):] == [
        "potential 1.0833333333333333 gradient 3 0 0 shape 3 3 first column 0", "by mu 2.1666666666666665 by velocities 3 0 0",
        "along mu 2.1666666666666665", "agrees true", "patched 3 -> 1.5", "pattern 0 1 contacts 1", "agrees true", "jvp 4 0 0",
        "vjp 2.1666666666666665", "mu 1 0.1", "bundle smooth_mu", "true true frictiond", "refused 422 out_of_range /friction/eps_v"]


PREAMBLE = """
import { Client, CollisionSet, FrictiondError, Unavailable, FRAME, VERSION, decodeFrame, encodeFrame } from "frictiond";
import type { Batch, CollisionSetDocument, Csr, Doubles, ErrorCode, FieldPointer, Integers, MergePatch } from "frictiond";
const client = new Client("http://127.0.0.1:8080", { token: null, timeout: 1.5, retries: 0, frames: false });
const group = { vertices: new Int32Array([0]), plane_normal: [0, 0, 1], normal_force: [8] };
const common = { friction: { eps_v: 1e-3, mu: 0.3 }, collisions: { plane_vertex: group } };
const lagged: CollisionSetDocument = { dim: 3, n_vertices: 1, ...common };
const batch: Batch = { dim: 3, velocities: [[0, 0, 0]], ...common };
const contacts: CollisionSet = await client.set(lagged, { name: "run-17" });
"""
RIGHT = PREAMBLE + """
const { signal } = new AbortController();
// Outputs that are not chosen: the default ones.
const all = await client.evaluate({ dim: 3, velocities: new Float64Array(3), ...common }, { signal });
const rows: Integers = all.hessian.rows, force: Float64Array = all.gradient.map((g) => -g), energy: number = all.potential;
const some = await contacts.evaluate(null, { body_velocities: [[0, 0, 0]], outputs: ["gradient", "collisions"] });
const slips: Doubles | undefined = some.collisions.plane_vertex?.slip_ratio, none: number | undefined = some.potential;
const factors = (await contacts.evaluate(new Float64Array(3), { hessian: { format: "factors" } })).hessian;
const weights: Doubles | undefined = factors.plane_vertex?.weights;
const csr: Csr = (await contacts.evaluate([0, 0, 0], { hessian: { format: "csr", pattern: false, triangle: "upper" } })).hessian;
// If a request is annotated, all its results are optional.
const unknown: Doubles | undefined = (await client.evaluate(batch)).gradient;
await contacts.carry(some, 0.5, { signal });
await contacts.patch({ friction: { mu: null, mu_s: 0.5, mu_k: 0.4 }, collisions: { face_vertex: null } });
await contacts.advance([[0, 0, 0]], new Float64Array(3), { lagged_velocities: [[0, 0, 0]] }, { signal });
await contacts.advance(null, null, { body_velocities: [[0, 0, 0, 0, 0, 0]], body_positions: [[0, 0, 0]] });
const near = await client.contacts({ dim: 3, positions: [[0, 0, 0]], distance: 1, mesh: { vertices: [0] } }, { signal });
const listed: Doubles | undefined = (await contacts.contacts({ merge: false, signal })).collisions?.face_vertex?.anchor;
const least: number | null | undefined = near.min_distance;
const starts: Integers = await client.withSet(lagged, async (set) => (await set.pattern({ format: "bsr" })).indptr);
const { cotangents } = await client.vjp(batch, { gradient: force }, ["/positions", "/friction/mu"]);
const moved: Doubles = cotangents["/positions"], mu: number | Doubles = cotangents["/friction/mu"];
const pointers: FieldPointer[] = ["/friction/mu", "/collisions/plane_vertex/normal_force"];
const pulled = await contacts.vjp(null, { potential: 1 }, pointers), pushed = await client.jvp(batch, { "/positions": moved });
const tangent: number = pushed.tangents.potential;
const values: Float64Array = await client.function("smooth_mu", { y: 0, mu_s: 1, mu_k: [0.1], eps_v: 1 });
const code: ErrorCode | null = new FrictiondError(422, "", "").code;
const pointer: string | null = new Unavailable(null, "", "").pointer;
const bytes: Uint8Array = encodeFrame(decodeFrame(new ArrayBuffer(8))), words: string = VERSION + FRAME;
const { status, headers, document } = await client.request("GET /v1/sets/{name}", { path: { name: "run-17" }, signal });
const count: number = document.n_collisions + status, tag: string | null = headers.get("ETag");
const text: string = (await client.request("GET /metrics")).document;
const patch: MergePatch<CollisionSetDocument> = { positions: null };
{
    await using other = await client.set(lagged);
    await other.put(lagged);
}
await contacts.close();
"""
# Each line has one mistake.
WRONG = """new Client(8080);
new Client("", { retry: 3 });
client.evaluate();
client.evaluate({ ...batch, friciton: {} });
client.evaluate({ dim: 4, velocities: [[0]], friction: { eps_v: 1, mu: 1 }, collisions: {} });
client.evaluate({ ...batch, outputs: ["gradiant"] });
client.evaluate({ ...batch, friction: { eps_v: "1", mu: 1 } });
client.evaluate({ ...batch, hessian: { format: "dense" } });
client.evaluate({ ...batch, collisions: { plane_vertex: { ...group, normal_farce: 1 } } });
(await client.evaluate({ ...batch, outputs: ["potential"] })).gradient[0];
(await client.evaluate(batch)).gradient[0];
(await contacts.evaluate(null, { hessian: { format: "csr" } })).hessian.rows;
(await contacts.evaluate(null, { hessian: { format: "csr", pattern: false } })).hessian.indptr[0];
client.evaluation({});
client.jvp(batch, { "/friction/nu": 1 });
client.jvp(batch, ["/positions"]);
client.vjp(batch, {}, 3);
client.vjp(batch, { force: [1] }, ["/positions"]);
(await client.vjp(batch, { potential: 1 }, ["/positions"])).cotangents["/velocities"];
client.set(lagged, { name: 17 });
client.set({});
contacts.pattern({ format: "factors" });
contacts.evaluate(3);
contacts.patch({ frictoin: null });
contacts.carry({}, "1");
contacts.advance([[0, 0, 0]]);
contacts.advance([[0, 0, 0]], [[0, 0, 0]], { velocity: [[0, 0, 0]] });
contacts.contacts({ merge: 1 });
client.contacts({ dim: 3, positions: [[0, 0, 0]], mesh: {} });
client.function("smooth_nu", { y: [0] });
client.function("smooth_mu", { y: [0] });
client.request("GET /v1/set");
client.request("GET /v1/sets/{name}");
client.request("GET /v1/sets/{name}", { path: { nane: "a" } });
client.request("POST /v1/check", { body: batch, query: { derivative: true } });
(await client.request("GET /metrics")).document.sets;
"""


def test_a_program_in_typescript(tsc, npm_project):
    (npm_project / "right.mts").write_text(RIGHT)
    assert tsc("right.mts", *BUNDLER, "--noEmit", "--lib", "es2022,dom,esnext.disposable") == ""


def test_mistakes_in_a_program_in_typescript(tsc, npm_project):
    (npm_project / "wrong.mts").write_text(PREAMBLE + WRONG)
    found = {int(line) for line in re.findall(r"wrong\.mts\((\d+),", tsc("wrong.mts", *NODE, "--noEmit"))}
    first = PREAMBLE.count("\n") + 1
    missed = [line for k, line in enumerate(WRONG.splitlines()) if first + k not in found]
    assert missed == [] and min(found) >= first


def test_no_type_is_unknown():
    """Only members whose names the service does not determine are `unknown`."""
    text = re.sub(r"(?s:/\*.*?\*/)|//.*", "", (PACKAGE / "openapi.d.mts").read_text()).replace("[member: string]: unknown;", "")
    assert "[member: string]: unknown" in text  # /openapi.json
    assert not re.search(r"\b(any|unknown)\b", text.replace("{ [member: string]: unknown }", ""))


def test_the_client_converts_the_lists_that_the_types_state(description):
    """Types come from schemas, the kinds of arrays in JSON answers from names of members."""
    source = (PACKAGE / "frictiond.mjs").read_text()
    indices, lists = (set(re.findall(r'"(\w+)"', re.search(rf"{name} = \[(.*?)\]", source, re.S)[1]))
                      for name in ("INDICES", "LISTS"))
    schemas = description["components"]["schemas"]
    seen, waiting, integers, others, doubles = set(), [], set(), set(), set()
    for path, methods in description["paths"].items():
        for operation in methods.values():
            content = operation["responses"].get("200", {}).get("content", {}).get("application/json")
            waiting += [("", content["schema"])] if content and path.startswith("/v1/") else []
    while waiting:
        name, schema = waiting.pop()
        if "$ref" in schema:
            key = schema["$ref"].rsplit("/", 1)[1]
            if key not in seen and key != "ValuesByField":
                seen.add(key)
                waiting.append((name, schemas[key]))
            continue
        waiting += [(name, part) for several in ("anyOf", "oneOf") for part in schema.get(several, [])]
        waiting += schema.get("properties", {}).items()
        if schema.get("type") == "array":
            inner = schema
            while inner.get("type") == "array":
                inner = inner["items"]
            waiting.append((name, inner))
            kind = inner.get("type")
            {"integer": integers, "number": doubles}.get(kind, others).add(name)
    assert integers - {"shape"} == indices and others | {"shape"} == lists and doubles.isdisjoint(indices | lists)
