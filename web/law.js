/* Plots of the scalar functions against the speed. */
import {resistance} from "./balance.js";
import {Exchange} from "./exchange.js";
import {Plot} from "./plot.js";
import {format} from "./svg.js";
import {Freshness, Latest, request} from "./service.js";

/* peak: plotted with that transition only, or (false) with the others only. */
const FUNCTIONS = [
	{
		name: "smooth_mu_f1",
		peak: false,
		symbol: "μ f₁",
		unit: "",
		title: "μ(y) f₁(y)",
		text: "The friction force divided by the normal force.",
	},
	{
		name: "law_force",
		peak: true,
		symbol: "G₁",
		unit: "",
		title: "G₁(y)",
		text: "The friction force divided by the normal force.",
	},
	{
		name: "smooth_friction_f0",
		symbol: "f₀",
		unit: "m/s",
		title: "f₀(y)",
		text: "The mollified speed, an integral of f₁: equal to y from εᵥ on, smooth at rest.",
	},
	{
		name: "smooth_friction_f1",
		symbol: "f₁",
		unit: "",
		title: "f₁(y)",
		text: "The smoothed sign of the speed: 0 at rest, 1 from εᵥ on.",
	},
	{
		name: "smooth_friction_f2",
		symbol: "f₂",
		unit: "s/m",
		title: "f₂(y) = f₁′(y)",
		text: "Its derivative, zero from εᵥ on.",
	},
	{
		name: "smooth_friction_f1_over_x",
		symbol: "f₁/y",
		unit: "s/m",
		title: "f₁(y) / y",
		text: "The factor of the slip vector in the force; finite at rest.",
	},
	{
		name: "smooth_mu",
		peak: false,
		symbol: "μ",
		unit: "",
		title: "μ(y)",
		text: "The coefficient goes from static at rest to kinetic at εᵥ.",
	},
	{
		name: "smooth_mu_derivative",
		peak: false,
		symbol: "μ′",
		unit: "s/m",
		title: "μ′(y)",
		text: "Its derivative: negative where friction weakens with speed.",
	},
	{
		name: "smooth_mu_f0",
		peak: false,
		symbol: "∫ μ f₁",
		unit: "m/s",
		title: "∫ μ(y) f₁(y) dy",
		text: "The potential divided by the normal force: μₖ y from εᵥ on.",
	},
	{
		name: "smooth_mu_f2",
		peak: false,
		symbol: "(μ f₁)′",
		unit: "s/m",
		title: "(μ f₁)′(y)",
		text: "Stiffness along the slip; negative where μ f₁ falls.",
	},
	{
		name: "smooth_mu_f1_over_x",
		peak: false,
		symbol: "μ f₁/y",
		unit: "s/m",
		title: "μ(y) f₁(y) / y",
		text: "Stiffness across the slip.",
	},
	{
		name: "law_potential",
		peak: true,
		symbol: "G₀",
		unit: "m/s",
		title: "G₀(y)",
		text: "The potential divided by the normal force, an integral of G₁: μₖ y from εᵥ on.",
	},
	{
		name: "law_force_derivative",
		peak: true,
		symbol: "G₁′",
		unit: "s/m",
		title: "G₁′(y)",
		text: "Stiffness along the slip; negative where G₁ falls.",
	},
	{
		name: "law_force_over_speed",
		peak: true,
		symbol: "G₁/y",
		unit: "s/m",
		title: "G₁(y) / y",
		text: "Stiffness across the slip.",
	},
];
const FORCES = ["smooth_mu_f1", "law_force"];
const STEPS = 160; /* from 0 to eps_v if the plots end at 2 eps_v; eps_v itself is always one of the points */

