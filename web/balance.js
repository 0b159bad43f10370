/* Friction against gravity on an incline: the speeds at which they balance, and how a block moves on from any speed. */
import {request} from "./service.js";

const STEPS = 1000; /* from rest to eps_v */
let known = {};

/* μ f₁ (with the transition peak: G₁) from rest to eps_v, requested again only if the law has changed. Its largest value
 * gives the attainable cone. */
export async function resistance({eps_v, mu_s, mu_k, mu_transition}, signal) {
	const law = {eps_v, mu_s, mu_k, mu_transition},
		key = JSON.stringify(law);
	if (known.key === key) return known;
	const y = Array.from({length: STEPS + 1}, (_, i) => eps_v * (i / STEPS));
	const peaks = mu_transition === "peak";
	const {json} = await request(`v1/functions/${peaks ? "law_force" : "smooth_mu_f1"}`, JSON.stringify({y, ...law}), signal);
	const values = json.values,
		largest = Math.max(...values);
	const symbol = peaks ? "G₁" : "μ f₁";
	known = {key, values, largest, peaks, symbol, peak: values.indexOf(largest) / STEPS, kinetic: values[STEPS]};
	return known;
}

/* The speed, divided by eps_v, at which μ f₁ (or G₁) equals tan, between points i and i + 1. */
function crossing(values, tan, i) {
	const rise = values[i + 1] - values[i];
	return (i + (rise === 0 ? 0 : (tan - values[i]) / rise)) / STEPS;
}

/**
 * Follows from m dv/dt = m g sin θ − μ f₁ m g cos θ. The first argument is the result of resistance(). tan: |tan θ|;
 * speed: divided by eps_v, positive in the direction in which gravity pulls; friction: divided by the normal force; net:
 * sign of the net force in the direction in which gravity pulls.
 *   creep      the speed at which the block settles; null if tan is too large for any
 *   threshold  from this speed on friction cannot hold the block, as μ f₁ falls below tan again; null if it always can
 *   fate       "halts", "escapes", or "coasts" if nothing changes its speed
 */
export function outcome({values, largest, peak, kinetic}, {tan, speed, friction, net}) {
	/* The true peak lies between two points, so the friction at the current speed may exceed the largest value. */
	if (tan > Math.max(largest, friction)) return {creep: null, threshold: null, fate: "escapes"};
	const first = values.findIndex((value) => value >= tan);
	const creep = first < 0 ? peak : first === 0 ? 0 : crossing(values, tan, first - 1);
	const coasts = net === 0 && speed !== 0 && (Math.abs(speed) >= 1 || largest === 0);
	if (tan <= kinetic) return {creep, threshold: null, fate: coasts ? "coasts" : "halts"};
	const last = values.findLastIndex((value) => value >= tan);
	const threshold = last < 0 ? peak : crossing(values, tan, last);
	if (speed <= peak || net < 0) return {creep, threshold, fate: "halts"};
	return {creep, threshold, fate: net > 0 ? "escapes" : "coasts"};
}
