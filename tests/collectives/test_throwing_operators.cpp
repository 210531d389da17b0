// SPDX-License-Identifier: Apache-2.0
// Operators of the caller's that throw: what each rank is told, and that the communicator goes on.
#include <algorithm>
#include <random>
#include <weft/choice/selection_settings.hpp>
#include <weft/schedules/algorithms.hpp>

#include "algorithm_settings.hpp"
#include "run_ranks.hpp"

using namespace weft_test;
using weft::schedules::collective;
using number = std::int64_t;

namespace {

struct thrown_by_test : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct throwing_call {
  collective what = collective::allreduce;
  std::size_t count = 0;  ///< of each rank's block, where there are blocks
  int root = 0;
  int thrower = 0;
  int at = 1;  ///< which call of its operator
  bool started = false;
};

number operand(int rank, std::size_t i) { return (rank + 1) * 1000 + static_cast<number>(i % 97); }

/// Makes the call on this rank; whether its operator threw.
class caller {
 public:
  caller(weft::communicator& world, const throwing_call& c) : world_(world), c_(c) {}

  bool call() {
    const auto op = weft::make_operator<number>(
        [this](const number* in, number* inout, std::size_t n) { combine(in, inout, n); }, weft::commutes);
    const bool blocks = c_.what == collective::reduce_scatter;
    std::vector<number> in(blocks ? c_.count * static_cast<std::size_t>(world_.size()) : c_.count), out(c_.count);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = operand(world_.rank(), i);
    bool ended_well = false;
    try {
      make(in, out, op);
      ended_well = true;
    } catch (const thrown_by_test& e) {
      expect(threw_ && std::string(e.what()) == "out of range", "what this rank's operator threw");
    } catch (const weft::error& e) {
      expect(!threw_, "the original exception, not ", e.what());
      expect(e.code() == weft::errc::operation_failed, "operation_failed, not ", e.what());
      const std::string right = std::string(weft::schedules::call_name(c_.what)) + " on rank " +
                                std::to_string(world_.rank()) + " of communicator " + id_ + ": the operator of rank " +
                                std::to_string(c_.thrower) + " threw: out of range";
      expect(e.what() == right, right, ", not ", e.what());
      failed_ = true;
    }
    expect(!threw_ || !ended_well, "an exception where the operator threw");
    if (ended_well) check(out);
    return threw_;
  }
  bool failed() const { return failed_; }
  std::string id_ = "0";

 private:
  void combine(const number* in, number* inout, std::size_t n) {
    if (world_.rank() == c_.thrower && ++calls_ == c_.at) {
      threw_ = true;
      throw thrown_by_test("out of range");
    }
    for (std::size_t i = 0; i < n; ++i) inout[i] += in[i];
  }

  template <class Operator>
  void make(const std::vector<number>& in, std::vector<number>& out, const Operator& op) {
    const auto either = [&](auto&& blocking, auto&& starting) {
      if (c_.started)
        starting().wait();
      else
        blocking();
    };
    switch (c_.what) {
      case collective::reduce:
        return either([&] { world_.reduce(in, out, op, c_.root); },
                      [&] { return world_.ireduce(in, out, op, c_.root); });
      case collective::reduce_scatter:
        return either([&] { world_.reduce_scatter(in, out, op); }, [&] { return world_.ireduce_scatter(in, out, op); });
      case collective::scan:
        return either([&] { world_.scan(in, out, op); }, [&] { return world_.iscan(in, out, op); });
      case collective::exscan:
        return either([&] { world_.exscan(in, out, op); }, [&] { return world_.iexscan(in, out, op); });
      default:
        return either([&] { world_.allreduce(in, out, op); }, [&] { return world_.iallreduce(in, out, op); });
    }
  }

  void check(const std::vector<number>& out) const {
    const int rank = world_.rank();
    if (c_.what == collective::reduce && rank != c_.root) return;
    if (c_.what == collective::exscan && rank == 0) return;
    const int end = c_.what == collective::scan ? rank + 1 : c_.what == collective::exscan ? rank : world_.size();
    const std::size_t first = c_.what == collective::reduce_scatter ? c_.count * static_cast<std::size_t>(rank) : 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      number right = 0;
      for (int r = 0; r < end; ++r) right += operand(r, first + i);
      expect(out[i] == right, "the sum ", right, " where the call ended well, found ", out[i]);
    }
  }

  weft::communicator& world_;
  throwing_call c_;
  int calls_ = 0;
  bool threw_ = false;
  bool failed_ = false;
};

