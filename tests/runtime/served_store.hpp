// SPDX-License-Identifier: Apache-2.0
// Stores for tests: a server that serves, and processes that meet.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include <weft/runtime/challenge.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/tcp_store.hpp>

namespace weft_test {

using namespace std::chrono_literals;

using bytes = weft::store::bytes;

inline bytes from_text(const std::string& text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

inline std::string to_text(const bytes& value) { return {reinterpret_cast<const char*>(value.data()), value.size()}; }

inline auto soon() { return weft::store::clock::now() + 60s; }

/// A server in a thread of its own.
class served {
 public:
  explicit served(weft::store_job job) : job_(std::move(job)), server_(job_) {
    if (::pipe(stop_.data()) != 0) throw std::runtime_error("pipe");
    thread_ = std::thread([this] { run(); });
  }
  ~served() {
    ::close(stop_[1]);
    thread_.join();
    ::close(stop_[0]);
  }

  const std::string& address() const { return server_.address(); }
  std::string listen(const std::string& host) {
    const std::lock_guard lock(mutex_);
    return server_.listen(host);
  }
  std::unique_ptr<weft::store> join(int process) const { return join(process, address()); }
  std::unique_ptr<weft::store> join(int process, const std::string& address) const {
    return weft::connect_tcp_store(address, job_, process, soon());
  }
  void lose(int process) {
    const std::lock_guard lock(mutex_);
    server_.lose(process, "killed by SIGKILL");
  }

 private:
  void run() {
    for (;;) {
      std::array<pollfd, 2> ready{{{server_.descriptor(), POLLIN, 0}, {stop_[0], POLLIN, 0}}};
      ::poll(ready.data(), ready.size(), -1);
      if (ready[1].revents != 0) return;
      const std::lock_guard lock(mutex_);
      server_.serve();
    }
  }

  weft::store_job job_;
  std::mutex mutex_;  // the server
  weft::tcp_store_server server_;
  std::array<int, 2> stop_{};
  std::thread thread_;
};

inline weft::store_job job_of(int processes) { return {0x1234567890abcdef, processes, weft::make_secret()}; }

inline std::vector<std::unique_ptr<weft::store>> join_all(const served& server, int processes) {
  std::vector<std::unique_ptr<weft::store>> stores;
  for (int process = 0; process < processes; ++process) stores.push_back(server.join(process));
  return stores;
}

/// Runs `body` once for each store, each in its own thread, and counts the runs that went as they should.
template <class Body>
int run_all(std::vector<std::unique_ptr<weft::store>>& stores, Body body) {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (auto& store : stores)
    threads.emplace_back([&right, &body, &store] {
      try {
        if (body(*store)) ++right;
      } catch (const std::exception& failure) {
        std::fprintf(stderr, "process %d: %s\n", store->process(), failure.what());
      }
    });
  for (auto& thread : threads) thread.join();
  return right;
}

/// What `action` throws; for threads too, so without an assertion of its own.
inline std::string error_of(const std::function<void()>& action, weft::errc expected) {
  try {
    action();
  } catch (const weft::error& failure) {
    return failure.code() == expected ? failure.what() : "another code: " + failure.code().message();
  }
  return "no error";
}

/// Whether the processes find what each has put, and gather what each gives, five times over.
inline bool all_met(weft::store& store) {
  const int processes = store.processes();
  const std::string me = std::to_string(store.process());
  for (int round = 0; round < 5; ++round) {
    const std::string key = std::to_string(round).append("/");
    store.put(key + me, from_text(key + me));
    store.fence(soon());
    const int other = (store.process() + round + 1) % processes;
    if (to_text(*store.find(key + std::to_string(other))) != key + std::to_string(other)) return false;
    // Records of different lengths, the first of them empty; the same key again and again.
    const auto record = [](int process, int r) { return std::string(static_cast<std::size_t>(process * r), 'x'); };
    const auto records = store.gather("record", from_text(record(store.process(), round)), soon());
    if (records.size() != static_cast<std::size_t>(processes)) return false;
    for (int p = 0; p < processes; ++p)
      if (to_text(records[static_cast<std::size_t>(p)]) != record(p, round)) return false;
  }
  return true;
}

}  // namespace weft_test
