/* Plots of the scalar functions against the speed. */
import {forceOf, resistance} from "./balance.js";
import {Exchange} from "./exchange.js";
import {familyOf, hasTwoCoefficients, whole} from "./friction_laws.js";
import {Plot} from "./plot.js";
import {format} from "./svg.js";
import {Freshness, Latest} from "./service.js";

/* of: the families of laws (see familyOf) that have this plot. */
const FUNCTIONS = [
	{
		name: "smooth_mu_f1",
		of: ["mu"],
		symbol: "μ f_1",
		unit: "",
		title: "μ(y) f₁(y)",
		text: "The friction force divided by the normal force.",
	},
	{
		name: "law_force",
		of: ["peak", "law"],
		symbol: "G_1",
		unit: "",
		title: "G₁(y)",
		text: "The friction force divided by the normal force.",
	},
	{
		name: "smooth_friction_f0",
		of: ["mu", "peak"],
		symbol: "f_0",
		unit: "m/s",
		title: "f₀(y)",
		text: "The mollified speed, an integral of f₁: equal to y from εᵥ on, smooth at rest.",
	},
	{
		name: "smooth_friction_f1",
		of: ["mu", "peak"],
		symbol: "f_1",
		unit: "",
		title: "f₁(y)",
		text: "The smoothed sign of the speed: 0 at rest, 1 from εᵥ on.",
	},
	{
		name: "smooth_friction_f2",
		of: ["mu", "peak"],
		symbol: "f_2",
		unit: "s/m",
		title: "f₂(y) = f₁′(y)",
		text: "Its derivative, zero from εᵥ on.",
	},
	{
		name: "smooth_friction_f1_over_x",
		of: ["mu", "peak"],
		symbol: "f_1/y",
		unit: "s/m",
		title: "f₁(y) / y",
		text: "The factor of the slip vector in the force; finite at rest.",
	},
	{
		name: "smooth_mu",
		of: ["mu"],
		symbol: "μ",
		unit: "",
		title: "μ(y)",
		text: "The coefficient goes from static at rest to kinetic at εᵥ.",
	},
	{
		name: "smooth_mu_derivative",
		of: ["mu"],
		symbol: "μ′",
		unit: "s/m",
		title: "μ′(y)",
		text: "Its derivative: negative where friction weakens with speed.",
	},
	{
		name: "smooth_mu_f0",
		of: ["mu"],
		symbol: "∫ μ f_1",
		unit: "m/s",
		title: "∫ μ(y) f₁(y) dy",
		text: "The potential divided by the normal force: μₖ y from εᵥ on.",
	},
	{
		name: "smooth_mu_f2",
		of: ["mu"],
		symbol: "(μ f_1)′",
		unit: "s/m",
		title: "(μ f₁)′(y)",
		text: "Stiffness along the slip; negative where μ f₁ falls.",
	},
	{
		name: "smooth_mu_f1_over_x",
		of: ["mu"],
		symbol: "μ f_1/y",
		unit: "s/m",
		title: "μ(y) f₁(y) / y",
		text: "Stiffness across the slip.",
	},
	{
		name: "law_potential",
		of: ["peak", "law"],
		symbol: "G_0",
		unit: "m/s",
		title: "G₀(y)",
		text: "The potential divided by the normal force, an integral of G₁.",
	},
	{
		name: "law_force_derivative",
		of: ["peak", "law"],
		symbol: "G_1′",
		unit: "s/m",
		title: "G₁′(y)",
		text: "Stiffness along the slip; negative where G₁ falls.",
	},
	{
		name: "law_force_over_speed",
		of: ["peak", "law"],
		symbol: "G_1/y",
		unit: "s/m",
		title: "G₁(y) / y",
		text: "Stiffness across the slip.",
	},
];
const FORCES = ["smooth_mu_f1", "law_force"];
const STEPS = 160; /* from 0 to eps_v if the plots end at 2 eps_v; eps_v itself is always included */
const FAR = 240; /* beyond eps_v, if a law continues beyond 2 eps_v */

const PARTS = `
	<p class="reading"></p>
	<div class="plots"></div>
	<details class="exchange">
		<summary>Request and answer</summary>
		<label>Function <select></select></label>
	</details>`;

export class Law {
	/**
	 * section: has .stale and .fault, the plots follow them. read returns the parameters of the law, readRange "whole" or "FROM TO" in units of eps_v
	 * withoutForce: another plot shows the force; locate: of Freshness
	 */
	constructor(section, read, readRange, {withoutForce = false, locate} = {}) {
		Object.assign(this, {read, readRange, withoutForce});
		section.insertAdjacentHTML("beforeend", PARTS);
		this.select = section.querySelector("select");
		this.exchange = new Exchange(section.querySelector("details.exchange"), "function");
		this.answers = {};
		this.cursor = null;
		this.place = section.querySelector(".plots");
		this.plots = FUNCTIONS.map(
			(what) =>
				new Plot(this.place, what, {
					large: FORCES.includes(what.name),
					...(FORCES.includes(what.name) ? {narrow: 220} : {}),
					guides: () => this.guides(what.name),
					onCursor: (index) => this.point(index),
				}),
		);
		this.reading = section.querySelector(".reading");
		this.arrange(this.plotsOf(read()));
		this.select.addEventListener("change", () => this.showExchange());
		this.latest = new Latest((signal) => this.ask(signal), new Freshness(section, locate));
	}

