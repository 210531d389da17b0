// SPDX-License-Identifier: Apache-2.0
// The checked mode (--weft-check): before a collective begins every rank learns what all ranks are about to call, and
// where that is not the same, each throws errc::mismatched_call, which says who called what; no buffer is touched.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>
#include <weft/calls/communicator_state.hpp>
#include <weft/executor/execution.hpp>
#include <weft/request/fingerprint.hpp>

namespace weft::detail {

/// What one rank tells the others of a call that it is about to make.
struct announcement {
  call_terms terms;
  std::uint64_t planned = 0;  ///< 1: it makes a plan
  /// Of an all-to-all with counts: sums over this rank's pairs that come to 0 over all ranks where each sends what the
  /// other expects.
  std::array<std::uint64_t, 3> balance{};

  static announcement of(const collective_call& call, bool planned, int rank, int ranks);
  /// A call that cannot be made: its arguments are wrong.
  static announcement of_refusal();
};

/// Says who called what, with the error of errc::mismatched_call; null where all called the same. `all` are in the
/// order of the ranks.
std::exception_ptr disagreement(const std::vector<announcement>& all);

/// The call by which ranks announce theirs: an all-gather of the communicator's, which goes as any other does.
request exchange_of(const communicator_state& state, const announcement* mine, announcement* all);
/// Where it goes by messages. By the rank itself.
std::shared_ptr<const bound_schedule> exchange_by_messages(communicator_state& state);

/// Whether that goes through memory: then every call's does, also of those that go by messages themselves.
inline bool announces_in_memory(const communicator_state& state) { return state.announces_by == nullptr; }

/// In the checked mode every call that the ranks make in the same order has one exchange, of the call's own number:
/// blocks until all ranks have announced theirs. Once those that the rank has started before have had their turn.
/// Throws errc::mismatched_call where they differ.
void agree(communicator_state& state, const announcement& mine, std::uint32_t number, const char* operation);

/// The exchange by messages, which need not be waited for.
class agreement final : public dataflow_execution {
 public:
  agreement(communicator_state& state, const announcement& mine, std::uint32_t number);

  /// Starts `run` when all ranks have announced the same, without waiting for that here; else `run` fails.
  void start_before(dataflow_execution& run, const run_arguments& arguments);
  /// Blocks until all ranks have announced their calls. Throws errc::mismatched_call where they differ.
  void await(const char* operation);

 private:
  void exchange();
  void ended() noexcept override;

  communicator_state& state_;
  announcement mine_;
  std::vector<announcement> all_;
  std::uint32_t number_;
  dataflow_execution* run_ = nullptr;
};

/// The same on a call that does not go by messages (known_call::terms), in the checked mode; else nothing.
void agree_on(communicator_state& state, const request& call, const known_call& known, std::uint32_t sequence);
inline void agree_if_checked(communicator_state& state, const request& call, const known_call& known,
                             std::uint32_t sequence) {
  if (state.host.settings().check) agree_on(state, call, known, sequence);
}

/// Announces that this rank's call is refused, so that the others need not wait for it. Blocks until they have called.
void announce_refusal(communicator_state& state) noexcept;

/// What `part`, which may refuse a call, returns. In the checked mode the other ranks are told where it throws.
template <class Part>
decltype(auto) telling_refusals(communicator_state& state, Part&& part) {
  if (!state.host.settings().check) return part();
  try {
    return part();
  } catch (...) {
    announce_refusal(state);
    throw;
  }
}

}  // namespace weft::detail
