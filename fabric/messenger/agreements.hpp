// SPDX-License-Identifier: Apache-2.0
// The agreements that ranks of this process take part in, or have taken part in.
//
// A process takes part once, for all of its ranks that are in the communicator, when the last of them has called. What
// it knows of the latest agreement of a communicator is kept after its ranks have gone on, and after they have left:
// others may still ask (consensus.hpp). Messages of it do not end with the communicator's failure.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>
#include <weft/fabric/agreement_call.hpp>
#include <weft/fabric/messenger_settings.hpp>

#include "consensus.hpp"
#include "flow_control.hpp"
#include "rooms.hpp"
#include "troubles.hpp"

namespace weft::fabric {

class agreements {
 public:
  /// Of communicators that all ranks here have left so many are remembered: the oldest goes first.
  static constexpr std::size_t most_left = 1024;

  /// What is given outlives this.
  agreements(const messenger_settings& settings, flow_control& flow, const rooms& members, troubles& found)
      : settings_(settings), flow_(flow), rooms_(members), troubles_(found), partial_(settings.first_rank.size()) {}

  /// Throws std::bad_alloc, and has then begun nothing.
  void begin(agreement_call& call);
  /// The ranks that have yet to give something to what that call waits for, as far as this process knows, ascending:
  /// those here, and where it coordinates all those of processes that have given nothing.
  std::vector<int> missing(const agreement_call& call) const;
  /// That call is waited for no more; what it has given counts. Nothing where it has finished.
  void withdraw(const agreement_call& call) noexcept;
  /// A frame of that kind. Throws std::bad_alloc.
  void take(peer& from, const header& h, std::span<const std::byte> body);
  /// That process is lost; this one, when it has been given up: then all that waits ends with `why`.
  void lose(int process) noexcept;
  void give_up(const std::exception_ptr& why) noexcept;
  /// Ranks of this process have left that communicator, or did not get it, or agree no more, or are about to end: of
  /// all.
  void look_again(const std::shared_ptr<const group>& communicator) noexcept;
  void look_again() noexcept;
  /// Whether any rank of this process waits for an agreement.
  bool any() const noexcept { return waiting_ != 0; }
  /// Asks for what is waited for long: `is_due` counts in what is kept of each.
  void remind(bool (*is_due)(std::uint8_t& looks)) noexcept;

 private:
  using bytes = std::vector<std::byte>;

  struct agreement {
    std::vector<agreement_call*> calls;  ///< that wait
    combination combine = nullptr;       ///< of a call; null: no rank here has called
    std::map<int, bytes> given;          ///< by ranks of this process
    std::map<int, bytes> early;          ///< what processes have sent before this one takes part: the last of each
    std::optional<consensus> part;
    std::shared_ptr<const bytes> agreed;
    int awaited = 0;         ///< the first rank of this process that may have yet to call
    bool is_absent = false;  ///< this process has said that it takes no part
    std::uint8_t looks = 0;
  };
  struct communicator {
    std::shared_ptr<const group> members;  ///< null while no rank here has called
    std::vector<int> processes;            ///< of its ranks, by the first of each: the order of the members of `part`
    std::vector<int> firsts;               ///< of each of those the first rank
    std::vector<int> places;               ///< of every process in that order; -1: has none
    room_key asked;                        ///< a rank here, as others have named it, and what it had offered
    std::uint64_t offered = 0;
    std::map<std::uint32_t, agreement> open;  ///< by number: the latest that this process takes part in, and the next
    std::uint32_t next = 0;                   ///< the first that it does not take part in yet
    bool has_left = false;                    ///< all ranks here have, or never came
  };

  void settle(communicator& of, std::uint64_t id) noexcept;
  void take_whole(peer& from, const header& h, bytes message);
  static void know(communicator& of, const std::shared_ptr<const group>& members, std::size_t processes);
  bool is_absent(const communicator& of, int rank) const;
  bool all_absent(const communicator& of) const;
  static bool has_said_absent(const communicator& of);
  bool is_complete(const communicator& of, agreement& one) const;
  void start(communicator& of, std::uint32_t number, agreement& one);
  void say_absent(std::uint64_t id, std::uint32_t number, agreement& one);
  void note_left(std::uint64_t id, communicator& of) noexcept;
  void send(std::uint64_t id, std::uint32_t number, int process, std::int32_t rank, std::uint64_t offered,
            std::span<const std::byte> message);
  void finish(communicator& of, std::uint32_t number);

  const messenger_settings& settings_;
  flow_control& flow_;
  const rooms& rooms_;
  troubles& troubles_;
  std::unordered_map<std::uint64_t, communicator> communicators_;
  std::deque<std::uint64_t> left_;  ///< that all ranks here have left, the oldest first
  std::vector<bytes> partial_;      ///< of each process: a message that has come in part
  std::size_t waiting_ = 0;
  std::exception_ptr given_up_;
};

}  // namespace weft::fabric
