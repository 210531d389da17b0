// SPDX-License-Identifier: Apache-2.0
// What a monitor says to one that has proven itself but has said nothing yet, and to one that has not.
#include <poll.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>
#include <weft/fabric/monitor.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/socket.hpp>

#include "catch.hpp"
#include "fabric/watch/control_protocol.hpp"
#include "monitor_job.hpp"

using namespace std::chrono_literals;
using namespace weft::fabric;
using weft_test::bytes_of;
using weft_test::monitor_job;

namespace {

std::chrono::steady_clock::time_point deadline() { return std::chrono::steady_clock::now() + 10s; }

/// One end of a connection, by hand.
class hand_made_end {
 public:
  explicit hand_made_end(weft::file_descriptor socket) : socket_(std::move(socket)) {}

  std::vector<std::byte> read(std::size_t bytes) {
    while (heard_.size() < bytes) read_some();
    const std::vector<std::byte> result(heard_.begin(), heard_.begin() + static_cast<std::ptrdiff_t>(bytes));
    heard_.erase(heard_.begin(), heard_.begin() + static_cast<std::ptrdiff_t>(bytes));
    return result;
  }

  /// The number of the process that is said to be lost.
  std::uint32_t read_loss() {
    for (;;) {
      std::span<const std::byte> rest(heard_);
      while (const auto message = take_message(rest))
        if (message->kind == control_kind::lost) return message->process;
      read_some();
    }
  }

  /// Until the other side ends the connection.
  std::vector<std::byte> read_rest() {
    while (receive()) {
    }
    return std::exchange(heard_, {});
  }

  void send(std::span<const std::byte> bytes) { weft::send_all(socket_, bytes, end_, "a hand-made end"); }

 private:
  bool receive() {
    std::byte buffer[4096];
    const std::size_t received = weft::receive_some(socket_, buffer, end_, "a hand-made end");
    heard_.insert(heard_.end(), buffer, buffer + received);
    return received > 0;
  }
  void read_some() { REQUIRE(receive()); }

  const std::chrono::steady_clock::time_point end_ = deadline();
  weft::file_descriptor socket_;
  std::vector<std::byte> heard_;
};

weft::file_descriptor next_caller(const weft::file_descriptor& listener) {
  REQUIRE(weft::wait_for(listener, POLLIN, deadline()));
  return weft::accept_from(listener);
}

/// What process 1 of `job` says to process 0.
control_hello hello_of_1(const monitor_job& job) {
  return {.prefix = {this_build(), "here"},
          .job = monitor_job::number,
          .from = 1,
          .to = 0,
          .incarnation = job.records[1].incarnation,
          .number = weft::draw_challenge()};
}

}  // namespace

// Otherwise one that ends right after it has heard of a loss would itself be taken for the first one.
TEST_CASE("a connector tells of a loss though the acceptor has not answered its proof") {
  monitor_job job(3, {}, false);
  const auto listener = weft::listen_on("127.0.0.1");
  job.records[1].control = weft::local_address(listener);
  job.kill(2);  // refuses connections
  job.start(0);
  hand_made_end one(next_caller(listener));
  const auto hello = one.read(control_hello::size);
  const auto answer = encode(hello_of_1(job));
  one.send(answer);
  const auto secret = bytes_of(weft_test::secret_of_the_job);
  one.send(prove_end(control_end::acceptor, secret, hello, answer));
  const auto proof_of_connector = one.read(sizeof(weft::proof));
  const auto expected = prove_end(control_end::connector, secret, hello, answer);
  REQUIRE(std::equal(expected.begin(), expected.end(), proof_of_connector.begin()));
  CHECK(one.read_loss() == 2);
}

TEST_CASE("who answers for a process of the job as another incarnation is given no proof, though it knows the secret") {
  monitor_job job(2, {}, false);
  const auto listener = weft::listen_on("127.0.0.1");
  job.records[1].control = weft::local_address(listener);
  job.start(0);
  hand_made_end impostor(next_caller(listener));
  const auto hello = impostor.read(control_hello::size);
  control_hello mine = hello_of_1(job);
  mine.incarnation ^= 1;
  const auto answer = encode(mine);
  impostor.send(answer);
  impostor.send(prove_end(control_end::acceptor, bytes_of(weft_test::secret_of_the_job), hello, answer));
  CHECK(impostor.read_rest().empty());
}

TEST_CASE("who connects for a process of the job as another incarnation is not answered, though it knows the job") {
  monitor_job job(2, {}, false);
  job.start(0);
  hand_made_end impostor(weft::connect_to(job.at(0).control_address(), deadline()));
  control_hello mine = hello_of_1(job);
  mine.incarnation ^= 1;
  impostor.send(encode(mine));
  CHECK(impostor.read_rest().empty());
}

TEST_CASE("who connects for a process of the job and proves the secret wrongly is told nothing, nor believed") {
  const bool knows_secret = GENERATE(false, true);  // and says the acceptor's proof, which is another one
  monitor_job job(3, {}, false);
  job.start(0);
  hand_made_end impostor(weft::connect_to(job.at(0).control_address(), deadline()));
  const auto hello = encode(hello_of_1(job));
  impostor.send(hello);
  const auto answer = impostor.read(control_hello::size);
  impostor.read(sizeof(weft::proof));
  const auto end = knows_secret ? control_end::acceptor : control_end::connector;
  impostor.send(prove_end(end, bytes_of(knows_secret ? weft_test::secret_of_the_job : "a guess"), hello, answer));
  try {
    impostor.send(encode(control_message{.kind = control_kind::lost, .process = 2}));
  } catch (const weft::error&) {  // it has been dropped
  }
  CHECK(impostor.read_rest().empty());
  CHECK_FALSE(job.at(0).lost(2));
}
