// SPDX-License-Identifier: Apache-2.0
// Who goes on where processes that may live do not hear each other: the network between them has fallen apart, or a
// machine is gone. The members vote on it, and what more than half of them accept is the verdict: so there is one. Of
// as many on both sides those count as more that have the lowest member.
//
//   a process                                     the proposer: the lowest that is heard
//     hears, silent (vote.hpp)  ->                  a moment, so that all who do not hear others have said so
//                               <-  promised        asks for promises to its ballot
//     promised                  ->                  until each has promised, or nobody of them hears the others
//                               <-  accepted        proposes that those go on
//     accepted                  ->                  all see when that is decided, and the next view begins
//
// Who promises has heard the proposer and was heard by it, by whatever way: only those who can talk in both directions
// go on together. Of two among them whose own connection is dead, one goes too: the one of more such connections, else
// the higher. Who begins to speak late in a vote may have been held until then: that others do not hear it counts once
// they have had a heartbeat to hear it. A process gives itself up where all that are heard have spoken and are too few,
// and where there is no verdict after as long as a silent process is waited for.
//
// Whom something holds is silent, too, but another process of its host says so: that one is waited for in its place,
// and the held one goes on, whatever is decided. It still counts: more than half of all have to speak.
//
// A verdict is a Paxos instance (Lamport 1998) for each view, as in Disk Paxos (Gafni and Lamport 2003): each process
// has a block, its vote, which goes to everybody as a whole. So messages may be repeated, and overtake each other.
// Members that have died or left do not count, unless they have promised something in this view: one side may have
// their promise, and the other one know of the end. For that the end of a process must not overtake its votes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "vote.hpp"

namespace weft::fabric {

/// One process's part in the votes. Used by one thread; knows the time only from its caller.
class verdict {
 public:
  using clock = std::chrono::steady_clock;
  using time_point = clock::time_point;

  struct setup {
    int self = 0;
    int processes = 1;
    std::chrono::milliseconds timeout{};    ///< silence of a process after which it is given up
    std::chrono::milliseconds heartbeat{};  ///< within how much all reports of one silence come
    std::uint64_t seed = 0;                 ///< of the choice of whom to seek
    /// Sends a vote of this process to everybody; does not call back. Later ones have greater numbers.
    std::function<void(std::uint64_t sequence, std::span<const std::byte> said)> flood;
  };
  struct numbered_vote {
    int process;
    std::uint64_t sequence;
    std::vector<std::byte> said;
  };

  /// From the first report of a silence to the verdict, at most, where no message is lost or slow: others report it up
  /// to a heartbeat later.
  static constexpr std::chrono::milliseconds time_to_decide(std::chrono::milliseconds heartbeat) noexcept {
    return heartbeat * 2;
  }

  explicit verdict(setup what);

  /// What this process's own connections say; to be called again at `next_look()`.
  void hear(hearing around, time_point now);
  /// What `from` has said; true if that is new, and to be passed on. Throws errc::protocol for what is no vote.
  bool take(int from, std::uint64_t sequence, std::span<const std::byte> said, time_point now);
  /// `process` has ended for certain, or left.
  void lose(int process, time_point now);
  /// This process was stopped for so long, and could not have heard anybody.
  void postpone(clock::duration time);

  /// Whether a vote is under way, as far as is known here.
  bool open() const noexcept { return open_; }
  time_point next_look() const noexcept { return next_look_; }

  /// Whom to connect to now, if that is possible: not heard in this vote, though others may hear them. Those who watch
  /// each other on one side of a network need not be connected by that side alone. Each is told once a vote.
  std::vector<int> take_sought();

  /// Whether one that is heard has said in this vote, or lately, that `process`, of its host, is held.
  bool held(int process, time_point now) const;

  /// Who goes on, those that have ended in another way among them.
  bool goes_on(int process) const noexcept { return own_.members[index(process)]; }
  /// How many verdicts are known here.
  std::uint32_t verdicts() const noexcept { return own_.view; }
  /// Whether this process may not go on, by a verdict or for the lack of one. Nothing more is said then.
  bool over() const noexcept { return over_; }

  /// What is known here of the votes of all, for a process that is connected to later.
  std::vector<numbered_vote> everything() const;

 private:
  using set = std::vector<bool>;

  struct heard_vote {
    std::uint64_t sequence = 0;
    time_point first = time_point::min();  // in the latest vote in which it spoke
    time_point when = time_point::min();   // its latest word
    vote said;
  };

  static constexpr std::size_t most_sought = 16;

  static std::size_t index(int process) noexcept { return static_cast<std::size_t>(process); }
  int processes() const noexcept { return static_cast<int>(own_.members.size()); }
  const vote& said_by(int process) const noexcept;
  bool counts(int process) const noexcept;
  bool lives(int process) const noexcept;
  bool fresh(int process) const noexcept;
  bool is_quorum(const set& some) const;
  bool disputed(time_point now) const;

  void advance(time_point now);
  void adopt();
  void promise();
  void accept();
  void decide();
  void begin_view(std::uint32_t view, set members);
  void open_or_close(time_point now, bool anew);
  void lead(time_point now);
  bool my_turn(time_point now) const;
  void propose(time_point now);
  bool may_hear_again(const set& some, time_point now) const;
  set choose(const set& promised, time_point now) const;
  void remove_deaf(set& some, time_point now) const;
  set heard_by(const set& some) const;
  void consider_giving_up(time_point now);
  void seek();
  void say(bool anew);

  const int self_;
  const std::chrono::milliseconds timeout_;
  const std::chrono::milliseconds heartbeat_;
  const std::chrono::milliseconds window_;
  const decltype(setup::flood) flood_;
  std::vector<heard_vote> heard_;  // of the others
  set gone_;
  vote own_;
  vote said_;  // of that, last
  std::uint64_t sequence_ = 0;
  bool open_ = false;
  bool over_ = false;
  time_point opened_;
  time_point ballot_begun_;  // the latest one that is known here
  time_point next_look_ = time_point::max();
  bool has_sought_ = false;  // in this vote
  std::vector<int> sought_;
  std::mt19937_64 random_;
};

}  // namespace weft::fabric
