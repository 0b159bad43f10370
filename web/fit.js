/* Fits a law to measured coefficients: least squares by Levenberg and Marquardt. The service evaluates the law, for all
 * measured speeds and several sets of parameters in one request, as contacts with parameters of their own. */
import {Chart} from "./chart.js";
import {parseColumns} from "./columns.js";
import {Control, makeLocate, Unreadable} from "./controls.js";
import {fillList, format, withSubscripts} from "./svg.js";

export const title = "Fit";

const EXAMPLE = `speed, mm/s\tmu
1,2\t0,779
2\t0,757
3\t0,712
4\t0,662
5\t0,604
6\t0,555
8\t0,473
10\t0,424
12\t0,411
15\t0,398
20\t0,402
30\t0,399`;

/* nonlinear: the parameter that a scan determines first; both coefficients are linear. */
const LAWS = {
	stribeck: {fits: ["mu_s", "mu_k", "stribeck_speed"], nonlinear: "stribeck_speed", extra: {law: "stribeck"}},
	exponential: {fits: ["mu_s", "mu_k", "stribeck_speed"], nonlinear: "stribeck_speed", extra: {law: "exponential"}},
	peak: {fits: ["mu_s", "mu_k", "eps_v"], nonlinear: "eps_v", extra: {mu_transition: "peak"}},
	cubic: {fits: ["mu_s", "mu_k", "eps_v"], nonlinear: "eps_v", extra: {}},
};
const SYMBOLS = {mu_s: "μₛ", mu_k: "μₖ", stribeck_speed: "vₛ", eps_v: "εᵥ", viscous: "ν"};
const UNITS = {stribeck_speed: " m/s", eps_v: " m/s", viscous: " s/m"};
const N_SCAN = 64;
const MOST_ROUNDS = 3;
const MOST_REQUESTS = MOST_ROUNDS + 3; /* also the scan, the first Jacobian and the curve */
const DAMPINGS = [0, 1e-3, 1]; /* tried in each round, relative to the current one */
const MOST_POINTS = 2000;
const N_CURVE = 200;

const PAGE = `
<section aria-labelledby="fit-title" id="fit">
	<p class="stale" hidden></p>
	<h2 id="fit-title">Fit a law to measurements</h2>
	<p class="fault" role="alert" hidden></p>
	<div class="bench">
		<div>
			<label for="fit-text">Measured speeds and coefficients: paste two columns, with or without headers. A header may name the
				unit, such as mm/s; without one, speeds are in m/s.</label>
			<textarea id="fit-text" rows="14" spellcheck="false" autocomplete="off"></textarea>
			<p id="fit-read" role="status"></p>
		</div>
		<div>
			<div class="control">
				<label for="fit-law">Law</label>
				<select id="fit-law">
					<option value="stribeck">stribeck</option>
					<option value="exponential">exponential</option>
					<option value="peak">smooth, transition peak</option>
					<option value="cubic">smooth, transition cubic</option>
				</select>
			</div>
			<div class="control" id="fit-eps">
				<label for="fit-eps_v"><var>ε<sub>v</sub></var> <span>speed below which contacts stick, m/s</span></label>
				<input type="range" id="fit-eps_v-slider" min="-6" max="1" step="0.01" aria-label="eps_v, logarithmic">
				<input type="number" id="fit-eps_v" step="any" inputmode="decimal">
			</div>
			<p class="buttons"><label><input type="checkbox" id="fit-eps-too"> <span>Fit ε<sub>v</sub> too</span></label>
				<label><input type="checkbox" id="fit-drag"> <span>Fit a viscous drag <var>ν</var></span></label></p>
			<h3>Result</h3>
			<dl class="numbers"></dl>
			<p class="buttons"><button type="button" id="fit-use">Show this law</button>
				<button type="button" id="fit-curve">Use as curve</button></p>
			<p id="fit-used" role="status"></p>
		</div>
	</div>
	<div class="plots" id="fit-charts"></div>
	<p>The sum of the squares of the residuals is smallest. The ± are standard errors, from the residuals and the slopes of the
		law. <em>Use as curve</em> takes the measurements themselves, averaged at up to 16 speeds, as the law
		<a href="docs/laws.html">curve</a>.</p>
</section>
`;

