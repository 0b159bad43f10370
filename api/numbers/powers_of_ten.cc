#include "api/numbers/powers_of_ten.h"

// The compiler computes the table.
namespace
{

__extension__ typedef unsigned __int128 uint128;

constexpr int n_words = 38, n_after_point = 21; // enough for 10^324, and for 128 bits of 10^-348
constexpr int most_exact = 55;

// A number in fixed point, from its lowest word to its highest.
struct fixed_point {
	uint64_t words[n_words];
};

constexpr fixed_point one()
{
	fixed_point x = {};
	x.words[n_after_point] = 1;
	return x;
}

constexpr void multiply_by_ten(fixed_point &x)
{
	uint128 sum = 0;
	for (uint64_t &word : x.words) {
		sum += static_cast<uint128>(word) * 10;
		word = static_cast<uint64_t>(sum);
		sum >>= 64;
	}
}

// Cuts off the remainder. Repeated division gives the same result as one division by the product.
constexpr void divide_by_ten(fixed_point &x)
{
	uint128 rest = 0;
	for (int i = n_words - 1; i >= 0; i--) {
		rest = rest << 64 | x.words[i];
		x.words[i] = static_cast<uint64_t>(rest / 10);
		rest %= 10;
	}
}

constexpr api_power_of_ten leading_bits(const fixed_point &x, bool exact)
{
	int top = n_words - 1;
	while (x.words[top] == 0)
		top--;
	const int zeros = __builtin_clzll(x.words[top]);
	const uint128 two = static_cast<uint128>(x.words[top]) << 64 | x.words[top - 1];
	const uint128 cut = two << zeros | static_cast<uint128>(x.words[top - 2]) << zeros >> 64, m = exact ? cut : cut + 1;
	return {static_cast<uint64_t>(m >> 64), static_cast<uint64_t>(m)};
}

constexpr api_power_table compute()
{
	api_power_table powers = {};
	fixed_point x = one();
	for (int p = 0; p <= API_MOST_POWER; p++, multiply_by_ten(x))
		powers.of_ten[p - API_LEAST_POWER] = leading_bits(x, p <= most_exact);
	x = one();
	for (int p = -1; p >= API_LEAST_POWER; p--) {
		divide_by_ten(x);
		powers.of_ten[p - API_LEAST_POWER] = leading_bits(x, false);
	}
	return powers;
}

} // namespace

constexpr struct api_power_table api_powers = compute();
