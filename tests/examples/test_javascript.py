"""The JavaScript module clients/javascript/frictiond.mjs and its node example. Its page is tested in tests/explorer, the
package and its types in test_npm.py."""
import json
import pathlib
import subprocess

import pytest
from carried import LAWS, SCRIPTS, both_steps, steps
from collision_sets import BATCH, MOVED, RestartedService, parts, unix_server  # noqa: F401
from derived import SCRIPTS as DERIVED
from derived import requests
from fake import FakeService
from conftest import environment, integration
from test_python import ALL, PLANE, SCENE, TILE, frame, plainly

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALL = """
const { Client } = frictiond;
function show(key, value) {
	return ArrayBuffer.isView(value)
		? { type: value.constructor.name, shape: value.shape, values: Array.from(value, Number) } : value;
}
// The properties of an error.
async function caught(promise) {
	try {
		await promise;
	} catch (error) {
		const { status, title, detail, errors, pointer, requestId, name, message, code } = error;
		return { status, title, detail, errors, pointer, requestId, name, message, code,
			unavailable: error instanceof frictiond.Unavailable };
	}
	return "nothing was thrown";
}
// Records waits instead of waiting.
const waits = [];
class Hasty extends Client {
	async wait(seconds) {
		waits.push(seconds);
	}
}
return JSON.stringify(await (async () => { %s })(), show);
"""
# Each line of its input is a call: the body of a function, and what it is given. A line of its output is the result.
PROGRAM = """
import * as frictiond from "%s/clients/javascript/frictiond.mjs";
import { createInterface } from "node:readline";
const AsyncFunction = (async () => {}).constructor;
for await (const line of createInterface({ input: process.stdin })) {
	const { body, url, given } = JSON.parse(line);
	const call = new AsyncFunction("frictiond", "url", "given", '"use strict";' + body);
	console.log(await call(frictiond, url, given).catch((error) => JSON.stringify({ failed: String(error.stack) })));
}
"""
TYPED = """
const typed = (value, key = "") => Array.isArray(value) && typeof value.flat(9)[0] === "number"
	? (Number.isInteger(value.flat(9)[0]) && /^(vert|bodies)/.test(key) ? Int32Array : Float64Array).from(value.flat(9))
	: typeof value === "object" && !Array.isArray(value)
		? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, typed(v, k)])) : value;
"""


class Node:
    """A process of node that runs one call after the other."""

    def __init__(self):
        self.process = subprocess.Popen(["node", "--input-type=module", "-e", PROGRAM % ROOT.as_uri()], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())

    def call(self, code, url="", *given):
        print(json.dumps({"body": CALL % code, "url": url, "given": given}), file=self.process.stdin, flush=True)
        result = json.loads(self.process.stdout.readline())
        assert not isinstance(result, dict) or "failed" not in result, result["failed"]
        return result

    def close(self):
        """Nothing keeps node from ending."""
        self.process.stdin.close()
        assert self.process.wait() == 0 and self.process.stdout.read() == ""
        self.process.stdout.close()


@pytest.fixture(scope="session" if integration.ONE_IN > 1 else "function")
def js():
    """js(code, url, ...) runs the body of an async function and returns its result, passed as JSON. Every test has a
    process of its own, unless only a share of the cases is tried."""
    node = Node()
    yield node.call
    node.close()


def assert_same(answer, expected, where=""):
    """Asserts that an answer of the module has the same numbers as one from json.load, to the last bit."""
    if isinstance(expected, dict):
        assert answer.keys() == expected.keys(), where
        for key in expected:
            assert_same(answer[key], expected[key], f"{where}/{key}")
    elif isinstance(answer, dict):
        flat, shape = expected, []
        while isinstance(flat, list) and flat and isinstance(flat[0], list):
            shape.append(len(flat))
            flat = [number for row in flat for number in row]
        assert answer["values"] == flat, where
        assert answer["shape"][:1] == [len(expected)], where
        integers = where.split("/")[-1] in ("rows", "cols", "indptr", "indices", "status")
        assert answer["type"] == ("Int32Array" if integers else "Float64Array"), where
    else:
        assert answer == expected, where


def test_the_example_says_why_it_fails(fail, nobody, refusing, npm_project):
    output = fail("node", "tile.mjs", nobody, cwd=npm_project)
    assert "ECONNREFUSED" in output and nobody in output and output.rstrip().endswith("is it running?")
    assert "/friction/eps_v: must be larger than 0" in fail("node", "tile.mjs", refusing, cwd=npm_project)
    assert "Invalid URL" in fail("node", "tile.mjs", "nonsense", cwd=npm_project)


