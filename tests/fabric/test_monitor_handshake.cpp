// What a monitor says to one that has proven itself but has said nothing yet.
#include <poll.h>

#include <optional>
#include <vector>
#include <weft/fabric/monitor.hpp>
#include <weft/runtime/socket.hpp>

#include "fabric/watch/control_protocol.hpp"
#include "catch.hpp"
#include "monitor_job.hpp"

using namespace std::chrono_literals;
using namespace weft::fabric;
using weft_test::bytes_of;
using weft_test::monitor_job;

namespace {

/// The acceptor's end of a connection, by hand.
class acceptor {
 public:
  explicit acceptor(const weft::file_descriptor& listener) {
    REQUIRE(weft::wait_for(listener, POLLIN, end_));
    socket_ = weft::accept_from(listener);
  }

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

  void send(std::span<const std::byte> bytes) { weft::send_all(socket_, bytes, end_, "acceptor"); }

 private:
  void read_some() {
    std::byte buffer[4096];
    const std::size_t received = weft::receive_some(socket_, buffer, end_, "acceptor");
    REQUIRE(received > 0);
    heard_.insert(heard_.end(), buffer, buffer + received);
  }

  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + 10s;
  weft::file_descriptor socket_;
  std::vector<std::byte> heard_;
};

}  // namespace

// Otherwise one that ends right after it has heard of a loss would itself be taken for the first one.
TEST_CASE("a connector tells of a loss though the acceptor has not answered its proof") {
  monitor_job job(3, {}, false);
  const auto listener = weft::listen_on("127.0.0.1");
  job.records[1].control = weft::local_address(listener);
  job.kill(2);  // refuses connections
  job.start(0);
  acceptor one(listener);
  const auto hello = one.read(control_hello::size);
  const auto theirs = decode_hello(hello);
  REQUIRE(theirs);
  control_hello mine = *theirs;
  mine.from = 1;
  mine.to = 0;
  mine.incarnation = job.records[1].incarnation;
  const auto answer = encode(mine);
  one.send(answer);
  const auto secret = bytes_of(weft_test::secret_of_the_job);
  one.send(prove_end(control_end::acceptor, secret, hello, answer));
  const auto proof_of_connector = one.read(sizeof(weft::proof));
  const auto expected = prove_end(control_end::connector, secret, hello, answer);
  REQUIRE(std::equal(expected.begin(), expected.end(), proof_of_connector.begin()));
  CHECK(one.read_loss() == 2);
}
