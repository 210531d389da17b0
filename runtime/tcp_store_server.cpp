// SPDX-License-Identifier: Apache-2.0
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <list>
#include <weft/runtime/error.hpp>
#include <weft/runtime/tcp_store.hpp>

#include "store_connection.hpp"
#include "store_service.hpp"

namespace weft {
namespace {

using clock_type = store::clock;
using connection = store_connection;

constexpr auto proof_limit = std::chrono::milliseconds(800);  // to prove membership; strangers are gone within a second
constexpr auto deaf_time = std::chrono::milliseconds(100);    // without descriptors to accept a connection with
constexpr int strangers_limit = 128;  // connections that have not proved it yet, beyond one a process of the job

}  // namespace

struct tcp_store_server::state {
  explicit state(store_job j) : service(std::move(j)) {
    events.reset(::epoll_create1(EPOLL_CLOEXEC));
    timer.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (!events || !timer) throw_system_error(errno, events ? "timerfd_create" : "epoll_create1", "store server");
    watch(EPOLL_CTL_ADD, timer, EPOLLIN, nullptr);
  }

  std::string listen(file_descriptor on) {
    const file_descriptor& listener = listeners.emplace_back(std::move(on));
    watch(EPOLL_CTL_ADD, listener, EPOLLIN, nullptr);
    return local_address(listener);
  }

  void watch_listeners(std::uint32_t interest) {
    for (const file_descriptor& listener : listeners) watch(EPOLL_CTL_MOD, listener, interest, nullptr);
  }

  void watch(int operation, const file_descriptor& fd, std::uint32_t interest, connection* c) {
    epoll_event event{};
    event.events = interest;
    event.data.ptr = c;
    if (::epoll_ctl(events.get(), operation, fd.get(), &event) != 0)
      throw_system_error(errno, "epoll_ctl", "store server");
  }

  void accept_all();
  void accept_all(const file_descriptor& listener);
  void drop_oldest_stranger();
  void keep_time();
  void arm_timer();
  void progress(connection& c);
  void handle_messages(connection& c);
  void answer_all();
  void tell_all();
  void write(connection& c);
  void erase_closed();