@pytest.mark.parametrize("batch", [PLANE, TILE, SCENE], ids=["plane", "tile", "scene"])
def test_json_and_frames_give_what_urllib_and_json_give(js, server, batch):
    answers = js(TYPED + """const answers = [];
        for (const frames of [true, false])
            for (const document of [given[0], typed(given[0])])
                answers.push(await new Client(url, {frames}).evaluate(document));
        return answers;""", server, {**batch, **ALL})
    assert len(answers) == 4
    for answer in answers:
        assert_same(answer, plainly(server, "/v1/evaluate", {**batch, **ALL}))


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_laws_and_bodies_give_what_urllib_and_json_give(js, server, script):
    batch = {**next(steps(script, 1)), "outputs": ["potential", "gradient", "hessian", "collisions"],
             "hessian": {"format": "factors"}}
    for answer in js(TYPED + """const answers = [];
        for (const frames of [true, false])
            for (const document of [given[0], typed(given[0])])
                answers.push(await new Client(url, {frames}).evaluate(document));
        return answers;""", server, batch):
        assert_same(answer, plainly(server, "/v1/evaluate", batch))


@pytest.mark.parametrize("name", LAWS)
def test_laws_have_their_parameters(js, server, name):
    law = LAWS[name]
    for code in ("given[0].parameters", "typed(given[0].parameters)"):
        told = js(TYPED + f"return new Client(url).function(given[0].name, {code})", server, law)
        assert told["values"] == plainly(server, "/v1/functions/" + law["name"], law["parameters"])["values"]


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.parametrize("frames", ["true", "false"])
def test_a_set_carries_anchors(js, server, script, frames):
    found = js(TYPED + f"""const {{set, query: {{velocities = null, ...query}}}} = typed(given[0]);
        return new Client(url, {{frames: {frames}}}).withSet(set, async (contacts) => {{
            const first = await contacts.evaluate(velocities, query);
            await contacts.carry(first, 0.5);
            const {{outputs, collision_outputs, ...motion}} = query;
            return [first, await contacts.evaluate(velocities, query), await contacts.check(velocities, motion)];
        }})""", server, script)
    for answer, expected in zip(found, both_steps(server, script, 0.5)):
        assert_same(answer, expected)
    assert found[2]["agrees"] is True


@pytest.mark.parametrize("script", DERIVED.values(), ids=DERIVED)
@pytest.mark.parametrize("frames", ["true", "false"])
def test_derivatives_forward_and_backward(js, server, script, frames):
    down, up = requests(script)
    told = js(TYPED + f"""const [{{set, query: {{velocities, ...query}}, cotangents, wrt}}, tangents] = typed(given);
        const client = new Client(url, {{frames: {frames}}}), whole = {{...set, velocities, ...query}};
        return client.withSet(set, async (contacts) => [
            await client.jvp(whole, tangents), await contacts.jvp(velocities, tangents, query),
            await client.vjp(whole, cotangents, wrt), await contacts.vjp(velocities, cotangents, wrt, query)])""",
              server, script, down["tangents"])
    assert len(told) == 4
    for answers, path, document in ((told[:2], "/v1/jvp", down), (told[2:], "/v1/vjp", up)):
        for answer in answers:
            assert_same(answer, plainly(server, path, document))


def test_fields_without_derivatives_are_named(js, server):
    up = requests({**DERIVED["vertices"], "wrt": ["/velocities", "/dim"]})[1]
    told = js("""const {cotangents, wrt, ...batch} = given[0];
        return caught(new Client(url).vjp(batch, cotangents, wrt));""", server, up)
    assert (told["status"], told["pointer"]) == (422, "/wrt/1")


def test_an_answer_without_anchors_carries_none(js, server):
    found = js("""return new Client(url).withSet(given[0].set, async (contacts) =>
        caught(contacts.carry(await contacts.evaluate(given[0].query.velocities))))""", server, SCRIPTS["no bodies"])
    assert found["name"] == "TypeError" and "no anchors" in found["message"]


