#include "server/observe/process.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* The line follows the lines of all CPUs, so the whole file may have to be read. */
static double boot_seconds(void)
{
	FILE *file = fopen("/proc/stat", "re");
	char line[4096];
	double seconds = 0;
	while (file && seconds == 0 && fgets(line, sizeof line, file))
		sscanf(line, "btime %lf", &seconds);
	if (file)
		fclose(file);
	return seconds;
}

/* The second field, the program's name in parentheses, may contain anything, so parsing starts after the last ")". */
static void read_stat(struct srv_process *process)
{
	char text[2048];
	FILE *file = fopen("/proc/self/stat", "re");
	if (!file)
		return;
	const size_t n = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[n] = '\0';
	const char *rest = strrchr(text, ')');
	double start_ticks;
	uint64_t pages;
	if (!rest || sscanf(rest + 1,
	                    " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64
	                    " %*s %lf %" SCNu64 " %" SCNu64,
	                    &process->n_threads, &start_ticks, &process->virtual_bytes, &pages) != 4)
		return;
	process->resident_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	process->start_seconds = boot_seconds() + start_ticks / (double)sysconf(_SC_CLK_TCK);
}

static uint64_t count_open_files(void)
{
	DIR *directory = opendir("/proc/self/fd");
	uint64_t n = 0;
	if (!directory)
		return 0;
	for (const struct dirent *entry; (entry = readdir(directory));)
		n += entry->d_name[0] != '.';
	closedir(directory);
	return n - 1; /* excludes the directory itself */
}

void srv_process_read(struct srv_process *process)
{
	struct timespec cpu;
	struct rlimit files;
	*process = (struct srv_process){0};
	read_stat(process);
	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0)
		process->cpu_seconds = (double)cpu.tv_sec + 1e-9 * (double)cpu.tv_nsec;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0)
		process->max_open_files = files.rlim_cur;
	process->n_open_files = count_open_files();
}
