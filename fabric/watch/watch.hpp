// SPDX-License-Identifier: Apache-2.0
// The thread of a monitor: it holds the control connections, and turns their ends, and the ends of processes, into
// news.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>
#include <weft/fabric/monitor_events.hpp>
#include <weft/fabric/process_record.hpp>
#include <weft/runtime/thread.hpp>

#include "bell.hpp"
#include "control_link.hpp"
#include "control_protocol.hpp"
#include "job_news.hpp"
#include "verdict.hpp"

namespace weft::fabric {

/// What `monitor::start` was told.
struct watch_setup {
  int process = 0;
  std::vector<process_record> all;
  std::uint64_t job = 0;
  std::vector<std::byte> secret;
  monitor_events events;
};

class watch {
 public:
  watch(const monitor_options& options, std::vector<file_descriptor> listeners, const bell& own, watch_setup setup);
  ~watch() { end(request::stop); }

  const job_news& news() const noexcept { return news_; }

  void flood(std::span<const std::byte> note);
  bool has_ended(int process) const;
  void listen() const noexcept;
  // relaxed: whoever sees it late waits less for goodbyes that cannot have been said yet.
  void all_joined() noexcept { joining_.store(false, std::memory_order_relaxed); }

  enum class request { none, leave, stop };
  /// Asks the thread to end, and waits until it has.
  void end(request how) noexcept;

 private:
  using clock = control_link::clock;
  using stage = control_link::stage;

  /// A process that this one watches, whether it is connected to it yet or not.
  struct watched {
    file_descriptor process;             // a pidfd, if it is on this host
    std::vector<std::string> addresses;  // where it listens
    std::size_t attempts = 0;            // which take these by turns
    std::uint64_t link = 0;              // of the attempt to connect, 0 between attempts
    clock::time_point next_attempt;      // if there is no link
    std::chrono::milliseconds pause{5};  // before the next attempt but one
    clock::time_point give_up;           // when it is lost if it cannot be connected to
    std::string trouble;                 // why it could not, so far
    bool ended = false;                  // as far as that tells
    bool expected = true;                // to answer: begun while there was no vote
    bool sought = false;                 // for the vote alone: no loss if there is no connection
  };

  /// Of a process that was silent: the numbers of the last question about it and of the last answer, that all share.
  struct question {
    std::uint64_t asked = 0, answered = 0;
    clock::time_point next{};  // when this process may ask again
  };

  /// A silent connection is kept for so many timeouts: by it both sides learn the verdict, should they hear each other.
  static constexpr int kept_silent = 4;
  static constexpr std::size_t most_strangers = 128;  // connections that prove themselves at the same time
  static constexpr std::uint64_t listener_id = 1;     // what epoll reports: one of these, a link's number,
  static constexpr std::uint64_t wake_id = 2;
  static constexpr std::uint64_t bell_id = 3;
  static constexpr std::uint64_t first_link_id = 4;
  static constexpr std::uint64_t process_bit = std::uint64_t{1} << 63;  // or a process's with this, for its pidfd

  // watch.cpp: the thread, its waits and its end
  void run();
  void look_around();
  void give_up_without_memory() noexcept;
  bool is_asked_to_end();
  bool ended() const;
  clock::time_point next_deadline() const;
  void wait_until(clock::time_point deadline);
  void dispatch(std::uint64_t id, unsigned events);
  void forgive_own_pause(clock::duration late);
  void serve_requests();
  void begin_leaving();
  void check_deadlines(clock::time_point now);
  void check_links(clock::time_point now);
  void sweep();
  void poll_for(int descriptor, std::uint64_t id, unsigned events);

