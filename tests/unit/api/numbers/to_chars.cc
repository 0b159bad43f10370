// The oracle of test_print_double.c and tests/fuzz/numbers.c.
#include <charconv>
#include <cstddef>
#include <cstdint>

extern "C" size_t oracle_real(double value, char *text, size_t bytes)
{
	return static_cast<size_t>(std::to_chars(text, text + bytes, value).ptr - text);
}

extern "C" size_t oracle_integer(int64_t value, char *text, size_t bytes)
{
	return static_cast<size_t>(std::to_chars(text, text + bytes, value).ptr - text);
}
