#include "api/base/suggest.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Degrees of similarity, nearest first. A typing error adds its number of edits to SLIP. */
enum { SAME, SAME_WORDS, ABBREVIATED, ONE_OF_ITS_WORDS, SLIP, FAR = 99 };
enum { MOST_WORDS = 16, FOLDED_BYTES = sizeof(((struct api_suggestion *)0)->words) };

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static char lower(char c)
{
	return (char)(is_upper(c) ? c + ('a' - 'A') : c);
}

/* Turns vertices, velocities and forces into vertex, velocity and force. @return the length of the singular */
static size_t make_singular(char *word, size_t n)
{
	if (n > 5 && !memcmp(word + n - 4, "ices", 4)) {
		word[n - 4] = 'e';
		word[n - 3] = 'x';
		return n - 2;
	}
	if (n > 4 && !memcmp(word + n - 3, "ies", 3)) {
		word[n - 3] = 'y';
		return n - 2;
	}
	return n > 3 && word[n - 1] == 's' && word[n - 2] != 's' ? n - 1 : n;
}

/* Splits the name into words, in lower case and in the singular, separated by '_'. */
static void fold(const char *name, char words[FOLDED_BYTES])
{
	size_t n = 0, word = 0;
	words[0] = '\0';
	if (strnlen(name, API_SUGGEST_BYTES + 1) > API_SUGGEST_BYTES) /* folding "aBcD" adds underscores, so a longer name
	                                                               * might not fit */
		return;
	for (const char *c = name;; c++) {
		const bool starts = is_upper(*c) && c > name && is_lower(c[-1]);
		if (starts || !(is_upper(*c) || is_lower(*c))) {
			n = word + make_singular(words + word, n - word);
			if (n > word)
				words[n++] = '_';
			word = n;
		}
		if (*c == '\0')
			break;
		if (is_upper(*c) || is_lower(*c))
			words[n++] = lower(*c);
	}
	words[n > 0 ? n - 1 : 0] = '\0';
}

/* The words of a folded name. */
struct words {
	int n;
	struct word {
		const char *text;
		size_t bytes;
	} list[MOST_WORDS];
};

static void split(const char *folded, struct words *words)
{
	words->n = 0;
	while (*folded && words->n < MOST_WORDS) {
		const size_t bytes = strcspn(folded, "_");
		words->list[words->n++] = (struct word){folded, bytes};
		folded += bytes + (folded[bytes] == '_');
	}
}

