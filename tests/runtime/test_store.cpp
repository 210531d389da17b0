#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <mutex>
#include <thread>
#include <weft/runtime/error.hpp>
#include <weft/runtime/tcp_store.hpp>

#include "catch.hpp"

using namespace std::chrono_literals;
using weft_test::ContainsSubstring;

namespace {

using bytes = weft::store::bytes;

bytes from_text(const std::string& text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

std::string to_text(const bytes& value) { return {reinterpret_cast<const char*>(value.data()), value.size()}; }

auto soon() { return weft::store::clock::now() + 60s; }

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
  std::unique_ptr<weft::store> join(int process) const {
    return weft::connect_tcp_store(address(), job_, process, soon());
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

weft::store_job job_of(int processes) { return {0x1234567890abcdef, processes, weft::make_secret()}; }

std::vector<std::unique_ptr<weft::store>> join_all(const served& server, int processes) {
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
std::string error_of(const std::function<void()>& action, weft::errc expected) {
  try {
    action();
  } catch (const weft::error& failure) {
    return failure.code() == expected ? failure.what() : "another code: " + failure.code().message();
  }
  return "no error";
}

bool all_met(weft::store& store) {
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

void check_single(weft::store& first, weft::store& second) {
  CHECK_FALSE(first.find("later"));
  std::thread late([&] {
    std::this_thread::sleep_for(20ms);
    second.put("later", from_text("one"));
  });
  CHECK(to_text(first.get("later", soon())) == "one");
  late.join();
  second.put("later", from_text("two"));
  CHECK(to_text(*first.find("later")) == "two");
  first.put("empty", {});
  CHECK(second.get("empty", soon()).empty());
  const bytes longest(weft::store::maximum_value, std::byte{7});
  first.put("longest", longest);
  CHECK(second.get("longest", soon()) == longest);

  const std::string message =
      error_of([&] { first.get("never", weft::store::clock::now() + 10ms); }, weft::errc::timed_out);
  CHECK_THAT(message, ContainsSubstring("\"never\""));
  second.put("never", from_text("late"));  // answers a request that was given up, or not at all
  CHECK(to_text(first.get("later", soon())) == "two");

  CHECK_THAT(error_of([&] { first.put(std::string(257, 'k'), {}); }, weft::errc::invalid_argument),
             ContainsSubstring("257"));
  CHECK_THAT(error_of([&] { first.put("k", bytes(weft::store::maximum_value + 1)); }, weft::errc::invalid_argument),
             ContainsSubstring("1048577"));
  CHECK_THAT(error_of([&] { first.fence(weft::store::clock::now() + 10ms); }, weft::errc::timed_out),
             ContainsSubstring("fence"));
  second.fence(soon());  // the first has arrived at this one, if too late for itself
  CHECK_THAT(error_of([&] { first.gather("g", {}, weft::store::clock::now() + 10ms); }, weft::errc::timed_out),
             ContainsSubstring("\"g\""));
}

}  // namespace

TEST_CASE("processes in one memory meet") {
  for (const int processes : {1, 2, 7, 64}) {
    auto stores = weft::memory_stores(processes);
    CHECK(run_all(stores, all_met) == processes);
  }
}

TEST_CASE("processes meet over TCP") {
  for (const int processes : {1, 2, 64}) {
    const served server(job_of(processes));
    auto stores = join_all(server, processes);
    CHECK(run_all(stores, all_met) == processes);
  }
}

TEST_CASE("values, deadlines and sizes in memory") {
  auto stores = weft::memory_stores(2);
  check_single(*stores[0], *stores[1]);
}

TEST_CASE("values, deadlines and sizes over TCP") {
  const served server(job_of(2));
  auto stores = join_all(server, 2);
  check_single(*stores[0], *stores[1]);
}

TEST_CASE("a lost process fails those who wait for it, and them only") {
  served server(job_of(3));
  auto stores = join_all(server, 3);
  stores[2]->put("k", from_text("before"));
  std::string in_fence, in_gather;
  std::thread waits_in_fence([&] { in_fence = error_of([&] { stores[0]->fence(soon()); }, weft::errc::peer_lost); });
  std::thread waits_in_gather(
      [&] { in_gather = error_of([&] { stores[1]->gather("g", {}, soon()); }, weft::errc::peer_lost); });
  std::this_thread::sleep_for(20ms);
  server.lose(2);
  waits_in_fence.join();
  waits_in_gather.join();
  CHECK(in_fence == "fence: process 2 of the job ended before it came");
  CHECK(in_gather == "gathering \"g\": process 2 of the job ended before it came");
  CHECK(to_text(*stores[0]->find("k")) == "before");
  CHECK(to_text(stores[1]->get("lost/2", soon())) == "killed by SIGKILL");
}

TEST_CASE("programs that follow one another in the same processes do not see each other's records") {
  const served server(job_of(2));
  for (int program = 0; program < 20; ++program) {
    auto stores = join_all(server, 2);
    CHECK(run_all(stores, [&](weft::store& store) {
            const auto records = store.gather("address", from_text(std::to_string(program)), soon());
            return to_text(records[0]) == std::to_string(program) && to_text(records[1]) == std::to_string(program);
          }) == 2);
  }
}

TEST_CASE("the launcher refuses who is not of its job") {
  const weft::store_job job = job_of(2);
  const served server(job);
  const auto member = server.join(0);
  const auto refusal = [&](weft::store_job claimed, int process) {
    return error_of([&] { weft::connect_tcp_store(server.address(), claimed, process, soon()); },
                    weft::errc::no_rendezvous);
  };
  CHECK_THAT(refusal({job.number, 2, weft::make_secret()}, 1), ContainsSubstring("WEFT_SECRET"));
  CHECK_THAT(refusal({job.number + 1, 2, job.secret}, 1), ContainsSubstring("WEFT_JOB"));
  CHECK_THAT(refusal({job.number, 3, job.secret}, 2), ContainsSubstring("no process 2 of 3"));
  CHECK_THAT(refusal(job, 2), ContainsSubstring("no process 2 of 2"));
  CHECK_THAT(refusal(job, 0), ContainsSubstring("joined already"));
  CHECK(server.join(1)->processes() == 2);
  CHECK_THROWS_AS(weft::tcp_store_server({1, 1, "short"}), weft::error);
}

TEST_CASE("an address where nobody, or somebody else, listens") {
  const weft::store_job job = job_of(1);
  const auto failure = [&](const std::string& address, weft::errc expected) {
    return error_of([&] { weft::connect_tcp_store(address, job, 0, weft::store::clock::now() + 200ms); }, expected);
  };
  const auto silent = weft::listen_on("127.0.0.1");
  CHECK_THAT(failure(weft::local_address(silent), weft::errc::no_rendezvous), ContainsSubstring("nobody answers"));
  std::string closed;
  { closed = weft::local_address(weft::listen_on("127.0.0.1")); }
  CHECK_THAT(failure(closed, weft::errc::no_rendezvous), ContainsSubstring("refused"));
  CHECK_THAT(failure("localhost", weft::errc::invalid_argument), ContainsSubstring("no port"));
  CHECK_THAT(failure("localhost:1", weft::errc::invalid_argument), ContainsSubstring("numeric"));
}

namespace {

/// What a process says of a launcher that begins like this.
std::string met_by(const std::string& greeting, weft::errc expected) {
  const auto listener = weft::listen_on("127.0.0.1");
  std::thread launcher([&] {
    weft::wait_for(listener, POLLIN, soon());
    const auto connection = weft::accept_from(listener);
    weft::send_all(connection, std::as_bytes(std::span(greeting)), soon(), "test");
    weft::wait_for(connection, POLLIN, soon());
  });
  const std::string message =
      error_of([&] { weft::connect_tcp_store(weft::local_address(listener), job_of(1), 0, soon()); }, expected);
  launcher.join();
  return message;
}

}  // namespace

TEST_CASE("another build is refused by name") {
  const std::string magic = "wftstore";
  CHECK_THAT(met_by(magic + std::string("\x02\0\0\0", 4) + std::string(32, 'n'), weft::errc::incompatible),
             ContainsSubstring("this process speaks weft store version 1, the launcher at"));
  CHECK_THAT(met_by("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3 and so on and so on", weft::errc::incompatible),
             ContainsSubstring("not a launcher of weft"));
  // The right greeting, and then no knowledge of the secret.
  const std::string impostor = magic + std::string("\x01\0\0\0", 4) + std::string(32, 'n') + std::string(36, '\0');
  CHECK_THAT(met_by(impostor, weft::errc::no_rendezvous), ContainsSubstring("does not know the job's secret"));
}

namespace {

/// How long the server keeps a connection that says `text` and then nothing.
std::chrono::milliseconds patience(const served& server, const std::string& text) {
  const auto begin = weft::store::clock::now();
  const auto socket = weft::connect_to(server.address(), soon());
  weft::send_all(socket, std::as_bytes(std::span(text)), soon(), "test");
  std::array<std::byte, 1024> buffer;
  while (weft::receive_some(socket, buffer, soon(), "test") != 0) continue;
  return std::chrono::duration_cast<std::chrono::milliseconds>(weft::store::clock::now() - begin);
}

}  // namespace

TEST_CASE("strangers are dropped within a second and disturb nobody") {
  const served server(job_of(2));
  auto stores = join_all(server, 2);
  std::atomic<bool> stop{false};
  std::thread garbage([&] {
    for (int i = 0; i < 20 && !stop; ++i) patience(server, std::string(static_cast<std::size_t>(1 + i * 997), '\xff'));
  });
  std::ptrdiff_t received = 0;
  weft::store::clock::duration slow_time{};
  std::thread slow([&] {  // a byte now and then does not prolong anything
    const auto begin = weft::store::clock::now();
    const auto socket = weft::connect_to(server.address(), soon());
    const std::byte one{'w'};
    std::array<std::byte, 64> buffer;
    while ((received = weft::receive_now(socket, buffer)) >= 0 && weft::store::clock::now() - begin < 20s) {
      weft::send_now(socket, {&one, 1});
      std::this_thread::sleep_for(20ms);
    }
    slow_time = weft::store::clock::now() - begin;
  });
  CHECK(run_all(stores, all_met) == 2);
  CHECK(patience(server, "") < 2s);
  CHECK(patience(server, std::string(84, 'g')) < 500ms);
  slow.join();
  CHECK(received < 0);
  CHECK(slow_time < 2s);  // a second, and what a loaded machine adds
  stop = true;
  garbage.join();
  CHECK(run_all(stores, all_met) == 2);
}

TEST_CASE("a crowd of strangers makes way for the job") {
  const served server(job_of(2));
  std::vector<weft::file_descriptor> crowd;
  for (int i = 0; i < 300; ++i) crowd.push_back(weft::connect_to(server.address(), soon()));
  auto stores = join_all(server, 2);
  CHECK(run_all(stores, all_met) == 2);
}

TEST_CASE("descriptors have one owner") {
  const auto listener = weft::listen_on("127.0.0.1");
  const int number = listener.get();
  weft::file_descriptor moved(::dup(number));
  const int copy = moved.get();
  weft::file_descriptor target(std::move(moved));
  CHECK_FALSE(moved);  // NOLINT: what a move leaves is part of the contract
  CHECK(target.get() == copy);
  target = weft::file_descriptor();
  CHECK(::close(copy) == -1);
  CHECK_THAT(weft::local_address(weft::listen_on("::1")), ContainsSubstring("[::1]:"));
  CHECK_THROWS_AS(weft::listen_on("no.such.host"), weft::error);
}
