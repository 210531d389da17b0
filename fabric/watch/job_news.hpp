// SPDX-License-Identifier: Apache-2.0
// What a process knows of the others' fate, and the messages that pass it on. News is passed on when it is new, once,
// so that a flood ends; and all of it is repeated to whoever is connected later.
#pragma once

#include <atomic>
#include <boost/circular_buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace weft::fabric {

/// Any thread may ask; one thread learns.
class job_news {
 public:
  using frame = std::vector<std::byte>;  ///< an encoded control message; empty: this is no news
  static constexpr std::size_t kept_notes = std::size_t{1} << 20;

  explicit job_news(int processes)
      : fates_(static_cast<std::size_t>(processes)),
        reasons_(static_cast<std::size_t>(processes)),
        sequences_(static_cast<std::size_t>(processes)) {}

  int processes() const noexcept { return static_cast<int>(fates_.size()); }
  bool alive(int process) const noexcept { return fate_of(process) == fate::alive; }
  bool lost(int process) const noexcept { return fate_of(process) == fate::lost; }
  bool left(int process) const noexcept { return fate_of(process) == fate::left; }
  std::string reason(int process) const;

  /// What is learned first of a process stands. A reason is cut to what a message holds.
  frame learn_lost(int process, std::string reason);
  frame learn_left(int process);

  /// Notes of one process are learned in their order: every connection keeps it, and a new one repeats from the start.
  /// The latest that fit in `kept_notes` bytes are kept. Throws std::bad_alloc, and then has learned nothing.
  frame learn_note(int origin, std::uint64_t sequence, std::span<const std::byte> note);

  /// A new note of this process.
  frame add_note(int self, std::span<const std::byte> note);

  /// Everything known, as messages in a row: notes first, so that no process is heard of after its end.
  frame everything() const;

 private:
  enum class fate : std::uint8_t { alive, lost, left };

  fate fate_of(int process) const noexcept { return fates_[static_cast<std::size_t>(process)]; }
  void keep(const frame& note);

  std::vector<std::atomic<fate>> fates_;
  mutable std::mutex mutex_;          // guards reasons_
  std::vector<std::string> reasons_;  // set before the fate
  std::vector<std::uint64_t> sequences_;
  std::vector<frame> ends_;                  // of processes, lost or left
  boost::circular_buffer<std::byte> notes_;  // in a row, so that many short ones take no more than few long ones
};

}  // namespace weft::fabric
