/* SPDX-License-Identifier: Apache-2.0
 * weft for C, and for whatever calls C: what the C++ headers have, which say more of each call
 * (<weft/communicator.hpp>, <weft/window.hpp>, ...). Left out are groups, statistics, events, tasks, strided blocks (types
 * cover these), and the calls that a deadline has left in flight.
 *
 *   weft_runtime* runtime;
 *   if (weft_init(&argc, argv, &runtime) != WEFT_OK) { fprintf(stderr, "%s\n", weft_error_text()); return 1; }
 *   weft_comm* world;
 *   weft_world(runtime, &world);
 *   double mine = weft_rank(world), all;
 *   weft_allreduce(world, &mine, &all, 1, WEFT_DOUBLE, WEFT_SUM);
 *   weft_finalize(runtime);
 *
 * Errors. What can fail returns WEFT_OK or a code; no C++ exception comes out. weft_error_text says what was wrong,
 * where, and what would be right. Where a call fails it writes nothing to what its other arguments point to, but
 * perhaps to the buffers of a message or collective.
 *
 * Lifetimes. What a call gives by a pointer to a pointer is the caller's, who gives it back by the _free of its kind,
 * or by the wait that takes it; NULL is let pass there. Elsewhere NULL is refused; what returns no code gives 0 or NULL
 * of it, or does nothing. It is used before its runtime is finalized, by one thread at a time. Types and operators may
 * be freed while calls use them. Those of weft (WEFT_DOUBLE, WEFT_SUM, ...), and the world, are not freed. Buffers
 * belong to an operation that was started until it is waited for, or tested to be done.
 *
 * Threads. As in C++: any fiber or thread of a rank may send and receive; a communicator's collectives have an order,
 * the same on every rank. Functions that weft calls return to it: they are not left by longjmp. */
#ifndef WEFT_H
#define WEFT_H

#include <stddef.h>
#include <stdint.h>
#include <weft/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors ---- */

enum weft_result {
  WEFT_OK = 0,
  WEFT_INVALID_ARGUMENT = 1,
  WEFT_TRUNCATED = 2,        /* a message longer than the buffer that was to receive it */
  WEFT_PEER_LOST = 3,        /* a process of the job died or can no longer be reached */
  WEFT_REVOKED = 4,          /* the communicator was aborted */
  WEFT_MISMATCHED_CALL = 5,  /* ranks of one communicator called different things */
  WEFT_OPERATION_FAILED = 6, /* another rank could not complete its part */
  WEFT_INCOMPATIBLE = 7,     /* the other side is a different build of weft, or not weft at all */
  WEFT_NO_RENDEZVOUS = 8,    /* a launcher is there but its rendezvous does not answer */
  WEFT_NO_PROVIDER = 9,      /* no libfabric provider fits */
  WEFT_TIMED_OUT = 10,       /* a deadline passed */
  WEFT_PROVIDER_FAILED = 11, /* libfabric reported an error */
  WEFT_PROTOCOL = 12,        /* a message from outside that breaks the wire protocol */
  /* Kinds of invalid arguments; those that are none of them are WEFT_INVALID_ARGUMENT. */
  WEFT_INVALID_RANK = 100,
  WEFT_INVALID_ROOT = 101,
  WEFT_INVALID_TAG = 102,
  WEFT_INVALID_COUNT = 103,
  WEFT_INVALID_BUFFER = 104,
  WEFT_INVALID_OPERATOR = 105,
  WEFT_NO_MEMORY = 1000, /* of the system, or within WEFT_MEMORY_LIMIT */
  WEFT_SYSTEM = 1001,  /* a call of the system failed; the text has its errno */
  WEFT_CALLBACK = 1002 /* a function of the caller's returned something else than 0 */
};

/** Of the latest call of this thread that failed; "" before. Valid until the next one that does. */
WEFT_API const char* weft_error_text(void);
/** Of WEFT_PEER_LOST: the ranks of the job that were known to be lost; of WEFT_TIMED_OUT: the ranks of the communicator
 * that were waited for. Returns how many, and writes as many as there is room for. */
