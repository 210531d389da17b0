// SPDX-License-Identifier: Apache-2.0
#include "watch.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <new>
#include <thread>
#include <weft/runtime/error.hpp>

#include "process_handle.hpp"

namespace weft::fabric {
namespace {

constexpr std::chrono::milliseconds stranger_time{800};  // to prove that one is none
constexpr std::chrono::seconds leave_time{1};
constexpr std::size_t most_unsent = std::size_t{16} << 20;

/// A thread that leaves all signals to the program's own.
thread start_quietly(auto function) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread result("weft-monitor", std::move(function));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return result;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

}  // namespace

watch::watch(const monitor_options& options, std::vector<file_descriptor> listeners, const bell& own, watch_setup setup)
    : options_(options),
      setup_(std::move(setup)),
      news_(static_cast<int>(setup_.all.size())),
      listeners_(std::move(listeners)),
      bell_(own),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      joining_(options_.joining),
      next_link_(first_link_id),
      listen_again_(clock::now()),
      next_heartbeat_(clock::now() + options_.heartbeat),
      verdict_(
          {.self = setup_.process,
           .processes = news_.processes(),
           .timeout = options_.peer_timeout,
           .heartbeat = options_.heartbeat,
           .seed = setup_.all[static_cast<std::size_t>(setup_.process)].incarnation,
           .flood = [this](std::uint64_t sequence, std::span<const std::byte> said) { flood_vote(sequence, said); }}) {
  if (!epoll_) throw_system_error(errno, "epoll_create1", "starting the monitor");
  if (!wake_) throw_system_error(errno, "eventfd", "starting the monitor");
  poll_for(wake_.get(), wake_id, EPOLLIN);
  poll_for(bell_.descriptor(), bell_id, EPOLLONESHOT);
  thread_ = start_quietly([this] { run(); });
}

void watch::flood(std::span<const std::byte> note) {
  {
    const std::lock_guard lock(mutex_);
    if (request_ != request::none) return;
    notes_.emplace_back(note.begin(), note.end());
  }
  ::eventfd_write(wake_.get(), 1);
}

/// Level-triggered, once: what had rung before is reported at once.
void watch::listen() const noexcept {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u64 = bell_id;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, bell_.descriptor(), &event);
}

bool watch::has_ended(int process) const {
  const auto& all = setup_.all;
  return fabric::has_ended(all[static_cast<std::size_t>(process)], all[static_cast<std::size_t>(setup_.process)]);
}

void watch::end(request how) noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    request_ = how;
  }
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void watch::run() {
  while (!ended()) look_around();
  links_.clear();
  targets_.clear();
  listeners_.clear();
}

void watch::look_around() try {
  if (stale_ && !leaving_ && !given_up_) relink();
  sweep();
  const auto planned = next_deadline();
  wait_until(planned);
  const auto now = clock::now();
  forgive_own_pause(now - planned);
  serve_requests();
  check_deadlines(now);
} catch (const std::bad_alloc&) {
  give_up_without_memory();
}

