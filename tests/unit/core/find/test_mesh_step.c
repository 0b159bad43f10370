/* Longest steps of small meshes. */
#include <math.h>

#include "tests/property/counted_memory.h"
#include "tests/unit/core/find/two_triangles.h"

/* The two triangles, a plane below, and a particle that is far away. */
struct small {
	double positions[21], direction[21], normal[3], origin[3];
	int32_t particle;
	struct fric_surface surface;
};

static void make_small(struct small *s, double height)
{
	*s = (struct small){.positions = {TWO_TRIANGLES(height), 9, 9, 9},
	                    .direction = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0, -1, 0, 0, -1},
	                    .normal = {0, 0, -2},
	                    .origin = {0, 0, -1},
	                    .particle = 6};
	s->surface = (struct fric_surface){.dim = 3,
	                                   .n_vertices = 7,
	                                   .n_faces = 2,
	                                   .faces = two_faces,
	                                   .n_particles = 1,
	                                   .particles = &s->particle,
	                                   .n_planes = 1,
	                                   .plane_normals = s->normal,
	                                   .plane_origins = s->origin};
}

static enum fric_code step_of(const struct fric_context *context, const struct small *s, double dmin, double keep,
                              struct fric_mesh_step *step)
{
	struct fric_mesh *mesh;
	struct fric_error error;
	enum fric_code code = fric_mesh_create(context, &s->surface, &mesh, &error);
	if (code == FRIC_OK)
		code = fric_mesh_longest_step(context, mesh, s->positions, s->direction, dmin, keep, step, &error);
	assert_true(code == FRIC_OK || (error.code == code && error.contact < 0));
	fric_mesh_free(mesh);
	return code;
}

static void assert_stencil(const struct fric_mesh_step *step, enum fric_type group, const int32_t *vertices)
{
	assert_int_equal(step->group, group);
	assert_memory_equal(step->vertices, vertices, (size_t)fric_stencil_size(group) * sizeof(*vertices));
}

static void test_vertex_falls(void **state)
{
	static const int32_t expected[] = {3, 0, 2, 1};
	struct fric_mesh_step step;
	struct small s;
	(void)state;
	make_small(&s, 0.5);
	assert_ok(step_of(&serial, &s, 0.25, 0.5, &step));
	/* of the gap of 0.25, one half is kept */
	assert_true(step.step <= 0.125 && step.step > 0.125 * (1 - 1e-9));
	assert_stencil(&step, FRIC_FACE_VERTEX, expected);
	assert_int_equal(step.plane, -1);
}

/* However far the first search looks. */
static void test_far_away(void **state)
{
	struct fric_mesh_step step;
	struct small s;
	(void)state;
	make_small(&s, 0x1p+20);
	s.surface.n_particles = 0;
	for (int i = 9; i < 18; i++)
		s.direction[i] *= 0x1p+30;
	assert_ok(step_of(&serial, &s, 0, 0.5, &step));
	assert_true(step.step <= 0x1p-11 && step.step > 0x1p-11 * (1 - 1e-3));
}

/* A common motion of all parts from nothing but the plane. */
static void test_plane(void **state)
{
	static const int32_t expected[] = {0};
	struct fric_mesh_step step;
	struct small s;
	(void)state;
	make_small(&s, 0.5);
	for (int i = 0; i < 7; i++)
		s.direction[3 * i + 2] = -2;
	assert_ok(step_of(&serial, &s, 0, 0.5, &step));
	assert_true(step.step <= 0.25 && step.step > 0.25 * (1 - 1e-9));
	assert_stencil(&step, FRIC_PLANE_VERTEX, expected); /* of three equal ones, the first */
	assert_int_equal(step.plane, 0);
}

static void test_nothing_limits(void **state)
{
	struct fric_mesh_step step;
	struct small s;
	(void)state;
	make_small(&s, 0.5);
	s.surface.n_planes = 0;
	for (int i = 0; i < 21; i++)
		s.direction[i] = i % 3 == 2 ? -5 : 1e6;
	assert_ok(step_of(&serial, &s, 0, 0.5, &step));
	assert_true(step.step == 1 && step.vertices[0] == -1 && step.plane == -1);
	memset(s.direction, 0, sizeof(s.direction));
	assert_ok(step_of(&serial, &s, 0, 0.5, &step));
	assert_true(step.step == 1 && step.vertices[0] == -1);
	s.surface = (struct fric_surface){.dim = 2};
	assert_ok(step_of(&serial, &s, 0, 0.5, &step));
	assert_true(step.step == 1 && step.vertices[0] == -1);
}

/* All move alike, but rounding of their positions may close what is left. */
static void test_rounded_positions(void **state)
{
	static const int32_t expected[] = {3, 0, 2, 1};
	struct fric_mesh_step step;
	struct small s;
	(void)state;
	make_small(&s, 9 * 0x1p-52);
	for (int i = 0; i < 21; i++)
		s.direction[i] = 1e-6;
	assert_ok(step_of(&serial, &s, 0, 0.5, &step));
	assert_true(step.step == 0);
	assert_stencil(&step, FRIC_FACE_VERTEX, expected);
	make_small(&s, 11 * 0x1p-52);
	for (int i = 0; i < 21; i++)
		s.direction[i] = 1e-6;
	assert_ok(step_of(&serial, &s, 0, 0.5, &step));
	assert_true(step.step == 1);
}