/// What all ranks have together, by a call on the same communicator.
struct tally {
  number threw = 0, failed = 0;
};
tally add_up(weft::communicator& world, bool threw, bool failed) {
  const std::vector<number> mine{threw ? 1 : 0, failed ? 1 : 0, 1};
  std::vector<number> all(3);
  world.allreduce(mine, all, weft::sum);
  expect(all[2] == world.size(), "an all-reduce on the same communicator to be right");
  return {all[0], all[1]};
}

}  // namespace

TEST_CASE("an operator may throw in every algorithm, and its communicator goes on", "[failures]") {
  std::atomic<int> failures = 0;
  for (const auto& by : weft::schedules::algorithms()) {
    if (!weft::schedules::combines(by.kind)) continue;
    for (int ranks = 2; ranks <= 9; ++ranks) {
      INFO(name(by.kind) << " by " << by.name);
      auto settings = settings_for(by, ranks);
      settings.progress = ranks % 2 == 0 ? weft::progress_mode::caller : weft::progress_mode::thread;
      settings.prepost = ranks % 4 > 1;
      const bool fibers = ranks % 2 == 0;
      run_ranks(fibers ? ranks / 2 : ranks, fibers ? 2 : 1, settings, [&](weft::communicator& world) {
        std::mt19937_64 random(seed_of_this_run());
        const auto below = [&](std::size_t end) { return static_cast<int>(random() % end); };
        for (int i = 0; i < 4; ++i) {
          throwing_call c;
          c.what = by.kind;
          c.count = i % 2 == 0 ? 1 + random() % 20 : 1500 + random() % 3000;
          c.root = below(static_cast<std::size_t>(world.size()));
          c.thrower = below(static_cast<std::size_t>(world.size()));
          c.at = 1 + below(3);
          c.started = below(2) == 0;
          caller one(world, c);
          const bool threw = one.call();
          const tally all = add_up(world, threw, one.failed());
          expect(all.threw == 1 || all.failed == 0, "nobody to fail where nothing was thrown");
          failures += one.failed() ? 1 : 0;
        }
      });
    }
  }
  CHECK(failures > 100);
}

TEST_CASE("ranks that do not need what an operator was to make are not told of it", "[failures]") {
  auto settings = small_limits();
  settings.scan = "chain";
  settings.reduce = "binomial";
  const std::size_t count = GENERATE(1, 3000);
  run_ranks(5, 1, settings, [&](weft::communicator& world) {
    throwing_call c;
    c.count = count;
    c.what = collective::scan;
    c.thrower = 2;
    caller scan(world, c);
    const bool threw = scan.call();
    expect(threw == (world.rank() == 2) && scan.failed() == (world.rank() > 2), "ranks above 2 to fail, no other");
    c.what = collective::reduce;
    c.thrower = c.root = 0;
    caller reduce(world, c);
    expect(reduce.call() == (world.rank() == 0) && !reduce.failed(), "the root alone to throw");
    expect(add_up(world, false, false).threw == 0, "nobody");
  });
}

TEST_CASE("several operators may throw at once, and throw what they threw", "[failures]") {
  run_ranks(4, 1, small_limits(), [](weft::communicator& world) {
    auto inner = world.dup();
    const auto op = weft::make_operator<number>([&](const number*, number*, std::size_t) { throw inner.rank(); },
                                                weft::does_not_commute);
    for (const std::size_t count : {1u, 4000u}) {
      std::vector<number> data(count, 1);
      int found = -1;
      try {
        inner.allreduce(data, data, op);
      } catch (const int thrown) {
        found = thrown;
      } catch (const weft::error& e) {
        expect(e.code() == weft::errc::operation_failed, e.what());
        found = inner.rank();  // others' threw before
      }
      expect(found == inner.rank(), "what this rank threw, found ", found);
      expect(add_up(inner, false, false).threw == 0, "nobody");
    }
  });
}

TEST_CASE("operations in flight beside one whose operator throws end well", "[failures]") {
  job what;
  what.processes = 3;
  what.settings = small_limits();
  what.settings.progress = GENERATE(weft::progress_mode::caller, weft::progress_mode::thread);
  run_ranks(what, [](weft::communicator& world) {
    const auto throws = weft::make_operator<number>(
        [](const number*, number*, std::size_t) { throw thrown_by_test("each"); }, weft::commutes);
    std::vector<number> before(3000, 1), bad(3000, 1), after(3000, 1);
    weft::handle first = world.iallreduce(before, before, weft::sum);
    weft::handle second = world.iallreduce(bad, bad, throws);
    weft::handle third = world.iallreduce(after, after, weft::sum);
    third.wait();
    try {
      second.wait();
      expect(false, "an exception");
    } catch (const thrown_by_test&) {
    } catch (const weft::error& e) {
      expect(e.code() == weft::errc::operation_failed, e.what());
    }
    first.wait();
    expect(before[2999] == 3 && after[2999] == 3, "the sums beside it");
  });
}