def test_notes_of_a_check_stay_lists(js, server):
    weak, good = ({**PLANE, "friction": friction} for friction in (
        {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.2}, {"eps_v": 1e-3, "mu": 0.5}))
    told = js("return Promise.all(given.map(async (batch) => (await new Client(url).check(batch)).notes))", server, weak,
              good)
    assert told == [plainly(server, "/v1/check", weak)["notes"], []] and told[0]


@pytest.mark.parametrize("how", [{"format": "factors"}, {"format": "csr", "triangle": "upper"}])
def test_hessian_formats(js, server, how):
    batch = {**{k: v for k, v in SCENE.items() if k != "collision_outputs"}, "outputs": ["hessian"], "hessian": how}
    assert_same(js("return new Client(url).evaluate(given[0])", server, batch), plainly(server, "/v1/evaluate", batch))


def test_formats_of_requests(js, server):
    with FakeService(server) as fake:
        js(TYPED + """
            await new Client(url).evaluate(typed(given[0]));
            await new Client(url).evaluate(given[0]);
            await new Client(url, {frames: false}).evaluate(typed(given[0]));
            return 0;""", fake.url, PLANE)
        kinds = [(headers["content-type"], headers["accept"].split(",")[0])
                 for headers in ({name.lower(): value for name, value in seen[2].items()} for seen in fake.requests)]
    frames, text = "application/vnd.frictiond.frame", "application/json"
    assert kinds == [(frames, frames), (text, frames), (text, text)]


def test_all_kinds_of_typed_arrays(js, server):
    answers = js("""
        const n = 24, batch = (real, index) => ({
            dim: 3, velocities: real.from({length: 3 * n}, (_, i) => real === BigInt64Array ? BigInt(i % 7) : i % 7),
            friction: {eps_v: 1, mu: 0.5}, collisions: {plane_vertex: {
                vertices: index.from({length: n}, (_, i) => index === BigInt64Array ? BigInt(i) : i),
                plane_normal: new Int8Array([0, 0, 1]), normal_force: 1}}});
        const answers = [];
        for (const frames of [true, false])
            for (const [real, index] of [[Float64Array, Int32Array], [Float32Array, Uint32Array],
                    [Int8Array, Int16Array], [Uint8Array, Uint16Array], [Uint8ClampedArray, Uint8Array],
                    [BigInt64Array, BigInt64Array]])
                answers.push(await new Client(url, {frames}).evaluate(batch(real, index)));
        return answers;""", server)
    assert len(answers) == 12 and all(answer == answers[0] for answer in answers)
    assert max(answers[0]["gradient"]["values"]) > 0


def test_views_into_larger_buffers_and_empty_arrays(js, server):
    answers = js("""
        const wide = new Float64Array([9, 0.02, 0.01, 0, 9]);
        return Promise.all([[0.02, 0.01, 0], wide.subarray(1, 4)].map((velocities) => new Client(url).evaluate(
            {...given[0], velocities, collisions: {...given[0].collisions,
                vertex_vertex: {vertices: new Int32Array(), normal_force: new Float64Array()}}})));""", server, PLANE)
    assert answers[0] == answers[1] and answers[0]["gradient"]["values"][0] > 1


def test_skipped_contacts_are_listed(js, server):
    batch = {"dim": 2, "positions": [[0, 0], [0, 0]], "velocities": [[1, 1], [1, 1]], "on_degenerate": "skip",
             "friction": {"eps_v": 1, "mu": 1},
             "collisions": {"vertex_vertex": {"vertices": [[0, 1]], "normal_force": 1}}}
    assert js("return (await new Client(url).evaluate(given[0])).skipped", server, batch) == [
        {"group": "vertex_vertex", "index": 0, "reason": "coincident_vertices"}]


def test_check(js, server):
    found = js(TYPED + "return new Client(url).check(typed(given[0]))", server, SCENE)
    assert found["agrees"] is True and found["n_collisions"] == 19
    assert found["worst"]["group"] in SCENE["collisions"]


def test_functions_and_info(js, server):
    found = js("""
        const client = new Client(url + "/"), parameters = {mu_s: 1, mu_k: 0.1, eps_v: 1e-3};
        return [(await client.functions()).length, (await client.info()).name,
                await client.function("smooth_mu", {y: [0, 5e-4, 1e-3], ...parameters}),
                await client.function("smooth_mu", {y: new Float64Array(20), ...parameters}),
                await caught(client.function("no such/function?", {})),
                await caught(client.function("smooth_friction_f1", {y: [0, 1], epsv: 1}))];""", server)
    assert found[:2] == [19, "frictiond"]
    assert found[2]["values"] == [1, 0.55, 0.1] and found[3]["values"] == [1] * 20
    assert found[4]["status"] == 404 and found[5]["pointer"] == "/epsv"


