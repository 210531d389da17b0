// SPDX-License-Identifier: Apache-2.0
// Calls that are not done when their deadline passes.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>
#include <weft/deadline.hpp>

#include "run_ranks.hpp"

using namespace weft_test;
using namespace std::chrono_literals;

namespace {

/// What `call` throws where its deadline passes.
template <class Call>
std::optional<weft::timed_out> late(Call&& call) {
  try {
    call();
  } catch (const weft::timed_out& error) {
    expect(error.code() == weft::errc::timed_out, "its code, found ", error.what());
    return error;
  }
  return std::nullopt;
}

/// Rank 0 ends it.
void expect_revoked(weft::communicator& ended) {
  std::vector<int> nothing(1);
  try {
    ended.recv(nothing, 0);
    expect(false, "the communicator has ended");
  } catch (const weft::error& error) {
    expect(error.code() == weft::errc::revoked, "revoked, found ", error.what());
  }
}

/// What was written late into memory that is another's now would be found here.
void sum_again(weft::communicator& world) {
  std::vector<int> one(1000, 1);
  world.allreduce(one, one, weft::sum);
  expect(one == std::vector<int>(1000, world.size()), "the sum after that");
}

bool names(const weft::timed_out& error, int rank) { return std::ranges::count(error.missing(), rank) == 1; }

/// Of the communicator's own kind: messages, the memory of a node, the memory of a process, both.
job some_ranks() {
  const auto [processes, each] = GENERATE(std::pair(3, 1), std::pair(1, 3), std::pair(2, 2));
  job what = small_job(processes, each);
  what.settings.node = processes == 3 ? GENERATE(true, false) : true;
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  return what;
}

}  // namespace

