// SPDX-License-Identifier: Apache-2.0
// A receiver that keeps what a transport reports, and a way to wait for it.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#include <weft/fabric/transport.hpp>

#include "seed.hpp"

namespace weft_test {

using bytes = std::vector<std::byte>;

/// The bytes that number `number` of a test sends.
inline bytes pattern(std::size_t size, std::uint64_t number) {
  bytes made(size);
  std::uint64_t state = number * 0x9e3779b97f4a7c15u + 1;
  for (std::byte& one : made) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    one = static_cast<std::byte>(state >> 56);
  }
  return made;
}

struct ending {
  weft::fabric::transfer* which;
  std::size_t bytes;
  std::error_code error;
};

class collecting_receiver final : public weft::fabric::receiver {
 public:
  void arrived(std::span<const std::byte> frame) override {
    frames.emplace_back(frame.begin(), frame.end());
    order.push_back(order_of::frame);
  }
  void arrived(int peer, weft::fabric::message_name name, weft::fabric::message_ends ends,
               std::span<const std::byte> message) override {
    messages.push_back({peer, name, ends, {message.begin(), message.end()}});
    order.push_back(order_of::message);
  }
  void done(weft::fabric::transfer& ended, std::size_t count, std::error_code error) override {
    endings.push_back({&ended, count, error});
  }
  void broken(int peer, std::error_code) override { lost.push_back(peer); }
  const ending* of(const weft::fabric::transfer& which) const {
    for (const ending& one : endings) {
      if (one.which == &which) return &one;
    }
    return nullptr;
  }
  struct short_message {
    int peer;
    weft::fabric::message_name name;
    weft::fabric::message_ends ends;
    bytes message;
  };
  enum class order_of { frame, message };
  std::vector<bytes> frames;
  std::vector<short_message> messages;
  std::vector<order_of> order;  ///< in which those came
  std::vector<ending> endings;
  std::vector<int> lost;
};

/// Calls `step` until it says true; throws after `limit` (long enough for a loaded machine and sanitizers).
template <class Step>
void until(Step step, const char* what, std::chrono::seconds limit = std::chrono::seconds(60)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!step()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error(std::string("waited in vain for ") + what);
    std::this_thread::yield();
  }
}

/// An endpoint with what it has reported.
struct station {
  std::unique_ptr<weft::fabric::transport> link;
  collecting_receiver seen;
  void poll() { link->poll(seen); }
};

/// Starts every endpoint with all of them as its peers, in this order.
inline std::vector<station> start_all(std::vector<std::unique_ptr<weft::fabric::transport>> links,
                                      std::size_t receive_bytes = std::size_t{1} << 20) {
  std::vector<weft::fabric::address> addresses;
  for (const auto& link : links) addresses.push_back(link->local_address());
  std::vector<station> stations(links.size());
  for (std::size_t index = 0; index < links.size(); ++index) {
    stations[index].link = std::move(links[index]);
    stations[index].link->start(addresses, receive_bytes);
  }
  return stations;
}

inline void poll_all(std::vector<station>& stations) {
  for (station& one : stations) one.poll();
}

}  // namespace weft_test
