// SPDX-License-Identifier: Apache-2.0
// Every rank's executions of one schedule, over a loopback network, against the serial result.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <weft/executor/execution.hpp>
#include <weft/runtime/progress.hpp>
#include <weft/runtime/scheduler.hpp>
#include <weft/schedules/partition.hpp>

#include "catch.hpp"
#include "fabric/messenger_job.hpp"
#include "schedules/shapes.hpp"

namespace weft_test {

using weft::detail::bound_schedule;
using weft::detail::dataflow_execution;
using weft::detail::in_order_execution;
using weft::detail::run_arguments;
using weft::schedules::block_set;
using weft::schedules::collective;
using weft::schedules::layout;
using weft::schedules::partition;
using weft::schedules::purpose;
using weft::schedules::schedule;

using number = std::int64_t;
inline constexpr number untouched = -77;
inline constexpr std::size_t guard = 4;

/// What rank `rank` has for element `e` of chunk `chunk`.
inline number operand(int rank, std::uint32_t chunk, std::size_t e) {
  return (rank + 1) * 1000003 + static_cast<number>(chunk) * 7919 + static_cast<number>(e % 1009) * 31;
}

inline number expected(const purpose& meant, int ranks, int rank, std::uint32_t chunk, std::size_t e) {
  int first = 0, end = ranks;
  switch (meant.kind) {
    case collective::broadcast:
    case collective::scatter:
      return operand(meant.root, chunk, e);
    case collective::allgather:
    case collective::gather:
      return operand(static_cast<int>(chunk), chunk, e);
    case collective::alltoall:
      return operand(static_cast<int>(chunk) / ranks, chunk, e);
    case collective::scan:
      end = rank + 1;
      break;
    case collective::exscan:
      end = rank;
      break;
    default:
      break;
  }
  // Operands rise evenly from rank to rank.
  return end == first ? 0 : (end - first) * (operand(first, chunk, e) + operand(end - 1, chunk, e)) / 2;
}

/// How many elements each chunk has, and how a rank's plan is told.
struct sizes {
  std::vector<std::size_t> of_chunk;
  std::function<partition(int rank)> as_seen_by;
};

/// One rank's buffers, between guards.
class buffers {
 public:
  buffers(const layout& cut, int rank, const sizes& of, bool in_place) : cut_(cut), of_(of) {
    const std::size_t in = size(cut.input), out = size(cut.output);
    in_place_ = in_place && in > 0 && out > 0;
    in_first_ = guard + (in_place_ && in < out ? before(cut.output, cut.input.first) : 0);
    out_first_ = in_place_ ? guard + (in < out ? 0 : before(cut.input, cut.output.first)) : 0;
    memory_.assign(std::max(in, in_place_ ? out : 0) + 2 * guard, untouched);
    other_.assign(out + 2 * guard, untouched);
    std::size_t at = in_first_;
    for_each(cut.input, [&](std::uint32_t chunk, std::size_t e) { memory_[at++] = operand(rank, chunk, e); });
    before_ = memory_;
  }

  const std::byte* input() const { return reinterpret_cast<const std::byte*>(memory_.data() + in_first_); }
  std::byte* output() {
    return reinterpret_cast<std::byte*>(in_place_ ? memory_.data() + out_first_ : other_.data() + guard);
  }

  bool right(const purpose& meant, int ranks, int rank) const {
    const auto& all = in_place_ ? memory_ : other_;
    std::size_t at = in_place_ ? out_first_ : guard;
    bool same = in_place_ || memory_ == before_;
    for_each(cut_.output, [&](std::uint32_t chunk, std::size_t e) {
      same = same && all[at++] == expected(meant, ranks, rank, chunk, e);
    });
    for (const auto* const each : {&memory_, &other_})
      for (std::size_t i = 0; i < guard; ++i)
        same = same && (*each)[i] == untouched && (*each)[each->size() - 1 - i] == untouched;
    return same;
  }

 private:
  template <class Each>
  void for_each(const block_set& held, Each&& each) const {
    for (std::uint32_t i = 0; i < held.count; i += cut_.segments) {
      const std::uint32_t chunk = held.at(i) / cut_.segments;
      for (std::size_t e = 0; e < of_.of_chunk[chunk]; ++e) each(chunk, e);
    }
  }
  std::size_t size(const block_set& held) const {
    std::size_t all = 0;
    for_each(held, [&](std::uint32_t, std::size_t) { ++all; });
    return all;
  }
  std::size_t before(const block_set& held, std::uint32_t block) const {
    std::size_t all = 0;
    for_each(held, [&](std::uint32_t chunk, std::size_t) { all += chunk * cut_.segments < block ? 1 : 0; });
    return all;
  }

