/* SPDX-License-Identifier: Apache-2.0
 * Every function of weft.h, tried by a job of at least two ranks: prints what is wrong, and fails. With "ranks" each
 * process hosts several, on fibers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

#include <weft/version.hpp>

static int failures = 0;
static weft_runtime* runtime;

#define EXPECT(what)                                                              \
  do {                                                                            \
    if (!(what)) {                                                                \
      ++failures;                                                                 \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #what, weft_error_text()); \
    }                                                                             \
  } while (0)
#define OK(call) EXPECT((call) == WEFT_OK)
#define FAILS(code, call) EXPECT((call) == (code))

struct pair {
  int32_t name;
  double value;
};

static int hypot_of(const void* in, void* inout, size_t count, void* context) {
  const double* a = in;
  double* b = inout;
  ++*(int*)context;
  for (size_t i = 0; i < count; ++i) b[i] = a[i] * a[i] + b[i];
  return 0;
}
static int refuses(const void* in, void* inout, size_t count, void* context) {
  (void)in, (void)inout, (void)count, (void)context;
  return 7;
}

static void try_messages(weft_comm* comm) {
  const int rank = weft_rank(comm), size = weft_size(comm), next = (rank + 1) % size, last = (rank + size - 1) % size;
  int mine = rank, got = -1;
  weft_status status;
  weft_request* request = NULL;
  OK(weft_irecv(comm, &got, 1, WEFT_INT, last, 5, &request));
  OK(weft_send(comm, &mine, 1, WEFT_INT, next, 5));
  OK(weft_wait(&request, &status));
  EXPECT(request == NULL && got == last && status.source == last && status.tag == 5 && status.bytes == sizeof got);
  OK(weft_sendrecv(comm, &mine, 1, WEFT_INT, next, 6, &got, 1, WEFT_INT, last, 6, NULL));
  EXPECT(got == last);

  weft_request* several[4] = {NULL};
  int others[2] = {-1, -1};
  OK(weft_irecv(comm, &others[0], 1, WEFT_INT, last, 7, &several[0]));
  OK(weft_irecv(comm, &others[1], 1, WEFT_INT, last, 8, &several[2]));
  OK(weft_issend(comm, &mine, 1, WEFT_INT, next, 8, &several[3]));
  int found = 1;
  size_t index = 0, done = 0, indices[4];
  OK(weft_isend(comm, &mine, 1, WEFT_INT, next, 7, &request));
  OK(weft_wait_any(4, several, &index));
  EXPECT(index == 0 || index == 2 || index == 3);
  OK(weft_wait_some(4, several, &done, indices));
  EXPECT(done >= 1 && done <= 3);
  OK(weft_wait_all(4, several));
  EXPECT(several[0] == NULL && several[2] == NULL && others[0] == last && others[1] == last);
  OK(weft_wait_any(4, several, &index));
  EXPECT(index == 4);
  OK(weft_test_any(4, several, &found, &index));
  EXPECT(found == 0);
  OK(weft_wait(&request, NULL));
  OK(weft_test(&request, &found, NULL));
  EXPECT(found == 1);

  OK(weft_irecv(comm, &got, 1, WEFT_INT, last, 9, &request));
  OK(weft_wait_for(&request, 0.001, &found, NULL));
  EXPECT(!found && request != NULL);
  OK(weft_cancel(&request, &found));
  EXPECT(found && request == NULL);
  FAILS(WEFT_INVALID_ARGUMENT, weft_wait_for(&request, NAN, &found, NULL));
  OK(weft_wait(&request, &status)); /* NULL is done */
  EXPECT(status.source == WEFT_ANY_SOURCE && status.tag == WEFT_ANY_TAG && status.bytes == 0);
  FAILS(WEFT_INVALID_TAG, weft_send(comm, &mine, 1, WEFT_INT, next, WEFT_LARGEST_TAG + 1));

  /* What fails is over, too, when that is seen by a test. */
  long too_long[2] = {0};
  weft_request* sent = NULL;
  OK(weft_irecv(comm, &got, 1, WEFT_INT, last, 16, &request));
  OK(weft_isend(comm, too_long, 2, WEFT_LONG, next, 16, &sent));
  int result = WEFT_OK;
  for (found = 0; result == WEFT_OK && !found;) result = weft_test(&request, &found, NULL);
  EXPECT(result == WEFT_TRUNCATED && request == NULL);
  result = weft_wait(&sent, NULL); /* fails likewise where it has asked */
  EXPECT(result == WEFT_OK || result == WEFT_TRUNCATED);

  OK(weft_isend(comm, &mine, 1, WEFT_INT, next, 10, &request));
  OK(weft_probe(comm, last, 10, &status));
  EXPECT(status.bytes == sizeof mine);
  OK(weft_iprobe(comm, last, 10, &found, NULL));
  EXPECT(found);
  weft_message* message = NULL;
  OK(weft_mprobe(comm, last, 10, &message, &status));
  weft_message* nobody = message;
  OK(weft_improbe(comm, last, 77, &nobody, NULL));
  EXPECT(nobody == NULL);
  OK(weft_message_recv(&message, &got, 1, WEFT_INT, NULL));
  EXPECT(message == NULL && got == last);
  OK(weft_wait(&request, NULL));
  OK(weft_irecv(comm, &got, 1, WEFT_INT, last, 12, &request));
  OK(weft_ssend(comm, &mine, 1, WEFT_INT, next, 12));
  OK(weft_wait(&request, NULL));
  OK(weft_isend(comm, &mine, 1, WEFT_INT, next, 11, &request));
  OK(weft_mprobe(comm, last, 11, &message, NULL));
  weft_request* receives_it = NULL;
  OK(weft_message_irecv(&message, &got, 1, WEFT_INT, &receives_it));
  EXPECT(message == NULL);
  OK(weft_wait(&receives_it, NULL));
  EXPECT(got == last);
  OK(weft_wait(&request, NULL));
  weft_message_free(NULL);

  weft_plan *sends = NULL, *receives = NULL;
  OK(weft_plan_send(comm, &mine, 1, WEFT_INT, next, 13, &sends));
  OK(weft_plan_recv(comm, &got, 1, WEFT_INT, last, 13, &receives));
  for (int time = 0; time < 3; ++time) {
    mine = rank + 100 * time;
    OK(weft_plan_start(receives));
    OK(weft_plan_start(sends));
    OK(weft_plan_wait(receives, &status));
    for (found = 0; !found;) OK(weft_plan_wait_for(sends, 1, &found));
    EXPECT(got == last + 100 * time && status.bytes == sizeof got);
  }
  weft_plan_free(sends);
  weft_plan_free(receives);
  FAILS(WEFT_INVALID_ARGUMENT, weft_plan_start(NULL));

  /* Types in pieces. */
  struct pair pairs[3] = {{1, 0.5 + rank}, {2, 1.5}, {3, 2.5}}, read[3];
  weft_type *record = NULL, *wide = NULL, *bytes = NULL, *column = NULL;
  const ptrdiff_t offset = offsetof(struct pair, value);
  const weft_type* const of = WEFT_DOUBLE;
  const size_t one = 1;
  OK(weft_type_record(1, &offset, &of, &one, sizeof(struct pair), &record));
  OK(weft_type_repeated(WEFT_DOUBLE, 3, 2 * sizeof(double), &wide));
  OK(weft_type_resized(wide, sizeof(double), &column));
  OK(weft_type_opaque(24, &bytes));
  EXPECT(weft_type_bytes(record) == 8 && weft_type_extent(record) == sizeof(struct pair));
  EXPECT(weft_type_bytes(wide) == 24 && weft_type_extent(wide) == 40 && weft_type_extent(column) == 8);
  memset(read, 0, sizeof read);
  OK(weft_sendrecv(comm, pairs, 3, record, next, 14, read, 3, record, last, 14, &status));
  EXPECT(status.bytes == 24 && read[0].value == 0.5 + last && read[2].value == 2.5 && read[1].name == 0);
  double spread[6] = {0};
  OK(weft_sendrecv(comm, pairs, 3, record, next, 15, spread, 1, wide, last, 15, NULL));
  EXPECT(spread[0] == 0.5 + last && spread[2] == 1.5 && spread[4] == 2.5 && spread[1] == 0);
  double packed[3];
  weft_type_pack(wide, packed, spread, 1);
  EXPECT(packed[2] == 2.5);
  packed[2] = 9;
  weft_type_unpack(wide, spread, packed, 1);
  EXPECT(spread[4] == 9 && spread[5] == 0);
  FAILS(WEFT_INVALID_ARGUMENT, weft_type_resized(wide, 0, &bytes));
  weft_type_free(record);
  weft_type_free(wide);
  weft_type_free(column);
  weft_type_free(bytes);
  weft_type_free(NULL);
}

