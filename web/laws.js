/* The view of the laws: all functions of a friction law over the speed, anisotropy, and a block on an incline. */
import {Control, makeLocate} from "./controls.js";
import {Ellipse} from "./ellipse.js";
import {Incline} from "./incline.js";
import {Law} from "./law_plots.js";
import {Choice} from "./friction_laws.js";
import {Points} from "./points.js";
import {withSubscripts} from "./svg.js";

export const title = "Laws";

/* Initial values and scales. */
const CONTROLS = {
	eps_v: [0.001, "log"],
	mu_s: [0.8],
	mu_k: [0.4],
	stribeck_speed: [0.005, "log"],
	viscous: [0, "zeroOrLog"],
	direction: [35],
	mu_s_aniso_0: [1],
	mu_s_aniso_1: [0.5],
	mu_k_aniso_0: [0.6],
	mu_k_aniso_1: [0.3],
	angle: [18],
	speed: [0.2, "signed"],
	mass: [1, "log"],
};
const OF_LAW = ["eps_v", "mu_s", "mu_k", "stribeck_speed", "viscous"];
const OF_ELLIPSE = ["direction", "mu_s_aniso_0", "mu_s_aniso_1", "mu_k_aniso_0", "mu_k_aniso_1"];

const PAGE = `
<div class="columns">
<aside aria-label="Parameters">
	<h2>Parameters</h2>
	<div class="control">
		<label for="friction-law">Law</label>
		<select id="friction-law" aria-describedby="friction-law-words"></select>
		<p id="friction-law-words"></p>
	</div>
	<div class="control">
		<label for="eps_v"><var>ε<sub>v</sub></var> <span>speed below which contacts stick, m/s</span></label>
		<input type="range" id="eps_v-slider" min="-6" max="1" step="0.01" aria-label="eps_v, logarithmic">
		<input type="number" id="eps_v" step="any" inputmode="decimal">
	</div>
	<div class="control">
		<label for="mu_s"><var data-coefficients="two">μ<sub>s</sub></var><var data-coefficients="one" hidden>μ</var> <span
			data-coefficients="two">static coefficient</span><span data-coefficients="one" hidden>coefficient</span></label>
		<input type="range" id="mu_s-slider" min="0" max="2" step="0.01" aria-label="mu_s">
		<input type="number" id="mu_s" step="any" inputmode="decimal">
	</div>
	<div class="control" data-parameter="mu_k">
		<label for="mu_k"><var>μ<sub>k</sub></var> <span>kinetic coefficient</span></label>
		<input type="range" id="mu_k-slider" min="0" max="2" step="0.01" aria-label="mu_k">
		<input type="number" id="mu_k" step="any" inputmode="decimal">
	</div>
	<fieldset data-parameter="mu_transition">
		<legend>Transition from <var>μ<sub>s</sub></var> to <var>μ<sub>k</sub></var></legend>
		<label><input type="radio" name="mu_transition" value="cubic" checked> cubic</label>
		<label><input type="radio" name="mu_transition" value="quadratic"> quadratic</label>
		<label><input type="radio" name="mu_transition" value="peak"> peak</label>
	</fieldset>
	<div class="control" data-parameter="stribeck_speed" hidden>
		<label for="stribeck_speed"><var>v</var><sub>s</sub> <span>speed over which friction falls to <var>μ<sub>k</sub></var>, m/s</span></label>
		<input type="range" id="stribeck_speed-slider" min="-6" max="1" step="0.01" aria-label="stribeck_speed, logarithmic">
		<input type="number" id="stribeck_speed" step="any" inputmode="decimal">
	</div>
	<fieldset id="curve" data-parameter="curve" hidden>
		<legend>Measured curve</legend>
		<p>Speeds are measured from <var>ε<sub>v</sub></var>; factors multiply <var>μ</var>. You can paste two columns.</p>
		<table>
			<thead><tr><th scope="col">speed, m/s</th><th scope="col">factor</th><td></td></tr></thead>
			<tbody></tbody>
		</table>
		<button type="button" class="more">Add a point</button>
	</fieldset>
	<div class="control">
		<label for="viscous"><var>ν</var> <span>viscous drag ÷ normal force, s/m</span></label>
		<input type="range" id="viscous-slider" min="-2" max="4" step="0.01" aria-label="viscous, logarithmic, zero at the left end">
		<input type="number" id="viscous" step="any" inputmode="decimal">
	</div>
	<div class="control">
		<label for="range">Plots show</label>
		<select id="range">
			<option value="whole">the whole law</option>
			<option value="0 2">0 to 2 εᵥ</option>
			<option value="0 5">0 to 5 εᵥ</option>
			<option value="-2 2">−2 to 2 εᵥ</option>
		</select>
	</div>
	<button type="button" id="reset">Reset</button>
</aside>

<div>
<section id="law" aria-labelledby="law-title">
	<p class="stale" hidden></p>
	<h2 id="law-title">The friction law</h2>
	<p>Friction on a contact that slips at speed <var>y</var> is <var>μ</var>(<var>y</var>) <var>f</var><sub>1</sub>(<var>y</var>)
		times its normal force with the law smooth. With its transition peak and with the other laws, which have no
		<var>μ</var>(<var>y</var>), it is <var>G</var><sub>1</sub>(<var>y</var>) times its normal force. A viscous
		drag <var>ν</var> <var>y</var> is added to it. Point at a plot, or focus it and use the arrow keys, to read all plots at the same speed.</p>
	<p class="fault" role="alert" hidden></p>
</section>

<section id="ellipse" aria-labelledby="ellipse-title">
	<p class="stale" hidden></p>
	<h2 id="ellipse-title">Anisotropy</h2>
	<p>In the matchstick model the coefficient depends on the direction of slip <var>τ̂</var>: it is the length of
		(<var>μ</var><sub>0</sub> <var>τ̂</var><sub>0</sub>, <var>μ</var><sub>1</sub> <var>τ̂</var><sub>1</sub>), a point on an ellipse.
		Drag the round handle, or focus it and use the arrow keys. If both axes are zero, the scalar coefficient applies.</p>
	<p class="fault" role="alert" hidden></p>
	<div class="bench">
		<figure>
			<svg id="ellipse-picture" viewBox="0 0 400 400" role="group"
				aria-label="Ellipses of the coefficients, direction of slip and force"></svg>
			<ul class="legend">
				<li class="static">static</li><li class="kinetic">kinetic</li><li class="slip">direction of slip</li>
				<li class="force">friction ÷ normal force, opposite to the slip, while sliding; violet: with the static coefficient</li>
			</ul>
		</figure>
		<div>
			<div class="control">
				<label for="direction">Direction of slip, degrees</label>
				<input type="range" id="direction-slider" min="-180" max="180" step="1" aria-label="direction of slip">
				<input type="number" id="direction" step="any" inputmode="decimal">
			</div>
			<div class="control">
				<label for="mu_s_aniso_0"><var>μ<sub>s</sub></var> along the first axis</label>
				<input type="range" id="mu_s_aniso_0-slider" min="0" max="2" step="0.01" aria-label="mu_s_aniso, first axis">
				<input type="number" id="mu_s_aniso_0" step="any" inputmode="decimal">
			</div>
			<div class="control">
				<label for="mu_s_aniso_1"><var>μ<sub>s</sub></var> along the second axis</label>
				<input type="range" id="mu_s_aniso_1-slider" min="0" max="2" step="0.01" aria-label="mu_s_aniso, second axis">
				<input type="number" id="mu_s_aniso_1" step="any" inputmode="decimal">
			</div>
			<div class="control">
				<label for="mu_k_aniso_0"><var>μ<sub>k</sub></var> along the first axis</label>
				<input type="range" id="mu_k_aniso_0-slider" min="0" max="2" step="0.01" aria-label="mu_k_aniso, first axis">
				<input type="number" id="mu_k_aniso_0" step="any" inputmode="decimal">
			</div>
			<div class="control">
				<label for="mu_k_aniso_1"><var>μ<sub>k</sub></var> along the second axis</label>
				<input type="range" id="mu_k_aniso_1-slider" min="0" max="2" step="0.01" aria-label="mu_k_aniso, second axis">
				<input type="number" id="mu_k_aniso_1" step="any" inputmode="decimal">
			</div>
			<dl class="numbers"></dl>
		</div>
	</div>
	<details class="exchange"><summary>Request and answer</summary></details>
</section>

<section id="incline" aria-labelledby="incline-title">
	<p class="stale" hidden></p>
	<h2 id="incline-title">A block on an incline</h2>
	<p>Two corners of the block touch the slope; each carries half of the normal force. Drag the slope and the velocity,
		or use the sliders; the friction law is the same as in the other sections.</p>
	<p class="fault" role="alert" hidden></p>
	<div class="bench">
		<figure>
			<svg id="incline-picture" viewBox="30 26 340 310" role="group" aria-label="Block on an incline with its forces"></svg>
			<ul class="legend">
				<li class="gravity">gravity</li><li class="normal">normal force</li>
				<li class="force">friction</li><li class="slip">velocity</li>
			</ul>
			<figcaption>Forces along the slope are exact, but moments are not balanced: each corner carries half of the normal
				force, whereas a real block leans on its lower corner. The total friction does not depend on that, because both
				corners move at the same speed. These contacts have no anchors; anchors carried from step to step would hold
				the block at rest where it creeps here.</figcaption>
		</figure>
		<div>
			<div class="control">
				<label for="angle">Angle <var>θ</var>, degrees</label>
				<input type="range" id="angle-slider" min="0" max="60" step="0.1" aria-label="angle">
				<input type="number" id="angle" step="any" inputmode="decimal">
			</div>
			<div class="control">
				<label for="speed">Velocity down the slope ÷ <var>ε<sub>v</sub></var></label>
				<input type="range" id="speed-slider" min="-1" max="1" step="0.005" aria-label="velocity divided by eps_v">
				<input type="number" id="speed" step="any" inputmode="decimal">
			</div>
			<div class="control">
				<label for="mass">Mass, kg</label>
				<input type="range" id="mass-slider" min="-1" max="2" step="0.01" aria-label="mass, logarithmic">
				<input type="number" id="mass" step="any" inputmode="decimal">
			</div>
			<p class="states" aria-live="polite"><span id="contact" class="state"></span> <span id="verdict" class="state"></span></p>
			<p id="why"></p>
			<dl class="numbers"></dl>
		</div>
		<figure>
			<h3>Coulomb cones</h3>
			<svg id="cone" viewBox="0 0 300 240" role="img" aria-label="Coulomb cones"></svg>
			<ul class="legend">
				<li class="force">force of the slope on the block</li>
				<li class="need">force that would balance gravity</li>
				<li class="kinetic"><span data-of="mu peak"><var>μ<sub>k</sub></var></span><span data-of="law" hidden>the law at
					high speed</span></li>
				<li class="attainable">largest <span data-of="mu"><var>μ</var> <var>f</var><sub>1</sub></span><span
					data-of="peak law" hidden><var>G</var><sub>1</sub></span></li>
				<li class="static"><var data-coefficients="two">μ<sub>s</sub></var><var data-coefficients="one" hidden>μ</var></li>
			</ul>
			<figcaption><span data-of="mu peak">The force never leaves the cone of the largest
				<span data-of="mu"><var>μ</var> <var>f</var><sub>1</sub></span><span data-of="peak"
				hidden><var>G</var><sub>1</sub></span>; from <var>ε<sub>v</sub></var> on it lies on the cone of
				<var>μ<sub>k</sub></var>. If <var>μ<sub>s</sub></var> is above <var>μ<sub>k</sub></var>,
				<span data-of="mu">the cone of <var>μ<sub>s</sub></var> cannot be reached</span><span data-of="peak"
				hidden>the largest force lies on the cone of <var>μ<sub>s</sub></var></span>. The dotted line shows the
				outcome: within the cone of <var>μ<sub>k</sub></var> friction holds the block at any speed; between that and the
				cone of the largest <span data-of="mu"><var>μ</var> <var>f</var><sub>1</sub></span><span data-of="peak"
				hidden><var>G</var><sub>1</sub></span> only while it is slow; outside, never.</span><span data-of="law"
				hidden>The force never leaves the cone of the largest <var>G</var><sub>1</sub>, which is unlimited with a
				viscous drag. The motion of the block depends on where <var>G</var><sub>1</sub> = tan <var>θ</var>: where
				<var>G</var><sub>1</sub> rises there, the block settles at that speed; where it falls, the block leaves
				it.</span></figcaption>
		</figure>
		<figure>
			<h3>Hessian</h3>
			<svg id="spy" viewBox="0 0 300 236" role="slider" tabindex="0" aria-label="Entries of the Hessian"
				aria-valuemin="0" aria-valuemax="143" aria-valuenow="0"></svg>
			<p class="readout"></p>
			<figcaption>Rows and columns are the degrees of freedom: 4 corners of the block, 2 ends of the slope. A dot is an
				entry of the pattern with value zero. All entries are zero while the block slides and the force does not change
				with its speed. Point at an entry, or use the arrow keys.</figcaption>
		</figure>
	</div>
	<details class="exchange"><summary>Request and answer</summary></details>
</section>
</div>
</div>
`;

