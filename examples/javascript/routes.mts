// SPDX-License-Identifier: MIT
// Every route of the service, in TypeScript; and the client's own methods, which most programs use instead.
//
//   npm install frictiond-*.tgz && npx --package typescript tsc --strict --module nodenext --target es2022 routes.mts && node routes.mjs
//
// usage: node routes.mjs [URL]      URL of the service, default http://127.0.0.1:8080
import { Client, FrictiondError } from "frictiond";
import type { Batch, CollisionSetDocument, Doubles, MeshSet, Route, RouteAnswer } from "frictiond";

const url: string | undefined = process.argv[2];
const client = new Client(url, { timeout: 60 });

const lagged: CollisionSetDocument = {
	dim: 3,
	n_vertices: 1,
	friction: { eps_v: 0.5, mu: 0.5 },                                                    // eps_v in m/s
	collisions: { plane_vertex: { vertices: [0], plane_normal: [0, 0, 1], normal_force: 8 } },  // N
};
const velocities = new Float64Array([0.25, 0, 0]);                                       // m/s, [n_vertices, dim]
const { n_vertices, ...contacts } = lagged;
const mesh: MeshSet = {
	dim: 3,
	positions: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.25, 0.25, 0.125]],                      // m
	mesh: { faces: [[0, 1, 2]], vertices: [3] },
	barrier: { dhat: 0.25, stiffness: 4 },
	friction: { eps_v: 0.5, mu: 0.5 },
	anchors: true,
};
const drop = { name: "routes-mesh" };
const still = new Float64Array(12);
const batch: Batch = { ...contacts, velocities };
const path = { name: "routes" }, model = { name: "friction" };
const coefficient = { config: { set: "routes", inputs: ["/friction/mu_k"] }, input: [[0.5]] };