WEFT_API size_t weft_error_ranks(int* ranks, size_t room);
/** "invalid argument", ... */
WEFT_API const char* weft_result_name(int result);
/** Of the library, as WEFT_VERSION of <weft/version.hpp>: 1.2.3 is 10203. */
WEFT_API int weft_version(void);

/* ---- Runtime ---- */

typedef struct weft_runtime weft_runtime;
typedef struct weft_comm weft_comm;

/** Joins the job that the launcher started this process for; a job of one where there is no launcher. `--weft-*`
 * arguments are taken out of argc and argv, which may both be NULL. Blocks until every process has joined. */
WEFT_API int weft_init(int* argc, char** argv, weft_runtime** runtime);
/** Leaves the job, and blocks until every process does so. Frees it and its world, whatever it returns. */
WEFT_API int weft_finalize(weft_runtime* runtime);
/** All ranks of the job but the spares, where this process is one rank. Valid until weft_finalize. */
WEFT_API int weft_world(weft_runtime* runtime, weft_comm** world);
/** Calls `program` once for each rank of this process, each on a fiber of its own; where one does not return 0 the
 * others throw, and this returns WEFT_CALLBACK. Blocking; call it from a plain thread. */
WEFT_API int weft_run(weft_runtime* runtime, int (*program)(weft_comm* world, void* context), void* context);
/** A fiber beside the one that calls this. */
WEFT_API int weft_spawn(weft_runtime* runtime, int (*function)(void* context), void* context);
/** Lets other fibers run. */
WEFT_API int weft_yield(weft_runtime* runtime);
WEFT_API int weft_sleep(weft_runtime* runtime, double seconds);
/** Calls `function` on a thread of its own, and lets the other ranks of this one run meanwhile. */
WEFT_API int weft_blocking(weft_runtime* runtime, int (*function)(void* context), void* context);
/** Blocking calls of the fiber, or the thread outside of one, that has begun it return WEFT_TIMED_OUT when so many
 * seconds have passed, until it ends it; the last begun is ended first. Requests, plans and pending communicators that
 * were waited for can be waited for again; what other calls leave in flight is dropped, and its communicator aborted. */
typedef struct weft_deadline weft_deadline;
WEFT_API int weft_deadline_begin(double seconds, weft_deadline** deadline);
WEFT_API void weft_deadline_end(weft_deadline* deadline);

/** Memory that the processes of the node share, for long vectors; cleared. */
typedef struct weft_array weft_array;
WEFT_API int weft_array_create(weft_runtime* runtime, size_t bytes, weft_array** array);
WEFT_API void* weft_array_data(const weft_array* array);
WEFT_API void weft_array_free(weft_array* array);

/* ---- Types and operators ---- */

typedef struct weft_type weft_type;
typedef struct weft_op weft_op;

