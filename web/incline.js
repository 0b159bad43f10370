/* A block on an incline in 2D: forces, stick or slip, Coulomb cone, Hessian. */
import {outcome, resistance} from "./balance.js";
import {makeHandle} from "./controls.js";
import {Exchange} from "./exchange.js";
import {add, arrow, fillList, fitText, format, separate, set, withSubscripts} from "./svg.js";
import {Spy} from "./spy.js";
import {Freshness, Latest, request} from "./service.js";

const G = 9.81; /* m/s² */
const LENGTH = 2,
	WIDTH = 0.5,
	HEIGHT = 0.3; /* length of the slope and side of the block, m */
const SHOWN = {
	x: 200,
	y: 180,
	half: 150,
	scale: 150,
	weight: 85,
}; /* middle and half length of the slope; pixels per m; pixels per weight */
const BLOCKS = ["corner 0", "corner 1", "corner 2", "corner 3", "slope 4", "slope 5"];

/* Vertices 0 to 3: the block, from its uphill bottom corner; 4 and 5: the slope, from top to bottom. */
function positions(c, s) {
	const at = (along, up) => [along * c + up * s, (LENGTH - along) * s + up * c];
	const a = (LENGTH - WIDTH) / 2,
		b = a + WIDTH;
	return [at(a, 0), at(b, 0), at(b, HEIGHT), at(a, HEIGHT), at(0, 0), at(LENGTH, 0)];
}

/* The text of the badge. The arguments are those of outcome() and its result. */
function verdict({speed}, {fate, creep}) {
	if (fate === "coasts") return "▶ Nothing changes the block's speed";
	if (fate === "slides") return "▶ The block slides on at a steady speed";
	if (creep === null) return "▶ Friction cannot hold the block";
	if (fate === "escapes") return "▶ Too fast for friction to hold the block";
	if (Math.abs(speed) < 1) return creep > 0 ? "■ Friction holds the block to a creep" : "■ Friction holds the block";
	return creep > 0 ? "■ Friction slows the block to a creep" : "■ Friction stops the block";
}

function atThisSpeed({tan, speed, friction, net}, {symbol}) {
	const numbers = `${symbol} = ${format(friction)}, tan θ = ${format(tan)}`;
	if (tan === 0) return net === 0 ? "" : `Friction slows the block: ${symbol} = ${format(friction)}.`;
	if (speed < 0) return `The block moves uphill, and gravity and friction slow it: ${numbers}.`;
	const [than, does] = net > 0 ? ["less than", "speeds up"] : net < 0 ? ["more than", "slows down"] : ["equal to", ""];
	return `At this speed friction is ${than} gravity's pull${does && `, and the block ${does}`}: ${numbers}.`;
}

function leftAlone({tan, speed}, {fate, creep, threshold, fast, pace}, {symbol, largest, kinetic, family}) {
	const settles = creep === 0 ? "comes to rest" : `creeps down at ${format(creep, 3)} εᵥ`;
	if (fate === "coasts") return "Its speed will not change.";
	if (creep === null && fate === "slides")
		return `It eventually slides at ${format(pace, 3)} εᵥ, where ${symbol} = tan θ.`;
	if (creep === null)
		return (
			(largest < tan ? `The largest ${symbol} is ${format(largest)}, below tan θ: the` : "The") +
			` block will ${speed < 0 ? "turn around and speed up." : "keep speeding up."}`
		);
	if (threshold === null) return tan === 0 && speed === 0 ? "The block rests." : `It eventually ${settles}.`;
	return (
		(family === "law"
			? "Either can happen: "
			: `tan θ lies between μₖ = ${format(kinetic)} and the largest ${symbol}, ${format(largest)}, so either can happen: `) +
		`below ${format(threshold, 3)} εᵥ the block eventually ${settles}; above, it ` +
		(fast === null ? "keeps speeding up." : `eventually slides at ${format(fast, 3)} εᵥ.`)
	);
}

