/* A curve with axes, a mark at eps_v, and a crosshair that follows the pointer and the keys. */
import {add, format, power, set, ticks} from "./svg.js";

const MARGIN = {left: 46, right: 12, top: 34, bottom: 34};
const LABEL = {width: 16, height: 15}; /* room for the label of a coefficient */

function caption(symbol, exponent, unit) {
	const scaled = [exponent ? power(exponent) : "", unit].filter(Boolean).join(" ");
	return scaled ? `${symbol}  in ${scaled}` : symbol;
}

/* The index of the number closest to x in an ascending list. */
function nearest(list, value) {
	const i = list.findIndex((at) => at >= value);
	return i > 0 && value - list[i - 1] < list[i] - value ? i - 1 : Math.max(i, 0);
}

export class Plot {
	/* what: {name, symbol, unit, title, text}; guides(): values of horizontal lines, [[value, label], ...] */
	constructor(parent, what, {large = false, guides = () => [], onCursor}) {
		Object.assign(this, {what, guides, onCursor, height: large ? 310 : 205, curve: null, index: 0});
		this.figure = document.createElement("figure");
		this.figure.className = large ? "plot large" : "plot";
		const title = document.createElement("h3"),
			text = document.createElement("figcaption");
		title.textContent = what.title;
		text.textContent = what.text;
		this.figure.append(title, text);
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
		y.textContent = "y, m/s";
		value.textContent = [this.what.symbol, this.what.unit].filter(Boolean).join(", ");
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
		this.svg.addEventListener("pointermove", point);
		this.svg.addEventListener("pointerdown", point);
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
		this.drawAxes(ticks(x[0], x[x.length - 1], Math.max(2, width / 110)), ticks(lo, hi, this.height / 40), {
			left,
			right,
			top,
			bottom,
		});
		let last = Infinity;
		for (const [value, label] of this.guides()) {
			const at = this.py(value),
				aside = Math.abs(at - last) < LABEL.height ? LABEL.width : 0;
			add(this.svg, "line", {class: "guide", x1: left, x2: right, y1: at, y2: at});
			add(this.svg, "text", {class: "mark", x: right - 2 - aside, y: at - 6, "text-anchor": "end"}, label);
			last = at;
		}
		for (const mark of marks) {
			add(this.svg, "line", {class: "kink", x1: this.px(mark), x2: this.px(mark), y1: top, y2: bottom});
			add(
				this.svg,
				"text",
				{class: "mark", x: this.px(mark), y: top - 5, "text-anchor": "middle"},
				mark < 0 ? "−εᵥ" : "εᵥ",
			);
		}
		const d = x.map((v, i) => `${i ? "L" : "M"}${this.px(v).toFixed(2)} ${this.py(y[i]).toFixed(2)}`).join("");
		add(this.svg, "path", {class: "line", d});
		for (const [at, value] of measured)
			if (at <= x[x.length - 1])
				add(this.svg, "circle", {class: "measured", cx: this.px(at), cy: this.py(value), r: 4.5});
		this.hair = add(this.svg, "line", {class: "hair", y1: top, y2: bottom});
		this.dot = add(this.svg, "circle", {class: "dot", r: 4});
		this.moveTo(Math.min(this.index, x.length - 1));
	}

	drawAxes(horizontal, vertical, {left, right, top, bottom}) {
		for (const v of horizontal.values) {
			add(this.svg, "line", {class: "grid", x1: this.px(v), x2: this.px(v), y1: top, y2: bottom});
			add(this.svg, "text", {x: this.px(v), y: bottom + 14, "text-anchor": "middle"}, horizontal.label(v));
		}
		for (const v of vertical.values) {
			add(this.svg, "line", {
				class: v === 0 ? "zero" : "grid",
				x1: left,
				x2: right,
				y1: this.py(v),
				y2: this.py(v),
			});
			add(this.svg, "text", {x: left - 6, y: this.py(v) + 4, "text-anchor": "end"}, vertical.label(v));
		}
		add(
			this.svg,
			"text",
			{class: "unit", x: right, y: bottom + 29, "text-anchor": "end"},
			caption("y", horizontal.exponent, "m/s"),
		);
		add(
			this.svg,
			"text",
			{class: "unit", x: 4, y: 13},
			caption(this.what.symbol, vertical.exponent, this.what.unit),
		);
	}

	moveTo(index) {
		this.index = index;
		if (!this.curve || !this.hair || index >= this.curve.x.length) return;
		const {x, y} = this.curve;
		set(this.hair, {x1: this.px(x[index]), x2: this.px(x[index])});
		set(this.dot, {cx: this.px(x[index]), cy: this.py(y[index])});
		const unit = this.what.unit ? ` ${this.what.unit}` : "";
		const text = `${this.what.symbol} = ${String(y[index]).replace("-", "−")}${unit}`;
		this.readout.textContent = text;
		this.readout.title = `at y = ${x[index]} m/s`;
		set(this.svg, {
			"aria-valuemax": x.length - 1,
			"aria-valuenow": index,
			"aria-valuetext": `y = ${format(x[index], 6)} m/s, ${text}`,
		});
	}
}