enum weft_builtin_type {
  WEFT_TYPE_INT8,
  WEFT_TYPE_INT16,
  WEFT_TYPE_INT32,
  WEFT_TYPE_INT64,
  WEFT_TYPE_UINT8,
  WEFT_TYPE_UINT16,
  WEFT_TYPE_UINT32,
  WEFT_TYPE_UINT64,
  WEFT_TYPE_FLOAT16,
  WEFT_TYPE_BFLOAT16,
  WEFT_TYPE_FLOAT,
  WEFT_TYPE_DOUBLE,
  WEFT_TYPE_COMPLEX_FLOAT,
  WEFT_TYPE_COMPLEX_DOUBLE,
  WEFT_TYPE_LOCATED_FLOAT, /* {value, int64_t index} */
  WEFT_TYPE_LOCATED_DOUBLE,
  WEFT_TYPE_LOCATED_INT32,
  WEFT_TYPE_LOCATED_INT64,
  WEFT_TYPE_BOOL,
  WEFT_TYPE_BYTE
};
enum weft_builtin_op {
  WEFT_OP_SUM,
  WEFT_OP_PRODUCT,
  WEFT_OP_MIN,
  WEFT_OP_MAX,
  WEFT_OP_BIT_AND,
  WEFT_OP_BIT_OR,
  WEFT_OP_BIT_XOR,
  WEFT_OP_LOGICAL_AND,
  WEFT_OP_LOGICAL_OR,
  WEFT_OP_LOGICAL_XOR,
  WEFT_OP_MIN_LOCATION,
  WEFT_OP_MAX_LOCATION,
  WEFT_OP_REPRODUCIBLE_SUM, /* of float and double: bits that depend on the summands alone */
  WEFT_OP_REPLACE           /* of windows */
};
/** Not freed. NULL where there is none of that number. */
WEFT_API const weft_type* weft_type_builtin(enum weft_builtin_type which);
WEFT_API const weft_op* weft_op_builtin(enum weft_builtin_op which);
#define WEFT_INT8 weft_type_builtin(WEFT_TYPE_INT8)
#define WEFT_INT16 weft_type_builtin(WEFT_TYPE_INT16)
#define WEFT_INT32 weft_type_builtin(WEFT_TYPE_INT32)
#define WEFT_INT64 weft_type_builtin(WEFT_TYPE_INT64)
#define WEFT_UINT8 weft_type_builtin(WEFT_TYPE_UINT8)
#define WEFT_UINT16 weft_type_builtin(WEFT_TYPE_UINT16)
#define WEFT_UINT32 weft_type_builtin(WEFT_TYPE_UINT32)
#define WEFT_UINT64 weft_type_builtin(WEFT_TYPE_UINT64)
#define WEFT_FLOAT16 weft_type_builtin(WEFT_TYPE_FLOAT16)
#define WEFT_BFLOAT16 weft_type_builtin(WEFT_TYPE_BFLOAT16)
#define WEFT_FLOAT weft_type_builtin(WEFT_TYPE_FLOAT)
#define WEFT_DOUBLE weft_type_builtin(WEFT_TYPE_DOUBLE)
#define WEFT_COMPLEX_FLOAT weft_type_builtin(WEFT_TYPE_COMPLEX_FLOAT)
#define WEFT_COMPLEX_DOUBLE weft_type_builtin(WEFT_TYPE_COMPLEX_DOUBLE)
#define WEFT_LOCATED_FLOAT weft_type_builtin(WEFT_TYPE_LOCATED_FLOAT)
#define WEFT_LOCATED_DOUBLE weft_type_builtin(WEFT_TYPE_LOCATED_DOUBLE)
#define WEFT_LOCATED_INT32 weft_type_builtin(WEFT_TYPE_LOCATED_INT32)
#define WEFT_LOCATED_INT64 weft_type_builtin(WEFT_TYPE_LOCATED_INT64)
#define WEFT_BOOL weft_type_builtin(WEFT_TYPE_BOOL)
#define WEFT_BYTE weft_type_builtin(WEFT_TYPE_BYTE)
#define WEFT_INT (sizeof(int) == 4 ? WEFT_INT32 : WEFT_INT64)
#define WEFT_LONG (sizeof(long) == 4 ? WEFT_INT32 : WEFT_INT64)
#define WEFT_SIZE (sizeof(size_t) == 4 ? WEFT_UINT32 : WEFT_UINT64)
#define WEFT_SUM weft_op_builtin(WEFT_OP_SUM)
#define WEFT_PRODUCT weft_op_builtin(WEFT_OP_PRODUCT)
#define WEFT_MIN weft_op_builtin(WEFT_OP_MIN)
#define WEFT_MAX weft_op_builtin(WEFT_OP_MAX)
#define WEFT_BIT_AND weft_op_builtin(WEFT_OP_BIT_AND)
#define WEFT_BIT_OR weft_op_builtin(WEFT_OP_BIT_OR)
#define WEFT_BIT_XOR weft_op_builtin(WEFT_OP_BIT_XOR)
#define WEFT_LOGICAL_AND weft_op_builtin(WEFT_OP_LOGICAL_AND)
#define WEFT_LOGICAL_OR weft_op_builtin(WEFT_OP_LOGICAL_OR)
#define WEFT_LOGICAL_XOR weft_op_builtin(WEFT_OP_LOGICAL_XOR)
#define WEFT_MIN_LOCATION weft_op_builtin(WEFT_OP_MIN_LOCATION)
#define WEFT_MAX_LOCATION weft_op_builtin(WEFT_OP_MAX_LOCATION)
#define WEFT_REPRODUCIBLE_SUM weft_op_builtin(WEFT_OP_REPRODUCIBLE_SUM)
#define WEFT_REPLACE weft_op_builtin(WEFT_OP_REPLACE)