export class Incline {
	constructor(section, read, controls, locate) {
		Object.assign(this, {
			read,
			...controls,
			locateOthers: locate,
		}); /* read returns the law; controls: angle, speed, mass */
		this.contact = section.querySelector("#contact");
		this.verdict = section.querySelector("#verdict");
		this.why = section.querySelector("#why");
		this.list = section.querySelector("dl");
		this.cone = section.querySelector("#cone");
		this.coneTexts = this.cone.closest("figure").querySelectorAll("[data-of]");
		this.spy = new Spy(section.querySelector("#spy"), section.querySelector(".readout"), BLOCKS, "N s/m");
		this.exchange = new Exchange(section.querySelector("details.exchange"), "block on the incline");
		this.addPicture(section.querySelector("#incline-picture"));
		this.latest = new Latest((signal) => this.ask(signal), new Freshness(section, (error) => this.locate(error)));
		for (const svg of section.querySelectorAll("svg")) fitText(svg);
	}

	addPicture(svg) {
		this.drawing = add(svg, "g");
		this.slope = add(svg, "circle", {
			class: "handle ground",
			r: 12,
			role: "slider",
			tabindex: "0",
			"aria-label": "angle, degrees",
			"aria-valuemin": "0",
			"aria-valuemax": "60",
		});
		this.pace = add(svg, "circle", {
			class: "handle slip",
			r: 12,
			role: "slider",
			tabindex: "0",
			"aria-label": "velocity divided by eps_v",
			"aria-valuemin": "-20",
			"aria-valuemax": "20",
		});
		makeHandle(svg, this.slope, {
			drag: (x, y) => this.angle.moveTo((Math.atan2(SHOWN.y - y, SHOWN.x - x) * 180) / Math.PI),
			step: (n) => this.angle.moveTo(this.angle.value + n),
			end: (way) => this.angle.moveTo(way < 0 ? 0 : 60),
		});
		makeHandle(svg, this.pace, {
			drag: (x, y) => {
				const {c, s, foot} = this.frame();
				this.speed.moveTo(((x - foot.x) * c + (y - foot.y) * s) / 120);
			},
			step: (n) => this.speed.moveTo(this.speed.position + 0.02 * n),
			end: (way) => this.speed.moveTo(way),
		});
	}

	/* A slope beyond the vertical leaves no normal force: the service refuses it, and the picture keeps the last one. */
	locate(error) {
		const isSteep = Math.abs(this.angle.value) > 90;
		if (!/normal_force/.test(error.pointer ?? "")) return this.locateOthers(error);
		if (!isSteep) return this.mass;
		return {
			name: this.angle.name,
			blame: (section, text) =>
				this.angle.blame(section, text && "Beyond 90° the slope does not carry the block: choose −90° to 90°."),
		};
	}

	/* Cosine and sine of the angle, and the tail of the velocity arrow. */
	frame(angle) {
		if (Math.abs(this.angle.value) <= 90) this.drawn = this.angle.value;
		const theta = ((angle ?? this.drawn ?? this.angle.initial) * Math.PI) / 180,
			c = Math.cos(theta),
			s = Math.sin(theta);
		const up = HEIGHT * SHOWN.scale + 18;
		return {theta, c, s, foot: {x: SHOWN.x + up * s, y: SHOWN.y - up * c}};
	}

	/* Collects everything on which a request and its pictures depend, so that the pictures match the request. */
	setting() {
		return {
			...this.frame(this.angle.asked),
			law: this.read(),
			degrees: this.angle.asked,
			speed: this.speed.asked,
			position: this.speed.position,
			mass: this.mass.asked,
		};
	}

	requests() {
		return this.exchange.shown ? [this.exchange.shown] : [];
	}

	update() {
		this.place();
		this.latest.update();
	}

	place() {
		const {c, s, foot} = this.frame(),
			p = 120 * this.speed.position;
		set(this.slope, {
			cx: SHOWN.x - SHOWN.half * c,
			cy: SHOWN.y - SHOWN.half * s,
			"aria-valuenow": String(this.angle.value),
		});
		set(this.pace, {cx: foot.x + p * c, cy: foot.y + p * s, "aria-valuenow": String(this.speed.value)});
	}

