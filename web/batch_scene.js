/* The picture of a batch: strokes, collected from the contacts in double precision, on a canvas. Parallel projection, so
 * that arrows of one length look alike everywhere. WebGL is no faster without a graphics card, and browsers then warn of it
 * on the console. */
import {axesOf, cross, minus, norm, times} from "./batch_contacts.js";

/* In the order in which they are painted. */
const LINE = 0, DASHED = 1, DOUBLE = 2, OPEN = 3, SOLID = 4, DOT = 5, RING = 6; // prettier-ignore
const COLOURS = ["--soft", "--ink", "--normal", "--static", "--kinetic", "--slip", "--force", "--moving", "--accent"];
const [SOFT, INK, NORMAL, STATIC, KINETIC, SLIP, FORCE, MOVING, ACCENT] = COLOURS.keys();
const HEAD = 11;
const DETAILED = 4000; /* contacts up to which all that is switched on is drawn; of more, those in view if they are few */
const IN_VIEW = 1500;
const CELL = 3, FORCE_CELL = 15; /* pixels: beyond, one dot and one force is drawn in each cell */ // prettier-ignore
const PATH = 256; /* segments in one path: longer ones take longer in all */
const ARC = Array.from({length: 33}, (_, i) => [Math.cos((Math.PI * i) / 16), Math.sin((Math.PI * i) / 16)]);

/* Strokes by style, to be painted in the order of kinds. */
class Strokes {
	constructor() {
		this.styles = new Map();
		this.n = 0;
	}

	add(a, b, width, kind, colour) {
		const key = 10000 * kind + 1000 * colour + 10 * width;
		if (!this.styles.has(key)) this.styles.set(key, {kind, colour, width, points: []});
		this.styles.get(key).points.push(a[0], a[1], a[2] ?? 0, b[0], b[1], b[2] ?? 0);
		this.n++;
	}

	arrow(from, vector, kind, colour, width = 2.2) {
		const to = from.map((x, d) => x + vector[d]);
		this.add(from, to, width, LINE, colour);
		this.add(from, to, width, kind, colour);
	}

	loop(points, width, kind, colour) {
		for (let i = 1; i < points.length; i++) this.add(points[i - 1], points[i], width, kind, colour);
	}

	paint(to, camera, colours) {
		to.lineJoin = "round";
		for (const [, {kind, colour, width, points}] of [...this.styles].sort(([a], [b]) => a - b)) {
			to.strokeStyle = to.fillStyle = colours[colour];
			to.lineWidth = kind === RING ? 1.8 : kind === OPEN ? 2 : width;
			to.setLineDash(kind === DASHED ? [5.5, 3.5] : []);
			const finish = kind === SOLID || kind === DOUBLE || kind === DOT ? () => to.fill() : () => to.stroke();
			to.beginPath();
			for (let i = 0; i < points.length; i += 6) {
				const [x0, y0] = camera.project(points, i),
					[x1, y1] = camera.project(points, i + 3);
				mark(to, kind, width, x0, y0, x1, y1);
				if (i % (6 * PATH) !== 6 * PATH - 6) continue;
				finish();
				to.beginPath();
			}
			finish();
		}
		to.setLineDash([]);
	}
}

function mark(to, kind, width, x0, y0, x1, y1) {
	if (kind === DOT || kind === RING) {
		to.moveTo(x0 + width, y0);
		to.arc(x0, y0, width, 0, 2 * Math.PI);
		return;
	}
	const l = Math.hypot(x1 - x0, y1 - y0);
	if (l < 0.5) return;
	const h = Math.min(HEAD, 0.6 * l),
		ux = (x1 - x0) / l,
		uy = (y1 - y0) / l;
	if (kind === LINE || kind === DASHED) {
		to.moveTo(x0, y0);
		to.lineTo(x1, y1);
		return;
	}
	for (const back of kind === DOUBLE ? [0, 0.9 * h] : [0]) {
		const x = x1 - ux * back,
			y = y1 - uy * back,
			w = 0.42 * h;
		to.moveTo(x - ux * h - uy * w, y - uy * h + ux * w);
		to.lineTo(x, y);
		to.lineTo(x - ux * h + uy * w, y - uy * h - ux * w);
	}
}

class Camera {
	constructor() {
		Object.assign(this, {yaw: -0.6, pitch: 0.95, zoom: 1, shift: [0, 0], isFlat: false});
	}