  // watch_links.cpp: connections and their handshakes
  void relink();
  watched& begin_watching(int process);
  void connect(int process, watched& target);
  std::chrono::milliseconds time_to_answer(int process) const;
  std::chrono::milliseconds time_for_goodbye() const noexcept;
  const std::string& address_of(const watched& target) const noexcept;
  void go_other_ways(clock::time_point now);
  bool is_heard_elsewhere(const control_link& link, clock::time_point now) const;
  void attempt_failed(control_link& link, const std::string& why, std::chrono::milliseconds patience, bool ended);
  void accept_all();
  void listen_no_more() noexcept;
  std::uint64_t add_link(std::unique_ptr<control_link> link, unsigned events);
  void update_polling(std::uint64_t id, control_link& link);
  void serve(std::uint64_t id, control_link& link, unsigned events);
  void serve_ends();
  void finish_connecting(control_link& link);
  void understand(control_link& link);
  bool understand_next(control_link& link);
  bool greeted(control_link& link);
  bool greeted_back(control_link& link);
  bool proven(control_link& link);
  control_hello own_hello(std::uint32_t to) const;
  bool fits(const control_hello& hello) const;
  void say_all(control_link& link);
  void stand(control_link& link);
  void connection_ended(control_link& link, const std::string& why, bool by_peer);
  bool linked(int process) const;

  // watch_news.cpp: what is learned, and passed on
  bool take_news(control_link& link);
  void learn(control_link& from, const control_message& message);
  void declare_lost(int process, const std::string& reason);
  void take_lost(int process, const std::string& reason, const control_link* from);
  void take_left(int process, const control_link* from);
  void pass_on(const job_news::frame& frame, const control_link* from);
  void forget(int process);
  void given_up();
  void process_ended(int process);
  std::string name_of(int process) const;

  // watch_held.cpp: processes that are stopped, or that a debugger has
  bool is_held_here(int process) const;
  std::chrono::milliseconds time_to_ask() const noexcept;
  clock::time_point ask_at(int process, clock::time_point since) const;
  void ask_about(int process, clock::time_point now);
  void take_question(control_link& from, const control_message& message);
  void take_answer(control_link& from, const control_message& message);
  void forgive_silence(int process, clock::time_point now);
  const std::vector<int>& held_here(clock::time_point now);
  void forgive_held(clock::time_point now);

  // watch_votes.cpp: processes that are silent and may live, and what is decided about them
  bool on_this_host(int process) const;
  std::chrono::milliseconds patience_with(int process) const;
  clock::time_point silent_at(const control_link& link) const;
  bool hears(int process, clock::time_point now) const;
  void fell_silent(int process, const std::string& why);
  hearing listen_around(clock::time_point now);
  void report_hearing(clock::time_point now);
  void seek();
  void stop_seeking();
  void take_vote(control_link& from, const control_message& message);
  void flood_vote(std::uint64_t sequence, std::span<const std::byte> said);
  void repeat_votes(control_link& link) const;
  void obey_verdict();
  void exclude(int process);
  bool may_learn_verdict(const control_link& link, clock::time_point now) const;

  const monitor_options options_;
  const watch_setup setup_;
  job_news news_;
  std::vector<file_descriptor> listeners_;
  const bell& bell_;
  file_descriptor epoll_;
  file_descriptor wake_;

  std::atomic<bool> joining_;

  std::mutex mutex_;  // guards the next two
  std::vector<std::vector<std::byte>> notes_;
  request request_ = request::none;

  // the thread's own
  std::map<std::uint64_t, std::unique_ptr<control_link>> links_;
  std::map<int, watched> targets_;
  std::vector<std::uint64_t> ended_;  // links, during one round of events
  std::uint64_t next_link_;
  std::size_t strangers_ = 0;  // accepted links that do not stand yet
  bool listening_ = false;     // the listeners are polled
  clock::time_point listen_again_;
  clock::time_point next_heartbeat_;
  clock::time_point last_check_;  // of deadlines
  clock::time_point leave_until_;
  bool leaving_ = false;
  bool stopping_ = false;
  bool given_up_ = false;              // by the others, or by itself
  std::map<int, std::string> silent_;  // processes of other hosts, and how that was noticed
  std::map<int, question> questions_;
  std::vector<int> held_here_;             // of the other processes of this host, in ascending order
  clock::time_point looked_at_held_here_;  // when that was so
  verdict verdict_;
  std::uint32_t obeyed_ = 0;  // so many verdicts
  bool stale_ = true;         // targets_ has to be made anew

  thread thread_;
};

}  // namespace weft::fabric
