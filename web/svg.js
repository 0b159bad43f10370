/* SVG elements, and numbers formatted for people. */

const NAMESPACE = "http://www.w3.org/2000/svg";

export function add(parent, tag, attributes = {}, text = "") {
	const element = document.createElementNS(NAMESPACE, tag);
	set(element, attributes);
	if (text !== "") element.textContent = text;
	parent.append(element);
	return element;
}

export function set(element, attributes) {
	for (const [name, value] of Object.entries(attributes))
		element.setAttribute(name, typeof value === "number" ? String(Math.round(1000 * value) / 1000) : value);
}

/* An arrow from (x, y) by (dx, dy); one too short for a head is drawn as a line, or omitted. */
export function arrow(parent, x, y, dx, dy, kind) {
	const length = Math.hypot(dx, dy);
	if (!(length > 0.5)) return;
	const group = add(parent, "g", {class: `arrow ${kind}`});
	const head = Math.min(9, 0.6 * length),
		ux = dx / length,
		uy = dy / length;
	const bx = x + dx - head * ux,
		by = y + dy - head * uy,
		w = 0.45 * head;
	add(group, "line", {x1: x, y1: y, x2: bx, y2: by});
	const corners = [
		[x + dx, y + dy],
		[bx - w * uy, by + w * ux],
		[bx + w * uy, by - w * ux],
	];
	add(group, "polygon", {points: corners.map((c) => c.map((v) => v.toFixed(2)).join()).join(" ")});
}

const SUPERSCRIPTS = {"-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹"};

export function power(exponent) {
	return "10" + [...String(exponent)].map((c) => SUPERSCRIPTS[c]).join("");
}

/* Prints that many digits, a proper minus sign, and powers of ten instead of long rows of zeros. */
export function format(value, digits = 4) {
	if (value === 0 || !Number.isFinite(value)) return value === 0 ? "0" : "–";
	const [mantissa, exponent] = value
		.toExponential(digits - 1)
		.split("e")
		.map(Number);
	const text =
		exponent < -3 || exponent > 5 ? `${mantissa}×${power(exponent)}` : String(Number(value.toPrecision(digits)));
	return text.replace(/^-/, "−");
}

/* Round numbers from lo to hi, and the power of ten (a multiple of 3) in which to write them. */
export function ticks(lo, hi, n) {
	const raw = (hi - lo) / n,
		decade = 10 ** Math.floor(Math.log10(raw));
	const step = decade * [1, 2, 5, 10].find((m) => m * decade >= 0.999 * raw);
	const largest = Math.log10(Math.max(Math.abs(lo), Math.abs(hi)));
	const exponent = largest >= 4 || largest < -1 ? 3 * Math.floor(largest / 3) : 0;
	const values = [];
	for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + 1e-9 * step; i++) values.push(i * step);
	const label = (v) => String(Number((v / 10 ** exponent).toPrecision(6))).replace("-", "−");
	return {values, exponent, label};
}

/* Fills a definition list with terms and values. */
export function fillList(list, rows) {
	list.replaceChildren(
		...rows.flatMap(([term, value, name]) => {
			const dt = document.createElement("dt"),
				dd = document.createElement("dd");
			dt.textContent = term;
			dd.textContent = value;
			if (name) dd.dataset.name = name;
			return [dt, dd];
		}),
	);
}