export class Law {
	constructor(section, read) {
		this.read = read; /* returns {eps_v, mu_s, mu_k, mu_transition, range: [from, to]} */
		this.select = section.querySelector("select");
		this.exchange = new Exchange(section.querySelector("details.exchange"), "function");
		this.answers = {};
		this.cursor = null;
		this.place = section.querySelector(".plots");
		this.plots = FUNCTIONS.map(
			(what) =>
				new Plot(this.place, what, {
					large: FORCES.includes(what.name),
					guides: () => this.guides(what.name),
					onCursor: (index) => this.point(index),
				}),
		);
		this.reading = section.querySelector(".reading");
		this.arrange(this.plotsOf(read()));
		this.select.addEventListener("change", () => this.showExchange());
		this.latest = new Latest((signal) => this.ask(signal), new Freshness(section));
	}

	update() {
		this.latest.update();
	}

	plotsOf({mu_transition}) {
		return this.plots.filter(({what}) => (what.peak ?? mu_transition === "peak") === (mu_transition === "peak"));
	}

	/* Only if they are others than before: a plot that is put back loses the focus. */
	arrange(plots) {
		if (this.arranged?.length === plots.length && this.arranged.every((plot, i) => plot === plots[i])) return;
		this.arranged = plots;
		this.place.replaceChildren(...plots.map(({figure}) => figure));
		this.select.replaceChildren(...plots.map(({what}) => new Option(what.name)));
	}

	guides(name) {
		const {mu_s, mu_k} = this.shown ?? {};
		return FORCES.includes(name) && this.shown ? [[mu_s, "μₛ"], ...(mu_k === mu_s ? [] : [[mu_k, "μₖ"]])] : [];
	}

	sample({eps_v, range: [from, to]}) {
		const n = to - from === 2 ? STEPS : to - from === 4 ? STEPS / 2 : STEPS / 2.5;
		return Array.from({length: (to - from) * n + 1}, (_, i) => eps_v * ((from * n + i) / n));
	}

	/* Updates all curves or none, so that curves shown together belong together. */
	async ask(signal) {
		const law = this.read();
		const y = this.sample(law),
			list = JSON.stringify(y);
		const {eps_v, mu_s, mu_k, mu_transition} = law;
		const tails = {
			friction: JSON.stringify({eps_v}).slice(1),
			law: JSON.stringify({mu_s, mu_k, eps_v, mu_transition}).slice(1),
		};
		const plots = this.plotsOf(law);
		const [curve, ...answers] = await Promise.all([
			resistance(law, signal),
			...plots.map(async ({what: {name, peak}}) => {
				const path = `v1/functions/${name}`;
				const body = `{"y":${list},${peak === undefined ? tails.friction : tails.law}`;
				return {path, body, json: (await request(path, body, signal)).json};
			}),
		]);
		this.shown = law;
		this.curve = curve;
		this.y = y;
		this.arrange(plots);
		this.answers = Object.fromEntries(plots.map(({what}, i) => [what.name, answers[i]]));
		plots.forEach((plot, i) =>
			plot.show(y, answers[i].json.values, law.range[0] < 0 ? [-eps_v, eps_v] : [eps_v]),
		);
		this.tellReading();
		this.showExchange();
	}

	/* All plots show their values at the same speed: eps_v until the user points elsewhere. */
	point(index) {
		this.cursor = index;
		this.tellReading();
	}

	tellReading() {
		const at = Math.min(this.cursor ?? this.y.indexOf(this.shown.eps_v), this.y.length - 1);
		for (const plot of this.arranged) plot.moveTo(at);
		this.reading.textContent =
			`Reading at y = ${String(this.y[at]).replace("-", "−")} m/s, ` +
			`${format(this.y[at] / this.shown.eps_v)} εᵥ. ${this.peak()}`;
	}

	/* From finer points than the plot has: the same value that the incline compares with. */
	peak() {
		if (this.shown.mu_s <= this.shown.mu_k) return "";
		return (
			`The largest ${this.curve.symbol} is ${format(this.curve.largest)}, at ${format(this.curve.peak, 2)} εᵥ: ` +
			(this.shown.mu_transition === "peak"
				? "static friction holds up to μₛ."
				: "μ begins to fall before f₁ has reached 1, so it stays below μₛ.")
		);
	}

	showExchange() {
		const shown = this.answers[this.select.value];
		if (shown) this.exchange.show(shown.path, shown.body, shown.json);
	}
}
