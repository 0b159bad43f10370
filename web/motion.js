/* Motions of one body with and without anchors, side by side. A worker takes the steps; see motion_worker.js. */
import {Chart} from "./chart.js";
import {Control, makeLocate} from "./controls.js";
import {RADIUS, SCENES} from "./scenes.js";
import {add, arrow, fillList, fitText, format, label, withSubscripts} from "./svg.js";

export const title = "Motion";

const N_STEPS = 1000;
const N_REQUESTS = 3; /* that are usually needed */
const FIRST = "incline";
const CONTROLS = {
	angle: [15],
	start: [0.5],
	belt: [0.2],
	stiffness: [40, "log"],
	spin: [20],
	duration: [2, "log"],
	eps_v: [0.001, "log"],
	mu_s: [0.6],
	mu_k: [0.4],
	stribeck_speed: [0.05, "log"],
};
/* Initial values that differ between scenes. */
const STARTS = {
	incline: {start: 0.5, duration: 2},
	belt: {start: 0, belt: 1, duration: 1},
	oscillator: {belt: 0.2, duration: 4},
	ball: {start: 1, duration: 1},
	disc: {duration: 1},
};
const LAWS = {
	peak: {words: "smooth, transition peak", of: () => ({mu_transition: "peak"}), reach: ({eps_v}) => eps_v},
	cubic: {words: "smooth, transition cubic", of: () => ({mu_transition: "cubic"}), reach: ({eps_v}) => eps_v},
	stribeck: {
		words: "stribeck",
		of: ({stribeck_speed}) => ({law: "stribeck", stribeck_speed}),
		reach: ({eps_v, stribeck_speed}) => eps_v + 6.5 * stribeck_speed,
	},
	exponential: {
		words: "exponential",
		of: ({stribeck_speed}) => ({law: "exponential", stribeck_speed}),
		reach: ({eps_v, stribeck_speed}) => eps_v + 40 * stribeck_speed,
	},
};

const control = (name, text, min, max, step) => `
	<div class="control" data-setting="${name}">
		<label for="motion-${name}">${text}</label>
		<input type="range" id="motion-${name}-slider" min="${min}" max="${max}" step="${step}" aria-label="${name}">
		<input type="number" id="motion-${name}" step="any" inputmode="decimal">
	</div>`;

const PAGE = `
<section aria-labelledby="motion-title" id="motion">
	<p class="stale" hidden></p>
	<h2 id="motion-title">Motion, with and without anchors</h2>
	<p class="fault" role="alert" hidden></p>
	<p id="motion-words" class="live"></p>
	<div class="stage wide">
		<figure><svg id="motion-scene" viewBox="0 0 640 210" role="img" aria-label="The scene"></svg></figure>
		<div class="player">
			<button type="button" id="motion-play">Play</button>
			<label for="motion-time">Time <output id="motion-now" for="motion-time">0 s</output></label>
			<input type="range" id="motion-time" min="0" max="${N_STEPS}" step="1" value="0">
		</div>
	</div>
	<div class="levers">
		<div class="control">
			<label for="motion-kind">Scene</label>
			<select id="motion-kind">${Object.entries(SCENES)
				.map(([name, {title: words}]) => `<option value="${name}">${words}</option>`)
				.join("")}</select>
		</div>
		${control("angle", "Angle <var>θ</var>, degrees", 0, 60, 0.1)}
		${control("start", "Speed at the start, m/s", 0, 3, 0.01)}
		${control("belt", "Speed of the belt, m/s", 0, 2, 0.01)}
		${control("stiffness", "Stiffness of the spring, N/m", 0, 4, 0.01)}
		${control("spin", "Spin at the start, rad/s", 0, 60, 0.5)}
		${control("duration", "Duration, s", -1, 1, 0.01)}
		<div class="control">
			<label for="motion-law">Law</label>
			<select id="motion-law">${Object.entries(LAWS)
				.map(([name, {words}]) => `<option value="${name}">${words}</option>`)
				.join("")}</select>
		</div>
		${control("eps_v", "<var>ε<sub>v</sub></var> <span>speed below which contacts stick, m/s</span>", -6, 0, 0.01)}
		${control("mu_s", "<var>μ<sub>s</sub></var> <span>static coefficient</span>", 0, 2, 0.01)}
		${control("mu_k", "<var>μ<sub>k</sub></var> <span>kinetic coefficient</span>", 0, 2, 0.01)}
		${control("stribeck_speed", "<var>v</var><sub>s</sub> <span>speed over which friction falls, m/s</span>", -6, 1, 0.01)}
		<p class="buttons"><button type="button" id="motion-reset">Reset</button></p>
	</div>
	<ul class="legend"><li class="anchored">with anchors</li><li class="loose">without anchors</li></ul>
	<div class="plots" id="motion-charts"></div>
	<dl class="numbers"></dl>
	<p>A body of 1 kg; the ball and the disc have a radius of ${RADIUS} m. ${N_STEPS} steps of implicit Euler: the service
		computes friction in all of them. An <a href="docs/sticking.html">anchor</a> is the elastic deflection of a contact that
		sticks, so the body rests; without anchors it creeps. Anchors hold sliding, not spin.</p>
</section>
`;

