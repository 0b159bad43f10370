#include "tests/simulator/memory.h"

#include "tests/simulator/real.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, EARLY_BYTES = 64 << 10 };

static bool counting; /* single-threaded only */
static struct memory_counts counts;
static int depth;
static size_t n_granted, n_refused;

void memory_start(void)
{
	counting = true;
}

struct memory_counts memory_counts(void)
{
	return counts;
}

void memory_forget_peak(void)
{
	counts.peak_bytes = counts.bytes + counts.mapped_bytes;
}

void memory_enter_service(void)
{
	depth++;
}

void memory_leave_service(void)
{
	depth--;
}

void memory_refuse(size_t first, size_t n)
{
	n_granted = first;
	n_refused = n;
}

static bool is_refused(void)
{
	if (!counting || depth == 0 || n_refused == 0)
		return false;
	if (n_granted > 0) {
		n_granted--;
		return false;
	}
	n_refused--;
	counts.n_failed++;
	errno = ENOMEM;
	return true;
}

static void note_peak(void)
{
	if (counts.bytes + counts.mapped_bytes > counts.peak_bytes)
		counts.peak_bytes = counts.bytes + counts.mapped_bytes;
}

static void *counted(void *block)
{
	if (!block || !counting)
		return block;
	counts.n_blocks++;
	counts.bytes += (long long)malloc_usable_size(block);
	note_peak();
	return block;
}

static void uncount(void *block)
{
	if (!counting)
		return;
	counts.n_blocks--;
	counts.bytes -= (long long)malloc_usable_size(block);
}

#if defined(__SANITIZE_ADDRESS__)

/* ---- malloc is the sanitizer's: hooks report every block, and allocations of this program itself may fail ---- */

void __sanitizer_malloc_hook(const volatile void *block, size_t n);
void __sanitizer_free_hook(const volatile void *block);
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t n);
void *__wrap_realloc(void *block, size_t n);
int __real_posix_memalign(void **out, size_t alignment, size_t n);
int __wrap_posix_memalign(void **out, size_t alignment, size_t n);

void __sanitizer_malloc_hook(const volatile void *block, size_t n)
{
	(void)n;
	counted((void *)(uintptr_t)block);
}

void __sanitizer_free_hook(const volatile void *block)
{
	if (block)
		uncount((void *)(uintptr_t)block);
}

void *__wrap_malloc(size_t n)
{
	return is_refused() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return is_refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *block, size_t n)
{
	return is_refused() ? NULL : __real_realloc(block, n);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t n)
{
	return is_refused() ? ENOMEM : __real_posix_memalign(out, alignment, n);
}

#else

/* ---- allocations before the system's functions are known, while the dynamic linker looks them up ---- */

static _Alignas(64) char early[EARLY_BYTES];
static size_t n_early;

static void *take_early(size_t n)
{
	void *block = early + n_early;
	n_early += (n + 63) / 64 * 64;
	return n_early <= sizeof early ? block : NULL;
}

static bool is_early(const void *block)
{
	return (const char *)block >= early && (const char *)block < early + sizeof early;
}

typedef void *allocate(size_t n);
typedef void *allocate_array(size_t n, size_t size);

static allocate *real_malloc;
static allocate_array *real_calloc;
static void *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);
static int (*real_memalign)(void **, size_t, size_t);
static void *(*real_aligned)(size_t, size_t);
static bool looking, found;

static bool find(void)
{
	if (found || looking)
		return found;
	looking = true;
	*(void **)(void *)&real_malloc = dlsym(RTLD_NEXT, "malloc");
	*(void **)(void *)&real_calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)(void *)&real_realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)(void *)&real_free = dlsym(RTLD_NEXT, "free");
	*(void **)(void *)&real_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	*(void **)(void *)&real_aligned = dlsym(RTLD_NEXT, "aligned_alloc");
	looking = false;
	return found = true;
}

/* ---- replacements of the C library's functions ---- */

void *malloc(size_t n)
{
	return !find() ? take_early(n) : is_refused() ? NULL : counted(real_malloc(n));
}

void *calloc(size_t n, size_t size)
{
	return !find() ? take_early(n * size) : is_refused() ? NULL : counted(real_calloc(n, size));
}

void *realloc(void *block, size_t n)
{
	if (!find() || is_early(block)) {
		void *copy = malloc(n);
		return copy && block ? memcpy(copy, block, n) : copy;
	}
	if (is_refused())
		return NULL;
	if (!counting)
		return real_realloc(block, n);
	const long long before = block ? (long long)malloc_usable_size(block) : 0;
	void *moved = real_realloc(block, n);
	if (!moved)
		return NULL;
	counts.n_blocks += !block;
	counts.bytes += (long long)malloc_usable_size(moved) - before;
	note_peak();
	return moved;
}

void free(void *block)
{
	if (!block || is_early(block) || !find())
		return;
	uncount(block);
	real_free(block);
}

int posix_memalign(void **out, size_t alignment, size_t n)
{
	if (!find() || is_refused())
		return ENOMEM;
	const int error = real_memalign(out, alignment, n);
	if (error == 0)
		counted(*out);
	return error;
}

void *aligned_alloc(size_t alignment, size_t n)
{
	return !find() || is_refused() ? NULL : counted(real_aligned(alignment, n));
}

#endif

/* ---- malloc_trim does nothing: trimming after every schedule would take longer than the schedule ---- */

struct mallinfo2 mallinfo2(void)
{
	return (struct mallinfo2){0};
}

int malloc_trim(size_t pad)
{
	(void)pad;
	return 0;
}

/* ---- mappings ---- */

static long long pages(size_t n)
{
	return (long long)((n + PAGE - 1) / PAGE * PAGE);
}

/* Recycles the mapping that the library makes for each connection, because fresh pages cost more than using them. Not
 * under the sanitizer, which would then miss late accesses. */
#if defined(__SANITIZE_ADDRESS__)
enum { MOST_KEPT = 0 };
#else
enum { MOST_KEPT = 8 };
#endif
enum { KEPT_BYTES = 40 << 10 };
static void *kept[MOST_KEPT + 1];
static size_t n_kept;

static void *take_kept(const void *at, size_t n)
{
	return counting && !at && n == KEPT_BYTES && n_kept > 0 ? memset(kept[--n_kept], 0, n) : NULL;
}

static bool keep(void *mapped, size_t n)
{
	if (!counting || n != KEPT_BYTES || n_kept == MOST_KEPT)
		return false;
	kept[n_kept++] = mapped;
	return true;
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	if (is_refused())
		return MAP_FAILED;
	void *mapped = take_kept(at, n);
	if (!mapped)
		mapped = REAL(mmap)(at, n, protection, flags, fd, offset);
	if (mapped != MAP_FAILED)
		counts.mapped_bytes += pages(n);
	note_peak();
	return mapped;
}

int munmap(void *mapped, size_t n)
{
	const int error = keep(mapped, n) ? 0 : REAL(munmap)(mapped, n);
	if (error == 0)
		counts.mapped_bytes -= pages(n);
	return error;
}

/* With MREMAP_FIXED an existing mapping at the target is replaced. */
void *mremap(void *old, size_t n, size_t new_n, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	void *target = flags & MREMAP_FIXED ? va_arg(arguments, void *) : NULL;
	va_end(arguments);
	if (is_refused())
		return MAP_FAILED;
	void *moved = REAL(mremap)(old, n, new_n, flags, target);
	if (moved != MAP_FAILED)
		counts.mapped_bytes += (flags & MREMAP_FIXED ? 0 : pages(new_n)) - pages(n);
	return moved;
}
