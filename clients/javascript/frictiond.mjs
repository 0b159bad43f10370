// SPDX-License-Identifier: MIT
/**
 * Client of frictiond, the friction evaluation service, for browsers and for node 18 or later.
 *
 *     import { Client } from "frictiond";
 *     const client = new Client("http://127.0.0.1:8080");
 *     const answer = await client.evaluate(batch);     // batch: the document of docs/api.md, lists or typed arrays
 *     const force = answer.gradient.map((g) => -g);    // unit of normal_force
 *     const contacts = await client.set(batch);        // to evaluate the same contacts many times: see CollisionSet
 *     const { cotangents } = await client.vjp(batch, { potential: 1 }, ["/positions"]);    // derivatives
 *
 * Typed arrays are sent in binary (docs/frame.md). The numbers of an answer are flat typed arrays, row by row, with
 * their `shape` as a property: indices are Int32Array, all others Float64Array. (An index above 2^31 would come as a
 * BigInt64Array.) Types of documents, with the shape and the unit of each field, are in openapi.d.mts.
 */

/**
 * @typedef {import("./types.mjs").Abortable} Abortable
 * @typedef {import("./types.mjs").ClientOptions} ClientOptions
 * @typedef {import("./types.mjs").Doubles} Doubles
 * @typedef {import("./types.mjs").Matrix} Matrix
 * @typedef {import("./types.mjs").Route} Route
 * @typedef {import("./openapi.mjs").EvaluateRequest} Batch  a request about contacts
 * @typedef {import("./openapi.mjs").EvaluateAnswer} Answer
 * @typedef {import("./openapi.mjs").CheckAnswer} CheckAnswer
 * @typedef {{claims?: import("./openapi.mjs").Claims}} Claimed  somebody else's results, for check()
 * @typedef {import("./openapi.mjs").JvpAnswer} JvpAnswer
 * @typedef {import("./openapi.mjs").CollisionSetDocument} CollisionSetDocument
 * @typedef {import("./openapi.mjs").MeshSet} MeshSet
 * @typedef {import("./openapi.mjs").CollisionSetDescription} CollisionSetDescription
 * @typedef {import("./types.mjs").Without<import("./openapi.mjs").CollisionSetAdvance, "velocities" | "positions">} NextStep
 *     what else the next step begins with
 * @typedef {import("./openapi.mjs").FieldPointer} FieldPointer
 * @typedef {import("./openapi.mjs").FunctionName} FunctionName
 * @typedef {import("./openapi.mjs").Output} Output
 * @typedef {import("./openapi.mjs").DefaultOutput} DefaultOutput
 * @typedef {import("./openapi.mjs").HessianFormat} HessianFormat
 * @typedef {import("./openapi.mjs").PatternFormat} PatternFormat
 * @typedef {import("./openapi.mjs").ErrorCode} ErrorCode
 * @typedef {import("./openapi.mjs").JvpRequest["tangents"]} Tangents  {JSON Pointer of a field: numbers of its shape}
 * @typedef {import("./openapi.mjs").Cotangents} Cotangents  those that are missing count as 0
 * @typedef {import("./types.mjs").Without<import("./openapi.mjs").JvpRequest, "tangents">} Motion
 *     a request about contacts, without outputs and their options
 * @typedef {import("./types.mjs").Without<import("./openapi.mjs").CollisionSetQuery, "velocities">} Query
 *     outputs and their options, and body_velocities where there are bodies
 * @typedef {import("./types.mjs").Without<import("./openapi.mjs").CollisionSetJvp, "velocities" | "tangents">} MotionQuery
 */
/** The version of frictiond that this file comes with. */
export const VERSION = "0.1.0";
export const FRAME = "application/vnd.frictiond.frame";
const JSON_TYPE = "application/json", PATCH_TYPE = "application/merge-patch+json";
const DTYPES = { f64: Float64Array, f32: Float32Array, i32: Int32Array, u32: Uint32Array, i64: BigInt64Array };
const SMALL = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array];
const INDICES = ["rows", "cols", "indptr", "indices", "status", "vertices", "bodies", "feature", "current_feature", "entry"];
// Fields of an answer that stay lists: shapes, and lists whose elements are not numbers, which may be empty.
const LISTS = ["shape", "skipped", "looks_like", "notes", "sets", "functions", "parameters", "fields", "formats"];
const REPEATED = [429, 502, 503, 504];
const FIRST_WAIT = 0.05, LONGEST_WAIT = 30;  // seconds between tries
// Bundlers for browsers would look for a module that import() names with a literal.
const NODE_HTTP = "node:http";
const UNIX = "http+unix:", LOST = ["unknown_set", "set_changed"], PUTS = 3;
const MOST_CHANGES = 16;  // after so many, a set asks for its anchors, so as not to keep more

