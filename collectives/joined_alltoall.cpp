#include "joined_alltoall.hpp"

namespace weft::detail {
namespace {

block_places places_of(const request& call, block_counts counts, std::size_t block) {
  return call.uneven ? block_places(counts, call.element_bytes) : block_places(block);
}

}  // namespace

joined_alltoall::joined_alltoall(meeting& here, const request& call, const request_shape& shape, std::size_t seat)
    : joined_work(here, call, shape.vector * call.element_bytes),
      block_(shape.block * call.element_bytes),
      sent_(places_of(call, call.counts, block_)),
      received_(places_of(call, call.received, block_)) {
  here.at(seat).sent = &sent_;
  here.at(seat).received = &received_;
}

std::optional<std::size_t> joined_alltoall::input_bytes() const {
  return call_.uneven ? std::nullopt : std::optional(bytes_);
}

void joined_alltoall::make(std::size_t bench, std::span<const std::byte* const> copies) {
  for (const std::size_t seat : here_.benches()[bench].seats)
    for (std::size_t from = 0; from < copies.size(); ++from)
      copy_bytes(here_.at(seat).output + from * block_, copies[from] + seat * block_, block_);
}

void joined_alltoall::begin() {
  if (takes()) here_.target = here_.scratch(2 * bytes_away());
}

void joined_alltoall::join(std::size_t bench) {
  for (const std::size_t seat : here_.benches()[bench].seats) alone() ? take_from_here(seat) : pack(seat);
}

void joined_alltoall::take_from_here(std::size_t seat) {
  const int to = here_.rank_at(seat);
  const block_places& places = *here_.at(seat).received;
  for (std::size_t i = 0; i < here_.size(); ++i) {
    const int from = here_.rank_at(i);
    copy_bytes(here_.outputs[seat] + places.begin(from), here_.inputs[i] + here_.at(i).sent->begin(to),
               places.bytes_of(from));
  }
}

void joined_alltoall::pack(std::size_t seat) {
  const std::size_t ranks = here_.size(), all = bytes_ / block_;
  std::byte* into = here_.target + seat * block_;
  for (std::size_t to = 0; to < all; ++to) {
    if (to == first()) to += ranks;
    if (to == all) return;
    copy_bytes(into, here_.inputs[seat] + to * block_, block_);
    into += ranks * block_;
  }
}

leader_call joined_alltoall::between() const {
  leader_call call = call_of(collective::alltoall);
  const leaders& all = here_.between();
  const std::size_t block = block_ / call_.element_bytes;
  for (int process = 0; process < all.size(); ++process) {
    const auto its = static_cast<std::size_t>(all.first_rank(process + 1) - all.first_rank(process));
    call.counts.push_back(process == all.here() ? 0 : here_.size() * its * block);
  }
  call.counts.insert(call.counts.end(), call.counts.begin(), call.counts.end());
  call.count = bytes_away() / call_.element_bytes;
  call.in = here_.target;
  call.out = here_.target + bytes_away();
  return call;
}

void joined_alltoall::take(std::size_t seat) {
  const leaders& all = here_.between();
  const std::byte* from = here_.target + bytes_away();
  for (int process = 0; process < all.size(); ++process) {
    if (process == all.here()) continue;
    const auto its = static_cast<std::size_t>(all.first_rank(process));
    const std::size_t bytes = (static_cast<std::size_t>(all.first_rank(process + 1)) - its) * block_;
    copy_bytes(here_.outputs[seat] + its * block_, from + seat * bytes, bytes);
    from += here_.size() * bytes;
  }
  take_from_here(seat);
}

}  // namespace weft::detail
