/* The purpose of anchors: a block under a load within the friction cone comes to rest and stays there; without anchors
 * it creeps. The block is one vertex on a floor. Its motion is integrated implicitly, one step at a time. */
#include "tests/share.h"
#include "tests/unit/core/batches.h"

static const double up[2] = {0, 1}, weight_of_block = 10, eps_v = 1e-3, mu_s = 0.5, mu_k = 0.3, mass = 1, step = 1e-3;

struct block {
	double v, x;      /* velocity, and distance covered */
	double anchor[2]; /* along the floor; the second component, across it, has no effect */
	bool anchored;
};

static struct fric_contacts *contact_of(const struct block *b, enum fric_transition transition)
{
	static const int32_t vertex = 0;
	struct fric_batch batch = {.dim = 2, .n_vertices = 1};
	batch.friction = (struct fric_friction){
		.law = {.transition = transition}, .eps_v = eps_v, .source = FRIC_MU_SCALAR, .mu_s = mu_s, .mu_k = mu_k};
	batch.groups[FRIC_PLANE_VERTEX] = (struct fric_group){
		.n = 1, .vertices = &vertex, .normal_force = one_value(&weight_of_block), .plane_normal = one_value(up)};
	if (b->anchored)
		batch.groups[FRIC_PLANE_VERTEX].anchor = one_value(b->anchor);
	return prepared(&batch);
}

/* Solves m (v - v_old) / h = load - friction. Friction is concave below its peak, so Newton's method does not overshoot
 * if it starts from below. */
static void solve(const struct fric_contacts *c, struct block *b, double load)
{
	const double before = b->v;
	struct fric_error error;
	for (int iteration = 0; iteration < 50; iteration++) {
		const double v[2] = {b->v, 0};
		double force[2], stiffness;
		assert_ok(fric_evaluate(&serial, c, query(v), NULL, force, &error));
		assert_ok(fric_hessian_inner(&serial, c, query(v), FRIC_PROJECT_CLAMP, &stiffness, &error));
		const double change = (load - force[0] - mass * (b->v - before) / step) / (mass / step + stiffness);
		if (fabs(change) < 1e-15 * eps_v)
			return;
		b->v += change;
	}
}

static void advance(struct block *b, enum fric_transition transition, double load)
{
	struct fric_contacts *c = contact_of(b, transition);
	struct fric_error error;
	solve(c, b, load);
	const double v[2] = {b->v, 0};
	assert_ok(fric_contact_output(&serial, c, query(v), FRIC_PLANE_VERTEX, FRIC_OUT_ANCHOR, b->anchor, &error));
	b->x += b->v * step;
	fric_contacts_free(c);
}

/* The load grows slowly, so that the block does not swing past its equilibrium. */
enum { RAMP = 2000 };

static struct block after(int n_steps, bool anchored, enum fric_transition transition, double load)
{
	struct block b = {.anchored = anchored};
	for (int i = 0; i < n_steps; i++)
		advance(&b, transition, i < RAMP ? load * i / RAMP : load);
	return b;
}

enum { SETTLED = RAMP + 500 };

/* Creep is 0 up to rounding: the anchor's force is off by a few ulp at most, so the block moves no farther. */
static void test_holds(void **state)
{
	const double shares[] = {0.5, 0.95};
	const int many = 100000 / step_sanitized(10);
	(void)state;
	for (int i = 0; i < 2; i++) {
		const double load = shares[i] * mu_s * weight_of_block;
		const struct block soon = after(SETTLED, true, FRIC_PEAK, load), late = after(many, true, FRIC_PEAK, load);
		assert_true(fabs(late.v) < 1e-15 * eps_v);
		assert_near(late.x, soon.x, 1e-12 * eps_v * step * many);
		assert_true(late.anchor[0] > 0 && late.anchor[0] < eps_v);
	}
}

/* Without anchors there is friction only while the block moves. */
static void test_creeps_without(void **state)
{
	const double load = 0.5 * mu_s * weight_of_block;
	(void)state;
	const struct block b = after(RAMP + 1000, false, FRIC_PEAK, load);
	assert_true(b.v > 0.1 * eps_v && b.v < eps_v);
	const struct block later = after(RAMP + 2000, false, FRIC_PEAK, load);
	assert_near(later.x - b.x, 1000 * step * b.v, 1e-6 * step * eps_v);
}

/* With `peak` the block breaks away exactly at mu_s; then the load in excess of mu_k drives it. */
static void test_breaks_away(void **state)
{
	const double cone = mu_s * weight_of_block;
	(void)state;
	const struct block holds = after(RAMP + 3000, true, FRIC_PEAK, cone * (1 - 1e-3)),
					   slides = after(RAMP + 3000, true, FRIC_PEAK, cone * (1 + 1e-3));
	assert_true(fabs(holds.v) < 1e-9 * eps_v);
	assert_true(slides.v > eps_v);
	const struct block late = after(RAMP + 4000, true, FRIC_PEAK, cone * (1 + 1e-3));
	assert_near((late.v - slides.v) / (1000 * step), (cone * (1 + 1e-3) - mu_k * weight_of_block) / mass, 1e-9);
	assert_near(late.anchor[0], eps_v, 1e-15 * eps_v);
}

/* Cubic holds a smaller load, because its force has a lower peak. */
static void test_cubic_holds_less(void **state)
{
	(void)state;
	const struct block holds = after(RAMP + 3000, true, FRIC_CUBIC, 0.3 * weight_of_block),
					   slides = after(RAMP + 3000, true, FRIC_CUBIC, 0.33 * weight_of_block);
	assert_true(fabs(holds.v) < 1e-9 * eps_v);
	assert_true(slides.v > eps_v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holds),
		cmocka_unit_test(test_creeps_without),
		cmocka_unit_test(test_breaks_away),
		cmocka_unit_test(test_cubic_holds_less),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