def test_any_route(js, server):
    found = js("""
        const client = new Client(url), path = {name: "any-route"}, body = given[0];
        const put = await client.request("PUT /v1/sets/{name}", {path, body, headers: {"If-None-Match": "*"}});
        const again = await caught(client.request("PUT /v1/sets/{name}", {path, body, headers: {"If-None-Match": "*"}}));
        const head = await client.request("HEAD /v1/sets/{name}", {path});
        const query = {y: new Float64Array([0, 0.5]), mu_s: [1], mu_k: [0.5], eps_v: [1], mu_transition: "quadratic"};
        const values = await client.request("GET /v1/functions/{name}", {path: {name: "smooth_mu"}, query});
        const posted = await client.function("smooth_mu", {...query, y: [0, 0.5]});
        const metrics = await client.request("GET /metrics");
        const sets = (await client.sets()).sets.map((set) => set.name);
        const gone = await client.request("DELETE /v1/sets/{name}", {path});
        return [put, again, head, values.document, posted, metrics, sets, gone,
                await caught(client.request("GET /v1/sets/{name}", {path: {}})),
                await caught(client.request("POST /Evaluate", {body: {name: "none", input: []}})),
                await caught(client.request("HEAD /v1/sets/{name}", {path})),
                (await client.request("GET /v1/sets")).document.sets.filter((set) => set.name === "any-route"),
                head.headers.get("Collision-Set-Version") === put.headers.get("Collision-Set-Version")]""",
               server, {key: value for key, value in PLANE.items() if key != "velocities"} | {"n_vertices": 1})
    assert found[0]["status"] == 201 and found[0]["document"]["n_collisions"] == 1
    assert (found[1]["status"], found[1]["code"]) == (412, "set_exists")
    assert (found[2]["status"], found[2]["document"]) == (200, None)
    assert found[3]["values"] == found[4] and found[4]["type"] == "Float64Array"
    assert "# TYPE frictiond_" in found[5]["document"] and "any-route" in found[6]
    assert (found[7]["status"], found[7]["document"]) == (204, None)
    assert "needs path: { name }" in found[8]["message"]
    assert (found[9]["status"], found[9]["title"]) == (400, "ModelNotFound")
    assert (found[10]["status"], found[11], found[12]) == (404, [], True)


# Collision sets

ASKED = TYPED + """
    const [batch, query, moved] = given, {velocities, ...options} = query;
    const typedBatch = typed(batch), typedVelocities = typed(velocities);
    """


@pytest.mark.parametrize("frames", ["true", "false"])
def test_a_set_gives_what_the_whole_request_gives(js, server, frames):
    found = js(ASKED + f"""return new Client(url, {{frames: {frames}}}).withSet(typedBatch, async (contacts) => [
        await contacts.evaluate(typedVelocities, options), await contacts.evaluate(velocities, options),
        await contacts.check(typedVelocities), await contacts.pattern(), (await contacts.info()).version,
        contacts.version, contacts.name])""", server, *parts(BATCH))
    expected = plainly(server, "/v1/evaluate", BATCH)
    assert_same(found[0], expected)
    assert_same(found[1], expected)
    assert found[2]["agrees"] is True
    assert found[3]["indices"]["values"] == expected["hessian"]["indices"]
    assert found[4] == found[5] and found[6]


@pytest.mark.parametrize("loss", ["forget", "replace"])
def test_a_lost_set_is_put_again_as_it_was_sent(js, server, loss):
    with FakeService(server, "pass", loss, "pass", "pass", "pass", loss) as fake:
        found = js(ASKED + """return new Client(url).withSet(typedBatch, async (contacts) => {
            typedBatch.collisions.plane_vertex.normal_force.fill(1);
            const answers = [await contacts.evaluate(velocities, options)];
            await contacts.patch(typed(moved));
            answers.push(await contacts.evaluate(velocities, options));
            return answers;
        })""", fake.url, *parts(BATCH), MOVED)
        methods = [method for method, *_ in fake.requests]
    assert_same(found[0], plainly(server, "/v1/evaluate", BATCH))
    assert_same(found[1], plainly(server, "/v1/evaluate", {**BATCH, **MOVED}))
    assert methods == ["PUT", "POST", "PUT", "POST", "PATCH", "POST", "PUT", "POST", "DELETE"]