static void try_collectives(weft_comm* comm) {
  const int rank = weft_rank(comm), size = weft_size(comm), root = size - 1;
  const size_t ranks = (size_t)size;
  double *in = malloc(ranks * 2 * sizeof *in), *out = malloc(ranks * 2 * sizeof *out);
  weft_request* request = NULL;
  weft_plan* plan = NULL;
  const double sum = size * (size + 1) / 2.0;
  OK(weft_barrier(comm));
  OK(weft_ibarrier(comm, &request));
  OK(weft_wait(&request, NULL));
  OK(weft_plan_barrier(comm, &plan));
  OK(weft_plan_start(plan));
  OK(weft_plan_wait(plan, NULL));
  weft_plan_free(plan);

  in[0] = rank + 1;
  OK(weft_allreduce(comm, in, out, 1, WEFT_DOUBLE, WEFT_SUM));
  EXPECT(out[0] == sum);
  OK(weft_iallreduce(comm, in, out, 1, WEFT_DOUBLE, WEFT_REPRODUCIBLE_SUM, &request));
  OK(weft_wait(&request, NULL));
  EXPECT(out[0] == sum);
  OK(weft_plan_allreduce(comm, in, out, 1, WEFT_DOUBLE, WEFT_MAX, &plan));
  for (int time = 0; time < 3; ++time) {
    in[0] = rank + time;
    OK(weft_plan_start(plan));
    OK(weft_plan_wait(plan, NULL));
    EXPECT(out[0] == size - 1 + time);
  }
  weft_plan_free(plan);
  int calls = 0;
  weft_op* hypot = NULL;
  OK(weft_op_create(hypot_of, &calls, 1, &hypot));
  in[0] = 2;
  OK(weft_reduce(comm, in, out, 1, WEFT_DOUBLE, hypot, root));
  EXPECT(rank != root || out[0] > 2);
  weft_op_free(hypot);
  FAILS(WEFT_INVALID_OPERATOR, weft_allreduce(comm, in, out, 1, WEFT_DOUBLE, WEFT_BIT_AND));
  EXPECT(strstr(weft_error_text(), "bit_and") != NULL);
  FAILS(WEFT_INVALID_OPERATOR, weft_allreduce(comm, in, out, 1, WEFT_DOUBLE, WEFT_REPLACE));
  FAILS(WEFT_INVALID_ARGUMENT, weft_allreduce(comm, in, out, 1, NULL, WEFT_SUM));
  EXPECT(strcmp(weft_error_text(), "type is NULL") == 0);

  in[0] = rank == root ? 42 : 0;
  OK(weft_bcast(comm, in, 1, WEFT_DOUBLE, root));
  EXPECT(in[0] == 42);
  in[0] = rank;
  OK(weft_scan(comm, in, out, 1, WEFT_DOUBLE, WEFT_SUM));
  EXPECT(out[0] == rank * (rank + 1) / 2.0);
  out[0] = -1;
  OK(weft_exscan(comm, in, out, 1, WEFT_DOUBLE, WEFT_SUM));
  EXPECT(out[0] == (rank == 0 ? -1 : rank * (rank - 1) / 2.0));
  OK(weft_allgather(comm, in, out, 1, WEFT_DOUBLE));
  for (int r = 0; r < size; ++r) EXPECT(out[r] == r);
  OK(weft_gather(comm, in, rank == root ? out : NULL, 1, WEFT_DOUBLE, root));
  for (int r = 0; r < size; ++r) EXPECT(out[r] == r);
  for (int r = 0; r < size; ++r) out[r] = 10 * r;
  OK(weft_scatter(comm, rank == root ? out : NULL, in, 1, WEFT_DOUBLE, root));
  EXPECT(in[0] == 10 * rank);
  for (int r = 0; r < size; ++r) in[r] = 100 * rank + r;
  OK(weft_alltoall(comm, in, out, 1, WEFT_DOUBLE));
  for (int r = 0; r < size; ++r) EXPECT(out[r] == 100 * r + rank);
  for (int r = 0; r < size; ++r) in[r] = r;
  OK(weft_reduce_scatter(comm, in, out, 1, WEFT_DOUBLE, WEFT_SUM));
  EXPECT(out[0] == (double)rank * size);

  size_t *counts = malloc(ranks * sizeof *counts), *places = malloc(ranks * sizeof *places);
  for (size_t r = 0; r < ranks; ++r) counts[r] = r % 2, places[r] = 2 * r;
  in[0] = rank;
  out[0] = -1;
  OK(weft_allgatherv(comm, in, counts[rank], out, counts, NULL, WEFT_DOUBLE));
  for (int r = 1, at = 0; r < size; r += 2) EXPECT(out[at++] == r);
  OK(weft_gatherv(comm, in, counts[rank], out, rank == root ? counts : NULL, rank == root ? places : NULL, WEFT_DOUBLE,
                  root));
  for (int r = 1; r < size && rank == root; r += 2) EXPECT(out[2 * r] == r);
  for (size_t r = 0; r < 2 * ranks; ++r) out[r] = (double)r;
  in[0] = -5;
  OK(weft_scatterv(comm, out, rank == root ? counts : NULL, rank == root ? places : NULL, in, counts[rank], WEFT_DOUBLE,
                   root));
  EXPECT(in[0] == (rank % 2 == 1 ? 2 * rank : -5));
  for (size_t r = 0; r < ranks; ++r) counts[r] = 1, in[2 * r] = 100 * rank + (double)r;
  OK(weft_alltoallv(comm, in, counts, places, out, counts, NULL, WEFT_DOUBLE));
  for (int r = 0; r < size; ++r) EXPECT(out[r] == 100 * r + rank);
  for (size_t r = 0; r < ranks; ++r) in[r] = (double)r;
  OK(weft_reduce_scatterv(comm, in, out, counts, WEFT_DOUBLE, WEFT_SUM));
  EXPECT(out[0] == (double)rank * size);
  free(counts);
  free(places);
  free(in);
  free(out);
}

