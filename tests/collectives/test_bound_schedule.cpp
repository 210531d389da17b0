// SPDX-License-Identifier: Apache-2.0
// What binding makes of messages of several parts.
#include <array>
#include <weft/executor/bound_schedule.hpp>
#include <weft/schedules/schedule_sink.hpp>

#include "catch.hpp"

using namespace weft::schedules;
using weft::detail::bases;
using weft::detail::bound_schedule;
using weft::detail::bound_step;

namespace {

segment in(buffer memory, std::uint32_t block) { return {me, memory, 0, {block, 1}}; }

/// Of 4 chunks: sends 0 and `second` as one message, receives 3 and 1 as one, passes 3 on.
schedule exchange(std::uint32_t second) {
  const segment sent[] = {in(buffer::input, 0), in(buffer::input, second)};
  const segment received[] = {in(buffer::output, 3), in(buffer::output, 1)};
  schedule_sink into;
  into.begin({4, 1, block_range{0, 4}, block_range{0, 4}, 0, 0});
  into.emit(step_kind::send, 1, sent, {}, {});
  const step_index landed = into.emit(step_kind::receive, 1, {}, received, {});
  into.emit(step_kind::send, 2, {received, 1}, {}, {&landed, 1});
  return into.take();
}

std::vector<step_kind> kinds(const bound_schedule& plan) {
  std::vector<step_kind> all;
  for (const bound_step& step : plan.steps) all.push_back(step.kind);
  return all;
}

}  // namespace

TEST_CASE("parts that lie side by side are one message without a copy") {
  const bound_schedule plan(exchange(1), 8, 4, nullptr);
  const bound_step& send = plan.steps[0];
  REQUIRE(send.kind == step_kind::send);
  REQUIRE(send.bytes == 16);
  REQUIRE(send.after.count == 0);
  REQUIRE(plan.sources_of(send).size() == 1);
  REQUIRE(plan.sources_of(send)[0].in == buffer::input);
}

TEST_CASE("parts apart are packed before their send, and unpacked before what depends on their receive") {
  const bound_schedule plan(exchange(2), partition::of_chunks({1, 5, 2, 3}), 4, nullptr);
  REQUIRE(kinds(plan) ==
          std::vector{step_kind::copy, step_kind::send, step_kind::receive, step_kind::copy, step_kind::send});
  REQUIRE(plan.steps[1].bytes == 3 * 4);
  REQUIRE(plan.after(plan.steps[1])[0] == 0);
  REQUIRE(plan.steps[2].bytes == 8 * 4);
  REQUIRE(plan.steps[2].after.count == 0);
  REQUIRE(plan.after(plan.steps[3])[0] == 2);
  REQUIRE(plan.steps[4].after.count == 1);
  REQUIRE(plan.after(plan.steps[4])[0] == 3);  // the copy, not the receive: only then the bytes are there
  REQUIRE(plan.successors_of(plan.steps[3])[0] == 4);

  const std::array<std::int32_t, 11> input{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  std::array<std::int32_t, 11> output{};
  std::vector<std::byte> own(plan.scratch_bytes);
  const bases memory{reinterpret_cast<const std::byte*>(input.data()), reinterpret_cast<std::byte*>(output.data()),
                     own.data()};
  run_local(plan, plan.steps[0], memory, {});
  const auto* const packed = reinterpret_cast<const std::int32_t*>(memory.read(plan.sources_of(plan.steps[1])[0]));
  REQUIRE(std::vector<std::int32_t>(packed, packed + 3) == std::vector<std::int32_t>{10, 16, 17});
  auto* const landed = reinterpret_cast<std::int32_t*>(memory.write(plan.steps[2].target));
  for (int i = 0; i < 8; ++i) landed[i] = 30 + i;
  run_local(plan, plan.steps[3], memory, {});
  REQUIRE(output == std::array<std::int32_t, 11>{0, 33, 34, 35, 36, 37, 0, 0, 30, 31, 32});
}

TEST_CASE("empty parts need no copy") {
  const bound_schedule plan(exchange(2), partition::of_chunks({0, 0, 2, 3}), 4, nullptr);
  REQUIRE(kinds(plan) == std::vector{step_kind::send, step_kind::receive, step_kind::send});
  REQUIRE(plan.steps[0].bytes == 2 * 4);
  REQUIRE(plan.scratch_bytes == 0);
}

TEST_CASE("work memory is the plan's, every block at its place") {
  const segment worked{me, buffer::work, 0, {2, 1}};
  schedule_sink into;
  layout cut{4, 1, block_range{0, 4}, {}, 2, 1};
  cut.work = block_range{1, 3};
  into.begin(cut);
  into.emit(step_kind::receive, 1, {}, {&worked, 1}, {});
  const bound_schedule plan(into.take(), partition::of_chunks({1, 5, 2, 3}), 4, nullptr);
  REQUIRE(plan.steps[0].target.in == buffer::scratch);
  REQUIRE(plan.steps[0].target.offset == 2 * 64 + 5 * 4);
  REQUIRE(plan.scratch_bytes == 3 * 64);
}
