/* Records a program's allocations with their call sites: built on demand and loaded by LD_PRELOAD.
 *
 * Events go into a ring in shared memory that the recorder beside the program empties. Nothing here waits,
 * allocates or keeps a descriptor open, so it works in signal handlers, in threads that end, and in programs
 * that close what they don't know. Children that are forked are not recorded; a program that replaces itself
 * (exec) is recorded on.
 */
#define _GNU_SOURCE
#include "interposer.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

__thread int tv_inside __attribute__((tls_model("initial-exec")));
__thread int tv_allocating __attribute__((tls_model("initial-exec")));
static __thread uint32_t thread_id __attribute__((tls_model("initial-exec")));
static struct ring *ring;
static struct slot *slots;
static struct stack *stacks;

static void *(*real_malloc)(size_t), *(*real_calloc)(size_t, size_t), *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);
static void *(*real_aligned_alloc)(size_t, size_t), *(*real_memalign)(size_t, size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void *(*real_mmap)(void *, size_t, int, int, int, off_t);
static int (*real_munmap)(void *, size_t);

/* What dlsym itself allocates before malloc is found; it is never given back. */
static char early[1 << 16];
static _Atomic size_t early_used;

static void *early_alloc(size_t size)
{
    size_t at = atomic_fetch_add(&early_used, (size + 31) & ~(size_t)15);
    return at + size <= sizeof early ? memset((char *)(((uintptr_t)early + at + 15) & ~(uintptr_t)15), 0, size) : NULL;
}

static int is_early(const void *block)
{
    return (const char *)block >= early && (const char *)block < early + sizeof early;
}

static void find(void *where, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(where, &found, sizeof found);
}

static void find_all(void)
{
    static __thread int finding __attribute__((tls_model("initial-exec")));
    if (finding)
        return;
    finding = 1;
    find(&real_calloc, "calloc");
    find(&real_realloc, "realloc");
    find(&real_free, "free");
    find(&real_aligned_alloc, "aligned_alloc");
    find(&real_memalign, "memalign");
    find(&real_posix_memalign, "posix_memalign");
    find(&real_mmap, "mmap");
    find(&real_munmap, "munmap");
    find(&real_malloc, "malloc"); /* the last: it says that all are there */
    finding = 0;
}

/* -- events ---------------------------------------------------------------------------------- */

/* The address range of this library: its frames are not call sites. */
extern const char __ehdr_start __attribute__((visibility("hidden"))), _end __attribute__((visibility("hidden")));

struct walk {
    uint64_t hash;
    int depth, is_plain; /* each return address lies where the processor has put it */
    uint64_t frame[DEPTH];
    uint64_t *slot[DEPTH];
};

/* Stacks that this thread has walked: walking again is only needed if a return address is another by now. */
enum { KNOWN = 32 };
static __thread struct known {
    const void *caller, *base;
    uint32_t stack;
    int depth;
    uint64_t *slot[DEPTH];
} known[KNOWN] __attribute__((tls_model("initial-exec")));

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *argument)
{
    struct walk *walk = argument;
    uint64_t address = _Unwind_GetIP(context);
    if (!walk->depth && address >= (uintptr_t)&__ehdr_start && address < (uintptr_t)&_end)
        return _URC_NO_REASON;
    if (!address || walk->depth == DEPTH)
        return _URC_END_OF_STACK;
    uint64_t *slot = (uint64_t *)_Unwind_GetCFA(context) - 1;
#ifdef __x86_64__
    walk->is_plain &= *slot == address;
#else
    walk->is_plain = 0;
#endif
    walk->slot[walk->depth] = slot;
    walk->frame[walk->depth++] = address;
    walk->hash = (walk->hash ^ address) * 0x9E3779B97F4A7C15u;
    return _URC_NO_REASON;
}