/** As weft::type (<weft/type.hpp>): bytes as they are; several types at their places; one type again and again, `stride`
 * bytes apart (0: at once); the same with the next one `extent` bytes behind. */
WEFT_API int weft_type_opaque(size_t bytes, weft_type** type);
WEFT_API int weft_type_record(size_t fields, const ptrdiff_t* offsets, const weft_type* const* types,
                                const size_t* counts, size_t extent, weft_type** type);
WEFT_API int weft_type_repeated(const weft_type* of, size_t count, ptrdiff_t stride, weft_type** type);
WEFT_API int weft_type_resized(const weft_type* of, ptrdiff_t extent, weft_type** type);
WEFT_API void weft_type_free(weft_type* type);
/** Bytes of data in an element, and from one to the next. */
WEFT_API size_t weft_type_bytes(const weft_type* type);
WEFT_API ptrdiff_t weft_type_extent(const weft_type* type);
/** Copies count * weft_type_bytes bytes of elements to or from one piece. */
WEFT_API void weft_type_pack(const weft_type* type, void* to, const void* from, size_t count);
WEFT_API void weft_type_unpack(const weft_type* type, void* to, const void* from, size_t count);

/** inout[i] = in[i] o inout[i] for `count` elements, which lie as messages carry them: in one piece, without what is
 * between a type's fields. What `in` has is of lower ranks. It must not call weft. If it does not return 0, its rank's
 * collective returns WEFT_CALLBACK, and those that depend on it WEFT_OPERATION_FAILED. */
typedef int (*weft_function)(const void* in, void* inout, size_t count, void* context);
WEFT_API int weft_op_create(weft_function function, void* context, int commutes, weft_op** op);
WEFT_API void weft_op_free(weft_op* op);

/* ---- Communicators ---- */

/** Of NULL -1, 0 and NULL. */
WEFT_API int weft_rank(const weft_comm* comm);
WEFT_API int weft_size(const weft_comm* comm);
/** The rank in the job of each member, weft_size of them; valid as long as the communicator. */
WEFT_API const int* weft_members(const weft_comm* comm);

/** One communicator for each colour, ranked by key; of a negative colour NULL, with WEFT_OK. */
WEFT_API int weft_split(weft_comm* comm, int colour, int key, weft_comm** part);
WEFT_API int weft_split_by_node(weft_comm* comm, int key, weft_comm** part);
WEFT_API int weft_split_by_numa(weft_comm* comm, int key, weft_comm** part);
/** The listed ranks; the others get NULL. Collective over `comm`; weft_create over the listed ranks alone. */
WEFT_API int weft_subset(weft_comm* comm, const int* ranks, size_t count, weft_comm** part);
WEFT_API int weft_create(weft_comm* comm, const int* ranks, size_t count, int64_t tag, weft_comm** made);
WEFT_API int weft_dup(weft_comm* comm, weft_comm** made);
/** This rank alone. Not collective. */
WEFT_API int weft_alone(weft_comm* comm, weft_comm** made);
/** Frees it on this rank, alone and without blocking. The world, and what weft_run gives, are not freed. */
WEFT_API void weft_comm_free(weft_comm* comm);

typedef struct weft_pending_comm weft_pending_comm;
WEFT_API int weft_isplit(weft_comm* comm, int colour, int key, weft_pending_comm** pending);
WEFT_API int weft_idup(weft_comm* comm, weft_pending_comm** pending);
WEFT_API int weft_pending_comm_test(weft_pending_comm* pending, int* done);
/** Frees it and makes it NULL, unless a deadline has passed. */
WEFT_API int weft_pending_comm_wait(weft_pending_comm** pending, weft_comm** made);
/** Waits for it, whatever deadline there is, and frees what it has become. */
WEFT_API void weft_pending_comm_free(weft_pending_comm* pending);

