// SPDX-License-Identifier: Apache-2.0
// The cost formulas of recursive halving and doubling.
#include <algorithm>
#include <vector>

#include "algorithm_costs.hpp"
#include "followed_rank.hpp"

namespace weft::schedules {
namespace {

/// A message of reduce_scatter_by_halving, in blocks: those that a rank sends begin at `begin`, counted from its own.
/// `first` is the first of all its pieces.
struct halving_message_cost {
  bool opens_round;
  int begin, sent, count, each, first;

  double length() const { return static_cast<double>(sent) / count; }
  /// The last block of a piece.
  int last_of(int piece) const { return std::max(begin + sent - (piece + 1) * each, begin); }
};

std::vector<halving_message_cost> halving_messages(int ranks, int segments, int degree) {
  std::vector<halving_message_cost> all;
  int about = 0, pieces = 0;
  for (int row = ranks, kept = 0; row > 1; row = kept) {
    kept = (row - 1) / degree + 1;
    for (int begin = kept; begin < row; begin += kept) {
      const int chunks = std::min(kept, row - begin), sent = chunks * segments;
      if (about == 0) about = chunks;
      const int wanted = std::max(1, (2 * sent + about) / (2 * about)), each = (sent - 1) / wanted + 1;
      all.push_back({begin == kept, begin * segments, sent, (sent - 1) / each + 1, each, pieces});
      pieces += all.back().count;
    }
  }
  return all;
}

/// The piece that brings what a rank has of a block, counted from its own, before the message that opens a round; -1:
/// none.
int brought_by(const std::vector<halving_message_cost>& all, std::size_t opening, int block) {
  for (std::size_t i = opening; i-- > 0;)
    if (block < all[i].sent) return all[i].first + (all[i].sent - 1 - block) / all[i].each;
  return -1;
}

double followed(const std::vector<halving_message_cost>& all, double block_bytes, const link_costs& each) {
  followed_rank rank;
  std::size_t opening = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].opens_round) opening = i;
    const piece_times times(each, all[i].length() * block_bytes);
    for (int piece = 0; piece < all[i].count; ++piece) rank.add(times, brought_by(all, opening, all[i].last_of(piece)));
  }
  return rank.end();
}

/// Of so many pieces that only the rounds are followed: the first piece of one waits for the first of another, and for
/// all pieces of that to leave.
double streamed(const std::vector<halving_message_cost>& all, double block_bytes, const link_costs& each) {
  double left = 0, first_done = 0, ready = 0, end = 0;
  for (const halving_message_cost& one : all) {
    if (one.opens_round) ready = first_done;
    const piece_times times(each, one.length() * block_bytes);
    const double begin = std::max(left, ready);
    first_done = begin + times.alone();
    left = begin + one.count * times.behind();
    end = std::max(left, first_done + (one.count - 1) * times.port);
  }
  return end;
}

}  // namespace

double halving_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  if (of.ranks == 1) return 0;
  constexpr int most_followed = 64;
  const auto all = halving_messages(of.ranks, static_cast<int>(of.by.segments), of.degree);
  const double block_bytes = bytes / p(of) / of.by.segments;
  const bool few = all.back().first + all.back().count <= most_followed;
  return few ? followed(all, block_bytes, each) : streamed(all, block_bytes, each);
}

/// What the first ones of pairs give goes to all, and so comes back to some of them later than all others are done;
/// where all pairs are in one half of the places, it comes to that without the last doubling, of which their port is
/// busy.
double doubling_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  const double places = std::exp2(std::floor(std::log2(p(of)))), pairs = p(of) - places;
  const double parts = std::exp2(std::floor(std::log2(std::min<double>(of.by.segments, places))));
  const auto exchanged = [bytes](const link_costs& by, double part) { return piece_times(by, bytes / part).alone(); };
  const double doubling = exchanged(each, parts);
  double cost = std::log2(places / parts) * doubling;
  for (double part = 2; part <= parts; part *= 2) cost += exchanged(each, part) + exchanged(copying(each), part);
  if (pairs == 0) return cost;
  link_costs one_way = each;
  one_way.exchange = each.beta;
  const double first = exchanged(one_way, 1), back = exchanged(copying(one_way), 1);
  if (2 * pairs > places || parts == places) return cost + first + back;
  const piece_times last(each, bytes / parts);
  return cost + first + std::max(0.0, std::max(last.port, last.overhead + last.combine) + back - doubling);
}

}  // namespace weft::schedules
