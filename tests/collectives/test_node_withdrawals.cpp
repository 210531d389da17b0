// SPDX-License-Identifier: Apache-2.0
// What becomes of buffers that other processes of the node use when a call of theirs has failed. Each process is a
// thread here, with a mapping of its own.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>
#include <weft/runtime/scheduler.hpp>

#include "held_pages.hpp"
#include "open_process.hpp"
#include "run_ranks.hpp"
#include "sanitized.hpp"

using namespace std::chrono_literals;
using namespace weft_test;

namespace {

constexpr double owned = -77;  // what a rank writes once its call has failed
constexpr std::size_t length = 32 << 10;

/// A call of two processes.
struct one_call {
  const char* name;
  /// Of at most `length` numbers a rank.
  std::function<void(weft::communicator&, std::span<double> in, std::span<double> out)> run;
  bool first_shares = true;   ///< rank 0's buffers lie in its heap,
  bool second_shares = true;  ///< and rank 1's in its own
  bool reads = false;         ///< what does not is read by the kernel's help
};

const one_call allreduce{"allreduce", [](auto& world, auto in, auto out) { world.allreduce(in, out, weft::sum); }};
const one_call reduce{"reduce", [](auto& world, auto in, auto out) { world.reduce(in, out, weft::sum, 0); }};
const one_call bcast_from_first{"bcast from rank 0", [](auto& world, auto, auto out) { world.bcast(out, 0); }};
const one_call bcast_from_second{"bcast from rank 1", [](auto& world, auto, auto out) { world.bcast(out, 1); }};
const one_call gather{"gather", [](auto& world, auto in, auto out) {
                        world.gather(in.first(length / 2), world.rank() == 1 ? out : out.first(0), 1);
                      }};
const one_call scatter{"scatter", [](auto& world, auto in, auto out) {
                         world.scatter(world.rank() == 0 ? in : in.first(0), out.first(length / 2), 0);
                       }};

one_call lying(one_call call, bool first_shares, bool second_shares, bool reads) {
  call.first_shares = first_shares;
  call.second_shares = second_shares;
  call.reads = reads;
  return call;
}

/// One rank's part, and its buffers.
class part {
 public:
  part(open_process& of, const one_call& what) : world_(*of.world), what_(what) {
    if (what.reads) of.read_always();
    if (of.state->member.rank == 0 ? what.first_shares : what.second_shares) {
      in_ = of.shared(length);
      out_ = of.shared(length);
    } else {
      own_.resize(2 * length);
      in_ = std::span(own_).first(length);
      out_ = std::span(own_).last(length);
    }
    std::ranges::fill(in_, 1);
    run();  // what is made at the first call is there then, and nobody is ahead
    world_.barrier();
  }

  std::string run() {
    try {
      what_.run(world_, in_, out_);
      return "no error";
    } catch (const weft::error& e) {
      return e.code() == weft::errc::revoked ? "revoked" : e.what();
    }
  }
  void own() {
    std::ranges::fill(in_, owned);
    std::ranges::fill(out_, owned);
  }
  bool owns() const {
    const auto is_owned = [](double x) { return x == owned; };
    return std::ranges::all_of(in_, is_owned) && std::ranges::all_of(out_, is_owned);
  }
  std::span<double> out() const { return out_; }

 private:
  weft::communicator& world_;
  const one_call& what_;
  std::span<double> in_, out_;
  std::vector<double> own_;
};

void check_no_error(const std::vector<std::exception_ptr>& outcomes) {
  for (const auto& each : outcomes) CHECK(text_of(each) == "no error");
}

}  // namespace

