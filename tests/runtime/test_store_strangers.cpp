// SPDX-License-Identifier: Apache-2.0
// Who may talk to a store's server, and to whom a process talks.
#include <fstream>

#include "catch.hpp"
#include "runtime/served_store.hpp"
#include "sanitized.hpp"

using namespace weft_test;

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
  CHECK_THAT(met_by(magic + std::string("\x03\0\0\0", 4) + std::string(32, 'n'), weft::errc::incompatible),
             ContainsSubstring("this process speaks weft store version 2, the rendezvous at"));
  CHECK_THAT(met_by("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3 and so on and so on", weft::errc::incompatible),
             ContainsSubstring("no rendezvous of weft"));
  // The right greeting, and then no knowledge of the secret.
  const std::string impostor = magic + std::string("\x02\0\0\0", 4) + std::string(32, 'n') + std::string(36, '\0');
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

TEST_CASE("garbage takes neither memory nor the job's turn") {
  const served server(job_of(2));
  auto stores = join_all(server, 2);
  const auto resident_pages = [] {
    long size = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return resident;
  };
  const std::string garbage(200, 'g');
  const long before = resident_pages();
  std::vector<weft::file_descriptor> crowd(400);
  for (std::size_t i = 0; i < 10'000; ++i) {
    crowd[i % crowd.size()] = weft::connect_to(server.address(), soon());
    if (i % 2 == 0) weft::send_now(crowd[i % crowd.size()], std::as_bytes(std::span(garbage)));
    if (i % 2000 == 0) CHECK(run_all(stores, all_met) == 2);
  }
  if (!sanitized) CHECK(resident_pages() - before < 4 * 256);  // 4 MiB; a sanitizer keeps what was freed
  CHECK(run_all(stores, all_met) == 2);
}