/* ---- linear algebra for a few unknowns ---- */

/* Solves A x = b, A symmetric positive definite; null if it is not. */
function solve(A, b) {
	const n = b.length,
		m = A.map((row, i) => [...row, b[i]]);
	for (let i = 0; i < n; i++) {
		let p = i;
		for (let k = i + 1; k < n; k++) if (Math.abs(m[k][i]) > Math.abs(m[p][i])) p = k;
		[m[i], m[p]] = [m[p], m[i]];
		if (!(Math.abs(m[i][i]) > 1e-300)) return null;
		for (let k = i + 1; k < n; k++) {
			const f = m[k][i] / m[i][i];
			for (let j = i; j <= n; j++) m[k][j] -= f * m[i][j];
		}
	}
	const x = new Array(n);
	for (let i = n - 1; i >= 0; i--)
		x[i] = (m[i][n] - m[i].slice(i + 1, n).reduce((sum, v, k) => sum + v * x[i + 1 + k], 0)) / m[i][i];
	return x;
}

const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
const normal = (columns) => columns.map((a) => columns.map((b) => dot(a, b)));
const costOf = (residuals) => dot(residuals, residuals);

/* ---- the law, from the service ---- */

/* Returns the force divided by the normal force: a list over y for each set of parameters. */
async function evaluate(service, y, sets, extra, signal) {
	const n = y.length,
		count = n * sets.length;
	const each = (name) => sets.flatMap((set) => new Array(n).fill(set[name]));
	const hasSpeed = "stribeck_speed" in sets[0],
		hasDrag = "viscous" in sets[0];
	const batch = {
		dim: 2,
		velocities: sets.flatMap(() => y.map((v) => [v, 0])),
		friction: {eps_v: 1, mu: 1, ...extra, ...(hasSpeed ? {stribeck_speed: 1} : {})},
		collisions: {
			plane_vertex: {
				vertices: Array.from({length: count}, (_, i) => i),
				plane_normal: [0, 1],
				normal_force: 1,
				eps_v: each("eps_v"),
				mu_s: each("mu_s"),
				mu_k: each("mu_k"),
				...(hasSpeed ? {stribeck_speed: each("stribeck_speed")} : {}),
				...(hasDrag ? {viscous: each("viscous")} : {}),
			},
		},
		outputs: ["gradient"],
	};
	const {json} = await service.request("v1/evaluate", JSON.stringify(batch), signal);
	return sets.map((_, s) => y.map((_, i) => json.gradient[2 * (s * n + i)]));
}

/* ---- least squares ---- */

const IS_LOG = {stribeck_speed: true, eps_v: true};
const toSet = (names, p, fixed) =>
	names.reduce((set, name, i) => ({...set, [name]: IS_LOG[name] ? Math.exp(p[i]) : Math.max(p[i], 0)}), fixed);

/* The best of a scan over the nonlinear parameter, with the two coefficients that fit best: they are linear. */
async function scan(ask, {y, mu}, law, fixed) {
	const positive = y.filter((v) => v > 0);
	const low = Math.log(Math.min(...positive) / 4),
		high = Math.log(Math.max(...positive) * 2);
	const values = Array.from({length: N_SCAN}, (_, i) => Math.exp(low + ((high - low) * i) / (N_SCAN - 1)));
	const sets = values.flatMap((value) =>
		[
			[1, 0],
			[0, 1],
		].map(([mu_s, mu_k]) => ({...fixed, viscous: 0, mu_s, mu_k, [law.nonlinear]: value})),
	);
	for (const set of sets) if (!("viscous" in fixed)) delete set.viscous;
	const forces = await ask(sets);
	let best = null;
	values.forEach((value, i) => {
		const columns = [forces[2 * i], forces[2 * i + 1]];
		const A = normal(columns);
		A.forEach((row, k) => {
			row[k] *= 1 + 1e-10;
		});
		const x = solve(
			A,
			columns.map((column) => dot(column, mu)),
		);
		if (!x || x.some((v) => !(v >= 0))) return;
		const cost = costOf(mu.map((m, k) => m - x[0] * columns[0][k] - x[1] * columns[1][k]));
		if (!best || cost < best.cost) best = {cost, mu_s: x[0], mu_k: x[1], [law.nonlinear]: value};
	});
	const mean = mu.reduce((sum, v) => sum + v, 0) / mu.length;
	return best ?? {mu_s: Math.max(...mu), mu_k: mean, [law.nonlinear]: Math.sqrt(Math.exp(low + high))};
}

