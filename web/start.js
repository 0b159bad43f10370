/* The first view: a block on a plane that tilts, what it does in words, and where it is on the curve of its friction. */
import {Control, makeHandle} from "./controls.js";
import {Plot} from "./plot.js";
import {add, arrow, fitText, format, label, set, withSubscripts} from "./svg.js";

export const title = "Start";

const CONTROLS = {"start-angle": 25, "start-mu_s": 0.6, "start-mu_k": 0.4};
const G = 9.81; /* m/s² */
const EPS_V = 0.05; /* m/s */
const FASTEST = 0.6; /* m/s, the end of the plot */
const LIMIT = 12; /* m/s, the end of the samples, which the block never reaches */
const LENGTH = 1.2; /* of the plane, m */
const TILT = {from: 8, to: 45, rate: 8}; /* degrees; degrees per second */
const REST_S = 0.9; /* at the end of the plane, before the block begins again */
const STEP_S = 1 / 240;
const SCENE = {width: 400, height: 292, x: 384, y: 264, length: 340, block: {length: 64, height: 42}, weight: 74};

const PAGE = `
<section aria-labelledby="start-title">
	<p class="stale" hidden></p>
	<h2 id="start-title">When does a block on a slope begin to slide?</h2>
	<p class="fault" role="alert" hidden></p>
	<p id="sentence"></p>
	<div class="stage">
		<figure>
			<svg id="start-scene" viewBox="0 0 ${SCENE.width} ${SCENE.height}" role="group"
				aria-label="A block on a tilting plane, with its forces"></svg>
		</figure>
		<div id="start-plot"></div>
	</div>
	<div class="levers">
		<div class="control">
			<label for="start-angle">Tilt <var>θ</var>, degrees</label>
			<input type="range" id="start-angle-slider" min="0" max="45" step="0.1" aria-label="tilt, degrees">
			<input type="number" id="start-angle" step="any" inputmode="decimal">
		</div>
		<div class="control">
			<label for="start-mu_s"><var>μ<sub>s</sub></var> <span>static coefficient</span></label>
			<input type="range" id="start-mu_s-slider" min="0" max="1" step="0.01" aria-label="static coefficient mu_s">
			<input type="number" id="start-mu_s" step="any" inputmode="decimal">
		</div>
		<div class="control">
			<label for="start-mu_k"><var>μ<sub>k</sub></var> <span>kinetic coefficient</span></label>
			<input type="range" id="start-mu_k-slider" min="0" max="1" step="0.01" aria-label="kinetic coefficient mu_k">
			<input type="number" id="start-mu_k" step="any" inputmode="decimal">
		</div>
		<p class="buttons">
			<button type="button" id="play">Pause</button>
			<button type="button" id="again">Start again</button>
			<label><input type="checkbox" id="tilting" checked> Tilt slowly</label>
		</p>
	</div>
	<p>The service computes friction from a smooth law: below <var>ε<sub>v</sub></var> = ${EPS_V} m/s the block sticks, which
		means that it creeps. Read <a href="docs/laws.html">how to choose a law</a>, <a href="docs/sticking.html">how to make friction
		hold</a> without creep, and <a href="docs/quickstart.html">how to call the service</a>; or see
		<a href="#v1/laws">all laws</a>, <a href="#v1/batch">your own contacts</a>,
		<a href="#v1/motion">other motions</a>, and <a href="#v1/fit">your measurements</a>.</p>
	<details id="more"><summary>More functions</summary>
		<section aria-label="More functions">
			<p class="stale" hidden></p>
			<p class="fault" role="alert" hidden></p>
		</section>
	</details>
</section>
`;

const WHAT = {
	name: "law_force",
	symbol: "F/N",
	speed: "speed",
	unit: "",
	title: "Friction F ÷ normal force N, over the speed",
	text: "",
};

/* The speeds of the samples: dense where the law changes, then up to the end of the plot, and one far beyond. */
const SPEEDS = [
	...Array.from({length: 101}, (_, i) => (EPS_V * i) / 100),
	...Array.from({length: 44}, (_, i) => EPS_V + ((FASTEST - EPS_V) * (i + 1)) / 44),
	LIMIT,
];
const N_PLOTTED = SPEEDS.length - 1;