static bool same_word(struct word a, struct word b)
{
	return a.bytes == b.bytes && !memcmp(a.text, b.text, a.bytes);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool abbreviates(struct word a, struct word b, size_t least)
{
	const size_t bytes = smaller(a.bytes, b.bytes);
	return bytes >= least && !memcmp(a.text, b.text, bytes);
}

static int count(const struct words *words, struct word word)
{
	int n = 0;
	for (int i = 0; i < words->n; i++)
		n += same_word(words->list[i], word);
	return n;
}

static bool in_another_order(const struct words *a, const struct words *b)
{
	bool same = a->n == b->n;
	for (int i = 0; same && i < a->n; i++)
		same = count(a, a->list[i]) == count(b, a->list[i]);
	return same;
}

/* True for mu_static and mu_s, or pos and positions; a single word needs three letters. */
static bool is_abbreviation(const struct words *a, const struct words *b)
{
	bool all = a->n == b->n && a->n > 0;
	for (int i = 0; all && i < a->n; i++)
		all = abbreviates(a->list[i], b->list[i], a->n > 1 ? 1 : 3);
	return all;
}

/* True for force and normal_force, or epsilon and eps_v. */
static bool is_one_of_its_words(const struct words *unknown, const struct words *known)
{
	const struct word word = unknown->list[0];
	if (unknown->n != 1 || known->n < 2 || word.bytes < 3)
		return false;
	const bool initials = known->n == 2 && known->list[1].bytes == 1;
	return count(known, word) > 0 || (initials && abbreviates(word, known->list[0], 3));
}

/* Removes the separators between words. */
static size_t join(const char *folded, char *out)
{
	size_t n = 0;
	for (; *folded; folded++)
		if (*folded != '_')
			out[n++] = *folded;
	return n;
}

/* Copies the letters, with plural endings, which may contain the typing error. */
static void take_letters(const char *name, char letters[API_SUGGEST_BYTES + 1])
{
	size_t n = 0;
	for (; *name && n < API_SUGGEST_BYTES; name++)
		if (is_upper(*name) || is_lower(*name))
			letters[n++] = lower(*name);
	letters[n] = '\0';
}

static int least(int a, int b, int c)
{
	return a < b ? (a < c ? a : c) : (b < c ? b : c);
}

/* Counts letters left out, inserted, replaced, or swapped with their neighbour. */
static int count_edits(const char *a, size_t n_a, const char *b, size_t n_b)
{
	int rows[3][FOLDED_BYTES];
	for (size_t j = 0; j <= n_b; j++)
		rows[0][j] = (int)j;
	for (size_t i = 1; i <= n_a; i++) {
		int *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
		row[0] = (int)i;
		for (size_t j = 1; j <= n_b; j++) {
			row[j] = least(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
	}
	return rows[n_a % 3][n_b];
}

/* The number of edits allowed. It is small for a short name, which would otherwise match any other short name. */
static int most_edits(size_t bytes)
{
	return bytes < 4 ? 0 : bytes < 8 ? 1 : bytes < 12 ? 2 : 3;
}

static int slip(const char *a, const char *b)
{
	const size_t n_a = strlen(a), n_b = strlen(b), longer = n_a > n_b ? n_a : n_b;
	const int most = most_edits(longer);
	if (longer - smaller(n_a, n_b) > (size_t)most) /* each edit changes the length by at most one */
		return FAR;
	const int edits = count_edits(a, n_a, b, n_b);
	return edits <= most ? SLIP + edits : FAR;
}

static int distance_of(const char *unknown, const char *known)
{
	char a[FOLDED_BYTES] = {0}, b[FOLDED_BYTES] = {0};
	const size_t n_a = join(unknown, a), n_b = join(known, b);
	struct words of_unknown, of_known;
	if (n_a == n_b && !memcmp(a, b, n_a))
		return SAME;
	split(unknown, &of_unknown);
	split(known, &of_known);
	if (in_another_order(&of_unknown, &of_known))
		return SAME_WORDS;
	if (is_abbreviation(&of_unknown, &of_known))
		return ABBREVIATED;
	if (is_one_of_its_words(&of_unknown, &of_known))
		return ONE_OF_ITS_WORDS;
	return slip(a, b);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The difference between the digits of numbered names: f3 is nearer to f2 than to f1. */
static int gap_of(const char *unknown, const char *known)
{
	while (*unknown && *unknown == *known) {
		unknown++;
		known++;
	}
	return is_digit(*unknown) && is_digit(*known) ? abs(*unknown - *known) : FAR;
}

void api_suggest_start(struct api_suggestion *near, const char *name)
{
	near->distance = near->gap = FAR;
	near->tied = false;
	near->nearest = NULL;
	fold(name, near->words);
	take_letters(name, near->letters);
}

void api_suggest_offer(struct api_suggestion *near, const char *candidate)
{
	char words[FOLDED_BYTES] = {0}, letters[API_SUGGEST_BYTES + 1] = {0};
	fold(candidate, words);
	take_letters(candidate, letters);
	if (!*near->words || !*words)
		return;
	const int folded = distance_of(near->words, words), plain = slip(near->letters, letters);
	const int distance = plain < folded ? plain : folded, gap = gap_of(near->letters, letters);
	const bool same = distance == near->distance && gap == near->gap,
			   nearer = distance < near->distance || (distance == near->distance && gap < near->gap);
	near->tied = same || (near->tied && !nearer);
	if (!nearer)
		return;
	near->distance = distance;
	near->gap = gap;
	near->nearest = candidate;
}

const char *api_suggest_found(const struct api_suggestion *near)
{
	return near->tied || near->distance == FAR ? NULL : near->nearest;
}

const char *api_suggest_text(const struct api_suggestion *near, const char *otherwise, char out[API_SUGGESTION_SIZE])
{
	const char *meant = api_suggest_found(near);
	snprintf(out, API_SUGGESTION_SIZE, meant ? "; did you mean \"%s\"?" : "%s", meant ? meant : otherwise);
	return out;
}