def test_a_patch_of_a_lost_set_puts_all_of_it(js, server):
    with FakeService(server, "pass", "forget") as fake:
        found = js(ASKED + """return new Client(url).withSet(typedBatch, async (contacts) => {
            await contacts.patch(moved);
            return contacts.evaluate(velocities, options);
        })""", fake.url, *parts(BATCH), MOVED)
        methods = [method for method, *_ in fake.requests]
    assert_same(found, plainly(server, "/v1/evaluate", {**BATCH, **MOVED}))
    assert methods == ["PUT", "PATCH", "PUT", "POST", "DELETE"]


def test_patches_merge(js, server):
    with FakeService(server, *["pass"] * 4, "forget") as fake:
        found = js(ASKED + """return new Client(url).withSet({...batch, on_degenerate: "skip"}, async (contacts) => {
            await Promise.all([contacts.patch({on_degenerate: null, friction: {mu_s: null, mu_k: null, mu: 0.2}}),
                               contacts.patch({collisions: {face_vertex: null}})]);
            const error = await caught(contacts.patch({friction: {mu: -1}}));
            return [await contacts.evaluate(velocities, options), error];
        })""", fake.url, *parts(BATCH))
    rest = {key: group for key, group in BATCH["collisions"].items() if key != "face_vertex"}
    eps_v = BATCH["friction"]["eps_v"]
    assert_same(found[0], plainly(server, "/v1/evaluate", {
        **BATCH, "friction": {"eps_v": eps_v, "mu": 0.2}, "collisions": rest}))
    assert (found[1]["status"], found[1]["pointer"]) == (422, "/friction/mu")


def test_a_restart_is_survived(js, server_with):
    one, other = server_with(), server_with()
    with RestartedService(one, other, 3) as fake:
        found = js(ASKED + """return new Hasty(url).withSet(typedBatch, async (contacts) =>
            [await contacts.evaluate(velocities, options), await contacts.evaluate(velocities, options)])""",
                   fake.url, *parts(BATCH))
    assert found[0] == found[1]
    assert_same(found[1], plainly(other, "/v1/evaluate", BATCH))


# A point that turns around over a floor, as a stencil and as a mesh.
ADVANCED = """
    const dim = 3, h = 0.125, friction = { eps_v: 0.25, mu: 0.5 }, barrier = { dhat: 0.25, stiffness: 64 };
    const x = (k) => [[0, 0, 0], [4, 0, 0], [0, 4, 0], [1 + h * k, 1, 0.125]].map((row) => [...row]);
    const turning = (k) => [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0.0625 * Math.cos(k), 0.0625 * Math.sin(k), 0]], v = turning(0);
    const stencil = { face_vertex: { vertices: [[3, 0, 1, 2]], anchor: [[0, 0, 0]] } };
    const documents = {
        stencil: { dim, positions: x(0), friction, barrier, collisions: stencil },
        mesh: { dim, positions: x(0), friction, barrier, mesh: { faces: [[0, 1, 2]], vertices: [3] }, anchors: true } };
    const query = { outputs: ["gradient", "collisions"], collision_outputs: ["anchor"] };
    async function walk(client, document, loses) {
        const other = new Client(url), answers = [];
        return client.withSet(document, async (set) => {
            for (let k = 1; k <= 20; k++) {
                if (k === 7)
                    await set.patch({ friction: { mu: 0.75 } });
                if (loses(k))
                    await other.request("DELETE /v1/sets/{name}", { path: { name: set.name } });
                await set.advance(new Float64Array(turning(k).flat()), x(k), k % 5 ? {} : { lagged_velocities: v });
                if (loses(k + 0.5))
                    await other.request("DELETE /v1/sets/{name}", { path: { name: set.name } });
                answers.push(await set.evaluate(v, query));
            }
            return answers;
        });
    }
"""


@pytest.mark.parametrize("frames", ["true", "false"])
@pytest.mark.parametrize("kind", ["stencil", "mesh"])
def test_a_set_advances_even_if_it_is_lost(js, server, kind, frames):
    kept, lost, last = js(ADVANCED + f"""
        const client = new Client(url, {{ frames: {frames} }}), document = documents.{kind};
        const kept = await walk(client, document, () => false);
        const lost = [await walk(client, document, (k) => k === 3 || k === 9.5 || k === 17), await walk(client, document, () => true)];
        return [kept, lost, kept.at(-1).collisions.face_vertex.anchor];""", server)
    assert lost == [kept, kept]
    anchors = [answer["collisions"]["face_vertex"]["anchor"]["values"] for answer in kept]
    assert len(anchors) == 20 and last["values"] == anchors[-1] and len(set(map(tuple, anchors))) == 20


