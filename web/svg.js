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

/* Text in which _x or _{xy} is a subscript, as tspans. */
export function label(parent, attributes, text) {
	const element = add(parent, "text", attributes);
	write(element, text);
	return element;
}

const SUBSCRIPT_EM = 0.25; /* how far subscripts are lowered, in units of the font size */

export function write(element, text) {
	element.replaceChildren();
	let isLow = false;
	for (const [, plain, low, lows] of text.matchAll(/([^_]+)|_([^{])|_\{([^}]*)\}/gu)) {
		const part = low ?? lows;
		const lowered = part !== undefined;
		const dy = lowered === isLow ? {} : {dy: `${lowered ? SUBSCRIPT_EM : -SUBSCRIPT_EM}em`};
		add(element, "tspan", {...dy, ...(lowered ? {class: "sub"} : {})}, part ?? plain);
		isLow = lowered;
	}
}

const LOW = {ₛ: "s", ₖ: "k", ᵥ: "v", "₀": "0", "₁": "1", "₂": "2"};

/* For titles and captions in HTML: replaces characters that are subscripts by <sub>. */
export function withSubscripts(root) {
	const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
	const found = [];
	while (walker.nextNode()) if (/[ₛₖᵥ₀₁₂]/.test(walker.currentNode.data)) found.push(walker.currentNode);
	for (const node of found) {
		if (node.parentElement.closest("svg, option, pre, textarea")) continue;
		node.replaceWith(
			...node.data.split(/([ₛₖᵥ₀₁₂])/).map((part) => {
				if (!LOW[part]) return part;
				return Object.assign(document.createElement("sub"), {textContent: LOW[part]});
			}),
		);
	}
}

/* Keeps the size of text in a picture that is scaled: the style sheet multiplies it by --unit, the number of the
 * picture's units in a pixel. */
export function fitText(svg) {
	const fit = () => {
		const scale = svg.getScreenCTM()?.a;
		if (scale > 0) svg.style.setProperty("--unit", String(1 / scale));
	};
	new ResizeObserver(fit).observe(svg);
	fit();
}

const HEAD = 11,
	LETTER = 13; /* length of a head; distance of the letter from the tip */

/* An arrow from (x, y) by (dx, dy), with a letter beyond its tip. One too short for a head is drawn as a line, or omitted.
 * Heads differ, not only colours: open for slip (a velocity), double for normal, solid for all others. */
export function arrow(parent, x, y, dx, dy, kind, letter = "") {
	const length = Math.hypot(dx, dy);
	if (!(length > 0.5)) return;
	const group = add(parent, "g", {class: `arrow ${kind}`});
	const head = Math.min(HEAD, 0.6 * length),
		ux = dx / length,
		uy = dy / length,
		w = 0.42 * head;
	const isOpen = kind.startsWith("slip");
	const tip = (back) => {
		const at = [x + dx - back * ux, y + dy - back * uy],
			base = [at[0] - head * ux, at[1] - head * uy];
		return [at, [base[0] - w * uy, base[1] + w * ux], [base[0] + w * uy, base[1] - w * ux]];
	};
	const points = (corners) => corners.map((c) => c.map((v) => v.toFixed(2)).join()).join(" ");
	const end = isOpen ? 0 : head;
	add(group, "line", {x1: x, y1: y, x2: x + dx - end * ux, y2: y + dy - end * uy});
	const [at, left, right] = tip(0);
	if (isOpen) add(group, "polyline", {points: points([left, at, right])});
	else add(group, "polygon", {points: points([at, left, right])});
	if (kind.startsWith("normal") && length > 2.2 * head) add(group, "polygon", {points: points(tip(0.9 * head))});
	if (letter)
		label(
			group,
			{class: "letter", x: x + dx + LETTER * ux, y: y + dy + LETTER * uy, dy: "0.35em", "text-anchor": "middle"},
			letter,
		);
}

/* Raises letters of arrows that lie on other text. */
export function separate(svg) {
	const scale = svg.getScreenCTM()?.a;
	if (!(scale > 0)) return;
	const texts = [...svg.querySelectorAll("text")].sort((a, b) => a.matches(".letter") - b.matches(".letter"));
	const placed = [];
	for (const text of texts) {
		let box = text.getBoundingClientRect();
		const isFree = () =>
			placed.every(
				(other) =>
					Math.min(box.right, other.right) <= Math.max(box.left, other.left) ||
					Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) < 3,
			);
		for (let n = 0; n < 12 && text.matches(".letter") && !isFree(); n++) {
			set(text, {y: Number(text.getAttribute("y")) - 5 / scale});
			box = text.getBoundingClientRect();
		}
		placed.push(box);
	}
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

/* Round numbers from lo to hi, at least 2 and otherwise at most n, and the power of ten (a multiple of 3) in which to
 * write them. */
export function ticks(lo, hi, n) {
	const largest = Math.log10(Math.max(Math.abs(lo), Math.abs(hi)));
	const exponent = largest >= 4 || largest < -1 ? 3 * Math.floor(largest / 3) : 0;
	const label = (v) => String(Number((v / 10 ** exponent).toPrecision(6))).replace("-", "−");
	const decade = Math.floor(Math.log10(hi - lo));
	let values = [];
	for (let k = 2; k >= -6; k--) {
		const step = [1, 2, 5][(k + 9) % 3] * 10 ** (decade + Math.floor(k / 3));
		const first = Math.ceil(lo / step - 1e-9),
			last = Math.floor(hi / step + 1e-9);
		const count = last - first + 1;
		if (values.length >= 2 && count > n) break;
		values = Array.from({length: Math.max(count, 0)}, (_, i) => (first + i) * step);
	}
	return {values, exponent, label};
}

const CHARACTER = 9; /* pixels, at most, of a character of a label of 14 px */

/* As ticks(), as many as their labels leave room for along an axis of that many pixels. */
export function ticksAlong(lo, hi, pixels) {
	for (let n = Math.floor(pixels / 40); n > 2; n--) {
		const found = ticks(lo, hi, n),
			longest = Math.max(...found.values.map((v) => found.label(v).length));
		const apart = ((found.values[1] - found.values[0]) / (hi - lo)) * pixels;
		if (apart >= CHARACTER * longest + 10) return found;
	}
	return ticks(lo, hi, 2);
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
