// SPDX-License-Identifier: Apache-2.0
// The cost formulas of recursive halving and doubling.
#include <algorithm>
#include <limits>
#include <vector>

#include "algorithm_costs.hpp"

namespace weft::schedules {
namespace {

/// A round of reduce_scatter_by_halving, in blocks, `first` the first of all its pieces.
struct halving_step {
  int row, sent, count, each, first;

  int kept() const { return row - sent; }
  double length() const { return static_cast<double>(sent) / count; }
};

std::vector<halving_step> halving_steps(int ranks, int segments) {
  std::vector<halving_step> all;
  const int about = ranks / 2;
  int first = 0;
  for (int row = ranks; row > 1; row -= row / 2) {
    const int sent = row / 2 * segments;
    const int wanted = std::max(1, (2 * sent + about) / (2 * about)), each = (sent + wanted - 1) / wanted;
    all.push_back({row * segments, sent, (sent + each - 1) / each, each, first});
    first += all.back().count;
  }
  return all;
}

/// The piece that brings what a rank has of a block, counted from its own, before round `before`; -1: none.
int brought_by(const std::vector<halving_step>& all, std::size_t before, int block) {
  for (std::size_t i = before; i-- > 0;)
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

double followed(const std::vector<halving_step>& all, double block_bytes, const link_costs& each) {
  followed_rank rank;
  for (std::size_t round = 0; round < all.size(); ++round) {
    const halving_step& step = all[round];
    const piece_times times(each, step.length() * block_bytes);
    for (int i = 1; i <= step.count; ++i)
      rank.add(times, brought_by(all, round, std::max(step.row - i * step.each, step.kept())));
  }
  return rank.end();
}

/// Of so many pieces that only the rounds are followed: the first piece of one waits for the first of another, and for
/// all pieces of that to leave.
double streamed(const std::vector<halving_step>& all, double block_bytes, const link_costs& each) {
  double left = 0, first_done = 0, end = 0;
  for (const halving_step& step : all) {
    const piece_times times(each, step.length() * block_bytes);
    const double begin = std::max(left, first_done);
    first_done = begin + times.alone();
    left = begin + step.count * times.behind();
    end = std::max(left, first_done + (step.count - 1) * times.port);
  }
  return end;
}

}  // namespace

double halving_cost(const algorithm_arguments& of, double bytes, const path_costs& each) {
  if (of.ranks == 1) return 0;
  constexpr int most_followed = 64;
  const auto all = halving_steps(of.ranks, static_cast<int>(of.by.segments));
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