	aim(width = 0, height = 0) {
		this.middle = [width / 2, height / 2];
		const [c, s, e, f] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
		this.turn = this.isFlat ? [[1, 0, 0], [0, 1, 0], [0, 0, 1]] : [[c, -s, 0], [s * e, c * e, f], [-s * f, -c * f, e]]; // prettier-ignore
	}

	/* The place on the canvas, in pixels, of the point at p[i], p[i + 1], p[i + 2]. */
	project(p, i = 0) {
		const [r, s] = this.turn,
			x = p[i],
			y = p[i + 1],
			z = p[i + 2];
		return [
			this.middle[0] + this.shift[0] + this.zoom * (r[0] * x + r[1] * y + r[2] * z),
			this.middle[1] - this.shift[1] - this.zoom * (s[0] * x + s[1] * y + s[2] * z),
		];
	}
}

const quantile = (values, q) => values.toSorted((a, b) => a - b)[Math.floor(q * (values.length - 1))] || 0;

export class Picture {
	/* on: {pick(index)} */
	constructor(canvas, on) {
		Object.assign(this, {
			canvas,
			on,
			camera: new Camera(),
			shown: {},
			scales: {force: 1, velocity: 1},
			chosen: new Set(),
			selected: -1,
		});
		new ResizeObserver(() => this.fit()).observe(canvas);
		for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"])
			matchMedia(query).addEventListener("change", () => this.draw());
		this.listen();
	}

	listen() {
		const {canvas, camera} = this;
		let last = null,
			moved = 0;
		canvas.addEventListener("pointerdown", (event) => {
			last = [event.offsetX, event.offsetY];
			moved = 0;
			canvas.setPointerCapture(event.pointerId);
		});
		canvas.addEventListener("pointermove", (event) => {
			if (!last) return;
			const dx = event.offsetX - last[0],
				dy = event.offsetY - last[1];
			moved += Math.abs(dx) + Math.abs(dy);
			last = [event.offsetX, event.offsetY];
			if (moved < 4) return;
			if (event.shiftKey || camera.isFlat) camera.shift = [camera.shift[0] + dx, camera.shift[1] - dy];
			else this.turn(dx / 150, dy / 150);
			this.draw();
		});
		canvas.addEventListener("pointerup", (event) => {
			if (last && moved < 4) this.pick(event.offsetX, event.offsetY);
			last = null;
		});
		addEventListener("beforeprint", () => this.print(true));
		addEventListener("afterprint", () => this.print(false));
		canvas.addEventListener("pointercancel", () => {
			last = null;
		});
		canvas.addEventListener("wheel", (event) => {
			if (!event.ctrlKey && document.activeElement !== canvas) return;
			event.preventDefault();
			this.zoom(Math.exp(-event.deltaY / 400));
		}, {passive: false}); // prettier-ignore
		canvas.addEventListener("keydown", (event) => {
			if (event.ctrlKey || event.metaKey || event.altKey) return;
			const act = {
				ArrowLeft: () => this.turn(-0.15, 0),
				ArrowRight: () => this.turn(0.15, 0),
				ArrowUp: () => this.turn(0, -0.15),
				ArrowDown: () => this.turn(0, 0.15),
				"+": () => this.zoom(1.25),
				"-": () => this.zoom(0.8),
				f: () => this.fit(),
				n: () => this.on.step(1),
				p: () => this.on.step(-1),
			}[event.key];
			if (!act) return;
			event.preventDefault();
			act();
			this.draw();
		});
	}

	turn(x, y) {
		const {camera} = this;
		if (camera.isFlat) camera.shift = [camera.shift[0] + 150 * x, camera.shift[1] - 150 * y];
		camera.yaw += x;
		camera.pitch = Math.min(Math.PI, Math.max(0, camera.pitch - y));
	}

	zoom(factor) {
		const {camera} = this;
		camera.zoom *= factor;
		camera.shift = times(camera.shift, factor);
		this.collect();
		this.draw();
	}

