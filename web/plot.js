/* A curve with axes, a mark at eps_v, and a crosshair that follows the pointer and the keys. */
import {add, format, label, power, set, ticks, ticksAlong, withSubscripts} from "./svg.js";

const MARGIN = {left: 58, right: 22, top: 46, bottom: 44};
const LABEL = {width: 36, height: 27}; /* room for the label of a coefficient */

const NARROW = matchMedia("(max-width: 760px)");

function caption(symbol, exponent, unit) {
	const scaled = [exponent ? power(exponent) : "", unit].filter(Boolean).join(" ");
	return scaled ? `${symbol}  in ${scaled}` : symbol;
}

const SUBSCRIPTS = {_s: "ₛ", _k: "ₖ", _v: "ᵥ", _0: "₀", _1: "₁", _2: "₂"};

/* A symbol in plain text. */
const plain = (symbol) => symbol.replaceAll(/_./g, (low) => SUBSCRIPTS[low]);

/* The index of the number closest to x in an ascending list. */
function nearest(list, value) {
	const i = list.findIndex((at) => at >= value);
	return i > 0 && value - list[i - 1] < list[i] - value ? i - 1 : Math.max(i, 0);
}

export class Plot {
	/* what: {name, symbol, unit, title, text, speed}, speed the name of the horizontal axis; narrow: height on a narrow
	 * screen, if it differs; isQuiet: shows no crosshair before the user points; guides(): values of horizontal lines,
	 * [[value, label], ...] */
	constructor(
		parent,
		what,
		{large = false, height = large ? 310 : 220, narrow, isQuiet = false, guides = () => [], onCursor},
	) {
		Object.assign(this, {what, guides, onCursor, height, wide: height, narrow, isQuiet, curve: null, index: 0, extra: {}});
		this.figure = document.createElement("figure");
		this.figure.className = large ? "plot large" : "plot";
		const title = document.createElement("h3"),
			text = document.createElement("figcaption");
		title.textContent = what.title;
		text.textContent = what.text;
		this.figure.append(title, text);
		withSubscripts(this.figure);
		this.svg = add(this.figure, "svg", {
			class: "curve",
			role: "slider",
			tabindex: "0",
			"data-function": what.name,
			"aria-label": `${what.title}: speed of the reading`,
			"aria-valuemin": "0",
			"aria-valuemax": "1",
			"aria-valuenow": "0",
			height: this.height,
		});
		this.readout = document.createElement("p");
		this.readout.className = "readout";
		this.figure.append(this.readout);
		this.addTable();
		parent.append(this.figure);
		this.listen();
		new ResizeObserver(() => this.draw()).observe(this.svg);
	}

	addTable() {
		this.details = document.createElement("details");
		this.details.innerHTML =
			'<summary>Values</summary><div class="scroll" role="group" tabindex="0"><table><thead><tr>' +
			'<th scope="col"></th><th scope="col"></th></tr></thead><tbody></tbody></table></div>';
		const [y, value] = this.details.querySelectorAll("th");
		y.textContent = `${this.what.speed ?? "y"}, m/s`;
		value.textContent = [plain(this.what.symbol), this.what.unit].filter(Boolean).join(", ");
		this.details.querySelector(".scroll").setAttribute("aria-label", `Values of ${this.what.title}`);
		this.details.querySelector("summary").setAttribute("aria-label", `Values of ${this.what.title}`);
		this.details.addEventListener("toggle", () => this.fillTable());
		this.figure.append(this.details);
	}

	/* The table has thousands of cells, so it is filled only while open. */
	fillTable() {
		if (!this.details.open || !this.curve) return;
		const {x, y} = this.curve;
		this.details.querySelector("tbody").replaceChildren(
			...x.map((at, i) => {
				const row = document.createElement("tr");
				for (const value of [at, y[i]])
					row.append(Object.assign(document.createElement("td"), {textContent: String(value)}));
				return row;
			}),
		);
	}