/* When something has failed (<weft/communicator.hpp>). */

/** The ranks of it that this process knows to be lost, as many as there is room for; `count` gets how many there are.
 * Both may be NULL. */
WEFT_API int weft_failed(weft_comm* comm, int* ranks, size_t room, size_t* count);
WEFT_API int weft_revoke(weft_comm* comm);
WEFT_API int weft_abort(weft_comm* comm);
/** The bitwise and of all flags; `missing` and `count` get the ranks that did not take part, likewise. */
WEFT_API int weft_agree(weft_comm* comm, int flag, int* agreed, int* missing, size_t room, size_t* count);
WEFT_API int weft_shrink(weft_comm* comm, weft_comm** left);
WEFT_API int weft_grow(weft_comm* comm, weft_comm** grown);
WEFT_API int weft_is_replacement(const weft_comm* comm);

/* ---- Operations in flight, and plans ---- */

#define WEFT_ANY_SOURCE (-1)
#define WEFT_ANY_TAG (-1)
#define WEFT_LARGEST_TAG ((INT64_C(1) << 62) - 1)
/* Where a call takes a status it may be NULL. */
typedef struct weft_status {
  int source;
  int64_t tag;
  size_t bytes;
} weft_status;

typedef struct weft_request weft_request;
/** Blocks until it is done. Frees it and makes it NULL, unless a deadline has passed. One that is NULL is done: then
 * the status is {WEFT_ANY_SOURCE, WEFT_ANY_TAG, 0}. */
WEFT_API int weft_wait(weft_request** request, weft_status* status);
/** Polls once. Where it is done: as weft_wait. */
WEFT_API int weft_test(weft_request** request, int* done, weft_status* status);
/** As weft_wait, but for no longer than so many seconds. */
WEFT_API int weft_wait_for(weft_request** request, double seconds, int* done, weft_status* status);
/** Takes a receive back that no message has met: then *cancelled is 1 and it is freed. */
WEFT_API int weft_cancel(weft_request** request, int* cancelled);
/** Waits for it, whatever deadline there is; what it fails with is lost. */
WEFT_API void weft_request_free(weft_request* request);
/** Those that are NULL count as done. wait_all waits for all, frees them, and returns the first error; wait_any blocks
 * until one can be waited for at once, and gives its index; `count` where all are NULL. */
WEFT_API int weft_wait_all(size_t count, weft_request** requests);
WEFT_API int weft_wait_any(size_t count, weft_request** requests, size_t* index);
WEFT_API int weft_test_any(size_t count, weft_request** requests, int* found, size_t* index);
/** The indices of all that are done, once there is one: `indices` has room for `count`. */
WEFT_API int weft_wait_some(size_t count, weft_request** requests, size_t* done, size_t* indices);

typedef struct weft_plan weft_plan;
WEFT_API int weft_plan_start(weft_plan* plan);
WEFT_API int weft_plan_wait(weft_plan* plan, weft_status* status);
WEFT_API int weft_plan_test(weft_plan* plan, int* done);
WEFT_API int weft_plan_wait_for(weft_plan* plan, double seconds, int* done);
WEFT_API void weft_plan_free(weft_plan* plan);

/* ---- Messages ---- */

WEFT_API int weft_send(weft_comm* comm, const void* data, size_t count, const weft_type* type, int to, int64_t tag);
WEFT_API int weft_ssend(weft_comm* comm, const void* data, size_t count, const weft_type* type, int to, int64_t tag);
WEFT_API int weft_recv(weft_comm* comm, void* data, size_t count, const weft_type* type, int from, int64_t tag,
                         weft_status* status);
WEFT_API int weft_sendrecv(weft_comm* comm, const void* data, size_t count, const weft_type* type, int to,
                             int64_t send_tag, void* into, size_t room, const weft_type* into_type, int from,
                             int64_t receive_tag, weft_status* status);
