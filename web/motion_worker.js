/* Computes motions by implicit Euler, in a worker so that the page stays responsive. Friction comes from the service:
 *
 * 1. It gives the law's force and derivative at some speeds, between which cubic polynomials interpolate.
 * 2. All steps are solved one after the other with the interpolated law.
 * 3. It evaluates the contacts of all steps at once, with the velocities and anchors found. The difference between its
 *    friction and the interpolated one is added to the law of each step, and 2. is repeated until no difference is left.
 *
 * So every step satisfies the equations with the service's friction, in few requests however many steps there are. */

const TABLE = 400; /* intervals up to eps_v; the kinks of all laws are at multiples of a quarter */
const MOST_ROUNDS = 4;
const ENOUGH = 1e-12; /* relative to the normal force */
let asked = 0;
const waiting = new Map();

/* The page sends the request: it has the token and tells about trouble. */
function ask(path, body) {
	return new Promise((resolve, reject) => {
		waiting.set(++asked, {resolve, reject});
		postMessage({ask: asked, path, body: JSON.stringify(body)});
	});
}

/* ---- the law ---- */

function speedsOf({eps_v}, reach, fastest) {
	const slow = Array.from({length: TABLE + 1}, (_, i) => (eps_v * i) / TABLE);
	const end = Math.max(Math.min(reach, fastest), eps_v);
	const fast = end > eps_v ? Array.from({length: TABLE}, (_, i) => eps_v + (end - eps_v) * ((i + 1) / TABLE) ** 2) : [];
	return [...slow, ...fast, Math.max(2 * fastest, 2 * end)];
}

class Table {
	constructor(speeds, values, slopes) {
		Object.assign(this, {speeds, values, slopes});
	}

	/* The index of the interval that holds a speed. */
	find(y) {
		let low = 0,
			high = this.speeds.length - 1;
		while (high - low > 1) {
			const middle = (low + high) >> 1;
			if (this.speeds[middle] <= y) low = middle;
			else high = middle;
		}
		return low;
	}

	at(y, i = this.find(y)) {
		const h = this.speeds[i + 1] - this.speeds[i],
			t = (y - this.speeds[i]) / h,
			u = 1 - t;
		return (
			this.values[i] * u * u * (1 + 2 * t) +
			this.values[i + 1] * t * t * (3 - 2 * t) +
			h * t * u * (this.slopes[i] * u - this.slopes[i + 1] * t)
		);
	}
}

/* ---- steps ---- */

/* The slip after a step: the least S >= 0 with S + c (G(S) + shift) = free, for free >= 0. The least one sticks, if any
 * does. */
function slipAfter(table, free, c, shift) {
	const lack = (s, i) => s + c * (table.at(s, i) + (s > 0 ? shift : 0)) - free;
	let i = 0;
	while (i < table.speeds.length - 2 && lack(table.speeds[i + 1], i) < 0) i++;
	let low = table.speeds[i],
		high = table.speeds[i + 1];
	for (let n = 0; n < 70; n++) {
		const middle = (low + high) / 2;
		if (middle === low || middle === high) break;
		if (lack(middle, i) < 0) low = middle;
		else high = middle;
	}
	return (low + high) / 2;
}

/**
 * Returns lists over the steps, with the start as step 0: position and velocity of each freedom, slip (with the anchor),
 * anchor (with which the step began), friction (along the slip).
 * shifts: of friction divided by the normal force, or null
 */
function solve(scene, table, {h, n, eps_v, isAnchored}, shifts) {
	const {freedoms, normal, belt = 0, stiffness = 0, spin = 0} = scene;
	const mass = freedoms.map((freedom, i) => freedom.mass + (i === 0 ? h * h * stiffness : 0));
	const c = h * normal * freedoms.reduce((sum, {slip}, i) => sum + (slip * slip) / mass[i], 0);
	const x = freedoms.map(() => [0]),
		v = freedoms.map(({start}) => [start]);
	const slip = [0],
		anchors = [0],
		friction = [0];
	let anchor = 0;
	for (let k = 1; k <= n; k++) {
		const loose = freedoms.map((freedom, i) => {
			const spring = i === 0 ? stiffness * x[0][k - 1] : 0;
			return (freedom.mass * v[i][k - 1] + h * (freedom.pull - spring)) / mass[i];
		});
		const free = loose.reduce((sum, u, i) => sum + freedoms[i].slip * u, -belt) + anchor;
		const size = slipAfter(table, Math.abs(free), c, shifts?.[k] ?? 0);
		const s = Math.sign(free) * size;
		/* friction from the balance, which is exact where the law is steep */
		const phi = (s - free) / (c / normal);
		slip.push(s);
		anchors.push(anchor);
		friction.push(phi);
		freedoms.forEach((freedom, i) => {
			const u =
				freedoms.length === 1 ? (s - anchor + belt) / freedom.slip : loose[i] + (h * freedom.slip * phi) / mass[i];
			v[i].push(u);
			x[i].push(x[i][k - 1] + h * u);
		});
		if (isAnchored && spin === 0) anchor = s * Math.min(1, size > 0 ? eps_v / size : 1);
	}
	return {x, v, slip, anchors, friction};
}