static void try_communicators(weft_comm* comm) {
  const int rank = weft_rank(comm), size = weft_size(comm);
  weft_comm *half = NULL, *copy = NULL, *self = NULL, *first = NULL, *node = NULL, *numa = NULL;
  OK(weft_split(comm, rank % 2 == 0 ? 0 : -1, -rank, &half));
  EXPECT((half != NULL) == (rank % 2 == 0));
  if (half != NULL) EXPECT(weft_members(half)[weft_rank(half)] == weft_members(comm)[rank]);
  if (half != NULL) EXPECT(weft_rank(half) == weft_size(half) - 1 - rank / 2);
  weft_comm_free(half);
  OK(weft_dup(comm, &copy));
  EXPECT(weft_size(copy) == size && weft_rank(copy) == rank);
  OK(weft_alone(comm, &self));
  EXPECT(weft_size(self) == 1);
  const int ranks[] = {1, 0};
  OK(weft_subset(copy, ranks, 2, &first));
  EXPECT((first != NULL) == (rank < 2) && (first == NULL || weft_rank(first) == 1 - rank));
  weft_comm_free(first);
  first = NULL;
  if (rank < 2) OK(weft_create(copy, ranks, 2, 3, &first));
  if (rank < 2) EXPECT(weft_rank(first) == 1 - rank);
  weft_comm_free(first);
  OK(weft_split_by_node(comm, 0, &node));
  OK(weft_split_by_numa(comm, 0, &numa));
  EXPECT(weft_size(node) >= 1 && weft_size(numa) >= 1);
  weft_pending_comm* pending = NULL;
  OK(weft_isplit(comm, 0, 0, &pending));
  weft_comm *made = NULL, *again = NULL;
  OK(weft_pending_comm_wait(&pending, &made));
  EXPECT(pending == NULL && weft_size(made) == size);
  OK(weft_idup(made, &pending));
  for (int done = 0; !done;) OK(weft_pending_comm_test(pending, &done));
  OK(weft_pending_comm_wait(&pending, &again));
  EXPECT(weft_rank(again) == rank);
  OK(weft_idup(made, &pending));
  weft_pending_comm_free(pending);

  int agreed = 0;
  size_t missing = 9;
  OK(weft_agree(again, rank == 0 ? 3 : 6, &agreed, NULL, 0, &missing));
  EXPECT(agreed == 2 && missing == 0);
  OK(weft_failed(again, NULL, 0, &missing));
  EXPECT(missing == 0 && !weft_is_replacement(again));
  FAILS(WEFT_INVALID_ARGUMENT, weft_failed(NULL, NULL, 0, &missing));
  weft_comm *left = NULL, *grown = NULL;
  OK(weft_shrink(again, &left));
  OK(weft_grow(again, &grown));
  EXPECT(weft_size(left) == size && weft_size(grown) == size);
  /* An operator that refuses: its rank hears that, and those that depend on it. */
  weft_op* bad = NULL;
  double in = 1, out = 0;
  OK(weft_op_create(refuses, NULL, 0, &bad));
  const int result = weft_allreduce(left, &in, &out, 1, WEFT_DOUBLE, bad);
  EXPECT(result == WEFT_CALLBACK || result == WEFT_OPERATION_FAILED);
  EXPECT(strstr(weft_error_text(), "returned 7") != NULL);
  weft_op_free(bad);
  OK(weft_barrier(comm)); /* the others have heard of it, too */
  OK(weft_revoke(again));
  FAILS(WEFT_REVOKED, weft_barrier(again));
  OK(weft_abort(left));
  FAILS(WEFT_REVOKED, weft_barrier(left));
  OK(weft_barrier(comm));
  weft_comm* const all[] = {copy, self, node, numa, made, again, left, grown};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) weft_comm_free(all[i]);
}

