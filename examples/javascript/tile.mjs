// SPDX-License-Identifier: MIT
// A tile on the floor with a pin on top: forces and sparse Hessian. For node, and for the page tile.html.
//
// Once:  make npm && npm install --no-save --prefix examples/javascript build/dist/frictiond-*.tgz
// usage: node examples/javascript/tile.mjs [URL]      URL of the service, default http://127.0.0.1:8080
// Needs node 18 or later (Debian: nodejs npm).
import { Client } from "frictiond";

const batch = {
	dim: 3,
	positions: [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.025, 0.05, 0.001]],  // m; three corners, a pin
	velocities: new Float64Array([0.002, 0, 0, 0.002, 0, 0, 0.002, 0.0004, 0, 0.01, 0, 0]),  // m/s, row by row
	friction: { eps_v: 1e-3, mu_s: 0.5, mu_k: 0.3 },  // eps_v in m/s
	collisions: {
		face_vertex: { vertices: [[3, 0, 1, 2]], normal_force: 2.0 },  // N; the pin on the tile
		plane_vertex: { vertices: [0, 1, 2], plane_normal: [0, 0, 1], normal_force: [3.0, 2.5, 4.0] },
	},
	hessian: { format: "csr", projection: "clamp" },
};

/** An entry of a csr matrix. Columns are sorted, but rows are too short for bisection to pay. */
function entry(h, row, col) {
	const at = h.indices.indexOf(col, h.indptr[row]);
	return at >= 0 && at < h.indptr[row + 1] ? h.data[at] : 0;
}

function asymmetry(h) {
	let largest = 0;
	for (let row = 0; row < h.shape[0]; row++)
		for (let at = h.indptr[row]; at < h.indptr[row + 1]; at++)
			largest = Math.max(largest, Math.abs(h.data[at] - entry(h, h.indices[at], row)));
	return largest;
}

/** Evaluates the tile with the service at a URL; returns lines of text. Throws FrictiondError. */
export async function tile(url, options) {
	const answer = await new Client(url, options).evaluate(batch), h = answer.hessian;
	const lines = [`${answer.n_collisions} contacts, potential ${answer.potential.toFixed(6)} N m/s`];
	for (let i = 0; i < answer.n_vertices; i++) {
		const force = Array.from(answer.gradient.subarray(3 * i, 3 * i + 3), (g) => (0 - g).toFixed(5).padStart(9));
		lines.push(`friction on vertex ${i} ${force.join(" ")} N`);
	}
	const exponent = asymmetry(h).toExponential(1).replace(/(\D)(\d)$/, "$10$2");
	lines.push(`Hessian ${h.shape.join(" x ")}, ${h.data.length} entries, asymmetry ${exponent} N s/m`);
	lines.push(`H[4, 4] = ${entry(h, 4, 4).toFixed(4)} N s/m`);
	return lines;
}

if (globalThis.process?.argv) {
	try {
		console.log((await tile(process.argv[2])).join("\n"));
	} catch (error) {
		console.error(error.message);
		process.exitCode = 1;
	}
}
