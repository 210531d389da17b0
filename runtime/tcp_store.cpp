// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <mutex>
#include <thread>
#include <weft/runtime/error.hpp>
#include <weft/runtime/tcp_store.hpp>

#include "bytes.hpp"
#include "rendezvous_table.hpp"
#include "store_protocol.hpp"

namespace weft {
namespace {

namespace protocol = store_protocol;
using kind = rendezvous_table::wait::kind;

// A launcher serves its processes without ever waiting for one of them: when it takes nothing for so long, it is stuck.
constexpr auto send_limit = std::chrono::seconds(30);
constexpr auto reconnect_pause = std::chrono::milliseconds(50);
constexpr auto answer_limit = std::chrono::seconds(30);  // for requests that wait for nobody else

[[noreturn]] void throw_no_rendezvous(const std::string& address, const std::string& reason) {
  throw error(errc::no_rendezvous, "the job's rendezvous at " + address + ": " + reason);
}

/// The other side ended the connection. Before it gave its verdict that may mean no more than that this process was
/// slow.
class connection_closed final : public error {
 public:
  explicit connection_closed(const std::string& address)
      : error(errc::no_rendezvous, "the job's rendezvous at " + address + ": it closed the connection") {}
};

class tcp_store final : public store {
 public:
  tcp_store(const std::string& address, const store_job& job, int process, clock::time_point deadline)
      : tcp_store(connect_to(address, deadline), address, job, process, deadline) {}
  tcp_store(file_descriptor socket, const std::string& address, const store_job& job, int process,
            clock::time_point deadline)
      : address_(address), process_(process), processes_(job.processes), socket_(std::move(socket)) {
    greet(job, deadline);
  }

  int process() const noexcept override { return process_; }
  int processes() const noexcept override { return processes_; }

  void put(std::string_view key, std::span<const std::byte> value) override {
    check_sizes(key, value.size());
    const std::lock_guard lock(mutex_);
    ask(protocol::request::put, key, value, {kind::value, std::string(key)}, clock::now() + answer_limit);
  }

  bytes get(std::string_view key, clock::time_point deadline) override {
    check_sizes(key, 0);
    const std::lock_guard lock(mutex_);
    return *ask(protocol::request::get, key, {}, {kind::value, std::string(key)}, deadline);
  }

  std::optional<bytes> find(std::string_view key) override {
    check_sizes(key, 0);
    const std::lock_guard lock(mutex_);
    return ask(protocol::request::find, key, {}, {kind::value, std::string(key)}, clock::now() + answer_limit);
  }

  void fence(clock::time_point deadline) override {
    const std::lock_guard lock(mutex_);
    ask(protocol::request::fence, {}, {}, {kind::fence, ""}, deadline);
  }

  std::vector<bytes> gather(std::string_view key, std::span<const std::byte> mine,
                            clock::time_point deadline) override {
    check_sizes(key, mine.size());
    const std::lock_guard lock(mutex_);
    return unpack(*ask(protocol::request::gather, key, mine, {kind::gather, std::string(key)}, deadline), processes_);
  }

  /// As a witness.
  void report(int process, std::string_view how, clock::time_point deadline) {
    const std::lock_guard lock(mutex_);
    const std::string key = std::to_string(process);
    ask(protocol::request::ended, key, as_bytes(how), {kind::value, key}, deadline);
  }

 private:
  void greet(const store_job& job, clock::time_point deadline);
  void check_verdict(std::span<const std::byte> message, const proof& expected) const;
  std::optional<bytes> ask(protocol::request what, std::string_view key, std::span<const std::byte> value,
                           const rendezvous_table::wait& wait, clock::time_point deadline);
  std::optional<bytes> read_reply(clock::time_point deadline);
  std::span<const std::byte> receive(std::size_t length, clock::time_point deadline);
  void consume(std::size_t length) {
    input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(length));
  }