export function mount(root, context) {
	root.innerHTML = PAGE;
	const byId = (id) => document.getElementById(id);
	const sections = {};
	const changed =
		(...names) =>
		() => {
			for (const name of names) sections[name]?.update();
			context.changed();
		};
	const all = changed("law", "ellipse", "incline");
	const controls = Object.fromEntries(
		Object.entries(CONTROLS).map(([name, [initial, scale]]) => {
			const update = OF_LAW.includes(name) ? all : changed(OF_ELLIPSE.includes(name) ? "ellipse" : "incline");
			return [name, new Control(name, initial, update, scale)];
		}),
	);
	const value = (name) => controls[name].asked;
	const transitions = root.querySelectorAll("[name=mu_transition]");
	const transition = () => [...transitions].find((radio) => radio.checked).value;
	const range = byId("range");
	const points = new Points(byId("curve"), all);
	const choice = new Choice(byId("friction-law"), byId("friction-law-words"), all);
	const law = () =>
		choice.law({
			...Object.fromEntries(OF_LAW.map((name) => [name, () => value(name)])),
			mu_transition: transition,
			curve: () => points.asked,
		});
	const updateAll = () => Object.values(sections).forEach((section) => section.update());

	const locate = makeLocate((name) => controls[name], points);
	sections.law = new Law(byId("law"), law, () => range.value, {locate});
	sections.ellipse = new Ellipse(
		byId("ellipse"),
		() => {
			const {mu_s, mu_k} = law();
			return {
				mu_s_aniso: [value("mu_s_aniso_0"), value("mu_s_aniso_1")],
				mu_k_aniso: [value("mu_k_aniso_0"), value("mu_k_aniso_1")],
				mu_s,
				mu_k,
			};
		},
		controls.direction,
		locate,
	);
	const {angle, speed, mass} = controls;
	sections.incline = new Incline(byId("incline"), law, {angle, speed, mass}, locate);
	withSubscripts(root);

	for (const radio of transitions) radio.addEventListener("change", all);
	range.addEventListener("change", () => {
		sections.law.cursor = null;
		changed("law")();
	});
	byId("reset").addEventListener("click", () => {
		restore({});
		context.changed();
	});

	function state() {
		const values = Object.entries(controls).filter(([, control]) => control.value !== control.initial);
		return {
			...Object.fromEntries(values.map(([name, control]) => [name, control.value])),
			...(choice.isFirst ? {} : {law: choice.name}),
			...(transition() === "cubic" ? {} : {mu_transition: transition()}),
			...(points.isInitial ? {} : {curve: points.shown}),
			...(range.selectedIndex === 0 ? {} : {range: range.value}),
		};
	}

	function restore(state) {
		for (const [name, control] of Object.entries(controls)) control.restore(state[name]);
		for (const radio of transitions) radio.checked = radio.value === (state.mu_transition ?? "cubic");
		if (![...transitions].some(({checked}) => checked)) transitions[0].checked = true;
		points.restore(state.curve);
		choice.restore(state.law);
		range.value = state.range;
		if (range.selectedIndex < 0) range.selectedIndex = 0;
		sections.law.cursor = null;
		updateAll();
	}

	updateAll();
	return {
		state,
		restore,
		table: () => sections.law.table(),
		requests: () => Object.values(sections).flatMap((section) => section.requests()),
	};
}