	batch({law, c, s, speed, mass}) {
		const v = speed * law.eps_v,
			moving = [v * c, -v * s];
		return {
			dim: 2,
			positions: positions(c, s),
			velocities: [moving, moving, moving, moving, [0, 0], [0, 0]],
			friction: law,
			collisions: {
				edge_vertex: {
					vertices: [
						[0, 4, 5],
						[1, 4, 5],
					],
					normal_force: (mass * G * c) / 2,
				},
			},
			outputs: ["potential", "gradient", "hessian", "collisions"],
			collision_outputs: ["potential", "tangential_velocity", "mu_s", "mu_k", "normal_force", "status", "slip_ratio"],
		};
	}

	async ask(signal) {
		const setting = this.setting(),
			batch = this.batch(setting),
			body = JSON.stringify(batch);
		const asked = resistance(setting.law, signal);
		asked.catch(() => {}); // if both requests are refused, show the batch's fault, which has a pointer
		const {json} = await request("v1/evaluate", body, signal),
			{curve} = await asked;
		this.exchange.show("v1/evaluate", body, json);
		const forces = this.forces(json, batch, setting);
		this.tell(setting, forces, json.collisions.edge_vertex, curve);
		this.drawScene(setting, forces);
		this.drawCone(setting, forces, curve);
		for (const text of this.coneTexts) text.hidden = !text.dataset.of.split(" ").includes(curve.family);
		this.spy.show(json.hessian);
	}

	/* Friction is the negative gradient, taken along the slope and positive downhill. A net force within rounding error
	 * counts as zero. */
	forces({gradient}, batch, {c, s, mass}) {
		const on = (i) => -(gradient[2 * i] * c - gradient[2 * i + 1] * s);
		const corners = [on(0), on(1)];
		const friction = corners[0] + corners[1],
			weight = mass * G,
			pull = weight * s;
		const net = Math.abs(pull + friction) <= 1e-12 * weight ? 0 : pull + friction;
		return {corners, friction, normal: 2 * batch.collisions.edge_vertex.normal_force, weight, pull, net};
	}

	tell({law, theta, speed, mass}, forces, contacts, curve) {
		/* At εᵥ itself the slip may be less than εᵥ by rounding. */
		const sticks = contacts.status.every((status) => status === 0) && Math.abs(speed) < 1;
		this.state(this.contact, sticks ? "stick" : "slip", sticks ? "■ Sticks: below εᵥ" : "▶ Slides: εᵥ or more");
		const tan = Math.tan(theta),
			friction = Math.abs(forces.friction) / forces.normal,
			way = forces.pull < 0 ? -1 : 1;
		const now = {tan: Math.abs(tan), speed: way * speed, friction, net: way * Math.sign(forces.net)};
		const after = outcome(curve, now);
		if (forces.weight > 0) {
			this.state(this.verdict, after.fate === "halts" ? "stick" : "slip", verdict(now, after));
			this.why.textContent =
				`The slip ratio is ${format(contacts.slip_ratio[0], 3)}. ` +
				`${atThisSpeed(now, curve)} ${leftAlone(now, after, curve)}`;
		} else {
			this.state(this.verdict, "", "");
			this.why.textContent = "Without mass, there is nothing to hold.";
		}
		const {creep, threshold} = after;
		const held = creep === null ? "none" : threshold === null ? "any" : `below ${format(threshold, 3)} εᵥ`;
		fillList(this.list, [
			["velocity", `${format(speed * law.eps_v)} m/s`, "velocity"],
			["normal force, both corners", `${format(forces.normal, 6)} N`, "normal"],
			["gravity along the slope", `${format(forces.pull, 6)} N`, "pull"],
			["friction along the slope", `${format(forces.friction, 6)} N`, "friction"],
			["acceleration down the slope", `${format(forces.net / mass, 6)} m/s²`, "acceleration"],
			["friction ÷ normal force", format(friction, 6), "mu"],
			["tan θ", format(tan, 6), "tan"],
			[`largest ${curve.symbol}`, curve.largest === Infinity ? "∞" : format(curve.largest, 6), "largest"],
			["speeds at which friction holds it", held, "held"],
			["creep, once held", creep === null ? "–" : `${format(creep, 3)} εᵥ`, "creep"],
		]);
	}