static void try_windows(weft_comm* comm) {
  const int rank = weft_rank(comm), size = weft_size(comm), next = (rank + 1) % size, last = (rank + size - 1) % size;
  weft_window *numbers = NULL, *blobs = NULL;
  OK(weft_window_create(comm, 4, WEFT_INT64, 2, &numbers));
  int64_t* const mine = weft_window_local(numbers);
  EXPECT(mine[0] == 0);
  OK(weft_fence(numbers));
  size_t count = 0;
  OK(weft_window_count(numbers, next, &count));
  EXPECT(count == 4);
  const int64_t value = 10 + rank;
  OK(weft_put_notify(numbers, next, 0, &value, 1, 1));
  OK(weft_wait_notified(numbers, 1, 1));
  EXPECT(mine[0] == 10 + last);
  OK(weft_fence(numbers));
  const int64_t one = 1;
  int64_t before = -1, read = -1;
  OK(weft_accumulate(numbers, 0, 1, &one, 1, WEFT_SUM));
  OK(weft_fetch_and_op(numbers, 0, 2, &one, &before, WEFT_SUM));
  EXPECT(before >= 0 && before < size);
  OK(weft_flush_all(numbers));
  OK(weft_fence(numbers));
  OK(weft_get(numbers, 0, 1, &read, 1));
  OK(weft_flush(numbers, 0));
  EXPECT(read == size);
  OK(weft_fence(numbers));
  int64_t nothing = 0, mark = 100 + rank;
  OK(weft_compare_and_swap(numbers, 0, 3, &nothing, &mark, &before));
  OK(weft_fence(numbers));
  if (rank == 0) EXPECT(mine[3] >= 100 && mine[3] < 100 + size);
  OK(weft_lock(numbers, 0, 1));
  OK(weft_put(numbers, 0, 0, &value, 1));
  OK(weft_unlock(numbers, 0, 1));
  OK(weft_lock_all(numbers));
  OK(weft_unlock_all(numbers));
  FAILS(WEFT_INVALID_COUNT, weft_put(numbers, next, 4, &value, 1));
  FAILS(WEFT_INVALID_RANK, weft_put(numbers, size, 0, &value, 1));
  FAILS(WEFT_INVALID_BUFFER, weft_put(numbers, next, 0, NULL, 1));
  FAILS(WEFT_INVALID_BUFFER, weft_put_notify(numbers, next, 0, NULL, 1, 0));
  FAILS(WEFT_INVALID_BUFFER, weft_get(numbers, next, 0, NULL, 1));
  FAILS(WEFT_INVALID_BUFFER, weft_accumulate(numbers, next, 0, NULL, 1, WEFT_SUM));
  FAILS(WEFT_INVALID_BUFFER, weft_fetch_and_op(numbers, next, 0, NULL, &before, WEFT_SUM));
  FAILS(WEFT_INVALID_BUFFER, weft_fetch_and_op(numbers, next, 0, &one, NULL, WEFT_SUM));
  FAILS(WEFT_INVALID_BUFFER, weft_compare_and_swap(numbers, next, 0, &one, &one, NULL));
  OK(weft_put(numbers, next, 4, NULL, 0));
  int shares = 0;
  OK(weft_window_shares(numbers, rank, &shares));
  EXPECT(shares == 1 && weft_window_slots(numbers) == 2 && weft_window_slots(NULL) == 0);
  EXPECT(weft_window_local(NULL) == NULL);
  OK(weft_window_free(numbers));

  weft_type* blob = NULL;
  OK(weft_type_opaque(3, &blob));
  OK(weft_window_create(comm, 2, blob, 1, &blobs));
  OK(weft_put(blobs, next, 1, "abc", 1));
  OK(weft_fence(blobs));
  EXPECT(memcmp((char*)weft_window_local(blobs) + 3, "abc", 3) == 0);
  OK(weft_window_count(blobs, 0, &count));
  EXPECT(count == 2);
  FAILS(WEFT_INVALID_ARGUMENT, weft_accumulate(blobs, next, 0, "abc", 1, WEFT_SUM));
  OK(weft_window_free(blobs));
  weft_type_free(blob);

  /* More bytes than a size_t counts. */
  OK(weft_type_opaque(16, &blob));
  FAILS(WEFT_OPERATION_FAILED, weft_window_create(comm, (size_t)1 << 60, blob, 1, &blobs));
  OK(weft_window_create(comm, 2, blob, 1, &blobs));
  FAILS(WEFT_INVALID_COUNT, weft_put(blobs, next, 0, "", (size_t)1 << 60));
  FAILS(WEFT_INVALID_COUNT, weft_put(blobs, next, (size_t)1 << 60, "", 1));
  OK(weft_window_free(blobs));
  weft_type_free(blob);
}

