/* The text of a batch: where a JSON Pointer leads in it, what to send, and frames as text. */

const BLANK = /[\s,:]*/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const SCALAR = /[^\s,:[\]{}"]+/y;

function match(pattern, text, at) {
	pattern.lastIndex = at;
	const found = pattern.exec(text);
	if (!found) throw new Error("not JSON");
	return pattern.lastIndex;
}

const skipBlank = (text, at) => match(BLANK, text, at);

/* The end of the value that begins at a place. Arrays and objects end with their bracket. */
function endOf(text, at) {
	if (text[at] === '"') return match(STRING, text, at);
	if (text[at] !== "[" && text[at] !== "{") return match(SCALAR, text, at);
	for (let depth = 0; at < text.length; at++) {
		const c = text.charCodeAt(at);
		if (c === 34) at = match(STRING, text, at) - 1;
		else if (c === 91 || c === 123) depth++;
		else if ((c === 93 || c === 125) && --depth === 0) return at + 1;
	}
	throw new Error("not closed");
}

/* The members of an object, or elements of an array, that begins at a place: {name, key, from, to}. */
export function* members(text, at) {
	const isObject = text[at] === "{";
	let next = skipBlank(text, at + 1);
	for (let i = 0; next < text.length && text[next] !== "]" && text[next] !== "}"; i++) {
		const key = next;
		let name = String(i);
		if (isObject) {
			const end = match(STRING, text, next);
			name = JSON.parse(text.slice(next, end));
			next = skipBlank(text, end);
		}
		const to = endOf(text, next);
		yield {name, key, from: next, to};
		next = skipBlank(text, to);
	}
}

const start = (text) => skipBlank(text, 0);

const parts = (pointer) =>
	pointer
		.split("/")
		.slice(1)
		.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

/* The part of the text that a pointer names: {from, to}. A member that is missing is represented by the beginning of the
 * object that lacks it. */
export function locate(text, pointer) {
	let from = start(text),
		to = text.length;
	try {
		for (const part of parts(pointer)) {
			let found = null;
			if (text[from] === "{" || text[from] === "[")
				for (const member of members(text, from))
					if (member.name === part) {
						found = member;
						break;
					}
			if (!found) return {from, to: from + 1};
			({from, to} = found);
		}
	} catch {
		return {from: 0, to: 0};
	}
	return pointer === "" ? {from, to: from + 1} : {from, to};
}

/* The number of the line of a place, from 1. */
export function lineOf(text, at) {
	let line = 1;
	for (let i = text.indexOf("\n"); i >= 0 && i < at; i = text.indexOf("\n", i + 1)) line++;
	return line;
}

export function placeOfLine(text, line, column = 1) {
	let at = 0;
	for (let i = 1; i < line; i++) {
		const next = text.indexOf("\n", at);
		if (next < 0) break;
		at = next + 1;
	}
	return Math.min(at + column - 1, text.length);
}

/* What to send: the text itself, which also asks for the given values per contact. Nothing else changes, so that faults
 * keep their lines and pointers. Large results that the view does not show are not requested. */
export function asking(text, names) {
	try {
		const root = start(text);
		if (text[root] !== "{") return text;
		const all = [...members(text, root)],
			find = (name) => all.find((member) => member.name === name);
		const outputs = find("outputs"),
			values = find("collision_outputs");
		const list = (member) => (member ? text.slice(member.from, member.to) : "");
		const isList = (member) => !member || list(member).startsWith("[");
		if (!isList(outputs) || !isList(values) || (values && !list(outputs).includes('"collisions"'))) return text;
		const more = (member, words) => {
			const kept = list(member).replace(/"(hessian|position_jacobian)"/g, '"potential"');
			const added = words.map((word) => `"${word}"`).join(",");
			return /^\[\s*\]$/.test(kept) ? `[${added}]` : kept.replace(/\s*\]$/, (end) => `,${added}${end}`);
		};
		const changes = [];
		if (outputs) changes.push([outputs.from, outputs.to, more(outputs, ["potential", "collisions"])]);
		if (values) changes.push([values.from, values.to, more(values, names)]);
		const end = all.length ? all.at(-1).to : root + 1;
		const added = [
			...(outputs ? [] : ['"outputs":["potential","collisions"]']),
			...(values ? [] : [`"collision_outputs":${JSON.stringify(names)}`]),
		];
		if (added.length) changes.push([end, end, (all.length ? "," : "") + added.join(",")]);
		changes.sort((a, b) => b[0] - a[0]);
		for (const [from, to, words] of changes) text = text.slice(0, from) + words + text.slice(to);
	} catch {
		/* the service says what is wrong */
	}
	return text;
}

/* ---- frames ---- */

const TYPES = {f64: Float64Array, f32: Float32Array, i32: Int32Array, u32: Uint32Array, i64: BigInt64Array};

function nested(numbers, shape) {
	if (shape.length < 2) return shape.length ? numbers : numbers[0];
	const size = shape.slice(1).reduce((a, b) => a * b, 1);
	return Array.from({length: shape[0]}, (_, i) => nested(numbers.slice(i * size, (i + 1) * size), shape.slice(1)));
}

/* The document of a frame, with its arrays in place of the references to them. Throws if it is none. */
export function readFrame(buffer) {
	const length = Number(new DataView(buffer).getBigUint64(0, true));
	if (length > buffer.byteLength - 8) throw new Error("not a frame");
	const head = new TextDecoder().decode(new Uint8Array(buffer, 8, length));
	return JSON.parse(head, (_, value) => {
		if (!value || !TYPES[value.dtype] || !Array.isArray(value.shape)) return value;
		const n = value.shape.reduce((a, b) => a * b, 1),
			Type = TYPES[value.dtype];
		const from = 8 + length + value.offset;
		return nested(Array.from(new Type(buffer.slice(from, from + n * Type.BYTES_PER_ELEMENT)), Number), value.shape);
	});
}

export const isFrame = (bytes) => bytes.length >= 8 && bytes[7] === 0;

/* JSON with a line for each row of numbers. */
export function print(value, indent = "") {
	if (value === null || typeof value !== "object") return JSON.stringify(value);
	const inner = `${indent}\t`;
	if (Array.isArray(value)) {
		if (value.every((v) => v === null || typeof v !== "object"))
			return `[${value.map((v) => JSON.stringify(v)).join(", ")}]`;
		return `[\n${value.map((v) => inner + print(v, inner)).join(",\n")}\n${indent}]`;
	}
	const entries = Object.entries(value).map(([name, v]) => `${inner}${JSON.stringify(name)}: ${print(v, inner)}`);
	return entries.length ? `{\n${entries.join(",\n")}\n${indent}}` : "{}";
}
