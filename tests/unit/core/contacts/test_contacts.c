#include "core/contacts/contacts.h"

#include "tests/unit/core/check.h"

static void test_reports(void **state)
{
	(void)state;
	struct fric_contacts contacts = {.n = 9, .start = {0, 2, 2, 5, 5, 9}};
	struct fric_error error = {.contact = 77};
	assert_ok(fricp_report_fault(&contacts, (struct fault){FRIC_OK, SIZE_MAX}, &error));
	assert_int_equal(error.contact, 77); /* untouched */
	const enum fric_type types[] = {FRIC_VERTEX_VERTEX, FRIC_VERTEX_VERTEX, FRIC_EDGE_EDGE,    FRIC_EDGE_EDGE,
	                                FRIC_EDGE_EDGE,     FRIC_PLANE_VERTEX,  FRIC_PLANE_VERTEX, FRIC_PLANE_VERTEX};
	const int64_t positions[] = {0, 1, 0, 1, 2, 0, 1, 2};
	for (size_t i = 0; i < 8; i++) {
		assert_code(fricp_report_fault(&contacts, (struct fault){FRIC_E_PENETRATION, i}, &error), FRIC_E_PENETRATION);
		assert_code(error.code, FRIC_E_PENETRATION);
		assert_int_equal(error.group, types[i]);
		assert_int_equal(error.contact, positions[i]);
	}
	assert_code(fricp_report_fault(&contacts, (struct fault){FRIC_E_STOPPED, SIZE_MAX}, &error), FRIC_E_STOPPED);
	assert_int_equal(error.contact, -1);
	assert_code(report_code(FRIC_E_MEMORY, &error), FRIC_E_MEMORY);
	assert_code(error.code, FRIC_E_MEMORY);
	assert_int_equal(error.contact, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reports),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