	listen() {
		const point = (event) => {
			if (!this.curve) return;
			const {x} = this.curve,
				box = this.svg.getBoundingClientRect();
			const share = (event.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right);
			this.onCursor(nearest(x, x[0] + Math.min(Math.max(share, 0), 1) * (x.at(-1) - x[0])));
		};
		const begin = () => {
			this.isQuiet = false;
		};
		for (const type of ["pointermove", "pointerdown", "focus"]) this.svg.addEventListener(type, begin);
		this.svg.addEventListener("pointermove", point);
		this.svg.addEventListener("pointerdown", point);
		this.svg.addEventListener("focus", () => this.moveTo(this.index));
		this.svg.addEventListener("keydown", (event) => {
			if (!this.curve) return;
			const last = this.curve.x.length - 1,
				far = event.shiftKey ? 10 : 1;
			const to = {
				ArrowRight: this.index + far,
				ArrowUp: this.index + far,
				ArrowLeft: this.index - far,
				ArrowDown: this.index - far,
				PageUp: this.index + 20,
				PageDown: this.index - 20,
				Home: 0,
				End: last,
			}[event.key];
			if (to === undefined) return;
			event.preventDefault();
			this.onCursor(Math.min(Math.max(to, 0), last));
		});
	}

	/* x ascending; marks: where eps_v is marked; measured: points [[x, y], ...] that define the curve. */
	show(x, y, marks, measured = []) {
		this.curve = {x, y, marks, measured};
		this.svg.dataset.x = JSON.stringify(x);
		this.svg.dataset.y = JSON.stringify(y);
		this.draw();
		this.fillTable();
	}

	bounds() {
		const all = [0, ...this.curve.y, ...this.guides().map(([value]) => value)];
		let lo = Math.min(...all),
			hi = Math.max(...all);
		if (lo === hi) hi = 1;
		const room = 0.06 * (hi - lo);
		return [lo < 0 ? lo - room : 0, hi > 0 ? hi + room : 0];
	}

	draw() {
		const width = this.svg.clientWidth;
		if (!this.curve || !width) return;
		if (this.narrow) {
			this.height = NARROW.matches ? this.narrow : this.wide;
			set(this.svg, {height: this.height});
		}
		const {x, y, marks, measured} = this.curve,
			[lo, hi] = this.bounds();
		const left = MARGIN.left,
			right = width - MARGIN.right,
			top = MARGIN.top,
			bottom = this.height - MARGIN.bottom;
		this.px = (v) => left + ((v - x[0]) / (x[x.length - 1] - x[0])) * (right - left);
		this.py = (v) => bottom - ((v - lo) / (hi - lo)) * (bottom - top);
		this.svg.replaceChildren();
		set(this.svg, {viewBox: `0 0 ${width} ${this.height}`});
		this.drawAxes(ticksAlong(x[0], x[x.length - 1], right - left), ticks(lo, hi, Math.floor((bottom - top) / 32)), {
			left,
			right,
			top,
			bottom,
		});
		let last = Infinity;
		for (const [value, text] of this.guides()) {
			const at = this.py(value),
				y = at - top < LABEL.height ? at + 17 : at - 6; /* not among the labels above the plot */
			const aside = Math.abs(y - last) < LABEL.height ? LABEL.width : 0;
			add(this.svg, "line", {class: "guide", x1: left, x2: right, y1: at, y2: at});
			label(this.svg, {class: "mark", x: right - 2 - aside, y, "text-anchor": "end"}, text);
			last = y;
		}
		for (const mark of marks) {
			add(this.svg, "line", {class: "kink", x1: this.px(mark), x2: this.px(mark), y1: top, y2: bottom});
			label(
				this.svg,
				{class: "mark", x: this.px(mark), y: top - 7, "text-anchor": "middle"},
				mark < 0 ? "−ε_v" : "ε_v",
			);
		}
		const d = x.map((v, i) => `${i ? "L" : "M"}${this.px(v).toFixed(2)} ${this.py(y[i]).toFixed(2)}`).join("");
		add(this.svg, "path", {class: "line", d});
		for (const [at, value] of measured)
			if (at <= x[x.length - 1])
				add(this.svg, "circle", {class: "measured", cx: this.px(at), cy: this.py(value), r: 4.5});
		this.hair = add(this.svg, "line", {class: "hair", y1: top, y2: bottom});
		this.dot = add(this.svg, "circle", {class: "dot", r: 4});
		this.extra = {...this.extra, line: null, dot: null};
		if (this.extra.at) this.track(...this.extra.at);
		if (this.extra.height) this.level(...this.extra.height);
		this.moveTo(Math.min(this.index, x.length - 1));
	}

