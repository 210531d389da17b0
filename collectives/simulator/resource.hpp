// SPDX-License-Identifier: Apache-2.0
// A CPU or a port: one user at a time. And who waits for it.
#pragma once

#include <limits>
#include <tuple>
#include <utility>
#include <weft/simulator/simulate.hpp>

#include "chunked_pool.hpp"

namespace weft::simulator {

struct request {
  double time;        ///< since when it waits
  double sent;        ///< of a message at the receiver's port: when its first byte left
  activity_id cause;  ///< what it follows from, did it not have to wait
  step_index step;    ///< of the resource's rank
};

/// 16 bytes, since a rank has three or more. Requests are in a pool that all share.
struct resource {
  static constexpr std::uint32_t nobody = (1u << 30) - 1;
  static constexpr step_index unused = std::numeric_limits<step_index>::max();

  double free_at = 0;                 ///< infinity: not known yet
  step_index last = unused;           ///< whose use was the last: a step of its rank
  std::uint32_t first : 30 = nobody;  ///< who is next, in the pool
  bool listed : 1 = false;            ///< for arbitration
  bool waking : 1 = false;            ///< an event will come at `free_at`

  bool wanted() const noexcept { return first != nobody; }
};

/// Those who wait, of each resource a pairing heap (Fredman, Sedgewick, Sleator and Tarjan 1986): whoever has waited
/// longest is first; the earlier step where that is equal.
class request_pool {
 public:
  void want(resource& of, const request& by) {
    const std::uint32_t here = pool_.add({by, resource::nobody, resource::nobody});
    of.first = of.wanted() ? joined(of.first, here) : here;
  }

  request take_next(resource& of) {
    const std::uint32_t here = of.first;
    const request next = pool_[here].what;
    of.first = all_joined(pool_[here].child);
    pool_.remove(here);
    return next;
  }

 private:
  struct node {
    request what;
    std::uint32_t child, next;  ///< the first child; the next child of the same parent
  };

  bool earlier(std::uint32_t a, std::uint32_t b) const {
    const request &x = pool_[a].what, &y = pool_[b].what;
    return std::tie(x.time, x.step) < std::tie(y.time, y.step);
  }

  std::uint32_t joined(std::uint32_t a, std::uint32_t b) {
    if (earlier(b, a)) std::swap(a, b);
    pool_[b].next = std::exchange(pool_[a].child, b);
    return a;
  }

  /// One heap of those in the list: by pairs, then from the last pair to the first.
  std::uint32_t all_joined(std::uint32_t list) {
    std::uint32_t pairs = resource::nobody;
    while (list != resource::nobody) {
      std::uint32_t pair = list;
      list = pool_[pair].next;
      if (list != resource::nobody) {
        const std::uint32_t other = list;
        list = pool_[other].next;
        pair = joined(pair, other);
      }
      pool_[pair].next = pairs;
      pairs = pair;
    }
    std::uint32_t heap = pairs;
    if (heap == resource::nobody) return heap;
    pairs = pool_[heap].next;
    pool_[heap].next = resource::nobody;
    while (pairs != resource::nobody) {
      const std::uint32_t pair = pairs;
      pairs = pool_[pair].next;
      heap = joined(heap, pair);
    }
    return heap;
  }

  chunked_pool<node> pool_;
};

}  // namespace weft::simulator
