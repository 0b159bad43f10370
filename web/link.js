/* The address holds what a view shows: #v1/VIEW/STATE, where STATE is JSON, deflated and written in base64url. It never
 * holds the token, which no view knows. */

const VERSION = "v1";
export const LONGEST = 8192; /* characters of a state in an address; longer ones are saved as files */

async function through(stream, bytes) {
	const writer = stream.writable.getWriter();
	const done = writer.write(bytes).then(() => writer.close());
	const [result] = await Promise.all([new Response(stream.readable).arrayBuffer(), done]);
	return new Uint8Array(result);
}

function base64url(bytes) {
	let text = "";
	for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
	return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

const bytesOf = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

/* Returns "" for an empty state. */
export async function encode(state) {
	if (Object.keys(state).length === 0) return "";
	const bytes = new TextEncoder().encode(JSON.stringify(state));
	return base64url(await through(new CompressionStream("deflate-raw"), bytes));
}

/* Throws unless text is the result of encode(). */
export async function decode(text) {
	if (text === "") return {};
	const bytes = await through(new DecompressionStream("deflate-raw"), bytesOf(text));
	const state = JSON.parse(new TextDecoder().decode(bytes));
	if (typeof state !== "object" || state === null || Array.isArray(state)) throw new Error("not a state");
	return state;
}

export const fragment = (view, text) => `#${VERSION}/${view}${text && `/${text}`}`;

/* Returns {view, text}, or null for a fragment that names no view. */
export function parse(hash) {
	const [version, view, text = ""] = hash.replace(/^#/, "").split("/");
	return version === VERSION && view ? {view, text} : null;
}