TEST_CASE("a receive that is late can be waited for again", "[deadlines]") {
  run_ranks(some_ranks(), [](weft::communicator& world) {
    const auto length = std::size_t{world.size() == 3 ? 4u : 40'000u};
    std::vector<int> data(length, world.rank());
    if (world.rank() == 0) {
      std::optional<weft::timed_out> error;
      {
        const weft::deadline limit(2ms);
        error = late([&] { world.recv(data, 1, 7); });
      }
      expect(error && names(*error, 1) && error->missing().size() == 1, "rank 1 is missing");
      expect(std::string(error->what()).find("recv on rank 0") != std::string::npos, "which call, found ",
             error->what());
      expect(error->calls().size() == 1, "the call in flight");
      world.send(std::vector<int>{1}, 1);
      const weft::status got = error->calls()[0].wait();
      expect(got.source == 1 && got.tag == 7 && data == std::vector<int>(length, 1), "what rank 1 sent");
    }
    if (world.rank() == 1) {
      std::vector<int> go(1);
      world.recv(go, 0);
      const weft::deadline limit(1min);
      world.send(data, 0, 7);
    }
    world.barrier();
  });
}

TEST_CASE("an agreement that is late is gone on with by the next one", "[deadlines]") {
  run_ranks(some_ranks(), [](weft::communicator& world) {
    const int last = world.size() - 1;
    std::vector<int> go(1);
    if (world.rank() != last) {
      for (int i = 0; i < 2; ++i) {
        const weft::deadline limit(2ms);
        const auto error = late([&] { world.agree(3); });
        expect(error && error->calls().empty(), "it is late");
        expect(world.rank() != 0 || (error && names(*error, last)), "the last rank is missing");
        expect(std::string(error->what()).find("agree on rank ") != std::string::npos, "which call, found ",
               error->what());
      }
      world.send(go, last);
    } else {
      for (int other = 0; other < last; ++other) world.recv(go, other);
    }
    expect(world.agree(world.rank() == last ? 6 : 8).flag == (3 & 6), "what each gave at first");
    const weft::deadline limit(1min);
    expect(world.agree(world.rank() == last ? 6 : 12).flag == (6 & 12), "the next agreement");
    world.barrier();
  });
}

TEST_CASE("a communicator may go while an agreement on it is late", "[deadlines]") {
  run_ranks(some_ranks(), [](weft::communicator& world) {
    std::optional<weft::communicator> other = world.dup();
    if (world.rank() != 0) {
      const weft::deadline limit(2ms);
      expect(late([&] { other->agree(1); }).has_value(), "it is late");
      other.reset();
    }
    world.barrier();
    if (world.rank() == 0) expect(other->agree(7).flag == 1, "what those gave who have left counts");
    world.barrier();
  });
}

TEST_CASE("a shrinking that is late is dropped, and the next one is of all", "[deadlines]") {
  run_ranks(some_ranks(), [](weft::communicator& world) {
    const int last = world.size() - 1;
    std::vector<int> go(1);
    if (world.rank() != last) {
      {
        const weft::deadline limit(2ms);
        expect(late([&] { world.shrink(); }).has_value(), "it is late");
      }
      world.send(go, last);
    } else {
      for (int other = 0; other < last; ++other) world.recv(go, other);
      weft::communicator alone = world.shrink();
      expect(alone.size() == world.size(), "as they were asked");
      try {
        alone.barrier();
        expect(false, "the others have dropped it");
      } catch (const weft::error& error) {
        expect(error.code() == weft::errc::mismatched_call, "they have dropped it, found ", error.what());
      }
    }
    weft::communicator all = world.shrink();
    expect(all.size() == world.size(), "all ranks");
    all.barrier();
  });
}

TEST_CASE("a collective that is late can be waited for again", "[deadlines]") {
  run_ranks(some_ranks(), [](weft::communicator& world) {
    for (const std::size_t length : {std::size_t{1}, std::size_t{3000}, std::size_t{40'000}}) {
      const int last = world.size() - 1;
      std::vector<double> in(length, 1 + world.rank()), out(length);
      const auto shift = 0.0;  // captured: the operator is copied
      const auto add = weft::make_operator<double>(
          [shift](const double* from, double* into, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) into[i] += from[i] + shift;
          },
          weft::commutes);
      for (const bool custom : {false, true}) {
        if (world.rank() != last) {
          std::optional<weft::timed_out> error;
          {
            const weft::deadline limit(1ms);
            error = late([&] {
              if (custom)
                world.allreduce(in, out, weft::make_operator<double>(add.function, weft::commutes));
              else
                world.allreduce(in, out, weft::sum);
            });
          }
          expect(error.has_value(), "it is late");
          world.send(std::vector<int>{1}, last);
          weft::wait_all(error->calls());
        } else {
          std::vector<int> go(1);
          for (int rank = 0; rank < last; ++rank) world.recv(go, rank);
          if (custom)
            world.allreduce(in, out, add);
          else
            world.allreduce(in, out, weft::sum);
        }
        const double all = world.size() * (world.size() + 1) / 2;
        expect(out == std::vector<double>(length, all), "the sum, found ", out[0]);
        const weft::deadline enough(1min);
        world.allreduce(in, out, weft::sum);
        expect(out == std::vector<double>(length, all), "the sum in time, found ", out[0]);
      }
    }
  });
}

TEST_CASE("an error names the ranks that have not arrived", "[deadlines]") {
  const auto [processes, each] = GENERATE(std::pair(4, 1), std::pair(2, 2), std::pair(1, 4));
  job what = small_job(processes, each);
  what.settings.node = GENERATE(true, false);
  run_ranks(what, [](weft::communicator& world) {
    std::vector<double> sum(1, 1);
    if (world.rank() != 2) {
      std::optional<weft::timed_out> error;
      {
        const weft::deadline limit(20ms);
        error = late([&] { world.allreduce(sum, sum, weft::sum); });
      }
      expect(error.has_value(), "it is late");
      expect(world.rank() != 3 || names(*error, 2), "rank 2 is missing, found ", error->what());
      world.send(std::vector<int>{1}, 2);
      weft::wait_all(error->calls());
    } else {
      std::vector<int> go(1);
      for (const int rank : {0, 1, 3}) world.recv(go, rank);
      world.allreduce(sum, sum, weft::sum);
    }
    expect(sum[0] == 4, "the sum, found ", sum[0]);
  });
}

TEST_CASE("a late call is dropped with its error, and ends the communicator", "[deadlines]") {
  const bool leaves_scope = GENERATE(false, true);
  const auto outcomes = outcomes_of(some_ranks(), [&](weft::communicator& world) {
    weft::communicator other = world.dup();
    std::vector<double> sum(5000, 1);
    if (other.rank() == 0) {
      if (leaves_scope) {
        bool is_over = false;
        try {
          const weft::deadline limit(1ms);
          other.allreduce(sum, sum, weft::sum);
        } catch (weft::timed_out& error) {
          is_over = error.calls().empty();
        }
        expect(is_over, "nothing is in flight behind the deadline");
      } else {
        const weft::deadline limit(1ms);
        expect(late([&] { other.allreduce(sum, sum, weft::sum); }).has_value(), "it is late");
      }
      std::ranges::fill(sum, 3);  // nobody else uses it now
    }
    expect_revoked(other);
    expect(sum == std::vector<double>(5000, other.rank() == 0 ? 3 : 1), "the buffer");
    world.barrier();
  });
  for (const auto& each : outcomes) CHECK(text_of(each) == "no error");
}

TEST_CASE("a division that is late ends the communicator", "[deadlines]") {
  run_ranks(some_ranks(), [](weft::communicator& world) {
    weft::communicator other = world.dup();
    const int last = world.size() - 1;
    std::vector<int> go(1);
    if (other.rank() == 0) {
      std::optional<weft::timed_out> error;
      {
        const weft::deadline limit(2ms);
        error = late([&] { other.dup(); });
      }
      expect(error && error->calls().empty(), "late, and nothing is in flight");
      expect(std::string(error->what()).find("dup on rank 0") != std::string::npos, "which call, found ",
             error->what());
      expect(!error->missing().empty() && !names(*error, 0), "others are missing, found ", error->what());
      for (int rank = 1; rank <= last; ++rank) world.send(go, rank);
    } else {
      world.recv(go, 0);
      try {
        weft::communicator made = other.dup();  // where it has heard of the others before it hears of the end
        made.barrier();
        expect(false, "rank 0 has no such communicator");
      } catch (const weft::error& error) {
        expect(error.code() == weft::errc::revoked || error.code() == weft::errc::mismatched_call,
               "revoked, or missed, found ", error.what());
      }
    }
    expect_revoked(other);
    sum_again(world);
  });
}

TEST_CASE("a handle and a plan stay valid where a wait for them is late", "[deadlines]") {
  run_ranks(some_ranks(), [](weft::communicator& world) {
    const int last = world.size() - 1;
    std::vector<double> in(3, 1), out(3);
    weft::plan plan = world.plan_allreduce(in, out, weft::sum);
    std::vector<int> note(1);
    if (world.rank() != last) {
      plan.start();
      weft::handle received = world.irecv(note, last, 3);
      {
        const weft::deadline limit(1ms);
        const auto by_plan = late([&] { plan.wait(); });
        expect(by_plan && by_plan->calls().empty(), "the plan keeps what it has started");
        const auto by_handle = late([&] { received.wait(); });
        expect(by_handle && names(*by_handle, last) && received.valid(), "the handle keeps it");
        expect(late([&] { weft::wait_any(std::span(&received, 1)); }).has_value(), "any of one");
        expect(late([&] { world.probe(last, 4); }).has_value(), "a probe");
      }
      expect(!received.wait_for(1ms), "it is late");
      world.send(note, last);
      plan.wait();
      expect(received.wait_for(1min), "it comes");
      received.wait();
    } else {
      for (int rank = 0; rank < last; ++rank) world.recv(note, rank);
      plan.start();
      plan.wait();
      for (int rank = 0; rank < last; ++rank) world.send(note, rank, 3);
    }
    expect(out[2] == world.size(), "the sum");
  });
}

TEST_CASE("the earliest deadline of a fiber counts, and no other fiber's", "[deadlines]") {
  job what = small_job(1, 2);
  what.settings.workers = 1;
  run_with_runtime(what, [](weft::runtime& runtime, weft::communicator& world) {
    std::vector<int> data(1, world.rank());
    if (world.rank() == 1) {
      runtime.sleep(20ms);  // rank 0 receives without a deadline meanwhile
      world.send(data, 0);
      const weft::deadline outer(1ms);
      weft::event never;
      {
        const weft::deadline inner(1min);
        expect(late([&] { runtime.wait(never); }).has_value(), "the outer one passes");
      }
      const weft::deadline passed(std::chrono::steady_clock::now());
      expect(late([&] { runtime.wait(never); }).has_value(), "it has passed");
      return;
    }
    world.recv(data, 1, 0);
    expect(data[0] == 1, "without one it waits");
  });
}

TEST_CASE("an operator that cannot be copied is refused where a call may outlive it", "[deadlines]") {
  run_ranks(small_job(2), [](weft::communicator& world) {
    const auto add = weft::make_operator<int>(
        [held = std::make_unique<int>(0)](const int* from, int* into, std::size_t count) {
          for (std::size_t i = 0; i < count; ++i) into[i] += from[i] + *held;
        },
        weft::commutes);
    std::vector<int> sum(1, 1);
    world.allreduce(sum, sum, add);
    expect(sum[0] == 2, "a call that blocks");
    const weft::deadline limit(1min);
    try {
      world.allreduce(sum, sum, add);
      expect(false, "an error");
    } catch (const weft::error& error) {
      expect(error.code() == weft::errc::invalid_argument, "what, found ", error.what());
    }
  });
}