WEFT_API int weft_isend(weft_comm* comm, const void* data, size_t count, const weft_type* type, int to, int64_t tag,
                          weft_request** request);
WEFT_API int weft_issend(weft_comm* comm, const void* data, size_t count, const weft_type* type, int to, int64_t tag,
                           weft_request** request);
WEFT_API int weft_irecv(weft_comm* comm, void* data, size_t count, const weft_type* type, int from, int64_t tag,
                          weft_request** request);
WEFT_API int weft_plan_send(weft_comm* comm, const void* data, size_t count, const weft_type* type, int to,
                              int64_t tag, weft_plan** plan);
WEFT_API int weft_plan_recv(weft_comm* comm, void* data, size_t count, const weft_type* type, int from, int64_t tag,
                              weft_plan** plan);
WEFT_API int weft_probe(weft_comm* comm, int from, int64_t tag, weft_status* status);
WEFT_API int weft_iprobe(weft_comm* comm, int from, int64_t tag, int* found, weft_status* status);
/** A message that nobody else gets any more. Receiving it, in whatever way, frees it and makes it NULL. */
typedef struct weft_message weft_message;
WEFT_API int weft_mprobe(weft_comm* comm, int from, int64_t tag, weft_message** message, weft_status* status);
/** NULL where there is none yet. */
WEFT_API int weft_improbe(weft_comm* comm, int from, int64_t tag, weft_message** message, weft_status* status);
WEFT_API int weft_message_recv(weft_message** message, void* data, size_t count, const weft_type* type,
                                 weft_status* status);
WEFT_API int weft_message_irecv(weft_message** message, void* data, size_t count, const weft_type* type,
                                  weft_request** request);
/** Discards it. */
WEFT_API void weft_message_free(weft_message* message);

/* ---- Collectives ----
 * Each blocks; with i in front it starts and gives a request; with plan_ it gives a plan. In place is the same address
 * twice, or one's own block of the other buffer. `count` is of elements: of the vector, or of each rank's block. What
 * only the root reads or writes may be NULL elsewhere. In those with a v blocks have `counts` elements, by rank, and lie
 * one after another where `places` is NULL, else at `places`, in elements from the buffer's beginning; the root alone
 * gives them where there is one. */
#define WEFT_COLLECTIVE_(name, ...)                                   \
  WEFT_API int weft_##name(__VA_ARGS__);                            \
  WEFT_API int weft_i##name(__VA_ARGS__, weft_request** request);   \
  WEFT_API int weft_plan_##name(__VA_ARGS__, weft_plan** plan);

WEFT_COLLECTIVE_(barrier, weft_comm* comm)
WEFT_COLLECTIVE_(bcast, weft_comm* comm, void* data, size_t count, const weft_type* type, int root)
WEFT_COLLECTIVE_(reduce, weft_comm* comm, const void* in, void* out, size_t count, const weft_type* type,
                 const weft_op* op, int root)
WEFT_COLLECTIVE_(allreduce, weft_comm* comm, const void* in, void* out, size_t count, const weft_type* type,
                 const weft_op* op)
WEFT_COLLECTIVE_(reduce_scatter, weft_comm* comm, const void* in, void* out, size_t count, const weft_type* type,
                 const weft_op* op)
WEFT_COLLECTIVE_(reduce_scatterv, weft_comm* comm, const void* in, void* out, const size_t* counts,
                 const weft_type* type, const weft_op* op)
WEFT_COLLECTIVE_(scan, weft_comm* comm, const void* in, void* out, size_t count, const weft_type* type,
                 const weft_op* op)
WEFT_COLLECTIVE_(exscan, weft_comm* comm, const void* in, void* out, size_t count, const weft_type* type,
                 const weft_op* op)
