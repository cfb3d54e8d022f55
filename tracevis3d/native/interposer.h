/* What the interposer and the sampling of accesses share, and what the recorder maps (ring.py knows it too). */
#ifndef TRACEVIS3D_INTERPOSER_H
#define TRACEVIS3D_INTERPOSER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { ALLOC, FREE, ACCESS, EXEC };
enum { DEPTH = 14, IMAGES = 4, MAPS = 1 << 17 };

/* An event; turn is its number + 1 once it is whole. */
struct slot {
    _Atomic uint64_t turn;
    uint64_t time, address, size;
    uint32_t thread, what; /* kind, and the number of the stack + 1 from bit 8 on; 0: none */
};

/* A stack of return addresses, the innermost first; 0 behind the last. */
struct stack {
    _Atomic uint64_t hash, ready;
    uint64_t frame[DEPTH];
};

/* The first page of the file that the recorder makes; slots, stacks and IMAGES texts of MAPS bytes follow. */
struct ring {
    char magic[8];
    uint64_t slots, stacks;      /* how many; powers of two */
    uint64_t access_us;          /* between two rounds of page protection; 0: none */
    uint64_t large;              /* anonymous mappings from so many bytes on are recorded; 0: none */
    _Atomic uint64_t process;    /* the first process to arrive is recorded */
    _Atomic uint64_t written, read, dropped;
    _Atomic uint64_t images;        /* how often the program has replaced itself, + 1 */
    _Atomic uint64_t mapped[IMAGES]; /* bytes of each image's text: where its code lies, for when it is gone */
};

/* Append an event, with the running stack if a caller is given; leaves errno alone and never waits: in a full
 * ring it is dropped and counted. */
void tv_note(unsigned kind, uintptr_t address, size_t size, const void *caller);

/* Non-zero while this thread is within the interposer, where nothing is recorded. */
extern __thread int tv_inside __attribute__((tls_model("initial-exec")));

/* Non-zero while the allocator itself is at work: what it touches is no access of the program's. */
extern __thread int tv_allocating __attribute__((tls_model("initial-exec")));

/* pages.c: sampled accesses. */
void tv_pages_start(uint64_t every_us);
void tv_pages_stop(void);
void tv_pages_born(void *block, size_t size, const void *caller);
void tv_pages_died(void *block, size_t size);

#endif