  layout cut_;
  const sizes& of_;
  bool in_place_;
  std::size_t in_first_, out_first_;
  std::vector<number> memory_, other_, before_;
};

inline sizes balanced(const layout& cut, std::size_t elements) {
  sizes made;
  for (std::uint32_t chunk = 0; chunk < cut.chunks; ++chunk)
    made.of_chunk.push_back(elements_of(cut, elements, {chunk * cut.segments, cut.segments}).count);
  made.as_seen_by = [elements](int) { return partition(elements); };
  return made;
}

class execution_job {
 public:
  explicit execution_job(int ranks, bool prepost = true) : job_(shape(ranks, prepost)), members_(job_.world()) {}

  /// How one rank's run ended.
  struct outcome {
    std::exception_ptr failure;
    bool right = false;  ///< its output is as it should be, and nothing else has changed
  };

  /// Runs `all`, on each rank by the operator that `operator_of` gives; without one by the kernels' sum.
  std::vector<outcome> outcomes(const purpose& meant, const std::vector<schedule>& all, const sizes& of, bool in_place,
                                bool in_order,
                                const std::function<weft::detail::user_function(int rank)>& operator_of = nullptr) {
    const auto ranks = static_cast<int>(all.size());
    std::vector<buffers> memory;
    std::vector<std::shared_ptr<const bound_schedule>> plans;
    for (int rank = 0; rank < ranks; ++rank) {
      const schedule& its = all[static_cast<std::size_t>(rank)];
      memory.emplace_back(its.cut, rank, of, in_place);
      const auto plan = std::make_shared<bound_schedule>(
          its, of.as_seen_by(rank), sizeof(number),
          weft::kernels::combine(weft::kernels::operation::sum, weft::kernels::type::int64));
      if (operator_of) plan->reserve_between();
      plans.push_back(plan);
    }
    const auto arguments = [&](std::size_t rank) {
      run_arguments its{memory[rank].input(), memory[rank].output(), sequence_, 4711, {}};
      if (operator_of) its.custom = operator_of(static_cast<int>(rank));
      return its;
    };
    const auto failures = in_order ? run_in_order(plans, arguments) : run_dataflow(plans, arguments);
    ++sequence_;
    std::vector<outcome> ended;
    for (std::size_t rank = 0; rank < memory.size(); ++rank)
      ended.push_back({failures[rank], memory[rank].right(meant, ranks, static_cast<int>(rank))});
    return ended;
  }

  /// Requires that every rank ends well and with the right result.
  void run(const purpose& meant, const std::vector<schedule>& all, const sizes& of, bool in_place, bool in_order) {
    const auto ended = outcomes(meant, all, of, in_place, in_order);
    for (std::size_t rank = 0; rank < ended.size(); ++rank) {
      CAPTURE(rank);
      if (ended[rank].failure != nullptr) FAIL(describe(ended[rank].failure).text);
      REQUIRE(ended[rank].right);
    }
  }

 private:
  static job_shape shape(int ranks, bool prepost) {
    job_shape shape;
    shape.settings.prepost = prepost;
    shape.processes = ranks;
    shape.settings.eager_limit = 512;  // so that short vectors are granted, too
    shape.settings.piece = 64 << 10;
    shape.network.receives = ranks % 3 == 0 ? 4 : SIZE_MAX;  // too few to grant everything ahead
    return shape;
  }

  template <class Arguments>
  std::vector<std::exception_ptr> run_dataflow(const std::vector<std::shared_ptr<const bound_schedule>>& plans,
                                               Arguments&& arguments) {
    std::deque<dataflow_execution> runs;
    std::deque<weft::progress> moved_by;
    std::vector<std::exception_ptr> failures;
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      auto& run = runs.emplace_back(job_[static_cast<int>(rank)], *members_[rank], nullptr, plans[rank]);
      run.start(arguments(rank), moved_by.emplace_back(job_[static_cast<int>(rank)]));
    }
    job_.poll_until([&] { return std::all_of(runs.begin(), runs.end(), [](auto& r) { return r.finished().ready(); }); },
                    "the executions");
    for (const auto& run : runs) failures.push_back(run.failure());
    return failures;
  }

  template <class Arguments>
  std::vector<std::exception_ptr> run_in_order(const std::vector<std::shared_ptr<const bound_schedule>>& plans,
                                               Arguments&& arguments) {
    std::deque<in_order_execution> runs;
    std::deque<weft::progress> moved_by;
    std::vector<std::exception_ptr> failures;
    weft::scheduler fibers;
    fibers.set_idle([this] { job_.poll(); });
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      auto& run = runs.emplace_back(job_[static_cast<int>(rank)], *members_[rank], nullptr, plans[rank]);
      auto& by = moved_by.emplace_back(job_[static_cast<int>(rank)]);
      fibers.spawn([&run, &by, its = arguments(rank)] { run.run(its, by); });
    }
    fibers.run();
    for (const auto& run : runs) failures.push_back(run.failure());
    return failures;
  }

  messenger_job job_;
  std::vector<fabric::participant*> members_;
  std::uint32_t sequence_ = 0;
};

}  // namespace weft_test
