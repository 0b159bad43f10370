/* Suggestions for misspelt names. */
#include "api/base/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const request[] = {"dim",      "velocities",        "positions",     "lagged_velocities",
                                      "friction", "barrier",           "collisions",    "outputs",
                                      "hessian",  "collision_outputs", "on_degenerate", NULL};
static const char *const friction[] = {"eps_v",       "mu",    "mu_s",      "mu_k",          "vertex_mu", "vertex_mu_s",
                                       "vertex_mu_k", "blend", "materials", "mu_transition", NULL};
static const char *const groups[] = {"vertex_vertex", "edge_vertex", "edge_edge", "face_vertex", "plane_vertex", NULL};
static const char *const group[] = {"vertices",      "normal_force",  "weight",       "mu",           "mu_s",
                                    "mu_k",          "eps_v",         "mu_aniso",     "mu_s_aniso",   "mu_k_aniso",
                                    "closest_point", "tangent_basis", "plane_normal", "plane_origin", NULL};
static const char *const paths[] = {"/v1/evaluate", "/v1/check", "/v1/functions", "/v1/info", "/healthz",
                                    "/readyz",      "/metrics",  "/openapi.json", NULL};

static const char *const numbered[] = {"smooth_mu_f0", "smooth_mu_f1", "smooth_mu_f2", "smooth_mu_f1_over_x", NULL};

static const char *meant(const char *name, const char *const names[])
{
	struct api_suggestion near;
	api_suggest_start(&near, name);
	for (int i = 0; names[i]; i++)
		api_suggest_offer(&near, names[i]);
	return api_suggest_found(&near);
}

static void mistakes(void **unused)
{
	(void)unused;
	static const struct {
		const char *const *names;
		const char *name, *meant;
	} cases[] = {
		{request, "friciton", "friction"},
		{numbered, "smooth_mu_f3", "smooth_mu_f2"},
		{numbered, "smooth_mu_f", NULL},
		{numbered, "smooth_mu_fx", NULL},
		{numbered + 1, "smooth_mu_f0", "smooth_mu_f1"},
		{request, "Friction", "friction"},
		{request, "frictions", "friction"},
		{request, "velocity", "velocities"},
		{request, "velocites", "velocities"},
		{request, "Velocities", "velocities"},
		{request, "vel", "velocities"},
		{request, "pos", "positions"},
		{request, "position", "positions"},
		{request, "VELOCITIES", "velocities"},
		{request, "laggedVelocities", "lagged_velocities"},
		{request, "velocities_lagged", "lagged_velocities"},
		{request, "velocitiess", "velocities"},
		{request, "dims", "dim"},
		{request, "dimension", "dim"},
		{request, "collison", "collisions"},
		{request, "colisions", "collisions"},
		{request, "output", "outputs"},
		{request, "hesian", "hessian"},
		{request, "onDegenerate", "on_degenerate"},
		{request, "friction ", "friction"},
		{request, "x", NULL},
		{request, "", NULL},
		{request, "_", NULL},
		{request, "contacts", NULL},
		{request, "di", NULL},
		{request, "\xff\xfe", NULL},
		{friction, "epsV", "eps_v"},
		{friction, "eps", "eps_v"},
		{friction, "epsilon", "eps_v"},
		{friction, "epsilon_v", "eps_v"},
		{friction, "eps-v", "eps_v"},
		{friction, "mu_static", "mu_s"},
		{friction, "mu_kinetic", "mu_k"},
		{friction, "muS", "mu_s"},
		{friction, "mus", "mu_s"},
		{friction, "mu_d", NULL},
		{friction, "material", "materials"},
		{friction, "transition", "mu_transition"},
		{friction, "Blend", "blend"},
		{groups, "vertex-vertex", "vertex_vertex"},
		{groups, "VertexVertex", "vertex_vertex"},
		{groups, "vertex_face", "face_vertex"},
		{groups, "ev", NULL},
		{groups, "edges", NULL},
		{groups, "point_triangle", NULL},
		{groups, "vertex", NULL},
		{groups, "face_vertices", "face_vertex"},
		{group, "normalForce", "normal_force"},
		{group, "normal_forces", "normal_force"},
		{group, "force", "normal_force"},
		{group, "normal", NULL},
		{group, "origin", "plane_origin"},
		{group, "vertex", "vertices"},
		{group, "weights", "weight"},
		{group, "basis", "tangent_basis"},
		{group, "fn", NULL},
		{paths, "/v1/evaluate/", "/v1/evaluate"},
		{paths, "/v2/evaluate", "/v1/evaluate"},
		{paths, "/evaluate", "/v1/evaluate"},
		{paths, "/V1/Evaluate", "/v1/evaluate"},
		{paths, "/health", "/healthz"},
		{paths, "/v1/function", "/v1/functions"},
		{paths, "/openapi", "/openapi.json"},
		{paths, "/favicon.ico", NULL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *found = meant(cases[i].name, cases[i].names);
		if (cases[i].meant ? !found || strcmp(found, cases[i].meant) : found != NULL)
			fail_msg("%s: %s", cases[i].name, found ? found : "none");
	}
}

static void a_tie_gives_no_suggestion(void **unused)
{
	(void)unused;
	static const char *const tied[] = {"mesh_a", "mesh_b", NULL},
							 *const broken[] = {"mesh_a", "mesh_b", "mesh_c", NULL},
							 *const far[] = {"mesh_a", "mesh_b", "unlike", NULL};
	assert_null(meant("mesh_c", tied));
	assert_null(meant("mesh_c", far));
	assert_string_equal(meant("mesh_c", broken), "mesh_c");
}

/* The longest result of folding, and one byte more. */
static void long_names(void **unused)
{
	(void)unused;
	char name[API_SUGGEST_BYTES + 2];
	for (size_t i = 0; i < sizeof(name); i++)
		name[i] = i % 2 ? 'B' : 'a';
	name[API_SUGGEST_BYTES + 1] = '\0';
	assert_null(meant(name, (const char *const[]){name, NULL}));
	name[API_SUGGEST_BYTES] = '\0';
	assert_string_equal(meant(name, (const char *const[]){"other", name, NULL}), name);
	memset(name, 's', API_SUGGEST_BYTES);
	assert_string_equal(meant(name, (const char *const[]){name, NULL}), name);
	memset(name, '_', API_SUGGEST_BYTES);
	assert_null(meant(name, (const char *const[]){name, NULL}));
}

static void queries(void **unused)
{
	(void)unused;
	struct api_suggestion near;
	char name[API_SUGGEST_BYTES + 1], out[API_SUGGESTION_SIZE];
	memset(name, 'n', API_SUGGEST_BYTES);
	name[API_SUGGEST_BYTES] = '\0';
	api_suggest_start(&near, name);
	assert_string_equal(api_suggest_text(&near, ".", out), ".");
	api_suggest_offer(&near, name);
	assert_ptr_equal(api_suggest_text(&near, ".", out), out);
	assert_true(!strncmp(out, "; did you mean \"nn", 18) && !strcmp(out + 16 + API_SUGGEST_BYTES, "\"?"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes),
		cmocka_unit_test(a_tie_gives_no_suggestion),
		cmocka_unit_test(long_names),
		cmocka_unit_test(queries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
