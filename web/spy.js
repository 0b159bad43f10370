/* The entries of a sparse matrix, with a frame around the selected one. */
import {add, set} from "./svg.js";

const SIZE = 18,
	LEFT = 78,
	TOP = 8; /* size of a cell; offset of the matrix in the picture */
const SIGNS = {plus: "+", minus: "−", none: "·"};

/* Maps row * n + column to the value; duplicate triplets are summed. */
function addUp({rows, cols, values}, n) {
	const entries = new Map();
	rows.forEach((row, i) => {
		const key = n * row + cols[i];
		entries.set(key, (entries.get(key) ?? 0) + values[i]);
	});
	return entries;
}

export class Spy {
	/* names: one for each block of 2 rows */
	constructor(svg, readout, names, unit) {
		Object.assign(this, {svg, readout, names, unit, n: 2 * names.length, cell: 0, entries: null});
		set(svg, {"aria-valuemax": String(this.n * this.n - 1)});
		svg.addEventListener("keydown", (event) => this.step(event));
		svg.addEventListener("pointermove", (event) => this.point(event));
	}

	show(triplets) {
		this.entries = addUp(triplets, this.n);
		const list = [...this.entries].map(([key, value]) => [Math.floor(key / this.n), key % this.n, value]);
		const largest = Math.max(...list.map(([, , value]) => Math.abs(value)), 0);
		this.svg.dataset.entries = JSON.stringify(list);
		this.svg.replaceChildren();
		this.drawGrid();
		for (const [row, col, value] of list) this.drawEntry(LEFT + SIZE * col, TOP + SIZE * row, value, largest);
		this.frame = add(this.svg, "rect", {class: "cell", width: SIZE, height: SIZE});
		this.moveTo(this.cell);
	}

	drawGrid() {
		const end = SIZE * this.n;
		for (let at = 0; at <= end; at += 2 * SIZE) {
			add(this.svg, "line", {class: "grid", x1: LEFT, x2: LEFT + end, y1: TOP + at, y2: TOP + at});
			add(this.svg, "line", {class: "grid", x1: LEFT + at, x2: LEFT + at, y1: TOP, y2: TOP + end});
		}
		this.names.forEach((name, i) => {
			add(this.svg, "text", {x: LEFT - 6, y: TOP + SIZE * (2 * i + 1) + 4, "text-anchor": "end"}, name);
		});
	}

	drawEntry(x, y, value, largest) {
		const kind = value > 0 ? "plus" : value < 0 ? "minus" : "none";
		const box = {x: x + 1, y: y + 1, width: SIZE - 2, height: SIZE - 2};
		if (value !== 0)
			/* faint enough for the sign to be legible */
			add(this.svg, "rect", {
				...box,
				class: `entry ${kind}`,
				"fill-opacity": 0.12 + 0.4 * Math.sqrt(Math.abs(value) / largest),
			});
		const middle = {x: x + SIZE / 2, y: y + SIZE / 2 + 4.5, "text-anchor": "middle"};
		add(this.svg, "text", {...middle, class: `entry ${kind}`}, SIGNS[kind]);
	}

	moveTo(cell) {
		const row = Math.floor(cell / this.n),
			col = cell % this.n,
			value = this.entries.get(cell);
		this.cell = cell;
		set(this.frame, {x: LEFT + SIZE * col, y: TOP + SIZE * row});
		const words = value === undefined ? "not in the pattern" : `${String(value).replace("-", "−")} ${this.unit}`;
		this.readout.textContent = `row ${row}, column ${col}: ${words}`;
		set(this.svg, {"aria-valuenow": String(cell), "aria-valuetext": this.readout.textContent});
	}

	step(event) {
		const n = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.n, ArrowUp: -this.n}[event.key];
		if (n === undefined || !this.entries) return;
		event.preventDefault();
		if (this.cell + n >= 0 && this.cell + n < this.n * this.n) this.moveTo(this.cell + n);
	}

	point(event) {
		const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
		const col = Math.floor((at.x - LEFT) / SIZE),
			row = Math.floor((at.y - TOP) / SIZE);
		if (this.entries && Math.min(row, col) >= 0 && Math.max(row, col) < this.n) this.moveTo(this.n * row + col);
	}
}