const isFirst = (name, value, kind) => value === (STARTS[kind][name] ?? CONTROLS[name][0]);

export function mount(root, context) {
	root.innerHTML = PAGE;
	const {service} = context;
	const byId = (id) => root.querySelector(`#motion-${id}`);
	const svg = byId("scene"),
		kind = byId("kind"),
		lawChoice = byId("law"),
		time = byId("time");
	const calm = matchMedia("(prefers-reduced-motion: reduce)");
	let result = null,
		shown = null,
		isPlaying = false,
		frame = 0,
		clock = 0;

	const changed = () => {
		latest.update();
		context.changed();
	};
	const controls = Object.fromEntries(
		Object.entries(CONTROLS).map(([name, [initial, scale]]) => [
			name,
			new Control(`motion-${name}`, initial, changed, scale),
		]),
	);
	const locate = makeLocate((name) => controls[name]);
	const latest = new service.Latest(
		ask,
		new service.Freshness(root.querySelector("section"), (error) => {
			if (!/normal_force/.test(error.pointer ?? "")) return locate(error);
			const {angle} = controls;
			return {
				name: angle.name,
				blame: (section, text) =>
					angle.blame(section, text && "Beyond 90° the slope does not carry the block: choose 0° to 90°."),
			};
		}),
		N_REQUESTS,
	);
	const place = byId("charts");
	const charts = {
		position: new Chart(place, {name: "position", title: "Position over time", x: ["t", "s"], y: ["x", "m"]}),
		phase: new Chart(place, {name: "phase", title: "Phase: velocity over position", x: ["x", "m"], y: ["v", "m/s"]}),
		loop: new Chart(place, {name: "loop", title: "Friction over slip", x: ["slip", "m"], y: ["F/N", ""]}),
		energy: new Chart(place, {name: "energy", title: "Energy over time; thin lines: lost to friction", x: ["t", "s"], y: ["E", "J"]}),
	};

	/* ---- settings ---- */

	function arrange() {
		const {settings} = SCENES[kind.value];
		const has = {stribeck_speed: ["stribeck", "exponential"].includes(lawChoice.value)};
		for (const element of root.querySelectorAll("[data-setting]")) {
			const {setting} = element.dataset;
			const isOfScene = Object.keys(CONTROLS).indexOf(setting) < 5;
			element.hidden = isOfScene ? !settings.includes(setting) : has[setting] === false;
		}
	}

	function chooseScene(name) {
		kind.value = Object.hasOwn(SCENES, name) ? name : FIRST;
		for (const [setting, value] of Object.entries(STARTS[kind.value])) controls[setting].show(value, null);
		arrange();
	}

	function law() {
		const values = Object.fromEntries(["eps_v", "mu_s", "mu_k"].map((name) => [name, controls[name].asked]));
		const {of, reach} = LAWS[lawChoice.value];
		const needs = ["stribeck", "exponential"].includes(lawChoice.value);
		const own = {...values, ...(needs ? {stribeck_speed: controls.stribeck_speed.asked} : {})};
		return {law: {...values, ...of(own)}, reach: reach(own)};
	}

	/* ---- the worker ---- */

	let worker = null,
		done = null;

	function start() {
		worker = new Worker(new URL("./motion_worker.js", import.meta.url), {type: "module"});
		worker.onerror = () => {
			worker = null;
			done?.reject(
				Object.assign(new Error("The motion could not be computed. Trying again …"), {
					words() {
						return this.message;
					},
				}),
			);
			setTimeout(() => latest.update(), 2000);
		};
		worker.onmessage = async ({data}) => {
			if (data.ask === undefined) {
				if (data.fault !== undefined) done?.reject(done.error ?? new Error(data.fault));
				else done?.resolve(data.done);
				return;
			}
			const mine = done;
			try {
				const {json} = await service.request(data.path, data.body, mine.signal);
				mine.requests.push({path: data.path, body: data.body});
				const answer = json.body_gradient ? {body_gradient: json.body_gradient} : json;
				worker.postMessage({to: data.ask, answer});
			} catch (error) {
				mine.error = error;
				worker.postMessage({to: data.ask, fault: 0});
			}
		};
	}

	async function ask(signal) {
		if (!worker) start();
		const {settings, make} = SCENES[kind.value];
		const parameters = Object.fromEntries(settings.map((name) => [name, controls[name].asked]));
		const duration = controls.duration.asked;
		if (!(duration > 0))
			throw Object.assign(new Error("The duration has to be positive."), {
				control: controls.duration,
				words() {
					return this.message;
				},
			});
		const scene = make(parameters),
			{law: friction, reach} = law();
		const fastest = Math.max(
			...scene.freedoms.map(
				({start: v, slip, pull, mass}) => Math.abs(slip) * (Math.abs(v) + (Math.abs(pull) * duration) / mass),
			),
			Math.abs(scene.belt ?? 0) * 3,
			1,
		);
		done = {signal, requests: []};
		const finished = new Promise((resolve, reject) => Object.assign(done, {resolve, reject}));
		worker.postMessage({id: 1, scene, law: friction, reach, fastest, duration, n: N_STEPS});
		const {requests} = done;
		result = await finished;
		result.requests = requests;
		shown = {kind: kind.value, scene, law: friction, parameters, duration};
		byId("words").textContent = SCENES[kind.value].words;
		analyse();
		showCharts();
		clock = Math.min(clock, N_STEPS);
		moveTo(calm.matches ? N_STEPS : Math.round(clock));
	}

	/* ---- results ---- */

	/* Adds relative slip and energies to the motions. */
	function analyse() {
		const {freedoms, belt = 0, stiffness = 0} = shown.scene;
		for (const motion of result.motions) {
			const n = motion.slip.length;
			motion.way = [0];
			motion.heat = [0];
			motion.energy = [];
			for (let k = 0; k < n; k++) {
				const kinetic = freedoms.reduce((sum, {mass}, i) => sum + 0.5 * mass * motion.v[i][k] ** 2, 0);
				motion.energy.push(kinetic + 0.5 * stiffness * motion.x[0][k] ** 2);
				if (k === 0) continue;
				const relative = freedoms.reduce((sum, {slip}, i) => sum + slip * motion.v[i][k], -belt);
				motion.way.push(motion.way[k - 1] + result.h * relative);
				motion.heat.push(motion.heat[k - 1] - result.h * relative * motion.friction[k]);
			}
		}
	}

	const NAMES = ["with anchors", "without anchors"],
		KINDS = ["anchored", "loose"];

	function showCharts() {
		const {t, motions} = result,
			{normal} = shown.scene;
		const isTurning = shown.kind === "disc";
		charts.position.y = isTurning ? ["φ", "rad"] : ["x", "m"];
		charts.phase.x = charts.position.y;
		charts.phase.y = isTurning ? ["ω", "rad/s"] : ["v", "m/s"];
		const lines = (x, y) => motions.map((motion, i) => ({name: NAMES[i], kind: KINDS[i], x: x(motion), y: y(motion)}));
		const ends = motions.map(({x}, i) => `${NAMES[i]} ${format(x[0].at(-1))} at the end`).join(", ");
		charts.position.show(
			lines(
				() => t,
				({x}) => x[0],
			),
			[],
			ends,
		);
		charts.phase.show(
			lines(
				({x}) => x[0],
				({v}) => v[0],
			),
		);
		charts.loop.show(
			lines(
				({way}) => way.slice(1),
				({friction}) => friction.slice(1).map((f) => f / normal),
			),
		);
		charts.energy.show([
			...lines(
				() => t,
				({energy}) => energy,
			),
			...motions.map(({heat}, i) => ({name: `lost to friction, ${NAMES[i]}`, kind: `${KINDS[i]} heat`, x: t, y: heat})),
		]);
		tellNumbers();
	}

	function tellNumbers() {
		const rows = result.motions.flatMap(({x, v}, i) => {
			const half = Math.floor(N_STEPS / 2);
			const unit = shown.kind === "disc" ? "rad" : "m";
			return [
				[`velocity at the end, ${NAMES[i]}`, `${format(v[0].at(-1), 6)} ${unit}/s`, `${KINDS[i]}-velocity`],
				[
					`motion in the second half, ${NAMES[i]}`,
					`${format(x[0].at(-1) - x[0][half], 4)} ${unit}`,
					`${KINDS[i]}-drift`,
				],
			];
		});
		fillList(root.querySelector("dl"), [
			...rows,
			["imbalance of forces in any step, of the normal force", format(result.worst, 2), "imbalance"],
			["requests to the service", String(result.requests.length), "requests"],
		]);
	}

	/* ---- the picture ---- */

	const HALF = 320,
		FLOOR = 160;

	function drawHalf(i, index) {
		const {x, v, friction} = result.motions[i],
			{scene, kind: name, parameters} = shown;
		const g = add(svg, "g", {transform: `translate(${i * HALF} 0)`});
		label(g, {class: "angle", x: HALF / 2, y: 32, "text-anchor": "middle"}, NAMES[i]);
		const at = x[0][index];
		if (name === "disc") return drawDisc(g, at, v[0][index]);
		const all = result.motions.flatMap(({x: [list]}) => [Math.min(...list), Math.max(...list)]);
		const low = Math.min(0, ...all),
			high = Math.max(0, ...all),
			scale = 150 / Math.max(high - low, 0.02);
		const from = 90 - low * scale;
		const theta = name === "incline" ? Math.min(parameters.angle, 40) : 0;
		const plane = add(g, "g", {transform: `rotate(${theta} ${HALF / 2} ${FLOOR - 20})`});
		add(plane, "line", {class: "track", x1: 30, x2: 300, y1: FLOOR, y2: FLOOR});
		if (scene.belt) drawBelt(plane, scene.belt * index * result.h * scale);
		const px = from + at * scale;
		if (scene.stiffness) drawSpring(plane, 34, px - 22);
		if (name === "ball") {
			const turn = x[1][index];
			add(plane, "circle", {class: "block", cx: px, cy: FLOOR - 24, r: 24});
			for (const quarter of [0, 1])
				add(plane, "line", {
					class: "spoke",
					x1: px - 24 * Math.cos(turn + (quarter * Math.PI) / 2),
					y1: FLOOR - 24 - 24 * Math.sin(turn + (quarter * Math.PI) / 2),
					x2: px + 24 * Math.cos(turn + (quarter * Math.PI) / 2),
					y2: FLOOR - 24 + 24 * Math.sin(turn + (quarter * Math.PI) / 2),
				});
		} else add(plane, "rect", {class: "block", x: px - 22, y: FLOOR - 34, width: 44, height: 34});
		arrow(plane, px, FLOOR, (55 * friction[index]) / scene.normal, 0, "force", "F");
		const fastest = Math.max(...result.motions.map(({v: [list]}) => Math.max(...list.map(Math.abs))), 1e-300);
		arrow(plane, px, FLOOR - 58, (55 * v[0][index]) / fastest, 0, "slip", "v");
		return null;
	}

	function drawBelt(g, shift) {
		for (let mark = ((shift % 30) + 30) % 30; mark < 270; mark += 30)
			add(g, "line", {class: "track", x1: 30 + mark, x2: 24 + mark, y1: FLOOR, y2: FLOOR + 12});
	}

	function drawSpring(g, from, to) {
		const n = 12,
			points = Array.from({length: n + 1}, (_, i) => {
				const up = i === 0 || i === n ? 0 : i % 2 ? 7 : -7;
				return `${(from + ((to - from) * i) / n).toFixed(1)},${FLOOR - 17 + up}`;
			});
		add(g, "polyline", {class: "spring", points: points.join(" ")});
		add(g, "line", {class: "track", x1: from, x2: from, y1: FLOOR - 40, y2: FLOOR});
	}

	function drawDisc(g, angle, speed) {
		const [cx, cy, r] = [HALF / 2, 116, 66];
		add(g, "circle", {class: "block", cx, cy, r});
		for (let k = 0; k < 3; k++)
			add(g, "line", {
				class: "spoke",
				x1: cx,
				y1: cy,
				x2: cx + r * Math.cos(angle + (2 * Math.PI * k) / 3),
				y2: cy - r * Math.sin(angle + (2 * Math.PI * k) / 3),
			});
		const fastest = Math.max(...result.motions.map(({v: [list]}) => Math.max(...list.map(Math.abs))), 1e-300);
		arrow(g, cx + r + 14, cy + 30, 0, (-60 * speed) / fastest, "slip", "ω");
		return null;
	}

	function moveTo(index) {
		if (!result) return;
		time.value = String(index);
		const now = `${(index * result.h).toFixed(3)} s`;
		byId("now").textContent = now;
		time.setAttribute("aria-valuetext", now);
		svg.replaceChildren();
		for (const i of [0, 1]) drawHalf(i, index);
		const text = result.motions.map(({x}, i) => `${NAMES[i]} at ${format(x[0][index])}`).join(", ");
		svg.setAttribute("aria-label", `${SCENES[shown.kind].title} after ${now}: ${text}`);
		for (const chart of Object.values(charts)) chart.moveTo(chart === charts.loop ? Math.max(index - 1, 0) : index);
	}

	/* ---- player ---- */

	let last = 0;

	function tick(now) {
		frame = 0;
		if (!isPlaying || !result) return;
		clock += last ? Math.min((now - last) / 1000, 0.1) / result.h : 0;
		last = now;
		if (clock >= N_STEPS) {
			clock = N_STEPS;
			setPlaying(false);
		}
		moveTo(Math.round(clock));
		if (isPlaying) frame = requestAnimationFrame(tick);
	}

	function setPlaying(value) {
		isPlaying = value;
		byId("play").textContent = value ? "Pause" : "Play";
		cancelAnimationFrame(frame);
		last = 0;
		if (value) frame = requestAnimationFrame(tick);
	}

	byId("play").addEventListener("click", () => {
		if (!isPlaying && clock >= N_STEPS) clock = 0;
		setPlaying(!isPlaying);
	});
	time.addEventListener("input", () => {
		clock = Number(time.value);
		setPlaying(false);
		moveTo(clock);
	});
	kind.addEventListener("change", () => {
		chooseScene(kind.value);
		clock = 0;
		changed();
	});
	lawChoice.addEventListener("change", () => {
		arrange();
		changed();
	});
	byId("reset").addEventListener("click", () => {
		restore({scene: kind.value});
		context.changed();
	});

	function state() {
		const values = Object.entries(controls).filter(([name, {value}]) => !isFirst(name, value, kind.value));
		return {
			...(kind.value === FIRST ? {} : {scene: kind.value}),
			...(lawChoice.selectedIndex === 0 ? {} : {law: lawChoice.value}),
			...Object.fromEntries(values.map(([name, {value}]) => [name, value])),
		};
	}

	function restore(state) {
		lawChoice.value = Object.hasOwn(LAWS, state.law) ? state.law : "peak";
		for (const each of Object.values(controls)) each.reset();
		chooseScene(state.scene);
		for (const [name, each] of Object.entries(controls)) if (Number.isFinite(state[name])) each.show(state[name], null);
		clock = 0;
		latest.update();
	}

	fitText(svg);
	withSubscripts(root);
	chooseScene(FIRST);
	latest.update();

	const columns = () => {
		const {t, motions} = result;
		const lists = [["t", t]];
		motions.forEach(({x, v, slip, anchors, friction, energy, heat}, i) => {
			const own = {
				x: x[0],
				v: v[0],
				...(x[1] ? {turn: x[1], spin: v[1]} : {}),
				slip,
				anchor: anchors,
				friction,
				energy,
				heat,
			};
			for (const [name, list] of Object.entries(own)) lists.push([`${name}_${KINDS[i]}`, list]);
		});
		return lists;
	};

	return {
		state,
		restore,
		show: () => {},
		hide: () => setPlaying(false),
		requests: () => result?.requests ?? [],
		pictures: () => [svg, ...Object.values(charts).map((chart) => chart.svg)],
		table() {
			if (!result) return {columns: [], rows: []};
			const lists = columns();
			return {columns: lists.map(([name]) => name), rows: result.t.map((_, k) => lists.map(([, list]) => list[k]))};
		},
		data: () => ({
			view: "motion",
			state: state(),
			scene: shown?.scene,
			friction: shown?.law,
			time_step: result?.h,
			trajectory: result ? Object.fromEntries(columns()) : null,
		}),
	};
}