/// What it was about to note or to pass on is lost: so the others are to see this process lost, and it says so here as
/// soon as there is memory for that.
void watch::give_up_without_memory() noexcept {
  given_up();
  links_.clear();
  ended_.clear();
  while (!is_asked_to_end()) try {
      const std::string reason = name_of(setup_.process) + ": it has no memory to watch the others";
      news_.learn_lost(setup_.process, reason);
      if (setup_.events.lost) setup_.events.lost(setup_.process, reason);
      return;
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

bool watch::is_asked_to_end() {
  const std::lock_guard lock(mutex_);
  return request_ != request::none;
}

bool watch::ended() const {
  if (stopping_) return true;
  // Whoever is about to connect would learn of the leave elsewhere; whoever proves itself already is waited for.
  return leaving_ && (clock::now() >= leave_until_ || std::ranges::all_of(links_, [this](const auto& link) {
                        return link.second->at == stage::over || link.second->at == stage::accepted ||
                               (link.second->peer >= 0 && news_.lost(link.second->peer));
                      }));
}

watch::clock::time_point watch::next_deadline() const {
  auto result = next_heartbeat_;
  if (leaving_) result = std::min(result, leave_until_);
  if (!given_up_) result = std::min(result, verdict_.next_look());
  if (!listening_ && !given_up_ && strangers_ < most_strangers) result = std::min(result, listen_again_);
  for (const auto& [process, target] : targets_) {
    if (linked(process)) continue;
    result = std::min({result, target.give_up, ask_at(process, target.give_up - patience_with(process))});
    if (target.link == 0) result = std::min(result, target.next_attempt);
  }
  for (const auto& [id, link] : links_) {
    if (link->at == stage::accepted || link->at == stage::challenging)
      result = std::min(result, link->since + stranger_time);
    else if (link->at == stage::standing && silent_at(*link) > last_check_)
      result = std::min({result, silent_at(*link), ask_at(link->peer, link->heard)});
  }
  return result;
}

void watch::wait_until(clock::time_point deadline) {
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
  std::array<epoll_event, 64> events;
  const int ready = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(std::clamp<std::int64_t>(rest, 0, INT_MAX)));
  // What connections say comes before the ends of processes: a goodbye may be among it.
  for (const bool processes : {false, true}) {
    for (int i = 0; i < ready; ++i)
      if (const std::uint64_t id = events[static_cast<std::size_t>(i)].data.u64; ((id & process_bit) != 0) == processes)
        dispatch(id, events[static_cast<std::size_t>(i)].events);
    serve_ends();
  }
}

void watch::dispatch(std::uint64_t id, unsigned events) {
  if (id == wake_id) {
    eventfd_t count;
    ::eventfd_read(wake_.get(), &count);
  } else if (id == listener_id) {
    accept_all();
  } else if (id == bell_id) {
    bell_.silence();  // first: who rings from now on is heard the next time
    if (setup_.events.rung) setup_.events.rung();
  } else if ((id & process_bit) != 0) {
    process_ended(static_cast<int>(id & ~process_bit));
  } else if (const auto link = links_.find(id); link != links_.end() && link->second->at != stage::over) {
    serve(id, *link->second, events);
  }
}

/// A process that was itself stopped has not heard the others, but that was not their silence. What happens after the
/// clock was read for this counts in the next round: nothing is judged by a later time.
void watch::forgive_own_pause(clock::duration late) {
  if (late < options_.heartbeat) return;
  for (const auto& [id, link] : links_) {
    link->heard += late;
    link->since += late;
  }
  for (auto& [process, target] : targets_) target.give_up += late;
  verdict_.postpone(late);
}

void watch::serve_requests() {
  std::vector<std::vector<std::byte>> notes;
  request asked;
  {
    const std::lock_guard lock(mutex_);
    notes.swap(notes_);
    asked = request_;
  }
  const bool is_heard = !stopping_ && !given_up_;
  // Also what was said just before it is to stop: why a process leaves in the middle of a job.
  if (is_heard)
    for (const auto& note : notes) pass_on(news_.add_note(setup_.process, note), nullptr);
  if (asked == request::stop || (given_up_ && asked == request::leave)) stopping_ = true;
  if (is_heard && !stopping_ && asked == request::leave && !leaving_) begin_leaving();
}

void watch::begin_leaving() {
  leaving_ = true;
  leave_until_ = clock::now() + leave_time;
  targets_.clear();
  pass_on(news_.learn_left(setup_.process), nullptr);
  for (const auto& [id, link] : links_) {
    if (link->at == stage::standing) link->finish();
    update_polling(id, *link);
  }
}

void watch::check_deadlines(clock::time_point now) {
  last_check_ = now;
  check_links(now);
  go_other_ways(now);
  std::vector<int> unreachable;
  for (auto& [process, target] : targets_) {
    if (linked(process)) continue;
    if (now >= ask_at(process, target.give_up - patience_with(process))) ask_about(process, now);
    if (now >= target.give_up)
      unreachable.push_back(process);
    else if (target.link == 0 && now >= target.next_attempt)
      connect(process, target);
  }
  for (const int process : unreachable) {
    const auto target = targets_.find(process);
    if (target == targets_.end()) continue;  // excluded since
    const std::string trouble = target->second.trouble;
    target->second.ended ? declare_lost(process, trouble) : fell_silent(process, trouble);
  }
  report_hearing(now);
  if (!listening_ && !given_up_ && strangers_ < most_strangers && now >= listen_again_) {
    for (const file_descriptor& each : listeners_) poll_for(each.get(), listener_id, EPOLLIN);
    listening_ = true;
  }
  if (now >= next_heartbeat_) {
    next_heartbeat_ = now + options_.heartbeat;
    for (const auto& [id, link] : links_) {
      if (link->held || (link->at != stage::standing && link->at != stage::confirming)) continue;
      link->send(encode(control_message{}));
      update_polling(id, *link);
    }
  }
}

void watch::check_links(clock::time_point now) {
  for (const auto& [id, link] : links_) {
    if (link->at == stage::accepted || link->at == stage::challenging) {
      if (now >= link->since + stranger_time) link->at = stage::over;
    } else if (link->at == stage::standing) {
      const bool silent = now >= silent_at(*link);
      if (!silent && now >= ask_at(link->peer, link->heard)) ask_about(link->peer, now);
      if (silent) fell_silent(link->peer, "silent for " + std::to_string(options_.peer_timeout.count()) + " ms");
      if (silent && !news_.alive(link->peer) && !may_learn_verdict(*link, now)) link->at = stage::over;
      if (link->unsent() > most_unsent) connection_ended(*link, "does not read its control connection", !silent);
    }
  }
}

void watch::sweep() {
  std::erase_if(links_, [&](const auto& link) {
    if (link.second->at != stage::over) return false;
    for (auto& [process, target] : targets_)
      if (target.link == link.first) target.link = 0;
    return true;
  });
  strangers_ = static_cast<std::size_t>(std::ranges::count_if(links_, [](const auto& link) {
    return link.second->at == stage::accepted || link.second->at == stage::challenging;
  }));
  if (listening_ && strangers_ >= most_strangers) listen_no_more();
}

void watch::poll_for(int descriptor, std::uint64_t id, unsigned events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0 && errno == EEXIST)
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, descriptor, &event);
}

}  // namespace weft::fabric
