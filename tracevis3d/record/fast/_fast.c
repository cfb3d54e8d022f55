/* The recorder's work for each call and each lock, in C.
 *
 * Begins and ends of calls and rows of waits go into blocks of files that are mapped into memory and that the
 * writer reads (record/output/arena.py): whatever kills the program, what was written stays. All of this runs
 * with the interpreter's lock held, but for what is said to run without.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef Py_GIL_DISABLED
#error "all of this relies on the interpreter's lock"
#endif

#if PY_VERSION_HEX >= 0x030C0000
#define GET_EXTRA PyUnstable_Code_GetExtra
#define SET_EXTRA PyUnstable_Code_SetExtra
#define NEW_EXTRA PyUnstable_Eval_RequestCodeExtraIndex
#define BY_MONITORING 1
#else
#define GET_EXTRA _PyCode_GetExtra
#define SET_EXTRA _PyCode_SetExtra
#define NEW_EXTRA _PyEval_RequestCodeExtraIndex
#define BY_MONITORING 0
#endif

static int64_t now(void) {
    struct timespec t;
#ifdef __APPLE__
    /* That of time.perf_counter. */
    return (int64_t)clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
#else
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
#endif
}

/* -- files in memory -------------------------------------------------------------------------- */

/* A file begins with one of these, and so does each block in it; the writer knows their layout. */
typedef struct {
    uint32_t kind; /* of a block: 'C', 'R' or 'F'; 0: none yet */
    uint32_t size; /* bytes, with this */
    int64_t thread;
    int64_t tid;
    _Atomic int64_t used; /* bytes after this that are written */
    _Atomic int64_t closed;
    char rest[24];
} Header;

typedef struct {
    char *base;
    size_t size, at;
} Arena;

enum { FIRST_ARENA = 1 << 20, MOST_ARENA = 1 << 25, FIRST_BLOCK = 1 << 12, MOST_BLOCK = 1 << 16 };
enum { CALL = 16, ROW = 48 };

/* Of the recording: its folder, the file that is being filled, and the one after it. */
static char folder[4096];
static Arena arena, spare;
static int arena_count, failure, dropping;
static int64_t dropped;
/* Another for each file: blocks of others are gone. 0 while nothing is recorded. */
static uint64_t generation, generations;

/* Make and map a file; on failure its base is NULL, and errno says why. */
static Arena map_file(int number, size_t size) {
    Arena made = {NULL, size, sizeof(Header)};
    char path[4200];
    snprintf(path, sizeof path, "%s/arena-%d", folder, number);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return made;
    /* Reserved now: a full disk would end the program where it writes to the memory. */
#ifdef __APPLE__
    int error = ftruncate(fd, (off_t)size) ? errno : 0;
#else
    int error = posix_fallocate(fd, 0, (off_t)size);
    if (error == EOPNOTSUPP || error == EINVAL) error = ftruncate(fd, (off_t)size) ? errno : 0;
#endif
    if (!error) {
        char *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (base == MAP_FAILED) error = errno;
        else made.base = base;
    }
    close(fd);
    if (made.base != NULL) ((Header *)made.base)->size = (uint32_t)size;
    else {
        unlink(path);
        errno = error;
    }
    return made;
}

/* Let go of a file: the writer deletes it when it has read it. */
static void unmap(Arena *gone, int is_ours) {
    if (gone->base == NULL) return;
    if (is_ours) atomic_store_explicit(&((Header *)gone->base)->closed, 1, memory_order_release);
    munmap(gone->base, gone->size);
    gone->base = NULL;
}

static size_t next_size(void) {
    size_t size = (size_t)FIRST_ARENA << (arena_count < 5 ? arena_count : 5);
    return size < MOST_ARENA ? size : MOST_ARENA;
}

/* Take the next file, and let go of this one with all its blocks. */
static int next_arena(void) {
    Arena made = spare;
    spare.base = NULL;
    if (made.base == NULL) {
        made = map_file(arena_count + 1, next_size());
        if (made.base == NULL) {
            failure = errno;
            return 0;
        }
        arena_count++;
    }
    unmap(&arena, 1);
    arena = made;
    generation = ++generations;
    return 1;
}

static Header *new_block(uint32_t kind, size_t size, int64_t thread, int64_t tid) {
    if (size > arena.size - arena.at && !next_arena()) return NULL;
    Header *block = (Header *)(arena.base + arena.at);
    arena.at += size;
    block->size = (uint32_t)size;
    block->thread = thread;
    block->tid = tid;
    /* The writer takes what has a kind. */
    atomic_thread_fence(memory_order_release);
    *(volatile uint32_t *)&block->kind = kind;
    return block;
}

/* -- buffers ---------------------------------------------------------------------------------- */