/* Values and Jacobian at each of several points, in one request. */
async function linearise(ask, points, names, fixed) {
	const steps = (p) => p.map((v, i) => (IS_LOG[names[i]] ? 1e-6 : 1e-6 * Math.max(Math.abs(v), 1e-3)));
	const sets = points.flatMap((p) => {
		const h = steps(p);
		return [p, ...p.map((v, i) => p.map((w, k) => (k === i ? v + h[i] : w)))].map((q) => toSet(names, q, fixed));
	});
	const forces = await ask(sets);
	const size = names.length + 1;
	return points.map((p, c) => {
		const [values, ...moved] = forces.slice(c * size, (c + 1) * size),
			h = steps(p);
		return {p, values, jacobian: moved.map((list, i) => list.map((v, k) => (v - values[k]) / h[i]))};
	});
}

export async function fitLaw(ask, data, law, names, fixed) {
	const start = await scan(ask, data, law, fixed);
	const first = {...fixed, viscous: 0, ...start};
	const at = names.map((name) => (IS_LOG[name] ? Math.log(first[name]) : first[name]));
	const residualsOf = ({values}) => data.mu.map((m, k) => m - values[k]);
	let [now] = await linearise(ask, [at], names, fixed),
		damping = 1e-3;
	for (let round = 0; round < MOST_ROUNDS; round++) {
		const r = residualsOf(now),
			A = normal(now.jacobian),
			g = now.jacobian.map((column) => dot(column, r));
		const trials = DAMPINGS.map((share) => {
			const damped = A.map((row, i) =>
				row.map((v, k) => (i === k ? v * (1 + share * damping * 1e3) + 1e-14 * A[0][0] : v)),
			);
			const step = solve(damped, g);
			return step?.every(Number.isFinite)
				? now.p.map((v, i) => (IS_LOG[names[i]] ? v + Math.max(-1, Math.min(step[i], 1)) : Math.max(v + step[i], 0)))
				: null;
		}).filter(Boolean);
		if (trials.length === 0) break;
		const seen = await linearise(ask, trials, names, fixed);
		const best = seen.reduce((a, b) => (costOf(residualsOf(b)) < costOf(residualsOf(a)) ? b : a));
		const had = costOf(r),
			has = costOf(residualsOf(best));
		if (!(has < had)) {
			damping *= 100;
			if (had - has > -1e-12 * had) break;
			continue;
		}
		const moved = Math.max(...best.p.map((v, i) => Math.abs(v - now.p[i]) / Math.max(Math.abs(v), 1e-3)));
		now = best;
		if (moved < 1e-7) break;
	}
	const residuals = residualsOf(now),
		n = data.mu.length,
		variance = costOf(residuals) / Math.max(n - names.length, 1);
	const A = normal(now.jacobian);
	const errors = names.map((name, i) => {
		const column = solve(
			A,
			names.map((_, k) => (k === i ? 1 : 0)),
		);
		const error = column ? Math.sqrt(Math.max(column[i], 0) * variance) : NaN;
		return IS_LOG[name] ? error * Math.exp(now.p[i]) : error;
	});
	return {
		set: toSet(names, now.p, fixed),
		errors,
		residuals,
		values: now.values,
		rms: Math.sqrt(costOf(residuals) / n),
	};
}

