#include "joined_vector.hpp"

namespace weft::detail {

void joined_vector::begin() {
  here_.target = nullptr;
  if (!combines() || (here_.size() == 1 && !alone())) return;
  here_.target = call_.what == collective::reduce && !root_is_here() ? here_.scratch(bytes_) : here_.outputs[owner()];
}

void joined_vector::join(std::size_t seat) {
  const share mine = share_of(seat);
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