def test_a_set_does_not_advance_if_the_step_is_refused(js, server):
    before, error, after, step = js(ADVANCED + """
        return new Client(url).withSet(documents.mesh, async (set) => {
            const before = await set.contacts({ merge: false }), under = x(1);
            under[3][2] = 0;
            const error = await caught(set.advance(v, under)), after = await set.contacts({ merge: false });
            await set.advance(v, x(1));
            return [before, error, after, await set.contacts({ merge: false })];
        });""", server)
    assert (error["status"], error["code"], error["pointer"]) == (422, "penetration", "/positions/3")
    assert before == after != step


def test_contacts_of_a_mesh(js, server):
    request = {"dim": 3, "positions": [[0, 0, 0], [4, 0, 0], [0, 4, 0], [1, 1, 0.125]], "distance": 0.25,
               "mesh": {"faces": [[0, 1, 2]], "vertices": [3]}}
    found, merged, listed = js(ADVANCED + """
        const client = new Client(url);
        return client.withSet(documents.mesh, async (set) => [
            await client.contacts({ dim, positions: x(0), distance: 0.25, mesh: documents.mesh.mesh }),
            await set.contacts(), await set.contacts({ merge: false })]);""", server)
    assert_same(found["collisions"]["face_vertex"]["weight"],
                plainly(server, "/v1/contacts", request)["collisions"]["face_vertex"]["weight"])
    assert found == merged and merged["min_distance"] == 0.125
    assert listed["collisions"]["face_vertex"]["anchor"]["values"] == [0, 0, 0]


def test_a_set_ends_with_its_scope(js, server):
    found = js(ASKED + """
        const client = new Client(url), names = async () => (await (await fetch(url + "/v1/sets")).json()).sets
            .map((set) => set.name).filter((name) => name.startsWith("scope-"));
        const within = await client.withSet(batch, names, {name: "scope-1"});
        const error = await caught(client.withSet(batch, () => { throw new Error("mine"); }, {name: "scope-2"}));
        const contacts = await client.set(batch, {name: "scope-3"});
        await contacts.close();
        await contacts.close();
        return [within, error.message, await names()];""", server, *parts(BATCH))
    assert found == [["scope-1"], "mine", []]


def test_errors_about_sets(js, server):
    found = js(ASKED + """const client = new Client(url);
        return [await caught(client.set({...batch, friction: {eps_v: 0, mu: 1}})),
                await caught(client.set(batch, {name: "no name"})),
                await caught(client.withSet(batch, (contacts) => contacts.evaluate(velocities, {outputs: ["x"]})))]""",
               server, *parts(BATCH))
    assert [(error["status"], error["pointer"]) for error in found] == [
        (422, "/friction/eps_v"), (422, "/name"), (422, "/outputs/0")]


def test_a_service_that_goes_on_forgetting(js, server):
    with FakeService(server, "pass", *["forget", "pass"] * 9) as fake:
        error = js(ASKED + "return caught(new Client(url).withSet(batch, (set) => set.evaluate(velocities)))",
                   fake.url, *parts(BATCH))
    assert (error["status"], error["code"]) == (404, "unknown_set")


def test_over_a_unix_socket(js, unix_server):
    found = js(ASKED + """
        const client = new Client(url), whole = await client.evaluate({...batch, ...query});
        const [error] = [await caught(client.evaluate({}))];
        return [whole, await client.withSet(typedBatch, (set) => set.evaluate(typedVelocities, options)),
                error.status, await caught(new Hasty(url + "-nobody").info()),
                await client.request("GET /metrics")]""", unix_server, *parts(BATCH))
    assert found[0] == found[1] and len(found[0]["gradient"]["values"]) > 0
    assert found[2] == 422
    assert found[3]["unavailable"] and found[3]["message"].endswith("is it running?")
    assert found[4]["document"].startswith("#")


# Errors

