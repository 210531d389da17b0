// SPDX-License-Identifier: Apache-2.0
// What a messenger is told of its job, and what it finds.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>
#include <weft/runtime/clock.hpp>
#include <weft/runtime/memory_budget.hpp>

namespace weft::fabric {

/// What a messenger needs to know of its job. Sizes are in bytes, as in weft::options.
struct messenger_settings {
  const clock* time = &steady_clock_source();  ///< what it waits by; outlives the messenger
  std::uint32_t job = 0;
  int process = 0;
  std::shared_ptr<memory_budget> memory;    ///< what is taken is counted there; null: nowhere
  std::vector<std::int32_t> first_rank;     ///< of each process, in the world; one entry a process
  std::vector<std::uint16_t> incarnations;  ///< of each process
  std::size_t eager_limit = 8 << 10;
  std::size_t credit = 1 << 20;
  std::size_t unexpected_limit = 4 << 20;
  std::size_t send_buffer_limit = 64 << 20;
  std::size_t piece = 512 << 10;
  std::size_t window =
      512 << 10;  ///< on the way from one peer while short messages pass between the same two processes
  /// Whether a collective's long messages are granted when their receives are posted; else each is announced by its
  /// sender, as other messages are. The same in every process.
  bool prepost = true;
  /// Says what a collective's fingerprint stands for, for errors.
  std::string (*describe)(std::uint64_t fingerprint) = nullptr;
  /// How long the provider may refuse to take anything for a peer before that counts as a loss.
  std::chrono::milliseconds refusal_limit{30'000};
  /// A loss that nobody but this process may have noticed, for it to be told to the others. With the token held; must
  /// not block.
  std::function<void(int process, const std::string& why)> suspected;
  /// Whether a lost process has ended for certain, so that nothing of it can come any more: no such claim is made of
  /// one on another machine. With the token held; must not block.
  std::function<bool(int process)> ended;
  /// Wakes a process that may sleep; it must have `progress::ring` called there, if that listens (by `listen`). With
  /// the token held; must not block. Without these two nobody sleeps for long.
  std::function<void(int process)> ring;
  /// Has the rings of others heard from now on; any thread.
  std::function<void()> listen;
  /// A process that has been sent nothing for so long is rung for. Half of the delay after which it sleeps.
  std::chrono::milliseconds ring_after{50};
  /// Tells every other process of the job (they hand it to `take_note`). Called with the token held; must not block.
  std::function<void(std::span<const std::byte> note)> broadcast;
};

/// Bytes that each of the `others` may send unread: at most `credit`, and all together 16 MiB and a 32nd of the memory
/// that may be taken (null: no limit), but no less than four of the longest frames.
std::size_t credit_of_each(std::size_t credit, const memory_budget* memory, std::size_t others,
                           std::size_t longest_frame) noexcept;

/// Bytes of the longest message that goes without asking where asking would take longer than copying does, and each
/// process gives the other so much credit: a rank's always to a process of this node, and to one of another node while
/// it is alone on its way. There messages of collectives that have no longer vector always do; of longer vectors a part
/// is asked for while another one is on its way.
constexpr std::size_t longest_at_once(std::size_t eager_limit, std::size_t credit) noexcept {
  return std::max(eager_limit, std::min(4 * eager_limit, credit / 8));
}

/// One of those that a rank sends or receives in each run of a plan.
struct planned_message {
  bool is_send = false;
  int peer = -1;  ///< rank of the other side
  std::size_t bytes = 0;
  std::size_t vector = SIZE_MAX;  ///< as operation::vector
};

/// What a probe found.
struct probed_message {
  int source = -1;
  std::uint64_t tag = 0;
  std::size_t bytes = 0;
  std::uint64_t aside = 0;  ///< the number under which it is set aside; 0: it is not
};

}  // namespace weft::fabric