  std::mutex mutex_;  // everything below
  std::string address_;
  int process_;
  int processes_;
  file_descriptor socket_;
  std::vector<std::byte> input_;  ///< received and not yet read: a deadline may pass within a reply
  std::uint32_t sequence_ = 0;
};

void tcp_store::greet(const store_job& job, clock::time_point deadline) {
  auto greeting = receive(protocol::greeting_size, deadline);
  if (take<std::uint64_t>(greeting) != protocol::magic)
    throw error(errc::incompatible, "what listens at " + address_ + " is no rendezvous of weft");
  if (const auto theirs = take<std::uint32_t>(greeting); theirs != protocol::version)
    throw error(errc::incompatible, "this process speaks weft store version " + std::to_string(protocol::version) +
                                        ", the rendezvous at " + address_ + " version " + std::to_string(theirs) +
                                        "; start the program with the `weft run` of its own build");
  protocol::handshake h{
      job.number, static_cast<std::uint32_t>(process_), static_cast<std::uint32_t>(processes_), {}, {}};
  std::copy_n(greeting.begin(), h.launcher.size(), h.launcher.begin());
  h.client = draw_challenge();
  consume(protocol::greeting_size);

  send_all(socket_, protocol::hello_of(h, job.secret), deadline, "joining the job at " + address_);
  check_verdict(receive(protocol::verdict_size, deadline), protocol::prove(protocol::side::launcher, job.secret, h));
  consume(protocol::verdict_size);
}

void tcp_store::check_verdict(std::span<const std::byte> message, const proof& expected) const {
  const std::string me = "process " + std::to_string(process_) + " of " + std::to_string(processes_);
  switch (static_cast<protocol::verdict>(take<std::uint32_t>(message))) {
    case protocol::verdict::accepted:
      if (!same_proof(expected, message))
        throw_no_rendezvous(address_, "what answers does not know the job's secret: it is not this job's");
      return;
    case protocol::verdict::wrong_secret:
      throw_no_rendezvous(address_,
                          "it refuses " + me +
                              ": the secret, or the job's number, is not that of its job (WEFT_SECRET, WEFT_JOB; "
                              "without a launcher weft.secret, weft.job)");
    case protocol::verdict::wrong_process:
      throw_no_rendezvous(address_, "its job has no " + me);
    case protocol::verdict::already_connected:
      throw_no_rendezvous(address_,
                          me + " has joined already; a program that a rank starts must not inherit its WEFT_*, and "
                               "without a launcher each process has a weft.rank of its own");
    case protocol::verdict::wrong_version:
      throw error(errc::incompatible, "the rendezvous at " + address_ + " does not speak weft store version " +
                                          std::to_string(protocol::version));
  }
  throw error(errc::protocol, "the rendezvous at " + address_ + " answers with an unknown verdict");
}

/// Sends a request and waits for its reply; nothing when the answer is that there is nothing.
std::optional<store::bytes> tcp_store::ask(protocol::request what, std::string_view key,
                                           std::span<const std::byte> value, const rendezvous_table::wait& wait,
                                           clock::time_point deadline) {
  if (!socket_) throw_no_rendezvous(address_, "the connection was lost");
  std::vector<std::byte> message;
  append(message, static_cast<std::uint8_t>(what));
  append(message, std::uint8_t{0});
  append(message, static_cast<std::uint16_t>(key.size()));
  append(message, static_cast<std::uint32_t>(value.size()));
  append(message, ++sequence_);
  append(message, as_bytes(key));
  append(message, value);
  try {
    send_all(socket_, message, clock::now() + send_limit, "store");
  } catch (const error& failure) {
    socket_.reset();  // half a request may be on its way: nothing sensible can follow it
    throw_no_rendezvous(address_, failure.what());
  }
  try {
    return read_reply(deadline);
  } catch (const error& failure) {
    if (failure.code() == errc::timed_out) throw_timed_out(wait, process_);
    throw;
  }
}

/// The reply to the latest request. Those before it that were given up may still come, and are passed over.
std::optional<store::bytes> tcp_store::read_reply(clock::time_point deadline) {
  for (;;) {
    auto header = receive(protocol::reply_size, deadline);
    const auto status = static_cast<protocol::reply>(take<std::uint32_t>(header));
    const auto sequence = take<std::uint32_t>(header);
    const auto length = take<std::uint64_t>(header);
    if (length > static_cast<std::uint64_t>(processes_) * (maximum_value + 4)) {
      socket_.reset();
      throw error(errc::protocol, "store: a reply of " + std::to_string(length) + " bytes");
    }
    auto value = receive(protocol::reply_size + length, deadline).subspan(protocol::reply_size);
    bytes copy(value.begin(), value.end());
    consume(protocol::reply_size + length);
    if (sequence != sequence_) continue;
    if (status == protocol::reply::lost) throw error(errc::peer_lost, std::string(as_text(copy)));
    if (status == protocol::reply::absent) return std::nullopt;
    return copy;
  }
}

/// The first `length` bytes that were received and not consumed.
std::span<const std::byte> tcp_store::receive(std::size_t length, clock::time_point deadline) {
  std::array<std::byte, 16 << 10> buffer;
  while (input_.size() < length) {
    const std::size_t received = receive_some(socket_, buffer, deadline, "store at " + address_);
    if (received == 0) {
      socket_.reset();
      throw connection_closed(address_);
    }
    append(input_, std::span<const std::byte>(buffer).first(received));
  }
  return std::span<const std::byte>(input_).first(length);
}

}  // namespace

std::unique_ptr<store> connect_tcp_store(const std::string& address, const store_job& job, int process,
                                         store::clock::time_point deadline) {
  for (;;) try {
      return std::make_unique<tcp_store>(address, job, process, deadline);
    } catch (const connection_closed&) {
      if (store::clock::now() + reconnect_pause >= deadline) throw;
      std::this_thread::sleep_for(reconnect_pause);
    } catch (const error& failure) {
      if (failure.code().category() == std::system_category() || failure.code() == errc::timed_out)
        throw rendezvous_unreached(errc::no_rendezvous,
                                   "the job's rendezvous at " + address + ": nobody answers (" + failure.what() + ")");
      throw;
    }
}

std::unique_ptr<store> connect_tcp_store(file_descriptor socket, const store_job& job, int process,
                                         store::clock::time_point deadline) {
  const std::string address = peer_address(socket);
  return std::make_unique<tcp_store>(std::move(socket), address, job, process, deadline);
}

void report_end(const std::string& address, const store_job& job, int process, std::string_view how,
                store::clock::time_point deadline) {
  tcp_store(address, job, static_cast<int>(protocol::witness), deadline).report(process, how, deadline);
}

}  // namespace weft
