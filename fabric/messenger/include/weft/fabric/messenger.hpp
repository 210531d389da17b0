// SPDX-License-Identifier: Apache-2.0
// Messages of any length between ranks: matching, flow control and rendezvous over one transport, the same for every
// provider.
//
//   communicator, executors --post--> messenger --frames, payloads--> transport
//                           <-finished--         <--arrived, done---
//
// Short messages go at once into the receiver's ring, under credit that each peer has there; what nothing matches yet
// moves from the ring to memory, and gives its credit back. Long ones go when the receiver has posted memory for them:
// a message's sender asks by an envelope, a collective's receiver grants by itself, when the operation starts (unless
// it is set otherwise).
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include <weft/fabric/agreement_call.hpp>
#include <weft/fabric/message_counts.hpp>
#include <weft/fabric/messenger_settings.hpp>
#include <weft/fabric/operation.hpp>
#include <weft/fabric/participant.hpp>
#include <weft/fabric/token.hpp>
#include <weft/fabric/transport.hpp>
#include <weft/runtime/clock.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/progress.hpp>

namespace weft::fabric {

class engine;

/// One process's end of all its messages. Any thread may call what does not say otherwise; a call takes the token, or
/// leaves its work for its holder.
class messenger final : public pollable {
 public:
  /// What a frame holds beside its message, bytes: the longest message sent without asking is as much shorter.
  static constexpr std::size_t frame_overhead = 64;

  messenger(std::unique_ptr<transport> network, messenger_settings settings);
  /// Forgets what is still in flight: neither those operations nor their memory are touched any more, and they do not
  /// finish. The operations and their participants must outlive the call.
  ~messenger() override;

  /// Connects to all processes of the job, whose endpoints' addresses these are; of two processes the lower one opens
  /// the connection. Blocks. Throws errc::timed_out naming who is missing; what `interrupted`, called now and then,
  /// throws goes through.
  void connect(std::span<const address> endpoints, clock::time_point deadline,
               const std::function<void()>& interrupted = {});

  /// What its memory is counted in; null: nothing.
  const std::shared_ptr<memory_budget>& memory() const noexcept;

  /// See transport::links_in_contact and keep_links; once connected, which others may not be yet.
  std::uint32_t links_in_contact();
  void keep_links(std::uint32_t kept);

  /// Makes a rank of a communicator known. Messages for it that came earlier are kept. A rank joins the communicators
  /// of one leader in the order of their counters (see group): of those that it has passed over nothing is kept. Throws
  /// errc::invalid_argument where it has left this one.
  void join(participant& member);
  /// Forgets it: no operation of it may be in flight; later messages for it are dropped.
  void leave(participant& member);

  /// Makes room for the messages by `member` of a collective that is to run again and again, one run at a time: posting
  /// them allocates nothing. Throws std::bad_alloc.
  void reserve(participant& member, std::span<const planned_message> each_run);
  /// Takes back what `reserve` did for the same messages.
  void release(participant& member, std::span<const planned_message> each_run);

  /// Begins an operation. The order of one thread's posts is kept.
  void post(operation& begun);
  /// Sends a message that is short, to a process that shares memory with this one, if it can leave now, which it has
  /// then: `data` may be reused. False: nothing was done, and it is to be posted. In order with one thread's posts.
  bool send_now(participant& by, int peer, std::uint64_t tag, std::span<const std::byte> data);
  /// The same where the token is held: within `operation::finished` and `while_held`.
  void post_held(operation& begun) noexcept;
  /// Takes back a collective's receive that has been posted and that nothing will be sent to; it ends without a failure
  /// as soon as nobody can touch its memory, which for a long message takes an answer of the sender's process. One that
  /// has ended already is left alone. Where the token is held.
  void take_back_held(receive_operation& posted) noexcept;
  /// Takes back a receive of a message that no message has met yet, which then has ended without a failure: true.
  /// False: one has, or the receive has failed.
  bool cancel(receive_operation& posted) noexcept;
  /// Has `task` run: now where the token is free, else by its holder. Any thread; never waits.
  void post(task& begun) noexcept;
  /// Leaves `task` for whoever polls next. Any thread; never waits. Where a thread of its own polls, so that what comes
  /// of the task does not take the caller's core; `progress::notify` follows.
  void hand_over(task& task) noexcept;
  /// Runs `function` with the token held. It must not block.
  void while_held(const std::function<void()>& function);
  /// The same for who only looks: nothing else is done while the token is held. False where that is not to be had
  /// within `longest`.
  bool look_held(std::chrono::nanoseconds longest, const std::function<void()>& function);
  /// Calls `function` with each message that has come for `member` and that no receive matches, until it returns false.
  /// With the token held.
  static void look_at_unreceived(const participant& member,
                                 const std::function<bool(const unexpected_message&)>& function);

