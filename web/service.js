/* Requests to the service: same origin, and relative paths, so that a proxy may serve everything under a prefix. */

export class Problem extends Error {
	constructor(status, body) {
		super(body.detail || body.title || `The service returned status ${status}.`);
		this.status = status;
		this.errors = body.errors ?? [];
		this.code = body.code ?? "";
		this.pointer = this.errors[0]?.pointer ?? "";
	}

	words() {
		const place = this.pointer ? ` — at ${this.pointer}` : "";
		return `The service refused the request (${this.status}): ${this.message}${place}`;
	}

	/* For a place beside the field that caused it, which has a name of its own. */
	fieldWords() {
		return this.message.replace(/"[\w/]+" must/, "it must").replaceAll(">=", "≥").replaceAll("<=", "≤");
	}
}

/* Thrown when a newer request has replaced one that was waiting for a retry. */
class Superseded extends Error {}

const PATIENCE_MS = 30000;
const PASSING = [429, 502, 503, 504]; /* statuses worth a retry; proxies produce some of them */
const troubles = new Set();
let token = "";
let asked = null; /* while the page asks the user for a token: {promise, resolve} */
let askForToken = () => {};
let showTrouble = () => {};
let showBusy = () => {};

export function listen(handlers) {
	({askForToken, showTrouble, showBusy} = handlers);
}

export function hasToken() {
	return token !== "";
}

export function useToken(value) {
	token = value.trim();
	const waiting = asked;
	asked = null;
	waiting?.resolve();
}

/* All requests that need a token at the same time share one prompt. */
function newToken(refused) {
	if (refused !== token) return Promise.resolve();
	if (!asked) {
		asked = {};
		asked.promise = new Promise((resolve) => {
			asked.resolve = resolve;
		});
		askForToken(token !== "");
	}
	return asked.promise;
}

function sleep(milliseconds, signal) {
	return new Promise((resolve, reject) => {
		const timer = setTimeout(resolve, milliseconds);
		const leave = () => {
			clearTimeout(timer);
			reject(new Superseded());
		};
		if (signal?.aborted) leave();
		signal?.addEventListener("abort", leave, {once: true});
	});
}

/* Shows a trouble of one of the page's parts until it has none. */
export function trouble(key, text) {
	if (text) troubles.add(key);
	else troubles.delete(key);
	if (text || troubles.size === 0) showTrouble(text);
}

async function attempt(path, body) {
	const headers = {Accept: "application/json"};
	if (body !== undefined) headers["Content-Type"] = "application/json";
	if (token) headers.Authorization = `Bearer ${token}`;
	const response = await fetch(path, {
		method: body === undefined ? "GET" : "POST",
		headers,
		body,
		cache: "no-store",
		signal: AbortSignal.timeout?.(PATIENCE_MS),
	});
	return {response, text: await response.text()};
}

function parse(text) {
	try {
		return JSON.parse(text);
	} catch {
		return {};
	}
}

/* Milliseconds until the next try: as the service requests, at most 5 s, or else doubling up to 4 s. */
function delay(response, n) {
	const wished = Number(response?.headers.get("Retry-After"));
	return 1000 * (wished > 0 ? Math.min(wished, 5) : Math.min(0.25 * 2 ** n, 4));
}

/**
 * Returns {text, json} of a response with status 200, or throws a Problem. If the service is busy or cannot be reached,
 * retries until it responds or signal is aborted.
 */
export async function request(path, body, signal) {
	const key = {};
	try {
		for (let n = 0; ; n++) {
			const used = token;
			let got = null;
			try {
				got = await attempt(path, body);
			} catch {
				trouble(key, "The service does not respond. Trying again …");
			}
			if (got?.response.status === 401) {
				await newToken(used);
				continue;
			}
			if (got?.response.ok) return {text: got.text, json: JSON.parse(got.text)};
			if (got && !PASSING.includes(got.response.status)) throw new Problem(got.response.status, parse(got.text));
			if (got) trouble(key, "The service is busy. Trying again …");
			await sleep(delay(got?.response, n), signal);
		}
	} finally {
		trouble(key, "");
	}
}

/**
 * Values of several scalar functions, in one request. bodies: {NAME: body of v1/functions/NAME}; returns {NAME: answer}.
 */
export async function functions(bodies, signal) {
	const {json} = await request("v1/functions", JSON.stringify({functions: bodies}), signal);
	return json.functions;
}

