/* frictiond check when results disagree: the linker replaces core's comparisons with this test's. */
#include "server/commands/check.h"

#include "core/fric.h"
#include "server/settings/read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct fric_comparison found;
static enum fric_code code;

enum fric_code __wrap_fric_compare(const struct fric_context *context, const struct fric_contacts *contacts,
                                   const struct fric_query *query, struct fric_comparison *comparison,
                                   struct fric_error *error);
enum fric_code __wrap_fric_compare(const struct fric_context *context, const struct fric_contacts *contacts,
                                   const struct fric_query *query, struct fric_comparison *comparison,
                                   struct fric_error *error)
{
	(void)context, (void)contacts, (void)query;
	*comparison = found;
	*error = (struct fric_error){code, FRIC_VERTEX_VERTEX, -1};
	return code;
}

/* The fields whose derivatives are compared, in the order of the report. */
enum { N_FIELDS = 5 };
static struct fric_derivative_agreement of_field[N_FIELDS];
static size_t n_compared;

enum fric_code __wrap_fric_compare_derivative(const struct fric_context *context,
                                              const struct fric_derivation *derivation,
                                              const struct fric_differential *direction,
                                              struct fric_derivative_agreement *agreement, struct fric_error *error);
enum fric_code __wrap_fric_compare_derivative(const struct fric_context *context,
                                              const struct fric_derivation *derivation,
                                              const struct fric_differential *direction,
                                              struct fric_derivative_agreement *agreement, struct fric_error *error)
{
	(void)context, (void)derivation, (void)direction, (void)error;
	assert_true(n_compared < N_FIELDS);
	*agreement = of_field[n_compared++];
	return FRIC_OK;
}

static char *out, *err;

/* Writes the report to `to`, and faults to err. @param flag  or NULL. @return the exit code */
static int check_to(FILE *to, char *flag)
{
	static const char request[] =
		"{\"dim\":2,\"velocities\":[[0,0],[1,0]],\"friction\":{\"mu\":1,\"eps_v\":1},\"collisions\":{\"plane_vertex\":"
		"{\"vertices\":[1,0],\"normal_force\":1,\"plane_normal\":[0,1]}}}";
	char path[] = "/tmp/frictiond-check-XXXXXX";
	struct srv_options options;
	size_t n;
	const int file = mkstemp(path);
	assert_true(file >= 0 && write(file, request, sizeof request - 1) == (ssize_t)sizeof request - 1);
	close(file);
	char program[] = "frictiond", word[] = "check";
	char *argv[] = {program, word, path, flag, NULL};
	assert_int_equal(srv_options_read(flag ? 4 : 3, argv, &options, stdout, stderr), SRV_START);
	FILE *faults = open_memstream(&err, &n);
	const int exit_code = srv_check(&options, to, faults);
	fclose(faults);
	srv_options_free(&options);
	unlink(path);
	return exit_code;
}

static char json[] = "--json", derivatives[] = "--derivatives";

/* As check_to, with the report in out. */
static int check(char *flag)
{
	size_t n;
	FILE *to = open_memstream(&out, &n);
	const int exit_code = check_to(to, flag);
	fclose(to);
	return exit_code;
}

static int start(void **state)
{
	(void)state;
	code = FRIC_OK;
	found = (struct fric_comparison){.agrees = true, .group = FRIC_PLANE_VERTEX, .worst = 1, .vertices = {0}};
	found.of[FRIC_GRADIENT] = (struct fric_agreement){0.5, 2, 0.25, 0.125};
	n_compared = 0;
	for (int i = 0; i < N_FIELDS; i++)
		of_field[i] = (struct fric_derivative_agreement){true, 1e-12, 1e-12, 1e-14, 0, FRIC_PLANE_VERTEX};
	return 0;
}

static int stop(void **state)
{
	(void)state;
	free(out);
	free(err);
	out = err = NULL;
	return 0;
}

static void test_differs(void **state)
{
	(void)state;
	found.agrees = false;
	found.quantity = FRIC_GRADIENT;
	found.relative_difference = 0.25;
	found.status = 1;
	found.slip_ratio = 1.5;
	assert_int_equal(check(NULL), SRV_CODE_FAILED);
	assert_string_equal(err, "");
	assert_non_null(strstr(out, ": 2 vertices, 2 contacts\n"));
	assert_non_null(strstr(out, "gradient   DIFFERS  relative difference 0.25 "));
	assert_non_null(strstr(out, "hessian    agrees "));
	assert_non_null(
		strstr(out, "worst: plane_vertex 1 (vertex 0), slides, slip ratio 1.5: gradient, relative difference 0.25\n"));
	assert_non_null(strstr(out, "\nDOES NOT AGREE within 1e-08\n"));
}

