// SPDX-License-Identifier: Apache-2.0
// Blocking calls that repeat one before, but for an argument.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "collective_cases.hpp"
#include "joined_job.hpp"

using namespace weft_test;

TEST_CASE("a call that is like the one before but for one argument is checked, and made as it is", "[arguments]") {
  job what = GENERATE(0, 1) == 0 ? small_job(2) : small_job(1, 2);
  what.settings.node = GENERATE(true, false);
  run_ranks(what, [](weft::communicator& world) {
    std::vector<double> in(8, world.rank() + 1), out(8), more(9);
    const std::vector<float> as_floats(8, static_cast<float>(world.rank() + 1));
    const std::vector<std::int32_t> as_integers(8, world.rank() + 1);
    std::vector<float> floats(8);
    std::vector<std::int32_t> integers(8);
    const std::span<double> nowhere(static_cast<double*>(nullptr), 8);
    const auto times = weft::make_operator<double>(
        [](const double* a, double* b, std::size_t count) { std::transform(a, a + count, b, b, std::multiplies<>()); },
        weft::commutes);
    const auto repeat = [&] {
      world.allreduce(in, out, weft::sum);
      expect(out[7] == 3, "a sum of 3, got ", out[7]);
    };
    const auto refused = [&](const char* part, auto&& call) {
      repeat();
      expect_text(expect_error(weft::errc::invalid_argument, call), part);
      repeat();
    };
    const auto gives = [&](double right, const auto& result, auto&& call) {
      repeat();
      call();
      expect(result[7] == right, "a result of ", right, ", got ", result[7]);
      repeat();
    };
    refused("overlap", [&] { world.allreduce(std::span(more).first(8), std::span(more).last(8), weft::sum); });
    refused("address 0", [&] { world.allreduce(nowhere, out, weft::sum); });
    refused("address 0", [&] { world.allreduce(in, nowhere, weft::sum); });
    refused("the output 9", [&] { world.allreduce(in, more, weft::sum); });
    refused("bit_and", [&] { world.allreduce(in, out, weft::reduction_operator(weft::bit_and)); });
    gives(2, out, [&] { world.allreduce(in, out, weft::max); });
    gives(2, out, [&] { world.allreduce(in, out, times); });
    gives(2, out, [&] { world.iallreduce(in, out, weft::max).wait(); });
    gives(3, out, [&] { world.allreduce(in, out, weft::reproducible_sum); });
    gives(3, floats, [&] { world.allreduce(as_floats, floats, weft::sum); });
    gives(3, integers, [&] { world.allreduce(as_integers, integers, weft::sum); });
    gives(3, out, [&] { world.allreduce(std::span(in).first(7), std::span(more).first(7), weft::sum); });
    for (const int root : {0, 1, 0}) {
      more[8] = world.rank();
      world.bcast(more, root);
      expect(more[8] == root, "the value of root ", root, ", got ", more[8]);
    }
    expect_text(expect_error(weft::errc::invalid_argument, [&] { world.bcast(more, 2); }), "root 2");
  });
}

TEST_CASE("calls that a loop repeats, few or more than a rank remembers, are each made as they are", "[arguments]") {
  auto what =
      GENERATE(joined_job(2, 1, 1), joined_job(3, 1, 1), joined_job(1, 2, 2), joined_job(1, 4, 2), joined_job(2, 3, 2));
  what.settings.node = GENERATE(true, false);
  run_ranks(what, [](weft::communicator& world) {
    std::mt19937_64 random(seed_of_this_run());
    for (const std::size_t calls : {2, 3, 8, 9, 12}) {
      std::vector<collective_case> loop(calls);
      for (collective_case& each : loop) {
        each.what = static_cast<weft::schedules::collective>(random() % weft::schedules::collectives);
        each.count = random() % (random() % 4 == 0 ? 3000 : 40);
        each.uneven = weft::schedules::has_blocks(each.what) && random() % 4 == 0;
        draw_terms(each, world.size(), random);
        if (each.by == combined_by::throwing) each.by = combined_by::user;
        each.started = random() % 4 == 0;
      }
      for (int turn = 0; turn < 4; ++turn)
        for (const collective_case& each : loop) check_case(world, each);
    }
  });
}

TEST_CASE("calls that differ in the counts of other ranks alone are each made as they are", "[arguments]") {
  auto what = GENERATE(joined_job(3, 1, 1), joined_job(1, 3, 1), joined_job(1, 3, 2));
  what.settings.node = GENERATE(true, false);
  run_ranks(what, [](weft::communicator& world) {
    const auto self = static_cast<std::size_t>(world.rank());
    std::vector<int> in(6);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i);
    std::vector<std::size_t> counts(3);  // the same memory each time
    for (const bool started : {false, true, false}) {
      for (const std::vector<std::size_t>& these :
           {std::vector<std::size_t>{2, 1, 3}, {2, 3, 1}, {2, 3, 1}, {2, 1, 3}, {2, 2, 2}, {2, 1, 3}}) {
        std::ranges::copy(these, counts.begin());
        std::vector<int> out(counts[self]);
        if (started)
          world.ireduce_scatter(in, out, weft::sum, counts).wait();
        else
          world.reduce_scatter(in, out, weft::sum, counts);
        const std::size_t before = self == 0 ? 0 : self == 1 ? 2 : 2 + counts[1];
        expect(out[0] == 3 * static_cast<int>(before), "the sum of element ", before, ", got ", out[0]);
      }
    }
  });
}
