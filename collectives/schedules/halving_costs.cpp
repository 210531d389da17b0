// SPDX-License-Identifier: Apache-2.0
// The cost formulas of recursive halving and doubling.
#include <algorithm>
#include <limits>
#include <vector>

#include "algorithm_costs.hpp"

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

/// What a piece costs.
struct piece_times {
  piece_times(const link_costs& of, double bytes) : overhead(of.overhead) {
    const double more = (bytes > of.eager ? of.handshake : 0) + of.far * std::max(0.0, bytes - link_costs::cached);
    port = more + std::max(of.gap, of.exchange * bytes);
    way = std::max(0.0, of.alpha - 2 * of.overhead) + more + of.exchange * bytes;
    combine = of.gamma * bytes;
  }

  double alone() const { return 2 * overhead + way + combine; }
  double behind() const { return std::max(port, 2 * overhead + combine); }

  double overhead, port, way, combine;
};

/// All ranks do the same at the same time, so that one is followed, by LogGP: a rank's pieces, one after another. Its
/// processor sends, receives and combines them, whatever was ready first.
class followed_rank {
 public:
  void add(const piece_times& of, int needed) { pieces_.push_back({of, needed, never, never, never}); }

  double end() {
    std::size_t sends = 0, receives = 0, combines = 0;
    while (combines < pieces_.size()) {
      const double send = sends < pieces_.size() ? sums_ready(pieces_[sends]) : never,
                   receive = receives < sends ? pieces_[receives].arrival : never,
                   combine = combines < receives ? pieces_[combines].received : never;
      if (combine <= receive && combine <= send) {
        piece& one = pieces_[combines++];
        one.done = work(combine, one.of.combine);
      } else if (receive <= send) {
        piece& one = pieces_[receives++];
        one.received = work(receive, one.of.overhead);
      } else {
        piece& one = pieces_[sends++];
        const double begin = std::max(work(send, one.of.overhead), port_free_);
        port_free_ = begin + one.of.port;
        one.arrival = begin + one.of.way;
      }
    }
    return pieces_.empty() ? 0 : pieces_.back().done;
  }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();
  struct piece {
    piece_times of;
    int needed;
    double arrival, received, done;
  };

  double sums_ready(const piece& of) const {
    return of.needed < 0 ? 0 : pieces_[static_cast<std::size_t>(of.needed)].done;
  }
  double work(double ready, double time) { return processor_free_ = std::max(processor_free_, ready) + time; }

  std::vector<piece> pieces_;
  double processor_free_ = 0, port_free_ = 0;
};

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

/// What the first ones of pairs give goes to all, and so comes back to some of them later than all others are done; but
/// not where all pairs are in one half of the places, which it comes to without the last doubling.
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
  const bool in_one_half = 2 * pairs <= places && parts < places;
  return cost + first + (in_one_half ? std::max(0.0, back - doubling) : back);
}

}  // namespace weft::schedules
