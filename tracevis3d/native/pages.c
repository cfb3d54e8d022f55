/* Sampled accesses, by page protection as Memcov does: a page of a block is made inaccessible for a while;
 * an access runs the handler here, which notes the block, restores the page, and continues.
 *
 * The system does not ask the handler when it is handed a protected buffer: it answers EFAULT. The calls that
 * are usually handed memory of the heap are tried again here with all pages given back; buffers that the C
 * library makes for itself are left alone. What is left is a risk, so this is off unless asked for.
 */
#define _GNU_SOURCE
#include "interposer.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, SAMPLES = 1024, ROUND = 64, FARTHEST = 1 << 16, HANDED = 64 };

static _Atomic uintptr_t sampled[SAMPLES]; /* pages by a hash of their address; 0: none */
static _Atomic uintptr_t spared[SAMPLES];  /* pages that the C library hands to the system itself */
static _Atomic uintptr_t handed[HANDED][2]; /* what the system has been handed just now: from, to */
static _Atomic unsigned char *starts;      /* a bit for each 16 bytes of the address space: a block begins */
static uintptr_t low_libc, high_libc, low_heap;
static struct sigaction theirs;
static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);
static _Atomic int running, locked;

/* Pages are protected and forgotten one at a time. Nothing that is held meanwhile faults, and what a signal's
 * handler allocates meanwhile is not looked at. */
static void lock(void)
{
    tv_inside++;
    while (atomic_exchange(&locked, 1))
        ;
}

static void unlock(void)
{
    atomic_store(&locked, 0);
    tv_inside--;
}

static unsigned place(uintptr_t page) { return (unsigned)((page / PAGE) * 0x9E3779B97F4A7C15u >> 54) % SAMPLES; }

static void give_back(uintptr_t page) { mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE); }

/* Give all pages back; whether there are any. */
static int lift(void)
{
    int before = errno, some = 0;
    for (unsigned at = 0; at < SAMPLES; at++) {
        uintptr_t page = atomic_load(&sampled[at]);
        if (page)
            give_back(page), some = 1;
    }
    errno = before;
    return some;
}

static int is_handed(uintptr_t page)
{
    for (int at = 0; at < HANDED; at++)
        if (page + PAGE > atomic_load(&handed[at][0]) && page < atomic_load(&handed[at][1]))
            return 1;
    return 0;
}

/* Keep memory accessible while the system has it; returns where that is noted, -1 for nowhere. */
static int hand(const void *memory, size_t size)
{
    uintptr_t low = (uintptr_t)memory, none = 0;
    if (!atomic_load(&running) || !size)
        return -1;
    for (int at = 0; at < HANDED; at++, none = 0)
        if (atomic_compare_exchange_strong(&handed[at][1], &none, low + size)) {
            atomic_store(&handed[at][0], low);
            lock(); /* a round that is under way is waited for */
            for (uintptr_t page = low & ~(uintptr_t)(PAGE - 1); page < low + size; page += PAGE)
                if (atomic_load(&sampled[place(page)]) == page)
                    give_back(page);
            unlock();
            return at;
        }
    return -1;
}

static void take_back(int at)
{
    if (at >= 0)
        atomic_store(&handed[at][0], UINTPTR_MAX), atomic_store(&handed[at][1], 0);
}

/* Return where the block around an address begins; 0 if none is known near by. */
static uintptr_t block_of(uintptr_t address)
{
    for (size_t unit = address / 16, steps = 0; steps < FARTHEST; steps++) {
        unsigned char bits = atomic_load(&starts[unit / 8]) & (unsigned char)(0xFF >> (7 - unit % 8));
        if (bits)
            return (unit / 8 * 8 + (unsigned)(31 - __builtin_clz(bits))) * 16;
        unit = unit / 8 * 8 - 1;
    }
    return 0;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    uintptr_t page = (uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1);
    unsigned at = place(page);
    if (info->si_code == SEGV_ACCERR && atomic_load(&sampled[at]) == page) {
        int before = errno;
        give_back(page);
        errno = before;
        uintptr_t block = tv_allocating ? 0 : block_of((uintptr_t)info->si_addr);
        if (block)
            tv_note(ACCESS, block, 0, NULL);
        return;
    }
    if (theirs.sa_flags & SA_SIGINFO && theirs.sa_sigaction)
        theirs.sa_sigaction(number, info, context);
    else if (theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN)
        theirs.sa_handler(number);
    else {
        struct sigaction none = {.sa_handler = SIG_DFL};
        real_sigaction(number, &none, NULL); /* the fault comes again, and ends the program as it would have */
    }
}