/* What one thread, task or greenlet records: its calls or its rows. */
typedef struct {
    PyObject_HEAD
    PyObject *list; /* what is put here while no file is there to take it */
    char *at, *end;
    Header *block;
    uint64_t generation;
    int64_t number, tid;
    size_t size; /* of the next block */
    uint32_t kind;
    int lost;
} Buffer;

/* Make room for one more of `size` bytes; 0: it is dropped. */
static int make_room(Buffer *b, size_t size) {
    if (generation == 0 || failure) return 0;
    if (dropping) {
        b->lost = 1;
        dropped++;
        return 0;
    }
    b->at = b->end = NULL;
    b->block = new_block(b->kind, b->size, b->number, b->tid);
    if (b->block == NULL) return 0;
    b->generation = generation;
    b->at = (char *)(b->block + 1);
    b->end = (char *)b->block + b->size - size + 1;
    if (b->size < MOST_BLOCK) b->size *= 4;
    if (b->lost && b->kind == 'C') {
        ((int64_t *)b->at)[0] = -1; /* a gap: calls that run end here */
        ((int64_t *)b->at)[1] = now();
        b->at += size;
    }
    b->lost = 0;
    return 1;
}

static inline int has_room(Buffer *b, size_t size) {
    return (b->at < b->end && b->generation == generation) || make_room(b, size);
}

static inline void written(Buffer *b) {
    atomic_store_explicit(&b->block->used, b->at - (char *)(b->block + 1), memory_order_release);
}

static inline void put_call(Buffer *b, int64_t function, int64_t time) {
    if (!has_room(b, CALL)) return;
    ((int64_t *)b->at)[0] = function;
    ((int64_t *)b->at)[1] = time;
    b->at += CALL;
    written(b);
}

static inline void put_row(Buffer *b, int64_t operation, int64_t what, int64_t start, int64_t end, int64_t flags) {
    if (!has_room(b, ROW)) return;
    int64_t *row = (int64_t *)b->at;
    row[0] = operation;
    row[1] = what;
    row[2] = start;
    row[3] = end;
    row[4] = flags;
    row[5] = 0;
    b->at += ROW;
    written(b);
}

static PyObject *buffer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    int kind;
    long long number, tid;
    if (!PyArg_ParseTuple(args, "CLL", &kind, &number, &tid)) return NULL;
    Buffer *b = (Buffer *)type->tp_alloc(type, 0);
    if (b == NULL) return NULL;
    b->list = PyList_New(0);
    b->kind = (uint32_t)kind;
    b->number = number;
    b->tid = tid;
    b->size = FIRST_BLOCK;
    if (b->list == NULL) Py_CLEAR(b);
    return (PyObject *)b;
}

static void buffer_dealloc(Buffer *b) {
    PyTypeObject *type = Py_TYPE(b);
    Py_XDECREF(b->list);
    type->tp_free(b);
    Py_DECREF(type);
}

static int64_t as_int64(PyObject *number) {
    return PyFloat_Check(number) ? (int64_t)PyFloat_AS_DOUBLE(number) : PyLong_AsLongLong(number);
}

static PyObject *buffer_extend(Buffer *b, PyObject *row) {
    if (generation == 0 || b->kind != 'R' || !PyTuple_CheckExact(row) || PyTuple_GET_SIZE(row) != 6) {
        for (Py_ssize_t i = 0; PyTuple_Check(row) && i < PyTuple_GET_SIZE(row); i++)
                if (PyList_Append(b->list, PyTuple_GET_ITEM(row, i)) < 0) return NULL;
        Py_RETURN_NONE;
    }
    int64_t values[6];
    for (int i = 0; i < 6; i++) values[i] = as_int64(PyTuple_GET_ITEM(row, i));
    if (PyErr_Occurred()) return NULL;
    if (has_room(b, ROW)) {
        memcpy(b->at, values, sizeof values);
        b->at += ROW;
        written(b);
    }
    Py_RETURN_NONE;
}

static PyObject *buffer_iadd(Buffer *b, PyObject *row) {
    PyObject *done = buffer_extend(b, row);
    if (done == NULL) return NULL;
    Py_DECREF(done);
    return Py_NewRef(b);
}

static PyObject *buffer_take(Buffer *b, PyObject *_) {
    PyObject *taken = b->list;
    PyObject *list = PyList_New(0);
    if (list == NULL) return NULL;
    b->list = list;
    return taken;
}

static PyObject *buffer_clear(Buffer *b, PyObject *_) {
    if (PyList_SetSlice(b->list, 0, PY_SSIZE_T_MAX, NULL) < 0) return NULL;
    Py_RETURN_NONE;
}

static Py_ssize_t buffer_length(Buffer *b) { return PyList_GET_SIZE(b->list); }

