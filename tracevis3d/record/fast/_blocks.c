/* What lives, in C: tracemalloc's blocks grouped, and between its snapshots a sample of what Python allocates.
 *
 * A snapshot lists every block, so it takes the longer the more there are. The sample does not: each byte that
 * is allocated is in it with the same small probability, by a hook around the allocators of Python's objects
 * and buffers. The hook only notes addresses. Where they come from tracemalloc is asked later, and only about
 * those that still live.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef Py_GIL_DISABLED
#error "all of this relies on the interpreter's lock"
#endif

/* Numbers of call sites: of the recorder's own, and not asked yet. */
enum { OURS = -1, UNKNOWN = -2 };

static inline uint64_t mixed(uint64_t x) {
    x ^= x >> 32;
    x *= 0x9E3779B97F4A7C15u;
    return x ^ x >> 29;
}

/* The number of a stack by the dictionary, or the new one that the callable returns; -3: an exception. */
static int number_of(PyObject *stack, PyObject *sites, PyObject *new_site) {
    PyObject *number = PyDict_GetItemWithError(sites, stack); /* borrowed */
    if (number != NULL) return (int)PyLong_AsLong(number);
    if (PyErr_Occurred()) return -3;
    number = PyObject_CallOneArg(new_site, stack);
    if (number == NULL) return -3;
    int found = (int)PyLong_AsLong(number);
    Py_DECREF(number);
    return PyErr_Occurred() ? -3 : found;
}

static PyObject *columns(const uint32_t *site, const int64_t *size, const int64_t *count, size_t n) {
    PyObject *made = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n * (count ? 20 : 12)));
    if (made == NULL) return NULL;
    char *at = PyBytes_AS_STRING(made);
    if (n) {
        memcpy(at, site, 4 * n);
        memcpy(at + 4 * n, size, 8 * n);
        if (count) memcpy(at + 12 * n, count, 8 * n);
    }
    return made;
}

/* -- kinds of blocks -------------------------------------------------------------------------- */

/* A kind of blocks: call site and size; and how many there are. */
typedef struct {
    uint32_t site;
    int64_t size, count;
} Kind;
/* tracemalloc makes each stack once for a list: it is known by its address. */
typedef struct {
    PyObject *stack;
    int site;
} Stack;
typedef struct {
    Kind *kinds;
    Stack *stacks;
    size_t kind_slots, kind_count, stack_slots, stack_count;
} Groups;

/* After so many blocks other threads may run: some milliseconds. */
enum { TURN = 1 << 15 };

static Kind *kind_slot(Kind *kinds, size_t slots, uint32_t site, int64_t size) {
    size_t at = mixed((uint64_t)size << 24 ^ site) & (slots - 1);
    while (kinds[at].count && (kinds[at].site != site || kinds[at].size != size)) at = (at + 1) & (slots - 1);
    return kinds + at;
}

static Stack *stack_slot(Stack *stacks, size_t slots, PyObject *stack) {
    size_t at = mixed((uintptr_t)stack) & (slots - 1);
    while (stacks[at].stack && stacks[at].stack != stack) at = (at + 1) & (slots - 1);
    return stacks + at;
}

static int count_kind(Groups *g, uint32_t site, int64_t size) {
    if (2 * g->kind_count >= g->kind_slots) {
        size_t slots = g->kind_slots ? 2 * g->kind_slots : 1024;
        Kind *larger = calloc(slots, sizeof *larger);
        if (larger == NULL) return 0;
        for (size_t i = 0; i < g->kind_slots; i++)
            if (g->kinds[i].count) *kind_slot(larger, slots, g->kinds[i].site, g->kinds[i].size) = g->kinds[i];
        free(g->kinds);
        g->kinds = larger;
        g->kind_slots = slots;
    }
    Kind *kind = kind_slot(g->kinds, g->kind_slots, site, size);
    if (!kind->count) {
        kind->site = site;
        kind->size = size;
        g->kind_count++;
    }
    kind->count++;
    return 1;
}

static Stack *known_stack(Groups *g, PyObject *stack) {
    if (2 * g->stack_count >= g->stack_slots) {
        size_t slots = g->stack_slots ? 2 * g->stack_slots : 1024;
        Stack *larger = calloc(slots, sizeof *larger);
        if (larger == NULL) return NULL;
        for (size_t i = 0; i < g->stack_slots; i++)
            if (g->stacks[i].stack) *stack_slot(larger, slots, g->stacks[i].stack) = g->stacks[i];
        free(g->stacks);
        g->stacks = larger;
        g->stack_slots = slots;
    }
    return stack_slot(g->stacks, g->stack_slots, stack);
}