	requests() {
		const answers = Object.entries(this.answers);
		if (answers.length === 0) return [];
		const functions = Object.fromEntries(answers.map(([name, {body}]) => [name, JSON.parse(body)]));
		return [{path: "v1/functions", body: JSON.stringify({functions})}];
	}

	/* The values of all functions shown, for a file. */
	table() {
		const lists = Object.entries(this.answers).map(([name, {json}]) => [name, json.values]);
		return {
			columns: ["speed_m_per_s", ...lists.map(([name]) => name)],
			rows: lists.length ? this.y.map((y, i) => [y, ...lists.map(([, values]) => values[i])]) : [],
		};
	}

	update() {
		this.latest.update();
	}

	plotsOf(law) {
		return this.plots.filter(
			({what}) => what.of.includes(familyOf(law)) && !(this.withoutForce && FORCES.includes(what.name)),
		);
	}

	/* Replaces the plots only if they differ, because a plot that is reinserted loses the focus. */
	arrange(plots) {
		if (this.arranged?.length === plots.length && this.arranged.every((plot, i) => plot === plots[i])) return;
		this.arranged = plots;
		this.place.replaceChildren(...plots.map(({figure}) => figure));
		this.select.replaceChildren(...plots.map(({what}) => new Option(what.name)));
	}

	guides(name) {
		if (!FORCES.includes(name) || !this.shown) return [];
		const {mu_s, mu_k} = this.shown;
		if (!hasTwoCoefficients(this.shown)) return [[mu_s, "μ"]];
		return [[mu_s, "μ_s"], ...(mu_k === mu_s ? [] : [[mu_k, "μ_k"]])];
	}

	/* Speeds of the samples, including eps_v. A law that extends far beyond eps_v has points of its own below. */
	sample(law, range) {
		const {eps_v} = law,
			end = whole(law);
		if (range === "whole" && end > 2 * eps_v) {
			const slow = Array.from({length: STEPS / 2}, (_, i) => eps_v * (i / (STEPS / 2)));
			const fast = Array.from({length: FAR + 1}, (_, i) => eps_v + (end - eps_v) * (i / FAR));
			return [...new Set([...slow, ...fast, ...this.measured(law).map(([y]) => y)])].sort((a, b) => a - b);
		}
		const [from, to] = range === "whole" ? [0, 2] : range.split(" ").map(Number);
		const n = to - from === 2 ? STEPS : to - from === 4 ? STEPS / 2 : STEPS / 2.5;
		return Array.from({length: (to - from) * n + 1}, (_, i) => eps_v * ((from * n + i) / n));
	}

	/* The points of a measured curve, as speeds and forces divided by the normal force. */
	measured({eps_v, mu_s, curve, viscous = 0}) {
		if (!curve) return [];
		return curve.speeds.map((speed, i) => [eps_v + speed, mu_s * curve.factors[i] + viscous * (eps_v + speed)]);
	}

	/* Updates all curves or none, so that curves shown together match. */
	async ask(signal) {
		const law = this.read(),
			y = this.sample(law, this.readRange()),
			{eps_v} = law;
		const force = forceOf(law),
			plots = this.plotsOf(law);
		const bodyOf = (name) => ({y, ...(name.startsWith("smooth_friction") ? {eps_v} : law)});
		const names = plots.map(({what}) => what.name);
		const bodies = Object.fromEntries(names.filter((name) => name !== force).map((name) => [name, bodyOf(name)]));
		const got = await resistance(law, signal, bodies, y);
		const valuesOf = (name) => (name === force ? got.force : got.answers[name].values);
		Object.assign(this, {shown: law, curve: got.curve, y});
		this.arrange(plots);
		this.answers = Object.fromEntries(
			names.map((name) => [
				name,
				{
					path: `v1/functions/${name}`,
					body: JSON.stringify(bodyOf(name)),
					json: {function: name, values: valuesOf(name)},
				},
			]),
		);
		for (const plot of plots)
			plot.show(
				y,
				valuesOf(plot.what.name),
				y[0] < 0 ? [-eps_v, eps_v] : [eps_v],
				plot.what.name === "law_force" ? this.measured(law) : [],
			);
		this.tellReading();
		this.showExchange();
	}

	/* All plots show their values at the same speed: eps_v until the user selects another. */
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

	/* Uses finer points than the plot, so that it gives the value that the incline compares with. */
	peak() {
		const {mu_s, mu_k, mu_transition} = this.shown,
			{family, symbol, largest, peak} = this.curve;
		if (largest === Infinity || (hasTwoCoefficients(this.shown) && mu_s <= mu_k)) return "";
		const found = `The largest ${symbol} is ${format(largest)}, at ${format(peak, 2)} εᵥ`;
		if (family === "law") return `${found}.`;
		return (
			`${found}: ` +
			(mu_transition === "peak"
				? "static friction holds up to μₛ."
				: "μ begins to fall before f₁ has reached 1, so it stays below μₛ.")
		);
	}

	showExchange() {
		const shown = this.answers[this.select.value];
		if (shown) this.exchange.show(shown.path, shown.body, shown.json);
	}
}
