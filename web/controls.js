/* A slider and a number field for the same value. */

const round = (x) => Number(x.toPrecision(3));

const NONE = -2; /* slider position of zero on a scale of decimal logarithms */

/* Conversions between slider positions and values. signed: fine steps around zero, coarse ones at the ends; halfway is
 * about one. */
const scales = {
	linear: {value: round, position: (x) => x},
	log: {value: (p) => round(10 ** p), position: (x) => Math.log10(x)},
	zeroOrLog: {value: (p) => (p <= NONE ? 0 : round(10 ** p)), position: (x) => (x === 0 ? NONE : Math.log10(x))},
	signed: {
		value: (p) => round((20 * Math.sinh(6 * p)) / Math.sinh(6)),
		position: (x) => Math.asinh((x * Math.sinh(6)) / 20) / 6,
	},
};

/* Thrown if a field does not contain a number. control: has blame(). */
export class Unreadable extends Error {
	constructor(message, control) {
		super(message);
		this.control = control;
	}

	words() {
		return this.message;
	}
}

/* Faults beside a field: each section that the field's value fails tells its own, and the first one is shown. */
export class Faults {
	constructor(field) {
		Object.assign(this, {field, told: new Map(), isReadable: true});
	}

	/* text: "" if there is no fault any more */
	blame(section, text) {
		if (text) this.told.set(section, text);
		else this.told.delete(section);
		this.show();
	}

	/* After a change: earlier faults no longer apply. isReadable: whether the field contains a number */
	mark(isReadable) {
		this.told.clear();
		this.isReadable = isReadable;
		this.show();
	}

	show() {
		const [text = ""] = this.told.values();
		this.field.setAttribute("aria-invalid", String(!this.isReadable || text !== ""));
		this.place ??= this.create();
		this.place.hidden = text === "";
		if (this.place.textContent !== text) this.place.textContent = text;
	}

	create() {
		const place = Object.assign(document.createElement("p"), {className: "field-fault", id: `${this.field.id}-fault`});
		place.setAttribute("role", "alert");
		(this.field.closest(".control, td, label") ?? this.field).append(place);
		this.field.setAttribute("aria-errormessage", place.id);
		return place;
	}
}

/* The name of a field, from its label: the symbol, or the words before a comma. */
function nameOf(field) {
	const label = field.labels?.[0];
	const symbol = [...(label?.querySelectorAll("var") ?? [])].filter((e) => !e.hidden).map((e) => e.textContent.trim());
	const words = label?.textContent.split(/[,(]/)[0].replace(/\s+/g, " ").trim();
	return field.dataset.name ?? (symbol.length && words.startsWith(symbol[0]) ? symbol.join("") : words) ?? field.id;
}

/* Returns a function that finds the control whose value caused an error: by the pointer of the service's answer, of which
 * the last parts name a parameter, or as the error says. find(name): a control or undefined. */
export function makeLocate(find, points) {
	return (error) => {
		if (error.control) return error.control;
		const parts = (error.pointer ?? "").split("/");
		if (parts.includes("curve")) return points?.at(parts.at(-2), parts.at(-1));
		const isIndex = /^[0-9]+$/.test(parts.at(-1));
		const name = isIndex ? `${parts.at(-2)}_${parts.at(-1)}` : parts.at(-1);
		return find(name) ?? find(parts.at(-2));
	};
}

export class Control {
	constructor(name, initial, changed, scale = "linear") {
		this.scale = scales[scale];
		this.changed = changed;
		this.initial = initial;
		this.field = document.getElementById(name);
		this.slider = document.getElementById(`${name}-slider`);
		this.faults = new Faults(this.field);
		this.slider.addEventListener("input", () => this.set(this.scale.value(Number(this.slider.value)), this.slider));
		this.field.addEventListener("input", () => this.read());
		this.field.addEventListener("change", () => this.read());
		this.show(initial, null);
	}

	/* Invalid text leaves the value unchanged, but `changed` is still called, so that results are marked as
	 * outdated. */
	read() {
		const text = this.field.value.trim();
		const value = Number(text);
		const readable = text !== "" && Number.isFinite(value);
		if (readable === this.readable && (!readable || value === this.value)) return;
		if (readable) {
			this.set(value, this.field);
			return;
		}
		this.mark(false);
		this.changed();
	}

	mark(readable) {
		this.readable = readable;
		this.faults.mark(readable);
	}

	/* Shows a fault of this value beside the field. */
	blame(section, text) {
		this.faults.blame(section, text && `${this.name}: ${text}`);
	}

	get name() {
		return nameOf(this.field);
	}

	/* Throws unless the field shows the current value. */
	get asked() {
		if (!this.readable) throw new Unreadable(`This is not a number. The results shown are for ${this.value}.`, this);
		return this.value;
	}

	set(value, source = null) {
		this.show(value, source);
		this.changed();
	}

	show(value, source) {
		this.value = value;
		if (source !== this.field) this.field.value = String(value);
		this.mark(true);
		const position = this.scale.position(value);
		if (source !== this.slider && Number.isFinite(position)) this.slider.value = String(position);
		this.slider.setAttribute("aria-valuetext", String(value));
	}

	/* Position of the slider, which handles follow. */
	get position() {
		return Number(this.slider.value);
	}

	moveTo(position) {
		const {min, max} = this.slider;
		this.set(this.scale.value(Math.min(Math.max(position, Number(min)), Number(max))));
	}

	reset() {
		this.show(this.initial, null);
	}

	/* value: of a state, or anything else for the initial one. */
	restore(value) {
		this.show(Number.isFinite(value) ? value : this.initial, null);
	}
}

/* Makes a handle in a picture: drag(x, y) receives points in the picture's units, step(n) the number of arrow-key
 * steps, end(way) −1 for Home and 1 for End. */
export function makeHandle(svg, handle, {drag, step, end}) {
	const point = (event) => {
		const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
		drag(at.x, at.y);
	};
	handle.addEventListener("pointerdown", (event) => {
		handle.setPointerCapture(event.pointerId);
		handle.focus();
		event.preventDefault();
	});
	handle.addEventListener("pointermove", (event) => {
		if (handle.hasPointerCapture(event.pointerId)) point(event);
	});
	handle.addEventListener("keydown", (event) => {
		const way = {Home: -1, End: 1}[event.key];
		if (way) {
			event.preventDefault();
			end(way);
			return;
		}
		const n = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10}[event.key];
		if (n === undefined) return;
		event.preventDefault();
		step(event.shiftKey ? 10 * n : n);
	});
}