static void test_differs_in_json(void **state)
{
	(void)state;
	found.agrees = false;
	assert_int_equal(check(json), SRV_CODE_FAILED);
	assert_non_null(strstr(out, "\"agrees\":false"));
	assert_non_null(
		strstr(out, "\"gradient\":{\"largest_difference\":0.5,\"largest_entry\":2.0,\"relative_difference\":0.25,"
	                "\"contacts\":0.25,\"assembled\":0.125}"));
}

static void test_agrees(void **state)
{
	(void)state;
	assert_int_equal(check(NULL), SRV_CODE_OK);
	assert_non_null(strstr(out, "\nagrees within 1e-08\n"));
}

/* The fields are /velocities, /friction/eps_v, /friction/mu, normal_force and plane_normal. */
static void test_one_derivative_differs(void **state)
{
	(void)state;
	of_field[2] = (struct fric_derivative_agreement){false, 1e-3, 0, 0, 1, FRIC_PLANE_VERTEX};
	assert_int_equal(check(derivatives), SRV_CODE_FAILED);
	assert_int_equal(n_compared, N_FIELDS);
	assert_non_null(strstr(out, "\nhessian    agrees "));
	assert_non_null(strstr(out, "\nworst: with respect to /friction/mu, in plane_vertex 1"));
	assert_non_null(strstr(out, "\nDOES NOT AGREE within 1e-08"));
}

/* Errors are divided by their tolerances, 1e-7 for jvp and 1e-9 for vjp. Among equal ratios the first is reported. */
static void test_the_worst_derivative(void **state)
{
	static const char *const pointers[] = {"/velocities", "/friction/eps_v", "/friction/mu",
	                                       "/collisions/plane_vertex/normal_force"};
	(void)state;
	for (int i = 0; i < 4; i++) {
		char line[100];
		of_field[1] = (struct fric_derivative_agreement){true, 2e-8, 1e-8, 1e-11, 0, FRIC_PLANE_VERTEX};
		of_field[3] = (struct fric_derivative_agreement){true, 1e-8, 2e-8, 1e-11, 0, FRIC_PLANE_VERTEX};
		of_field[i].transposed = i == 1 ? 1e-11 : 3e-10; /* equal jvp ratios: the first; or the largest vjp ratio */
		of_field[i].worst = 1;
		n_compared = 0;
		assert_int_equal(check(derivatives), SRV_CODE_OK);
		snprintf(line, sizeof(line), "\nworst: with respect to %s, in plane_vertex 1", pointers[i]);
		assert_non_null(strstr(out, line));
		free(out);
		free(err);
		start(NULL);
	}
	of_field[1].worst = of_field[2].worst = -1; /* fields without effect on any contact */
	of_field[2].potential = 0.5e-7;
	of_field[4].gradient = 1e-8;
	assert_int_equal(check(derivatives), SRV_CODE_OK);
	assert_non_null(strstr(out, "\nworst: with respect to /collisions/plane_vertex/plane_normal, in plane_vertex 0"));
}

static void test_memory_is_short(void **state)
{
	(void)state;
	code = FRIC_E_MEMORY;
	assert_int_equal(check(NULL), SRV_CODE_BAD);
	assert_string_equal(out, "");
	assert_non_null(strstr(err, "memory"));
}

/* Simulates a disk that is full for a moment. */
static ssize_t fail_once(void *failed, const char *bytes, size_t n)
{
	(void)bytes;
	const bool was_full = *(bool *)failed;
	*(bool *)failed = true;
	return was_full ? (ssize_t)n : 0; /* 0 means failure to fopencookie */
}

/* Later lines are written, but the incomplete report must be noticed. */
static void test_a_failed_write_is_noticed(void **state)
{
	(void)state;
	for (int as_json = 0; as_json < 2; as_json++) {
		bool failed = false;
		FILE *to = fopencookie(&failed, "w", (cookie_io_functions_t){.write = fail_once});
		assert_non_null(to);
		setvbuf(to, NULL, _IONBF, 0);
		assert_int_equal(check_to(to, as_json ? json : NULL), SRV_CODE_BAD);
		fclose(to);
		assert_true(failed);
		assert_non_null(strstr(err, "the report cannot be written"));
		free(err);
		err = NULL;
	}
}

#define CHECK(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {CHECK(test_differs),
	                                   CHECK(test_differs_in_json),
	                                   CHECK(test_agrees),
	                                   CHECK(test_one_derivative_differs),
	                                   CHECK(test_the_worst_derivative),
	                                   CHECK(test_memory_is_short),
	                                   CHECK(test_a_failed_write_is_noticed)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