/* Count one of tracemalloc's tuples: domain, size, stack, number of frames. 0: an exception. */
static int count_trace(Groups *g, PyObject *trace, PyObject *sites, PyObject *new_site) {
    if (!PyTuple_CheckExact(trace) || PyTuple_GET_SIZE(trace) < 3) {
        PyErr_SetString(PyExc_TypeError, "this is no trace of a block");
        return 0;
    }
    int64_t size = PyLong_AsLongLong(PyTuple_GET_ITEM(trace, 1));
    if (size == -1 && PyErr_Occurred()) return 0;
    PyObject *stack = PyTuple_GET_ITEM(trace, 2);
    Stack *known = known_stack(g, stack);
    if (known != NULL && known->stack == NULL) {
        int site = number_of(stack, sites, new_site);
        if (site < OURS) return 0;
        /* Kept, so that no other stack ever lies at this address. */
        known->stack = Py_NewRef(stack);
        known->site = site;
        g->stack_count++;
    }
    if (known != NULL && (known->site < 0 || count_kind(g, (uint32_t)known->site, size))) return 1;
    PyErr_NoMemory();
    return 0;
}

static PyObject *kind_columns(const Groups *g) {
    size_t n = g->kind_count, at = 0;
    uint32_t *site = malloc(4 * n + 1);
    int64_t *size = malloc(8 * n + 1), *count = malloc(8 * n + 1);
    PyObject *made = NULL;
    if (site && size && count) {
        for (size_t i = 0; i < g->kind_slots; i++) {
            if (!g->kinds[i].count) continue;
            site[at] = g->kinds[i].site;
            size[at] = g->kinds[i].size;
            count[at++] = g->kinds[i].count;
        }
        made = columns(site, size, count, n);
    } else PyErr_NoMemory();
    free(site);
    free(size);
    free(count);
    return made;
}

static PyObject *group(PyObject *_, PyObject *args) {
    PyObject *traces, *sites, *new_site;
    if (!PyArg_ParseTuple(args, "O!O!O", &PyList_Type, &traces, &PyDict_Type, &sites, &new_site)) return NULL;
    Groups g = {0};
    int fine = 1;
    Py_ssize_t n;
    while (fine && (n = PyList_GET_SIZE(traces)) > 0) {
        Py_ssize_t low = n > TURN ? n - TURN : 0;
        for (Py_ssize_t i = low; fine && i < n; i++) fine = count_trace(&g, PyList_GET_ITEM(traces, i), sites, new_site);
        fine = fine && PyList_SetSlice(traces, low, n, NULL) == 0;
        Py_BEGIN_ALLOW_THREADS
        Py_END_ALLOW_THREADS
    }
    PyObject *made = fine ? kind_columns(&g) : NULL;
    for (size_t i = 0; i < g.stack_slots; i++) Py_XDECREF(g.stacks[i].stack);
    free(g.stacks);
    free(g.kinds);
    return made;
}

/* -- the sample ------------------------------------------------------------------------------- */

typedef struct {
    uintptr_t address; /* 0: none */
    size_t size;
    int site;
} Sample;

/* Half of the places stay empty. Beyond that every other sample is dropped, and fewer are taken. */
enum { SLOTS = 1 << 15, MOST = SLOTS / 2 };

static Sample *samples;
static _Atomic int64_t remaining; /* bytes until one is taken */
static _Atomic int32_t taken;     /* how many there are */
static double interval;           /* bytes between two, on average */
static uint64_t random_state;
static int on, met, installed[2];
/* The interpreter's lock is enough, but where code in C forgets it or interpreters have locks of their own. */
static pthread_mutex_t samples_lock = PTHREAD_MUTEX_INITIALIZER;

static PyMemAllocatorEx below[2]; /* what the hooks call */
static const PyMemAllocatorDomain DOMAINS[2] = {PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ};

/* Between 0 and 1, neither of them. */
static double random_share(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return ((double)(random_state >> 12) + 0.5) / (double)(1ull << 52);
}

static double chance(size_t size) { return -expm1(-(double)size / interval); }

static Sample *sample_slot(uintptr_t address) {
    size_t at = mixed(address) & (SLOTS - 1);
    while (samples[at].address && samples[at].address != address) at = (at + 1) & (SLOTS - 1);
    return samples + at;
}

