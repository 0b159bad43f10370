#include "server/base/descriptors.h"

#include <limits.h>
#include <sys/resource.h>

long long srv_files_beside(long long io_threads)
{
	return SRV_SPARE_FILES + SRV_IO_THREAD_FILES * io_threads;
}

long long srv_available_connections(long long io_threads)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max >= INT_MAX)
		return INT_MAX;
	const long long files = (long long)limit.rlim_max, left = files - srv_files_beside(io_threads);
	return left > files / 4 ? left : files / 4 > 0 ? files / 4 : 1;
}