WEFT_COLLECTIVE_(allgather, weft_comm* comm, const void* in, void* out, size_t count, const weft_type* type)
WEFT_COLLECTIVE_(gather, weft_comm* comm, const void* in, void* out, size_t count, const weft_type* type, int root)
WEFT_COLLECTIVE_(scatter, weft_comm* comm, const void* in, void* out, size_t count, const weft_type* type, int root)
WEFT_COLLECTIVE_(alltoall, weft_comm* comm, const void* in, void* out, size_t count, const weft_type* type)
WEFT_COLLECTIVE_(allgatherv, weft_comm* comm, const void* in, size_t count, void* out, const size_t* counts,
                 const size_t* places, const weft_type* type)
WEFT_COLLECTIVE_(gatherv, weft_comm* comm, const void* in, size_t count, void* out, const size_t* counts,
                 const size_t* places, const weft_type* type, int root)
WEFT_COLLECTIVE_(scatterv, weft_comm* comm, const void* in, const size_t* counts, const size_t* places, void* out,
                 size_t count, const weft_type* type, int root)
WEFT_COLLECTIVE_(alltoallv, weft_comm* comm, const void* in, const size_t* sent, const size_t* sent_places, void* out,
                 const size_t* received, const size_t* received_places, const weft_type* type)

/* ---- Grids (<weft/grid.hpp>, <weft/halo.hpp>) ---- */

typedef struct weft_grid weft_grid;
/** Collective. Ranks lie row by row. Extents of 0 are chosen, all where `extents` is NULL; `periodic` (may be NULL)
 * says whether each dimension goes round. With `by_node` ranks get others, so that few neighbours are on different
 * nodes. */
WEFT_API int weft_grid_create(weft_comm* comm, size_t dimensions, const int* extents, const int* periodic, int by_node,
                              weft_grid** grid);
/** Collective. The ranks that have the same coordinates in the dimensions that are not kept. */
WEFT_API int weft_grid_keep(weft_grid* grid, const int* kept, weft_grid** part);
WEFT_API void weft_grid_free(weft_grid* grid);
/** The grid's own communicator, which is not freed; and its extents. Valid as long as the grid. */
WEFT_API weft_comm* weft_grid_comm(weft_grid* grid);
WEFT_API size_t weft_grid_dimensions(const weft_grid* grid);
WEFT_API const int* weft_grid_extents(const weft_grid* grid);
WEFT_API int weft_grid_coordinates(const weft_grid* grid, int rank, int* coordinates);
/** -1 where there is none, as below: beyond an end of the grid. */
WEFT_API int weft_grid_rank_at(const weft_grid* grid, const int* coordinates, int* rank);
/** Who this rank receives from and sends to where all send `by` further along a dimension. Either may be NULL. */
WEFT_API int weft_grid_shift(const weft_grid* grid, size_t dimension, int by, int* source, int* destination);
/** Two for each dimension: the rank before this one, and that behind. */
WEFT_API int weft_grid_neighbors(const weft_grid* grid, int* ranks);

/* Collectives among neighbours: a block for each, in their order. That of one that is not there stays as it is. Types
 * lie in one piece; input and output are apart. */
WEFT_COLLECTIVE_(neighbor_alltoall, weft_grid* grid, const void* in, void* out, size_t count, const weft_type* type)
WEFT_COLLECTIVE_(neighbor_alltoallv, weft_grid* grid, const void* in, const size_t* sent, void* out,
                 const size_t* received, const weft_type* type)
WEFT_COLLECTIVE_(neighbor_allgather, weft_grid* grid, const void* in, void* out, size_t count, const weft_type* type)
WEFT_COLLECTIVE_(neighbor_allgatherv, weft_grid* grid, const void* in, size_t count, void* out, const size_t* received,
                 const weft_type* type)
#undef WEFT_COLLECTIVE_

enum weft_corners { WEFT_CORNERS_NONE, WEFT_CORNERS_BY_DIMENSION, WEFT_CORNERS_DIRECTLY };
typedef struct weft_halo weft_halo;
/** Exchanges the ghosts of an array of as many dimensions as the grid, row by row: in each `interior` elements, and
 * `width` ghosts at both ends. Every rank makes it in the same order as its plans. Types lie in one piece. It is
 * freed before the array. */
