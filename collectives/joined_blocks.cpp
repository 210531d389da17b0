#include "joined_blocks.hpp"

#include <memory>

namespace weft::detail {

void joined_blocks::begin() {
  here_.places = call_.uneven ? &places_.emplace(call_.counts, call_.element_bytes)
                              : &places_.emplace(block_ * call_.element_bytes);
  if (call_.common_output != nullptr) share_output();
  here_.target = nullptr;
  if (direct() || here_.size() == 1 || bytes_ == 0) return;
  switch (call_.what) {
    case collective::reduce_scatter:
      here_.target = here_.scratch(bytes_);
      return;
    case collective::allgather:
      here_.target = here_.outputs[0] + first_byte();
      return;
    case collective::gather:
      if (root_is_here()) here_.target = here_.outputs[root_seat()] + first_byte();
      break;
    default:
      // There the blocks lie already, and nothing is written.
      if (root_is_here()) here_.target = const_cast<std::byte*>(here_.inputs[root_seat()]) + first_byte();
      break;
  }
  const std::size_t last = here_.size() - 1;
  if (!root_is_here()) here_.target = here_.scratch(offset_of(last) + bytes_of(last));
}

void joined_blocks::share_output() {
  const auto common = std::make_shared_for_overwrite<std::byte[]>(bytes_);
  for (std::size_t i = 0; i < here_.size(); ++i) {
    here_.at(i).common = common;
    here_.outputs[i] = common.get();
  }
}

bool joined_blocks::joins() const {
  return bytes_ != 0 && (direct() || (call_.what != collective::scatter && here_.target != nullptr));
}

std::optional<std::size_t> joined_blocks::input_bytes() const {
  if (call_.uneven || call_.common_output != nullptr) return std::nullopt;
  return has_input_blocks(call_.what) ? bytes_ : block_ * call_.element_bytes;
}

void joined_blocks::make(std::size_t bench, std::span<const std::byte* const> copies) {
  if (bytes_ == 0) return;
  if (call_.what == collective::gather) {
    if (here_.at(root_seat()).bench == bench) make_for(root_seat(), copies);
    return;
  }
  for (const std::size_t seat : here_.benches()[bench].seats) make_for(seat, copies);
}

void joined_blocks::make_for(std::size_t seat, std::span<const std::byte* const> copies) {
  std::byte* const out = here_.at(seat).output;
  const std::size_t bytes = block_ * call_.element_bytes;
  switch (call_.what) {
    case collective::reduce_scatter:
      return combine_inputs(array_operator(call_), copies, seat * block_, block_, out, {});
    case collective::scatter:
      return copy_bytes(out, copies[root_seat()] + seat * bytes, bytes);
    default:
      for (std::size_t from = 0; from < copies.size(); ++from) copy_bytes(out + from * bytes, copies[from], bytes);
      return;
  }
}

void joined_blocks::join(std::size_t bench) {
  const std::span<const std::size_t> seats = here_.benches()[bench].seats;
  if (direct()) {
    for (const std::size_t seat : seats) take_directly(seat);
  } else if (call_.what != collective::reduce_scatter) {
    for (const std::size_t seat : seats) copy_bytes(here_.target + offset_of(seat), here_.inputs[seat], bytes_of(seat));
  } else if (const share mine = share_of(bench); mine.count != 0) {
    combine(mine.first, mine.count, here_.target + mine.first * call_.element_bytes);
  }
}

void joined_blocks::take_directly(std::size_t seat) {
  const int rank = here_.rank_at(seat);
  const std::size_t at = here_.places->begin(rank), bytes = here_.places->bytes_of(rank);
  switch (call_.what) {
    case collective::reduce_scatter:
      if (bytes != 0) combine(at / call_.element_bytes, bytes / call_.element_bytes, here_.outputs[seat]);
      return;
    case collective::gather:
      return copy_bytes(here_.outputs[root_seat()] + at, here_.inputs[seat], bytes);
    case collective::scatter:
      return copy_bytes(here_.outputs[seat], here_.inputs[root_seat()] + at, bytes);
    default:
      for (std::size_t from = 0; from < here_.size(); ++from)
        copy_bytes(here_.outputs[seat] + offset_of(from), here_.inputs[from], bytes_of(from));
      return;
  }
}

void joined_blocks::combine(std::size_t first, std::size_t count, std::byte* into) {
  combine_inputs(array_operator(call_), here_.inputs, first, count, into, {});
}

leader_call joined_blocks::between() const {
  leader_call call = call_of(call_.what);
  const leaders& all = here_.between();
  std::size_t each = 0;
  bool even = true;
  for (int process = 0; process < all.size(); ++process) {
    const std::size_t bytes =
        here_.places->begin(all.first_rank(process + 1)) - here_.places->begin(all.first_rank(process));
    if (process == 0) each = bytes;
    even = even && bytes == each;
    call.counts.push_back(bytes / call_.element_bytes);
  }
  call.block = each / call_.element_bytes;
  if (even) call.counts.clear();
  if (here_.size() == 1) {
    call.in = here_.inputs[0];
    call.out = here_.outputs[0];
    return call;
  }
  call.in = here_.target;
  call.out = here_.target;
  switch (call_.what) {
    case collective::reduce_scatter:
      call.out += first_byte();
      break;
    case collective::allgather:
      call.out = here_.outputs[0];
      break;
    case collective::gather:
      if (root_is_here()) call.out = here_.outputs[root_seat()];
      break;
    default:
      if (root_is_here()) call.in = here_.inputs[root_seat()];
      break;
  }
  return call;
}

bool joined_blocks::takes() const {
  return here_.target != nullptr && call_.what != collective::gather && call_.common_output == nullptr;
}

void joined_blocks::take(std::size_t seat) {
  switch (call_.what) {
    case collective::reduce_scatter:
      return copy_bytes(here_.outputs[seat], here_.target + here_.places->begin(here_.rank_at(seat)), bytes_of(seat));
    case collective::allgather:
      return copy_bytes(here_.outputs[seat], here_.outputs[0], bytes_);
    default:
      return copy_bytes(here_.outputs[seat], here_.target + offset_of(seat), bytes_of(seat));
  }
}

std::size_t joined_blocks::moved() const {
  return call_.what == collective::allgather && call_.common_output == nullptr ? bytes_ * here_.size() : bytes_;
}

}  // namespace weft::detail