static void try_grids(weft_comm* comm) {
  const int rank = weft_rank(comm), size = weft_size(comm), next = (rank + 1) % size, last = (rank + size - 1) % size;
  const int goes_round[] = {1, 0}, extents[] = {0, 1}, kept[] = {0, 1};
  weft_grid *ring = NULL, *alone = NULL;
  OK(weft_grid_create(comm, 2, extents, goes_round, 1, &ring));
  OK(weft_grid_create(comm, 2, extents, goes_round, 0, &alone));
  weft_grid_free(ring);
  ring = alone;
  EXPECT(weft_grid_dimensions(ring) == 2 && weft_grid_extents(ring)[0] == size &&
         weft_size(weft_grid_comm(ring)) == size);
  OK(weft_barrier(weft_grid_comm(ring)));
  int at[2] = {-1, -1}, who = -1, from = -1, to = -1, neighbors[4];
  OK(weft_grid_coordinates(ring, next, at));
  EXPECT(at[0] == next && at[1] == 0);
  OK(weft_grid_rank_at(ring, at, &who));
  EXPECT(who == next);
  at[1] = 1;
  OK(weft_grid_rank_at(ring, at, &who));
  EXPECT(who == -1);
  OK(weft_grid_shift(ring, 0, 1, &from, &to));
  EXPECT(from == last && to == next);
  OK(weft_grid_neighbors(ring, neighbors));
  EXPECT(neighbors[0] == last && neighbors[1] == next && neighbors[2] == -1 && neighbors[3] == -1);
  OK(weft_grid_keep(ring, kept, &alone));
  EXPECT(weft_size(weft_grid_comm(alone)) == 1);
  weft_grid_free(alone);
  FAILS(WEFT_INVALID_COUNT, weft_grid_create(comm, 1, (int[]){size + 1}, NULL, 0, &alone));
  EXPECT(weft_grid_comm(NULL) == NULL && weft_grid_extents(NULL) == NULL && weft_grid_dimensions(NULL) == 0);

  double in[4] = {10 * rank, 10 * rank + 1, -1, -1}, out[4] = {0, 0, -5, -5};
  weft_request* request = NULL;
  weft_plan* plan = NULL;
  OK(weft_neighbor_alltoall(ring, in, out, 1, WEFT_DOUBLE));
  EXPECT(out[0] == 10 * last + 1 && out[1] == 10 * next && out[2] == -5 && out[3] == -5);
  OK(weft_ineighbor_allgather(ring, in, out, 1, WEFT_DOUBLE, &request));
  OK(weft_wait(&request, NULL));
  EXPECT(out[0] == 10 * last && out[1] == 10 * next && out[2] == -5);
  const size_t sent[] = {1, 2, 0, 0}, received[] = {2, 1, 0, 0}, one_of_each[] = {1, 1, 0, 0};
  OK(weft_neighbor_alltoallv(ring, in, sent, out, received, WEFT_DOUBLE));
  EXPECT(out[0] == 10 * last + 1 && out[1] == -1 && out[2] == 10 * next);
  OK(weft_plan_neighbor_allgatherv(ring, in, 1, out, one_of_each, WEFT_DOUBLE, &plan));
  for (int time = 0; time < 2; ++time) {
    in[0] = rank + 100 * time;
    OK(weft_plan_start(plan));
    OK(weft_plan_wait(plan, NULL));
    EXPECT(out[0] == last + 100 * time && out[1] == next + 100 * time);
  }
  weft_plan_free(plan);

  int32_t field[4][3] = {{0}};
  const size_t interior[] = {2, 1};
  weft_halo* halo = NULL;
  for (int i = 1; i <= 2; ++i) field[i][1] = 10 * rank + i;
  OK(weft_halo_create(ring, field, WEFT_INT32, interior, 1, WEFT_CORNERS_NONE, &halo));
  OK(weft_halo_exchange(halo));
  EXPECT(field[0][1] == 10 * last + 2 && field[3][1] == 10 * next + 1 && field[1][0] == 0);
  OK(weft_halo_start(halo));
  FAILS(WEFT_INVALID_ARGUMENT, weft_halo_start(halo));
  OK(weft_halo_wait(halo));
  OK(weft_halo_start(halo));
  for (int done = 0; !done;) OK(weft_halo_test(halo, &done));
  weft_halo_free(halo);
  FAILS(WEFT_INVALID_ARGUMENT, weft_halo_wait(NULL));
  FAILS(WEFT_INVALID_ARGUMENT, weft_halo_create(ring, NULL, WEFT_INT32, interior, 1, WEFT_CORNERS_NONE, &halo));
  FAILS(WEFT_INVALID_COUNT,
        weft_halo_create(ring, field, WEFT_INT32, (size_t[]){SIZE_MAX / 2, 3}, 1, WEFT_CORNERS_DIRECTLY, &halo));
  weft_grid_free(ring);
}