	/* scene: from contactsOf() */
	show(scene) {
		this.scene = scene;
		const {camera} = this,
			points = scene.list.flatMap((c) => [c.at, ...c.stencil]);
		const low = [0, 1, 2].map((d) => points.reduce((m, p) => Math.min(m, p[d] ?? 0), Infinity)),
			high = [0, 1, 2].map((d) => points.reduce((m, p) => Math.max(m, p[d] ?? 0), -Infinity));
		this.centre = points.length ? low.map((x, d) => (x + high[d]) / 2) : [0, 0, 0];
		camera.isFlat = scene.dim === 2;
		this.strokes = null;
		const radius = points.reduce((m, p) => Math.max(m, norm(minus(p, this.centre.slice(0, scene.dim)))), 0) || 1;
		const {list} = scene;
		this.places = new Float64Array(list.flatMap((c) => this.local(c.at)));
		const spacing = radius * Math.min(0.25, 1.6 / Math.sqrt(list.length || 1));
		const least = (values) => {
			const usual = quantile(
				values.filter((v) => v > 0),
				list.length > 100 ? 0.9 : 1,
			);
			return usual > 0 ? spacing / usual : 1;
		};
		this.units = {
			force: least(list.map((c) => (c.force ? Math.max(norm(c.force), 0.7 * Math.abs(c.weight) * c.lambda) : 0))),
			velocity: least(list.map((c) => (c.velocity ? norm(c.velocity) : 0))),
		};
		this.spacing = spacing;
		this.fit();
	}

	fit() {
		const {camera, canvas} = this,
			{clientWidth: width, clientHeight: height} = canvas;
		camera.shift = [0, 0];
		camera.aim(width, height);
		let x = 0,
			y = 0;
		for (const c of this.scene?.list ?? [])
			for (const p of [c.at, ...c.stencil, ...this.tips(c)]) {
				const q = this.local(p),
					[r, s] = camera.turn;
				x = Math.max(x, Math.abs(r[0] * q[0] + r[1] * q[1] + r[2] * q[2]));
				y = Math.max(y, Math.abs(s[0] * q[0] + s[1] * q[1] + s[2] * q[2]));
			}
		const room = 0.3 * (this.spacing ?? 0);
		camera.zoom = Math.min(width / (2 * x + room || 1), height / (2 * y + room || 1)) * 0.94;
		this.collect();
		this.draw();
	}

	/* Where the arrows of a contact end. */
	tips(c) {
		const {force, velocity} = this.units;
		return [
			[c.force, force],
			[c.velocity, velocity],
			[c.normal, force * Math.abs(c.weight) * c.lambda],
		].flatMap(([v, t]) => (v ? [c.at.map((x, d) => x + t * v[d])] : []));
	}

	/* Collects the strokes again, after a change of what is shown. */
	collect() {
		if (!this.scene) return;
		const {list} = this.scene;
		this.isCrowd = list.length > DETAILED;
		this.strokes = new Strokes();
		list.forEach((c, i) => {
			const isMarked = i === this.selected || (this.chosen.has(i) && this.chosen.size <= DETAILED);
			if (!this.isCrowd || isMarked) this.contact(this.strokes, c, isMarked, i === this.selected);
		});
	}

	/* Draws a crowd: of those in view, one dot per cell, and fewer forces; or all if they are few. */
	crowd(to, colours, width, height) {
		const {list} = this.scene,
			{camera} = this,
			strokes = new Strokes(),
			seen = [];
		for (let i = 0; i < list.length; i++) {
			const [x, y] = camera.project(this.places, 3 * i);
			if (x >= 0 && y >= 0 && x < width && y < height) seen.push(i, x, y);
		}
		if (seen.length <= 3 * IN_VIEW) {
			for (let k = 0; k < seen.length; k += 3) this.contact(strokes, list[seen[k]], false, false);
			strokes.paint(to, camera, colours);
			return strokes.n;
		}
		const grid = (cell) => ({
			cell,
			across: Math.ceil(width / cell),
			taken: new Uint8Array(Math.ceil(width / cell) * Math.ceil(height / cell)),
		});
		const isFree = ({cell, across, taken}, x, y) => {
			const at = Math.floor(y / cell) * across + Math.floor(x / cell);
			return !taken[at] && (taken[at] = 1);
		};
		const dots = grid(CELL),
			forces = grid(FORCE_CELL),
			force =
				this.units.force * this.scales.force * Math.max(1, (0.9 * FORCE_CELL) / (camera.zoom * this.spacing));
		let n = 0,
			isSliding = null;
		for (let k = 0; k < seen.length; k += 3) {
			const [i, x, y] = [seen[k], seen[k + 1], seen[k + 2]],
				c = list[i];
			if (!isFree(dots, x, y)) continue;
			if (isSliding !== (c.status === 1)) {
				isSliding = c.status === 1;
				to.fillStyle = colours[isSliding ? MOVING : NORMAL];
			}
			if (isSliding) to.fillRect(x - 1, y - 1, 2, 2);
			else to.fillRect(x - 1.5, y - 0.5, 3, 1); /* dots of sliding contacts are square, others flat */
			n++;
			if (!this.shown.force || !c.force || !isFree(forces, x, y)) continue;
			const at = this.local(c.at);
			strokes.arrow(
				at,
				[0, 1, 2].map((d) => (c.force[d] ?? 0) * force),
				SOLID,
				FORCE,
				1.6,
			);
		}
		strokes.paint(to, camera, colours);
		return n + strokes.n;
	}

