// SPDX-License-Identifier: Apache-2.0
// One rank's messages, followed by LogGP, of algorithms in which all ranks do the same at the same time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>
#include <weft/schedules/link_costs.hpp>

namespace weft::schedules {

/// What a message costs that crosses one of the same length.
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

/// A rank's messages, one after another. Its processor sends, receives and combines them, whatever was ready first.
class followed_rank {
 public:
  /// One that is sent when the message numbered `needed` has come and is combined; -1: from the beginning.
  void add(const piece_times& of, int needed) { pieces_.push_back({of, needed, never, never, never}); }

  /// When the last one is combined; 0 where there is none. Once.
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

}  // namespace weft::schedules
