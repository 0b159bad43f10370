/* Anisotropic coefficients and the direction of slip. */
import {makeHandle} from "./controls.js";
import {Exchange} from "./exchange.js";
import {add, arrow, fillList, fitText, format, label, set} from "./svg.js";
import {Freshness, Latest, request} from "./service.js";

const PATH = "v1/functions/anisotropic_mu_eff_from_tau_aniso";
const CENTRE = 200,
	REACH = 135,
	RIM = 172,
	N_DIRECTIONS = 180;

const unit = (degrees) => [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
const AROUND = Array.from({length: N_DIRECTIONS}, (_, i) => unit((360 * i) / N_DIRECTIONS));

export class Ellipse {
	constructor(section, read, direction, locate) {
		Object.assign(this, {read, direction}); /* read returns {mu_s_aniso, mu_k_aniso, mu_s, mu_k} */
		this.svg = section.querySelector("#ellipse-picture");
		this.list = section.querySelector("dl");
		this.exchange = new Exchange(section.querySelector("details.exchange"), "anisotropy");
		this.drawing = add(this.svg, "g");
		this.handle = add(this.svg, "circle", {
			class: "handle slip",
			r: 13,
			role: "slider",
			tabindex: "0",
			"aria-label": "direction of slip, degrees",
			"aria-valuemin": "-180",
			"aria-valuemax": "180",
		});
		makeHandle(this.svg, this.handle, {
			drag: (x, y) => direction.set(Math.round((10 * Math.atan2(CENTRE - y, x - CENTRE) * 180) / Math.PI) / 10),
			end: (way) => direction.set(180 * way),
			step: (n) => direction.set(((Math.round(direction.value) + n + 540) % 360) - 180),
		});
		fitText(this.svg);
		this.latest = new Latest((signal) => this.ask(signal), new Freshness(section, locate));
	}

	requests() {
		return this.exchange.shown ? [this.exchange.shown] : [];
	}

	update() {
		this.place();
		this.latest.update();
	}

	place() {
		const [c, s] = unit(this.direction.value);
		set(this.handle, {cx: CENTRE + RIM * c, cy: CENTRE - RIM * s, "aria-valuenow": String(this.direction.value)});
	}

	/* The coefficients in the chosen direction and all around, in one request. */
	async ask(signal) {
		const parameters = this.read(),
			t = unit(this.direction.asked);
		const {json} = await request(PATH, JSON.stringify({tau_aniso: [t, ...AROUND], ...parameters}), signal);
		const [values, ...around] = json.values;
		this.draw(parameters, t, values, around);
		this.exchange.show(PATH, JSON.stringify({tau_aniso: [t], ...parameters}), {...json, values: [values]});
	}

	draw({mu_s_aniso, mu_k_aniso, mu_s, mu_k}, t, [static_, kinetic], around) {
		const axes = (pair, scalar) => (pair.every((v) => v === 0) ? [scalar, scalar] : pair);
		const ellipses = {static: axes(mu_s_aniso, mu_s), kinetic: axes(mu_k_aniso, mu_k)};
		const largest = Math.max(...ellipses.static, ...ellipses.kinetic, 1e-300),
			scale = REACH / largest;
		const g = this.drawing;
		g.replaceChildren();
		add(g, "circle", {class: "rim", cx: CENTRE, cy: CENTRE, r: RIM});
		add(g, "line", {class: "zero", x1: 20, x2: 380, y1: CENTRE, y2: CENTRE});
		add(g, "line", {class: "zero", x1: CENTRE, x2: CENTRE, y1: 20, y2: 380});
		label(g, {class: "symbol", x: 394, y: CENTRE + 20, "text-anchor": "end"}, "τ̂_0");
		label(g, {class: "symbol", x: CENTRE + 8, y: 18}, "τ̂_1");
		for (const [kind, [a, b]] of Object.entries(ellipses)) {
			const column = kind === "static" ? 0 : 1;
			const points = AROUND.map(([c, s], i) => {
				const r = scale * around[i][column];
				return `${(CENTRE + r * c).toFixed(2)},${(CENTRE - r * s).toFixed(2)}`;
			});
			add(g, "ellipse", {class: kind, cx: CENTRE, cy: CENTRE, rx: scale * a, ry: scale * b});
			add(g, "polygon", {class: `around ${kind}`, points: points.join(" ")});
			add(g, "line", {
				class: `point ${kind}`,
				x1: CENTRE,
				y1: CENTRE,
				x2: CENTRE + scale * a * t[0],
				y2: CENTRE - scale * b * t[1],
			});
			add(g, "circle", {
				class: `point ${kind}`,
				cx: CENTRE + scale * a * t[0],
				cy: CENTRE - scale * b * t[1],
				r: 4,
			});
		}
		arrow(g, CENTRE, CENTRE, (RIM - 11) * t[0], -(RIM - 11) * t[1], "slip");
		const [sx, sy] = [CENTRE + 0.5 * RIM * t[0] + 14 * t[1], CENTRE - 0.5 * RIM * t[1] + 14 * t[0]];
		label(g, {class: "letter", x: sx, y: sy, dy: "0.35em", "text-anchor": "middle"}, "τ̂");
		arrow(g, CENTRE, CENTRE, -scale * static_ * t[0], scale * static_ * t[1], "force static", "F_s");
		arrow(
			g,
			CENTRE,
			CENTRE,
			-scale * kinetic * t[0],
			scale * kinetic * t[1],
			"force kinetic",
			Math.abs(static_ - kinetic) * scale > 30 ? "F_k" : "",
		);
		const pair = (v) => `(${v.map((w) => format(Math.abs(w) < 1e-15 ? 0 : w, 6)).join(", ")})`;
		fillList(this.list, [
			["direction of slip τ̂", pair(t), "t"],
			["effective μ static", String(static_), "mu_s"],
			["effective μ kinetic", String(kinetic), "mu_k"],
			["force direction −τ̂", pair(t.map((v) => -v)), "force"],
			["kinetic force ÷ normal force", pair(t.map((v) => -kinetic * v)), "kinetic"],
		]);
	}
}
