// SPDX-License-Identifier: Apache-2.0
// The rendezvous' server: what strangers, processes of the job and a witness send to it, in pieces.
#include <list>
#include <weft/runtime/error.hpp>

#include "input.hpp"
#include "runtime/bytes.hpp"
#include "runtime/store_service.hpp"

using namespace weft;
namespace protocol = weft::store_protocol;

namespace {

constexpr int processes = 3;
const store_job job{7, processes, "the secret of this job"};

class server {
 public:
  server() {
    for (int i = 0; i < processes; ++i) connections_.emplace_back().process = i;
    connections_.emplace_back().process = static_cast<int>(protocol::witness);
    for (int i = 0; i < 2; ++i) service_.greet(connections_.emplace_back());
    take_outputs();
  }

  store_connection& at(std::size_t number) {
    return *std::next(connections_.begin(), static_cast<std::ptrdiff_t>(number));
  }
  std::size_t size() const { return connections_.size(); }

  void hear(store_connection& c, std::span<const std::byte> bytes) {
    if (c.closing) return;
    append(c.input, bytes);
    handle(c);
    while (service_.take_change())
      for (store_connection& each : connections_) {
        if (each.closing || !each.waiting) continue;
        service_.answer(each);
        take_outputs();
        handle(each);
      }
    take_outputs();
  }

  /// As a process that knows the secret.
  void hear_hello(store_connection& c, std::uint32_t process) {
    protocol::handshake h{job.number, process, processes, c.nonce, {}};
    hear(c, protocol::hello_of(h, job.secret));
  }

 private:
  void handle(store_connection& c) try {
    while (c.output.empty() && !c.closing) {
      const auto message = c.next_message();
      if (!message) return;
      service_.handle(c, *message, connections_);
    }
  } catch (const error& broken) {
    weft_fuzz::require(broken.code() == errc::protocol);
    c.close_at_once();
  }
  /// As sent.
  void take_outputs() {
    for (store_connection& each : connections_) each.output.clear();
  }

  store_service service_{job};
  std::list<store_connection> connections_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft_fuzz::input from(data, size);
  server heard;
  while (!from.empty()) {
    const std::uint8_t what = from.take();
    store_connection& c = heard.at(what % heard.size());
    if (what >= 240)
      heard.hear_hello(c, from.take() % 4);
    else
      heard.hear(c, from.take_bytes(from.take()));
  }
  return 0;
}
