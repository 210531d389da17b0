#include "sim_workload.hpp"

#include <functional>
#include <stdexcept>
#include <weft/schedules/dissemination_barrier.hpp>
#include <weft/schedules/recursive_doubling_allreduce.hpp>
#include <weft/schedules/ring_allreduce.hpp>
#include <weft/schedules/tree_broadcast.hpp>
#include <weft/schedules/tree_reduce.hpp>

namespace weft::tools {
namespace {

using schedules::sink;
using emit_rank = std::function<void(int rank, sink& to)>;

struct algorithm {
  const char* collective;
  const char* name;
  /// What emits the steps of a rank. The job and the model must outlive it.
  emit_rank (*make)(const sim_job& job, const simulator::machine_model& model);
};

schedules::tree greedy(const sim_job& job, const simulator::machine_model& m) {
  const double bytes = static_cast<double>(job.bytes) / job.by.segments;
  const double transfer = m.latency + bytes * m.gap_per_byte + 2 * (m.overhead + bytes * m.overhead_per_byte);
  return schedules::greedy_tree(job.ranks, job.root, transfer, bytes * m.compute_per_byte);
}

schedules::tree binomial(const sim_job& job, const simulator::machine_model&) {
  return schedules::binomial_tree(job.ranks, job.root);
}

schedules::tree fibonacci(const sim_job& job, const simulator::machine_model&) {
  return schedules::fibonacci_tree(job.ranks, job.root);
}

schedules::tree fnomial(const sim_job& job, const simulator::machine_model&) {
  return schedules::fnomial_tree(job.ranks, job.root, job.degree);
}

schedules::tree chain(const sim_job& job, const simulator::machine_model&) {
  return schedules::chain_tree(job.ranks, job.root);
}

/// A collective over the tree that `Tree` makes.
template <auto Tree, auto Collective>
emit_rank over(const sim_job& job, const simulator::machine_model& model) {
  return [&job, tree = Tree(job, model)](int rank, sink& to) { Collective(tree.position(rank), job.by, to); };
}

template <auto Collective>
emit_rank around(const sim_job& job, const simulator::machine_model&) {
  return
      [ring = schedules::ring{job.ranks, job.ring_order, job.by}](int rank, sink& to) { Collective(ring, rank, to); };
}

/// A collective that has no parameters.
template <auto Collective>
emit_rank among(const sim_job& job, const simulator::machine_model&) {
  return [&job](int rank, sink& to) { Collective(job.ranks, rank, to); };
}

constexpr auto& reduce = schedules::tree_reduce;
constexpr auto& broadcast = schedules::tree_broadcast;

constexpr algorithm algorithms[] = {
    {"reduce", "binomial", over<binomial, reduce>},
    {"reduce", "greedy", over<greedy, reduce>},
    {"reduce", "fibonacci", over<fibonacci, reduce>},
    {"reduce", "fnomial", over<fnomial, reduce>},
    {"reduce", "chain", over<chain, reduce>},
    {"bcast", "binomial", over<binomial, broadcast>},
    {"bcast", "greedy", over<greedy, broadcast>},
    {"bcast", "fibonacci", over<fibonacci, broadcast>},
    {"bcast", "fnomial", over<fnomial, broadcast>},
    {"bcast", "chain", over<chain, broadcast>},
    {"allreduce", "ring", around<schedules::ring_allreduce>},
    {"allreduce", "recursive_doubling", among<schedules::recursive_doubling_allreduce>},
    {"reduce_scatter", "ring", around<schedules::ring_reduce_scatter>},
    {"allgather", "ring", around<schedules::ring_allgather>},
    {"barrier", "dissemination", among<schedules::dissemination_barrier>},
};

}  // namespace

std::vector<std::string> sim_collectives() {
  std::vector<std::string> names;
  for (const algorithm& a : algorithms)
    if (names.empty() || names.back() != a.collective) names.emplace_back(a.collective);
  return names;
}

std::vector<std::string> sim_algorithms(const std::string& collective) {
  std::vector<std::string> names;
  for (const algorithm& a : algorithms)
    if (a.collective == collective) names.emplace_back(a.name);
  return names;
}

simulator::workload workload_of(const sim_job& job, const simulator::machine_model& model) {
  for (const algorithm& a : algorithms)
    if (a.collective == job.collective && (job.algorithm.empty() || a.name == job.algorithm))
      return simulator::workload_of(job.ranks, job.bytes, 1, a.make(job, model));
  throw std::invalid_argument("no algorithm of " + job.collective + " is called \"" + job.algorithm + "\"");
}

}  // namespace weft::tools