// A route without an example would not compile.
const examples: { [R in Route]: () => Promise<RouteAnswer<R>> } = {
	"GET /healthz": () => client.request("GET /healthz"),
	"HEAD /healthz": () => client.request("HEAD /healthz"),
	"GET /readyz": () => client.request("GET /readyz"),
	"HEAD /readyz": () => client.request("HEAD /readyz"),
	"GET /metrics": () => client.request("GET /metrics"),
	"HEAD /metrics": () => client.request("HEAD /metrics"),
	"GET /openapi.json": () => client.request("GET /openapi.json"),
	"HEAD /openapi.json": () => client.request("HEAD /openapi.json"),
	"GET /": () => client.request("GET /"),
	"HEAD /": () => client.request("HEAD /"),
	"GET /explorer/{file}": () => client.request("GET /explorer/{file}", { path: { file: "explorer.js" } }),
	"HEAD /explorer/{file}": () => client.request("HEAD /explorer/{file}", { path: { file: "explorer.js" } }),
	"GET /docs": () => client.request("GET /docs"),
	"HEAD /docs": () => client.request("HEAD /docs"),
	"GET /docs/{file}": () => client.request("GET /docs/{file}", { path: { file: "index.html" } }),
	"HEAD /docs/{file}": () => client.request("HEAD /docs/{file}", { path: { file: "index.html" } }),
	"GET /errors/{code}": () => client.request("GET /errors/{code}", { path: { code: "unknown_set" } }),
	"HEAD /errors/{code}": () => client.request("HEAD /errors/{code}", { path: { code: "unknown_set" } }),
	"GET /v1/info": () => client.request("GET /v1/info"),
	"HEAD /v1/info": () => client.request("HEAD /v1/info"),

	"POST /v1/evaluate": () => client.request("POST /v1/evaluate", { body: batch }),
	"POST /v1/check": () => client.request("POST /v1/check", { body: batch, query: { derivatives: true } }),
	"POST /v1/jvp": () => client.request("POST /v1/jvp", { body: { ...batch, tangents: { "/friction/mu": 1 } } }),
	"POST /v1/vjp": () => client.request("POST /v1/vjp",
		{ body: { ...batch, cotangents: { potential: 1 }, wrt: ["/friction/mu", "/velocities"] } }),

	"POST /v1/contacts": () => client.request("POST /v1/contacts",
		{ body: { dim: 2, positions: [[0, 0], [1, 0], [0.5, 0.125]], distance: 0.25, mesh: { edges: [[0, 1]], vertices: [2] } } }),

	"PUT /v1/sets/{name}": () => client.request("PUT /v1/sets/{name}", { path, body: lagged }),
	"GET /v1/sets": () => client.request("GET /v1/sets"),
	"HEAD /v1/sets": () => client.request("HEAD /v1/sets"),
	"GET /v1/sets/{name}": () => client.request("GET /v1/sets/{name}", { path }),
	"HEAD /v1/sets/{name}": () => client.request("HEAD /v1/sets/{name}", { path }),
	"PATCH /v1/sets/{name}": () => client.request("PATCH /v1/sets/{name}",
		{ path, body: { friction: { mu: null, mu_s: 0.5, mu_k: 0.5 }, collisions: { plane_vertex: { normal_force: 8 } } } }),
	"GET /v1/sets/{name}/pattern": () => client.request("GET /v1/sets/{name}/pattern", { path, query: { format: "csr" } }),
	"HEAD /v1/sets/{name}/pattern": () => client.request("HEAD /v1/sets/{name}/pattern", { path }),
	"POST /v1/sets/{name}/evaluate": () => client.request("POST /v1/sets/{name}/evaluate", { path, body: { velocities } }),
	"POST /v1/sets/{name}/check": () => client.request("POST /v1/sets/{name}/check", { path, body: { velocities } }),
	"POST /v1/sets/{name}/jvp": () => client.request("POST /v1/sets/{name}/jvp",
		{ path, body: { velocities, tangents: { "/velocities": [[1, 0, 0]] } } }),
	"POST /v1/sets/{name}/vjp": () => client.request("POST /v1/sets/{name}/vjp",
		{ path, body: { velocities, cotangents: { gradient: [1, 0, 0] }, wrt: ["/collisions/plane_vertex/normal_force"] } }),

	"GET /v1/sets/{name}/contacts": async () => {
		await client.request("PUT /v1/sets/{name}", { path: drop, body: mesh });
		return client.request("GET /v1/sets/{name}/contacts", { path: drop, query: { merge: false } });
	},
	"HEAD /v1/sets/{name}/contacts": () => client.request("HEAD /v1/sets/{name}/contacts", { path: drop }),
	"POST /v1/sets/{name}/advance": () => client.request("POST /v1/sets/{name}/advance",
		{ path: drop, body: { velocities: still, positions: mesh.positions } }),

	"GET /v1/functions": () => client.request("GET /v1/functions"),
	"HEAD /v1/functions": () => client.request("HEAD /v1/functions"),
	"POST /v1/functions": () => client.request("POST /v1/functions",
		{ body: { functions: { smooth_mu: { y: new Float64Array([0, 0.25]), mu_s: 1, mu_k: 0.1, eps_v: 0.5 } } } }),
	"GET /v1/functions/{name}": () => client.request("GET /v1/functions/{name}",
		{ path: { name: "smooth_mu" }, query: { y: [0, 0.25, 0.5], mu_s: [1], mu_k: [0.1], eps_v: [0.5] } }),
	"HEAD /v1/functions/{name}": () => client.request("HEAD /v1/functions/{name}",
		{ path: { name: "smooth_mu" }, query: { y: [0], mu_s: [1], mu_k: [0.1], eps_v: [0.5] } }),
	"POST /v1/functions/{name}": () => client.request("POST /v1/functions/{name}",
		{ path: { name: "law_force" }, body: { y: new Float64Array([0, 0.25]), mu_s: 1, mu_k: 0.1, eps_v: 0.5, law: "smooth" } }),

	"GET /Info": () => client.request("GET /Info"),
	"HEAD /Info": () => client.request("HEAD /Info"),
	"POST /ModelInfo": () => client.request("POST /ModelInfo", { body: model }),
	"POST /InputSizes": () => client.request("POST /InputSizes", { body: { ...model, config: coefficient.config } }),
	"POST /OutputSizes": () => client.request("POST /OutputSizes", { body: { ...model, config: coefficient.config } }),
	"POST /Evaluate": () => client.request("POST /Evaluate", { body: { ...model, ...coefficient } }),
	"POST /Gradient": () => client.request("POST /Gradient",
		{ body: { ...model, ...coefficient, outWrt: 0, inWrt: 0, sens: [1] } }),
	"POST /ApplyJacobian": () => client.request("POST /ApplyJacobian",
		{ body: { ...model, ...coefficient, outWrt: 0, inWrt: 0, vec: [1] } }),
	"POST /ApplyHessian": () => client.request("POST /ApplyHessian",
		{ body: { ...model, ...coefficient, outWrt: 0, inWrt1: 0, inWrt2: 0, sens: [1], vec: [1] } }),

	"DELETE /v1/sets/{name}": () => client.request("DELETE /v1/sets/{name}", { path }),
};