@pytest.mark.parametrize("frames", ["true", "false"])
def test_errors_say_what_is_wrong(js, server, frames):
    error = js(TYPED + f"return caught(new Client(url, {{frames: {frames}}}).evaluate(typed(given[0])))", server,
               {**PLANE, "friction": {"eps_v": 0, "mu": 1}})
    assert (error["status"], error["title"], error["pointer"]) == (422, "Unprocessable Content", "/friction/eps_v")
    assert error["errors"] == [{"pointer": "/friction/eps_v", "detail": error["detail"]}]
    assert error["requestId"] and error["name"] == "FrictiondError" and not error["unavailable"]
    assert error["message"].startswith("422 Unprocessable Content: /friction/eps_v: ")


@pytest.mark.parametrize("frames", ["true", "false"])
def test_what_is_not_finite_is_named(js, server, frames):
    error = js(f"""return caught(new Client(url, {{frames: {frames}}}).evaluate(
        {{...given[0], velocities: new Float64Array([0, NaN, 0])}}))""", server, PLANE)
    assert "/velocities/1" in error["message"] or "/velocities/0/1" in error["message"]


def test_urls_and_arrays_that_are_none(js, server):
    urls, arrays = js("""
        const made = (url) => caught((async () => new Client(url))());
        const sent = (velocities) => caught(new Client(url).evaluate({...given[0], velocities}));
        const all = (list, f) => Promise.all(list.map(f));
        return [await all(["127.0.0.1:8080", "ftp://127.0.0.1", ""], made),
                await all([new BigUint64Array(1), new DataView(new ArrayBuffer(8))], sent)];""", server, PLANE)
    assert len(urls) == 3 and all("URL" in error["message"] for error in urls)
    assert len(arrays) == 2 and all("does not go into a batch" in error["message"] for error in arrays)