/* A change lasts while settings keep changing, as in a drag: until the pointer is released, or until nothing has changed
 * for a moment. Results are computed meanwhile, too, as long as the requests for the change's end are left over. */
const PAUSE_MS = 90; /* without a change of settings, after which work begins */
const LONGEST_MS = 1000; /* until work begins while settings keep changing */
const SETTLED_MS = 400; /* without a change of settings, after which a change is over */
const MOST = 6; /* requests for a change */
const busy = new Set();
let spent = 0, /* requests for the present change */
	last = -Infinity; /* when settings changed */

/* Ends the present change. */
export function hurry() {
	last = -Infinity;
	for (const latest of busy) latest.begin();
	showBusy(busy.size > 0);
}

/* Begins waiting work, or leaves it until the change is over. */
function preview() {
	const waiting = [...busy].filter(({timer}) => timer !== null);
	const cost = waiting.reduce((sum, latest) => sum + latest.cost, 0);
	for (const latest of waiting)
		if (spent + 2 * cost <= MOST) latest.begin();
		else latest.wait();
}

/* Keeps the results up to date: runs work once at a time, and again if something has changed meanwhile. An old response
 * therefore never replaces a newer one. */
export class Latest {
	/* cost: requests that work usually sends */
	constructor(work, freshness, cost = 1) {
		Object.assign(this, {work, freshness, cost, wanted: 0, done: 0, running: false, timer: null, since: null});
	}

	update() {
		const now = performance.now();
		if (now > last + SETTLED_MS) spent = 0;
		last = now;
		this.wanted++;
		this.controller?.abort();
		this.since ??= now;
		clearTimeout(this.timer);
		this.timer = setTimeout(preview, Math.max(0, Math.min(PAUSE_MS, this.since + LONGEST_MS - now)));
		busy.delete(this);
		busy.add(this); /* last: work begins in the order of updates, as sections use each other's answers */
		showBusy(true);
	}

	wait() {
		this.freshness.expect("still changing");
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.begin(), last + SETTLED_MS - performance.now());
	}

	begin() {
		if (this.timer === null) return;
		clearTimeout(this.timer);
		this.timer = this.since = null;
		if (!this.running) this.run();
	}

	async run() {
		this.running = true;
		while (this.done !== this.wanted && this.timer === null) {
			this.done = this.wanted;
			spent += this.cost;
			this.controller = new AbortController();
			this.freshness.expect();
			try {
				await this.work(this.controller.signal);
				if (this.done === this.wanted) this.freshness.arrived();
			} catch (error) {
				if (!(error instanceof Superseded)) this.freshness.failed(error);
			}
		}
		this.running = false;
		if (this.timer !== null) return;
		busy.delete(this);
		showBusy(busy.size > 0);
	}
}

const OVERDUE_MS = 300; /* results are not marked as outdated if the response comes sooner */

/* Shows whether the results of a section match the current settings: they are faded while a response is overdue, for
 * whatever reason, and after an error, which is shown beside the field that caused it, or else in the section. */
export class Freshness {
	/* locate(error): the control whose value caused the error, an object with blame(section, text) and name; or
	 * undefined */
	constructor(section, locate = (error) => error.control) {
		Object.assign(this, {section, locate});
		this.fault = section.querySelector(".fault");
		this.stale = section.querySelector(".stale");
	}

	expect(why = "waiting for an answer") {
		this.why = why;
		this.timer ??= setTimeout(() => this.tell(this.why), OVERDUE_MS);
	}

	arrived() {
		this.blame(null, "");
		this.tell("");
	}

	failed(error) {
		const words = error.words?.() ?? String(error);
		const control = this.locate(error) ?? null;
		this.blame(control, error.fieldWords?.() ?? words);
		if (control) this.tell(`see ${control.name}`);
		else this.tell("refused", words);
	}

	blame(control, text) {
		if (this.blamed !== control) this.blamed?.blame(this, "");
		this.blamed = control;
		control?.blame(this, text);
	}

	tell(why, fault = "") {
		clearTimeout(this.timer);
		this.timer = null;
		this.section.classList.toggle("old", why !== "");
		this.stale.hidden = why === "";
		this.stale.textContent = why && `Not current: ${why}`;
		this.fault.hidden = fault === "";
		this.fault.textContent = fault;
	}
}