  /// The message that a receive of (source, tag) by `member` would get, if it is here. Throws the member's failure.
  /// `set_aside`: only a receive that names it by its number gets it then, or `discard` drops it, before the member
  /// leaves.
  std::optional<probed_message> probe(participant& member, int source, std::uint64_t tag, bool set_aside = false);
  /// Drops the message that `member` has set aside under that number: its send ends as if the receiver had left.
  void discard(participant& member, std::uint64_t number) noexcept;

  /// Moves everything on as far as it goes now. One thread at a time does; for the others it is false at once.
  bool poll() override;
  /// True where polling is pointless: quiet, and nobody else may need an answer (credit, or what a failure left open).
  bool idle() const noexcept override;
  bool rings() const noexcept override;
  void listen() noexcept override;
  std::uint64_t events() const noexcept override;
  /// True while this process has nothing in flight: no operation, no frame, nothing kept for a peer. Any thread.
  bool quiet() const noexcept;

  /// A process is gone: everything that needs it ends with peer_lost. `why` becomes part of the message.
  void lose(int process, const std::string& why);
  /// Ends every operation of a communicator, on all processes, with `code` and `text`.
  void break_communicator(std::uint64_t communicator, errc code, const std::string& text);
  /// The same since a collective has failed on the rank: with peer_lost or mismatched_call where it failed with that,
  /// else with operation_failed.
  void break_communicator(const participant& member, const std::exception_ptr& why);
  /// The same since `member` waits in a collective, elsewhere than here, for `rank`, which has left the communicator:
  /// with peer_lost where some process is known to be lost, else with mismatched_call.
  void miss(const participant& member, int rank);
  /// The processes that are known to be lost, in ascending order.
  std::vector<int> lost();
  /// A rank of this process, of that number in the world, did not get the communicator of which it had offered to be
  /// the leader by this counter (group::offered): others that have got it fail where they wait for it.
  void refuse(int rank, std::uint64_t offered);
  /// A rank of this process, of that number in the world, divides a communicator. Until all that it has begun to divide
  /// are ended, it may join those that it gets in any order.
  void begin_division(int rank);
  void end_division(int rank);
  /// Whether that rank, of that number in the world and of this process, was in the communicator, and has left it.
  bool has_left(std::uint64_t communicator, std::int32_t rank);
  /// The ranks of this process take part in nothing any more but in that communicator: whoever still waits for one of
  /// them elsewhere is told.
  void retire(std::uint64_t but);
  /// Begins an agreement with the other ranks of the communicator that are there, whatever has failed. It ends with the
  /// same answer on all of them (consensus.hpp), even where some die in it: what each gave, combined; who is dead or
  /// has left when it is put together gives nothing. It fails, with peer_lost, only where the others have given this
  /// process up. Each process answers for it as long as it polls.
  void agree(agreement_call& begun);
  /// That rank of the job, of this process, takes part in no agreement that it has not begun: its program has failed.
  void agrees_no_more(int rank) noexcept;
  /// The ranks that have yet to take part in it, as far as this process knows, ascending: those here, and all others
  /// only where it is this process's turn to ask them.
  std::vector<int> missing(const agreement_call& of);
  /// That agreement is waited for no more, though what it has given counts, and its owner may destroy it.
  void withdraw(const agreement_call& begun) noexcept;
  /// As break_communicator with operation_failed, as soon as somebody polls: this process cannot go on with it. Where
  /// the token is held.
  void break_held(std::uint64_t communicator, const std::exception_ptr& why) noexcept;
  /// A process has ended, most likely: `lose`, unless something else tells of it soon. Where the token is held.
  void suspect_held(int process, const std::string& why) noexcept;
  /// Ends every operation of `member` with errc::revoked, or without memory with std::bad_alloc, here alone.
  void break_here(participant& member) noexcept;
  /// What another process's `broadcast` said. Malformed notes are ignored.
  void take_note(std::span<const std::byte> note);

  /// Nearly all calls come from the calling thread from now on (token::give_to_this_thread).
  void belongs_to_this_thread() noexcept;

  /// Sends what waits to be sent, as far as it can leave now.
  void flush() noexcept;

  /// Polls until all frames have left, or the deadline has passed.
  void drain(clock::time_point deadline);

  /// What it has carried so far. Any thread may read it, as long as the messenger lives.
  const message_counts& counts() const noexcept;

  const transport_limits& limits() const noexcept;
  /// See longest_at_once in messenger_settings.hpp; once it has been started.
  std::size_t longest_at_once() const noexcept;
  int process() const noexcept;
  int processes() const noexcept;

 private:
  std::unique_ptr<engine> engine_;
};

}  // namespace weft::fabric