static void catch_faults(void)
{
    struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    real_sigaction(SIGSEGV, &ours, NULL);
}

/* A program's own handler for faults is kept, and asked about faults that are not ours. */
int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    if (!real_sigaction)
        *(void **)&real_sigaction = dlsym(RTLD_NEXT, "sigaction");
    if (number != SIGSEGV || !atomic_load(&running))
        return real_sigaction(number, action, before);
    if (before)
        *before = theirs;
    if (action)
        theirs = *action;
    return 0;
}

void (*signal(int number, void (*handler)(int)))(int)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, &before) ? SIG_ERR : before.sa_handler;
}

static void *rounds(void *every)
{
    struct timespec pause = {(time_t)((uintptr_t)every / 1000000), (long)((uintptr_t)every % 1000000) * 1000};
    unsigned next = 0;
    tv_inside = 1; /* nothing of this thread is recorded */
    while (atomic_load(&running)) {
        nanosleep(&pause, NULL);
        for (unsigned seen = 0, found = 0; seen < SAMPLES && found < ROUND; seen++) {
            unsigned at = next++ % SAMPLES;
            lock();
            uintptr_t page = atomic_load(&sampled[at]);
            if (page && atomic_load(&spared[at]) != page && !is_handed(page))
                mprotect((void *)page, PAGE, PROT_NONE), found++;
            unlock();
        }
    }
    lift();
    return NULL;
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *wanted)
{
    uintptr_t low = info->dlpi_addr, high = low;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            high = low + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    if ((uintptr_t)wanted < low || (uintptr_t)wanted >= high)
        return 0;
    low_libc = low, high_libc = high;
    return (int)(size * 0 + 1);
}