static PyMethodDef buffer_methods[] = {
    {"extend", (PyCFunction)buffer_extend, METH_O, "Append a row, or a pair of a call's code and its time."},
    {"take", (PyCFunction)buffer_take, METH_NOARGS, "Return what no file has taken, and forget it."},
    {"clear", (PyCFunction)buffer_clear, METH_NOARGS, "Forget what no file has taken."},
    {NULL},
};
static PyMemberDef buffer_members[] = {
    {"tid", T_LONGLONG, offsetof(Buffer, tid), 0, "The thread's id in the system."},
    {NULL},
};
static PyType_Slot buffer_slots[] = {
    {Py_tp_doc, "What a thread, a task or a greenlet records: Buffer('C' or 'R', number, tid)."},
    {Py_tp_new, buffer_new},
    {Py_tp_dealloc, buffer_dealloc},
    {Py_tp_methods, buffer_methods},
    {Py_tp_members, buffer_members},
    {Py_sq_length, buffer_length},
    {Py_sq_inplace_concat, buffer_iadd},
    {Py_nb_inplace_add, buffer_iadd},
    {0, NULL},
};
static PyType_Spec buffer_spec = {
    "tracevis3d.record.fast._fast.Buffer", sizeof(Buffer), 0, Py_TPFLAGS_DEFAULT, buffer_slots};
static PyTypeObject *Buffer_Type;

/* -- functions -------------------------------------------------------------------------------- */

static Py_ssize_t extra;
static int64_t last_function, first_function;
static Header *names;
static uint64_t names_generation;
static PyObject *own_folder; /* whose functions are not recorded */

static PyObject *as_utf8(PyObject *text) {
    PyObject *bytes = PyUnicode_Check(text) ? PyUnicode_AsEncodedString(text, "utf-8", "replace") : NULL;
    PyErr_Clear();
    return bytes ? bytes : PyBytes_FromString("?");
}

/* Write number, line, the lengths of name and file, and these: for the writer. */
static void announce(int64_t number, PyCodeObject *code) {
    PyObject *name = as_utf8(code->co_qualname), *file = as_utf8(code->co_filename);
    if (name != NULL && file != NULL) {
        size_t n = (size_t)PyBytes_GET_SIZE(name), m = (size_t)PyBytes_GET_SIZE(file);
        if (n > 4096) n = 4096;
        if (m > 4096) m = 4096;
        size_t size = (24 + n + m + 7) & ~(size_t)7;
        int64_t used = names && names_generation == generation ? atomic_load(&names->used) : -1;
        if (used < 0 || sizeof(Header) + (size_t)used + size > names->size) {
            names = new_block('F', MOST_BLOCK, 0, 0);
            names_generation = generation; /* the block may lie in the next file */
            used = 0;
        }
        if (names != NULL) {
            char *at = (char *)(names + 1) + used;
            ((int64_t *)at)[0] = number;
            ((int64_t *)at)[1] = code->co_firstlineno;
            ((uint32_t *)at)[4] = (uint32_t)n;
            ((uint32_t *)at)[5] = (uint32_t)m;
            memcpy(at + 24, PyBytes_AS_STRING(name), n);
            memcpy(at + 24 + n, PyBytes_AS_STRING(file), m);
            atomic_store_explicit(&names->used, used + (int64_t)size, memory_order_release);
        }
    }
    Py_XDECREF(name);
    Py_XDECREF(file);
    PyErr_Clear();
}

/* Numbers are kept with the code: twice the number, plus one where it is not recorded. */
static int64_t new_function(PyCodeObject *code) {
    int64_t number = ++last_function;
    int ours = own_folder != NULL && PyUnicode_Tailmatch(code->co_filename, own_folder, 0, PY_SSIZE_T_MAX, -1) == 1;
    if (!ours) announce(number, code);
    int64_t kept = number * 2 + ours;
    if (SET_EXTRA((PyObject *)code, extra, (void *)(intptr_t)kept) < 0) PyErr_Clear();
    return kept;
}

static inline int64_t function_of(PyCodeObject *code) {
    void *kept = NULL;
    GET_EXTRA((PyObject *)code, extra, &kept);
    int64_t known = (int64_t)(intptr_t)kept;
    return known >= 2 * first_function ? known : new_function(code);
}

/* -- threads ---------------------------------------------------------------------------------- */

/* What a thread has at hand. */
typedef struct Track {
    struct Track *next, *before;
    Buffer *calls, *rows; /* of what runs in it */
    int64_t number;
    uint64_t id;          /* the interpreter's of the thread */
    Py_tracefunc theirs;  /* the program's own hook */
    PyObject *their_object;
    int skip_return, attaching, hidden, hooked;
} Track;

static _Thread_local Track *track;
static Track *tracks;
static pthread_key_t track_key;
static pthread_mutex_t tracks_lock = PTHREAD_MUTEX_INITIALIZER;
static PyObject *attach; /* makes a thread's buffers, by calling `enter` */