/* The block and its plane. Implicit Euler in the speed, with the service's samples of the law. */
class Ride {
	constructor() {
		Object.assign(this, {values: null, along: 0, speed: 0, rest: 0});
	}

	begin() {
		Object.assign(this, {along: 0, speed: 0, rest: 0});
	}

	force(speed) {
		const y = Math.min(speed, LIMIT);
		let i = SPEEDS.findIndex((at) => at > y) - 1;
		if (i < 0) i = SPEEDS.length - 2;
		const share = (y - SPEEDS[i]) / (SPEEDS[i + 1] - SPEEDS[i]);
		return this.values[i] + share * (this.values[i + 1] - this.values[i]);
	}

	/* The least speed at which the momentum balances: from there on, friction would have to rise. */
	advance(theta, dt) {
		const pull = G * Math.sin(theta),
			hold = G * Math.cos(theta);
		const lack = (v) => v - this.speed - dt * (pull - hold * this.force(v));
		let low = 0,
			high = this.speed + dt * pull;
		if (lack(0) >= 0) high = 0;
		for (let i = 0; i < 40 && high - low > 1e-12; i++) {
			const middle = (low + high) / 2;
			if (lack(middle) < 0) low = middle;
			else high = middle;
		}
		this.speed = high;
		this.along += dt * this.speed;
	}

	/* The speed at which the block would settle, for a picture that does not move. */
	settle(theta) {
		const tan = Math.tan(theta);
		const i = this.values.findIndex((value) => value >= tan);
		if (i > 0) {
			const share = (tan - this.values[i - 1]) / (this.values[i] - this.values[i - 1]);
			this.speed = SPEEDS[i - 1] + share * (SPEEDS[i] - SPEEDS[i - 1]);
		} else this.speed = i === 0 ? 0 : 0.4;
		this.along = LENGTH / 3;
	}
}

const radians = (degrees) => (degrees * Math.PI) / 180;
const speedText = (v) => (v < 0.1 ? `${format(1000 * v, 2)} mm/s` : `${v.toFixed(2)} m/s`);

function sentenceOf(degrees, friction, speed, largest) {
	const pull = Math.tan(radians(degrees)),
		at = `At ${degrees.toFixed(0)}° gravity pulls with ${pull.toFixed(2)} of the normal force`;
	if (speed < EPS_V && pull <= largest)
		return [`${at}; friction can hold ${largest.toFixed(2)}: `, `the block sticks, creeping at ${speedText(speed)}.`];
	const does = pull > friction + 0.005 ? ", faster and faster" : pull < friction - 0.005 ? ", ever slower" : "";
	return [`${at}; friction resists with ${friction.toFixed(2)}: `, `the block slides at ${speedText(speed)}${does}.`];
}