	local(p) {
		return [p[0] - this.centre[0], p[1] - this.centre[1], (p[2] ?? 0) - this.centre[2]];
	}

	contact(strokes, c, isMarked, isSelected) {
		const {shown} = this,
			at = this.local(c.at),
			force = this.units.force * this.scales.force,
			velocity = this.units.velocity * this.scales.velocity,
			dot = Math.max(1, Math.min(4, 0.07 * this.spacing * this.camera.zoom)),
			thick = Math.max(1, 0.6 * dot);
		const scaled = (v, t) => [v[0] * t, v[1] * t, (v[2] ?? 0) * t];
		if (isMarked) strokes.add(at, at, isSelected ? 10 : 7, RING, isSelected ? ACCENT : MOVING);
		strokes.add(at, at, dot, c.status === 1 ? DOT : RING, c.status === 1 ? MOVING : c.status === 0 ? NORMAL : SOFT);
		if (shown.stencils) this.stencil(strokes, c, at, isMarked ? 2.4 : Math.min(thick, 1.2));
		if (!c.force) return;
		if (shown.normals && c.normal)
			strokes.arrow(
				at,
				scaled(c.normal, force * Math.abs(c.weight) * c.lambda || this.spacing / 2),
				DOUBLE,
				NORMAL,
				thick,
			);
		if (shown.slip && c.velocity) strokes.arrow(at, scaled(c.velocity, velocity), OPEN, SLIP, thick);
		if (shown.force) strokes.arrow(at, scaled(c.force, force), SOLID, FORCE, 1.2 * thick);
		if (!c.basis) return;
		const columns = c.basis[0].map((_, k) => [0, 1, 2].map((d) => c.basis[d]?.[k] ?? 0));
		if (shown.bases)
			columns.forEach((column, k) =>
				strokes.add(
					at,
					at.map((x, d) => x + column[d] * this.spacing * (k ? 0.3 : 0.5)),
					1.4,
					k ? DASHED : LINE,
					INK,
				),
			);
		if (shown.split) {
			strokes.add(
				at,
				at.map((x, d) => x + (c.along[d] ?? 0) * force),
				2,
				DASHED,
				FORCE,
			);
			const corner = at.map((x, d) => x + (c.along[d] ?? 0) * force);
			strokes.add(
				corner,
				corner.map((x, d) => x + (c.across[d] ?? 0) * force),
				2,
				DASHED,
				STATIC,
			);
		}
		const isRound = shown.cones || shown.ellipses;
		if (!isRound || !(c.lambda > 0)) return;
		const up = c.normal ? scaled(c.normal, force * Math.abs(c.weight) * c.lambda) : [0, 0, 0];
		axesOf(c).forEach((axes, k) => {
			const rim = (base) =>
				ARC.map(([x, y]) =>
					base.map(
						(b, d) =>
							b + force * (axes[0] * x * columns[0][d] + (columns[1] ? axes[1] * y * columns[1][d] : 0)),
					),
				);
			if (shown.ellipses) strokes.loop(rim(at), 1.4, k ? LINE : DASHED, k ? KINETIC : STATIC);
			if (!shown.cones || !c.normal) return;
			const top = rim(at.map((x, d) => x + up[d]));
			strokes.loop(top, 1.2, k ? LINE : DASHED, k ? KINETIC : STATIC);
			for (const q of [0, 8, 16, 24]) strokes.add(at, top[q], 1.2, k ? LINE : DASHED, k ? KINETIC : STATIC);
		});
	}

