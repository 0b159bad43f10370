#include "server/access/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *check_kind(const struct stat *status, size_t most, char *too_long, size_t bytes)
{
	if (!S_ISREG(status->st_mode))
		return "not a regular file";
	snprintf(too_long, bytes, "longer than %zu %s", most >= 1 << 20 ? most >> 20 : most >> 10,
	         most >= 1 << 20 ? "MiB" : "KiB");
	return (unsigned long long)status->st_size > most ? too_long : NULL;
}

/* The file may grow or shrink after fstat, so the number of bytes read decides. */
static const char *read_all(int fd, size_t most, struct srv_file *file)
{
	ssize_t n = 1;
	file->bytes = malloc(most + 2);
	if (!file->bytes)
		return "no memory";
	while (n > 0 && file->n <= most) {
		n = read(fd, file->bytes + file->n, most + 1 - file->n);
		file->n += n > 0 ? (size_t)n : 0;
	}
	file->bytes[file->n] = '\0';
	return n < 0 ? strerror(errno) : file->n > most ? "too long" : NULL;
}

static const char *read_open(int fd, size_t most, struct srv_file *file, char *too_long, size_t bytes)
{
	struct stat status;
	if (fstat(fd, &status) != 0)
		return strerror(errno);
	file->for_everybody = status.st_mode & (S_IROTH | S_IWOTH);
	const char *fault = check_kind(&status, most, too_long, bytes);
	return fault ? fault : read_all(fd, most, file);
}

bool srv_file_read(const char *path, size_t most, struct srv_file *file, char *message, size_t message_bytes)
{
	char too_long[64];
	*file = (struct srv_file){0};
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *fault = fd < 0 ? strerror(errno) : read_open(fd, most, file, too_long, sizeof too_long);
	if (fault) {
		snprintf(message, message_bytes, "%s: %s", path, fault);
		srv_file_free(file);
	}
	if (fd >= 0)
		close(fd);
	return !fault;
}

void srv_file_free(struct srv_file *file)
{
	if (file->bytes)
		explicit_bzero(file->bytes, file->n);
	free(file->bytes);
	*file = (struct srv_file){0};
}
