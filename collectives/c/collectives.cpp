// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "handles.hpp"

namespace weft::c {
namespace {

std::size_t ranks_of(const weft_comm* comm) { return static_cast<std::size_t>(of(comm).size()); }
bool is_root(const weft_comm* comm, int root) { return of(comm).rank() == root; }

block_counts list_of(const weft_comm* comm, const size_t* given, const char* what) {
  return {&at(given, what), ranks_of(comm)};
}

block_layout blocks(const weft_comm* comm, const size_t* counts, const size_t* places) {
  const block_counts of_each = list_of(comm, counts, "counts");
  return places == nullptr ? block_layout(of_each) : block_layout(of_each, list_of(comm, places, "places"));
}

/// Elements of the buffer that they lie in.
std::size_t all_of(const weft_comm* comm, const size_t* counts, const size_t* places) {
  const block_counts of_each = list_of(comm, counts, "counts");
  if (places == nullptr) return std::reduce(of_each.begin(), of_each.end());
  std::size_t end = 0;
  for (std::size_t r = 0; r < of_each.size(); ++r) end = std::max(end, places[r] + of_each[r]);
  return end;
}

rooted_layout blocks_at(const weft_comm* comm, int root, const size_t* counts, const size_t* places) {
  return is_root(comm, root) ? counts_at_root(blocks(comm, counts, places)) : counts_at_root();
}
std::size_t all_at(const weft_comm* comm, int root, const size_t* counts, const size_t* places) {
  return is_root(comm, root) ? all_of(comm, counts, places) : 0;
}

}  // namespace
}  // namespace weft::c

using namespace weft::c;

// A collective in its three forms: `call` are the arguments of communicator::name.
#define COLLECTIVE(c_name, name, call, ...)                       \
  int weft_##c_name(__VA_ARGS__) {                                \
    return guarded([&] { of(comm).name call; });                  \
  }                                                               \
  int weft_i##c_name(__VA_ARGS__, weft_request** request) {       \
    return give(request, [&] { return of(comm).i##name call; });  \
  }                                                               \
  int weft_plan_##c_name(__VA_ARGS__, weft_plan** plan) {         \
    return give(plan, [&] { return of(comm).plan_##name call; }); \
  }

COLLECTIVE(barrier, barrier, (), weft_comm* comm)
COLLECTIVE(bcast, bcast, (writing(data, count, type), root), weft_comm* comm, void* data, size_t count,
           const weft_type* type, int root)
COLLECTIVE(reduce, reduce,
           (reading(in, count, type), writing(out, is_root(comm, root) ? count : 0, type), of(op), root),
           weft_comm* comm, const void* in, void* out, size_t count, const weft_type* type, const weft_op* op, int root)
COLLECTIVE(allreduce, allreduce, (reading(in, count, type), writing(out, count, type), of(op)), weft_comm* comm,
           const void* in, void* out, size_t count, const weft_type* type, const weft_op* op)
COLLECTIVE(reduce_scatter, reduce_scatter,
           (reading(in, count* ranks_of(comm), type), writing(out, count, type), of(op)), weft_comm* comm,
           const void* in, void* out, size_t count, const weft_type* type, const weft_op* op)
COLLECTIVE(reduce_scatterv, reduce_scatter,
           (reading(in, all_of(comm, counts, nullptr), type),
            writing(out, counts[static_cast<std::size_t>(of(comm).rank())], type), of(op),
            list_of(comm, counts, "counts")),
           weft_comm* comm, const void* in, void* out, const size_t* counts, const weft_type* type, const weft_op* op)
COLLECTIVE(scan, scan, (reading(in, count, type), writing(out, count, type), of(op)), weft_comm* comm, const void* in,
           void* out, size_t count, const weft_type* type, const weft_op* op)
COLLECTIVE(exscan, exscan, (reading(in, count, type), writing(out, out != nullptr ? count : 0, type), of(op)),
           weft_comm* comm, const void* in, void* out, size_t count, const weft_type* type, const weft_op* op)
COLLECTIVE(allgather, allgather, (reading(in, count, type), writing(out, count* ranks_of(comm), type)), weft_comm* comm,
           const void* in, void* out, size_t count, const weft_type* type)
COLLECTIVE(gather, gather,
           (reading(in, count, type), writing(out, is_root(comm, root) ? count* ranks_of(comm) : 0, type), root),
           weft_comm* comm, const void* in, void* out, size_t count, const weft_type* type, int root)
COLLECTIVE(scatter, scatter,
           (reading(in, is_root(comm, root) ? count* ranks_of(comm) : 0, type), writing(out, count, type), root),
           weft_comm* comm, const void* in, void* out, size_t count, const weft_type* type, int root)
COLLECTIVE(alltoall, alltoall, (reading(in, count* ranks_of(comm), type), writing(out, count* ranks_of(comm), type)),
           weft_comm* comm, const void* in, void* out, size_t count, const weft_type* type)
COLLECTIVE(allgatherv, allgather,
           (reading(in, count, type), writing(out, all_of(comm, counts, places), type), blocks(comm, counts, places)),
           weft_comm* comm, const void* in, size_t count, void* out, const size_t* counts, const size_t* places,
           const weft_type* type)
COLLECTIVE(gatherv, gather,
           (reading(in, count, type), writing(out, all_at(comm, root, counts, places), type),
            blocks_at(comm, root, counts, places), root),
           weft_comm* comm, const void* in, size_t count, void* out, const size_t* counts, const size_t* places,
           const weft_type* type, int root)
COLLECTIVE(scatterv, scatter,
           (reading(in, all_at(comm, root, counts, places), type), writing(out, count, type),
            blocks_at(comm, root, counts, places), root),
           weft_comm* comm, const void* in, const size_t* counts, const size_t* places, void* out, size_t count,
           const weft_type* type, int root)
COLLECTIVE(alltoallv, alltoall,
           (reading(in, all_of(comm, sent, sent_places), type),
            writing(out, all_of(comm, received, received_places), type), blocks(comm, sent, sent_places),
            blocks(comm, received, received_places)),
           weft_comm* comm, const void* in, const size_t* sent, const size_t* sent_places, void* out,
           const size_t* received, const size_t* received_places, const weft_type* type)