/* At the end of a thread, without the interpreter's lock; `leave` has let go of its buffers, or will not. */
static void forget_track(void *gone) {
    Track *t = gone;
    pthread_mutex_lock(&tracks_lock);
    if (t->before) t->before->next = t->next;
    else tracks = t->next;
    if (t->next) t->next->before = t->before;
    pthread_mutex_unlock(&tracks_lock);
    free(t);
}

static Track *find_track(uint64_t id) {
    pthread_mutex_lock(&tracks_lock);
    Track *t = tracks;
    while (t != NULL && t->id != id) t = t->next;
    pthread_mutex_unlock(&tracks_lock);
    return t;
}

static Track *add_track(uint64_t id) {
    Track *t = calloc(1, sizeof *t);
    if (t == NULL) return NULL;
    t->id = id;
    pthread_mutex_lock(&tracks_lock);
    t->next = tracks;
    if (tracks) tracks->before = t;
    tracks = t;
    pthread_mutex_unlock(&tracks_lock);
    return t;
}

static Track *own_track(void) {
    if (track == NULL) {
        uint64_t id = PyThreadState_GetID(PyThreadState_Get());
        Track *t = find_track(id);
        track = t ? t : add_track(id);
        if (track != NULL) pthread_setspecific(track_key, track);
    }
    return track;
}

/* The running thread's, with buffers; NULL if there are none. */
static Track *attached(void) {
    Track *t = own_track();
    if (t == NULL) return NULL;
    if (t->calls == NULL && !t->attaching && !t->hidden && attach != NULL) {
        t->attaching = 1;
        PyObject *kind, *value, *trace;
        PyErr_Fetch(&kind, &value, &trace);
        PyObject *done = PyObject_CallNoArgs(attach);
        if (done == NULL) PyErr_Clear();
        Py_XDECREF(done);
        PyErr_Restore(kind, value, trace);
        t->attaching = 0;
    }
    return t->calls != NULL ? t : NULL;
}

static inline Track *here(void) {
    Track *t = track;
    return t != NULL && t->calls != NULL ? t : attached();
}

static PyObject *enter(PyObject *_, PyObject *args) {
    Buffer *calls, *rows;
    long long number;
    if (!PyArg_ParseTuple(args, "O!O!L", Buffer_Type, &calls, Buffer_Type, &rows, &number)) return NULL;
    Track *t = own_track();
    if (t != NULL) {
        Buffer *calls_before = t->calls, *rows_before = t->rows;
        t->calls = (Buffer *)Py_NewRef(calls);
        t->rows = (Buffer *)Py_NewRef(rows);
        t->number = number;
        Py_XDECREF(calls_before);
        Py_XDECREF(rows_before);
    }
    Py_RETURN_NONE;
}

static PyObject *hide(PyObject *_, PyObject *__) {
    Track *t = own_track();
    if (t != NULL) {
        t->hidden = 1;
        Py_CLEAR(t->calls);
        Py_CLEAR(t->rows);
    }
    Py_RETURN_NONE;
}

static PyObject *leave(PyObject *_, PyObject *calls) {
    pthread_mutex_lock(&tracks_lock);
    for (Track *t = tracks; t != NULL; t = t->next)
        if ((PyObject *)t->calls == calls) {
            Py_CLEAR(t->calls);
            Py_CLEAR(t->rows);
            t->attaching = 1; /* it has ended */
        }
    pthread_mutex_unlock(&tracks_lock);
    Py_RETURN_NONE;
}

/* -- calls by the profile hook (before Python 3.12) -------------------------------------------- */

#if !BY_MONITORING

static int hook(PyObject *object, PyFrameObject *frame, int what, PyObject *arg);

static void install(PyThreadState *state, Track *t) {
    if (state->c_profilefunc == hook) return;
    if (t != NULL) {
        Py_XSETREF(t->their_object, Py_XNewRef(state->c_profileobj));
        t->theirs = state->c_profilefunc;
        t->hooked = 1;
    }
    if (_PyEval_SetProfile(state, hook, NULL) < 0) PyErr_Clear();
}

static void uninstall(PyThreadState *state, Track *t) {
    if (state->c_profilefunc != hook) return;
    Py_tracefunc theirs = t ? t->theirs : NULL;
    PyObject *object = t ? t->their_object : NULL;
    if (t) {
        t->theirs = NULL;
        t->their_object = NULL;
        t->hooked = 0;
    }
    if (_PyEval_SetProfile(state, theirs, object) < 0) PyErr_Clear();
    Py_XDECREF(object);
}

