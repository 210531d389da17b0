// SPDX-License-Identifier: Apache-2.0
// A network between monitors that can be cut, or slow: every control connection leads through this process, which holds
// the bytes of a direction back for as long as that is cut. So TCP does, until it gives up.
#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#include <weft/runtime/error.hpp>
#include <weft/runtime/socket.hpp>

namespace weft_test {

class control_relay {
 public:
  /// `addresses`: where the monitors listen.
  explicit control_relay(std::vector<std::string> addresses)
      : addresses_(std::move(addresses)), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    const int processes = static_cast<int>(addresses_.size());
    for (int from = 0; from < processes; ++from)
      for (int to = 0; to < processes; ++to) {
        doors_.push_back({from, to, weft::listen_on("127.0.0.1"), {}});
        doors_.back().address = weft::local_address(doors_.back().listener);
      }
    thread_ = std::thread([this] { run(); });
  }
  ~control_relay() {
    stop_ = true;
    ::eventfd_write(wake_.get(), 1);
    thread_.join();
  }
  control_relay(const control_relay&) = delete;
  control_relay& operator=(const control_relay&) = delete;

  /// Where process `from` is to reach `to`.
  const std::string& address(int from, int to) const {
    return doors_[static_cast<std::size_t>(from) * addresses_.size() + static_cast<std::size_t>(to)].address;
  }

  void cut(int from, int to) {
    const std::lock_guard lock(mutex_);
    cut_.emplace(from, to);
  }
  void cut_between(const std::set<int>& side, const std::set<int>& other) {
    for (const int one : side)
      for (const int another : other) {
        cut(one, another);
        cut(another, one);
      }
  }
  /// From now on whatever is sent takes so long at most. Once.
  void slow_down(std::chrono::milliseconds at_most, std::uint64_t seed) {
    random_.seed(seed);
    slowest_ = static_cast<int>(at_most.count());
    ::eventfd_write(wake_.get(), 1);
  }
  void heal() {
    {
      const std::lock_guard lock(mutex_);
      cut_.clear();
    }
    ::eventfd_write(wake_.get(), 1);
  }

 private:
  struct door {
    int from, to;
    weft::file_descriptor listener;
    std::string address;
  };
  /// What goes from one end of a connection to the other.
  struct direction {
    int from, to;
    std::vector<std::byte> held{};
    std::chrono::steady_clock::time_point due{};  // for these to be delivered
    bool over = false;                            // the sender has ended it
    bool told = false;                            // and the receiver knows
  };
  struct connection {
    weft::file_descriptor connector, acceptor;
    direction forth, back;
  };

  void run() {
    while (!stop_) {
      const auto ready = wait();
      const bool all = ready.contains(wake_.get()) || slowest_ != 0;
      eventfd_t count;
      ::eventfd_read(wake_.get(), &count);
      for (const auto& each : connections_) {
        if (all || ready.contains(each->connector.get())) carry(each->connector, each->acceptor, each->forth);
        if (all || ready.contains(each->acceptor.get())) carry(each->acceptor, each->connector, each->back);
      }
      std::erase_if(connections_, [](const auto& each) { return each->forth.told && each->back.told; });
      for (const door& each : doors_)
        if (ready.contains(each.listener.get())) take(each);
    }
  }

  /// The descriptors from which something has come.
  std::set<int> wait() const {
    std::vector<pollfd> all{{wake_.get(), POLLIN, 0}};
    for (const door& each : doors_) all.push_back({each.listener.get(), POLLIN, 0});
    for (const auto& each : connections_) {
      if (!each->forth.over) all.push_back({each->connector.get(), POLLIN, 0});
      if (!each->back.over) all.push_back({each->acceptor.get(), POLLIN, 0});
    }
    ::poll(all.data(), all.size(), slowest_ != 0 ? 2 : -1);
    std::set<int> ready;
    for (const pollfd& each : all)
      if (each.revents != 0) ready.insert(each.fd);
    return ready;
  }

  void take(const door& each) {
    while (auto socket = weft::accept_from(each.listener)) {
      try {
        auto onward = weft::connect_to(addresses_[static_cast<std::size_t>(each.to)],
                                       std::chrono::steady_clock::now() + std::chrono::seconds(5));
        connections_.push_back(std::make_unique<connection>(
            connection{std::move(socket), std::move(onward), {each.from, each.to}, {each.to, each.from}}));
      } catch (const weft::error&) {  // nobody is there any more: so the connector sees
      }
    }
  }

  void carry(const weft::file_descriptor& from, const weft::file_descriptor& to, direction& way) {
    const auto now = std::chrono::steady_clock::now();
    if (way.held.empty() && slowest_ != 0)
      way.due = now + std::chrono::milliseconds(std::uniform_int_distribution<int>(0, slowest_)(random_));
    std::byte buffer[4096];
    while (!way.over) {
      const auto received = weft::receive_now(from, buffer);
      if (received == 0) break;
      if (received < 0) way.over = true;
      if (received > 0) way.held.insert(way.held.end(), buffer, buffer + received);
    }
    {
      const std::lock_guard lock(mutex_);
      if (cut_.contains({way.from, way.to}) || now < way.due) return;
    }
    if (!way.held.empty()) weft::send_now(to, way.held);  // little: the kernel takes all
    way.held.clear();
    if (way.over && !std::exchange(way.told, true)) ::shutdown(to.get(), SHUT_WR);
  }

  const std::vector<std::string> addresses_;
  std::vector<door> doors_;
  weft::file_descriptor wake_;
  std::mutex mutex_;  // guards the next one
  std::set<std::pair<int, int>> cut_;
  std::list<std::unique_ptr<connection>> connections_;
  std::mt19937_64 random_;
  std::atomic<int> slowest_ = 0;  // milliseconds
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace weft_test
