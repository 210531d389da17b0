// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>
#include <weft/schedules/schedule_sink.hpp>
#include <weft/simulator/timeline.hpp>

#include "page_text.hpp"

namespace weft::tools {
namespace {

using simulator::activity;
using simulator::activity_kind;

std::size_t vector_bytes(const plan_job& job) {
  constexpr std::size_t of_each_part = 8;
  const auto parts = static_cast<std::size_t>(std::max(job.shape.by.segments, 1u));
  return job.bytes.value_or(of_each_part * static_cast<std::size_t>(job.shape.ranks) * parts);
}

/// What the ranks do, in the order in which it begins.
std::vector<activity> times_of(const plan_job& job, std::size_t bytes) {
  simulator::machine_model model;
  model.ports = simulator::port_model::one;
  if (job.how->kind == schedules::collective::barrier || bytes == 0) {
    model.latency = job.shape.transfer;
  } else {
    model.gap_per_byte = job.shape.transfer / static_cast<double>(bytes);
    model.compute_per_byte = job.shape.compute / static_cast<double>(bytes);
  }
  simulator::timeline seen;
  simulator::simulate(simulator::workload_of(*job.how, job.shape, bytes), model, nullptr, &seen);
  std::vector<activity> all = seen.activities();
  std::ranges::sort(all, {}, [](const activity& a) { return std::tuple(a.start, a.kind, a.rank, a.step); });
  return all;
}

nlohmann::json bars_of(const plan_job& job, const std::vector<activity>& all) {
  std::vector<schedules::schedule> ranks;
  const auto steps = steps_of(job);
  for (int rank = 0; rank < job.shape.ranks; ++rank)
    ranks.push_back(schedules::built_by([&](schedules::sink& to) { steps(rank, to); }));
  nlohmann::json bars = nlohmann::json::array();
  for (const activity& each : all) {
    nlohmann::json bar{{"rank", each.rank}, {"start", each.start}, {"end", each.end}};
    if (each.kind == activity_kind::transfer) {
      bar["to"] = each.peer;
      bar["bytes"] = each.amount;
      const std::string blocks = blocks_of(ranks[static_cast<std::size_t>(each.rank)], each.step);
      if (!blocks.empty()) bar["blocks"] = blocks;
    }
    bars.push_back(std::move(bar));
  }
  return bars;
}

}  // namespace

std::string plan_as_page(const plan_job& job) {
  if (job.shape.ranks > most_ranks_on_page)
    throw std::invalid_argument("a page of " + std::to_string(job.shape.ranks) + " ranks shows none of them: at most " +
                                std::to_string(most_ranks_on_page) + " are drawn; take fewer, or --format dot");
  const std::size_t bytes = vector_bytes(job);
  const std::vector<activity> all = times_of(job, bytes);
  if (all.size() > most_bars_on_page)
    throw std::invalid_argument("a page of " + std::to_string(all.size()) +
                                " transfers and combinations shows none of them: at most " +
                                std::to_string(most_bars_on_page) + " are drawn; take fewer ranks or segments");
  nlohmann::json plan{
      {"heading", heading(job)}, {"ranks", job.shape.ranks}, {"bytes", bytes}, {"bars", bars_of(job, all)}};
  if (is_rooted(job.how->kind)) plan["root"] = job.shape.root;
  return page_around(plan);
}

}  // namespace weft::tools
