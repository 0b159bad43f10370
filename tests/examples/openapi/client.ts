// A client whose types are generated from /openapi.json: `tsc` compiles it, and refuses the mistakes below.
//   node client.js URL
import type {components, paths} from "./api";

type Evaluate = paths["/v1/evaluate"]["post"];
type Batch = Evaluate["requestBody"]["content"]["application/json"];
type Answer = Evaluate["responses"]["200"]["content"]["application/json"];
type Vjp = paths["/v1/vjp"]["post"];
type Pulled = Vjp["responses"]["200"]["content"]["application/json"];
type Problem = components["schemas"]["Problem"];

const url = process.argv[2];

async function evaluate(batch: Batch): Promise<Answer> {
	const response = await fetch(`${url}/v1/evaluate`, {
		method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(batch),
	});
	if (!response.ok)
		throw (await response.json()) as Problem;
	return (await response.json()) as Answer;
}

async function vjp(query: Vjp["requestBody"]["content"]["application/json"]): Promise<Pulled> {
	const response = await fetch(`${url}/v1/vjp`, {
		method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(query),
	});
	if (!response.ok)
		throw (await response.json()) as Problem;
	return (await response.json()) as Pulled;
}

const batch: Batch = {
	dim: 3,
	velocities: [[0.25, 0, 0]],
	friction: {eps_v: 0.5, mu: 0.5},
	collisions: {plane_vertex: {vertices: [0], plane_normal: [0, 0, 1], normal_force: 8}},
	outputs: ["potential", "gradient"],
};

// @ts-expect-error: no such dimension
batch.dim = 4;
batch.dim = 3;
// @ts-expect-error: a misspelt field
const misspelt: Batch = {...batch, friciton: {eps_v: 0.5, mu: 0.5}};
// @ts-expect-error: no such output
const unknown: Batch = {...batch, outputs: ["gradiant"]};
// @ts-expect-error: a number as text
const text: Batch = {...batch, friction: {eps_v: "0.5", mu: 0.5}};
// @ts-expect-error: no such law
const law: Batch = {...batch, friction: {eps_v: 0.5, mu: 0.5, law: "stribek"}};
// @ts-expect-error: no such code
const never: Problem["code"] = "unknown_feild";
const {outputs, ...contacts} = batch;
// @ts-expect-error: a result without cotangents
const output = () => vjp({...contacts, cotangents: {force: [1, 0, 0]}, wrt: ["/velocities"]});
// @ts-expect-error: wrt is missing
const nowhere = () => vjp({...contacts, cotangents: {potential: 1}});
void [misspelt, unknown, text, law, never, output, nowhere, outputs];

/* The format of a Hessian determines its other members. */
function count(hessian: NonNullable<Answer["hessian"]>): number {
	switch (hessian.format) {
	case "triplets": return hessian.values.length;
	case "csr":
	case "bsr": return hessian.data.length;
	case "factors": return hessian.plane_vertex?.weights.length ?? 0;
	}
}

function isProblem(fault: unknown): fault is Problem {
	return typeof fault === "object" && fault !== null && "code" in fault;
}

const answer = await evaluate(batch);
console.log("potential", answer.potential, "gradient", answer.gradient);
const whole = await evaluate({...batch, outputs: ["hessian"], hessian: {format: "csr", triangle: "upper"}});
console.log("entries", whole.hessian && count(whole.hessian));
const {cotangents} = await vjp({...contacts, cotangents: {potential: 1}, wrt: ["/friction/mu", "/velocities"]});
console.log("by mu", cotangents["/friction/mu"], "by velocities", cotangents["/velocities"]);
try {
	await evaluate({...batch, collisions: {plane_vertex: {vertices: [1], plane_normal: [0, 0, 1], normal_force: 8}}});
} catch (fault) {
	const code: Problem["code"] | undefined = isProblem(fault) ? fault.code : undefined;
	console.log("refused", code, isProblem(fault) && fault.errors[0]?.pointer);
}
