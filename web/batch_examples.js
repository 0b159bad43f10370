/* Examples of batches. Those with a fault show how one is found. */
import {print} from "./batch_text.js";

/* Numbers from 0 to 1 that are the same in every browser. */
function randoms(seed) {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return state / 2 ** 32;
	};
}

const round = (x) => Number(x.toFixed(6));

function blocks() {
	const positions = [],
		velocities = [],
		faces = {plane: [], edges: []};
	const block = (x, y, z, turn, vx, vy, spin) => {
		const first = positions.length;
		for (let i = 0; i < 8; i++) {
			const [a, b] = [(i & 1 ? 1 : -1) * 0.05, (i & 2 ? 1 : -1) * 0.05];
			const px = a * Math.cos(turn) - b * Math.sin(turn),
				py = a * Math.sin(turn) + b * Math.cos(turn);
			positions.push([x + px, y + py, z + (i & 4 ? 0.1 : 0)].map(round));
			velocities.push([vx - spin * py, vy + spin * px, 0].map(round));
		}
		return first;
	};
	const low = block(0, 0, 0.0005, 0, 0.0015, 0.0004, 0.01);
	const high = block(0.012, -0.008, 0.101, 0.5, -0.001, 0.0018, -0.02);
	const other = block(0.135, 0.012, 0.0005, 0.2, 0.0003, 0, 0);
	for (let i = 0; i < 4; i++) faces.plane.push(low + i, other + i);
	return {
		dim: 3,
		positions,
		velocities,
		friction: {eps_v: 0.001, mu_s: 0.6, mu_k: 0.4},
		collisions: {
			edge_edge: {
				vertices: [
					[low + 5, low + 7, high, high + 1],
					[low + 4, low + 5, high, high + 2],
				],
				normal_force: [1.5, 1.2],
			},
			face_vertex: {
				vertices: [
					[high, low + 4, low + 5, low + 7],
					[high + 1, low + 4, low + 5, low + 7],
					[high + 2, low + 4, low + 7, low + 6],
				],
				normal_force: [2.4, 2, 2.1],
			},
			plane_vertex: {
				vertices: faces.plane,
				plane_normal: [0, 0, 1],
				plane_origin: [0, 0, 0],
				normal_force: [4.6, 2.4, 4.2, 2.6, 4.9, 2.3, 4.4, 2.5],
			},
		},
	};
}

function brushed() {
	const positions = [],
		velocities = [],
		n = 24;
	for (let k = 0; k < n; k++) {
		const turn = (2 * Math.PI * k) / n;
		positions.push([Math.cos(turn), Math.sin(turn), 0].map(round));
		velocities.push([0.004 * Math.cos(turn), 0.004 * Math.sin(turn), 0].map(round));
	}
	return {
		dim: 3,
		positions,
		velocities,
		friction: {eps_v: 0.001, mu: 0.5},
		collisions: {
			plane_vertex: {
				vertices: positions.map((_, i) => i),
				plane_normal: [0, 0, 1],
				normal_force: 1,
				grain: [1, 0.3, 0],
				mu_s_aniso: [0.7, 0.25],
				mu_k_aniso: [0.5, 0.15],
			},
		},
	};
}