  store_service service;
  std::vector<file_descriptor> listeners;
  std::optional<clock_type::time_point> listen_again;
  std::string address;  ///< of the first
  file_descriptor events;
  file_descriptor timer;
  std::list<connection> connections;  // in the order in which they were accepted
  bool ends_with_connection = false;  // a process does
};

void tcp_store_server::state::accept_all() {
  for (const file_descriptor& listener : listeners) accept_all(listener);
}

void tcp_store_server::state::accept_all(const file_descriptor& listener) {
  try {
    while (file_descriptor socket = accept_from(listener)) {
      const auto strangers =
          std::count_if(connections.begin(), connections.end(), std::mem_fn(&connection::is_stranger));
      if (strangers >= service.processes() + strangers_limit) drop_oldest_stranger();
      connection& c = connections.emplace_back();
      c.socket = std::move(socket);
      c.interest = EPOLLIN;
      watch(EPOLL_CTL_ADD, c.socket, c.interest, &c);
      service.greet(c);
      write(c);
    }
  } catch (const error&) {
    // Out of descriptors or memory. The listener stays readable: look away from it for a while.
    drop_oldest_stranger();
    listen_again = clock_type::now() + deaf_time;
    watch_listeners(0);
  }
}

void tcp_store_server::state::drop_oldest_stranger() {
  const auto oldest = std::find_if(connections.begin(), connections.end(), std::mem_fn(&connection::is_stranger));
  if (oldest == connections.end()) return;
  oldest->close_at_once();
}

void tcp_store_server::state::keep_time() {
  const auto now = clock_type::now();
  if (listen_again && now >= *listen_again) {
    listen_again.reset();
    watch_listeners(EPOLLIN);
  }
  for (connection& c : connections)
    if (c.is_stranger() && now - c.accepted >= proof_limit) c.close_at_once();
}

void tcp_store_server::state::arm_timer() {
  std::uint64_t expirations;
  [[maybe_unused]] const auto read_bytes = ::read(timer.get(), &expirations, sizeof expirations);
  auto next = listen_again;
  const auto oldest = std::find_if(connections.begin(), connections.end(), std::mem_fn(&connection::is_stranger));
  if (oldest != connections.end())
    next = std::min(next.value_or(clock_type::time_point::max()), oldest->accepted + proof_limit);
  itimerspec when{};  // all zero: never
  if (next) {
    const auto left = std::max<std::chrono::nanoseconds>(*next - clock_type::now(), std::chrono::milliseconds(1));
    when.it_value = {static_cast<time_t>(left.count() / 1'000'000'000),
                     static_cast<long>(left.count() % 1'000'000'000)};
  }
  ::timerfd_settime(timer.get(), 0, &when, nullptr);
}

void tcp_store_server::state::progress(connection& c) {
  if (c.is_closed()) return;
  try {
    if (c.output.empty()) c.receive();
    handle_messages(c);
    write(c);
  } catch (const error&) {
    c.close_at_once();
  }
}

/// Nothing more is taken from a connection before it has taken its reply: what it may keep here is bounded.
void tcp_store_server::state::handle_messages(connection& c) {
  while (c.output.empty() && !c.closing) {
    const auto message = c.next_message();
    if (!message) return;
    service.handle(c, *message, connections);
    write(c);
  }
}

/// Answers everyone whom the latest changes concern; they may have sent something meanwhile.
void tcp_store_server::state::answer_all() {
  while (service.take_change())
    for (connection& c : connections) {
      if (c.closing || !c.waiting) continue;
      service.answer(c);
      write(c);
      try {
        handle_messages(c);
      } catch (const error&) {
        c.close_at_once();
      }
    }
}

void tcp_store_server::state::tell_all() {
  answer_all();
  erase_closed();
}

void tcp_store_server::state::write(connection& c) {
  c.send();
  const std::uint32_t interest = c.output.empty() ? EPOLLIN : EPOLLOUT;
  if (interest != std::exchange(c.interest, interest)) watch(EPOLL_CTL_MOD, c.socket, interest, &c);
}

void tcp_store_server::state::erase_closed() {
  for (const connection& c : connections)
    if (ends_with_connection && c.is_closed() && c.process >= 0 && c.process < service.processes())
      service.lose(c.process, "its connection ended");
  std::erase_if(connections, std::mem_fn(&connection::is_closed));
  answer_all();
}

tcp_store_server::tcp_store_server(store_job job, const std::string& host)
    : state_(std::make_unique<state>(std::move(job))) {
  state_->address = listen(host);
}
tcp_store_server::tcp_store_server(store_job job, file_descriptor listener)
    : state_(std::make_unique<state>(std::move(job))) {
  state_->ends_with_connection = true;
  state_->address = state_->listen(std::move(listener));
}
tcp_store_server::tcp_store_server(tcp_store_server&&) noexcept = default;
tcp_store_server& tcp_store_server::operator=(tcp_store_server&&) noexcept = default;
tcp_store_server::~tcp_store_server() = default;

std::string tcp_store_server::listen(const std::string& host) { return state_->listen(listen_on(host)); }
const std::string& tcp_store_server::address() const noexcept { return state_->address; }
int tcp_store_server::descriptor() const noexcept { return state_->events.get(); }

void tcp_store_server::serve() {
  std::array<epoll_event, 64> ready;
  const int count = ::epoll_wait(state_->events.get(), ready.data(), static_cast<int>(ready.size()), 0);
  // Connections before newcomers: a process that closed its connection and opened another is seen to have closed it.
  bool newcomers = false;
  for (int i = 0; i < count; ++i) {
    auto* const c = static_cast<connection*>(ready[static_cast<std::size_t>(i)].data.ptr);
    if (c != nullptr)
      state_->progress(*c);
    else
      newcomers = true;
  }
  state_->answer_all();
  state_->erase_closed();
  if (newcomers) state_->accept_all();
  state_->keep_time();
  state_->erase_closed();
  state_->arm_timer();
}

void tcp_store_server::lose(int process, std::string_view how) {
  state_->service.lose(process, how);
  state_->tell_all();
}

void tcp_store_server::leave(int process) {
  state_->service.leave(process);
  state_->tell_all();
}

void tcp_store_server::miss(int process, std::string_view why) {
  state_->service.miss(process, why);
  state_->tell_all();
}

std::vector<int> tcp_store_server::absent() const { return state_->service.absent(); }

}  // namespace weft