static int answer(void* context) {
  *(int*)context = 42;
  return 0;
}
static int fails(void* context) {
  (void)context;
  return 3;
}

static void try_runtime(weft_comm* comm) {
  weft_comm* apart = NULL;
  OK(weft_alone(comm, &apart));
  weft_deadline* limit = NULL;
  int never;
  OK(weft_deadline_begin(0.02, &limit));
  FAILS(WEFT_TIMED_OUT, weft_recv(apart, &never, 1, WEFT_INT, 0, 99, NULL));
  weft_deadline_end(limit);
  int who = -1;
  EXPECT(weft_error_ranks(&who, 1) == 1 && who == 0);
  /* A request that was waited for is there still. Freed it is waited for, whatever deadline there is. */
  weft_comm_free(apart); /* which was aborted */
  OK(weft_alone(comm, &apart));
  weft_request* request = NULL;
  OK(weft_issend(apart, &who, 1, WEFT_INT, 0, 98, &request));
  OK(weft_deadline_begin(-1e300, &limit));
  FAILS(WEFT_TIMED_OUT, weft_wait(&request, NULL));
  EXPECT(request != NULL);
  weft_request* receives = NULL;
  OK(weft_irecv(apart, &never, 1, WEFT_INT, 0, 98, &receives));
  weft_request_free(request);
  weft_request_free(receives);
  weft_request_free(NULL);
  weft_deadline_end(limit);
  EXPECT(never == who);
  FAILS(WEFT_INVALID_ARGUMENT, weft_deadline_begin(NAN, &limit));
  weft_comm_free(apart);
  int got = 0;
  OK(weft_blocking(runtime, answer, &got));
  EXPECT(got == 42);
  FAILS(WEFT_CALLBACK, weft_blocking(runtime, fails, NULL));
  OK(weft_yield(runtime));
  OK(weft_sleep(runtime, 0.001));
  EXPECT(weft_array_data(NULL) == NULL && weft_type_bytes(NULL) == 0 && weft_type_extent(NULL) == 0);
  weft_type_pack(NULL, &got, &got, 1);
  weft_mutex_unlock(NULL);
  weft_condition_notify_all(NULL);
  weft_array* array = NULL;
  OK(weft_array_create(runtime, 4096, &array));
  char* const bytes = weft_array_data(array);
  EXPECT(bytes[0] == 0 && bytes[4095] == 0);
  weft_array_free(array);
  weft_mutex* mutex = NULL;
  weft_condition* condition = NULL;
  OK(weft_mutex_create(runtime, &mutex));
  OK(weft_condition_create(runtime, &condition));
  OK(weft_mutex_lock(mutex));
  OK(weft_mutex_try_lock(mutex, &got));
  EXPECT(!got);
  OK(weft_condition_wait_for(condition, mutex, 0.001, &got));
  EXPECT(!got);
  weft_condition_notify_one(condition);
  weft_condition_notify_all(condition);
  weft_mutex_unlock(mutex);
  weft_condition_free(condition);
  weft_mutex_free(mutex);
}

