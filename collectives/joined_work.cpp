#include "joined_work.hpp"

#include <algorithm>
#include <cstring>

#include "line_shares.hpp"

namespace weft::detail {
namespace {

/// Of a vector that all combine in shares a share has at least so many bytes.
constexpr std::size_t least_share = 8 << 10;

}  // namespace

std::optional<std::size_t> joined_work::copied() const {
  if (!alone() || here_.benches().size() == 1 || call_.custom.apply != nullptr) return std::nullopt;
  const std::optional<std::size_t> each = input_bytes();
  const bool fits =
      each && *each <= worker_rounds::slot_bytes && *each * here_.most_at_a_bench() <= worker_rounds::slot_bytes;
  return fits ? each : std::nullopt;
}

bool joined_work::gives(std::size_t seat) const {
  switch (call_.what) {
    case collective::barrier:
      return false;
    case collective::broadcast:
    case collective::scatter:
      return here_.rank_at(seat) == call_.root;
    default:
      return true;
  }
}

joined_work::share joined_work::share_of(std::size_t bench) const {
  const std::size_t shares = std::clamp(bytes_ / least_share, std::size_t{1}, here_.benches().size());
  if (bench >= shares) return {};
  const auto begin_of = [&](std::size_t number) {
    return begin_of_share(elements(), call_.element_bytes, shares, number);
  };
  return {begin_of(bench), begin_of(bench + 1) - begin_of(bench)};
}

leader_call joined_work::call_of(collective what) const {
  leader_call call;
  call.what = what;
  call.of = &call_;
  call.count = elements();
  if (has_root()) call.root = here_.between().process_of(call_.root);
  return call;
}

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (to != from && bytes != 0) std::memcpy(to, from, bytes);
}

}  // namespace weft::detail
