/* A measured curve as a small editable table: speeds beyond eps_v, and factors of the coefficient. */
import {Faults, Unreadable} from "./controls.js";

const INITIAL = {speeds: [0, 0.002, 0.005, 0.01], factors: [1, 0.62, 0.5, 0.56]};
const COLUMNS = [
	["speeds", "speed"],
	["factors", "factor"],
];

const isNumber = (text) => text.trim() !== "" && Number.isFinite(Number(text));

export class Points {
	constructor(fieldset, changed) {
		Object.assign(this, {fieldset, changed});
		this.body = fieldset.querySelector("tbody");
		this.reset();
		fieldset.querySelector(".more").addEventListener("click", () => {
			this.extend();
			this.body.lastElementChild.querySelector("input").focus();
			changed();
		});
		this.body.addEventListener("input", ({target}) => {
			target.setAttribute("aria-invalid", String(!isNumber(target.value)));
			changed();
		});
		this.body.addEventListener("click", ({target}) => this.remove(target.closest("button")?.closest("tr")));
		this.body.addEventListener("paste", (event) => this.paste(event));
	}

	reset() {
		this.fill(INITIAL.speeds.map((speed, i) => [speed, INITIAL.factors[i]]));
	}

	/* What shows a fault of a field beside it. */
	control(field) {
		const name = field.getAttribute("aria-label");
		field.faults ??= new Faults(field);
		field.faults.isReadable = isNumber(field.value);
		return {name, blame: (section, text) => field.faults.blame(section, text && `${name}: ${text}`)};
	}

	/* column: "speeds" or "factors"; i: of a point */
	at(column, i) {
		const field = this.body.rows[i]?.querySelector(`[data-of=${column}]`);
		return field && this.control(field);
	}

	get shown() {
		const points = this.numbers();
		return Object.fromEntries(COLUMNS.map(([name], k) => [name, points.map((point) => point[k])]));
	}

	get isInitial() {
		return JSON.stringify(this.shown) === JSON.stringify(INITIAL);
	}

	/* curve: {speeds, factors} of a state, or anything else for the initial one. */
	restore(curve) {
		const isList = (list) => Array.isArray(list) && list.every(Number.isFinite);
		const {speeds, factors} = curve ?? {};
		if (isList(speeds) && isList(factors) && speeds.length === factors.length && speeds.length > 1)
			this.fill(speeds.map((speed, i) => [speed, factors[i]]));
		else this.reset();
	}

	/* The first point is always (0, 1), where sticking ends. */
	fill(points) {
		this.body.replaceChildren(...points.map((point) => this.row(point)));
		this.number();
	}

	row(point) {
		const row = document.createElement("tr");
		COLUMNS.forEach(([name], i) => {
			const field = Object.assign(document.createElement("input"), {type: "number", step: "any", inputMode: "decimal"});
			field.value = String(point[i]);
			field.dataset.of = name;
			row.insertCell().append(field);
		});
		row.insertCell().append(Object.assign(document.createElement("button"), {type: "button", textContent: "×"}));
		return row;
	}

	/* Labels the fields by position, and keeps at least two points. */
	number() {
		const {rows} = this.body;
		[...rows].forEach((row, i) => {
			row.querySelectorAll("input").forEach((field, k) => {
				field.id = `curve-${COLUMNS[k][1]}-${i}`;
				field.setAttribute("aria-label", `${COLUMNS[k][1]} of point ${i}`);
				field.readOnly = i === 0;
			});
			const button = row.querySelector("button");
			button.setAttribute("aria-label", `Remove point ${i}`);
			button.hidden = i === 0 || rows.length === 2;
		});
	}

	/* Adds a point, as far from the last one as that is from its neighbour. */
	extend() {
		const [[u], [v, factor]] = this.numbers().slice(-2);
		this.body.append(this.row([Number((2 * v - u).toPrecision(6)) || 0, factor]));
		this.number();
	}

	remove(row) {
		if (!row) return;
		const next = row.nextElementSibling ?? row.previousElementSibling;
		row.remove();
		this.number();
		next.querySelector("input").focus();
		this.changed();
	}

	/* Replaces all points by two columns copied from a spreadsheet. */
	paste(event) {
		const lines = event.clipboardData.getData("text").trim().split(/\r?\n/);
		const points = lines.map((line) => line.trim().split(/[\s,;]+/));
		if (points.length < 2 || !points.every((point) => point.length === 2 && point.every(isNumber))) return;
		event.preventDefault();
		this.fill(points.map((point) => point.map(Number)));
		this.changed();
	}

	fields() {
		return [...this.body.rows].map((row) => [...row.querySelectorAll("input")]);
	}

	numbers() {
		return this.fields().map((row) => row.map(({value}) => Number(value)));
	}

	/* Returns {speeds, factors}; throws unless all fields contain numbers. */
	get asked() {
		const unreadable = this.fields()
			.flat()
			.find(({value}) => !isNumber(value));
		if (unreadable) throw new Unreadable("This is not a number.", this.control(unreadable));
		return this.shown;
	}
}
