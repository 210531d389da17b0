// SPDX-License-Identifier: Apache-2.0
// Messengers under threads.
#include <thread>

#include "catch.hpp"
#include "fabric/messenger_job.hpp"

using namespace weft_test;

TEST_CASE("many threads post to messengers that threads poll", "[messenger][threads]") {
  const std::uint64_t seed = test_seed();
  CAPTURE(seed);
  job_shape shape;
  shape.settings.eager_limit = 256;
  shape.settings.piece = 1024;
  shape.settings.credit = 4096;
  shape.settings.unexpected_limit = 20000;
  shape.settings.send_buffer_limit = 20000;
  shape.network.queue = 16;
  messenger_job job(shape);
  const auto world = job.world();
  constexpr int threads = 4;
  constexpr std::size_t messages = 400;
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> wrong{0};
  std::vector<std::jthread> running;
  for (int process : {0, 1})
    running.emplace_back([&, process] {
      while (!stop.load(std::memory_order_relaxed))  // carries nothing but itself
        if (!job[process].poll()) std::this_thread::yield();
    });
  std::vector<std::jthread> posting;
  for (int index = 0; index < threads; ++index)
    for (const bool sending : {true, false})
      posting.emplace_back([&, index, sending] {
        const auto tag = static_cast<std::uint64_t>(index);
        std::mt19937_64 random(seed + tag);
        std::deque<test_send> sends;
        std::deque<test_receive> receives;
        for (std::size_t i = 0; i < messages; ++i) {
          const std::size_t size = random() % 5 ? random() % 200 : random() % 5000;
          if (sending)
            job[0].post(sends.emplace_back(*world[0], 1, tag, pattern(size, i)));
          else
            job[1].post(
                receives.emplace_back(*world[1], 0, tag, size));  // a message out of order would not fit, or be another
          if (i % 32 == 0) std::this_thread::yield();
        }
        std::mt19937_64 again(seed + tag);
        for (std::size_t i = 0; i < messages; ++i) {
          const std::size_t size = again() % 5 ? again() % 200 : again() % 5000;
          if (sending) {
            until([&] { return sends[i].done.load(std::memory_order_acquire); }, "a send");  // pairs with finished()
          } else {
            until([&] { return receives[i].done.load(std::memory_order_acquire); },
                  "a receive");  // pairs with finished()
            if (receives[i].failure != nullptr || receives[i].message != pattern(size, i)) wrong.fetch_add(1);
          }
        }
      });
  posting.clear();
  stop = true;
  running.clear();
  CHECK(wrong == 0);
}
