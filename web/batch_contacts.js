/* The contacts of a batch as lists of numbers in double precision: where they are, and the arrows that the service's
 * answer gives them. */

export const VALUES = [
	"normal_force", "mu_s", "mu_k", "status", "slip_ratio", "friction_force", "normal", "tangential_velocity",
	"tangent_basis", "closest_point",
]; // prettier-ignore
export const FEWER = VALUES.slice(0, 7); /* for many contacts */
export const GROUPS = {
	vertex_vertex: 2,
	edge_vertex: 3,
	edge_edge: 4,
	face_vertex: 4,
	plane_vertex: 1,
	body_body: 2,
	body_world: 1,
};
export const STATES = ["sticks", "slides", "skipped", "no friction"];

const isList = Array.isArray;

/* Row i of a field of n rows of m numbers, sent nested or flat, or one row for all; undefined if it is none. */
function rowOf(value, i, n, m) {
	if (value === undefined || value === null) return undefined;
	if (typeof value === "number") return m === 1 ? [value] : undefined;
	if (!isList(value)) return undefined;
	if (isList(value[0])) {
		const row = value.length === 1 ? value[0] : value[i];
		return isList(row) ? row.flat(Infinity) : undefined;
	}
	if (value.length === m && (n !== 1 || m !== 1)) return n * m === value.length && n > 1 ? [value[i]] : value;
	if (value.length === 1 && m === 1) return value;
	return value.length >= (i + 1) * m ? value.slice(i * m, (i + 1) * m) : undefined;
}

const add = (a, b, t = 1) => a.map((x, d) => x + t * b[d]);
export const minus = (a, b) => a.map((x, d) => x - b[d]);
export const dot = (a, b) => a.reduce((sum, x, d) => sum + x * b[d], 0);
export const norm = (a) => Math.hypot(...a);
export const times = (a, t) => a.map((x) => x * t);
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

/* The contacts of a document, as far as they can be told from it: {dim, positions, list, isPlaced}; list: [{group, index,
 * members, stencil, at}], `at` its place, on the first side. */
export function contactsOf(document) {
	const dim = document?.dim === 2 ? 2 : 3,
		groups = document?.collisions;
	const position = (field, v) => rowOf(document[field], v, Infinity, dim);
	const list = [];
	let isPlaced = true;
	for (const [group, size] of Object.entries(GROUPS)) {
		const g = groups?.[group],
			ofBodies = group.startsWith("body"),
			members = g?.[ofBodies ? "bodies" : "vertices"];
		if (!isList(members)) continue;
		const n = isList(members[0]) || size === 1 ? members.length : Math.floor(members.length / size);
		for (let i = 0; i < n; i++) {
			const row =
				size === 1 && !isList(members[i])
					? [members[i]]
					: isList(members[i])
						? members[i]
						: members.slice(i * size, (i + 1) * size);
			const stencil = row
				.map((v) => position(ofBodies ? "body_positions" : "positions", v))
				.filter((p) => p?.length === dim && p.every(Number.isFinite));
			const point = ofBodies ? rowOf(g.point, i, n, dim) : undefined;
			let at = point?.length === dim ? point : stencil[0];
			if (at && group === "edge_edge" && stencil.length === 4) at = times(add(stencil[0], stencil[1]), 0.5);
			isPlaced &&= Boolean(at);
			list.push({
				group,
				index: i,
				members: row,
				stencil: stencil.length === size ? stencil : [],
				at,
				dim,
				n,
				fields: g,
			});
		}
	}
	if (!isPlaced) {
		const side = Math.ceil(Math.sqrt(list.length));
		list.forEach((c, k) => {
			c.at = [k % side, Math.floor(k / side), 0].slice(0, dim);
			c.stencil = [];
		});
	}
	return {dim, list, isPlaced: isPlaced || list.length === 0};
}

/* Adds what the answer says about each contact. */
export function fill(scene, answer) {
	for (const c of scene.list) {
		const all = answer.collisions?.[c.group],
			at = (name) => all?.[name]?.[c.index];
		const [point] = at("closest_point") ?? [];
		if (c.group === "edge_edge" && c.stencil.length === 4 && point !== undefined)
			c.at = add(c.stencil[0], minus(c.stencil[1], c.stencil[0]), point);
		Object.assign(c, {
			force: at("friction_force"),
			normal: at("normal"),
			basis: at("tangent_basis"),
			u: at("tangential_velocity"),
			lambda: at("normal_force"),
			mu: [at("mu_s"), at("mu_k")],
			status: at("status"),
			ratio: at("slip_ratio"),
		});
		c.weight = rowOf(c.fields.weight, c.index, c.n, 1)?.[0] ?? 1;
		const most = Math.abs(c.weight) * c.lambda * Math.max(...c.mu);
		c.share = most > 0 ? norm(c.force) / most : 0;
		if (!c.basis || !c.u) continue;
		c.velocity = c.basis.map((row) => dot(row, c.u));
		const speed = norm(c.velocity);
		c.along = speed > 0 ? times(c.velocity, dot(c.force, c.velocity) / (speed * speed)) : c.force;
		c.across = minus(c.force, c.along);
	}
	return scene;
}

/* Semi-axes of the largest friction force in the tangent plane: static and kinetic, [first, second] each. */
export function axesOf(c) {
	const scale = Math.abs(c.weight) * c.lambda,
		aniso = rowOf(c.fields.mu_aniso, c.index, c.n, c.dim - 1) ?? [1, 1];
	return ["mu_s_aniso", "mu_k_aniso"].map((name, k) => {
		const own = rowOf(c.fields[name], c.index, c.n, 2);
		return own && (own[0] || own[1]) ? times(own, scale) : times([aniso[0], aniso[1] ?? aniso[0]], c.mu[k] * scale);
	});
}

/* The contact, as an index into the list, that a pointer leads to, or -1. */
export function contactOf(scene, document, pointer) {
	const [, first, second, field, row] = pointer.split("/");
	const i = Number(row ?? NaN);
	if (first === "collisions" && GROUPS[second]) {
		const values = document?.collisions?.[second]?.[field],
			ofGroup = scene.list.findIndex((c) => c.group === second);
		if (ofGroup < 0 || !(i >= 0) || !isList(values)) return ofGroup;
		const {n} = scene.list[ofGroup];
		const width = isList(values[0]) || values.length % n ? 1 : Math.max(1, values.length / n);
		return ofGroup + Math.min(Math.floor(i / width), n - 1);
	}
	const ofBodies = first?.startsWith("body_"),
		v = Number(second ?? NaN);
	if (!/^(lagged_|current_|body_)?(positions|velocities)$/.test(first) || !(v >= 0)) return -1;
	const width = isList(document?.[first]?.[0]) ? 1 : scene.dim;
	return scene.list.findIndex(
		(c) => c.group.startsWith("body") === ofBodies && c.members.includes(Math.floor(v / width)),
	);
}
