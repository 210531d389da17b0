// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "handles.hpp"

using namespace weft::c;

namespace {

/// Writes a new communicator, or null where there is none.
template <class Make>
int give_or_null(weft_comm** to, Make&& make) noexcept {
  return guarded([&] {
    weft_comm*& place = at(to, "the place of the communicator");
    std::optional<weft::communicator> made = make();
    place = made ? new weft_comm(std::move(*made)) : nullptr;
  });
}

template <class Make>
int give_comm(weft_comm** to, Make&& make) noexcept {
  return give_or_null(to, [&] { return std::optional(make()); });
}

void write_ranks(std::span<const int> found, int* ranks, size_t room, size_t* count) noexcept {
  if (ranks != nullptr) std::copy_n(found.begin(), std::min(room, found.size()), ranks);
  if (count != nullptr) *count = found.size();
}

std::span<const int> list_of(const int* ranks, size_t count) {
  if (count != 0) (void)at(ranks, "ranks");
  return {ranks, count};
}

}  // namespace

int weft_rank(const weft_comm* comm) { return comm != nullptr ? comm->it->rank() : -1; }
int weft_size(const weft_comm* comm) { return comm != nullptr ? comm->it->size() : 0; }
const int* weft_members(const weft_comm* comm) { return comm != nullptr ? comm->it->members().data() : nullptr; }

int weft_split(weft_comm* comm, int colour, int key, weft_comm** part) {
  return give_or_null(part, [&] { return of(comm).split(colour, key); });
}
int weft_split_by_node(weft_comm* comm, int key, weft_comm** part) {
  return give_comm(part, [&] { return of(comm).split_by_node(key); });
}
int weft_split_by_numa(weft_comm* comm, int key, weft_comm** part) {
  return give_comm(part, [&] { return of(comm).split_by_numa(key); });
}
int weft_subset(weft_comm* comm, const int* ranks, size_t count, weft_comm** part) {
  return give_or_null(part, [&] { return of(comm).subset(list_of(ranks, count)); });
}
int weft_create(weft_comm* comm, const int* ranks, size_t count, int64_t tag, weft_comm** made) {
  return give_comm(made, [&] { return of(comm).create(list_of(ranks, count), tag); });
}
int weft_dup(weft_comm* comm, weft_comm** made) {
  return give_comm(made, [&] { return of(comm).dup(); });
}
int weft_alone(weft_comm* comm, weft_comm** made) {
  return give_comm(made, [&] { return of(comm).alone(); });
}
void weft_comm_free(weft_comm* comm) {
  if (comm != nullptr && comm->own) delete comm;
}

int weft_isplit(weft_comm* comm, int colour, int key, weft_pending_comm** pending) {
  return give(pending, [&] { return of(comm).isplit(colour, key); });
}
int weft_idup(weft_comm* comm, weft_pending_comm** pending) {
  return give(pending, [&] { return of(comm).idup(); });
}
int weft_pending_comm_test(weft_pending_comm* pending, int* done) {
  return guarded([&] { at(done, "done") = at(pending, "pending").it.test(); });
}
int weft_pending_comm_wait(weft_pending_comm** pending, weft_comm** made) {
  const int result = give_or_null(made, [&] { return at(at(pending, "pending"), "pending").it.wait(); });
  if (pending != nullptr && *pending != nullptr && !(*pending)->it.valid()) delete std::exchange(*pending, nullptr);
  return result;
}
void weft_pending_comm_free(weft_pending_comm* pending) { delete pending; }

int weft_failed(weft_comm* comm, int* ranks, size_t room, size_t* count) {
  return guarded([&] { write_ranks(of(comm).failed(), ranks, room, count); });
}
int weft_revoke(weft_comm* comm) {
  return guarded([&] { of(comm).revoke(); });
}
int weft_abort(weft_comm* comm) {
  return guarded([&] { of(comm).abort(); });
}
int weft_agree(weft_comm* comm, int flag, int* agreed, int* missing, size_t room, size_t* count) {
  return guarded([&] {
    int& place = at(agreed, "agreed");
    const weft::agreed answer = of(comm).agree(flag);
    place = answer.flag;
    write_ranks(answer.missing, missing, room, count);
  });
}
int weft_shrink(weft_comm* comm, weft_comm** left) {
  return give_comm(left, [&] { return of(comm).shrink(); });
}
int weft_grow(weft_comm* comm, weft_comm** grown) {
  return give_comm(grown, [&] { return of(comm).grow(); });
}
int weft_is_replacement(const weft_comm* comm) { return comm != nullptr && comm->it->is_replacement(); }