/**
 * The service, or a proxy in front of it, refused the request.
 *
 *     try { await client.evaluate(batch); } catch (error) { console.log(error.status, error.pointer); }
 */
export class FrictiondError extends Error {
	/**
	 * @param {number | null} status
	 * @param {string} title
	 * @param {string} detail
	 * @param {{pointer: string, detail: string}[]} [errors]
	 * @param {string | null} [requestId]
	 * @param {ErrorCode | null} [code]
	 */
	constructor(status, title, detail, errors = [], requestId = null, code = null) {
		const where = errors.map((error) => `${error.pointer}: ${error.detail}`).join("; ") || detail;
		super([status, title].filter(Boolean).join(" ") + ": " + where);
		this.name = new.target.name;
		/** The HTTP status; null if there was no answer. */
		this.status = status;
		/** The title of the status. */
		this.title = title;
		/** What is wrong. */
		this.detail = detail;
		/** The culprits: JSON Pointers into the request. */
		this.errors = errors;
		/**
		 * The pointer of the first culprit, or null.
		 * @type {string | null}
		 */
		this.pointer = errors[0]?.pointer ?? null;
		/** The request's id in the service's log, or null. */
		this.requestId = requestId;
		/** The kind of error, for programs; null if the answer has none. docs/troubleshooting.md explains each. */
		this.code = code;
	}
}

/** No answer in time; or, after all retries, no answer or still 503 (429, 502, 504). The request may succeed later. */
export class Unavailable extends FrictiondError {}

/** The reason of a failed connection, which node reports but browsers hide from pages. */
function hint(error) {
	if (!error.cause)
		return "; is it running, and does it allow this page (--allow-origin)?";
	return ["ECONNREFUSED", "ENOENT"].includes(error.cause.code) ? "; is it running?" : "";
}

export class Client {
	/**
	 * Options: token; retries (5) after 503, 429, 502, 504 and failed connections; timeout (300) in seconds for
	 * each try; frames (true), false: everything is JSON. In node, the URL may be that of a Unix-domain socket:
	 * http+unix:///run/frictiond/socket.
	 * @param {string} [url]
	 * @param {ClientOptions} [options]
	 */
	constructor(url = "http://127.0.0.1:8080", { token = null, retries = 5, timeout = 300, frames = true } = {}) {
		if (!["http:", "https:", UNIX].includes(new URL(url).protocol))
			throw new TypeError(`not a URL of a service: ${url}`);
		this.url = url.replace(/\/+$/, "");
		this.retries = retries;
		this.timeout = timeout;
		this.frames = frames;
		/** @type {Record<string, string>} */
		this.headers = { Accept: frames ? `${FRAME}, ${JSON_TYPE};q=0.5` : JSON_TYPE };
		if (token)
			this.headers.Authorization = "Bearer " + token;
	}

