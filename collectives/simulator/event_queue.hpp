// SPDX-License-Identifier: Apache-2.0
// What will happen, the next first.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>
#include <weft/simulator/simulate.hpp>

#include "chunked_pool.hpp"

namespace weft::simulator {

enum class event_kind : std::uint8_t {
  enter,     ///< the rank begins
  cpu_done,  ///< the work of a step
  wake,      ///< a port is free again; `step` is its number
  head,      ///< a message's first byte comes to its receiver
  sent,      ///< the last byte of a rendezvous has left
  arrival,   ///< the last byte is there
  request,   ///< of a rendezvous comes to the receiver
  grant,     ///< comes to the sender
  flow_end,  ///< some flow may have ended; `step` is the version of the rates
};

struct event {
  double time;
  double sent;        ///< head: when the first byte left
  activity_id cause;  ///< what it follows from
  std::uint32_t rank;
  std::uint32_t step;
  event_kind kind;
};

/// Events of one time make a list: where ranks do the same at the same times, there are far fewer times than events.
/// The lists are in a heap of four children a node: fewer levels than of two, and those of a node lie side by side. An
/// event joins a list that is found by its time in a small table, if that has not forgotten it, else begins another.
/// The order of events of one time is a function of the calls alone.
class event_queue {
 public:
  bool empty() const noexcept { return heap_.empty(); }
  double next_time() const { return heap_.front().time; }
  std::uint32_t next_rank() const { return events_[heap_.front().first].rank; }

  void push(const event& e) {
    const std::uint32_t here = events_.add({e.sent, e.cause, e.rank, e.step, nothing, e.kind});
    open_list& open = open_[slot_of(e.time)];
    if (open.last != nothing && open.time == e.time) {
      events_[open.last].next = here;
    } else {
      rise({e.time, here});
    }
    open = {e.time, here};
  }

  event pop() {
    list& first = heap_.front();
    const stored next = events_[first.first];
    const double time = first.time;
    events_.remove(first.first);
    if (next.next != nothing) {
      first.first = next.next;
    } else {
      open_list& open = open_[slot_of(first.time)];
      if (open.time == first.time) open.last = nothing;
      remove_first();
    }
    return {time, next.sent, next.cause, next.rank, next.step, next.kind};
  }

 private:
  static constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();
  /// An event, whose time is its list's.
  struct stored {
    double sent;
    activity_id cause;
    std::uint32_t rank, step;
    std::uint32_t next;  ///< of its list
    event_kind kind;
  };
  struct list {
    double time;
    std::uint32_t first;
  };
  struct open_list {
    double time = 0;
    std::uint32_t last = nothing;
  };

  static std::size_t slot_of(double time) { return std::bit_cast<std::uint64_t>(time) * 0x9e3779b97f4a7c15 >> 56; }

  /// Appends a list, and moves it up to its place.
  void rise(const list& added) {
    heap_.push_back(added);
    std::size_t at = heap_.size() - 1;
    for (; at > 0; at = (at - 1) / 4) {
      const std::size_t parent = (at - 1) / 4;
      if (heap_[parent].time <= added.time) break;
      heap_[at] = heap_[parent];
    }
    heap_[at] = added;
  }

  void remove_first() {
    const list moved = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(moved);
  }

  /// Puts `moved` where the first one was, and then down to its place.
  void sink(const list& moved) {
    std::size_t at = 0;
    for (std::size_t child = 1; child < heap_.size(); child = 4 * at + 1) {
      std::size_t least = child;
      for (std::size_t other = child + 1; other < heap_.size() && other < child + 4; ++other)
        if (heap_[other].time < heap_[least].time) least = other;
      if (moved.time <= heap_[least].time) break;
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = moved;
  }

  std::vector<list> heap_;
  chunked_pool<stored> events_;
  std::array<open_list, 256> open_;
};

}  // namespace weft::simulator