def test_tokens(js, server_with, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("lab 0123456789abcdef0123456789abcdef\n")
    tokens.chmod(0o600)
    url = server_with("--tokens", str(tokens))
    assert js("""return [(await new Client(url, {token: "0123456789abcdef0123456789abcdef"}).info()).name,
                         (await caught(new Client(url).info())).status]""", url) == ["frictiond", 401]


# Failures and retries

BUSY = (503, {"Retry-After": "1"})


def test_503_twice_then_an_answer(js, server):
    with FakeService(server, BUSY, BUSY) as fake:
        answer, waits = js("return [await new Hasty(url).evaluate(given[0]), waits]", fake.url, PLANE)
        assert_same(answer, plainly(server, "/v1/evaluate", PLANE))
        assert len(fake.requests) == 3 and len({body for *_, body in fake.requests}) == 1
    assert len(waits) == 2 and all(1 <= wait <= 1.25 for wait in waits)


def test_waits_grow_and_are_capped(js, server):
    dates = [(503, {"Retry-After": value}) for value in ("Wed, 21 Oct 2037 07:28:00 GMT", "-3", "9" * 30)]
    with FakeService(server, (503, {"Retry-After": "100000"}), *dates, *[(502, {})] * 9) as fake:
        waits = js("await new Hasty(url, {retries: 13}).info(); return waits", fake.url)
    assert waits[0] == 30 == max(waits) and 0.1 <= waits[1] <= 0.125 and 0.4 <= waits[3] <= 0.5


def test_requests_that_are_repeated(js, server):
    repeated, others = [429, 502, 503, 504], [400, 404, 422, 500]
    with FakeService(server, *[(status, {}) for status in repeated for _ in range(3)], *[(s, {}) for s in others]) as fake:
        errors = js("""const errors = [];
            for (let i = 0; i < 8; i++)
                errors.push(await caught(new Hasty(url, {retries: 2}).evaluate(given[0])));
            return errors;""", fake.url, PLANE)
        assert len(fake.requests) == 3 * 4 + 4
    assert [(error["status"], error["detail"], error["unavailable"]) for error in errors] == \
        [*((status, "as told", True) for status in repeated), *((status, "as told", False) for status in others)]


def test_no_server(js, nobody):
    error, waits = js("return [await caught(new Hasty(url, {retries: 3}).info()), waits]", nobody)
    assert error["status"] is None and error["unavailable"] and "ECONNREFUSED" in error["message"] and len(waits) == 3


@pytest.mark.parametrize("trouble", ["reset", "half"])
def test_connections_that_break(js, server, trouble):
    with FakeService(server, trouble, trouble) as fake:
        answer = js("return new Hasty(url).evaluate(given[0])", fake.url, PLANE)
        assert_same(answer, plainly(server, "/v1/evaluate", PLANE))
        assert len(fake.requests) == 3


def test_one_connection_is_kept(js, server):
    with FakeService(server) as fake:
        js("const client = new Client(url); for (let i = 0; i < 4; i++) await client.info(); return 0", fake.url)
        assert fake.connections < 4  # node may open another one in advance


def test_silence_and_aborts(js, server):
    found = js("""
        const net = await import("node:net");
        const sockets = [], silent = net.createServer((socket) => sockets.push(socket)).listen(0, "127.0.0.1");
        await new Promise((resolve) => silent.on("listening", resolve));
        const there = `http://127.0.0.1:${silent.address().port}`, controller = new AbortController();
        setTimeout(() => controller.abort(), 100);
        const found = [await caught(new Client(there, {timeout: 0.2}).info()),
                       await caught(new Client(there).evaluate({}, {signal: controller.signal})),
                       await caught(new Client(url).evaluate(given[0], {signal: AbortSignal.abort()}))];
        sockets.forEach((socket) => socket.destroy());
        silent.close();
        return found;""", server, PLANE)
    assert found[0]["unavailable"] and "nothing within 0.2 s" in found[0]["message"]
    assert found[1]["name"] == found[2]["name"] == "AbortError"


def test_answers_not_from_frictiond(js, server):
    with FakeService(server, (200, {"Content-Type": "application/vnd.frictiond.frame"}),
                (403, {"Content-Type": "text/html"})) as fake:
        found = js("return [await caught(new Client(url).info()), await caught(new Client(url).info())]", fake.url)
    assert found[0]["title"] == "Not an answer of frictiond" and found[1]["status"] == 403


# Frames

def test_frames_there_and_back(js):
    found = js("""
        const document = {a: new Float64Array([1, 2, 3]), b: {c: new Int32Array([1, -2])}, d: "text \\u00b5",
            e: new Uint32Array([4e9]), f: new Float32Array([0.5]), g: new BigInt64Array([-1n, 1n << 40n]), h: [1, 2]};
        const bytes = frictiond.encodeFrame(document), shifted = new Uint8Array(bytes.length + 3);
        shifted.set(bytes, 3);
        return [bytes.length % 8, frictiond.decodeFrame(bytes), frictiond.decodeFrame(bytes.buffer),
                frictiond.decodeFrame(shifted.subarray(3))];""")
    assert found[0] == 0 and found[1] == found[2] == found[3]
    values = {key: (entry["type"], entry["shape"], entry["values"]) for key, entry in found[1].items() if key in "aefg"}
    assert values == {"a": ("Float64Array", [3], [1, 2, 3]), "e": ("Uint32Array", [1], [4000000000]),
                      "f": ("Float32Array", [1], [0.5]), "g": ("BigInt64Array", [2], [-1, 2**40])}
    assert found[1]["b"]["c"]["values"] == [1, -2] and found[1]["d"] == "text µ" and found[1]["h"] == [1, 2]


def test_broken_frames_are_refused(js):
    references = [{"dtype": "f64", "shape": [9], "offset": 0}, {"dtype": "f64", "shape": [1], "offset": 4},
                  {"dtype": "f64", "shape": [1], "offset": -8}, {"dtype": "f64", "shape": [-1], "offset": 0},
                  {"dtype": "f64", "shape": [1.5], "offset": 0}, {"dtype": "f64", "shape": 1, "offset": 0},
                  {"dtype": "f64", "shape": [1]}, {"dtype": "toString", "shape": [1], "offset": 0},
                  {"dtype": None, "shape": [1], "offset": 0}, {"dtype": "f64", "shape": [1], "offset": 0, "more": 1},
                  {"dtype": "f64", "shape": [2**40, 2**40], "offset": 0}]
    broken = [b"", b"1234567", b"\xff" * 200, frame({})[:-1], frame({})[:8], frame(b"[1]"), frame(b"{,}"),
              frame(b"{}", pad=b"x"), (5).to_bytes(8, "little") + b"{}   ", frame(b'{"a":"\xff"}'), frame(b"null"),
              *(frame({"a": reference}, bytes(64)) for reference in references)]
    found = js("""return given[0].map((bytes) => {
        try { return frictiond.decodeFrame(Uint8Array.from(bytes)); } catch (error) { return error.name; }
    });""", "", [list(data) for data in broken])
    assert all(name in ("RangeError", "SyntaxError", "TypeError") for name in found), found
