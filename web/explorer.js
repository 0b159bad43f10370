/* The frame around the views: it shows the one that the address names, keeps its settings in the address, undoes changes
 * of settings, and offers copies.
 *
 * A view is a module that is loaded when it is first shown. It exports
 *   title                  for the title of the page
 *   mount(root, context)   fills root, an empty element in <main> that is hidden while another view is shown. Returns, or
 *                          promises, the view, an object with
 *     state()              its settings as plain JSON without those that have their initial values; no results
 *     restore(state)       sets all of them; {} is a fresh view. Ignores members that it does not know or cannot use
 *     show(), hide()       optional: called when it becomes visible and when another view replaces it
 *     requests()           optional: [{path, body}], the requests behind what is shown; body is JSON text. For copies
 *                          as curl and Python
 *     pictures()           optional: the <svg> or <canvas> elements to save; without it, all <svg> in root that are visible
 *     table()              optional: {columns: [text ..], rows: [[number or text ..] ..]} to save as CSV
 *     data()               optional: what to save as JSON; without it, the settings, requests and table
 * context offers
 *   changed()              call it after each change of settings by the user: it updates the address and what Undo does
 *                          once there has been no further change for a moment
 *   go(name, state)        shows another view, with these settings
 *   load(file)             promises a module, which is loaded again and again while the service cannot be reached
 *   service                the module service.js: request() and functions() contact the service, with retries and the
 *                          token; Latest keeps results up to date; Freshness shows whether they are
 */
import {decode, encode, fragment, LONGEST, parse} from "./link.js";
import * as service from "./service.js";

const VIEWS = {start: "start.js", laws: "laws.js", batch: "batch.js", motion: "motion.js", fit: "fit.js"};
const OLD = {"#law": "laws", "#ellipse": "laws", "#incline": "laws"}; /* fragments of the page when it had one view */
const SETTLED_MS = 400;
const TOLD_MS = 4000;
const RETRY_MS = 1000;

const byId = (id) => document.getElementById(id);
const shown = {name: null, view: null};
const views = {}; /* by name: {root, title, view, undo, redo, last} */
let visits = 0;

/* ---- views ---- */

/* Loads a module; while the service cannot be reached, again and again. Some browsers remember that an address has failed,
 * hence the query. */
async function load(file) {
	for (let n = 0; ; n++) {
		try {
			const module = await import(`./${file}${n ? `?again=${n}` : ""}`);
			service.trouble(file, "");
			return module;
		} catch {
			service.trouble(file, "The service does not respond. Trying again …");
			await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
		}
	}
}

async function open(name) {
	if (views[name]) return views[name];
	const module = await load(VIEWS[name]);
	if (views[name]) return views[name];
	const root = document.createElement("div");
	root.className = `view ${name}`;
	byId("main").append(root);
	const entry = {root, title: module.title, undo: [], redo: []};
	views[name] = entry;
	entry.ready = Promise.resolve(module.mount(root, contextOf(name))).then((view) => {
		entry.view = view;
		entry.last = JSON.stringify(view.state());
	});
	return entry;
}

function contextOf(name) {
	return {
		service,
		changed: () => later(name),
		go: (to, state) => show(to, state, true),
		load,
	};
}

/* Shows a view; state: its settings, or null to leave it as it is. */
async function show(name, state, isNew) {
	const visit = ++visits;
	byId("main").setAttribute("aria-busy", "true");
	const entry = await open(name);
	if (visit !== visits) return;
	for (const other of Object.values(views)) other.root.hidden = other !== entry;
	for (const link of document.querySelectorAll("[data-view]"))
		if (link.dataset.view === name) link.setAttribute("aria-current", "page");
		else link.removeAttribute("aria-current");
	document.title = `${entry.title} · frictiond explorer`;
	await entry.ready;
	if (visit !== visits) return;
	if (shown.view && shown.view !== entry.view) shown.view.hide?.();
	const isOther = shown.view !== entry.view;
	Object.assign(shown, {name, view: entry.view});
	if (state) {
		entry.view.restore(state);
		remember(entry);
	}
	if (isOther) entry.view.show?.();
	tellUndo();
	await writeAddress(isNew);
	service.hurry();
}

/* ---- the address ---- */

async function writeAddress(isNew = false) {
	const {name, view} = shown;
	const text = await encode(view.state());
	if (shown.view !== view) return;
	const hash = fragment(name, text.length > LONGEST ? "" : text);
	if (hash === location.hash) return;
	if (isNew) history.pushState(null, "", hash);
	else history.replaceState(null, "", hash);
}