static int hook(PyObject *object, PyFrameObject *frame, int what, PyObject *arg) {
    if (generation == 0) {
        if (what == PyTrace_CALL) uninstall(PyThreadState_Get(), own_track());
        return 0;
    }
    Track *t = track;
    if (what == PyTrace_CALL || what == PyTrace_RETURN) {
        int64_t time = what == PyTrace_RETURN ? now() : 0;
        PyCodeObject *code = PyFrame_GetCode(frame);
        int64_t function = function_of(code);
        Py_DECREF(code);
        if (!(function & 1) && (t = here()) != NULL) {
            if (what == PyTrace_CALL) put_call(t->calls, function >> 1, now());
            else put_call(t->calls, 0, time);
        }
    }
    t = track;
    if (t != NULL && t->theirs != NULL) {
        if (t->skip_return && what != PyTrace_CALL) {
            t->skip_return = 0; /* of setting it */
            if (what == PyTrace_C_RETURN) return 0;
        }
        PyThreadState *state = PyThreadState_Get();
        PyObject *theirs = Py_XNewRef(t->their_object);
        int result = t->theirs(theirs, frame, what, arg);
        Py_XDECREF(theirs);
        /* One that has raised an exception is taken away by the interpreter, and ours with it. */
        if (state->c_profilefunc != hook) {
            PyObject *kind, *value, *trace;
            PyErr_Fetch(&kind, &value, &trace);
            install(state, t);
            PyErr_Restore(kind, value, trace);
        }
        return result;
    }
    return 0;
}

/* Call a function that sets a hook, and take the hook back: what it has set is called from ours. */
static PyObject *adopting_call(PyObject *original, PyObject *args, PyObject *kwargs) {
    Track *t = own_track();
    int had = t != NULL && t->theirs != NULL;
    PyObject *result = PyObject_Call(original, args, kwargs);
    if (result != NULL && generation != 0 && t != NULL) {
        install(PyThreadState_Get(), t);
        t->skip_return = !had && t->theirs != NULL;
    }
    return result;
}

static PyObject *profiler_methods[2];

static PyObject *adopting_method(PyObject *original, PyObject *self, PyObject *args, PyObject *kwargs) {
    PyObject *one = PyTuple_Pack(1, self), *all = one ? PySequence_Concat(one, args) : NULL;
    PyObject *result = all ? adopting_call(original, all, kwargs) : NULL;
    Py_XDECREF(one);
    Py_XDECREF(all);
    return result;
}

static PyObject *adopting_enable(PyObject *self, PyObject *args, PyObject *kwargs) {
    return adopting_method(profiler_methods[0], self, args, kwargs);
}

static PyObject *adopting_disable(PyObject *self, PyObject *args, PyObject *kwargs) {
    return adopting_method(profiler_methods[1], self, args, kwargs);
}

static PyMethodDef adopting_defs[] = {
    {"setprofile", (PyCFunction)(void (*)(void))adopting_call, METH_VARARGS | METH_KEYWORDS,
     "Set the profile hook of this thread."},
    {"enable", (PyCFunction)(void (*)(void))adopting_enable, METH_VARARGS | METH_KEYWORDS, "Begin to profile."},
    {"disable", (PyCFunction)(void (*)(void))adopting_disable, METH_VARARGS | METH_KEYWORDS, "End profiling."},
};

static PyObject *adopting(PyObject *_, PyObject *original) { return PyCFunction_New(adopting_defs, original); }

/* The same for the methods of a C profiler's type: they stay methods of that type. */
static PyObject *adopting_profiler(PyObject *_, PyObject *type) {
    PyObject *made[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        PyMethodDef *def = adopting_defs + 1 + i;
        PyObject *original = PyType_Check(type) ? PyObject_GetAttrString(type, def->ml_name) : NULL;
        if (original != NULL) made[i] = PyDescr_NewMethod((PyTypeObject *)type, def);
        Py_XSETREF(profiler_methods[i], original);
    }
    if (made[0] && made[1]) return Py_BuildValue("NN", made[0], made[1]);
    Py_XDECREF(made[0]);
    Py_XDECREF(made[1]);
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a type is expected");
    return NULL;
}

static PyObject *getprofile(PyObject *_, PyObject *__) {
    Track *t = own_track();
    if (t == NULL || t->theirs == NULL || t->their_object == NULL) Py_RETURN_NONE;
    return Py_NewRef(t->their_object);
}

static PyObject *run_thread(PyObject *function, PyObject *args, PyObject *kwargs) {
    if (generation != 0) install(PyThreadState_Get(), own_track());
    return PyObject_Call(function, args, kwargs);
}

static PyMethodDef run_thread_def = {
    "run", (PyCFunction)(void (*)(void))run_thread, METH_VARARGS | METH_KEYWORDS, "Run a thread."};

static PyObject *start_thread(PyObject *original, PyObject *args, PyObject *kwargs) {
    if (PyTuple_GET_SIZE(args) < 1 || !PyCallable_Check(PyTuple_GET_ITEM(args, 0)))
        return PyObject_Call(original, args, kwargs); /* it complains */
    PyObject *function = PyCFunction_New(&run_thread_def, PyTuple_GET_ITEM(args, 0));
    PyObject *one = function ? PyTuple_Pack(1, function) : NULL;
    PyObject *rest = PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args));
    PyObject *more = one && rest ? PySequence_Concat(one, rest) : NULL;
    Py_XDECREF(function);
    Py_XDECREF(one);
    Py_XDECREF(rest);
    if (more == NULL) return NULL;
    PyObject *result = PyObject_Call(original, more, kwargs);
    Py_DECREF(more);
    return result;
}

