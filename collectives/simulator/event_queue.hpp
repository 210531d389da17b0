// What will happen, the next first.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>
#include <weft/simulator/simulate.hpp>

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

/// A heap of four children a node: fewer levels than of two, and those of a node lie side by side. The order of events
/// of one time is a function of the calls alone.
class event_queue {
 public:
  bool empty() const noexcept { return heap_.empty(); }
  const event& next() const { return heap_.front(); }

  void push(const event& e) {
    heap_.push_back(e);
    std::size_t at = heap_.size() - 1;
    for (; at > 0; at = (at - 1) / 4) {
      const std::size_t parent = (at - 1) / 4;
      if (heap_[parent].time <= e.time) break;
      heap_[at] = heap_[parent];
    }
    heap_[at] = e;
  }

  event pop() {
    const event first = heap_.front();
    const event moved = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(moved);
    return first;
  }

 private:
  /// Puts `moved` where the first one was, and then down to its place.
  void sink(const event& moved) {
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

  std::vector<event> heap_;
};

}  // namespace weft::simulator
