// SPDX-License-Identifier: Apache-2.0
// A rank of a simulated job: a program that follows the plan until something fails, and then goes another way.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include <weft/fabric/messenger.hpp>

#include "fabric/simulation/draws.hpp"
#include "fabric/simulation/simulated_operations.hpp"

namespace weft_test {

class simulated_world;

class simulated_rank {
 public:
  simulated_rank(simulated_world& job, int world_rank, std::uint64_t seed);
  ~simulated_rank();

  /// Does the next thing. False: it waits.
  bool act();
  bool ended() const { return ended_; }
  int world_rank() const { return rank_; }

  // Of operations, where the messenger's token is held.
  void ended_with(simulated_send& send) noexcept;
  void ended_with(simulated_receive& receive) noexcept;

  /// What it waits for, for a report.
  std::string waits_for() const;
  /// Ends what waits for a message of anybody, as only a user can who knows that nobody sends. Whether there is any.
  bool gives_up_any_source();
  bool agrees() const { return call_ != nullptr; }

 private:
  /// Its part in a communicator.
  struct membership {
    std::shared_ptr<const weft::fabric::group> members;
    std::unique_ptr<weft::fabric::participant> self;
    std::uint32_t collectives = 0;  ///< called so far
    std::uint32_t agreements = 0;
    std::vector<weft::fabric::operation*> pending;
    bool failed = false;    ///< an operation has, and the rank knows
    bool has_news = false;  ///< an operation has, and the rank is to learn of it
    bool left = false;
    bool is_leaving = false;
  };
  struct action {
    enum kind : std::uint8_t { send, receive, receive_nothing, probe, wait, join, agree, agreed, revoke, leave };
    kind what = wait;
    int on = 0;
    std::size_t which = 0;  ///< of the step's transfers
    std::uint32_t sequence = 0;
  };

  membership* in(int slot);
  weft::fabric::messenger& messages();
  void join(int slot, std::shared_ptr<const weft::fabric::group> members);
  bool learn();
  void take_failure(int slot, membership& its);
  void tell_failure(int slot, membership& its);
  void abandon(int slot, bool at_once);
  void unwind();
  void end();
  void begin_step();
  void plan_messages(membership& its, bool probes);
  void plan_collective(membership& its);
  void plan_vain(membership& its);
  void plan_end();
  bool perform();
  bool perform_on(const action& next, membership& its);
  void send(const action& what, membership& its);
  void receive(const action& what, membership& its, const weft::fabric::probed_message* found);
  void receive_nothing(const action& what, membership& its);
  bool probe(action what, membership& its);
  bool agree(membership& its);
  bool take_answer(int slot);
  void leave(membership& its);
  void refuse_what_was_to_come();
  std::size_t message_of(const membership& its, std::size_t which) const;
  void post(weft::fabric::operation& begun, membership& its);
  void note_end(weft::fabric::operation& ended, int slot) noexcept;

  simulated_world& job_;
  const int rank_;
  draws random_;
  std::int64_t starts_at_;  ///< nanoseconds
  bool started_ = false;
  bool ended_ = false;
  bool unwinding_ = false;
  std::size_t next_step_ = 0;
  std::size_t step_ = 0;  ///< that of the actions
  std::deque<action> actions_;
  std::vector<std::unique_ptr<membership>> memberships_;  ///< by number of the communicator; null: is not in it
  std::unique_ptr<simulated_agreement> call_;
  std::vector<std::unique_ptr<simulated_agreement>> calls_;  ///< that have ended
};

}  // namespace weft_test
