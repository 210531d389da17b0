#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <list>
#include <weft/runtime/error.hpp>
#include <weft/runtime/tcp_store.hpp>

#include "bytes.hpp"
#include "rendezvous_table.hpp"
#include "store_protocol.hpp"

namespace weft {
namespace {

namespace protocol = store_protocol;
using clock_type = store::clock;

constexpr auto proof_limit = std::chrono::milliseconds(800);  // to prove membership; strangers are gone within a second
constexpr auto deaf_time = std::chrono::milliseconds(100);    // without descriptors to accept a connection with
constexpr int strangers_limit = 128;  // connections that have not proved it yet, beyond one a process of the job
constexpr std::size_t shortest_secret = 16;

struct connection {
  file_descriptor socket;
  protocol::nonce nonce = protocol::make_nonce();
  clock_type::time_point accepted = clock_type::now();
  int process = -1;  ///< -1: has not proved that it belongs to the job
  std::vector<std::byte> input;
  std::vector<std::byte> output;
  std::size_t sent = 0;  ///< of output
  std::uint32_t sequence = 0;
  std::optional<rendezvous_table::wait> waiting;
  bool closing = false;  ///< once the output is sent, or at once without any
  std::uint32_t interest = EPOLLIN;
};

bool is_stranger(const connection& c) { return c.process < 0; }

/// The length of the message that `input` begins with, or 0 when that cannot be told yet.
std::size_t message_length(const connection& c) {
  if (c.process < 0) return protocol::hello_size;
  if (c.input.size() < protocol::request_size) return 0;
  auto header = std::span<const std::byte>(c.input).subspan(2);
  const std::size_t key = take<std::uint16_t>(header);
  const std::size_t value = take<std::uint32_t>(header);
  if (key > store::maximum_key || value > store::maximum_value)
    throw error(errc::protocol, "store request longer than any may be");
  return protocol::request_size + key + value;
}

void reply(connection& c, protocol::reply status, std::span<const std::byte> value) {
  append(c.output, static_cast<std::uint32_t>(status));
  append(c.output, c.sequence);
  append(c.output, static_cast<std::uint64_t>(value.size()));
  append(c.output, value);
}

}  // namespace

struct tcp_store_server::state {
  state(store_job j, const std::string& host)
      : job(std::move(j)), table(job.processes), listener(listen_on(host)), address(local_address(listener)) {
    if (job.secret.size() < shortest_secret)
      throw error(errc::invalid_argument, "store: a secret of " + std::to_string(job.secret.size()) +
                                              " characters; at least " + std::to_string(shortest_secret) +
                                              " are needed");
    events.reset(::epoll_create1(EPOLL_CLOEXEC));
    timer.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (!events || !timer) throw_system_error(errno, events ? "timerfd_create" : "epoll_create1", "store server");
    watch(EPOLL_CTL_ADD, listener, EPOLLIN, nullptr);
    watch(EPOLL_CTL_ADD, timer, EPOLLIN, nullptr);
  }

  void watch(int operation, const file_descriptor& fd, std::uint32_t interest, connection* c) {
    epoll_event event{};
    event.events = interest;
    event.data.ptr = c;
    if (::epoll_ctl(events.get(), operation, fd.get(), &event) != 0)
      throw_system_error(errno, "epoll_ctl", "store server");
  }

  void accept_all();
  void drop_oldest_stranger();
  void keep_time();
  void arm_timer();
  void progress(connection& c);
  void read(connection& c);
  void handle_messages(connection& c);
  void handle_hello(connection& c, std::span<const std::byte> message);
  protocol::verdict judge(const protocol::handshake& h, const protocol::proof& given, std::uint32_t version) const;
  void handle_request(connection& c, std::span<const std::byte> message);
  void answer(connection& c);
  void answer_all();
  void tell_all();
  void write(connection& c);
  void erase_closed();

