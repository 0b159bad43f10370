/* The laws: the page's parameters that each one takes, and its behaviour at large speeds. */

/**
 * takes: parameters besides eps_v, mu_s and viscous, by their names in the service; without mu_k the law has a single
 * coefficient
 * reach(law): the speed beyond which the law is constant, apart from drag; whole(law): the end of a plot of the whole
 * law
 * limit(law): the law's force at large speed, divided by the normal force
 */
const LAWS = {
	smooth: {
		takes: ["mu_k", "mu_transition"],
		words: "Changes from μₛ to μₖ below εᵥ.",
		reach: ({eps_v}) => eps_v,
		whole: ({eps_v}) => 2 * eps_v,
		limit: ({mu_k}) => mu_k,
	},
	stribeck: {
		takes: ["mu_k", "stribeck_speed"],
		words: "Rises to μₛ below εᵥ, then falls to μₖ like a bell curve.",
		reach: ({eps_v, stribeck_speed}) => eps_v + 6.5 * stribeck_speed,
		whole: ({eps_v, stribeck_speed}) => eps_v + 3 * stribeck_speed,
		limit: ({mu_k}) => mu_k,
	},
	exponential: {
		takes: ["mu_k", "stribeck_speed"],
		words: "Rises to μₛ below εᵥ, then falls to μₖ exponentially; the force has a kink at εᵥ.",
		reach: ({eps_v, stribeck_speed}) => eps_v + 40 * stribeck_speed,
		whole: ({eps_v, stribeck_speed}) => eps_v + 5 * stribeck_speed,
		limit: ({mu_k}) => mu_k,
	},
	curve: {
		takes: ["curve"],
		words: "Rises to μ below εᵥ, then follows μ times a measured curve.",
		reach: ({eps_v, curve}) => eps_v + curve.speeds.at(-1),
		whole: ({eps_v, curve}) => eps_v + 1.15 * curve.speeds.at(-1),
		limit: ({mu_s, curve}) => mu_s * curve.factors.at(-1),
	},
	adhesion: {
		takes: [],
		words: "A bond that holds up to μ at εᵥ and is broken from 2 εᵥ on.",
		reach: ({eps_v}) => 2 * eps_v,
		whole: ({eps_v}) => 3 * eps_v,
		limit: () => 0,
	},
};

const of = ({law = "smooth"}) => LAWS[law];

/* law: parameters as the service takes them, without `law` for smooth. */
export const reach = (law) => of(law).reach(law);
export const whole = (law) => Math.max(of(law).whole(law), 2 * law.eps_v);
export const limit = (law) => of(law).limit(law);
export const hasTwoCoefficients = (law) => of(law).takes.includes("mu_k");

/* Kind of plots for a law: "mu" if the force is μ(y) f₁(y); "peak" if it is G₁, up to μₛ below εᵥ; "law" for all
 * others, and with drag. */
export function familyOf({law, mu_transition, viscous}) {
	if (law || viscous) return "law";
	return mu_transition === "peak" ? "peak" : "mu";
}

/* Shows exactly the parameters that the chosen law takes. */
export class Choice {
	constructor(select, words, changed) {
		Object.assign(this, {select, words});
		select.replaceChildren(...Object.keys(LAWS).map((name) => new Option(name)));
		select.addEventListener("change", () => {
			this.show();
			changed();
		});
		this.show();
	}

	show() {
		const {takes, words} = LAWS[this.select.value];
		for (const element of document.querySelectorAll("[data-parameter]"))
			element.hidden = !takes.includes(element.dataset.parameter);
		for (const element of document.querySelectorAll("[data-coefficients]"))
			element.hidden = (element.dataset.coefficients === "two") !== takes.includes("mu_k");
		this.words.textContent = words;
	}

	get name() {
		return this.select.value;
	}

	get isFirst() {
		return this.select.selectedIndex === 0;
	}

	/* name: of a law, or anything else for the first one. */
	restore(name) {
		this.select.value = name;
		if (this.select.selectedIndex < 0) this.select.selectedIndex = 0;
		this.show();
	}

	/* read: maps each parameter to a function that returns its value. */
	law(read) {
		const name = this.select.value,
			mu_s = read.mu_s(),
			viscous = read.viscous();
		return {
			eps_v: read.eps_v(),
			mu_s,
			mu_k: mu_s,
			...(name === "smooth" ? {} : {law: name}),
			...Object.fromEntries(LAWS[name].takes.map((parameter) => [parameter, read[parameter]()])),
			...(viscous === 0 ? {} : {viscous}),
		};
	}
}
