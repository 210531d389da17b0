// SPDX-License-Identifier: Apache-2.0
// What is on its way by joined links, and what is known of the process at their other end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>
#include <weft/fabric/transport.hpp>
#include <weft/runtime/clock.hpp>

#include "frame_order.hpp"
#include "link_frame.hpp"

namespace weft::fabric {

/// What a link is given to work on.
struct carried : transfer {
  enum class what : std::uint8_t { frame, departing, landing };
  what is = what::frame;
  bool posted = false;  ///< a link has it
  int peer = -1;
  int link = -1;  ///< that has it, or had it last
};

/// A frame that is kept until it has been taken.
struct kept_frame : carried {
  std::vector<std::byte> bytes;  ///< with the link_header
  std::uint32_t sequence = 0;
  bool over = false;     ///< it has been taken, or needs not be: free as soon as no link has it
  bool waiting = false;  ///< in partner::unsent
};

/// A payload that leaves, until it has landed, or is to land.
struct moving_payload : carried {
  transfer* user = nullptr;
  std::uint64_t tag = 0;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  bool landed = false;     ///< departing: its receiver has said so, while a link has it still
  bool cancelled = false;  ///< landing: its user has asked for it back
  bool moved = false;      ///< landing: its sender has been told by which link it is to come
  int wanted = -1;         ///< departing: the link that it is to take again
};

/// Objects that are used again and stay where they are.
template <class T>
class stock {
 public:
  /// Throws std::bad_alloc.
  T& take() {
    if (spare_.empty()) {
      if (spare_.capacity() <= all_.size()) spare_.reserve(2 * all_.size() + 16);
      return all_.emplace_back();
    }
    T& taken = *spare_.back();
    spare_.pop_back();
    return taken;
  }
  void give_back(T& used) noexcept { spare_.push_back(&used); }

 private:
  std::deque<T> all_;
  std::vector<T*> spare_;  // has room for all
};

/// The process at the other end.
struct partner {
  std::uint32_t next = 0;          ///< the sequence number of the next frame to it
  std::deque<kept_frame*> kept;    ///< frames in their order that it is not known to have taken
  std::deque<kept_frame*> unsent;  ///< those of them that are to be sent, or again
  frame_order arriving;
  std::uint32_t live = 1;        ///< the links that are used
  std::uint32_t met = 1;         ///< those over which it has been heard
  std::uint32_t to_ask = 0;      ///< those over which a greeting is still to be sent that asks for an answer
  std::uint32_t to_answer = 0;   ///< likewise an answer
  std::uint32_t asked = 0;       ///< those over which an answer is missing
  clock::time_point answered{};  ///< asked: when one came over another link; none: not yet
  /// Of the last look: the first of what it was to take and to say that it has landed; 0: there was nothing.
  std::uint64_t stuck = 0;
  bool greeted = false;                    ///< greetings have begun
  bool lost = false;                       ///< its user has cut it off
  int last_link = 0;                       ///< that a frame has taken
  std::vector<std::uint64_t> their_ends;   ///< by link, for transport::cut
  std::vector<moving_payload*> departing;  ///< in the order in which they began
  std::vector<moving_payload*> landing;    ///< likewise
  std::map<std::uint64_t, int> elsewhere;  ///< links that payloads are to take which have not begun to leave
};

}  // namespace weft::fabric
