// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <numeric>
#include <weft/schedules/schedule_sink.hpp>
#include <weft/schedules/step_writers.hpp>
#include <weft/simulator/goal.hpp>

#include "job.hpp"

namespace weft::tools {
namespace {

void put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

/// One rank's, without what only all ranks together need.
void emit_rank(const plan_job& job, int rank, schedules::sink& to) {
  schedules::algorithm_arguments of = job.shape;
  of.rank = rank;
  job.how->emit(of, to);
}

std::vector<schedules::schedule> all_steps(const plan_job& job) {
  std::vector<schedules::schedule> ranks;
  ranks.reserve(static_cast<std::size_t>(job.shape.ranks));
  const auto steps = steps_of(job);
  for (int rank = 0; rank < job.shape.ranks; ++rank)
    ranks.push_back(schedules::built_by([&](schedules::sink& to) { steps(rank, to); }));
  return ranks;
}

std::string list(const std::vector<int>& of) {
  std::string text = "[";
  for (std::size_t i = 0; i < of.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(of[i]);
  return text + "]";
}

/// The keys before the steps. Of one rank the order, which names all, is not printed.
void begin_json(const plan_job& job, std::optional<int> rank) {
  std::string text = "{\"collective\": \"" + std::string(name(job.how->kind)) + "\", \"algorithm\": \"" +
                     std::string(job.how->name) + "\", \"ranks\": " + std::to_string(job.shape.ranks);
  if (is_rooted(job.how->kind)) text += ", \"root\": " + std::to_string(job.shape.root);
  if (rank) text += ", \"rank\": " + std::to_string(*rank);
  if (!rank && (job.how->parameters & schedules::takes::order)) {
    std::vector<int> order = job.shape.order;
    if (order.empty()) {
      order.resize(static_cast<std::size_t>(job.shape.ranks));
      std::iota(order.begin(), order.end(), 0);
    }
    text += ", \"order\": " + list(order);
  }
  put(text + ", \"steps\": [");
}

std::optional<schedules::partition> bytes_of(const plan_job& job) {
  if (!job.bytes) return std::nullopt;
  return counts_of(job, *job.bytes);
}

}  // namespace

schedules::steps_of_rank steps_of(const plan_job& job) { return schedules::steps_of(*job.how, job.shape); }

schedules::partition counts_of(const plan_job& job, std::size_t bytes) {
  return schedules::counts_of(job.how->kind, job.shape.ranks, bytes);
}

std::string heading(const plan_job& job) {
  std::string text = std::string(job.how->name) + " " + std::string(name(job.how->kind)) + ", " +
                     std::to_string(job.shape.ranks) + (job.shape.ranks == 1 ? " rank" : " ranks");
  if (is_rooted(job.how->kind)) text += ", root " + std::to_string(job.shape.root);
  return text;
}

void print_rank_as_text(const plan_job& job, int rank) {
  put(heading(job) + ", rank " + std::to_string(rank) + "\n");
  schedules::text_steps to(put);
  emit_rank(job, rank, to);
}

void print_rank_as_json(const plan_job& job, int rank) {
  begin_json(job, rank);
  schedules::json_steps to(put, bytes_of(job));
  emit_rank(job, rank, to);
  put("]}\n");
}

void print_all_as_json(const plan_job& job) {
  begin_json(job, std::nullopt);
  const auto steps = steps_of(job);
  for (int rank = 0; rank < job.shape.ranks; ++rank) {
    put(rank > 0 ? ",\n [" : "\n [");
    schedules::json_steps to(put, bytes_of(job));
    steps(rank, to);
    put("]");
  }
  put("]}\n");
}

void print_all_as_dot(const plan_job& job) { schedules::write_dot(all_steps(job), put); }

void print_all_as_goal(const plan_job& job) {
  const std::size_t bytes = job.bytes.value_or(8);
  const auto all = simulator::workload_of(*job.how, job.shape, bytes);
  simulator::write_goal(all, bytes == 0 ? 0 : job.shape.compute / static_cast<double>(bytes), put);
}

std::optional<schedules::fault> verify(const plan_job& job) {
  return schedules::verify({job.how->kind, job.shape.root}, all_steps(job));
}

}  // namespace weft::tools
