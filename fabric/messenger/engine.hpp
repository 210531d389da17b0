// SPDX-License-Identifier: Apache-2.0
// Inside the messenger: everything that the token guards.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <weft/fabric/message_counts.hpp>
#include <weft/fabric/messenger_settings.hpp>
#include <weft/fabric/participant.hpp>
#include <weft/fabric/slot_map.hpp>
#include <weft/fabric/token.hpp>
#include <weft/fabric/transport.hpp>
#include <weft/runtime/error.hpp>

#include "agreements.hpp"
#include "ended_operations.hpp"
#include "flow_control.hpp"
#include "message_pool.hpp"
#include "payload.hpp"
#include "peer.hpp"
#include "planned_needs.hpp"
#include "rooms.hpp"
#include "submissions.hpp"
#include "transfer_slots.hpp"
#include "troubles.hpp"
#include "wire.hpp"

namespace weft::fabric {

/// Why a communicator fails, as it is told to all processes.
struct failure_reason {
  errc code = errc::operation_failed;
  std::string text;
  std::int32_t lost = -1;  ///< peer_lost: the rank of the world
};

class engine final : private receiver {
 public:
  engine(std::unique_ptr<transport> network, messenger_settings settings);
  ~engine() override;

  // Every call below but these is made with the token held.
  token& guard() noexcept { return token_; }
  bool poll();
  bool quiet() const noexcept;
  bool rings() const noexcept;
  void listen() noexcept;
  std::uint64_t events() const noexcept { return events_.load(std::memory_order_relaxed); }  // relaxed: is compared

  /// Any thread may read them.
  const message_counts& counts() const noexcept { return counts_; }
  const messenger_settings& settings() const noexcept { return settings_; }
  transport& network() noexcept { return *network_; }
  /// Any thread may leave something there.
  submissions& left() noexcept { return submissions_; }

  // engine.cpp: the operations of the ranks of this process
  void begin(operation& begun) noexcept;
  bool send_now(participant& by, int peer, std::uint64_t tag, std::span<const std::byte> data) noexcept;
  /// Whether there were any.
  bool take_submissions() noexcept { return !submissions_.empty() && take_all_submissions(); }
  void take_back(receive_operation& posted) noexcept;
  /// False: a message has met it.
  bool cancel(receive_operation& posted) noexcept;
  /// Throws the member's failure.
  std::optional<probed_message> probe(participant& member, int source, std::uint64_t tag, bool set_aside);
  [[gnu::noinline]] void discard(participant& member, std::uint64_t number) noexcept;
  /// After one has begun, and others where there were `others`. A receive that waits for its message changes nothing
  /// that others look at, where they know that something is in flight.
  void finish_begun(const operation& begun, bool others) noexcept {
    const bool only_waits = !others && begun.now == operation::stage::posted && !troubles_.any() && operations_.empty();
    // relaxed: see quiet().
    if (!only_waits || !busy_.load(std::memory_order_relaxed)) finish_ended();
  }
  void finish_ended() noexcept {
    if (troubles_.any() || !operations_.empty()) tell_ended();
    note_needs();
  }

  // engine_members.cpp
  void join(participant& member);
  void leave(participant& member);
  /// Of a plan of the rank (messenger::reserve).
  void reserve(participant& member, std::span<const planned_message> each_run);
  void release(participant& member, std::span<const planned_message> each_run) noexcept;

  flow_control& flow() noexcept { return flow_; }
  troubles& found() noexcept { return troubles_; }

  // engine_inquiry.cpp
  /// Why that rank of the member's communicator, which has left it, is waited for in vain.
  std::exception_ptr left_error(const participant& member, int rank) const;
  bool knows_loss() const noexcept { return first_lost_ >= 0; }
  /// Sends what waits, as far as it can leave.
  void flush() noexcept;
  rooms& members() noexcept { return rooms_; }
  agreements& agreed() noexcept { return agreements_; }
  void agree_no_more(std::int32_t rank) noexcept {
    rooms_.agree_no_more(rank);
    agreements_.look_again();
  }
  /// A rank of this process did not get the communicator that it would have led by this counter.
  void refuse(std::int32_t rank, std::uint64_t offered);
  void end_division(std::int32_t rank);

  // engine_failure.cpp
  void lose(int process, const std::string& why);
  void break_communicator(std::uint64_t communicator, const failure_reason& why, bool tell);
  /// Since a collective has failed on the rank.
  void break_communicator(const participant& member, const std::exception_ptr& why);
  void take_note(std::span<const std::byte> note);
  /// `alone`: the other ranks do not hear of it by themselves.
  void break_participant(participant& member, const std::exception_ptr& failure, bool alone) noexcept;