static int try_all(weft_comm* world, void* context) {
  (void)context;
  EXPECT(weft_size(world) >= 2);
  try_messages(world);
  try_collectives(world);
  try_communicators(world);
  try_windows(world);
  try_grids(world);
  try_runtime(world);
  OK(weft_barrier(world));
  return 0;
}

int main(int argc, char** argv) {
  EXPECT(weft_version() == WEFT_VERSION);
  EXPECT(strcmp(weft_result_name(WEFT_PEER_LOST), "peer lost") == 0);
  FAILS(WEFT_INVALID_ARGUMENT, weft_init(&argc, argv, NULL));
  if (weft_init(&argc, argv, &runtime) != WEFT_OK) {
    fprintf(stderr, "%s\n", weft_error_text());
    return 1;
  }
  const int hosts_several = argc > 1 && strcmp(argv[1], "ranks") == 0;
  weft_comm* world = NULL;
  if (hosts_several) {
    FAILS(WEFT_INVALID_ARGUMENT, weft_world(runtime, &world));
    OK(weft_run(runtime, try_all, NULL));
  } else {
    OK(weft_world(runtime, &world));
    try_all(world, NULL);
    weft_comm_free(world); /* which is the runtime's */
  }
  FAILS(WEFT_INVALID_ARGUMENT, weft_barrier(NULL));
  OK(weft_finalize(runtime));
  if (failures == 0) puts("all as it should be");
  return failures != 0;
}
