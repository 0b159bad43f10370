/* Shows a request as a curl command, with a button that copies it, and its response. */
import {hasToken} from "./service.js";

const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

const LONGEST = 100000; /* characters of an argument of a command; Linux allows 131,071 */

export function curl(path, body) {
	const lines = [`curl -s ${quote(new URL(path, document.baseURI).href)}`, "-H 'Content-Type: application/json'"];
	if (hasToken()) lines.push('-H "Authorization: Bearer $TOKEN"');
	if (body.length <= LONGEST) lines.push(`-d ${quote(body)}`);
	else lines.push(`-d @- <<'END'\n${body}\nEND`);
	return lines.join(" \\\n  ");
}

const isFlat = (value) =>
	Array.isArray(value) &&
	value.every(
		(v) =>
			typeof v !== "object" ||
			v === null ||
			(Array.isArray(v) && v.length <= 2 && v.every((w) => typeof w === "number")),
	);

/* Prints one field per line; an array of numbers is one line of any length, which the page wraps. */
export function pretty(value, indent = "") {
	if (value === null || typeof value !== "object") return JSON.stringify(value);
	if (isFlat(value)) return `[${value.map((v) => JSON.stringify(v)).join(", ")}]`;
	const inner = `${indent}  `;
	const parts = Array.isArray(value)
		? value.map((v) => pretty(v, inner))
		: Object.entries(value).map(([name, v]) => `${JSON.stringify(name)}: ${pretty(v, inner)}`);
	const [open, close] = Array.isArray(value) ? "[]" : "{}";
	return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
}

/* The clipboard API exists only on secure origins; elsewhere execCommand copies text that is selected. */
export async function copyText(text) {
	if (navigator.clipboard) return navigator.clipboard.writeText(text);
	const field = Object.assign(document.createElement("textarea"), {value: text});
	document.body.append(field);
	field.select();
	const isDone = document.execCommand("copy");
	field.remove();
	if (!isDone) throw new Error("not copied");
}

export class Exchange {
	constructor(details, of) {
		this.request = this.block(details, `Request: ${of}`, "request");
		this.answer = this.block(details, `Answer: ${of}`, "answer");
		const button = document.createElement("button"),
			told = document.createElement("span");
		button.type = "button";
		button.textContent = "Copy";
		button.setAttribute("aria-label", `Copy the request: ${of}`);
		told.setAttribute("role", "status");
		button.addEventListener("click", async () => {
			told.textContent = await copyText(this.request.textContent).then(
				() => "Copied.",
				() => "Copying failed; select the text by hand.",
			);
			setTimeout(() => {
				told.textContent = "";
			}, 3000);
		});
		const bar = document.createElement("p");
		bar.append(button, " ", told);
		this.request.before(bar);
	}

	block(details, label, kind) {
		const pre = document.createElement("pre");
		pre.className = kind;
		pre.tabIndex = 0;
		pre.setAttribute("role", "group");
		pre.setAttribute("aria-label", label);
		details.append(pre);
		return pre;
	}

	show(path, body, answer) {
		this.shown = {path, body};
		this.request.textContent = curl(path, pretty(JSON.parse(body)));
		this.answer.textContent = pretty(answer);
	}
}
