/* Scenes with one rigid body on a plane whose normal is z. In all of them the body's degrees of freedom move along one
 * line of slip, so friction in a step is one number. */

const G = 9.81; /* m/s² */
const RADIUS = 0.1; /* of the ball and the disc, m */

/**
 * settings: names of the scene's own parameters
 * make(p): from parameters, returns
 *   freedoms  [{row, mass, start, pull, slip}]: row of the twist, mass or moment of inertia, velocity at the start, constant
 *             force, and how much of a unit velocity is slip
 *   belt      velocity of the surface; stiffness: of a spring at the first freedom; normal: force; arm: height of the
 *             body's point; spin: spin_radius
 * words(p): what one sees; exact: the closed form that holds while the block slides, if there is one
 */
export const SCENES = {
	incline: {
		title: "Block on an incline",
		settings: ["angle", "start"],
		make({angle, start}) {
			const theta = (angle * Math.PI) / 180;
			return {
				freedoms: [{row: 0, mass: 1, start, pull: G * Math.sin(theta), slip: 1}],
				normal: G * Math.cos(theta),
			};
		},
		words: "A block slides down a slope, or comes to rest. Without anchors it creeps.",
	},
	belt: {
		title: "Block on a belt",
		settings: ["belt", "start"],
		make: ({belt, start}) => ({freedoms: [{row: 0, mass: 1, start, pull: 0, slip: 1}], normal: G, belt}),
		words: "A block is put on a moving belt, which drags it along until it moves as fast.",
	},
	oscillator: {
		title: "Stick-slip oscillator",
		settings: ["belt", "stiffness"],
		make: ({belt, stiffness}) => ({
			freedoms: [{row: 0, mass: 1, start: 0, pull: 0, slip: 1}],
			normal: G,
			belt,
			stiffness,
		}),
		words:
			"A spring holds a block on a moving belt: it sticks until the spring is strong enough, slips back, and sticks again.",
	},
	ball: {
		title: "Ball that begins to roll",
		settings: ["start"],
		make: ({start}) => ({
			freedoms: [
				{row: 0, mass: 1, start, pull: 0, slip: 1},
				{row: 4, mass: 0.4 * RADIUS * RADIUS, start: 0, pull: 0, slip: -RADIUS},
			],
			normal: G,
			arm: RADIUS,
		}),
		words: "A ball is set sliding. Friction turns it until it rolls, at 5/7 of its first speed.",
	},
	disc: {
		title: "Spinning disc",
		settings: ["spin"],
		make: ({spin}) => ({
			freedoms: [{row: 5, mass: 0.5 * RADIUS * RADIUS, start: spin, pull: 0, slip: (2 / 3) * RADIUS}],
			normal: G,
			spin: (2 / 3) * RADIUS,
		}),
		words: "A flat disc spins on the ground until friction has stopped it. Anchors hold sliding only, not spin.",
	},
};

export {RADIUS};
