// SPDX-License-Identifier: Apache-2.0
// How the processes of a communicator agree on a value while some of them die.
//
//   member                  coordinator: the first that is not gone
//     report (given)    ->                   what the value is to be made of
//                       <-  propose          once all have reported: what any of them has accepted last, else all
//                       combined
//     report (accepted) ->
//                       <-  confirm          once all have accepted: it is decided
//
// Where the coordinator dies the next one asks all. What was decided every living process has accepted, so each later
// coordinator learns of it and proposes it again: the answer is the same everywhere, those that died after they had it
// included. A process returns as soon as it knows the answer, and goes on answering for it (early return: Herault and
// others 2015, "Practical scalable consensus for pseudo-synchronous distributed systems"; the turns of coordinators:
// Chandra and Toueg 1996). Losses have to be true, and known to all in the end: whoever is taken for lost is given up
// by itself, too. Messages between two processes keep their order, and get lost only with one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace weft::fabric {

/// One process's part in one agreement. Members are numbered in an order that all share.
class consensus {
 public:
  using bytes = std::vector<std::byte>;

  struct setup {
    int self = 0;
    bytes given;             ///< what this member gives
    std::vector<bool> gone;  ///< of each member, whether it is known to take no part
    /// Makes the value of what each gave; empty of those that take no part. The same function everywhere.
    std::function<bytes(std::span<const std::optional<bytes>> given)> combine;
    /// Sends `message` to that member; does not call back.
    std::function<void(int to, std::span<const std::byte> message)> send;
  };

  explicit consensus(setup what);

  /// What `from` has sent. False for what is no message.
  bool take(int from, std::span<const std::byte> message);
  /// That member is dead, or takes no part.
  void lose(int member);
  /// Long after something has come: asks those that are waited for.
  void remind();

  /// What was decided, once it is known here; never changes.
  const std::optional<bytes>& decision() const noexcept { return decision_; }

  /// Whether it is this one's turn to put the answer together, and of whom it has heard nothing yet.
  bool coordinates() const noexcept { return coordinator() == self_; }
  bool lacks_report_of(int member) const noexcept {
    return !is_gone(member) && !reports_[static_cast<std::size_t>(member)];
  }

  /// What a process sends that takes no part in an agreement, and never will, to whoever sends it a message of it.
  static bytes absence();

 private:
  enum class kind : std::uint8_t { given = 1, accepted, decided, propose, confirm, question, absent };
  static constexpr int nobody = -1;

  /// What a member has said of itself last.
  struct report {
    kind state = kind::given;
    int ballot = nobody;  ///< accepted: by which coordinator's proposal
    bytes value;          ///< given, or accepted
  };

  int members() const noexcept { return static_cast<int>(gone_.size()); }
  bool is_gone(int member) const noexcept { return gone_[static_cast<std::size_t>(member)]; }
  int coordinator() const noexcept;
  std::optional<report>& of(int member) noexcept { return reports_[static_cast<std::size_t>(member)]; }

  void send(int to, kind what, int ballot = nobody, std::span<const std::byte> value = {}) const;
  void report_to(int coordinator);
  void take_report(int from, report its);
  void answer(int member);
  void ask_all();
  bool waits_for(int member);
  void coordinate();
  void propose();
  bytes choose();
  void decide(bytes value);

  const int self_;
  std::vector<bool> gone_;
  decltype(setup::combine) combine_;
  decltype(setup::send) send_;
  std::vector<std::optional<report>> reports_;  ///< that have come here; this member's own is always there
  int promised_ = nobody;                       ///< proposals of coordinators before that one are not accepted
  bool asked_ = false;                          ///< all others, since it is this one's turn
  std::optional<bytes> proposal_;               ///< of this one
  std::optional<bytes> decision_;
};

}  // namespace weft::fabric