	/**
	 * POST /v1/evaluate: potential, gradient, Hessian and values per contact, as `outputs` selects.
	 *
	 *     (await client.evaluate({dim: 2, velocities: new Float64Array([0.5, 0]), friction: {eps_v: 1e-3, mu: 0.3},
	 *         collisions: {plane_vertex: {vertices: [0], plane_normal: [0, 1], normal_force: 10}}})).gradient  // 3, 0
	 * @template {Output} [O=DefaultOutput]
	 * @template {HessianFormat} [F="triplets"]
	 * @template {boolean} [P=true]
	 * @param {Batch & import("./types.mjs").Asked<O, F, P>} batch
	 * @param {Abortable} [options]
	 * @returns {Promise<import("./types.mjs").Evaluated<O, F, P>>}
	 */
	async evaluate(batch, { signal } = {}) {
		return arrays(await this.#post("/v1/evaluate", batch, signal));
	}

	/**
	 * POST /v1/contacts: the pairs of a mesh, or of candidates, that are close. `collisions` of the answer is what
	 * evaluate() takes.
	 *
	 *     (await client.contacts({ dim: 3, positions, distance: 1e-3, mesh: { faces } })).collisions
	 * @param {import("./openapi.mjs").ContactsRequest} request
	 * @param {Abortable} [options]
	 * @returns {Promise<import("./openapi.mjs").ContactsAnswer>}
	 */
	async contacts(request, { signal } = {}) {
		return arrays(await this.#post("/v1/contacts", request, signal));
	}

	/**
	 * POST /v1/check: how closely gradient and Hessian agree with central differences. `derivatives: true` compares
	 * the derivatives with respect to every field, too; the batch's `claims`, somebody else's results, are compared
	 * with the service's.
	 *
	 *     (await client.check(batch)).agrees
	 *     (await client.check({ ...batch, claims: { gradient } })).claims.looks_like
	 * @param {Batch & Claimed} batch
	 * @param {{derivatives?: boolean} & Abortable} [options]
	 * @returns {Promise<CheckAnswer>}
	 */
	async check(batch, { derivatives = false, signal } = {}) {
		return arrays(await this.#post("/v1/check" + compared(derivatives), batch, signal));
	}

	/**
	 * POST /v1/jvp: potential, gradient, and under `tangents` their derivatives along tangents. `batch`: as for
	 * evaluate() without outputs and their options.
	 *
	 *     (await client.jvp(batch, { "/friction/mu": 1 })).tangents.gradient
	 * @param {Motion} batch
	 * @param {Tangents} tangents
	 * @param {Abortable} [options]
	 * @returns {Promise<JvpAnswer>}
	 */
	async jvp(batch, tangents, { signal } = {}) {
		return arrays(await this.#post("/v1/jvp", { ...batch, tangents }, signal));
	}

	/**
	 * POST /v1/vjp: potential, gradient, and under `cotangents` the derivatives of the sum of answers times cotangents
	 * with respect to every number of the fields named by `wrt`, a list of JSON Pointers.
	 *
	 *     (await client.vjp(batch, { potential: 1 }, ["/positions"])).cotangents["/positions"]
	 * @template {FieldPointer} W
	 * @param {Motion} batch
	 * @param {Cotangents} cotangents
	 * @param {readonly W[]} wrt
	 * @param {Abortable} [options]
	 * @returns {Promise<import("./types.mjs").Pulled<W>>}
	 */
	async vjp(batch, cotangents, wrt, { signal } = {}) {
		return arrays(await this.#post("/v1/vjp", { ...batch, cotangents, wrt }, signal));
	}

	/**
	 * Stores the contacts in the service, as a CollisionSet. Options: name, by default a random one.
	 * `batch` has the fields of evaluate() without velocities, outputs and their options. It needs n_vertices unless
	 * another field has a row per vertex.
	 * @param {CollisionSetDocument | MeshSet} batch
	 * @param {{name?: string} & Abortable} [options]
	 */
	async set(batch, { name = freeName(), signal } = {}) {
		const set = new CollisionSet(name, (...request) => this.#send(...request), this.frames);
		await set.put(batch, { signal });
		return set;
	}

	/**
	 * Calls use(contacts) with a set, deletes the set afterwards, and returns the result of `use`.
	 * @template T
	 * @param {CollisionSetDocument | MeshSet} batch
	 * @param {(contacts: CollisionSet) => T | Promise<T>} use
	 * @param {{name?: string} & Abortable} [options]
	 * @returns {Promise<T>}
	 */
	async withSet(batch, use, options) {
		const contacts = await this.set(batch, options);
		try {
			return await use(contacts);
		} finally {
			await contacts.close().catch(() => {});  // the service forgets it in time
		}
	}

	/**
	 * A scalar function of the friction law at many points: shape [n], or [n, 2] where a value is a pair.
	 *
	 *     await client.function("smooth_mu", {y: new Float64Array([0, 5e-4]), mu_s: 1, mu_k: 0.1, eps_v: 1e-3})
	 * @template {FunctionName} N
	 * @param {N} name
	 * @param {import("./openapi.mjs").FunctionCalls[N]} parameters
	 * @param {Abortable} [options]
	 * @returns {Promise<Doubles>}
	 */
	async function(name, parameters, { signal } = {}) {
		return arrays(await this.#post("/v1/functions/" + encodeURIComponent(name), parameters, signal)).values;
	}

	/**
	 * Several scalar functions in one request: an object of their values, by name.
	 *
	 *     const {smooth_mu, smooth_mu_f1} = await client.functionValues({smooth_mu: law, smooth_mu_f1: law})
	 * @template {Partial<import("./openapi.mjs").FunctionCalls>} C
	 * @param {C} calls
	 * @param {Abortable} [options]
	 * @returns {Promise<{[N in keyof C]: Doubles}>}
	 */
	async functionValues(calls, { signal } = {}) {
		const answers = arrays((await this.#post("/v1/functions", { functions: calls }, signal)).functions);
		return Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, answer.values]));
	}

	/**
	 * The scalar functions.
	 * @param {Abortable} [options]
	 * @returns {Promise<import("./openapi.mjs").FunctionDescription[]>}
	 */
	async functions({ signal } = {}) {
		return (await this.#ask("GET", "/v1/functions", undefined, undefined, signal)).functions;
	}

	/**
	 * The caller's collision sets in the service, and their memory.
	 * @param {Abortable} [options]
	 * @returns {Promise<import("./openapi.mjs").CollisionSetList>}
	 */
	async sets({ signal } = {}) {
		return this.#ask("GET", "/v1/sets", undefined, undefined, signal);
	}

	/**
	 * The version, the limits and the threads of the service.
	 * @param {Abortable} [options]
	 * @returns {Promise<import("./openapi.mjs").Info>}
	 */
	async info({ signal } = {}) {
		return this.#ask("GET", "/v1/info", undefined, undefined, signal);
	}

	/**
	 * Sends a request to any route, with the token, retries and timeout of the client.
	 *
	 *     const { document } = await client.request("GET /v1/sets/{name}", { path: { name: "run-17" } });
	 *     const { headers } = await client.request("HEAD /v1/sets/{name}", { path: { name: "run-17" } });
	 *     (await client.request("GET /metrics")).document    // text
	 * @template {Route} R
	 * @param {R} route
	 * @param {import("./types.mjs").RouteArguments<R>} options
	 * @returns {Promise<import("./types.mjs").RouteAnswer<R>>}
	 */
	async request(route, ...options) {
		const { path = {}, query = {}, body, headers = {}, signal } = options[0] ?? {};
		const [method, template] = route.split(" "), ours = template.startsWith("/v1/");
		const type = method === "PATCH" ? PATCH_TYPE : JSON_TYPE;
		const content = body === undefined ? [undefined, undefined] : encode(body, ours && this.frames, type);
		const found = await this.#send(method, filled(template, path) + search(query), ...content, signal,
			{ ...!ours && { Accept: "*/*" }, ...headers });
		return { ...found, document: ours ? arrays(found.document) : found.document };
	}

	/**
	 * Waits between two tries; a program may replace it.
	 * @param {number} seconds
	 * @returns {Promise<void>}
	 */
	async wait(seconds) {
		return new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
	}

	#post(path, batch, signal) {
		return this.#ask("POST", path, ...encode(batch, this.frames), signal);
	}

	async #ask(method, path, body, contentType, signal) {
		return (await this.#send(method, path, body, contentType, signal)).document;
	}

	/** The document of the answer, its status and its headers. */
	async #send(method, path, body, contentType, signal, more = {}) {
		const headers = { ...this.headers, ...more };
		if (body !== undefined)
			headers["Content-Type"] = contentType;
		for (let attempt = 0; ; attempt++) {
			let failure, wait = 0;
			try {
				const { response, data } = await this.#exchange(method, path, body, headers, signal);
				if (!REPEATED.includes(response.status))
					return { status: response.status, headers: response.headers,
						document: documentOf(method, path, response, data) };
				failure = problemOf(response, data);
				wait = Number(/^\d{1,8}$/.exec(response.headers.get("Retry-After")) ?? 0);
			} catch (error) {
				if (signal?.aborted || error instanceof FrictiondError)
					throw error;
				if (error.name === "AbortError")
					throw new Unavailable(null, "No answer", `${this.url}: nothing within ${this.timeout} s`);
				const reason = error.cause?.message || error.cause?.code || error.message;
				failure = new Unavailable(null, "No connection", `${this.url}: ${reason}${hint(error)}`);
			}
			if (attempt >= this.retries)
				throw failure;
			const pause = Math.max(wait, FIRST_WAIT * 2 ** attempt) * (1 + Math.random() / 4);
			await this.wait(Math.min(pause, LONGEST_WAIT));
			signal?.throwIfAborted();
		}
	}

	async #exchange(method, path, body, headers, signal) {
		signal?.throwIfAborted();
		const controller = new AbortController(), abort = () => controller.abort(signal.reason);
		const timer = setTimeout(() => controller.abort(), 1000 * this.timeout);
		signal?.addEventListener("abort", abort);
		try {
			if (this.url.startsWith(UNIX))
				return await this.#exchangeUnix(method, path, body, headers, controller.signal);
			const response = await fetch(this.url + path, { method, body, headers, signal: controller.signal });
			return { response, data: await response.arrayBuffer() };
		} finally {
			clearTimeout(timer);
			signal?.removeEventListener("abort", abort);
		}
	}

	/** fetch does not support Unix-domain sockets. */
	async #exchangeUnix(method, path, body, headers, signal) {
		const http = await import(/* webpackIgnore: true */ /* @vite-ignore */ NODE_HTTP);
		this.agent ??= new http.Agent({ keepAlive: true });
		const socketPath = this.url.slice(UNIX.length + 2);
		if (body !== undefined)
			headers = { ...headers, "Content-Length": Buffer.byteLength(body) };
		return new Promise((resolve, reject) => {
			const fail = (cause) => reject(cause.name === "AbortError" ? cause : new TypeError("no answer", { cause }));
			http.request({ socketPath, agent: this.agent, method, path, headers, signal }, (message) => {
				const parts = [], get = (name) => message.headers[name.toLowerCase()] ?? null;
				const response = { status: message.statusCode, statusText: message.statusMessage, headers: { get } };
				message.on("data", (part) => parts.push(part)).on("error", fail).on("end", () =>
					resolve({ response, data: Uint8Array.from(Buffer.concat(parts)) }));
			}).on("error", fail).end(body);
		});
	}
}

/**
 * Contacts that the service has prepared; made by client.set or client.withSet:
 *
 *     await client.withSet(batch, async (contacts) => {
 *         for (const velocities of steps)
 *             gradients.push((await contacts.evaluate(velocities, { outputs: ["gradient"] })).gradient);
 *         await contacts.patch({ positions });  // lagged again
 *     });
 *
 * The service may forget a set, and another program may replace one of the same name. The object keeps a copy of the
 * contacts and sends it again when needed. If the runtime supports it, `await using contacts = await client.set(batch)`
 * deletes the set at the end of the block.
 */
export class CollisionSet {
	/* The set is what #changes, [method, action, fields] in turn, make of #base; #document is without their anchors. */
	#send; #frames; #document; #base; #version; #changes = []; #turns = Promise.resolve();

	/**
	 * Client.set calls this.
	 * @param {string} name
	 * @param {(...request: any[]) => Promise<any>} send
	 * @param {boolean} frames
	 */
	constructor(name, send, frames) {
		this.name = name;
		this.path = "/v1/sets/" + encodeURIComponent(name);
		this.#send = send;
		this.#frames = frames;
	}

	/**
	 * The version of the set in the service's last answer.
	 * @returns {string}
	 */
	get version() {
		return this.#version;
	}

	/**
	 * The answer of Client.evaluate for the set with these velocities (null where there are no vertices).
	 * @template {Output} [O=DefaultOutput]
	 * @template {HessianFormat} [F="triplets"]
	 * @template {boolean} [P=true]
	 * @param {Matrix | null} velocities  [n_vertices, dim]
	 * @param {Query & import("./types.mjs").Asked<O, F, P>} [query]
	 * @param {Abortable} [options]
	 * @returns {Promise<import("./types.mjs").Evaluated<O, F, P>>}
	 */
	async evaluate(velocities, query = {}, { signal } = {}) {
		return arrays(await this.#ask("POST", "/evaluate", asked(velocities, query), signal));
	}

	/**
	 * The answer of Client.check.
	 * @param {Matrix | null} velocities  [n_vertices, dim]
	 * @param {Query & Claimed} [query]
	 * @param {{derivatives?: boolean} & Abortable} [options]
	 * @returns {Promise<CheckAnswer>}
	 */
	async check(velocities, query = {}, { derivatives = false, signal } = {}) {
		return arrays(await this.#ask("POST", "/check" + compared(derivatives), asked(velocities, query), signal));
	}

	/**
	 * The answer of Client.jvp for the set with these velocities, along tangents of fields of the set or of the query.
	 * @param {Matrix | null} velocities  [n_vertices, dim]
	 * @param {Tangents} tangents
	 * @param {MotionQuery} [query]
	 * @param {Abortable} [options]
	 * @returns {Promise<JvpAnswer>}
	 */
	async jvp(velocities, tangents, query = {}, { signal } = {}) {
		return arrays(await this.#ask("POST", "/jvp", { ...asked(velocities, query), tangents }, signal));
	}

	/**
	 * The answer of Client.vjp for the set with these velocities, with respect to fields of the set or of the query.
	 * @template {FieldPointer} W
	 * @param {Matrix | null} velocities  [n_vertices, dim]
	 * @param {Cotangents} cotangents
	 * @param {readonly W[]} wrt
	 * @param {MotionQuery} [query]
	 * @param {Abortable} [options]
	 * @returns {Promise<import("./types.mjs").Pulled<W>>}
	 */
	async vjp(velocities, cotangents, wrt, query = {}, { signal } = {}) {
		return arrays(await this.#ask("POST", "/vjp", { ...asked(velocities, query), cotangents, wrt }, signal));
	}

	/**
	 * The Hessian without its values.
	 * @template {PatternFormat} [F="csr"]
	 * @param {import("./types.mjs").PatternOptions<F>} [options]
	 * @returns {Promise<import("./types.mjs").PatternIn<F>>}
	 */
	async pattern({ format, triangle = "full", signal } = {}) {
		const query = search({ format: format ?? "csr", triangle });
		return arrays(await this.#ask("GET", "/pattern" + query, undefined, signal));
	}

	/**
	 * GET /v1/sets/NAME: numbers of contacts, bytes, and when the set was last used.
	 * @param {Abortable} [options]
	 * @returns {Promise<CollisionSetDescription>}
	 */
	async info({ signal } = {}) {
		return this.#ask("GET", "", undefined, signal);
	}

	/**
	 * The contacts of a set from a mesh, at its positions, as Client.contacts returns them; merge: false: the set's list
	 * of pairs, with anchors.
	 *
	 *     (await set.contacts()).min_distance
	 * @param {{merge?: boolean} & Abortable} [options]
	 * @returns {Promise<import("./openapi.mjs").ContactsAnswer>}
	 */
	async contacts({ merge = true, signal } = {}) {
		return arrays(await this.#ask("GET", "/contacts" + search({ merge }), undefined, signal));
	}

	/**
	 * Replaces the whole set.
	 * @param {CollisionSetDocument | MeshSet} batch
	 * @param {Abortable} [options]
	 */
	async put(batch, { signal } = {}) {
		const document = copied(batch);
		await this.#inTurn(async () => {
			this.#version = await this.#change("PUT", "", document, signal);
			this.#keep(document, document, []);
		});
	}

	/**
	 * Replaces some fields (JSON Merge Patch: null removes one). If they are refused, the set does not change.
	 * @param {import("./openapi.mjs").CollisionSetPatch} fields
	 * @param {Abortable} [options]
	 */
	async patch(fields, { signal } = {}) {
		const change = ["PATCH", "", copied(fields)];
		await this.#inTurn(async () => {
			const document = merged(this.#document, change[2]);
			if (this.#changes.length)
				await this.#apply(change, document, this.#base, [...this.#changes, change], signal);
			else
				await this.#apply(change, document, document, [], signal);
		});
	}

	/**
	 * Ends a time step: the anchors of all contacts become those that they have at these velocities, and the positions
	 * are those with which the next step begins. All contacts must have an anchor. `next`: body_velocities and
	 * body_positions of a set with bodies; lagged_velocities and surface velocities for the next step. If the step is
	 * refused, the set does not change.
	 *
	 *     await set.advance(v, x.map((row, i) => row.map((a, k) => a + h * v[i][k])));
	 * @param {Matrix | null} velocities  [n_vertices, dim] at the end of the step
	 * @param {Matrix | null} positions  [n_vertices, dim]
	 * @param {NextStep} [next]
	 * @param {Abortable} [options]
	 */
	async advance(velocities, positions, next = {}, { signal } = {}) {
		const change = ["POST", "/advance", copied(asked(velocities, positions == null ? next : { ...next, positions }))];
		await this.#inTurn(async () => {
			const { velocities: _, body_velocities: __, ...fields } = change[2];
			let document = merged(this.#document, fields);
			if (this.#changes.length < MOST_CHANGES || "mesh" in document) {
				await this.#apply(change, document, this.#base, [...this.#changes, change], signal);
			} else {
				document = merged(document, { collisions: await this.#anchorsAt(change[2], signal) });
				await this.#apply(change, document, document, [], signal);
			}
			if (this.#changes.length > MOST_CHANGES)
				await this.#beginAtContacts(signal);
		});
	}

	/**
	 * Patches the anchors with those of an answer (outputs: collisions, collision_outputs: anchor), for the next step.
	 * ratio: this step's length divided by the next one's, if `velocities` are velocities. The next step must have the
	 * same contacts; otherwise match anchors yourself.
	 * @param {Pick<Answer, "collisions">} answer
	 * @param {number} [ratio]
	 * @param {Abortable} [options]
	 */
	async carry(answer, ratio = 1, options) {
		const groups = Object.entries(answer.collisions ?? {}).filter(([, { anchor }]) => anchor);
		if (!groups.length)
			throw new TypeError('the answer has no anchors: ask for { outputs: ["collisions"], collision_outputs: ["anchor"] }');
		const carried = ({ anchor }) => ({ anchor: Object.assign(anchor.map((x) => x * ratio), { shape: anchor.shape }) });
		await this.patch({ collisions: Object.fromEntries(groups.map(([name, group]) => [name, carried(group)])) }, options);
	}

	/** Deletes the set. A later evaluate() would PUT it again. */
	async close() {
		try {
			await this.#send("DELETE", this.path, undefined, undefined, undefined,
				{ "If-Collision-Set-Version": this.#version });
		} catch (error) {
			if (!LOST.includes(error.code))
				throw error;
		}
	}

	async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
		await this.close();
	}

	/** Makes changes one after the other, because one of two simultaneous changes would be lost. */
	#inTurn(change) {
		const done = this.#turns.then(change);
		this.#turns = done.catch(() => {});
		return done;
	}

	#keep(document, base, changes) {
		this.#document = document;
		this.#base = base;
		this.#changes = changes;
	}

	/** Makes a change. If the set is lost, sends all that leads to the same. */
	async #apply(change, document, base, changes, signal) {
		try {
			this.#version = await this.#change(...change, signal, this.#version);
		} catch (error) {
			if (!LOST.includes(error.code))
				throw error;
			await this.#restore(base, changes, signal);
		}
		this.#keep(document, base, changes);
	}

	async #restore(base, changes, signal) {
		let version = await this.#change("PUT", "", base, signal);
		for (const change of changes)
			version = await this.#change(...change, signal, version);
		this.#version = version;
	}

	/** Keeps the contacts of a mesh, with their anchors, in place of the changes that led to them. */
	async #beginAtContacts(signal) {
		const { collisions } = arrays(await this.#ask("GET", "/contacts?merge=false", undefined, signal, (change) => change()));
		const previous = { positions: this.#document.positions, collisions };
		this.#keep(this.#document, { ...this.#document, previous }, []);
	}

	async #anchorsAt({ velocities, body_velocities }, signal) {
		const query = { velocities, body_velocities, outputs: ["collisions"], collision_outputs: ["anchor"] };
		const { collisions } = arrays(await this.#ask("POST", "/evaluate", query, signal, (change) => change()));
		return Object.fromEntries(Object.entries(collisions).map(([name, { anchor }]) => [name, { anchor }]));
	}

	async #change(method, action, fields, signal, version) {
		const type = method === "PATCH" ? PATCH_TYPE : JSON_TYPE;
		const answer = await this.#send(method, this.path + action, ...encode(fields, this.#frames, type), signal,
			version ? { "If-Collision-Set-Version": version } : {});
		return answer.headers.get("Collision-Set-Version");
	}

	/** inTurn: how to restore a set that is lost; a change, whose turn it is, need not wait. */
	async #ask(method, action, query, signal, inTurn = (change) => this.#inTurn(change)) {
		const content = query ? encode(query, this.#frames) : [undefined, undefined];
		for (let puts = 0; ; puts++) {
			const version = this.#version;
			try {
				return (await this.#send(method, this.path + action, ...content, signal,
					{ "If-Collision-Set-Version": version })).document;
			} catch (error) {
				if (!LOST.includes(error.code) || puts === PUTS)
					throw error;
				await inTurn(() => version === this.#version && this.#restore(this.#base, this.#changes, signal));
			}
		}
	}
}

/** A path with its parameters in place: /v1/sets/{name}. */
function filled(template, parameters) {
	return template.replace(/\{(\w+)\}/g, (_, name) => {
		if (parameters[name] === undefined)
			throw new TypeError(`${template} needs path: { ${name} }`);
		return encodeURIComponent(parameters[name]);
	});
}

/** A query with its question mark; lists are separated by commas. */
function search(parameters) {
	const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
	const text = (value) => ArrayBuffer.isView(value) || Array.isArray(value) ? Array.from(value).join(",") : String(value);
	return given.length ? "?" + new URLSearchParams(given.map(([name, value]) => [name, text(value)])) : "";
}

function compared(derivatives) {
	return derivatives ? "?derivatives=true" : "";
}

function asked(velocities, query) {
	return velocities == null ? query : { ...query, velocities };
}

function freeName() {
	const random = () => Math.random().toString(36).slice(2, 10);
	return globalThis.crypto?.randomUUID?.() ?? [Date.now().toString(36), random(), random()].join("-");
}

/** A copy of a document, with copies of its arrays. */
function copied(value) {
	if (ArrayBuffer.isView(value) && value.slice)
		return Object.assign(value.slice(), value.shape && { shape: value.shape });
	if (Array.isArray(value))
		return value.map(copied);
	return isObject(value) ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, copied(v)])) : value;
}

