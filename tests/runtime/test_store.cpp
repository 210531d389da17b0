// SPDX-License-Identifier: Apache-2.0
// What a store answers, in memory and over TCP.
#include "catch.hpp"
#include "runtime/served_store.hpp"

using namespace weft_test;

namespace {

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

TEST_CASE("processes meet at whichever of the server's addresses they reach") {
  served server(job_of(2));
  const auto first = server.join(0), second = server.join(1, server.listen("::1"));
  first->put("from", from_text("the first"));
  CHECK(to_text(second->get("from", soon())) == "the first");
}

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

TEST_CASE("who started a process tells how it ended, and may do nothing else") {
  const weft::store_job job = job_of(3);
  const served server(job);
  const auto waiting = server.join(0);
  weft::report_end(server.address(), job, 2, "", soon());
  weft::report_end(server.address(), job, 1, "killed by SIGKILL", soon());
  CHECK(to_text(*waiting->find("lost/1")) == "killed by SIGKILL");
  CHECK_FALSE(waiting->find("lost/2"));
  error_of([&] { waiting->fence(soon()); }, weft::errc::peer_lost);
  // What the job does not have ends the connection of who tells it.
  error_of([&] { weft::report_end(server.address(), job, 3, "", soon()); }, weft::errc::no_rendezvous);
  weft::store_job other = job;
  other.secret = weft::make_secret();
  error_of([&] { weft::report_end(server.address(), other, 0, "", soon()); }, weft::errc::no_rendezvous);
  const auto curious = weft::connect_tcp_store(server.address(), job, 0x7fffffff, soon());
  error_of([&] { curious->find("lost/1"); }, weft::errc::no_rendezvous);
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