WEFT_API int weft_halo_create(weft_grid* grid, void* array, const weft_type* type, const size_t* interior, size_t width,
                              enum weft_corners corners, weft_halo** halo);
/** Begins: the interior may be changed then. Then wait, or test until it is done; exchange does both. */
WEFT_API int weft_halo_start(weft_halo* halo);
WEFT_API int weft_halo_test(weft_halo* halo, int* done);
WEFT_API int weft_halo_wait(weft_halo* halo);
WEFT_API int weft_halo_exchange(weft_halo* halo);
WEFT_API void weft_halo_free(weft_halo* halo);

/* ---- Windows (<weft/window.hpp>) ---- */

typedef struct weft_window weft_window;
/** Collective. `count` elements of this rank's own, cleared; `slots` counters of notified puts. */
WEFT_API int weft_window_create(weft_comm* comm, size_t count, const weft_type* type, size_t slots,
                                  weft_window** window);
/** Collective, blocking. Frees it, whatever it returns. */
WEFT_API int weft_window_free(weft_window* window);
WEFT_API void* weft_window_local(const weft_window* window);
WEFT_API size_t weft_window_slots(const weft_window* window);
/** Elements of that rank. */
WEFT_API int weft_window_count(const weft_window* window, int rank, size_t* count);
/** Whether this rank uses that rank's memory by loads and stores; else by messages. */
WEFT_API int weft_window_shares(const weft_window* window, int rank, int* shares);
WEFT_API int weft_put(weft_window* window, int rank, size_t offset, const void* data, size_t count);
WEFT_API int weft_get(weft_window* window, int rank, size_t offset, void* into, size_t count);
WEFT_API int weft_put_notify(weft_window* window, int rank, size_t offset, const void* data, size_t count,
                               size_t slot);
WEFT_API int weft_wait_notified(weft_window* window, size_t slot, uint32_t count);
/** Each element in one step. Of integers, bool, float and double, by the built-in operators that they have, and
 * WEFT_REPLACE. `before` gets what was there. */
WEFT_API int weft_accumulate(weft_window* window, int rank, size_t offset, const void* data, size_t count,
                               const weft_op* op);
WEFT_API int weft_fetch_and_op(weft_window* window, int rank, size_t offset, const void* value, void* before,
                                 const weft_op* op);
WEFT_API int weft_compare_and_swap(weft_window* window, int rank, size_t offset, const void* expected,
                                     const void* desired, void* before);
WEFT_API int weft_flush(weft_window* window, int rank);
WEFT_API int weft_flush_all(weft_window* window);
WEFT_API int weft_fence(weft_window* window);
WEFT_API int weft_lock(weft_window* window, int rank, int exclusive);
WEFT_API int weft_unlock(weft_window* window, int rank, int exclusive);
WEFT_API int weft_lock_all(weft_window* window);
WEFT_API int weft_unlock_all(weft_window* window);

/* ---- Locks for the ranks of a process ---- */

typedef struct weft_mutex weft_mutex;
WEFT_API int weft_mutex_create(weft_runtime* runtime, weft_mutex** mutex);
WEFT_API int weft_mutex_lock(weft_mutex* mutex);
WEFT_API int weft_mutex_try_lock(weft_mutex* mutex, int* locked);
WEFT_API void weft_mutex_unlock(weft_mutex* mutex);
WEFT_API void weft_mutex_free(weft_mutex* mutex);
/** As condition variables, with a weft_mutex that the caller holds. */
typedef struct weft_condition weft_condition;
WEFT_API int weft_condition_create(weft_runtime* runtime, weft_condition** condition);
WEFT_API int weft_condition_wait(weft_condition* condition, weft_mutex* mutex);
WEFT_API int weft_condition_wait_for(weft_condition* condition, weft_mutex* mutex, double seconds, int* notified);
WEFT_API void weft_condition_notify_one(weft_condition* condition);
WEFT_API void weft_condition_notify_all(weft_condition* condition);
WEFT_API void weft_condition_free(weft_condition* condition);

#ifdef __cplusplus
}
#endif

#endif