/** RFC 7396. */
function merged(target, patch) {
	if (!isObject(patch))
		return patch;
	const result = isObject(target) ? { ...target } : {};
	for (const [name, value] of Object.entries(patch)) {
		if (value === null)
			delete result[name];
		else if (value !== undefined)
			result[name] = merged(result[name], value);
	}
	return result;
}

/** The body and its type: a frame if there are typed arrays in it. */
function encode(fields, frames, type = JSON_TYPE) {
	const { document, tail } = split(fields, frames);
	return tail.length ? [join(document, tail), FRAME] : [JSON.stringify(document), type];
}

/**
 * A document as a frame: its typed arrays in binary, everything else as text.
 * @param {Record<string, any>} document
 * @returns {Uint8Array}
 */
export function encodeFrame(document) {
	const parts = split(document, true);
	return join(parts.document, parts.tail);
}

/**
 * The document of a frame. Its arrays are views of the bytes, flat, with a property `shape`. Throws RangeError or
 * SyntaxError if the bytes are not a frame.
 * @param {ArrayBuffer | Uint8Array} data
 * @returns {Record<string, any>}
 */
export function decodeFrame(data) {
	let bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : data;
	if (bytes.byteOffset % 8)
		bytes = bytes.slice();
	const length = bytes.length < 8 ? -1n : new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
	if (length < 0n || length > BigInt(bytes.length - 8) || (length + 8n) % 64n)
		throw new RangeError("not a frame: wrong length");
	const start = 8 + Number(length);
	const document = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(8, start)),
		(_, value) => isObject(value) && "dtype" in value ? view(bytes, start, value) : value);
	if (!isObject(document))
		throw new RangeError("not a frame: the document is not an object");
	return document;
}

