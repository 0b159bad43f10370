/* Friction against gravity on an incline: the speeds at which they balance, and the motion of a block from any
 * speed. */
import {familyOf, limit, reach} from "./friction_laws.js";
import {functions} from "./service.js";

const STEPS = 1000; /* from rest to eps_v, and on to where the law no longer changes */
let known = {};

/* Sample speeds: beyond eps_v they are denser near it and include the points of a measured curve. */
function speeds(law) {
	const {eps_v, curve} = law,
		end = reach(law);
	const slow = Array.from({length: STEPS + 1}, (_, i) => eps_v * (i / STEPS));
	if (!(end > eps_v)) return slow;
	const fast = Array.from({length: STEPS}, (_, i) => eps_v + (end - eps_v) * ((i + 1) / STEPS) ** 2);
	const measured = curve?.speeds.map((speed) => eps_v + speed) ?? [];
	return [...new Set([...slow, ...fast, ...measured])].filter((y) => y <= end).sort((a, b) => a - b);
}

/* The function that gives the force divided by the normal force. */
export const forceOf = (law) => (familyOf(law) === "mu" ? "smooth_mu_f1" : "law_force");

/* Samples of μ f₁ (G₁ with the transition peak; other laws replace it) over speeds z, divided by eps_v. The largest value
 * gives the attainable cone. Beyond the last speed the curve grows by `drag` per eps_v, so it is constant without
 * drag. */
function curveOf(law, y, values) {
	const family = familyOf(law),
		top = Math.max(...values),
		drag = (law.viscous ?? 0) * law.eps_v;
	return {
		family,
		symbol: family === "mu" ? "μ f₁" : "G₁",
		z: y.map((at) => at / law.eps_v),
		values,
		drag,
		largest: drag > 0 ? Infinity : top,
		peak: y[values.indexOf(top)] / law.eps_v,
		kinetic: limit(law),
	};
}

/**
 * The curve of a law, requested only when the law has changed, together with other functions if the caller wants some.
 * bodies: of functions(); y: speeds at which the caller wants the force, too.
 * Returns {curve, answers, force: values at y}.
 */
export async function resistance(law, signal, bodies = {}, y = []) {
	const key = JSON.stringify(law),
		name = forceOf(law);
	const isKnown = known.key === key;
	if (isKnown && y.length === 0) return {curve: await known.curve, answers: {}, force: []};
	const fine = isKnown ? [] : speeds(law);
	const asked = functions({...bodies, [name]: {y: [...y, ...fine], ...law}}, signal);
	const curve = isKnown
		? known.curve
		: asked.then((answers) => curveOf(law, fine, answers[name].values.slice(y.length)));
	known = {key, curve};
	try {
		const answers = await asked;
		return {curve: await curve, answers, force: answers[name].values.slice(0, y.length)};
	} catch (error) {
		if (known.curve === curve) known = {};
		throw error;
	}
}

/* The speed at which the curve equals tan, between points i and i + 1. */
function crossing({z, values}, tan, i) {
	const rise = values[i + 1] - values[i],
		share = rise === 0 ? 0 : (tan - values[i]) / rise;
	return z[i] + Math.min(Math.max(share, 0), 1) * (z[i + 1] - z[i]);
}

/* The speed at which drag balances gravity, beyond all points; null if there is none. */
function beyond({z, values, drag}, tan) {
	return drag > 0 ? z.at(-1) + (tan - values.at(-1)) / drag : null;
}

/* The speed at which an accelerating block settles, starting from a speed or from its resting speed: where the curve
 * has risen to tan. null if it accelerates forever. */
function above(curve, tan, speed) {
	const i = curve.values.findIndex((value, k) => value >= tan && curve.z[k] > speed);
	if (i < 0) return beyond(curve, tan);
	return Math.max(crossing(curve, tan, i - 1), speed);
}

/* As above(), for a decelerating block. */
function below(curve, tan, speed) {
	const {z, values} = curve;
	const i = values.findLastIndex((value, k) => value <= tan && z[k] < speed);
	if (i === z.length - 1) return beyond(curve, tan) ?? speed;
	return values[i + 1] > tan ? Math.min(crossing(curve, tan, i), speed) : speed;
}

/**
 * Classifies the motion, from m dv/dt = m g sin θ − μ f₁ m g cos θ. The first argument is the result of resistance().
 * tan: |tan θ|; speed: divided by eps_v, positive downhill; friction: divided by the normal force; net: sign of the net
 * force, positive downhill. Returns
 *   creep      the speed, at most eps_v, at which the block settles; null if there is none
 *   threshold  the speed beyond which friction cannot hold the block, as μ f₁ falls below tan again; null if none
 *   fast       the speed above the threshold at which a faster block settles; null if it accelerates forever
 *   fate       "halts", "escapes", "slides" (settles at the speed `pace`, above eps_v), or "coasts" if nothing changes
 *              its speed
 */
export function outcome(curve, {tan, speed, friction, net}) {
	const {values, peak, largest} = curve;
	const coasts = net === 0 && speed !== 0 && (Math.abs(speed) >= 1 || largest === 0);
	const first = values.findIndex((value) => value >= tan);
	/* The true peak may lie between two points, so the friction at the current speed can exceed the largest sample. */
	if (first < 0 && curve.drag === 0 && tan <= friction) return onThePeak(peak, {speed, net});
	const slowest = first === 0 ? 0 : above(curve, tan, -1);
	const creep = slowest !== null && slowest <= 1 ? slowest : null;
	const falls = creep === null ? -1 : values.findIndex((value, i) => i > first && value < tan);
	const threshold = falls < 0 ? null : crossing(curve, tan, falls - 1);
	const fast = threshold === null ? null : above(curve, tan, curve.z[falls]);
	if (coasts) return {creep, threshold, fast, fate: "coasts"};
	const pace = speed <= 0 ? slowest : net < 0 ? below(curve, tan, speed) : net > 0 ? above(curve, tan, speed) : speed;
	const fate = pace === null ? "escapes" : pace <= 1 ? "halts" : "slides";
	return {creep, threshold, fast, fate, pace};
}

function onThePeak(peak, {speed, net}) {
	const held = speed <= peak || net < 0;
	return {creep: peak, threshold: peak, fast: null, fate: held ? "halts" : net > 0 ? "escapes" : "coasts", pace: null};
}
