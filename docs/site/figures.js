/* Live figures of friction.md, where the service shows it: every value comes from its answers. Without a service, as on
 * disk, or if it wants a token, the pictures stay. */
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 560, HEIGHT = 300;
const MU = 0.5, FORCE = 8; /* coefficient and normal force of all figures */

async function post(path, body) {
	const answer = await fetch(`${document.body.dataset.root}../v1/${path}`, {
		method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body),
	});
	if (!answer.ok) throw new Error(`status ${answer.status}`);
	return answer.json();
}

function shape(parent, tag, attributes, text) {
	const element = document.createElementNS(SVG, tag);
	for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
	if (text) element.textContent = text;
	parent.append(element);
	return element;
}

function path(points) {
	return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

/* An arrow as one path; the head of a velocity is open. */
function arrow(kind, [x0, y0], [x1, y1]) {
	const length = Math.hypot(x1 - x0, y1 - y0);
	if (length < 1) return "";
	const u = [(x1 - x0) / length, (y1 - y0) / length];
	const head = Math.min(11, length);
	const wing = (side) => [x1 - head * u[0] - side * 0.5 * head * u[1], y1 - head * u[1] + side * 0.5 * head * u[0]];
	return path([[x0, y0], [x1, y1]]) + path([wing(1), [x1, y1], wing(-1)]) + (kind === "force" ? "Z" : "");
}

function slider(figure, id, name, min, max, value, onInput) {
	const label = document.createElement("label");
	const input = document.createElement("input");
	const shown = document.createElement("output");
	Object.assign(input, {type: "range", min, max, step: max > 100 ? 1 : 0.01, value, id: `figure-${id}`});
	label.htmlFor = input.id;
	label.textContent = name;
	shown.htmlFor = input.id;
	const show = () => (shown.textContent = Number(input.value).toFixed(2));
	input.addEventListener("input", () => {
		show();
		onInput();
	});
	show();
	const row = document.createElement("div");
	row.className = "slider";
	row.append(label, input, shown);
	figure.append(row);
	return input;
}

/* One request at a time; the latest wish follows when it is answered. */
function latest(work) {
	let busy = false, again = false;
	return async function run() {
		again = busy;
		if (busy) return;
		busy = true;
		try {
			await work();
		} finally {
			busy = false;
			if (again) run();
		}
	};
}

function frameOf(figure, about) {
	const svg = document.createElementNS(SVG, "svg");
	svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
	svg.setAttribute("role", "img");
	svg.setAttribute("aria-label", about);
	const caption = document.createElement("figcaption");
	caption.setAttribute("role", "status");
	figure.append(svg, caption);
	return {svg, say: (text) => (caption.textContent = text)};
}

function axes(svg, x0, y0, across, up) {
	shape(svg, "path", {class: "axis", d: `M${x0} 20V${y0}H${WIDTH - 20}`});
	shape(svg, "text", {x: WIDTH - 20, y: y0 + 22, "text-anchor": "end"}, across);
	shape(svg, "text", {x: x0 + 8, y: 30}, up);
}

/* ---- the cone from above ---- */

async function cone(figure) {
	const {svg, say} = frameOf(figure, "The cone from above: its rim, the slip and the friction force");
	const centre = [WIDTH / 2, HEIGHT / 2], radius = 105;
	shape(svg, "circle", {class: "rim", cx: centre[0], cy: centre[1], r: radius});
	shape(svg, "text", {x: centre[0] + 112, y: centre[1] - 70}, "μ λ");
	const slip = shape(svg, "path", {class: "velocity"}), force = shape(svg, "path", {class: "force"});
	const u = shape(svg, "text", {class: "variable"}, "u"), f = shape(svg, "text", {class: "variable"}, "f");
	const draw = latest(async () => {
		const y = Number(speed.value), angle = (Number(turn.value) * Math.PI) / 180;
		const v = [y * Math.cos(angle), y * Math.sin(angle)];
		const answer = await post("evaluate", {
			dim: 3, velocities: [[...v, 0]], friction: {mu: MU, eps_v: 1}, outputs: ["collisions"], collision_outputs: ["friction_force"],
			collisions: {plane_vertex: {vertices: [0], plane_normal: [0, 0, 1], normal_force: FORCE}},
		});
		const [fx, fy] = answer.collisions.plane_vertex.friction_force[0];
		const at = ([x, z], scale) => [centre[0] + scale * x, centre[1] - scale * z];
		const tips = [at(v, 60), at([fx, fy], radius / (MU * FORCE))];
		for (const [line, text, kind, tip] of [[slip, u, "velocity", tips[0]], [force, f, "force", tips[1]]]) {
			line.setAttribute("d", arrow(kind, centre, tip));
			const length = Math.hypot(tip[0] - centre[0], tip[1] - centre[1]) || 1;
			text.setAttribute("x", tip[0] + (18 * (tip[0] - centre[0])) / length - 5);
			text.setAttribute("y", tip[1] + (18 * (tip[1] - centre[1])) / length + 6);
		}
		const size = Math.hypot(fx, fy);
		say(`Slip ${y.toFixed(2)} ε: friction is ${(size / (MU * FORCE)).toFixed(2)} μ λ, ${y >= 1 ? "on the rim" : "inside the cone"}.`);
	});
	const speed = slider(figure, "speed", "slip speed / ε", 0, 2, 1.4, draw);
	const turn = slider(figure, "turn", "direction, degrees", 0, 360, 30, draw);
	await draw();
}

/* ---- the smoothed law ---- */

async function law(figure) {
	const {svg, say} = frameOf(figure, "Friction over slip speed, and the speed at which it balances the push");
	const n = 201, last = 2, x0 = 50, y0 = 250;
	const at = (y, force) => [x0 + (y / last) * 470, y0 - force * 130];
	axes(svg, x0, y0, "slip speed y / ε", "force / (μ λ)");
	const speeds = Array.from({length: n}, (_, i) => (last * i) / (n - 1));
	const {values} = await post("functions/law_force", {y: speeds, mu_s: 1, mu_k: 1, eps_v: 1});
	shape(svg, "path", {class: "curve", d: path(speeds.map((y, i) => at(y, values[i])))});
	shape(svg, "path", {class: "dashed", d: path([at(1, 0), at(1, 1.4)])});
	shape(svg, "text", {x: at(1, 0)[0] - 5, y: y0 + 22}, "ε");
	const line = shape(svg, "path", {class: "push"}), dot = shape(svg, "circle", {class: "dot", r: 7});
	const draw = () => {
		const push = Number(input.value);
		line.setAttribute("d", path([at(0, push), at(last, push)]));
		const i = values.findIndex((value) => value >= push);
		dot.setAttribute("visibility", i < 0 || push > 1 ? "hidden" : "visible");
		if (i < 0) return say(`Push ${push.toFixed(2)} μ λ: more than friction can be. The block accelerates.`);
		const before = Math.max(i - 1, 0), rise = values[i] - values[before];
		const y = speeds[before] + (rise > 0 ? ((push - values[before]) / rise) * (speeds[i] - speeds[before]) : 0);
		const [x, z] = at(y, push);
		dot.setAttribute("cx", x);
		dot.setAttribute("cy", z);
		return say(push > 0 ? `Push ${push.toFixed(2)} μ λ: creeps at ${y.toFixed(2)} ε.` : "No push, no motion.");
	};
	const input = slider(figure, "push", "push / (μ λ)", 0, 1.5, 0.5, draw);
	draw();
}

/* ---- anchors ---- */

async function anchor(figure) {
	const {svg, say} = frameOf(figure, "Friction over displacement of a contact that moves back and forth, with and without an anchor");
	const x0 = WIDTH / 2, y0 = HEIGHT / 2, n = 120;
	const at = (way, force) => [x0 + way * 65, y0 - force * 100];
	shape(svg, "path", {class: "axis", d: `M30 ${y0}H${WIDTH - 20}M${x0} 20V${HEIGHT - 20}`});
	shape(svg, "text", {x: WIDTH - 20, y: HEIGHT - 10, "text-anchor": "end"}, "displacement / (ε h)");
	shape(svg, "text", {x: x0 + 8, y: 30}, "friction / (μ λ)");
	const lines = [shape(svg, "path", {class: "curve"}), shape(svg, "path", {class: "other"})];
	shape(svg, "text", {x: 40, y: 30}, "solid: with an anchor");
	shape(svg, "text", {x: 40, y: 50}, "dashed: without");
	let round = 0;

	/* A contact with its anchor, and beside it one without: one request for each step. */
	async function loop(amplitude, mine) {
		const ways = Array.from({length: n + 1}, (_, i) => amplitude * Math.sin((2.5 * Math.PI * i) / n));
		const traces = [[[0, 0]], [[0, 0]]];
		let carried = [0, 0];
		for (let i = 1; i <= n && mine === round; i++) {
			const {collisions} = await post("evaluate", {
				dim: 2, velocities: [[ways[i] - ways[i - 1], 0], [ways[i] - ways[i - 1], 0]], friction: {mu: MU, eps_v: 1},
				outputs: ["collisions"], collision_outputs: ["anchor", "friction_force"],
				collisions: {plane_vertex: {vertices: [0, 1], plane_normal: [0, 1], normal_force: FORCE, anchor: [carried, [0, 0]]}},
			});
			carried = collisions.plane_vertex.anchor[0];
			collisions.plane_vertex.friction_force.forEach(([force], k) => traces[k].push([ways[i], -force / (MU * FORCE)]));
			if (mine !== round) return;
			lines.forEach((line, k) => line.setAttribute("d", path(traces[k].map(([way, force]) => at(way, force)))));
		}
		const most = Math.max(...traces[0].map(([, force]) => force));
		say(`With an anchor, friction reaches ${most.toFixed(2)} μ λ${amplitude > 1 ? " and the contact slides" : ": it sticks"}.`);
	}

	const start = () => loop(Number(input.value), ++round);
	const input = slider(figure, "way", "amplitude / (ε h)", 0.2, 3.5, 3, start);
	await start();
}

/* ---- the page ---- */

const FIGURES = {cone, law, anchor};

async function bringToLife(figure) {
	const live = document.createElement("div");
	live.className = "live";
	await FIGURES[figure.dataset.figure](live);
	figure.append(live);
	figure.dataset.live = "yes";
}

if (location.protocol.startsWith("http"))
	for (const figure of document.querySelectorAll("[data-figure]"))
		bringToLife(figure).catch(() => figure.classList.add("still"));
