// SPDX-License-Identifier: Apache-2.0
// Messages between two processes of a job, at its begin and at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <weft/fabric/messenger.hpp>
#include <weft/fabric/participant.hpp>
#include <weft/runtime/progress.hpp>

namespace weft::detail {

/// A communicator of the two: what befalls others does not disturb them. Its calls block, and throw what a message ends
/// with. By both of them, and of each purpose once in a job: what has been left is never joined again.
class process_channel {
 public:
  enum class purpose : std::uint32_t { clocks, trace, statistics };
  /// Ids of communicators are of so many leaders for each process: a number for each purpose.
  static constexpr std::uint64_t leaders_each = 4;

  /// `first_ranks`: of every process its first rank. `first` and `second` are the two, one of them this process.
  process_channel(fabric::messenger& messages, progress& by, std::span<const std::int32_t> first_ranks, purpose of,
                  int first, int second);
  process_channel(const process_channel&) = delete;
  process_channel& operator=(const process_channel&) = delete;
  ~process_channel() { messages_.leave(me_); }

  void send(std::uint64_t tag, std::span<const std::byte> data);
  /// How many bytes have come, which are no more than there is room for.
  std::size_t receive(std::uint64_t tag, std::span<std::byte> into);

 private:
  template <class Operation>
  void finish(Operation& begun, std::uint64_t tag, std::size_t bytes);

  fabric::messenger& messages_;
  progress& by_;
  fabric::participant me_;
};

/// Whether that process is known to be lost, as this one itself is where the others have given it up.
bool is_lost(fabric::messenger& messages, int process);

}  // namespace weft::detail