/* Empty a place, and let those move up that are further from where they belong. */
static void empty(Sample *sample) {
    size_t hole = (size_t)(sample - samples), at = hole;
    for (;;) {
        at = (at + 1) & (SLOTS - 1);
        if (!samples[at].address) break;
        size_t home = mixed(samples[at].address) & (SLOTS - 1);
        if (((at - home) & (SLOTS - 1)) >= ((at - hole) & (SLOTS - 1))) {
            samples[hole] = samples[at];
            hole = at;
        }
    }
    samples[hole].address = 0;
    taken--;
}

/* Take half as many from here on, and drop of those that are there as many as that would have left out. */
static void thin(void) {
    Sample *kept = malloc(MOST * sizeof *kept);
    size_t n = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        if (!samples[i].address) continue;
        double before = chance(samples[i].size);
        interval *= 2;
        int stays = kept != NULL && random_share() * before < chance(samples[i].size);
        interval /= 2;
        if (stays) kept[n++] = samples[i];
    }
    interval *= 2;
    memset(samples, 0, SLOTS * sizeof *samples);
    for (size_t i = 0; i < n; i++) *sample_slot(kept[i].address) = kept[i];
    taken = (int32_t)n;
    free(kept);
}

static void take(uintptr_t address, size_t size) {
    pthread_mutex_lock(&samples_lock);
    met = 1;
    if (on) {
        remaining = (int64_t)(-log(random_share()) * interval);
        Sample *sample = sample_slot(address);
        if (!sample->address && taken >= MOST) {
            while (taken >= MOST) thin();
            sample = sample_slot(address);
        }
        taken += !sample->address;
        *sample = (Sample){address, size, UNKNOWN};
    }
    pthread_mutex_unlock(&samples_lock);
}

static void drop(uintptr_t address) {
    pthread_mutex_lock(&samples_lock);
    if (samples != NULL) {
        Sample *sample = sample_slot(address);
        if (sample->address) empty(sample);
    }
    pthread_mutex_unlock(&samples_lock);
}

static inline void *made(void *block, size_t size) {
    if (block == NULL) return NULL;
    int64_t left = atomic_load_explicit(&remaining, memory_order_relaxed) - (int64_t)size;
    atomic_store_explicit(&remaining, left, memory_order_relaxed);
    if (left < 0) take((uintptr_t)block, size);
    return block;
}

static inline void gone(void *block) {
    if (block != NULL && atomic_load_explicit(&taken, memory_order_relaxed)) drop((uintptr_t)block);
}

static void *hook_malloc(void *context, size_t size) {
    PyMemAllocatorEx *next = context;
    return made(next->malloc(next->ctx, size), size);
}

static void *hook_calloc(void *context, size_t n, size_t size) {
    PyMemAllocatorEx *next = context;
    return made(next->calloc(next->ctx, n, size), n * size);
}

static void *hook_realloc(void *context, void *block, size_t size) {
    PyMemAllocatorEx *next = context;
    void *moved = next->realloc(next->ctx, block, size);
    if (moved == NULL) return NULL;
    gone(block);
    return made(moved, size);
}

static void hook_free(void *context, void *block) {
    PyMemAllocatorEx *next = context;
    gone(block);
    next->free(next->ctx, block);
}

/* The traceback of a block by tracemalloc, or None; it is not public, but every version has it. */
static PyObject *(*traceback_of)(unsigned int domain, uintptr_t address);

/* Whether the hook of a domain is called, be it under others: what stops tracemalloc takes away all above it. */
static int is_called(int i) {
    met = 0;
    remaining = 0;
    void *block = i ? PyObject_Malloc(16) : PyMem_Malloc(16);
    if (i) PyObject_Free(block);
    else PyMem_Free(block);
    return met;
}

static void forget(int go_on) {
    pthread_mutex_lock(&samples_lock);
    if (samples != NULL) memset(samples, 0, SLOTS * sizeof *samples);
    taken = 0;
    on = go_on && samples != NULL;
    remaining = on ? (int64_t)(-log(random_share()) * interval) : INT64_MAX;
    pthread_mutex_unlock(&samples_lock);
}

static PyObject *start_sampling(PyObject *_, PyObject *args) {
    double bytes;
    unsigned long long seed;
    if (!PyArg_ParseTuple(args, "dK", &bytes, &seed)) return NULL;
    if (!(bytes >= 1)) return PyErr_Format(PyExc_ValueError, "at least a byte lies between two samples");
    traceback_of = (PyObject * (*)(unsigned int, uintptr_t)) dlsym(RTLD_DEFAULT, "_PyTraceMalloc_GetTraceback");
    if (samples == NULL) samples = calloc(SLOTS, sizeof *samples);
    if (traceback_of == NULL || samples == NULL) Py_RETURN_FALSE;
    interval = bytes;
    random_state = seed | 1;
    forget(0);
    for (int i = 0; i < 2; i++) {
        if (installed[i] && is_called(i)) continue;
        PyMem_GetAllocator(DOMAINS[i], &below[i]);
        PyMemAllocatorEx hooks = {&below[i], hook_malloc, hook_calloc, hook_realloc, hook_free};
        PyMem_SetAllocator(DOMAINS[i], &hooks);
        installed[i] = 1;
    }
    forget(1);
    Py_RETURN_TRUE;
}

