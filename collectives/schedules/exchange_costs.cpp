// SPDX-License-Identifier: Apache-2.0
// The cost formulas of all-to-alls, and of scans by doubling.
#include <algorithm>
#include <bit>
#include <vector>

#include "algorithm_costs.hpp"
#include "followed_rank.hpp"

namespace weft::schedules {
namespace {

/// Messages of one length, each of which waits for the one `window` before it.
double in_window(int messages, int window, const piece_times& each) {
  followed_rank rank;
  for (int i = 0; i < messages; ++i) rank.add(each, i - window);
  return rank.end();
}

/// A round of Bruck's: the chunks that go `digit` times `place` ranks further.
struct bruck_round {
  long long place, digit;
  double chunks;
  int needed;  ///< the last round that brings one of them here; -1: none
};

/// Of the ranks further that have this digit.
double chunks_with(long long ranks, long long place, long long degree, long long digit) {
  const long long turn = place * degree, rest = ranks % turn - digit * place;
  return static_cast<double>(ranks / turn * place + std::clamp<long long>(rest, 0, place));
}

std::vector<bruck_round> bruck_rounds(long long ranks, long long degree) {
  std::vector<bruck_round> all;
  for (long long place = 1; place < ranks; place *= degree)
    for (long long digit = 1; digit < degree && digit * place < ranks; ++digit) {
      const long long below = std::min(place - 1, ranks - 1 - digit * place);  // the digits that have gone before
      const auto brings = [below](const bruck_round& one) {
        return one.place <= below && one.digit * one.place <= below;
      };
      const auto last = std::find_if(all.rbegin(), all.rend(), brings);
      all.push_back({place, digit, chunks_with(ranks, place, degree, digit), static_cast<int>(all.rend() - last) - 1});
    }
  return all;
}

/// When rank r of a scan by doubling has combined what comes from below: in all rounds but the last it does as those do
/// who have as many below them as there can be, a round after another, each `again` after the one before. The last
/// operand may have come long before; but all of them come through one port.
double scanned(unsigned rank, const piece_times& each, double again) {
  if (rank == 0) return 0;
  const int rounds = std::bit_width(rank);
  const double through_port = each.alone() + (rounds - 1) * each.port;
  if (rounds == 1) return through_port;
  const double before = each.alone() + (rounds - 2) * again;
  const double last = scanned(rank - std::bit_floor(rank), each, again) + each.overhead + each.way;
  const double last_but_one = before - each.combine - each.overhead;
  if (last < last_but_one)
    return std::max(through_port, std::max(last_but_one, last + each.port) + each.overhead + 2 * each.combine);
  const double received = std::max(last, last_but_one + each.port) + each.overhead;
  return std::max(through_port, std::max(before, received) + each.combine);
}

}  // namespace

double pairwise_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  const int messages = of.ranks - 1, window = static_cast<int>(of.by.window);
  const piece_times one(each, bytes / p(of));
  constexpr int most_windows = 16;
  const int followed = most_windows * window;
  if (messages <= 2 * followed) return in_window(messages, window, one);
  const double half = in_window(followed, window, one), whole = in_window(2 * followed, window, one);
  return whole + (messages - 2 * followed) * (whole - half) / followed;
}

double bruck_alltoall_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  followed_rank rank;
  for (const bruck_round& one : bruck_rounds(of.ranks, of.degree))
    rank.add(piece_times(each, one.chunks * bytes / p(of)), one.needed);
  return rank.end();
}

double doubling_scan_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  const piece_times one(each, bytes);
  return scanned(static_cast<unsigned>(of.ranks - 1), one, one.alone());
}

/// What goes up is combined first; the result, while the next operand is on its way.
double doubling_exscan_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  const piece_times one(each, bytes);
  const double again = one.alone() + std::max(0.0, one.combine - one.way);
  return scanned(static_cast<unsigned>(of.ranks - 1), one, again);
}

}  // namespace weft::schedules