static PyMethodDef start_thread_def = {"start_new_thread", (PyCFunction)(void (*)(void))start_thread,
                                       METH_VARARGS | METH_KEYWORDS, "Start a thread."};

static PyObject *starting(PyObject *_, PyObject *original) {
    return PyCFunction_New(&start_thread_def, original);
}

/* A thread has lost the hook: end its calls, and begin those that run. */
static void begin_again(PyThreadState *state, Track *t) {
    enum { MOST = 1000 };
    int64_t found[MOST], time = now();
    int n = 0, low = 0;
    put_call(t->calls, -1, time);
    PyFrameObject *frame = PyThreadState_GetFrame(state);
    while (frame != NULL && n < MOST) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        PyFrameObject *outer = PyFrame_GetBack(frame);
        found[n++] = function_of(code);
        Py_DECREF(code);
        Py_DECREF(frame);
        frame = outer;
    }
    Py_XDECREF(frame);
    /* Where the program was started by us, what lies around that is not the program's. */
    for (int i = n - 1; i >= 0 && i > n - 4; i--)
        if (found[i] & 1) low = n - i;
    for (int i = n - 1 - low; i >= 0; i--)
        if (!(found[i] & 1)) put_call(t->calls, found[i] >> 1, time);
}

/* Have all threads call the hook; return how many had lost it. */
static PyObject *follow(PyObject *_, PyObject *__) {
    long lost = 0;
    if (generation != 0) {
        PyThreadState *state = PyInterpreterState_ThreadHead(PyThreadState_Get()->interp);
        for (; state != NULL; state = PyThreadState_Next(state)) {
            if (state->c_profilefunc == hook) continue;
            Track *t = find_track(PyThreadState_GetID(state));
            if (t == NULL) t = add_track(PyThreadState_GetID(state));
            if (t == NULL || t->hidden) continue;
            if (t->calls != NULL && t->hooked) {
                begin_again(state, t);
                lost++;
            }
            install(state, t);
        }
    }
    return PyLong_FromLong(lost);
}

static PyObject *unfollow(PyObject *_, PyObject *__) {
    PyThreadState *state = PyInterpreterState_ThreadHead(PyThreadState_Get()->interp);
    for (; state != NULL; state = PyThreadState_Next(state))
        uninstall(state, find_track(PyThreadState_GetID(state)));
    Py_RETURN_NONE;
}

#else

/* -- calls by sys.monitoring ------------------------------------------------------------------ */

static PyObject *begin_call(PyObject *_, PyObject *const *args, Py_ssize_t n) {
    if (generation != 0 && n && PyCode_Check(args[0])) {
        int64_t function = function_of((PyCodeObject *)args[0]);
        Track *t;
        if (!(function & 1) && (t = here()) != NULL) put_call(t->calls, function >> 1, now());
    }
    Py_RETURN_NONE;
}

static PyObject *end_call(PyObject *_, PyObject *const *args, Py_ssize_t n) {
    if (generation != 0 && n && PyCode_Check(args[0])) {
        int64_t time = now(), function = function_of((PyCodeObject *)args[0]);
        Track *t;
        if (!(function & 1) && (t = here()) != NULL) put_call(t->calls, 0, time);
    }
    Py_RETURN_NONE;
}

#endif

/* -- locks ------------------------------------------------------------------------------------ */

/* The base of shims/locks.py's class: a free lock is acquired and released here, all else there. */
typedef struct {
    PyObject_HEAD
    PyObject *weakrefs, *raw, *asked;
    long long number, holder;
    char inner;
    int waiting;
} Lock;

static PyObject *word_acquire, *word_release, *word_slow_acquire, *word_slow_release;
static int64_t acquire_operation, release_operation;

static PyObject *lock_slowly(Lock *lock, PyObject *word, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    PyObject *method = PyObject_GetAttr((PyObject *)lock, word);
    if (method == NULL) return NULL;
    PyObject *result = PyObject_Vectorcall(method, args, (size_t)n, names);
    Py_DECREF(method);
    return result;
}

static PyObject *lock_acquire(Lock *lock, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    Track *t;
    if (generation == 0 || n || names || lock->raw == NULL || (t = here()) == NULL)
        return lock_slowly(lock, word_slow_acquire, args, n, names);
    int64_t start = now();
    PyObject *words[2] = {lock->raw, Py_False};
    PyObject *got = PyObject_VectorcallMethod(word_acquire, words, 2, NULL);
    if (got == NULL) return NULL;
    if (got == Py_True) {
        lock->holder = t->number;
        if (!lock->inner) {
            /* The line of code, as spool.py's LINE has it. */
            PyFrameObject *frame = PyEval_GetFrame();
            int64_t line = frame == NULL ? 0 : PyFrame_GetLineNumber(frame);
            put_row(t->rows, acquire_operation, lock->number, start, start, line << 8);
        }
        return got;
    }
    Py_DECREF(got);
    if (lock->inner) return PyObject_CallMethod((PyObject *)lock, "_ask_inside", "LOi", (long long)start, Py_True, -1);
    return PyObject_CallMethod((PyObject *)lock, "_ask", "LOiO", (long long)start, Py_True, -1, Py_True);
}