  store_job job;
  rendezvous_table table;
  bool table_changed = false;
  file_descriptor listener;
  std::optional<clock_type::time_point> listen_again;
  std::string address;
  file_descriptor events;
  file_descriptor timer;
  std::list<connection> connections;  // in the order in which they were accepted
};

void tcp_store_server::state::accept_all() {
  try {
    while (file_descriptor socket = accept_from(listener)) {
      const auto strangers = std::count_if(connections.begin(), connections.end(), is_stranger);
      if (strangers >= job.processes + strangers_limit) drop_oldest_stranger();
      connection& c = connections.emplace_back();
      c.socket = std::move(socket);
      watch(EPOLL_CTL_ADD, c.socket, c.interest, &c);
      append(c.output, protocol::magic);
      append(c.output, protocol::version);
      append(c.output, std::span<const std::byte>(c.nonce));
      write(c);
    }
  } catch (const error&) {
    // Out of descriptors or memory. The listener stays readable: look away from it for a while.
    drop_oldest_stranger();
    listen_again = clock_type::now() + deaf_time;
    watch(EPOLL_CTL_MOD, listener, 0, nullptr);
  }
}

void tcp_store_server::state::drop_oldest_stranger() {
  const auto oldest = std::find_if(connections.begin(), connections.end(), is_stranger);
  if (oldest == connections.end()) return;
  oldest->closing = true;
  oldest->output.clear();
}

void tcp_store_server::state::keep_time() {
  const auto now = clock_type::now();
  if (listen_again && now >= *listen_again) {
    listen_again.reset();
    watch(EPOLL_CTL_MOD, listener, EPOLLIN, nullptr);
  }
  for (connection& c : connections)
    if (c.process < 0 && now - c.accepted >= proof_limit) {
      c.closing = true;
      c.output.clear();
    }
}

void tcp_store_server::state::arm_timer() {
  std::uint64_t expirations;
  [[maybe_unused]] const auto read_bytes = ::read(timer.get(), &expirations, sizeof expirations);
  auto next = listen_again;
  const auto oldest = std::find_if(connections.begin(), connections.end(), is_stranger);
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
  if (c.closing && c.output.empty()) return;
  try {
    if (c.output.empty()) read(c);
    handle_messages(c);
    write(c);
  } catch (const error&) {
    c.closing = true;
    c.output.clear();
  }
}

void tcp_store_server::state::read(connection& c) {
  std::array<std::byte, 64 << 10> buffer;
  const std::ptrdiff_t received = receive_now(c.socket, buffer);
  if (received < 0) throw error(errc::protocol, "connection closed");
  append(c.input, std::span<const std::byte>(buffer).first(static_cast<std::size_t>(received)));
}

/// Nothing more is taken from a connection before it has taken its reply: what it may keep here is bounded.
void tcp_store_server::state::handle_messages(connection& c) {
  while (c.output.empty() && !c.closing) {
    const std::size_t length = message_length(c);
    if (length == 0 || c.input.size() < length) return;
    const std::vector<std::byte> message(c.input.begin(), c.input.begin() + static_cast<std::ptrdiff_t>(length));
    c.input.erase(c.input.begin(), c.input.begin() + static_cast<std::ptrdiff_t>(length));
    if (c.process < 0)
      handle_hello(c, message);
    else
      handle_request(c, message);
    write(c);
  }
}

void tcp_store_server::state::handle_hello(connection& c, std::span<const std::byte> message) {
  if (take<std::uint64_t>(message) != protocol::magic) throw error(errc::protocol, "not a process of weft");
  const auto version = take<std::uint32_t>(message);
  protocol::handshake h{job.number, 0, 0, c.nonce, {}};
  h.process = take<std::uint32_t>(message);
  h.processes = take<std::uint32_t>(message);
  std::copy_n(message.begin(), h.client.size(), h.client.begin());
  protocol::proof given;
  std::copy_n(message.begin() + sizeof(protocol::nonce), given.size(), given.begin());

  const protocol::verdict verdict = judge(h, given, version);
  append(c.output, static_cast<std::uint32_t>(verdict));
  if (verdict == protocol::verdict::accepted) {
    append(c.output, std::span<const std::byte>(protocol::prove(protocol::prover::launcher, job.secret, h)));
    c.process = static_cast<int>(h.process);
  } else {
    append(c.output, std::span<const std::byte>(protocol::proof{}));
    c.closing = true;
  }
}

protocol::verdict tcp_store_server::state::judge(const protocol::handshake& h, const protocol::proof& given,
                                                 std::uint32_t version) const {
  using protocol::verdict;
  if (version != protocol::version) return verdict::wrong_version;
  if (!protocol::equal(given, protocol::prove(protocol::prover::process, job.secret, h))) return verdict::wrong_secret;
  const auto processes = static_cast<std::uint32_t>(job.processes);
  if (h.processes != processes || h.process >= processes) return verdict::wrong_process;
  const bool there = std::any_of(connections.begin(), connections.end(), [&](const connection& other) {
    return !other.closing && other.process == static_cast<int>(h.process);
  });
  return there ? verdict::already_connected : verdict::accepted;
}

void tcp_store_server::state::handle_request(connection& c, std::span<const std::byte> message) {
  using kind = rendezvous_table::wait::kind;
  const auto what = static_cast<protocol::request>(take<std::uint8_t>(message));
  take<std::uint8_t>(message);
  const std::size_t key_length = take<std::uint16_t>(message);
  take<std::uint32_t>(message);  // the value is what follows the key
  c.sequence = take<std::uint32_t>(message);
  const std::string key(as_text(message.first(key_length)));
  rendezvous_table::bytes value(message.begin() + static_cast<std::ptrdiff_t>(key_length), message.end());
  c.waiting.reset();  // a process that asks anew has given up what it asked before
  switch (what) {
    case protocol::request::put:
      table.put(key, std::move(value));
      reply(c, protocol::reply::value, {});
      break;
    case protocol::request::find: {
      const auto found = table.find(key);
      reply(c, found ? protocol::reply::value : protocol::reply::absent, found ? *found : rendezvous_table::bytes{});
      return;
    }
    case protocol::request::get:
      c.waiting = {kind::value, key};
      break;
    case protocol::request::fence:
      c.waiting = table.arrive(c.process);
      break;
    case protocol::request::gather:
      c.waiting = table.contribute(c.process, key, std::move(value));
      break;
    default:
      throw error(errc::protocol, "store request of an unknown kind");
  }
  table_changed = true;
}

void tcp_store_server::state::answer(connection& c) {
  if (!c.waiting) return;
  try {
    const auto found = table.answer_to(*c.waiting);
    if (!found) return;
    reply(c, protocol::reply::value, *found);
  } catch (const error& lost) {
    reply(c, protocol::reply::lost, as_bytes(lost.what()));
  }
  c.waiting.reset();
}

/// Answers everyone whom the latest changes concern; they may have sent something meanwhile.
void tcp_store_server::state::answer_all() {
  while (std::exchange(table_changed, false))
    for (connection& c : connections) {
      if (c.closing || !c.waiting) continue;
      answer(c);
      write(c);
      try {
        handle_messages(c);
      } catch (const error&) {
        c.closing = true;
        c.output.clear();
      }
    }
}

void tcp_store_server::state::tell_all() {
  table_changed = true;
  answer_all();
  erase_closed();
}

void tcp_store_server::state::write(connection& c) {
  while (c.sent < c.output.size()) {
    const std::ptrdiff_t sent = send_now(c.socket, std::span<const std::byte>(c.output).subspan(c.sent));
    if (sent == 0) break;
    if (sent < 0) c.closing = true;
    c.sent = sent < 0 ? c.output.size() : c.sent + static_cast<std::size_t>(sent);
  }
  if (c.sent == c.output.size()) {
    c.output.clear();
    c.sent = 0;
  }
  const std::uint32_t interest = c.output.empty() ? EPOLLIN : EPOLLOUT;
  if (interest != std::exchange(c.interest, interest)) watch(EPOLL_CTL_MOD, c.socket, interest, &c);
}

void tcp_store_server::state::erase_closed() {
  std::erase_if(connections, [](const connection& c) { return c.closing && c.output.empty(); });
}

tcp_store_server::tcp_store_server(store_job job, const std::string& host)
    : state_(std::make_unique<state>(std::move(job), host)) {}
tcp_store_server::tcp_store_server(tcp_store_server&&) noexcept = default;
tcp_store_server& tcp_store_server::operator=(tcp_store_server&&) noexcept = default;
tcp_store_server::~tcp_store_server() = default;

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
  state_->table.lose(process, how);
  state_->tell_all();
}

void tcp_store_server::leave(int process) {
  state_->table.leave(process);
  state_->tell_all();
}

}  // namespace weft