TEST_CASE("who comes to a call that another has left uses none of its buffers", "[node][withdrawal]") {
  if (emulated) return;  // where no process reads another's
  // Rank 1 writes into rank 0's buffers, copies from them, reads them.
  for (const one_call& what :
       {allreduce, reduce, bcast_from_second, bcast_from_first, lying(bcast_from_first, true, false, false),
        lying(bcast_from_first, false, false, true), lying(gather, false, false, true), lying(gather, true, true, true),
        lying(scatter, false, false, true), lying(scatter, true, true, true)}) {
    CAPTURE(what.name, what.first_shares, what.second_shares, what.reads);
    std::latch deaf(1), left(1), over(1);
    std::string of_first, of_second;
    bool untouched = false;
    check_no_error(run_members(small_job(2), [&](int process, weft::detail::membership member) {
      open_process here(std::move(member));
      part mine(here, what);
      if (process == 0) {
        deaf.wait();
        weft::scheduler fibers;
        fibers.spawn([&] { of_first = mine.run(); });
        fibers.spawn([&] { here.world->abort(); });  // begins once the call waits
        fibers.run();
        mine.own();
        left.count_down();
        over.wait();
        untouched = mine.owns();
        return;
      }
      // It learns of the abort only once its messages move.
      std::latch begun(1);
      std::promise<void> ended;
      std::thread holder([&, end = ended.get_future()] {
        here.host.messages().while_held([&] {
          deaf.count_down();
          begun.wait();
          end.wait_for(100ms);
        });
      });
      left.wait();
      begun.count_down();
      of_second = mine.run();
      ended.set_value();
      holder.join();
      over.count_down();
    }));
    CHECK(of_first == "revoked");
    CHECK(of_second == "revoked");
    CHECK(untouched);
  }
}

TEST_CASE("a call that fails ends when nobody uses its buffers any more", "[node][withdrawal]") {
  for (const one_call& what : {allreduce, reduce, bcast_from_second, bcast_from_first}) {
    CAPTURE(what.name);
    std::promise<std::uint64_t> place;
    std::optional<held_pages> pages;  // rank 0's output, as rank 1 sees it
    std::latch held(1), over(1);
    std::string of_first, of_second;
    bool in_use = true, untouched = false;
    check_no_error(run_members(small_job(2), [&](int process, weft::detail::membership member) {
      open_process here(std::move(member));
      part mine(here, what);
      weft::fabric::arena_heap& heap = *here.host.arena()->heap();
      if (process == 1) {
        std::byte* const its =
            heap.at(here.host.arena()->index_of(0), place.get_future().get(), length * sizeof(double));
        pages.emplace(its, length * sizeof(double));
        held.count_down();
        of_second = mine.run();
        over.count_down();
        return;
      }
      place.set_value(heap.offset_of(mine.out().data(), length * sizeof(double)).value());
      held.wait();
      std::promise<void> ended;
      std::thread aborts([&, end = ended.get_future()] {
        while (!pages->used() && end.wait_for(1ms) != std::future_status::ready) continue;
        here.world->abort();
        end.wait_for(100ms);
        pages->release();
      });
      of_first = mine.run();
      in_use = !pages->released();
      mine.own();
      ended.set_value();
      aborts.join();
      over.wait();
      untouched = mine.owns();
    }));
    CHECK(of_first == "revoked");
    CHECK(of_second == "revoked");
    CHECK_FALSE(in_use);
    CHECK(untouched);
  }
}

TEST_CASE("calls that an abort interrupts at any time leave the buffers alone", "[node][withdrawal]") {
  constexpr int processes = 3, kinds = 3;
  const std::uint64_t seed = seed_of_this_run();
  CAPTURE(seed);
  std::atomic<int> touched{0};
  check_no_error(run_processes(small_job(processes), [&](int process, weft::runtime& runtime) {
    weft::communicator& world = runtime.world();
    auto in = runtime.allocate<double>(100'000), out = runtime.allocate<double>(100'000);
    const auto call = [&](weft::communicator& on, int kind, int number) {
      if (kind == 0) return on.allreduce(in, out, weft::sum);
      if (kind == 1) return on.bcast(out, number % processes);
      on.reduce(in, out, weft::sum, number % processes);
    };
    for (int round = 0; round < (slowed ? 30 : 300); ++round) {
      std::mt19937_64 random(seed + static_cast<std::uint64_t>(round));
      const int aborts = static_cast<int>(random() % processes);
      const std::chrono::microseconds after(random() % 2000);
      weft::communicator doomed = world.dup();
      std::thread other;
      if (process == aborts)
        other = std::thread([&] {
          std::this_thread::sleep_for(after);
          doomed.abort();
        });
      expect_error(weft::errc::revoked, [&] {
        for (int i = 0;; ++i) call(doomed, round % kinds, i);
      });
      std::ranges::fill(out, owned);
      if (other.joinable()) other.join();
      world.barrier();  // all have left their calls
      if (!std::ranges::all_of(out, [](double x) { return x == owned; })) ++touched;
      world.barrier();
    }
  }));
  CHECK(touched == 0);
}