/* Return the number of a stack + 1; 0 if there is no room for it. */
static uint32_t keep_stack(struct walk *walk)
{
    walk->hash |= 1;
    for (uint64_t probe = 0; probe < 64; probe++) {
        uint64_t at = ((walk->hash >> 20) + probe) & (ring->stacks - 1), none = 0;
        struct stack *stack = &stacks[at];
        if (atomic_compare_exchange_strong(&stack->hash, &none, walk->hash)) {
            memcpy(stack->frame, walk->frame, sizeof walk->frame);
            atomic_store(&stack->ready, 1);
            return (uint32_t)at + 1;
        }
        if (none == walk->hash)
            return (uint32_t)at + 1;
    }
    return 0;
}

/* Return the number of the running stack + 1; caller is where the call from outside returns to. */
static uint32_t find_stack(const void *caller)
{
    const void *base = __builtin_frame_address(0);
    struct known *entry = &known[(((uintptr_t)caller ^ (uintptr_t)base >> 4) * 0x9E3779B97F4A7C15u >> 40) % KNOWN];
    if (entry->caller == caller && entry->base == base) {
        int same = 0;
        while (same < entry->depth && *entry->slot[same] == stacks[entry->stack - 1].frame[same])
            same++;
        if (same == entry->depth)
            return entry->stack;
    }
    struct walk walk = {.hash = 1, .is_plain = 1};
    _Unwind_Backtrace(step, &walk);
    uint32_t stack = keep_stack(&walk);
    if (stack && walk.is_plain) {
        *entry = (struct known){caller, base, stack, walk.depth, {0}};
        memcpy(entry->slot, walk.slot, sizeof walk.slot);
    }
    return stack;
}

void tv_note(unsigned kind, uintptr_t address, size_t size, const void *caller)
{
    if (!ring || tv_inside)
        return;
    int before = errno;
    tv_inside = 1;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint32_t stack = caller ? find_stack(caller) : 0;
    if (!thread_id)
        thread_id = (uint32_t)syscall(SYS_gettid);
    uint64_t at = atomic_load(&ring->written);
    do {
        if (at - atomic_load(&ring->read) >= ring->slots) {
            atomic_fetch_add(&ring->dropped, 1);
            goto done;
        }
    } while (!atomic_compare_exchange_weak(&ring->written, &at, at + 1));
    struct slot *slot = &slots[at & (ring->slots - 1)];
    slot->time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    slot->address = address;
    slot->size = size;
    slot->thread = thread_id;
    slot->what = kind | stack << 8;
    atomic_store_explicit(&slot->turn, at + 1, memory_order_release);
done:
    tv_inside = 0;
    errno = before;
}

/* -- what programs call ---------------------------------------------------------------------- */

static __attribute__((noinline)) void *born(void *block, size_t size, const void *caller)
{
    if (block && ring && !tv_inside) {
        tv_note(ALLOC, (uintptr_t)block, size, caller);
        if (ring && ring->access_us)
            tv_pages_born(block, size, caller);
    }
    return block;
}

static void died(void *block)
{
    if (!block || !ring || tv_inside)
        return;
    if (ring->access_us)
        tv_pages_died(block, malloc_usable_size(block));
    tv_note(FREE, (uintptr_t)block, 0, NULL);
}

#define REAL(call) \
    ({ \
        tv_allocating++; \
        __auto_type result = call; \
        tv_allocating--; \
        result; \
    })

#define FIND(early_result) \
    if (!real_malloc) { \
        find_all(); \
        if (!real_malloc) \
            return early_result; \
    }

void *malloc(size_t size)
{
    FIND(early_alloc(size))
    return born(REAL(real_malloc(size)), size, __builtin_return_address(0));
}

void *calloc(size_t count, size_t size)
{
    FIND(size && count > sizeof early / size ? NULL : early_alloc(count * size))
    return born(REAL(real_calloc(count, size)), count * size, __builtin_return_address(0));
}