 private:
  // engine_members.cpp
  planned_needs needs_of(const participant& member, std::span<const planned_message> each_run) const noexcept;
  void settle_in(participant& member);
  void miss_who_refused(participant& member);
  /// Whether a message of a collective, of a vector of so many bytes, goes between this process and that one without
  /// asking.
  bool goes_at_once(const peer& other, std::size_t bytes, std::size_t vector) const noexcept {
    return bytes <= settings_.eager_limit || vector <= other.at_once;
  }
  /// Bytes of contents in what stands for a message before its receive.
  std::size_t room_for(const participant& member, const planned_message& one) const noexcept;
  /// What stands for one that comes before its receive: with its contents, for which there is room, or announced.
  void reserve_message(std::size_t room);
  void release_message(std::size_t room) noexcept;
  void release_messages(const participant& member, std::span<const planned_message> of) noexcept;

  // engine.cpp
  [[gnu::noinline]] bool take_all_submissions() noexcept;
  [[gnu::noinline]] void tell_ended() noexcept;
  void note_needs() noexcept;
  bool needs_polls() const noexcept;
  [[gnu::noinline]] void begin_send(send_operation& send);
  void begin_receive(receive_operation& receive);
  [[gnu::noinline]] void fail(operation& failed, std::exception_ptr failure) noexcept;

  // engine_matched.cpp: messages that meet their receives
  void send_home(send_operation& send);
  void deliver(receive_operation& receive, int source, std::uint64_t tag, const std::byte* message,
               std::size_t bytes) noexcept;
  [[gnu::noinline]] void consume(receive_operation& receive, std::unique_ptr<unexpected_message> message);
  [[gnu::noinline]] void consume_aside(receive_operation& receive);
  void drop(std::unique_ptr<unexpected_message> message) noexcept;
  void match(receive_operation& receive, unexpected_message* message);
  void fail_with(send_operation& send, const receive_operation& receive) noexcept;
  bool agrees(receive_operation& receive, int source, std::uint64_t fingerprint);
  bool fits(receive_operation& receive, int source, std::size_t bytes) {
    const bool right = receive.collective ? bytes == receive.bytes : bytes <= receive.bytes;
    if (right && receive.now != operation::stage::landing) return true;
    fail_misfit(receive, source, bytes);
    return false;
  }
  [[gnu::noinline]] void fail_misfit(receive_operation& receive, int source, std::size_t bytes);

  // engine_arrival.cpp: what comes from the transport
  void arrived(std::span<const std::byte> frame) override;
  void arrived(int peer, message_name name, message_ends ends, std::span<const std::byte> bytes) override;
  void done(transfer& ended, std::size_t bytes, std::error_code error) override;
  void dropped() override { flow_.note_dropped(); }
  void broken(int peer, std::error_code error) override;
  bool is_ours(const header& h) const noexcept;
  /// Whether `process` hosts that rank of the communicator.
  bool speaks_for(int process, const room& there, int rank) const noexcept;
  [[gnu::noinline]] void suspect_of_lie(int process, int rank);
  void take(peer& from, const header& h, std::span<const std::byte> body);
  void take_or_fail(peer& from, const header& h, std::span<const std::byte> body) noexcept;
  void take_several(peer& from, std::span<const std::byte> frames);
  void take_eager(peer& from, const header& h, std::span<const std::byte> body);
  void take_short(peer& from, room& there, int source, std::uint64_t tag, std::span<const std::byte> body);
  struct arrival {
    int source;
    std::uint64_t tag;
    bool collective = false;
    std::uint64_t fingerprint = 0;
  };
  [[gnu::noinline]] void store(peer& from, room& there, const arrival& its, std::span<const std::byte> body);
  void take_envelope(peer& from, const header& h, std::span<const std::byte> body);

  // engine_departure.cpp, engine_landing.cpp, engine_orphans.cpp: long messages
  void remove(departure& gone) noexcept;
  void pump(departure& leaving);
  bool may_leave(const peer& to, const departure& leaving, std::size_t bytes) const noexcept;
  static std::size_t next_departing(const departure& leaving) noexcept;
  static void wait_for_turn(peer& to, departure& leaving) noexcept;
  void pump_next(peer& to);
  static bool add_grant(departure& leaving, const grant_body& grant) noexcept;
  void take_grant(peer& from, const header& h, std::span<const std::byte> body);
  void begin_collective_departure(send_operation& send, room& from);
  void attach(departure& granted, send_operation& send);
  [[gnu::noinline]] void begin_landing(receive_operation& receive, int process, std::size_t bytes,
                                       std::uint32_t sender_name, bool early);
  bool may_land_early(const peer& from) const noexcept;
  void take_ready(peer& from, const header& h);
  void post_pieces(landing& arriving);
  void share_window(peer& from);
  std::size_t next_piece(const peer& from) const noexcept;
  std::size_t window(const peer& from) const noexcept;
  static std::size_t ahead(const peer& from) noexcept;
  static void raise(landing& arriving, std::size_t piece) noexcept;
  void send_grant(landing& arriving, std::uint32_t piece);
  void remove(landing& gone) noexcept;
  void piece_landed(landing& arriving, std::size_t bytes, bool whole);
  void piece_departed(departure& leaving, bool failed);
  void take_refusal(const header& h);
  void take_withdrawal(peer& from, const header& h);
  void take_withdrawn(peer& from, const header& h, std::span<const std::byte> body);
  void settle(departure& stopped);
  void end_refused(send_operation& send);
  void withdraw(landing& arriving);
  void send_withdrawal(const landing& arriving);
  void stop(landing& stopped) noexcept;
  void settle(landing& withdrawn);
  void remove_withdrawn(landing& gone) noexcept;
  void cancel_pieces(landing& withdrawn);
  void answer_withdrawn(peer& to, std::uint32_t id, std::uint64_t sent, stopped why);
  void answer_dropped(int process, std::uint64_t sender_name);
  static std::exception_ptr gave_up_error(const participant& receiver, int sender);
  void take_dropped(const header& h);
  void retry_payloads();
  void give_up_orphans();
  departure* granted(const peer& by, std::uint32_t id) noexcept { return granted_.front({by.process, id}); }

