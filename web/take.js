/* Copies and files of what a view shows. Loaded when first used. */
import {copyText, curl, pretty} from "./exchange.js";
import {encode, fragment, LONGEST} from "./link.js";
import {hasToken} from "./service.js";

/* what: {name, root, view}. All functions return what to tell the user. */
export async function copyAs(kind, {name, view}) {
	if (kind === "link") {
		const text = await encode(view.state());
		if (text.length > LONGEST)
			return `The settings take ${text.length} characters, too many for a link. Use Save settings, which writes a file.`;
		return copied(new URL(fragment(name, text), location.href).href, "The link");
	}
	const requests = view.requests?.() ?? [];
	if (requests.length === 0) return "There is no request to copy yet.";
	if (kind === "curl") return copied(requests.map(({path, body}) => curl(path, body)).join("\n\n"), "The command");
	return copied(python(requests), "The program");
}

async function copied(text, what) {
	try {
		await copyText(text);
		return `${what} has been copied.`;
	} catch {
		return "The browser did not allow copying.";
	}
}

/* ---- Python ---- */

function literal(value, indent = "") {
	if (value === null) return "None";
	if (typeof value === "boolean") return value ? "True" : "False";
	if (typeof value !== "object") return JSON.stringify(value);
	const isFlat = Array.isArray(value) && value.every((v) => typeof v !== "object");
	if (isFlat) return `[${value.map((v) => literal(v)).join(", ")}]`;
	const inner = `${indent}    `;
	const parts = Array.isArray(value)
		? value.map((v) => literal(v, inner))
		: Object.entries(value).map(([name, v]) => `${JSON.stringify(name)}: ${literal(v, inner)}`);
	const [open, close] = Array.isArray(value) ? "[]" : "{}";
	return `${open}\n${inner}${parts.join(`,\n${inner}`)},\n${indent}${close}`;
}

/* Needs no package. */
export function python(requests) {
	const base = new URL(".", document.baseURI).href;
	const head = ["import json", "import os", "import urllib.request", ""];
	const post = [
		`BASE = ${JSON.stringify(base)}`,
		"",
		"",
		"def post(path, body):",
		'    headers = {"Content-Type": "application/json"}',
		'    if "TOKEN" in os.environ:',
		'        headers["Authorization"] = "Bearer " + os.environ["TOKEN"]',
		"    request = urllib.request.Request(BASE + path, json.dumps(body).encode(), headers)",
		"    with urllib.request.urlopen(request) as answer:",
		"        return json.load(answer)",
		"",
		"",
	];
	const calls = requests.map(
		({path, body}) => `print(json.dumps(post(${JSON.stringify(path)}, ${literal(JSON.parse(body))})))`,
	);
	const note = hasToken() ? ["# The service requires a token: put it into the environment variable TOKEN."] : [];
	return [...note, ...head, ...post, ...calls, ""].join("\n");
}

/* ---- files ---- */

function save(name, content, type) {
	const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type}));
	const link = Object.assign(document.createElement("a"), {href: url, download: name});
	link.click();
	setTimeout(() => URL.revokeObjectURL(url), 60000);
	return `${name} has been saved.`;
}

const cell = (value) => (/[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value));

const csv = ({columns, rows}) => [columns, ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");

function dataOf(name, view) {
	if (view.data) return view.data();
	const requests = (view.requests?.() ?? []).map(({path, body}) => ({path, body: JSON.parse(body)}));
	return {view: name, state: view.state(), requests, table: view.table?.() ?? null};
}

const isVisible = (element) => element.getClientRects().length > 0;

export async function saveAs(kind, {name, root, view}) {
	const file = (extension) => `frictiond-${name}.${extension}`;
	if (kind === "settings")
		return save(
			file("settings.json"),
			`${pretty({version: 1, view: name, state: view.state()})}\n`,
			"application/json",
		);
	if (kind === "json") return save(file("json"), `${pretty(dataOf(name, view))}\n`, "application/json");
	if (kind === "csv") {
		const table = view.table?.();
		return table?.rows.length ? save(file("csv"), csv(table), "text/csv") : "There are no values to save yet.";
	}
	const pictures = (view.pictures?.() ?? [...root.querySelectorAll("svg")]).filter(isVisible);
	if (pictures.length === 0) return "There is no picture to save yet.";
	const {svgOf, pngOf} = await import("./picture.js");
	return kind === "svg"
		? save(file("svg"), svgOf(pictures), "image/svg+xml")
		: save(file("png"), await pngOf(pictures));
}
