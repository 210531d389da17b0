// SPDX-License-Identifier: Apache-2.0
// Jobs that no launcher starts: processes that a description makes one, without arguments or an environment.
#include <fcntl.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>
#include <weft/runtime.hpp>
#include <weft/runtime/challenge.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/socket.hpp>

#include "catch.hpp"

namespace {

std::uint16_t free_port() {
  const std::string address = weft::local_address(weft::listen_on("127.0.0.1"));
  return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

}  // namespace

TEST_CASE("processes that a description makes a job compute together", "[described]") {
  const bool over_network = GENERATE(false, true);
  constexpr int processes = 3, each = 2, ranks = processes * each;
  weft::launch_description job;
  job.hosts.assign(processes, "127.0.0.1");
  job.secret = weft::make_secret();
  job.port = free_port();
  job.options = {{"ranks-per-process", "2"}, {"tune", "off"}, {"node", over_network ? "off" : "on"}};
  std::atomic<int> right{0};
  std::vector<std::thread> all;
  for (int p = 0; p < processes; ++p)
    all.emplace_back([&, p] {
      try {
        weft::launch_description mine = job;
        mine.process = p;
        mine.cpus = {0};
        weft::runtime runtime{mine};
        runtime.run([&](weft::communicator& world) {
          if (world.size() == ranks && world.allreduce(world.rank(), weft::sum) == ranks * (ranks - 1) / 2) ++right;
        });
      } catch (const std::exception& failure) {
        std::fprintf(stderr, "process %d: %s\n", p, failure.what());
      }
    });
  for (std::thread& process : all) process.join();
  CHECK(right == ranks);
}

TEST_CASE("options of a description that there are not are refused, before anybody is waited for", "[described]") {
  weft::launch_description job;
  job.hosts = {"127.0.0.1", "127.0.0.1"};
  job.process = 0;
  job.secret = weft::make_secret();
  job.options = {{"tuna", "off"}};
  job.rendezvous = weft::listen_on("127.0.0.1").release();
  CHECK_THROWS_WITH(weft::runtime{job}, weft_test::ContainsSubstring("tuna"));
  CHECK(::fcntl(job.rendezvous, F_GETFD) == -1);  // it is closed, as it was weft's
  job.rendezvous = -1;
  job.options = {{"workers", "many"}};
  CHECK_THROWS_WITH(weft::runtime{job},
                    weft_test::ContainsSubstring("weft.workers") && weft_test::ContainsSubstring("many"));
}