  // engine_poison.cpp: messages without contents
  void send_poisoned(peer& to, send_operation& send);
  void take_poisoned(peer& from, const header& h, std::span<const std::byte> body);
  void end_poisoned(receive_operation& receive, std::shared_ptr<const poison> poisoned);
  void answer_poisoned(departure& granted);
  std::vector<std::byte> bytes_of(const poison& why) const;
  static std::shared_ptr<const poison> read_poison(std::span<const std::byte> body);

  // engine_agreement.cpp: whether ranks call the same collectives
  [[gnu::noinline]] void note_collective(const operation& begun);
  bool disagrees(room& here, std::uint64_t tag, std::uint64_t fingerprint, int source);

  // engine_inquiry.cpp: whether what ranks wait for will ever come
  void inquire_now_and_then();
  static bool is_unanswered(const operation& each) noexcept;
  void inquire(participant& member, int rank, operation* about);
  void inquire_of(participant& member, int rank, operation* about);
  void take_inquiry(peer& from, const header& h, std::span<const std::byte> body);
  void compare_with_sent(peer& from, room& here, const header& h);
  void take_left(peer& from, const header& h);
  void miss(participant& member, int rank, const absence& gone);
  void note_lost(std::int64_t rank) noexcept;

  // engine_failure.cpp
  void lose(peer& gone, const std::string& why);
  void break_everything(const std::exception_ptr& failure) noexcept;
  [[gnu::noinline]] void cancel(operation& cancelled, const std::exception_ptr& failure) noexcept;
  void frame_failed(peer& from, const header& h, std::span<const std::byte> body) noexcept;
  bool face_troubles() noexcept;
  bool lose_suspects() noexcept;
  bool break_what_is_owed() noexcept;
  void orphan_payloads(int process);
  void drop_early_grants(room& of, stopped why);
  void report_mismatch(participant& member, std::uint64_t mine, int source, std::uint64_t theirs);
  std::exception_ptr lost_error(int process) const;

  token token_;
  std::unique_ptr<transport> network_;
  messenger_settings settings_;
  message_counts counts_;
  transfer_slots slots_;
  ended_operations operations_;
  troubles troubles_;
  message_pool messages_;
  slot_map<departure> departures_;
  flow_control flow_;
  fifo_index<departure, &departure::granted> granted_;  // by their receivers' names for them
  slot_map<landing> landings_;
  rooms rooms_;
  agreements agreements_;
  std::size_t early_pieces_ = 0;  // of all landings whose senders may not be ready
  boost::intrusive::list<
      departure, boost::intrusive::member_hook<departure, boost::intrusive::list_member_hook<>, &departure::blocked>,
      boost::intrusive::constant_time_size<false>>
      blocked_departures_;
  boost::intrusive::list<
      landing, boost::intrusive::member_hook<landing, boost::intrusive::list_member_hook<>, &landing::blocked>,
      boost::intrusive::constant_time_size<false>>
      blocked_landings_;

  bool any_orphans_ = false;  // landings or departures whose other side is lost
  clock::time_point next_orphan_look_{};
  std::vector<std::unique_ptr<std::byte[]>>
      abandoned_;  // messages to lost processes that the provider has not given back

  planned_needs planned_;  // of all plans

  submissions submissions_;
  std::uint32_t polls_ = 0;
  clock::time_point last_inquiry_{};
  bool any_probes_ = false;        // whether some rank has probed in vain since the last look
  std::int32_t first_lost_ = -1;   // rank of the world: of the first process that was lost, as far as is known here
  std::atomic<bool> busy_{false};  // whether polling can do anything for the ranks of this process
  std::atomic<bool> needs_polls_{false};
  std::atomic<bool> look_soon_{false};    // polls are rare from now on: the next looks at the clock
  std::atomic<std::uint64_t> events_{0};  // that polls have found; written with the token held
};

}  // namespace weft::fabric
