#include "joined_work.hpp"

#include <algorithm>
#include <cstring>

#include "line_shares.hpp"

namespace weft::detail {
namespace {

/// Of a vector that all combine in shares a share has at least so many bytes.
constexpr std::size_t least_share = 8 << 10;

}  // namespace

joined_work::share joined_work::share_of(std::size_t seat) const {
  const std::size_t ranks = here_.size(), shares = std::clamp(bytes_ / least_share, std::size_t{1}, ranks);
  const std::size_t mine = (seat * shares + ranks - 1) / ranks;  // so that all threads have some
  if (mine >= shares || mine * ranks / shares != seat) return {};
  const auto begin_of = [&](std::size_t number) {
    return begin_of_share(elements(), call_.element_bytes, shares, number);
  };
  return {begin_of(mine), begin_of(mine + 1) - begin_of(mine)};
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
