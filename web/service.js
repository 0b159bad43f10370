/* Talks to the service: one origin, relative paths, so that a proxy may serve it all below a prefix. */

export class Problem extends Error {
	constructor(status, body) {
		super(body.detail || body.title || `The service answered with status ${status}.`);
		this.status = status;
		this.pointer = body.errors?.[0]?.pointer ?? "";
	}
}

/* A newer request has taken the place of one that was waiting to be repeated. */
class Superseded extends Error {}

const PATIENCE_MS = 30000;
const PASSING = [429, 502, 503, 504]; /* some of them from proxies */
const troubles = new Set();
let token = "";
let asked = null; /* while a token is asked for: {promise, resolve} */
let askForToken = () => {};
let showTrouble = () => {};

export function listen(handlers) {
	({askForToken, showTrouble} = handlers);
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

/* One word for all requests that ask at once. */
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

function trouble(key, text) {
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

/* Seconds until the next try: what the service asks for, else growing. */
function delay(response, n) {
	const wished = Number(response?.headers.get("Retry-After"));
	return 1000 * (wished > 0 ? Math.min(wished, 5) : Math.min(0.25 * 2 ** n, 4));
}

/**
 * Gives {text, json} of an answer with status 200, or throws a Problem. A service that cannot be reached, or is busy, is
 * asked again until it answers or until signal is raised.
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
				trouble(key, "The service does not answer. Trying again …");
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

/* Keeps what is shown up to date: runs one piece of work at a time, and after it once more if something has changed. So an
 * old answer never replaces a newer one, and a slider that moves fast asks no more often than the service answers. */
export class Latest {
	constructor(work, report) {
		this.work = work;
		this.report = report;
		this.wanted = this.done = 0;
		this.running = false;
	}

	update() {
		this.wanted++;
		this.controller?.abort();
		if (!this.running) this.run();
	}

	async run() {
		this.running = true;
		while (this.done !== this.wanted) {
			this.done = this.wanted;
			this.controller = new AbortController();
			try {
				await this.work(this.controller.signal);
				this.report(null);
			} catch (error) {
				if (!(error instanceof Superseded)) this.report(error);
			}
		}
		this.running = false;
	}
}

/* Shows in words what went wrong with the numbers of a section. */
export function reporter(section) {
	const place = section.querySelector(".fault");
	return (error) => {
		section.classList.toggle("old", error !== null);
		place.hidden = error === null;
		if (error === null) place.textContent = "";
		else if (error instanceof Problem)
			place.textContent =
				`The service refused (${error.status}): ${error.message}` +
				(error.pointer ? ` — at ${error.pointer}` : "");
		else place.textContent = String(error);
	};
}
