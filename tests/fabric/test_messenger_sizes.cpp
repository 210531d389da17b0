// SPDX-License-Identifier: Apache-2.0
// Messages longer than 32 bits count.
#include "catch.hpp"
#include "fabric/messenger_job.hpp"

using namespace weft_test;

namespace {

/// A network of two whose payloads move no bytes: for lengths that no test machine has the memory for.
struct weightless_network {
  struct event {
    std::vector<std::byte> frame;
    weft::fabric::transfer* ended = nullptr;
    std::size_t bytes = 0;
  };
  struct posted {
    std::uint64_t tag;
    const std::byte* memory;
    std::size_t bytes;
    weft::fabric::transfer* context;
  };
  std::deque<event> events[2];
  std::deque<posted> receives[2];
  std::vector<std::pair<const std::byte*, std::size_t>> sent, landed;
};

class weightless_transport final : public weft::fabric::transport {
 public:
  weightless_transport(weightless_network& network, int index) : network_(network), index_(index) {
    limits_ = {"weightless", 256, 4096, std::size_t{1} << 30, ~std::uint64_t{0} >> 1};
  }
  const weft::fabric::transport_limits& limits() const noexcept override { return limits_; }
  weft::fabric::address local_address() const override { return {std::byte(index_)}; }
  void start(std::span<const weft::fabric::address>, std::size_t) override {}
  bool inject(int peer, std::span<const std::byte> frame) override {
    network_.events[peer].push_back({{frame.begin(), frame.end()}});
    return true;
  }
  bool send(int peer, std::span<const std::byte> frame, weft::fabric::transfer& context) override {
    inject(peer, frame);
    network_.events[index_].push_back({{}, &context, frame.size()});
    return true;
  }
  bool send_payload(int peer, std::uint64_t tag, std::span<const std::byte> bytes,
                    weft::fabric::transfer& context) override {
    auto& receives = network_.receives[peer];
    const auto found =
        std::find_if(receives.begin(), receives.end(), [&](const auto& each) { return each.tag == tag; });
    if (found == receives.end() || found->bytes < bytes.size()) throw std::logic_error("a payload without memory");
    network_.sent.emplace_back(bytes.data(), bytes.size());
    network_.landed.emplace_back(found->memory, bytes.size());
    network_.events[peer].push_back({{}, found->context, bytes.size()});
    network_.events[index_].push_back({{}, &context, bytes.size()});
    receives.erase(found);
    return true;
  }
  bool receive_payload(int, std::uint64_t tag, std::span<std::byte> bytes, weft::fabric::transfer& context) override {
    network_.receives[index_].push_back({tag, bytes.data(), bytes.size(), &context});
    return true;
  }
  void cancel(weft::fabric::transfer&) override {}
  std::size_t poll(weft::fabric::receiver& to) override {
    std::size_t count = 0;
    for (; !network_.events[index_].empty(); ++count) {
      const auto event = std::move(network_.events[index_].front());
      network_.events[index_].pop_front();
      event.ended != nullptr ? to.done(*event.ended, event.bytes, {}) : to.arrived(event.frame);
    }
    return count;
  }

 private:
  weightless_network& network_;
  int index_;
  weft::fabric::transport_limits limits_;
};

struct weightless_send final : weft::fabric::send_operation {
  void finished() noexcept override { done = true; }
  bool done = false;
};
struct weightless_receive final : weft::fabric::receive_operation {
  void finished() noexcept override { done = true; }
  bool done = false;
};

}  // namespace

TEST_CASE("messages of more than 4 GiB are cut and counted right", "[messenger]") {
  const bool collective = GENERATE(false, true);
  const std::size_t piece = GENERATE(std::size_t{1} << 30, std::size_t{3} << 28);
  const std::size_t size = (std::size_t{5} << 32) + 12345;
  CAPTURE(collective, piece);
  weightless_network network;
  weightless_send send;
  weightless_receive receive;
  auto group = std::make_shared<weft::fabric::group>();
  group->communicator = 1;
  group->world = group->process = {0, 1};
  weft::fabric::participant sender(group, 0), receiver(group, 1);
  std::vector<std::unique_ptr<weft::fabric::messenger>> both;
  for (int index : {0, 1}) {
    weft::fabric::messenger_settings settings;
    settings.process = index;
    settings.first_rank = {0, 1};
    settings.incarnations = {0, 0};
    settings.piece = piece;
    settings.window = piece * 4;
    both.push_back(
        std::make_unique<weft::fabric::messenger>(std::make_unique<weightless_transport>(network, index), settings));
  }
  const auto deadline = weft::steady_clock_source().now() + std::chrono::seconds(60);
  const std::vector<weft::fabric::address> addresses(2);
  bool second = false;
  both[0]->connect(addresses, deadline, [&] {
    if (!std::exchange(second, true)) both[1]->connect(addresses, deadline, [&] { both[0]->poll(); });
    both[1]->poll();
  });
  both[0]->join(sender);
  both[1]->join(receiver);
  // Addresses alone, never read or written.
  send.data = reinterpret_cast<const std::byte*>(std::uintptr_t{1} << 40);
  receive.data = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 41);
  send.at = &sender;
  receive.at = &receiver;
  send.peer = 1;
  receive.peer = 0;
  send.tag = receive.tag = 3;
  send.bytes = size;
  receive.bytes = collective ? size : size + 1;
  send.collective = receive.collective = collective;
  both[0]->post(send);
  both[1]->post(receive);
  until([&] { return both[0]->poll(), both[1]->poll(), send.done && receive.done; }, "the message");
  CHECK(receive.received == size);
  CHECK(network.sent.size() == (size + piece - 1) / piece);
  std::size_t at = 0, wrong = 0;
  for (std::size_t i = 0; i < network.sent.size(); ++i) {
    wrong += network.sent[i].first != send.data + at || network.landed[i].first != receive.data + at;
    at += network.sent[i].second;
  }
  CHECK(wrong == 0);
  CHECK(at == size);
}