	drawAxes(horizontal, vertical, {left, right, top, bottom}) {
		for (const v of horizontal.values) {
			add(this.svg, "line", {class: "grid", x1: this.px(v), x2: this.px(v), y1: top, y2: bottom});
			add(this.svg, "text", {x: this.px(v), y: bottom + 18, "text-anchor": "middle"}, horizontal.label(v));
		}
		for (const v of vertical.values) {
			add(this.svg, "line", {
				class: v === 0 ? "zero" : "grid",
				x1: left,
				x2: right,
				y1: this.py(v),
				y2: this.py(v),
			});
			add(this.svg, "text", {x: left - 6, y: this.py(v) + 5, "text-anchor": "end"}, vertical.label(v));
		}
		label(
			this.svg,
			{class: "unit", x: right, y: bottom + 38, "text-anchor": "end"},
			caption(this.what.speed ?? "y", horizontal.exponent, "m/s"),
		);
		label(this.svg, {class: "unit", x: 4, y: 16}, caption(this.what.symbol, vertical.exponent, this.what.unit));
	}

	/* A dot that moves along the curve, beside the one of the reading. */
	track(x, y) {
		this.extra.at = [x, y];
		if (!this.curve || !this.hair) return;
		this.extra.dot ??= add(this.svg, "circle", {class: "moving", r: 8});
		set(this.extra.dot, {cx: this.px(x), cy: Math.max(this.py(y), 8)});
	}

	/* A horizontal line that moves, with a label at its left end. */
	level(value, text) {
		this.extra.height = [value, text];
		if (!this.curve || !this.hair) return;
		const left = MARGIN.left,
			right = this.svg.clientWidth - MARGIN.right,
			at = Math.max(this.py(value), MARGIN.top);
		if (!this.extra.line) {
			this.extra.line = add(this.svg, "line", {class: "level", x1: left, x2: right});
			this.extra.text = add(this.svg, "text", {class: "mark", x: (left + right) / 2, "text-anchor": "middle"});
		}
		/* an arrow where the line would be above the plot */
		const words = this.py(value) < at ? `${text} ↑` : text;
		if (this.extra.text.textContent !== words) this.extra.text.textContent = words;
		set(this.extra.line, {y1: at, y2: at});
		set(this.extra.text, {y: at - 6});
	}

	moveTo(index) {
		this.index = index;
		if (!this.curve || !this.hair || index >= this.curve.x.length) return;
		const {x, y} = this.curve;
		/* the line of eps_v stays visible */
		set(this.hair, {
			x1: this.px(x[index]),
			x2: this.px(x[index]),
			visibility: this.isQuiet || this.curve.marks.includes(x[index]) ? "hidden" : "visible",
		});
		set(this.dot, {cx: this.px(x[index]), cy: this.py(y[index]), visibility: this.isQuiet ? "hidden" : "visible"});
		const unit = this.what.unit ? ` ${this.what.unit}` : "";
		const text = `${plain(this.what.symbol)} = ${String(y[index]).replace("-", "−")}${unit}`;
		this.readout.textContent = this.isQuiet ? "" : text;
		this.readout.title = `at y = ${x[index]} m/s`;
		set(this.svg, {
			"aria-valuemax": x.length - 1,
			"aria-valuenow": index,
			"aria-valuetext": `y = ${format(x[index], 6)} m/s, ${text}`,
		});
	}
}