/* ---- the service's friction ---- */

/* One request for the contacts of all steps of all motions. */
function batchOf(scene, law, motions) {
	const {freedoms, normal, belt = 0, arm = 0, spin = 0} = scene;
	const positions = [],
		velocities = [],
		anchors = [];
	for (const {v, anchors: list} of motions)
		for (let k = 1; k < list.length; k++) {
			const twist = [0, 0, 0, 0, 0, 0];
			freedoms.forEach(({row}, i) => {
				twist[row] = v[i][k];
			});
			positions.push([0, 0, arm]);
			velocities.push(twist);
			anchors.push([list[k], 0, 0]);
		}
	return {
		dim: 3,
		body_positions: positions,
		body_velocities: velocities,
		friction: law,
		collisions: {
			body_world: {
				bodies: Array.from(anchors, (_, i) => i),
				point: [0, 0, 0],
				normal: [0, 0, 1],
				normal_force: normal,
				surface_velocity: [belt, 0, 0],
				anchor: anchors,
				...(spin > 0 ? {spin_radius: spin} : {}),
			},
		},
		outputs: ["gradient"],
	};
}

/* Friction along the slip at each step, from the forces on the first freedom. */
function frictionOf({freedoms}, gradient, offset, k) {
	const {row, slip} = freedoms[0];
	return -gradient[offset + k - 1][row] / slip;
}

async function compute({scene, law, reach, fastest, duration, n}) {
	const h = duration / n,
		{eps_v} = law,
		y = speedsOf(law, reach, fastest);
	const {functions} = await ask("v1/functions", {
		functions: {law_force: {y, ...law}, law_force_derivative: {y, ...law}},
	});
	const table = new Table(y, functions.law_force.values, functions.law_force_derivative.values);
	const kinds = [true, false].map((isAnchored) => ({h, n, eps_v, isAnchored}));
	const shifts = kinds.map(() => null);
	let motions = [],
		rounds = 0,
		worst = Infinity;
	do {
		motions = kinds.map((kind, i) => solve(scene, table, kind, shifts[i]));
		const answer = await ask("v1/evaluate", batchOf(scene, law, motions));
		worst = 0;
		motions.forEach(({slip, friction}, m) => {
			const shift = new Float64Array(n + 1);
			for (let k = 1; k <= n; k++) {
				const given = frictionOf(scene, answer.body_gradient, m * n, k);
				const wanted = slip[k] === 0 ? 0 : (-given * Math.sign(slip[k])) / scene.normal;
				const had = (-friction[k] * Math.sign(slip[k])) / scene.normal;
				shift[k] = wanted - had + (shifts[m]?.[k] ?? 0);
				worst = Math.max(worst, Math.abs(wanted - had));
			}
			shifts[m] = shift;
		});
		rounds++;
	} while (worst > ENOUGH && rounds < MOST_ROUNDS);
	return {h, n, worst, rounds, t: Array.from({length: n + 1}, (_, k) => k * h), motions};
}

onmessage = async ({data}) => {
	if (data.answer !== undefined || data.fault !== undefined) {
		const {resolve, reject} = waiting.get(data.to);
		waiting.delete(data.to);
		if (data.fault !== undefined) reject(data.fault);
		else resolve(data.answer);
		return;
	}
	try {
		postMessage({id: data.id, done: await compute(data)});
	} catch (fault) {
		postMessage({id: data.id, fault: typeof fault === "number" ? fault : String(fault)});
	}
};