void tv_pages_start(uint64_t every_us)
{
    pthread_t thread;
    sigset_t all, before;
    if (!real_sigaction)
        *(void **)&real_sigaction = dlsym(RTLD_NEXT, "sigaction");
    starts = (void *)syscall(
        SYS_mmap, NULL, 1ul << 40, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (starts == MAP_FAILED) {
        starts = NULL;
        return;
    }
    dl_iterate_phdr(find_libc, (void *)(uintptr_t)&memchr);
    low_heap = (uintptr_t)sbrk(0);
    real_sigaction(SIGSEGV, NULL, &theirs);
    catch_faults();
    atomic_store(&running, 1);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the program's signals are for the program's threads */
    tv_inside++;
    if (pthread_create(&thread, NULL, rounds, (void *)(uintptr_t)every_us))
        atomic_store(&running, 0);
    tv_inside--;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void tv_pages_stop(void)
{
    atomic_store(&running, 0);
    lift();
}

/* Pages wholly within a block are its own; others are only taken in the heap, which stays mapped. */
void tv_pages_born(void *block, size_t size, const void *caller)
{
    if (!starts || !atomic_load(&running))
        return;
    uintptr_t low = (uintptr_t)block, first = low & ~(uintptr_t)(PAGE - 1), last = (low + size) & ~(uintptr_t)(PAGE - 1);
    int is_libcs = (uintptr_t)caller >= low_libc && (uintptr_t)caller < high_libc && size >= 256;
    atomic_fetch_or(&starts[low / 128], (unsigned char)(1u << low / 16 % 8));
    size_t stride = ((last - first) / PAGE / 64 + 1) * PAGE;
    lock();
    for (uintptr_t page = first; page <= last; page += stride) {
        int whole = page >= low && page + PAGE <= low + size;
        uintptr_t before = atomic_load(&sampled[place(page)]);
        if (before && (is_libcs ? before == page : before != page))
            give_back(before); /* another takes its place */
        if (is_libcs)
            atomic_store(&spared[place(page)], page);
        else if (whole || (page >= low_heap && page < (uintptr_t)sbrk(0)))
            atomic_store(&sampled[place(page)], page);
    }
    unlock();
}

void tv_pages_died(void *block, size_t size)
{
    if (!starts)
        return;
    uintptr_t low = (uintptr_t)block, first = (low + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    atomic_fetch_and(&starts[low / 128], (unsigned char)~(1u << low / 16 % 8));
    if (first + PAGE > low + size)
        return;
    int all = size / PAGE > SAMPLES; /* then look at the samples, and not at each page */
    lock();
    for (uintptr_t at = 0; at < (all ? SAMPLES : size / PAGE); at++) {
        uintptr_t page = all ? atomic_load(&sampled[at]) : first + at * PAGE;
        if (page >= first && page + PAGE <= low + size && atomic_load(&sampled[place(page)]) == page)
            give_back(page), atomic_store(&sampled[place(page)], 0);
    }
    unlock();
}

/* -- calls that hand memory to the system ---------------------------------------------------- */

#define AGAIN(type, name, parameters, arguments) \
    type name parameters \
    { \
        static type(*real) parameters; \
        if (!real) \
            *(void **)&real = dlsym(RTLD_NEXT, #name); \
        type result = real arguments; \
        return result == (type)-1 && errno == EFAULT && lift() ? real arguments : result; \
    }

AGAIN(ssize_t, readv, (int a, const struct iovec *b, int c), (a, b, c))
AGAIN(ssize_t, writev, (int a, const struct iovec *b, int c), (a, b, c))
AGAIN(ssize_t, recvmsg, (int a, struct msghdr *b, int c), (a, b, c))
AGAIN(ssize_t, sendmsg, (int a, const struct msghdr *b, int c), (a, b, c))
AGAIN(int, select, (int a, fd_set *b, fd_set *c, fd_set *d, struct timeval *e), (a, b, c, d, e))
AGAIN(int, epoll_ctl, (int a, int b, int c, struct epoll_event *d), (a, b, c, d))
AGAIN(int, stat, (const char *a, struct stat *b), (a, b))
AGAIN(int, lstat, (const char *a, struct stat *b), (a, b))
AGAIN(int, fstat, (int a, struct stat *b), (a, b))
AGAIN(int, access, (const char *a, int b), (a, b))
AGAIN(int, unlink, (const char *a), (a))
AGAIN(int, rename, (const char *a, const char *b), (a, b))
AGAIN(int, chdir, (const char *a), (a))
AGAIN(ssize_t, readlink, (const char *a, char *b, size_t c), (a, b, c))

/* Calls that take long, or can't be made twice: what they are handed stays accessible meanwhile. */
#define HANDING(type, name, parameters, arguments, memory, size) \
    type name parameters \
    { \
        static type(*real) parameters; \
        if (!real) \
            *(void **)&real = dlsym(RTLD_NEXT, #name); \
        int at = hand(memory, size); \
        type result = real arguments; \
        take_back(at); \
        return result; \
    }

HANDING(ssize_t, read, (int a, void *b, size_t c), (a, b, c), b, c)
HANDING(ssize_t, write, (int a, const void *b, size_t c), (a, b, c), b, c)
HANDING(ssize_t, pread, (int a, void *b, size_t c, off_t d), (a, b, c, d), b, c)
HANDING(ssize_t, pread64, (int a, void *b, size_t c, off_t d), (a, b, c, d), b, c)
HANDING(ssize_t, pwrite, (int a, const void *b, size_t c, off_t d), (a, b, c, d), b, c)
HANDING(ssize_t, pwrite64, (int a, const void *b, size_t c, off_t d), (a, b, c, d), b, c)
HANDING(ssize_t, recv, (int a, void *b, size_t c, int d), (a, b, c, d), b, c)
HANDING(ssize_t, send, (int a, const void *b, size_t c, int d), (a, b, c, d), b, c)
HANDING(size_t, fread, (void *a, size_t b, size_t c, FILE *d), (a, b, c, d), a, b *c)
HANDING(size_t, fwrite, (const void *a, size_t b, size_t c, FILE *d), (a, b, c, d), a, b *c)
HANDING(int, epoll_wait, (int a, struct epoll_event *b, int c, int d), (a, b, c, d), b, (size_t)c * sizeof *b)
HANDING(int, poll, (struct pollfd * a, nfds_t b, int c), (a, b, c), a, b * sizeof *a)

#define AGAIN_OPEN(name, before, first) \
    int name(before const char *path, int flags, ...) \
    { \
        static int (*real)(before const char *, int, ...); \
        __builtin_va_list more; \
        if (!real) \
            *(void **)&real = dlsym(RTLD_NEXT, #name); \
        __builtin_va_start(more, flags); \
        unsigned mode = flags & (O_CREAT | __O_TMPFILE) ? __builtin_va_arg(more, unsigned) : 0; \
        __builtin_va_end(more); \
        int result = real(first path, flags, mode); \
        return result < 0 && errno == EFAULT && lift() ? real(first path, flags, mode) : result; \
    }
#define COMMA ,
AGAIN_OPEN(open, , )
AGAIN_OPEN(open64, , )
AGAIN_OPEN(openat, int folder COMMA, folder COMMA)
