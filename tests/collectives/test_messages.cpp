// SPDX-License-Identifier: Apache-2.0
// Messages between ranks, by the public calls.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

#include "run_ranks.hpp"

using namespace weft_test;

namespace {

/// Two ranks in one process, in two, and in two with progress threads.
job pair_of_ranks(int form) {
  job what = form == 0 ? small_job(1, 2) : small_job(2);
  if (form == 2) what.settings.progress = weft::progress_mode::thread;
  return what;
}

std::vector<int> counted(std::size_t count, int first) {
  std::vector<int> data(count);
  std::iota(data.begin(), data.end(), first);
  return data;
}

}  // namespace

TEST_CASE("messages of any length arrive", "[messages]") {
  const int form = GENERATE(0, 1, 2);
  run_ranks(pair_of_ranks(form), [](weft::communicator& world) {
    for (const std::size_t count : {0, 1, 127, 128, 129, 1000, 1024, 5000, 300'000}) {
      std::vector<int> data(count + 3, -1);
      if (world.rank() == 0) {
        world.send(counted(count, 7), 1, 3);
        const auto what = world.recv(data, 1, 4);
        expect(what.source == 1 && what.tag == 4 && what.bytes == count * sizeof(int), "the status of ", count);
      } else {
        const auto what = world.recv(data, 0, 3);
        expect(what.count<int>() == count, "a length of ", count, ", found ", what.count<int>());
        world.send(std::span(data).first(count), 0, 4);
      }
      for (std::size_t i = 0; i < count; ++i) expect(data[i] == static_cast<int>(i) + 7, "element ", i, " of ", count);
      for (std::size_t i = count; i < data.size(); ++i) expect(data[i] == -1, "nothing beyond the message");
    }
  });
}

TEST_CASE("receives match any source and any tag in order", "[messages]") {
  const auto what = GENERATE(0, 1) == 0 ? small_job(4) : small_job(2, 2);
  run_ranks(what, [](weft::communicator& world) {
    const int each = 50;
    if (world.rank() != 0) {
      for (int i = 0; i < each; ++i) {
        const std::vector<int> data(i % 5 == 0 ? 1000 : 1, 100 * world.rank() + i);
        world.send(data, 0, i % 3);
      }
      return;
    }
    std::vector<std::vector<int>> last(4, std::vector<int>(3, -1));
    std::vector<int> data(1000);
    for (int i = 0; i < 3 * each; ++i) {
      const int tag = i % 2 == 0 ? weft::any_tag : -2;
      const auto found = tag == weft::any_tag ? world.recv(data) : world.recv(data, weft::any_source, weft::any_tag);
      const int number = data[0] - 100 * found.source;
      expect(found.source >= 1 && found.source <= 3 && number % 3 == found.tag, "source and tag of what came");
      int& before = last[static_cast<std::size_t>(found.source)][static_cast<std::size_t>(found.tag)];
      expect(before < number, "messages of rank ", found.source, " and tag ", found.tag, " in order");
      before = number;
    }
  });
}

TEST_CASE("tags of 62 bits differ in every bit", "[messages]") {
  const int form = GENERATE(0, 1, 2);
  run_ranks(pair_of_ranks(form), [](weft::communicator& world) {
    const std::vector<std::int64_t> tags{7,          std::int64_t{1} << 31,       (std::int64_t{1} << 32) + 7,
                                         0xffffffff, (std::int64_t{1} << 61) + 7, weft::largest_tag};
    for (const std::size_t count : {1, 1000, 300'000}) {
      std::vector<int> data(count);
      if (world.rank() == 0) {
        std::vector<weft::handle> sends;
        std::vector<std::vector<int>> all;
        for (std::size_t i = 0; i < tags.size(); ++i) all.push_back(counted(count, static_cast<int>(i)));
        for (std::size_t i = 0; i < tags.size(); ++i) sends.push_back(world.isend(all[i], 1, tags[i]));
        weft::wait_all(sends);
        world.send(all[0], 1, tags[1]);
        world.recv(data, 1, weft::largest_tag);
        weft::plan again = world.plan_send(all[2], 1, tags[2]);
        again.start();
        again.wait();
      } else {
        for (std::size_t i = tags.size(); i-- > 1;) {
          const auto found = world.probe(0, tags[i]);
          expect(found.tag == tags[i] && found.count<int>() == count, "a message of tag ", tags[i]);
          expect(world.recv(data, 0, tags[i]).tag == tags[i], "its tag");
          expect(data[0] == static_cast<int>(i), "message ", i, " of tag ", tags[i], ", found ", data[0]);
        }
        expect(world.recv(data).tag == tags[0], "the last that is left");
        auto found = world.mprobe();
        expect(found.what().tag == tags[1] && found.recv(data).tag == tags[1], "the tag of a message set aside");
        weft::plan planned = world.plan_recv(data, 0, tags[2]);
        planned.start();
        auto late = world.irecv(std::span(data).first(0), 0, tags[3]);
        expect(!world.iprobe(0, tags[2] - 1) && late.cancel(), "nothing of other tags");
        world.ssend(counted(count, 0), 0, weft::largest_tag);
        expect(planned.wait().tag == tags[2] && data[0] == 2, "the tag of a planned receive");
      }
    }
    const auto text =
        expect_error(weft::errc::invalid_argument, [&] { world.send(std::vector<int>{1}, 0, weft::largest_tag + 1); });
    expect_text(text, "tag 4611686018427387904 is not valid: tags are 0 to 4611686018427387903");
    expect_error(weft::errc::invalid_argument, [&] { static_cast<void>(world.iprobe(0, weft::largest_tag + 1)); });
  });
}

TEST_CASE("probes say what a receive would get", "[messages]") {
  const int form = GENERATE(0, 1, 2);
  run_ranks(pair_of_ranks(form), [](weft::communicator& world) {
    if (world.rank() == 0) {
      expect(!world.iprobe(1, 99), "nothing of tag 99");
      for (int i = 0; i < 20; ++i) {
        const auto found = world.probe();
        expect(found.source == 1 && found.tag == i, "the first message");
        const auto again = world.iprobe(1, i);
        expect(again && again->bytes == found.bytes, "the same message again");
        std::vector<int> data(found.count<int>());
        world.recv(data, found.source, found.tag);
        expect(data.size() == static_cast<std::size_t>(i * 40) && (data.empty() || data.back() == i), "message ", i);
      }
    } else {
      for (int i = 0; i < 20; ++i) world.send(std::vector<int>(static_cast<std::size_t>(i) * 40, i), 0, i);
    }
  });
}

TEST_CASE("rings of sendrecv go round", "[messages]") {
  const auto what = GENERATE(0, 1) == 0 ? small_job(5) : small_job(2, 3);
  run_ranks(what, [](weft::communicator& world) {
    const int n = world.size();
    for (const std::size_t count : {0, 1, 5000}) {
      std::vector<int> out = counted(count, world.rank());
      std::vector<int> in(count);
      for (int round = 0; round < n; ++round) {
        world.sendrecv(out, (world.rank() + 1) % n, round, in, (world.rank() + n - 1) % n, round);
        out.swap(in);
      }
      expect(out == counted(count, world.rank()), "the own message back after a round");
    }
  });
}

TEST_CASE("a rank sends to itself", "[messages]") {
  const int form = GENERATE(0, 1, 2);
  run_ranks(pair_of_ranks(form), [](weft::communicator& world) {
    const int me = world.rank();
    for (const std::size_t count : {0, 10, 5000}) {
      std::vector<int> in(count);
      const auto out = counted(count, 3);
      auto sending = world.isend(out, me, 1);
      world.recv(in, me, 1);
      sending.wait();
      expect(in == out, "sent first, ", count);
      std::vector<int> again(count);
      auto receiving = world.irecv(again, me, 2);
      world.send(out, me, 2);
      receiving.wait();
      expect(again == out, "received first, ", count);
      std::vector<int> both(count);
      world.sendrecv(out, me, 3, both, me, 3);
      expect(both == out, "both at once, ", count);
    }
  });
}

TEST_CASE("a message that is too long is refused and harms nothing", "[messages]") {
  const int form = GENERATE(0, 1, 2);
  const bool posted_first = GENERATE(true, false);
  run_ranks(pair_of_ranks(form), [&](weft::communicator& world) {
    for (const std::size_t length : {100, 2000, 50'000}) {
      if (world.rank() == 0) {
        std::vector<unsigned char> around(64 + 64, 0xAB);
        const auto buffer = std::span(around).subspan(32, 64);
        std::string text;
        if (posted_first) {
          auto waiting = world.irecv(buffer, 1, 1);
          world.barrier();
          text = expect_error(weft::errc::truncated, [&] { waiting.wait(); });
        } else {
          world.barrier();
          while (!world.iprobe(1, 1)) {
          }
          text = expect_error(weft::errc::truncated, [&] { world.recv(buffer, 1, 1); });
        }
        expect_text(text, std::to_string(length) + " bytes");
        expect_text(text, "64");
        for (const auto byte : around) expect(byte == 0xAB, "the buffer and what is beside it untouched");
      } else {
        world.barrier();
        const std::string message(length, 'x');
        auto sending = world.isend(message, 0, 1);
        try {
          sending.wait();
          expect(length <= 512, "the sender of ", length, " bytes to be told");
        } catch (const weft::error& e) {
          expect(e.code() == weft::errc::truncated, "truncated");
          expect_text(e.what(), std::to_string(length) + " bytes");
        }
      }
      int one = 1;
      int all = 0;
      world.allreduce(std::span(&one, 1), std::span(&all, 1), weft::sum);
      expect(all == 2, "the communicator to be usable");
    }
  });
}

TEST_CASE("10,000 sends and receives are outstanding at once", "[messages]") {
  const int form = GENERATE(0, 1, 2);
  run_ranks(pair_of_ranks(form), [](weft::communicator& world) {
    const int many = 10'000;
    const int other = 1 - world.rank();
    std::vector<std::vector<int>> in, out;
    std::vector<weft::handle> all;
    for (int i = 0; i < many; ++i) {
      const auto count = static_cast<std::size_t>(i % 100 == 0 ? 500 : i % 4);
      out.push_back(counted(count, i));
      in.emplace_back(count);
    }
    for (int i = 0; i < many; ++i) {
      all.push_back(world.isend(out[static_cast<std::size_t>(i)], other, i % 17));
      if (i % 2 == world.rank()) world.iprobe(other, 99);
    }
    for (int i = 0; i < many; ++i) all.push_back(world.irecv(in[static_cast<std::size_t>(i)], other, i % 17));
    weft::wait_all(all);
    expect(in == out, "every message in its place");
  });
}

TEST_CASE("a receive takes the message of its tag past 10,000 others", "[messages]") {
  job what = pair_of_ranks(GENERATE(0, 1, 2));
  what.patience = std::chrono::seconds(240);  // most wait at their sender: 10,000 round trips, each a change of threads
  run_ranks(what, [](weft::communicator& world) {
    std::vector<int> one(20);
    if (world.rank() == 0) {
      for (int i = 0; i < 10'000; ++i) world.send(counted(20, i), 1, 1);
      world.send(counted(20, -5), 1, 2);
      world.barrier();
    } else {
      world.recv(one, 0, 2);
      expect(one[0] == -5, "the message of tag 2");
      world.barrier();
      for (int i = 0; i < 10'000; ++i) {
        world.recv(one, 0, 1);
        expect(one[0] == i && one[19] == i + 19, "message ", i, " of tag 1");
      }
    }
  });
}

TEST_CASE("a synchronous send ends once its message has met a receive, however short it is", "[messages]") {
  const int form = GENERATE(0, 1, 2);
  run_ranks(pair_of_ranks(form), [](weft::communicator& world) {
    for (const std::size_t count : {0, 1, 100, 5000, 300'000}) {
      std::vector<int> data(count), go(1);
      if (world.rank() == 0) {
        const std::vector<int> message = counted(count, 7);
        weft::handle sent = world.issend(message, 1, 3);
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
        while (std::chrono::steady_clock::now() < until) expect(!sent.test(), "nobody to have received ", count);
        world.send(go, 1, 4);
        sent.wait();
        world.ssend(counted(count, 9), 1, 5);
      } else {
        world.recv(go, 0, 4);
        world.recv(data, 0, 3);
        expect(data == counted(count, 7), "the message of ", count);
        world.recv(data, 0, 5);
        expect(data == counted(count, 9), "the second message of ", count);
      }
    }
    std::vector<int> mine(3);
    const std::vector<int> message = counted(3, world.rank());
    weft::handle to_itself = world.issend(message, world.rank(), 8);
    expect(!to_itself.test(), "it to wait for the receive");
    world.recv(mine, world.rank(), 8);
    to_itself.wait();
    expect(mine == message, "its own message");
  });
}

TEST_CASE("a receive is taken back unless a message has met it", "[messages]") {
  const int form = GENERATE(0, 1, 2);
  run_ranks(pair_of_ranks(form), [](weft::communicator& world) {
    for (const std::size_t count : {1, 5000, 300'000}) {
      std::vector<int> first(count, -1), second(count), go(1);
      if (world.rank() == 0) {
        weft::handle early = world.irecv(first, 1, 3);
        weft::handle any = world.irecv(first);
        expect(any.cancel() && !any.valid(), "a receive from anybody to be taken back");
        expect(early.cancel() && !early.valid(), "a receive to be taken back");
        expect_text(expect_error(weft::errc::invalid_argument, [&] { early.cancel(); }), "holds no operation");
        world.send(go, 1, 4);
        world.recv(second, 1, 3);
        expect(second == counted(count, 5) && first == std::vector<int>(count, -1), "the message of ", count);
        weft::handle met = world.irecv(second, 1, 6);
        world.send(go, 1, 4);
        world.recv(go, 1, 7);  // behind that message
        expect(!met.cancel(), "a receive that a message has met to stay");
        expect(met.valid() && met.wait().count<int>() == count, "it to get its message");
      } else {
        world.recv(go, 0, 4);
        world.send(counted(count, 5), 0, 3);
        world.recv(go, 0, 4);
        const std::vector<int> message = counted(count, 6);
        weft::handle sent = world.isend(message, 0, 6);
        expect(!sent.done() || !sent.cancel(), "a send not to be taken back");
        world.send(go, 0, 7);
        sent.wait();
      }
    }
  });
}

TEST_CASE("a communicator knows its members' ranks in the job", "[messages]") {
  run_ranks(small_job(2, 2), [](weft::communicator& world) {
    const auto all = world.members();
    expect(std::ranges::equal(all, counted(4, 0)), "the ranks of the job");
    const auto half = world.split(world.rank() % 2, -world.rank());
    const std::vector<int> expected{2 + world.rank() % 2, world.rank() % 2};
    expect(half.has_value() && std::ranges::equal(half->members(), expected), "those of its half, backwards");
  });
}

TEST_CASE("planned messages are sent and received again and again, by plans on either side", "[messages][plans]") {
  const int form = GENERATE(0, 1, 2);
  run_ranks(pair_of_ranks(form), [](weft::communicator& world) {
    for (const std::size_t count : {0, 1, 100, 5000, 300'000}) {
      std::vector<int> data(count), more(count);
      if (world.rank() == 0) {
        weft::plan sends = world.plan_send(data, 1, 3);
        for (int i = 0; i < 10; ++i) {
          std::iota(data.begin(), data.end(), i);  // where it is
          sends.start();
          sends.wait();
        }
        weft::plan receives = world.plan_recv(more);
        for (int i = 0; i < 10; ++i) {
          receives.start();
          const weft::status came = receives.wait();
          expect(came.source == 1 && came.tag == i && came.count<int>() == count && more == counted(count, 2 * i),
                 "message ", i, " of ", count);
        }
      } else {
        weft::plan receives = world.plan_recv(more, 0, 3);
        for (int i = 0; i < 10; ++i) {
          if (i % 2 == 0) {
            receives.start();
            expect_text(expect_error(weft::errc::invalid_argument, [&] { receives.start(); }), "in flight");
            while (!receives.test()) {
            }
          } else {
            world.recv(more, 0, 3);
          }
          expect(more == counted(count, i), "message ", i, " of ", count);
        }
        for (int i = 0; i < 10; ++i) world.send(counted(count, 2 * i), 0, i);
      }
    }
    std::vector<int> few(1);
    expect_text(expect_error(weft::errc::invalid_argument, [&] { (void)world.plan_send(few, 7); }), "plan_send");
    weft::plan too_short = world.plan_recv(few, 1 - world.rank(), 9);
    too_short.start();
    try {
      world.send(counted(2, 0), 1 - world.rank(), 9);
    } catch (const weft::error& refused) {  // within a process
      expect(refused.code() == weft::errc::truncated, "the length to be refused, not ", refused.what());
    }
    expect_text(expect_error(weft::errc::truncated, [&] { too_short.wait(); }), "plan_recv on rank");
    too_short.start();
    world.send(counted(1, 5), 1 - world.rank(), 9);
    too_short.wait();
    expect(few[0] == 5, "a plan to go on after that");
  });
}