async function readAddress() {
	const {hash} = location;
	const found = parse(hash);
	if (!found && OLD[hash]) {
		await show(OLD[hash], null, false);
		document.querySelector(hash)?.scrollIntoView();
		return;
	}
	if (!found && shown.view) return; /* a link within the view */
	const name = found && Object.hasOwn(VIEWS, found.view) ? found.view : "start";
	let state = null;
	try {
		if (found?.text) state = await decode(found.text);
	} catch {
		tell("The link is damaged: the view shows its initial settings.");
		state = {};
	}
	await show(name, state, false);
}

/* ---- undo ---- */

let timer = null;

/* Notes a change of settings once it has settled: a drag of a slider is undone in one step. */
function later(name) {
	if (name !== shown.name) return;
	clearTimeout(timer);
	timer = setTimeout(() => {
		timer = null;
		remember(views[name]);
		writeAddress();
	}, SETTLED_MS);
}

function remember(entry) {
	const now = JSON.stringify(entry.view.state());
	if (now === entry.last) return;
	entry.undo.push(entry.last);
	entry.redo = [];
	entry.last = now;
	tellUndo();
}

function step(from, to) {
	const entry = views[shown.name];
	if (!entry?.view) return;
	clearTimeout(timer);
	remember(entry);
	if (entry[from].length === 0) return;
	entry[to].push(entry.last);
	entry.last = entry[from].pop();
	entry.view.restore(JSON.parse(entry.last));
	tellUndo();
	writeAddress();
	service.hurry();
}

function tellUndo() {
	const {undo = [], redo = []} = views[shown.name] ?? {};
	byId("undo").disabled = undo.length === 0;
	byId("redo").disabled = redo.length === 0;
}

const TYPED = "input[type=text], input[type=number], input[type=password], textarea, [contenteditable]";

byId("undo").addEventListener("click", () => step("undo", "redo"));
byId("redo").addEventListener("click", () => step("redo", "undo"));
addEventListener("keydown", (event) => {
	const key = event.key.toLowerCase();
	if (!(event.ctrlKey || event.metaKey) || event.altKey || event.target.closest?.(TYPED)) return;
	if (key !== "z" && key !== "y") return;
	event.preventDefault();
	if (key === "y" || event.shiftKey) step("redo", "undo");
	else step("undo", "redo");
});

/* ---- copies ---- */

let toldTimer = null;

function tell(text) {
	byId("told").textContent = text;
	clearTimeout(toldTimer);
	toldTimer = setTimeout(() => {
		byId("told").textContent = "";
	}, TOLD_MS);
}

document.querySelector("footer").addEventListener("click", async ({target}) => {
	const button = target.closest("button");
	if (!button || !shown.view || !(button.dataset.copy || button.dataset.save || button.id === "save-settings")) return;
	const entry = views[shown.name];
	await writeAddress();
	const {copyAs, saveAs} = await load("take.js");
	const what = {name: shown.name, root: entry.root, view: shown.view};
	tell(
		await (button.dataset.copy ? copyAs(button.dataset.copy, what) : saveAs(button.dataset.save ?? "settings", what)),
	);
});
byId("open-settings").addEventListener("change", async ({target}) => {
	const [file] = target.files;
	target.value = "";
	if (!file) return;
	try {
		const {version, view, state} = JSON.parse(await file.text());
		if (version !== 1 || !Object.hasOwn(VIEWS, view)) throw new Error("other file");
		await show(view, state, true);
	} catch {
		tell(`${file.name} does not contain settings of this page.`);
	}
});

/* ---- the service ---- */

service.listen({
	askForToken(wasWrong) {
		byId("token").hidden = false;
		byId("token-fault").textContent = wasWrong ? "The service does not accept this token." : "";
		byId("token-field").focus();
	},
	showTrouble(text) {
		byId("trouble").hidden = text === "";
		byId("trouble").textContent = text;
	},
	showBusy(isBusy) {
		byId("main").setAttribute("aria-busy", String(isBusy));
	},
});
byId("token").addEventListener("submit", (event) => {
	event.preventDefault();
	const field = byId("token-field"),
		token = field.value;
	field.value = "";
	if (token.trim() === "") return;
	byId("token").hidden = true;
	service.useToken(token);
});

document.querySelector(".skip").addEventListener("click", (event) => {
	event.preventDefault();
	byId("main").focus();
});
addEventListener("pointerup", service.hurry);
addEventListener("change", ({target}) => {
	if (!target.matches("[type=range], [type=number]")) service.hurry(); /* a key that is held changes these repeatedly */
});
addEventListener("hashchange", readAddress);
await readAddress();
service.request("v1/info").then(
	({json}) => {
		byId("version").textContent = `frictiond ${json.version}`;
	},
	() => {},
);