/* The measurements as a curve: means at up to that many speeds. */
function curveOf({y, mu}, n = 16) {
	const sorted = y.map((v, i) => [v, mu[i]]).sort((a, b) => a[0] - b[0]);
	const size = Math.max(sorted.length / n, 1),
		points = [];
	for (let from = 0; Math.round(from) < sorted.length; from += size) {
		const part = sorted.slice(Math.round(from), Math.round(from + size));
		if (part.length === 0) continue;
		const mean = (k) => part.reduce((sum, row) => sum + row[k], 0) / part.length;
		const last = points.at(-1);
		if (last && !(mean(0) > last[0])) last[1] = (last[1] + mean(1)) / 2;
		else points.push([mean(0), mean(1)]);
	}
	return points;
}

export function mount(root, context) {
	root.innerHTML = PAGE;
	const {service} = context;
	const byId = (id) => root.querySelector(`#fit-${id}`);
	const text = byId("text"),
		lawChoice = byId("law"),
		epsToo = byId("eps-too"),
		drag = byId("drag"),
		list = root.querySelector("dl");
	const changed = () => {
		arrange();
		latest.update();
		context.changed();
	};
	const eps = new Control("fit-eps_v", 0.001, changed, "log");
	const locate = makeLocate((name) => (name === "eps_v" ? eps : undefined));
	const latest = new service.Latest(ask, new service.Freshness(root.querySelector("section"), locate), MOST_REQUESTS);
	const charts = {
		fit: new Chart(byId("charts"), {
			name: "fit",
			title: "Measurements and law",
			x: ["y", "m/s"],
			y: ["μ", ""],
			height: 300,
		}),
		residuals: new Chart(byId("charts"), {
			name: "residuals",
			title: "Residuals: measured − law",
			x: ["y", "m/s"],
			y: ["Δμ", ""],
			height: 300,
		}),
	};
	let result = null,
		asked = [];
	text.value = EXAMPLE;

	/* A fault of the text is shown beside it. */
	const ofText = {
		name: "Measured speeds and coefficients",
		blame(_, words) {
			text.setAttribute("aria-invalid", String(words !== ""));
			byId("read").classList.toggle("field-fault", words !== "");
			if (words) byId("read").textContent = words;
		},
	};

	function arrange() {
		const {fits} = LAWS[lawChoice.value];
		epsToo.disabled = fits.includes("eps_v");
		byId("eps").hidden = fits.includes("eps_v");
	}

	function read() {
		const {speeds, coefficients, skipped, words} = parseColumns(text.value);
		if (speeds.length < 4)
			throw new Unreadable(
				`There are ${speeds.length} lines with a speed and a coefficient; a fit needs at least 4.`,
				ofText,
			);
		if (speeds.length > MOST_POINTS)
			throw new Unreadable(`There are ${speeds.length} lines; at most ${MOST_POINTS} can be fitted.`, ofText);
		if (!speeds.some((v) => v > 0)) throw new Unreadable("All speeds are zero.", ofText);
		ofText.blame(null, "");
		const left = skipped.length
			? ` Lines without data: ${skipped.slice(0, 8).join(", ")}${skipped.length > 8 ? " …" : ""}.`
			: "";
		byId("read").textContent = `${speeds.length} measurements: ${words}.${left}`;
		return {y: speeds, mu: coefficients};
	}

	async function ask(signal) {
		const data = read(),
			law = LAWS[lawChoice.value];
		const fitsEps = law.fits.includes("eps_v"),
			fixed = {eps_v: fitsEps ? 1 : eps.asked, ...(drag.checked ? {viscous: 0} : {})};
		const names = [...law.fits, ...(epsToo.checked && !fitsEps ? ["eps_v"] : []), ...(drag.checked ? ["viscous"] : [])];
		const used = [];
		const watched = {
			request(path, body, s) {
				used.push({path, body});
				return service.request(path, body, s);
			},
		};
		const found = await fitLaw((sets) => evaluate(watched, data.y, sets, law.extra, signal), data, law, names, fixed);
		const top = Math.max(...data.y);
		const y = Array.from({length: N_CURVE + 1}, (_, i) => (top * i) / N_CURVE);
		const friction = {...law.extra, ...found.set};
		if (friction.viscous === 0) delete friction.viscous;
		const {law_force} = await service.functions({law_force: {y, ...friction}}, signal);
		result = {...found, data, names, friction, y, curve: law_force.values};
		asked = [{path: "v1/functions", body: JSON.stringify({functions: {law_force: {y: data.y, ...friction}}})}];
		result.requests = used.length + 1;
		show();
	}

	function show() {
		const {set, errors, names, rms, data, y, curve, residuals} = result;
		fillList(list, [
			...names.map((name, i) => [
				SYMBOLS[name],
				`${format(set[name], 6)} ± ${format(errors[i], 2)}${UNITS[name] ?? ""}`,
				name,
			]),
			["root mean square of the residuals", format(rms, 3), "rms"],
			["measurements", String(data.y.length), "n"],
		]);
		withSubscripts(list);
		const words = names.map((name) => `${SYMBOLS[name]} ${format(set[name])}`).join(", ");
		charts.fit.show(
			[{name: "law", kind: "anchored", x: y, y: curve}],
			[{kind: "measured", x: data.y, y: data.mu}],
			words,
		);
		charts.residuals.show(
			[{name: "zero", kind: "none", x: [0, y.at(-1)], y: [0, 0]}],
			[{kind: "measured", x: data.y, y: residuals}],
			`root mean square ${format(rms, 3)}`,
		);
		byId("used").textContent = "";
	}

	text.addEventListener("input", changed);
	for (const element of [lawChoice, epsToo, drag]) element.addEventListener("change", changed);
	byId("use").addEventListener("click", () => {
		if (!result) return;
		const {mu_transition, law, ...values} = result.friction;
		context.go("laws", {...values, ...(law ? {law} : {mu_transition: mu_transition ?? "cubic"})});
	});
	byId("curve").addEventListener("click", () => {
		if (!result) return;
		const points = curveOf(result.data);
		const [[first, mu_s]] = points;
		if (points.length < 2 || !(mu_s > 0)) {
			byId("used").textContent = "A curve needs two speeds, and a coefficient above zero at the lowest one.";
			return;
		}
		const round = (v) => Number(v.toPrecision(9));
		context.go("laws", {
			law: "curve",
			eps_v: first > 0 ? first : eps.value,
			mu_s,
			curve: {
				speeds: points.map(([v]) => round(v - first)),
				factors: points.map(([, m], i) => (i === 0 ? 1 : round(m / mu_s))),
			},
		});
	});

	function state() {
		return {
			...(text.value === EXAMPLE ? {} : {text: text.value}),
			...(lawChoice.selectedIndex === 0 ? {} : {law: lawChoice.value}),
			...(eps.value === eps.initial ? {} : {eps_v: eps.value}),
			...(epsToo.checked ? {eps_too: true} : {}),
			...(drag.checked ? {drag: true} : {}),
		};
	}

	function restore(state) {
		text.value = typeof state.text === "string" ? state.text : EXAMPLE;
		lawChoice.value = Object.hasOwn(LAWS, state.law) ? state.law : "stribeck";
		eps.restore(state.eps_v);
		epsToo.checked = state.eps_too === true;
		drag.checked = state.drag === true;
		arrange();
		latest.update();
	}

	withSubscripts(root);
	arrange();
	latest.update();
	return {
		state,
		restore,
		requests: () => asked,
		table: () => ({
			columns: ["speed_m_per_s", "coefficient", "law", "residual"],
			rows: result ? result.data.y.map((v, i) => [v, result.data.mu[i], result.values[i], result.residuals[i]]) : [],
		}),
		data: () => ({
			view: "fit",
			state: state(),
			friction: result?.friction ?? null,
			standard_errors: result ? Object.fromEntries(result.names.map((name, i) => [name, result.errors[i]])) : null,
			rms: result?.rms ?? null,
			speeds: result?.data.y ?? [],
			coefficients: result?.data.mu ?? [],
			residuals: result?.residuals ?? [],
		}),
	};
}