function view(bytes, start, reference) {
	const { dtype, shape, offset } = reference, kind = Object.hasOwn(DTYPES, dtype) && DTYPES[dtype];
	const isCount = (n) => Number.isSafeInteger(n) && n >= 0;
	if (Object.keys(reference).length !== 3 || !kind || !Array.isArray(shape) || ![offset, ...shape].every(isCount)
		|| offset % 8)
		throw new RangeError(`not a frame: bad reference ${JSON.stringify(reference)}`);
	const count = shape.reduce((product, n) => product * n, 1);
	if (start + offset + count * kind.BYTES_PER_ELEMENT > bytes.length)
		throw new RangeError(`not a frame: ${JSON.stringify(reference)} leaves the tail`);
	return Object.assign(new kind(bytes.buffer, bytes.byteOffset + start + offset, count), { shape });
}

/** The document with references (or, without frames, lists) in place of typed arrays, and the tail with the arrays. */
function split(document, frames) {
	const tail = [];
	let end = 0;
	function convert(value) {
		if (Array.isArray(value))
			return value.some((entry) => typeof entry === "object") ? value.map(plain) : value;
		if (!ArrayBuffer.isView(value))
			return isObject(value) ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, convert(v)])) : value;
		const array = SMALL.some((kind) => value instanceof kind) ? Int32Array.from(value) : value;
		const dtype = Object.keys(DTYPES).find((name) => array instanceof DTYPES[name]);
		if (!dtype)
			throw new TypeError(`a ${value.constructor.name} does not go into a batch`);
		if (!frames || !array.length)
			return plain(array);
		const offset = Math.ceil(end / 64) * 64;  // 8 is required; 64 is a cache line
		tail.push({ offset, array });
		end = offset + array.byteLength;
		return { dtype, shape: value.shape ?? [array.length], offset };
	}
	return { document: convert(document), tail };
}