void *realloc(void *block, size_t size)
{
    FIND(block ? NULL : early_alloc(size))
    if (is_early(block)) {
        void *moved = malloc(size);
        size_t most = (size_t)(early + sizeof early - (char *)block);
        return moved ? memcpy(moved, block, size < most ? size : most) : NULL;
    }
    size_t had = block && ring ? malloc_usable_size(block) : 0;
    died(block); /* reported first: another thread may get the address as soon as it is free */
    void *moved = REAL(real_realloc(block, size));
    if (!moved && size)
        born(block, had, __builtin_return_address(0));
    return born(moved, size, __builtin_return_address(0));
}

void *reallocarray(void *block, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, count * size);
}

void free(void *block)
{
    if (!block || is_early(block))
        return;
    FIND()
    died(block);
    tv_allocating++;
    real_free(block);
    tv_allocating--;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    FIND(NULL)
    return born(REAL(real_aligned_alloc(alignment, size)), size, __builtin_return_address(0));
}

void *memalign(size_t alignment, size_t size)
{
    FIND(NULL)
    return born(REAL(real_memalign(alignment, size)), size, __builtin_return_address(0));
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    FIND(ENOMEM)
    int failed = REAL(real_posix_memalign(block, alignment, size));
    if (!failed)
        born(*block, size, __builtin_return_address(0));
    return failed;
}

void *mmap(void *where, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (!real_mmap)
        return (void *)syscall(SYS_mmap, where, size, protection, flags, fd, offset);
    void *block = real_mmap(where, size, protection, flags, fd, offset);
    if (block != MAP_FAILED && ring && ring->large && size >= ring->large && flags & MAP_ANONYMOUS)
        tv_note(ALLOC, (uintptr_t)block, size, __builtin_return_address(0));
    return block;
}

void *mmap64(void *where, size_t size, int protection, int flags, int fd, off_t offset)
    __attribute__((alias("mmap")));

int munmap(void *block, size_t size)
{
    if (ring && ring->large && size >= ring->large)
        tv_note(FREE, (uintptr_t)block, 0, NULL);
    return real_munmap ? real_munmap(block, size) : (int)syscall(SYS_munmap, block, size);
}

/* -- begin and end --------------------------------------------------------------------------- */

static void tell_maps(void)
{
    uint64_t image = (atomic_load(&ring->images) - 1) % IMAGES;
    char *text = (char *)(stacks + ring->stacks) + image * MAPS;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    long count = 1, size = 0;
    while (fd >= 0 && size < MAPS && (count = syscall(SYS_read, fd, text + size, MAPS - size)) > 0)
        size += count;
    atomic_store(&ring->mapped[image], (uint64_t)size);
    if (fd >= 0)
        syscall(SYS_close, fd);
}

static __attribute__((destructor)) void end(void)
{
    if (ring)
        tell_maps(); /* with what was loaded on the way */
}

static void in_child(void)
{
    if (ring && ring->access_us)
        tv_pages_stop();
    ring = NULL;
}

static __attribute__((constructor)) void start(void)
{
    const char *path = getenv("TRACEVIS3D_RING");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    struct stat file;
    find_all();
    if (fd < 0)
        return;
    struct ring *found = MAP_FAILED;
    if (!fstat(fd, &file) && file.st_size >= 4096)
        found = (struct ring *)syscall(SYS_mmap, NULL, file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (found == MAP_FAILED)
        return;
    uint64_t none = 0, process = (uint64_t)getpid();
    int first = atomic_compare_exchange_strong(&found->process, &none, process);
    /* A child of the recorded program: it is not recorded. */
    if (memcmp(found->magic, "TV3DRNG1", 8) || (!first && none != process)) {
        syscall(SYS_munmap, found, file.st_size);
        return;
    }
    slots = (struct slot *)((char *)found + 4096);
    stacks = (struct stack *)(slots + found->slots);
    pthread_atfork(NULL, NULL, in_child);
    ring = found;
    atomic_fetch_add(&ring->images, 1);
    tell_maps();
    if (!first)
        tv_note(EXEC, 0, 0, NULL);
    if (ring->access_us)
        tv_pages_start(ring->access_us);
}