for (const [route, call] of Object.entries(examples)) {
	const { status, document } = await call();
	const kind = document === null ? "nothing" : typeof document === "string" ? "text" : Object.keys(document).slice(0, 4).join(" ");
	console.log(status, route, "->", kind);
}

/** The same through the client's methods. Which members an answer has follows from the request's type. */
async function methods(): Promise<void> {
	const answer = await client.evaluate({
		...contacts, velocities, outputs: ["potential", "gradient", "hessian"], hessian: { format: "csr" } });
	const row: number = answer.hessian.indices[answer.hessian.indptr[0] ?? 0] ?? -1;
	console.log("potential", answer.potential, "gradient", ...answer.gradient, "shape", ...answer.hessian.shape,
		"first column", row);

	const { cotangents } = await client.vjp(batch, { potential: 1 }, ["/friction/mu", "/velocities"]);
	const pulled: Doubles = cotangents["/velocities"];
	console.log("by mu", cotangents["/friction/mu"], "by velocities", ...pulled);
	console.log("along mu", (await client.jvp(batch, { "/friction/mu": 1 })).tangents.potential);
	console.log("agrees", (await client.check(batch, { derivatives: true })).agrees);

	await client.withSet(lagged, async (set) => {
		const { gradient } = await set.evaluate(velocities, { outputs: ["gradient"] });
		await set.patch({ friction: { mu: 0.25 } });
		const halved = await set.evaluate(velocities, { outputs: ["gradient"] });
		console.log("patched", gradient[0], "->", halved.gradient[0]);
		console.log("pattern", ...(await set.pattern({ format: "bsr" })).indptr, "contacts", (await set.info()).n_collisions);
		console.log("agrees", (await set.check(velocities)).agrees);
		console.log("jvp", ...(await set.jvp(velocities, { "/velocities": [1, 0, 0] })).tangents.gradient);
		console.log("vjp", (await set.vjp(velocities, { potential: 1 }, ["/friction/mu"])).cotangents["/friction/mu"]);
	});

	console.log("mu", ...(await client.function("smooth_mu", { y: [0, 0.5], mu_s: 1, mu_k: 0.1, eps_v: 0.5 })));
	console.log("bundle", ...Object.keys(await client.functionValues({ smooth_mu: { y: [0], mu_s: 1, mu_k: 0.1, eps_v: 0.5 } })));
	console.log((await client.functions()).length > 10, (await client.sets()).sets.length >= 0, (await client.info()).name);
}

try {
	await methods();
	await client.evaluate({ ...batch, friction: { eps_v: 0, mu: 1 } }, { signal: AbortSignal.timeout(60_000) });
} catch (error) {
	if (!(error instanceof FrictiondError))
		throw error;
	console.log("refused", error.status, error.code, error.pointer);
}
