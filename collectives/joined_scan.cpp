#include "joined_scan.hpp"

#include <array>

namespace weft::detail {

void joined_scan::make(std::size_t bench, std::span<const std::byte* const> copies) {
  if (bytes_ == 0) return;
  const array_operator by(call_);
  const std::byte* so_far = copies[0];  // of those before `next`
  std::size_t next = 1;
  for (const std::size_t seat : here_.benches()[bench].seats) {
    if (exclusive() && seat == 0) continue;
    std::byte* const out = here_.at(seat).output;
    for (const std::size_t end = exclusive() ? seat : seat + 1; next < end; ++next) {
      const std::array<const std::byte*, 2> both{so_far, copies[next]};
      combine_inputs(by, both, 0, elements(), out, {});
      so_far = out;
    }
    copy_bytes(out, so_far, bytes_);
    so_far = out;
  }
}

void joined_scan::begin() { here_.target = alone() || bytes_ == 0 ? nullptr : here_.scratch(2 * bytes_); }

std::byte* joined_scan::total() const {
  if (here_.target == nullptr) return nullptr;
  return exclusive() ? here_.target + bytes_ : here_.outputs.back();
}

void joined_scan::join(std::size_t bench) {
  const share mine = share_of(bench);
  if (mine.count != 0) scan(mine.first, mine.count);
}

void joined_scan::scan(std::size_t first, std::size_t count) {
  const array_operator by(call_);
  if (exclusive())
    exscan_inputs(by, here_.inputs, first, count, here_.outputs, total());
  else
    scan_inputs(by, here_.inputs, first, count, here_.outputs);
}

leader_call joined_scan::between() const {
  leader_call call = call_of(collective::exscan);
  call.in = total();
  call.out = before();
  return call;
}

void joined_scan::take(std::size_t seat) {
  std::byte* const out = here_.outputs[seat];
  if (exclusive() && seat == 0) return copy_bytes(out, before(), bytes_);
  const std::array<const std::byte*, 2> both{before(), out};
  array_operator by(call_);
  by.custom = here_.at(seat).custom;
  combine_inputs(by, both, 0, elements(), out, {});
}

}  // namespace weft::detail
