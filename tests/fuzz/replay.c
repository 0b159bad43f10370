/* Runs a harness on files, without libFuzzer: replay FOLDER... If it aborts, the file's name is printed on standard
 * error. */
#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

static char current[4096];

static void name_culprit(int signal_number)
{
	static const char words[] = "the culprit: ";
	(void)!write(STDERR_FILENO, words, sizeof(words) - 1);
	(void)!write(STDERR_FILENO, current, strlen(current));
	(void)!write(STDERR_FILENO, "\n", 1);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static uint8_t *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	FUZZ_CHECK(file && !fseek(file, 0, SEEK_END), "cannot read %s", path);
	*bytes = (size_t)ftell(file);
	rewind(file);
	uint8_t *data = malloc(*bytes + 1);
	FUZZ_CHECK(data && fread(data, 1, *bytes, file) == *bytes, "cannot read %s", path);
	fclose(file);
	return data;
}

static void run_file(const char *path)
{
	size_t bytes;
	snprintf(current, sizeof(current), "%s", path);
	uint8_t *data = read_file(path, &bytes), *copy = fuzz_copy(data, bytes);
	LLVMFuzzerTestOneInput(copy, bytes);
	free(data);
	free(copy);
}

static size_t run_folder(const char *folder)
{
	char path[4096];
	size_t n = 0;
	DIR *open = opendir(folder);
	for (struct dirent *entry; open && (entry = readdir(open));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		run_file(path);
		n++;
	}
	if (open)
		closedir(open);
	return n;
}

int main(int argc, char **argv)
{
	size_t n = 0;
	signal(SIGABRT, name_culprit);
	signal(SIGSEGV, name_culprit);
	for (int i = 1; i < argc; i++)
		n += run_folder(argv[i]);
	printf("%zu inputs\n", n);
	return n == 0;
}