export function mount(root, context) {
	root.innerHTML = PAGE;
	const {service} = context;
	const byId = (id) => root.querySelector(`#${id}`);
	const ride = new Ride();
	const scene = byId("start-scene"),
		sentence = byId("sentence"),
		tilting = byId("tilting"),
		play = byId("play");
	const calm = matchMedia("(prefers-reduced-motion: reduce)");
	let isPlaying = !calm.matches,
		isVisible = true,
		angle = isPlaying ? 14 : CONTROLS["start-angle"],
		frame = 0,
		last = 0,
		spoken = 0,
		more = null,
		shownLaw = null;

	const controls = {
		"start-angle": new Control("start-angle", CONTROLS["start-angle"], () => {
			tilting.checked = false;
			setAngle(controls["start-angle"].value);
			if (ride.along >= LENGTH) ride.begin();
			if (!isPlaying && ride.values) ride.settle(radians(angle));
			draw();
			context.changed();
		}),
		"start-mu_s": new Control("start-mu_s", CONTROLS["start-mu_s"], lawChanged),
		"start-mu_k": new Control("start-mu_k", CONTROLS["start-mu_k"], lawChanged),
	};
	const law = () => ({
		eps_v: EPS_V,
		mu_s: controls["start-mu_s"].asked,
		mu_k: controls["start-mu_k"].asked,
		mu_transition: "peak",
	});
	const plot = new Plot(byId("start-plot"), WHAT, {
		height: 270,
		narrow: 190,
		isQuiet: true,
		guides: () =>
			shownLaw
				? [
						[shownLaw.mu_s, "μ_s"],
						[shownLaw.mu_k, "μ_k"],
					]
				: [],
		onCursor: (index) => plot.moveTo(index),
	});
	plot.index = SPEEDS.indexOf(EPS_V);
	const latest = new service.Latest(ask, new service.Freshness(root.querySelector("section"), locate));

	function locate(error) {
		const name = /mu_[sk]$/.exec(error.pointer ?? "")?.[0];
		return error.control ?? controls[`start-${name}`];
	}

	function lawChanged() {
		latest.update();
		if (more && byId("more").open) more.update();
		context.changed();
	}

	async function ask(signal) {
		const now = law();
		const {law_force} = await service.functions({law_force: {y: SPEEDS, ...now}}, signal);
		shownLaw = now;
		ride.values = law_force.values;
		ride.largest = Math.max(...law_force.values);
		plot.show(SPEEDS.slice(0, N_PLOTTED), ride.values.slice(0, N_PLOTTED), [EPS_V]);
		if (!isPlaying) ride.settle(radians(angle));
		draw();
	}

	function setAngle(degrees) {
		if (Math.abs(degrees) < 90) angle = degrees;
	}

	/* ---- the picture ---- */

	const drawing = add(scene, "g");
	const handle = add(scene, "circle", {
		class: "handle ground",
		r: 12,
		role: "slider",
		tabindex: "0",
		"aria-label": "tilt, degrees",
		"aria-valuemin": "0",
		"aria-valuemax": "45",
		"aria-valuenow": "0",
	});
	makeHandle(scene, handle, {
		drag: (x, y) => controls["start-angle"].moveTo((Math.atan2(SCENE.y - y, SCENE.x - x) * 180) / Math.PI),
		step: (n) => controls["start-angle"].moveTo(angle + n),
		end: (way) => controls["start-angle"].moveTo(way < 0 ? 0 : 45),
	});
	fitText(scene);

	function draw() {
		const theta = radians(angle),
			c = Math.cos(theta),
			s = Math.sin(theta),
			{x, y, length, block, weight} = SCENE;
		/* from the upper end of the plane */
		const at = (along, up) => [x - (length - along) * c + up * s, y - (length - along) * s - up * c];
		const points = (...list) => list.map(([px, py]) => `${px.toFixed(2)},${py.toFixed(2)}`).join(" ");
		const room = length - block.length - 74,
			from = 62 + Math.min(ride.along / LENGTH, 1) * room,
			middle = from + block.length / 2;
		drawing.replaceChildren();
		add(drawing, "polygon", {class: "ground", points: points(at(0, 0), [x, y], [x - length * c, y])});
		add(drawing, "line", {class: "floor", x1: 4, x2: 396, y1: y, y2: y});
		add(drawing, "polygon", {
			class: "block",
			points: points(
				at(from, 0),
				at(from + block.length, 0),
				at(from + block.length, block.height),
				at(from, block.height),
			),
		});
		label(drawing, {class: "angle", x: x - 20, y: y + 22, "text-anchor": "end"}, `θ = ${angle.toFixed(1)}°`);
		const [upperX, upperY] = at(0, 0);
		set(handle, {cx: upperX, cy: upperY, "aria-valuenow": String(Math.round(10 * angle) / 10)});
		if (!ride.values) return;
		const friction = ride.speed > 0 ? ride.force(ride.speed) : Math.min(ride.force(0), Math.tan(theta)),
			[mx, my] = at(middle, block.height / 2),
			[fx, fy] = at(middle, 0),
			[vx, vy] = at(from + block.length + 4, block.height / 2);
		arrow(drawing, mx, my, 0, weight, "gravity", "W");
		arrow(drawing, fx, fy, weight * c * s, -weight * c * c, "normal", "N");
		arrow(drawing, fx, fy, -weight * friction * c * c, -weight * friction * c * s, "force", "F");
		const v = 90 * Math.min(ride.speed, 1.2);
		if (v > 4) arrow(drawing, vx, vy, v * c, v * s, "slip", "v");
		plot.track(Math.min(ride.speed, FASTEST), friction);
		plot.level(Math.tan(theta), "pull of gravity");
		const now = performance.now();
		if (now - spoken < 200 && isPlaying) return;
		spoken = now;
		tell(friction);
	}

	function tell(friction) {
		const [why, what] = sentenceOf(angle, friction, ride.speed, ride.largest);
		const strong = document.createElement("strong");
		strong.textContent = what;
		strong.className = ride.speed < EPS_V ? "sticks" : "slides";
		sentence.replaceChildren(why, strong);
	}

	/* ---- motion ---- */

	function tick(now) {
		frame = 0;
		const passed = last ? Math.min((now - last) / 1000, 0.1) : 0;
		last = now;
		if (ride.values) live(passed);
		else if (tilting.checked) tilt(passed);
		draw();
		run();
	}

	function tilt(passed) {
		setAngle(Math.min(angle + TILT.rate * passed, TILT.to));
		if (document.activeElement !== controls["start-angle"].field)
			controls["start-angle"].show(Math.round(10 * angle) / 10, null);
	}

	function live(passed) {
		if (ride.along >= LENGTH) {
			ride.speed = 0;
			ride.rest += passed;
			if (ride.rest < REST_S) return;
			ride.begin();
			if (tilting.checked) setAngle(TILT.from);
			return;
		}
		if (tilting.checked) tilt(passed);
		for (let t = passed; t > 0 && ride.along < LENGTH; t -= STEP_S) ride.advance(radians(angle), Math.min(t, STEP_S));
	}

	function run() {
		if (isPlaying && isVisible && !frame) frame = requestAnimationFrame(tick);
		play.textContent = isPlaying ? "Pause" : "Play";
	}

	function setPlaying(value) {
		isPlaying = value;
		last = 0;
		cancelAnimationFrame(frame);
		frame = 0;
		run();
	}

	play.addEventListener("click", () => setPlaying(!isPlaying));
	byId("again").addEventListener("click", () => {
		ride.begin();
		if (tilting.checked) setAngle(TILT.from);
		if (!isPlaying && !calm.matches) setPlaying(true);
		else draw();
	});
	tilting.addEventListener("change", () => context.changed());
	calm.addEventListener("change", () => {
		if (calm.matches) setPlaying(false);
	});
	byId("more").addEventListener("toggle", async () => {
		if (!byId("more").open) return;
		const {Law} = await context.load("law_plots.js");
		more ??= new Law(byId("more").querySelector("section"), law, () => "whole", {withoutForce: true, locate});
		more.update();
		service.hurry();
	});
	withSubscripts(root);
	latest.update();
	draw();
	run();

	return {
		state() {
			const values = Object.entries(controls).filter(
				([name, control]) => control.value !== control.initial && !(name === "start-angle" && tilting.checked),
			);
			return {
				...Object.fromEntries(values.map(([name, control]) => [name.replace("start-", ""), control.value])),
				...(tilting.checked ? {} : {tilting: false}),
			};
		},
		restore(state) {
			for (const [name, control] of Object.entries(controls)) control.restore(state[name.replace("start-", "")]);
			tilting.checked = state.tilting !== false;
			setAngle(tilting.checked && isPlaying ? TILT.from : controls["start-angle"].value);
			ride.begin();
			lawChanged();
			draw();
		},
		show() {
			isVisible = true;
			run();
		},
		hide() {
			isVisible = false;
		},
		requests: () =>
			shownLaw
				? [
						{
							path: "v1/functions",
							body: JSON.stringify({functions: {law_force: {y: SPEEDS.slice(0, N_PLOTTED), ...shownLaw}}}),
						},
					]
				: [],
		pictures: () => [scene, plot.svg, ...root.querySelectorAll("#more svg")],
		table: () => ({
			columns: ["speed_m_per_s", "friction_over_normal_force"],
			rows: ride.values ? SPEEDS.slice(0, N_PLOTTED).map((y, i) => [y, ride.values[i]]) : [],
		}),
	};
}
