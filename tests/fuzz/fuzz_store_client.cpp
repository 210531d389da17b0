// SPDX-License-Identifier: Apache-2.0
// The rendezvous as a process sees it: what a launcher that has proved itself replies, and with 0 in front what
// somebody else says instead.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>
#include <weft/runtime/error.hpp>
#include <weft/runtime/tcp_store.hpp>

#include "input.hpp"
#include "runtime/bytes.hpp"
#include "runtime/store_protocol.hpp"

using namespace weft;
namespace protocol = weft::store_protocol;

namespace {

constexpr int processes = 3;
const store_job job{7, processes, "the secret of this job"};

store::clock::time_point soon() { return store::clock::now() + std::chrono::seconds(5); }

/// Says what it is given to the next one that connects.
class launcher {
 public:
  launcher() : listener_(listen_on("127.0.0.1")), address_(local_address(listener_)) {}
  const std::string& address() const { return address_; }

  void serve(std::span<const std::byte> said, bool proved) const {
    require_ready(listener_);
    const file_descriptor socket = accept_from(listener_);
    if (proved) prove_to(socket);
    send_now(socket, said);
    ::shutdown(socket.get(), SHUT_WR);
    std::array<std::byte, 4096> ignored;
    do require_ready(socket);
    while (receive_now(socket, ignored) > 0);
    // Without the wait of a connection that was closed first: there are as many as inputs.
    const linger none{1, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
  }

 private:
  static void require_ready(const file_descriptor& fd) { weft_fuzz::require(wait_for(fd, POLLIN, soon())); }

  static void prove_to(const file_descriptor& socket) {
    protocol::handshake h{job.number, 0, processes, {}, {}};
    std::vector<std::byte> greeting;
    append(greeting, protocol::magic);
    append(greeting, protocol::version);
    append(greeting, std::span<const std::byte>(h.launcher));
    send_now(socket, greeting);
    std::array<std::byte, protocol::hello_size> hello;
    for (std::size_t got = 0, more = 1; got < hello.size(); got += more)
      if ((more = receive_some(socket, std::span(hello).subspan(got), soon(), "fuzzer")) == 0) return;
    std::ranges::copy(std::span(hello).subspan(20, h.client.size()), h.client.begin());
    std::vector<std::byte> verdict;
    append(verdict, static_cast<std::uint32_t>(protocol::verdict::accepted));
    append(verdict, std::span<const std::byte>(protocol::prove(protocol::side::launcher, job.secret, h)));
    send_now(socket, verdict);
  }

  file_descriptor listener_;
  std::string address_;
};

template <class Call>
bool succeeds(Call call) try {
  call();
  return true;
} catch (const error& failure) {
  // Half a request may meet the end of the connection.
  weft_fuzz::require(failure.code() == errc::protocol || failure.code() == errc::peer_lost ||
                     failure.code() == errc::no_rendezvous || failure.code() == errc::incompatible);
  return failure.code() == errc::peer_lost;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const launcher serving;
  weft_fuzz::input from(data, size);
  const bool proved = size == 0 || data[0] != 0;
  if (!proved) from.take();
  std::thread other([&, said = from.rest()] { serving.serve(said, proved); });
  std::unique_ptr<store> joined;
  // Too soon for it to try again where the connection ends before the verdict.
  const auto once = store::clock::now() + std::chrono::milliseconds(45);
  succeeds([&] { joined = connect_tcp_store(serving.address(), job, 0, once); });
  if (joined) {
    bool going = succeeds([&] { joined->find("key"); });
    going = going && succeeds([&] { joined->get("key", soon()); });
    going = going && succeeds([&] { joined->gather("key", as_bytes("mine"), soon()); });
    if (going) succeeds([&] { joined->fence(soon()); });
  }
  joined.reset();
  other.join();
  return 0;
}