	/* Screen readers repeat a live region whenever it is written, even with the same text, so only changes are
	 * written. */
	state(element, kind, text) {
		element.dataset.state = kind;
		if (element.textContent !== text) element.textContent = text;
	}

	drawScene({c, s, theta, foot, degrees, position}, forces) {
		const {x, y, half, scale, weight} = SHOWN,
			g = this.drawing,
			p = 120 * position;
		const at = (along, up) => [x + along * c + up * s, y + along * s - up * c];
		const points = (...list) => list.map(([px, py]) => `${px.toFixed(2)},${py.toFixed(2)}`).join(" ");
		const [tx, ty] = at(-half, 0),
			[bx, by] = at(half, 0),
			w = (WIDTH / 2) * scale,
			h = HEIGHT * scale;
		g.replaceChildren();
		add(g, "polygon", {class: "ground", points: points([tx, ty], [bx, by], [bx, by + 14], [tx, by + 14])});
		add(g, "polygon", {class: "block", points: points(at(-w, 0), at(w, 0), at(w, h), at(-w, h))});
		add(g, "text", {x: 366, y: by + 34, class: "angle", "text-anchor": "end"}, `θ = ${format(degrees)}°`);
		const [mx, my] = at(0, h / 2);
		add(g, "circle", {class: "mass", cx: mx, cy: my, r: 3});
		arrow(g, mx, my, 0, weight, "gravity", "W");
		const unit = forces.weight > 0 ? weight / forces.weight : 0;
		[-w, w].forEach((along, i) => {
			const [cx, cy] = at(along, 0),
				n = (unit * forces.normal) / 2,
				f = unit * forces.corners[i];
			add(g, "circle", {class: "corner", cx, cy, r: 3});
			arrow(g, cx, cy, n * s, -n * c, "normal", "N");
			arrow(g, cx, cy, f * c, f * s, "force", "F");
		});
		const shown = Math.sign(p) * Math.max(Math.abs(p) - 9, 0); /* the line ends at the handle */
		arrow(g, foot.x, foot.y, shown * c, shown * s, "slip");
		if (Math.abs(shown) > 24) this.letter(g, foot.x + 0.5 * shown * c + 12 * s, foot.y + 0.5 * shown * s - 12 * c, "v");
		separate(g);
	}

	letter(g, x, y, text) {
		add(g, "text", {class: "letter", x, y, dy: "0.35em", "text-anchor": "middle"}, text);
	}

	drawCone({law: {mu_s}, c}, forces, {largest, kinetic}) {
		const x = 150,
			y = 215,
			svg = this.cone;
		const widest = Math.max(mu_s, kinetic) * c;
		const unit = Math.min(185, widest > 0 ? 135 / widest : 185) / (forces.weight || 1);
		const side = (mu) => Math.min(mu * 230, 1e5);
		svg.replaceChildren();
		for (const [kind, mu] of Object.entries({attainable: largest, kinetic}))
			add(svg, "polygon", {
				class: `cone ${kind}`,
				points: `${x},${y} ${x - side(mu)},${y - 230} ${x + side(mu)},${y - 230}`,
			});
		for (const sign of [-1, 1])
			add(svg, "line", {class: "cone static", x1: x, y1: y, x2: x + sign * side(mu_s), y2: y - 230});
		add(svg, "line", {class: "zero", x1: 0, x2: 300, y1: y, y2: y});
		add(svg, "line", {class: "zero", x1: x, x2: x, y1: 0, y2: y});
		add(svg, "text", {x: 4, y: y + 18}, "up the slope");
		add(svg, "text", {x: 296, y: y + 18, "text-anchor": "end"}, "down the slope");
		add(svg, "line", {class: "need", x1: x, y1: y, x2: x - unit * forces.pull, y2: y - unit * forces.normal});
		arrow(svg, x, y, unit * forces.friction, -unit * forces.normal, "force", "F");
		const lean = format(Math.abs(forces.friction) / forces.normal);
		svg.setAttribute(
			"aria-label",
			`Coulomb cones: the force leans by ${lean}, the attainable cone by ${format(largest)}, ` +
				`the cones of μₛ and of the law at high speed by ${mu_s} and ${format(kinetic)}`,
		);
	}
}