function plain(value) {
	return ArrayBuffer.isView(value) ? Array.from(value, Number) : Array.isArray(value) ? value.map(plain) : value;
}

function join(document, tail) {
	const text = new TextEncoder().encode(JSON.stringify(document));
	const start = Math.ceil((8 + text.length) / 64) * 64, last = tail.at(-1);
	const bytes = new Uint8Array(start + (last ? last.offset + last.array.byteLength : 0)).fill(32, 8, start);
	new DataView(bytes.buffer).setBigUint64(0, BigInt(start - 8), true);
	bytes.set(text, 8);
	for (const { offset, array } of tail)
		bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), start + offset);
	return bytes;
}

/** An answer with its lists of numbers as typed arrays. */
function arrays(value, key = "") {
	if (isObject(value))
		return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, arrays(member, name)]));
	if (!Array.isArray(value) || LISTS.includes(key))
		return value;
	const shape = [];
	for (let entry = value; Array.isArray(entry); entry = entry[0])
		shape.push(entry.length);
	const numbers = value.flat(Infinity);
	if (!numbers.every((number) => typeof number === "number"))
		return value;
	return Object.assign((INDICES.includes(key) ? Int32Array : Float64Array).from(numbers), { shape });
}

function isObject(value) {
	return typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

function documentOf(method, path, response, data) {
	if (![200, 201, 204].includes(response.status))
		throw problemOf(response, data);
	if (response.status === 204 || method === "HEAD")
		return null;
	try {
		const type = (response.headers.get("Content-Type") ?? "").split(";")[0];
		if (type === FRAME)
			return decodeFrame(data);
		const text = new TextDecoder().decode(data);
		return type.startsWith("text/") && !path.startsWith("/v1/") ? text : JSON.parse(text);
	} catch (error) {
		throw new FrictiondError(response.status, "Not an answer of frictiond", error.message);
	}
}

function problemOf(response, data) {
	const kind = REPEATED.includes(response.status) ? Unavailable : FrictiondError;
	const text = new TextDecoder().decode(data), id = response.headers.get("X-Request-Id");
	try {
		const { title, detail, errors = [], code = null, error } = JSON.parse(text);
		if (title && detail)
			return new kind(response.status, title, detail, errors, id, code);
		if (error?.type && error.message)  // of a UM-Bridge route
			return new kind(response.status, error.type, error.message, [], id);
	} catch {
		// A proxy's page.
	}
	return new kind(response.status, response.statusText, text.slice(0, 200), [], id);
}
