#include "api/base/codes.h"

#include <stddef.h>

#define NAME(constant, name, status) name,
const char *const api_code_names[API_N_CODES] = {API_CODES(NAME) NULL};

#define STATUS(constant, name, status) [API_E_##constant] = status,
static const int statuses[API_N_CODES] = {API_CODES(STATUS)};

static enum api_code known(enum api_code code)
{
	return code > API_NO_CODE && code < API_N_CODES ? code : API_E_INTERNAL_ERROR;
}

const char *api_code_name(enum api_code code)
{
	return api_code_names[known(code) - 1];
}

int api_code_status(enum api_code code)
{
	return statuses[known(code)];
}

enum api_code api_code_of_status(int status)
{
	enum api_code code = API_NO_CODE;
	while (++code < API_N_CODES)
		if (statuses[code] == status)
			return code;
	return API_NO_CODE;
}
