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

/* Thrown if a field does not contain a number. */
export class Unreadable extends Error {
	words() {
		return this.message;
	}
}

export class Control {
	constructor(name, initial, changed, scale = "linear") {
		this.scale = scales[scale];
		this.changed = changed;
		this.initial = initial;
		this.field = document.getElementById(name);
		this.slider = document.getElementById(`${name}-slider`);
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
		this.field.setAttribute("aria-invalid", String(!readable));
	}

	/* Throws unless the field shows the current value. */
	get asked() {
		if (!this.readable)
			throw new Unreadable(`The field ${this.field.id} does not contain a number. The results shown are for ${this.value}.`);
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
 * steps. */
export function makeHandle(svg, handle, {drag, step}) {
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
		const n = {ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10}[event.key];
		if (n === undefined) return;
		event.preventDefault();
		step(event.shiftKey ? 10 * n : n);
	});
}
