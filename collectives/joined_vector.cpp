#include "joined_vector.hpp"

namespace weft::detail {

std::optional<std::size_t> joined_vector::input_bytes() const { return call_.what == collective::barrier ? 0 : bytes_; }

void joined_vector::make(std::size_t bench, std::span<const std::byte* const> copies) {
  if (bytes_ == 0 || call_.what == collective::barrier) return;
  const std::span<const std::size_t> seats = here_.benches()[bench].seats;
  const std::byte* made = copies[owner()];  // of a broadcast
  if (combines()) {
    const std::size_t by_seat = call_.what == collective::reduce ? owner() : seats[0];
    if (here_.at(by_seat).bench != bench) return;
    made = here_.at(by_seat).output;
    combine_inputs({call_, here_.at(by_seat).kernel}, copies, 0, elements(), here_.at(by_seat).output, {});
    if (call_.what == collective::reduce) return;
  }
  for (const std::size_t seat : seats) copy_bytes(here_.at(seat).output, made, bytes_);
}

void joined_vector::begin() {
  here_.target = nullptr;
  if (!combines() || (here_.size() == 1 && !alone())) return;
  here_.target = call_.what == collective::reduce && !root_is_here() ? here_.scratch(bytes_) : here_.outputs[owner()];
}

void joined_vector::join(std::size_t bench) {
  const share mine = share_of(bench);
  if (mine.count != 0) combine(mine.first, mine.count);
}

void joined_vector::combine(std::size_t first, std::size_t count) {
  const bool to_all = alone() && call_.what == collective::allreduce;
  const array_operator by(call_);
  combine_inputs(by, here_.inputs, first, count, here_.target + first * by.element_bytes,
                 to_all ? std::span<std::byte* const>(here_.outputs) : std::span<std::byte* const>());
}

leader_call joined_vector::between() const {
  leader_call call = call_of(call_.what);
  call.out = here_.outputs[owner()];
  call.in = joins() ? here_.target : here_.inputs[owner()];
  return call;
}

bool joined_vector::takes() const {
  return here_.size() > 1 && bytes_ != 0 &&
         (call_.what == collective::broadcast || (call_.what == collective::allreduce && !alone()));
}

void joined_vector::take(std::size_t seat) { copy_bytes(here_.outputs[seat], here_.outputs[owner()], bytes_); }

}  // namespace weft::detail