enum { ROW = 16 };

/* Two rows of small triangles, ten apart, that pass each other at some height. @return the step */
static double step_of_rows(double height)
{
	static double positions[3 * 3 * 2 * ROW], direction[3 * 3 * 2 * ROW];
	static int32_t faces[3 * 2 * ROW];
	const struct fric_surface surface = {.dim = 3, .n_vertices = 3 * 2 * ROW, .n_faces = 2 * ROW, .faces = faces};
	struct fric_mesh *mesh;
	struct fric_mesh_step step;
	struct fric_error error;
	for (int v = 0; v < 3 * 2 * ROW; v++) {
		const int second = v / (3 * ROW), triangle = v / 3 % ROW, corner = v % 3;
		positions[3 * v] = 10 * second + 0.01 * (corner == 1);
		positions[3 * v + 1] = 0.05 * triangle;
		positions[3 * v + 2] = height * second + 0.01 * (corner == 2);
		direction[3 * v] = -20 * second;
		faces[v] = v;
	}
	assert_ok(fric_mesh_create(&serial, &surface, &mesh, &error));
	assert_ok(fric_mesh_longest_step(&serial, mesh, positions, direction, 0, 0.1, &step, &error));
	fric_mesh_free(mesh);
	return step.step;
}

/* What starts far away may not come as near as it passes, however long the motion is for small primitives. */
static void test_passing(void **state)
{
	(void)state;
	assert_near(step_of_rows(0.5), (10 - sqrt(1 - 0.25)) / 20, 0.002);
	assert_near(step_of_rows(0.9), (10 - sqrt(1 - 0.81)) / 20, 0.002);
	assert_true(step_of_rows(1.1) == 1);
}

static void test_penetration(void **state)
{
	static const int32_t expected[] = {3, 0, 2, 1}, at_plane[] = {1};
	struct fric_mesh_step step;
	struct small s;
	(void)state;
	make_small(&s, 0);
	s.positions[5] = -1;     /* vertex 1 is on the plane, and the face with it */
	s.positions[11] = -0.25; /* vertex 3 on the face */
	assert_code(step_of(&serial, &s, 0, 0.5, &step), FRIC_E_PENETRATION);
	assert_stencil(&step, FRIC_FACE_VERTEX, expected);
	s.positions[11] = 1;
	assert_code(step_of(&serial, &s, 0, 0.5, &step), FRIC_E_PENETRATION);
	assert_stencil(&step, FRIC_PLANE_VERTEX, at_plane);
}

static void test_sizes(void **state)
{
	struct fric_mesh_step step, expected;
	struct small s;
	(void)state;
	make_small(&s, 0.5);
	assert_ok(step_of(&serial, &s, 0, 0.5, &expected));
	for (int exponent = -900; exponent <= 900; exponent += 300) {
		make_small(&s, 0.5);
		for (int i = 0; i < 21; i++) {
			s.positions[i] = ldexp(s.positions[i], exponent);
			s.direction[i] = ldexp(s.direction[i], exponent);
		}
		s.origin[2] = ldexp(s.origin[2], exponent);
		assert_ok(step_of(&serial, &s, 0, 0.5, &step));
		assert_near(step.step, expected.step, 1e-9);
		assert_int_equal(step.group, expected.group);
	}
}

static void test_stopped(void **state)
{
	const fric_flag stop = true;
	const struct fric_context context = {.n_threads = 1, .stop = &stop};
	struct fric_mesh_step step;
	struct fric_mesh *mesh;
	struct fric_error error;
	struct small s;
	(void)state;
	make_small(&s, 0.5);
	assert_ok(fric_mesh_create(&serial, &s.surface, &mesh, &error));
	assert_code(fric_mesh_longest_step(&context, mesh, s.positions, s.direction, 0, 0.5, &step, &error),
	            FRIC_E_STOPPED);
	fric_mesh_free(mesh);
}

/* Every allocation may fail, and nothing is kept. */
static void test_memory(void **state)
{
	enum fric_code code = FRIC_E_MEMORY;
	struct small s;
	(void)state;
	make_small(&s, 0.5);
	for (long left = 0; code == FRIC_E_MEMORY; left++) {
		struct counted_memory counted = {.left = left};
		const struct fric_memory memory = memory_of(&counted);
		const struct fric_context context = {.n_threads = 2, .parallel_from = 1, .memory = &memory};
		struct fric_mesh_step step;
		code = step_of(&context, &s, 0, 0.5, &step);
		assert_true(code == FRIC_OK || code == FRIC_E_MEMORY);
		assert_all_given_back(&counted);
		assert_true(left < 500);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vertex_falls),
		cmocka_unit_test(test_far_away),
		cmocka_unit_test(test_plane),
		cmocka_unit_test(test_nothing_limits),
		cmocka_unit_test(test_rounded_positions),
		cmocka_unit_test(test_passing),
		cmocka_unit_test(test_penetration),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