static PyObject *stop_sampling(PyObject *_, PyObject *__) {
    forget(0);
    for (int i = 0; i < 2; i++) {
        PyMemAllocatorEx now;
        PyMem_GetAllocator(DOMAINS[i], &now);
        /* Where others have put theirs around it, the hook stays, and does nothing. */
        if (now.malloc != hook_malloc) continue;
        PyMem_SetAllocator(DOMAINS[i], &below[i]);
        installed[i] = 0;
    }
    Py_RETURN_NONE;
}

/* Ask for the call sites of those that have none yet, `most` at most. 0: an exception. */
static int ask(PyObject *sites, PyObject *new_site, size_t most) {
    uintptr_t *asked = malloc(most * sizeof *asked + 1);
    size_t n = 0;
    if (asked == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    pthread_mutex_lock(&samples_lock);
    for (size_t i = 0; i < SLOTS && n < most; i++)
        if (samples[i].address && samples[i].site == UNKNOWN) asked[n++] = samples[i].address;
    pthread_mutex_unlock(&samples_lock);
    int fine = 1;
    for (size_t i = 0; fine && i < n; i++) {
        PyObject *stack = traceback_of(0, asked[i]);
        int site = stack == NULL ? -3 : stack == Py_None ? OURS : number_of(stack, sites, new_site);
        Py_XDECREF(stack);
        fine = site >= OURS;
        pthread_mutex_lock(&samples_lock);
        Sample *sample = sample_slot(asked[i]);
        if (fine && sample->address) sample->site = site;
        pthread_mutex_unlock(&samples_lock);
    }
    free(asked);
    return fine;
}

static PyObject *sampled(PyObject *_, PyObject *args) {
    PyObject *sites, *new_site;
    Py_ssize_t most;
    double least;
    if (!PyArg_ParseTuple(args, "O!Ond", &PyDict_Type, &sites, &new_site, &most, &least)) return NULL;
    if (!on) return columns(NULL, NULL, NULL, 0);
    if (!ask(sites, new_site, most < 0 ? 0 : most > MOST ? MOST : (size_t)most)) return NULL;
    size_t n = (size_t)PyDict_GET_SIZE(sites), found = 0;
    double *bytes = calloc(n + 1, sizeof *bytes);
    uint32_t *site = malloc(4 * n + 1);
    int64_t *size = malloc(8 * n + 1);
    PyObject *made = NULL;
    if (bytes && site && size) {
        pthread_mutex_lock(&samples_lock);
        for (size_t i = 0; i < SLOTS; i++)
            if (samples[i].address && samples[i].site >= 0 && (size_t)samples[i].site < n)
                bytes[samples[i].site] += (double)samples[i].size / chance(samples[i].size);
        pthread_mutex_unlock(&samples_lock);
        for (size_t i = 0; i < n; i++) {
            if (bytes[i] < least || bytes[i] == 0) continue;
            site[found] = (uint32_t)i;
            size[found++] = (int64_t)(bytes[i] + 0.5);
        }
        made = columns(site, size, NULL, found);
    } else PyErr_NoMemory();
    free(bytes);
    free(site);
    free(size);
    return made;
}

static void in_child(void) { pthread_mutex_init(&samples_lock, NULL); }

static PyMethodDef functions[] = {
    {"group", group, METH_VARARGS,
     "group(traces, sites, new_site): empty a list of tracemalloc's, and return the kinds of its blocks as columns."},
    {"start_sampling", start_sampling, METH_VARARGS,
     "start_sampling(bytes, seed): take a sample of so many bytes each from here on; return whether that works."},
    {"stop_sampling", stop_sampling, METH_NOARGS, "Take no more samples, and forget those that were taken."},
    {"sampled", sampled, METH_VARARGS,
     "sampled(sites, new_site, most, least): the bytes of each call site that live, of what was allocated since\n"
     "the start, as columns, where they are so many; at most so many samples are asked for their call sites."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_blocks", "What lives: blocks grouped, and sampled.", -1,
                                    functions};

PyMODINIT_FUNC PyInit__blocks(void) {
    if (pthread_atfork(NULL, NULL, in_child)) return NULL;
    return PyModule_Create(&module);
}