/* Discs as polygons that lie on each other, in 2D. */
function heap() {
	const random = randoms(7),
		positions = [],
		velocities = [],
		edge_vertex = [],
		plane_vertex = [],
		sides = 8,
		radius = 0.5;
	const polygon = (x, y) => {
		const first = positions.length,
			v = [0.004 * (random() - 0.5), 0.002 * (random() - 0.5)];
		for (let i = 0; i < sides; i++) {
			const turn = (2 * Math.PI * (i + 0.5)) / sides - Math.PI / 2;
			positions.push([x + radius * Math.cos(turn), y + radius * Math.sin(turn)].map(round));
			velocities.push([v[0] - 0.003 * Math.sin(turn), v[1] + 0.003 * Math.cos(turn)].map(round));
		}
		return first;
	};
	const height = radius * Math.cos(Math.PI / sides);
	for (let row = 0; row < 5; row++) {
		const below = positions.length - (6 - row) * sides;
		for (let k = 0; k < 5 - row; k++) {
			const first = polygon(k * 0.98 + row * 0.49, height + 0.002 + row * 0.84);
			if (row === 0) plane_vertex.push(first + sides - 1, first);
			else
				edge_vertex.push(
					[first, below + k * sides + 4, below + k * sides + 3],
					[first + sides - 1, below + (k + 1) * sides + 4, below + (k + 1) * sides + 5],
				);
		}
	}
	return {
		dim: 2,
		positions,
		velocities,
		friction: {eps_v: 0.001, mu_s: 0.7, mu_k: 0.5, mu_transition: "peak"},
		collisions: {
			edge_vertex: {
				vertices: edge_vertex,
				normal_force: edge_vertex.map((_, i) => round(2 + 3 * random() - i / 10)),
			},
			plane_vertex: {
				vertices: plane_vertex,
				plane_normal: [0, 1],
				normal_force: plane_vertex.map(() => round(5 + random())),
			},
		},
	};
}

/* Two rigid bodies: a wheel that skids, and a plate that spins on the ground. */
const bodies = () => ({
	dim: 3,
	body_positions: [
		[0, 0, 0.3],
		[0.9, 0, 0.02],
	],
	body_velocities: [
		[0.5, 0, 0, 0, 1.2, 0],
		[0.02, 0.01, 0, 0, 0, 3],
	],
	friction: {eps_v: 0.01, mu_s: 0.8, mu_k: 0.6},
	collisions: {
		body_world: {
			bodies: [0, 1, 1, 1, 1],
			point: [
				[0, 0, 0],
				[0.7, -0.2, 0],
				[1.1, -0.2, 0],
				[1.1, 0.2, 0],
				[0.7, 0.2, 0],
			],
			normal: [0, 0, 1],
			normal_force: [9.81, 2.5, 2.4, 2.5, 2.4],
			spin_radius: 0.01,
		},
	},
});

/* A whirl of n contacts on the ground, a wavy one if n is small enough to see it. */
function many(n) {
	const random = randoms(3),
		side = Math.ceil(Math.sqrt(n)),
		positions = [],
		velocities = [],
		normals = [],
		forces = [];
	for (let k = 0; k < n; k++) {
		const x = (k % side) + 0.6 * (random() - 0.5) - side / 2,
			y = Math.floor(k / side) + 0.6 * (random() - 0.5) - side / 2;
		const a = (7 * x) / side,
			b = (7 * y) / side,
			d = side / 7;
		positions.push([x, y, 0.35 * d * Math.sin(a) * Math.cos(b)].map(round));
		normals.push([-0.35 * Math.cos(a) * Math.cos(b), 0.35 * Math.sin(a) * Math.sin(b), 1].map(round));
		velocities.push([-0.006 * (y / side) + 0.001 * random(), 0.006 * (x / side), 0].map(round));
		forces.push(round(0.5 + random()));
	}
	return {
		dim: 3,
		positions,
		velocities,
		friction: {eps_v: 0.001, mu_s: 0.6, mu_k: 0.4},
		collisions: {plane_vertex: {vertices: positions.map((_, i) => i), plane_normal: normals, normal_force: forces}},
	};
}

function broken() {
	const batch = blocks();
	batch.collisions.face_vertex.vertices[1][2] = 912;
	batch.friction.mu_k = -0.4;
	return batch;
}

export const EXAMPLES = {
	blocks: ["Three blocks", blocks],
	heap: ["Heap in 2D", heap],
	brushed: ["Brushed metal", brushed],
	bodies: ["Rigid bodies", bodies],
	many: ["2,000 contacts", () => many(2000)],
	crowd: ["100,000 contacts", () => many(100000)],
	broken: ["Two faults", broken],
};

export const exampleText = (name) => `${print(EXAMPLES[name][1]())}\n`;