static PyObject *lock_enter(Lock *lock, PyObject *_) { return lock_acquire(lock, NULL, 0, NULL); }

static PyObject *lock_release(Lock *lock, PyObject *_) {
    Track *t;
    if (generation == 0 || lock->raw == NULL || (lock->asked != NULL && lock->asked != Py_None) || lock->waiting ||
        (t = here()) == NULL)
        return lock_slowly(lock, word_slow_release, NULL, 0, NULL);
    int64_t at = now();
    long long holder = lock->holder;
    lock->holder = 0;
    PyObject *done = PyObject_VectorcallMethod(word_release, &lock->raw, 1, NULL);
    if (done == NULL) lock->holder = holder;
    else if (!lock->inner) put_row(t->rows, release_operation, lock->number, at, at, 0);
    return done;
}

static PyObject *lock_exit(Lock *lock, PyObject *args) { return lock_release(lock, NULL); }

static void lock_dealloc(Lock *lock) {
    PyTypeObject *type = Py_TYPE(lock);
    if (lock->weakrefs != NULL) PyObject_ClearWeakRefs((PyObject *)lock);
    Py_XDECREF(lock->raw);
    Py_XDECREF(lock->asked);
    type->tp_free(lock);
    Py_DECREF(type);
}

static PyMethodDef lock_methods[] = {
    {"acquire", (PyCFunction)(void (*)(void))lock_acquire, METH_FASTCALL | METH_KEYWORDS, "Acquire it."},
    {"acquire_lock", (PyCFunction)(void (*)(void))lock_acquire, METH_FASTCALL | METH_KEYWORDS, "Acquire it."},
    {"__enter__", (PyCFunction)lock_enter, METH_NOARGS, "Acquire it."},
    {"release", (PyCFunction)lock_release, METH_NOARGS, "Release it."},
    {"release_lock", (PyCFunction)lock_release, METH_NOARGS, "Release it."},
    {"__exit__", (PyCFunction)lock_exit, METH_VARARGS, "Release it."},
    {NULL},
};
static PyMemberDef lock_members[] = {
    {"_raw", T_OBJECT, offsetof(Lock, raw), 0, "The interpreter's lock."},
    {"_asked", T_OBJECT, offsetof(Lock, asked), 0, "Who asked while its new holder had not run yet."},
    {"_number", T_LONGLONG, offsetof(Lock, number), 0, "Its number."},
    {"_holder", T_LONGLONG, offsetof(Lock, holder), 0, "The number of the thread that has it; 0: none."},
    {"_inner", T_BOOL, offsetof(Lock, inner), 0, "Whether it is recorded only where a thread waits for it."},
    {"_waiting", T_INT, offsetof(Lock, waiting), 0, "How many wait for an inner one."},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Lock, weakrefs), READONLY},
    {NULL},
};
static PyType_Slot lock_slots[] = {
    {Py_tp_doc, "A lock that is recorded."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, lock_dealloc},
    {Py_tp_methods, lock_methods},
    {Py_tp_members, lock_members},
    {0, NULL},
};
static PyType_Spec lock_spec = {"tracevis3d.record.fast._fast.Lock", sizeof(Lock), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, lock_slots};

/* -- begin and end ---------------------------------------------------------------------------- */

static PyObject *open_recording(PyObject *_, PyObject *args) {
    const char *path;
    PyObject *ours, *factory;
    long long acquiring, releasing;
    if (!PyArg_ParseTuple(args, "sUOLL", &path, &ours, &factory, &acquiring, &releasing)) return NULL;
    if (strlen(path) >= sizeof folder) {
        PyErr_SetString(PyExc_OSError, "the folder's name is too long");
        return NULL;
    }
    unmap(&arena, 0);
    unmap(&spare, 0);
    strcpy(folder, path);
    arena_count = failure = dropping = 0;
    dropped = 0;
    names = NULL;
    first_function = last_function + 1;
    acquire_operation = acquiring;
    release_operation = releasing;
    Py_XSETREF(own_folder, Py_NewRef(ours));
    Py_XSETREF(attach, Py_NewRef(factory));
    if (!next_arena()) {
        errno = failure;
        return PyErr_SetFromErrnoWithFilename(PyExc_OSError, path);
    }
    Py_RETURN_NONE;
}

