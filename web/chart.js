/* Several curves, and points, in one pair of axes. */
import {add, format, label, power, set, ticks, ticksAlong} from "./svg.js";

const MARGIN = {left: 58, right: 22, top: 34, bottom: 44};

function bounds(values) {
	let lo = Infinity,
		hi = -Infinity;
	for (const value of values) {
		lo = Math.min(lo, value);
		hi = Math.max(hi, value);
	}
	if (!(lo <= hi)) return [0, 1];
	const least = 1e-12 * Math.max(Math.abs(lo), Math.abs(hi)) || 1;
	if (hi - lo < least) return [lo - least / 2, hi + least / 2];
	const room = 0.05 * (hi - lo);
	return [lo - room, hi + room];
}

/* Thins a curve to at most n points that show its extremes. */
function thin(x, y, n) {
	if (x.length <= n) return x.map((_, i) => i);
	const size = (2 * x.length) / n,
		kept = [];
	for (let from = 0; from < x.length; from += size) {
		const first = Math.floor(from),
			last = Math.min(Math.floor(from + size), x.length);
		let low = first,
			high = first;
		for (let i = first; i < last; i++) {
			if (y[i] < y[low]) low = i;
			if (y[i] > y[high]) high = i;
		}
		kept.push(...(low < high ? [low, high] : low > high ? [high, low] : [low]));
	}
	kept.push(x.length - 1);
	return kept;
}

const caption = (name, exponent, unit) => {
	const scaled = [exponent ? power(exponent) : "", unit].filter(Boolean).join(" ");
	return scaled ? `${name} in ${scaled}` : name;
};

export class Chart {
	/* x, y: [name, unit], with subscripts as in label(); title: a heading in words */
	constructor(parent, {name, title, x, y, height = 230}) {
		Object.assign(this, {x, y, height, lines: [], points: [], dots: []});
		this.figure = Object.assign(document.createElement("figure"), {className: "plot chart"});
		this.figure.append(Object.assign(document.createElement("h3"), {textContent: title}));
		this.svg = add(this.figure, "svg", {class: "chart", role: "img", "data-chart": name, height, "aria-label": title});
		parent.append(this.figure);
		new ResizeObserver(() => this.draw()).observe(this.svg);
	}

	/* lines: [{name, kind, x, y}], kind a class; points: [{kind, x, y}] of lists; words: what screen readers read. */
	show(lines, points = [], words = "") {
		Object.assign(this, {lines, points});
		this.svg.dataset.lines = JSON.stringify(lines.map(({name, x, y}) => ({name, x: [...x], y: [...y]})));
		this.svg.setAttribute("aria-label", [this.figure.firstChild.textContent, words].filter(Boolean).join(": "));
		this.draw();
	}

	draw() {
		const width = this.svg.clientWidth,
			all = [...this.lines, ...this.points];
		if (!width || all.length === 0) return;
		const left = MARGIN.left,
			right = width - MARGIN.right,
			top = MARGIN.top,
			bottom = this.height - MARGIN.bottom;
		const [x0, x1] = bounds(all.flatMap(({x}) => [...x])),
			[y0, y1] = bounds(all.flatMap(({y}) => [...y]));
		this.px = (v) => left + ((v - x0) / (x1 - x0)) * (right - left);
		this.py = (v) => bottom - ((v - y0) / (y1 - y0)) * (bottom - top);
		this.svg.replaceChildren();
		set(this.svg, {viewBox: `0 0 ${width} ${this.height}`});
		const across = ticksAlong(x0, x1, right - left),
			up = ticks(y0, y1, Math.floor((bottom - top) / 32));
		for (const v of across.values) {
			add(this.svg, "line", {class: "grid", x1: this.px(v), x2: this.px(v), y1: top, y2: bottom});
			add(this.svg, "text", {x: this.px(v), y: bottom + 18, "text-anchor": "middle"}, across.label(v));
		}
		for (const v of up.values) {
			const at = this.py(v);
			add(this.svg, "line", {class: v === 0 ? "zero" : "grid", x1: left, x2: right, y1: at, y2: at});
			add(this.svg, "text", {x: left - 6, y: at + 5, "text-anchor": "end"}, up.label(v));
		}
		const [xName, xUnit] = this.x,
			[yName, yUnit] = this.y;
		label(
			this.svg,
			{class: "unit", x: right, y: bottom + 38, "text-anchor": "end"},
			caption(xName, across.exponent, xUnit),
		);
		label(this.svg, {class: "unit", x: 4, y: 16}, caption(yName, up.exponent, yUnit));
		for (const {kind, x, y} of this.points)
			x.forEach((at, i) => add(this.svg, "circle", {class: kind, cx: this.px(at), cy: this.py(y[i]), r: 3.5}));
		for (const {kind, x, y} of this.lines) {
			const d = thin(x, y, 2 * width).map(
				(i, k) => `${k ? "L" : "M"}${this.px(x[i]).toFixed(2)} ${this.py(y[i]).toFixed(2)}`,
			);
			add(this.svg, "path", {class: `line ${kind}`, d: d.join("")});
		}
		this.dots = [];
		if (this.index !== undefined) this.moveTo(this.index);
	}

	/* Puts a dot on each line. */
	moveTo(index) {
		this.index = index;
		if (!this.px) return;
		this.lines.forEach(({kind, x, y}, k) => {
			if (index >= x.length) return;
			this.dots[k] ??= add(this.svg, "circle", {class: `moving ${kind}`, r: kind.includes("heat") ? 4 : 6});
			set(this.dots[k], {cx: this.px(x[index]), cy: this.py(y[index])});
		});
	}

	/* Values at the dots in words. */
	reading() {
		return this.lines.map(({name, y}) => `${name} ${format(y[this.index])}`).join(", ");
	}
}
