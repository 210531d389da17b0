// SPDX-License-Identifier: Apache-2.0
// Collectives whose ranks of one process first join their parts in its memory.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <weft/calls/communicator_state.hpp>
#include <weft/ranks/process_team.hpp>

namespace weft::detail {

/// One rank's call that joins (call_ways.hpp), as number `sequence`. The ranks of a process combine, or copy, straight
/// from each other's buffers, in their order; their leader, which is the first of them, does the same with the other
/// processes' by messages; every rank takes its part of the result from where it lies (ranks/process_team.hpp). In the
/// checked mode all ranks compare first what they are about to call.
class joined_call {
 public:
  joined_call(communicator_state& state, const request& call, known_call& known, std::uint32_t sequence)
      : state_(state), call_(call), known_(known), sequence_(sequence) {}

  /// Blocks until nobody here uses this rank's buffers any more. Throws what a collective throws.
  void run();

  /// The same in three steps, of which a call that is made again repeats the last two. The first comes once the calls
  /// before it are over. False where the communicator has failed. Throws std::bad_alloc.
  bool prepare();
  /// This rank arrives, and shows what its worker gives where that is enough for the others. Does not block. Whether
  /// others wait for what is left.
  bool start();
  /// Blocks, and throws, as `run` does.
  void finish();

 private:
  void take_seat() {
    meeting::seat& its = mine();
    if (its.known != &known_ || !known_.has_joined) [[unlikely]]
      say_terms();
    its.sequence = sequence_;
    its.input = static_cast<const std::byte*>(call_.in);
    its.output = static_cast<std::byte*>(call_.out);
    if (sequence_ <= last_sequence) state_.member.silent.enter(sequence_, its.terms.fingerprint);
  }
  void say_terms();
  void say_all();
  bool begin_if_same();
  template <class Work>
  void lead(Work work) noexcept;
  meeting& here() const { return *state_.here; }
  process_team& team() const { return *state_.among_ranks; }
  meeting::seat& mine() const { return here().at(state_.seat); }
  std::span<const std::size_t> seats() const { return here().workers()[here().worker_of(state_.seat)].seats; }
  bool all_call_the_same();
  void conclude() {
    if (call_.common_output != nullptr || mine().failure != nullptr) [[unlikely]]
      hand_out();
  }
  void hand_out();
  [[noreturn]] void fail(const std::exception_ptr& failure);

  communicator_state& state_;
  const request& call_;
  known_call& known_;
  const std::uint32_t sequence_;
  meeting::arrival came_ = meeting::arrival::failed;
  enum class part : unsigned char { none, use_shown, all } left_ = part::all;  // for the last of its worker
};

}  // namespace weft::detail
