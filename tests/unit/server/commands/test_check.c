/* frictiond check where results do not agree: the linker replaces core's comparison with the test's. */
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
                                   const struct fric_question *question, struct fric_comparison *comparison,
                                   struct fric_error *error);
enum fric_code __wrap_fric_compare(const struct fric_context *context, const struct fric_contacts *contacts,
                                   const struct fric_question *question, struct fric_comparison *comparison,
                                   struct fric_error *error)
{
	(void)context, (void)contacts, (void)question;
	*comparison = found;
	*error = (struct fric_error){code, FRIC_VERTEX_VERTEX, -1};
	return code;
}

static char *out, *err;

/* The report goes to `to`. @return the exit code; what is said of faults is in err */
static int check_to(FILE *to, bool json)
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
	char program[] = "frictiond", word[] = "check", flag[] = "--json";
	char *argv[] = {program, word, path, json ? flag : NULL, NULL};
	assert_int_equal(srv_options_read(json ? 4 : 3, argv, &options, stdout, stderr), SRV_START);
	FILE *faults = open_memstream(&err, &n);
	const int exit_code = srv_check(&options, to, faults);
	fclose(faults);
	srv_options_free(&options);
	unlink(path);
	return exit_code;
}

/* @return the exit code; what was printed is in out and err */
static int check(bool json)
{
	size_t n;
	FILE *to = open_memstream(&out, &n);
	const int exit_code = check_to(to, json);
	fclose(to);
	return exit_code;
}

static int start(void **state)
{
	(void)state;
	code = FRIC_OK;
	found = (struct fric_comparison){.agrees = true, .group = FRIC_PLANE_VERTEX, .worst = 1, .vertices = {0}};
	found.of[FRIC_GRADIENT] = (struct fric_agreement){0.5, 2, 0.25, 0.125};
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
	assert_int_equal(check(false), SRV_CODE_FAILED);
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
	assert_int_equal(check(true), SRV_CODE_FAILED);
	assert_non_null(strstr(out, "\"agrees\":false"));
	assert_non_null(
		strstr(out, "\"gradient\":{\"largest_difference\":0.5,\"largest_entry\":2.0,\"relative_difference\":0.25,"
	                "\"contacts\":0.25,\"assembled\":0.125}"));
}

static void test_agrees(void **state)
{
	(void)state;
	assert_int_equal(check(false), SRV_CODE_OK);
	assert_non_null(strstr(out, "\nagrees within 1e-08\n"));
}

static void test_memory_is_short(void **state)
{
	(void)state;
	code = FRIC_E_MEMORY;
	assert_int_equal(check(false), SRV_CODE_BAD);
	assert_string_equal(out, "");
	assert_non_null(strstr(err, "memory"));
}

/* A disk that is full for a moment. */
static ssize_t fail_once(void *failed, const char *bytes, size_t n)
{
	(void)bytes;
	const bool was_full = *(bool *)failed;
	*(bool *)failed = true;
	return was_full ? (ssize_t)n : 0; /* of a cookie, 0 is a failure */
}

/* What comes last could be written, but the report is not whole. */
static void test_the_first_line_is_lost(void **state)
{
	(void)state;
	for (int json = 0; json < 2; json++) {
		bool failed = false;
		FILE *to = fopencookie(&failed, "w", (cookie_io_functions_t){.write = fail_once});
		assert_non_null(to);
		setvbuf(to, NULL, _IONBF, 0);
		assert_int_equal(check_to(to, json), SRV_CODE_BAD);
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
	const struct CMUnitTest tests[] = {CHECK(test_differs), CHECK(test_differs_in_json), CHECK(test_agrees),
	                                   CHECK(test_memory_is_short), CHECK(test_the_first_line_is_lost)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