	stencil(strokes, c, at, width) {
		const p = c.stencil.map((x) => this.local(x)),
			pairs = {vertex_vertex: [[0, 1]], edge_vertex: [[1, 2]], edge_edge: [[0, 1], [2, 3]], face_vertex: [[1, 2], [2, 3], [3, 1]]}; // prettier-ignore
		for (const [i, k] of pairs[c.group] ?? []) if (p[k]) strokes.add(p[i], p[k], width, LINE, SOFT);
		if (c.group.startsWith("body")) for (const x of p) strokes.add(x, at, width, DASHED, SOFT);
		if (c.group !== "plane_vertex" || !c.normal) return;
		const n = [0, 1, 2].map((d) => c.normal[d] ?? 0),
			first = this.scene.dim === 2 ? [-n[1], n[0], 0] : cross(n, Math.abs(n[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]),
			r = (0.3 * this.spacing) / norm(first),
			second = this.scene.dim === 2 ? [0, 0, 0] : cross(n, first);
		for (const t of [first, second])
			if (norm(t) > 0)
				strokes.add(
					at.map((x, d) => x - r * t[d]),
					at.map((x, d) => x + r * t[d]),
					width,
					LINE,
					SOFT,
				);
	}

	/* On paper, in light colours. */
	print(isPrinted) {
		document.documentElement.classList.toggle("printed", isPrinted);
		this.paint();
	}

	draw() {
		if (this.waiting) return;
		this.waiting = requestAnimationFrame(() => {
			this.waiting = null;
			this.paint();
		});
	}

	paint() {
		const {canvas, camera, scene} = this,
			{clientWidth: width, clientHeight: height} = canvas,
			ratio = Math.min(devicePixelRatio || 1, 2);
		if (!width || !this.strokes) return;
		const began = performance.now();
		if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio))
			Object.assign(canvas, {width: Math.round(width * ratio), height: Math.round(height * ratio)});
		const to = canvas.getContext("2d"),
			style = getComputedStyle(canvas);
		to.setTransform(ratio, 0, 0, ratio, 0, 0);
		to.fillStyle = style.backgroundColor;
		to.fillRect(0, 0, width, height);
		const colours = COLOURS.map((name) => style.getPropertyValue(name).trim());
		camera.aim(width, height);
		const n = this.isCrowd ? this.crowd(to, colours, width, height) : 0;
		this.strokes.paint(to, camera, colours);
		this.letters(to, style);
		canvas.dataset.strokes = n + this.strokes.n;
		canvas.dataset.ms = (performance.now() - began).toFixed(1);
	}

	/* Letters at the arrows of the selected contact. */
	letters(to, style) {
		const c = this.scene.list[this.selected],
			{canvas} = this;
		delete canvas.dataset.letters;
		if (!c) return;
		const at = this.local(c.at),
			force = this.units.force * this.scales.force;
		const marks = [
			["F", this.shown.force && c.force, force],
			["u", this.shown.slip && c.velocity, this.units.velocity * this.scales.velocity],
			["N", this.shown.normals && c.normal, force * Math.abs(c.weight) * c.lambda || this.spacing / 2],
		];
		to.font = `600 17px ${style.fontFamily}`;
		to.textAlign = "center";
		to.textBaseline = "middle";
		const placed = [];
		for (const [letter, v, t] of marks) {
			if (!v || !(norm(v) > 0)) continue;
			const [x0, y0] = this.camera.project(at),
				[x1, y1] = this.camera.project(at.map((x, d) => x + (v[d] ?? 0) * t)),
				l = Math.hypot(x1 - x0, y1 - y0) || 1;
			let [x, y] = [x1 + (14 * (x1 - x0)) / l, y1 + (14 * (y1 - y0)) / l];
			while (placed.some(([a, b]) => Math.abs(a - x) < 16 && Math.abs(b - y) < 18)) y -= 6;
			placed.push([x, y]);
			to.lineWidth = 4;
			to.strokeStyle = style.backgroundColor;
			to.strokeText(letter, x, y);
			to.fillStyle = style.color;
			to.fillText(letter, x, y);
		}
		canvas.dataset.letters = JSON.stringify(placed);
	}

	pick(x, y) {
		let nearest = -1,
			least = 20;
		this.scene?.list.forEach((_, i) => {
			const [a, b] = this.camera.project(this.places, 3 * i),
				distance = Math.hypot(a - x, b - y);
			if (distance < least) [nearest, least] = [i, distance];
		});
		if (nearest >= 0) this.on.pick(nearest);
	}
}