static PyObject *close_recording(PyObject *_, PyObject *__) {
    /* In a forked process they are its parent's. */
    unmap(&arena, generation != 0);
    unmap(&spare, generation != 0);
    generation = 0;
    Py_RETURN_NONE;
}

/* Map the next file before it is needed; return the number of the error by which the recording ends. */
static PyObject *prepare(PyObject *_, PyObject *__) {
    if (generation != 0 && spare.base == NULL && !failure && arena.at > arena.size / 4) {
        uint64_t mine = generation;
        int number = ++arena_count;
        size_t size = next_size();
        Arena made;
        int error;
        Py_BEGIN_ALLOW_THREADS
        made = map_file(number, size);
        error = errno;
        Py_END_ALLOW_THREADS
        /* The program closes all descriptors just now: try again later. */
        if (made.base == NULL && error == EBADF && number == arena_count) arena_count--;
        else if (made.base == NULL) failure = error;
        else if (mine != generation) unmap(&made, 1); /* the writer passes over it */
        else spare = made;
    }
    return PyLong_FromLong(failure);
}

static PyObject *drop(PyObject *_, PyObject *on) {
    dropping = PyObject_IsTrue(on);
    int64_t before = dropped;
    dropped = 0;
    return PyLong_FromLongLong(before);
}

/* Append to a file without giving the interpreter's lock away: on busy cores its next turn is far. */
static PyObject *append(PyObject *_, PyObject *args) {
    int fd;
    Py_buffer data;
    if (!PyArg_ParseTuple(args, "iy*", &fd, &data)) return NULL;
    ssize_t n = write(fd, data.buf, (size_t)data.len);
    PyBuffer_Release(&data);
    if (n < 0) return PyErr_SetFromErrno(PyExc_OSError);
    return PyLong_FromSsize_t(n);
}

/* In a forked process, before anything of Python's runs there: the files are its parent's. */
static void in_child(void) {
    generation = 0;
    pthread_mutex_init(&tracks_lock, NULL);
}

static PyMethodDef functions[] = {
    {"open", open_recording, METH_VARARGS,
     "open(folder, own_folder, attach, acquire, release): record into files there."},
    {"close", close_recording, METH_NOARGS, "Record no more."},
    {"prepare", prepare, METH_NOARGS, "Have the next file ready; return the error that ends the recording, or 0."},
    {"drop", drop, METH_O, "Drop what needs another block, or no more; return how many were dropped."},
    {"enter", enter, METH_VARARGS, "enter(calls, rows, number): what the running thread records into."},
    {"leave", leave, METH_O, "Let go of the buffers of the thread that has these calls: it has ended."},
    {"hide", hide, METH_NOARGS, "Record nothing of the running thread."},
    {"append", append, METH_VARARGS, "os.write that keeps the interpreter's lock."},
#if BY_MONITORING
    {"begin_call", (PyCFunction)(void (*)(void))begin_call, METH_FASTCALL, "A call begins."},
    {"end_call", (PyCFunction)(void (*)(void))end_call, METH_FASTCALL, "A call ends."},
#else
    {"adopting", adopting, METH_O, "Wrap what sets the profile hook."},
    {"adopting_profiler", adopting_profiler, METH_O, "Return wrapped `enable` and `disable` of a profiler's type."},
    {"starting", starting, METH_O, "Wrap what starts a thread."},
    {"getprofile", getprofile, METH_NOARGS, "Return the program's profile hook of this thread."},
    {"follow", follow, METH_NOARGS, "Have all threads recorded; return how many had lost the hook."},
    {"unfollow", unfollow, METH_NOARGS, "Have no thread recorded."},
#endif
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_fast", "The recorder's work for each event.", -1,
                                    functions};

PyMODINIT_FUNC PyInit__fast(void) {
    word_acquire = PyUnicode_InternFromString("acquire");
    word_release = PyUnicode_InternFromString("release");
    word_slow_acquire = PyUnicode_InternFromString("_acquire");
    word_slow_release = PyUnicode_InternFromString("_release");
    extra = NEW_EXTRA(NULL);
    if (extra < 0) {
        PyErr_SetString(PyExc_ImportError, "codes have no room for a number");
        return NULL;
    }
    PyObject *made = PyModule_Create(&module);
    Buffer_Type = (PyTypeObject *)PyType_FromSpec(&buffer_spec);
    PyObject *lock = PyType_FromSpec(&lock_spec);
    if (made == NULL || Buffer_Type == NULL || lock == NULL || pthread_key_create(&track_key, forget_track) ||
        pthread_atfork(NULL, NULL, in_child) || PyModule_AddObjectRef(made, "Buffer", (PyObject *)Buffer_Type) < 0 ||
        PyModule_AddObjectRef(made, "Lock", lock) < 0 || PyModule_AddIntConstant(made, "BY_MONITORING", BY_MONITORING) < 0)
        return NULL;
    Py_DECREF(lock);
    return made;
}
