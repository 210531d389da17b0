#include "sim_workload.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <weft/schedules/tree_broadcast.hpp>
#include <weft/schedules/tree_reduce.hpp>

namespace weft::tools {
namespace {

using schedules::algorithm_arguments;
using schedules::collective;
using schedules::sink;

/// The tables' own spelling of a name, without what people spell differently.
std::string plain(std::string_view name) {
  if (name == "bcast") return "broadcast";
  std::string letters;
  std::copy_if(name.begin(), name.end(), std::back_inserter(letters), [](char c) { return c != '-' && c != '_'; });
  return letters;
}

/// Trees that are made whole, once for all ranks.
struct tree_maker {
  std::string_view name;
  schedules::tree (*make)(const algorithm_arguments& of);
};

constexpr tree_maker trees[] = {
    {"greedy",
     [](const algorithm_arguments& of) { return schedules::greedy_tree(of.ranks, of.root, of.transfer, of.compute); }},
    {"fibonacci", [](const algorithm_arguments& of) { return schedules::fibonacci_tree(of.ranks, of.root); }},
    {"fnomial", [](const algorithm_arguments& of) { return schedules::fnomial_tree(of.ranks, of.root, of.degree); }},
};

bool over_trees(std::string_view collective_name) {
  return collective_name == name(collective::reduce) || collective_name == name(collective::broadcast);
}

std::vector<std::string> algorithm_names(std::string_view of) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (const auto& a : schedules::algorithms())
    if (name(a.kind) == of) add(a.name);
  if (over_trees(of))
    for (const tree_maker& tree : trees) add(tree.name);
  return names;
}

std::string spelled(const std::string& wanted, const std::vector<std::string>& names, const std::string& what) {
  std::string there_are;
  for (const std::string& name : names) {
    if (plain(name) == plain(wanted)) return name;
    there_are += (there_are.empty() ? "" : ", ") + name;
  }
  throw std::invalid_argument("no " + what + " is called \"" + wanted + "\": there are " + there_are);
}

/// What an operand costs, for trees that are made for it.
void set_costs(algorithm_arguments& of, double vector_bytes, const simulator::machine_model& m) {
  const double bytes = vector_bytes / of.by.segments;
  of.transfer = m.latency + bytes * m.gap_per_byte + 2 * (m.overhead + bytes * m.overhead_per_byte);
  of.compute = bytes * m.compute_per_byte;
}

}  // namespace

std::vector<std::string> sim_collectives() {
  std::vector<std::string> names;
  for (const auto& a : schedules::algorithms())
    if (names.empty() || names.back() != name(a.kind)) names.emplace_back(name(a.kind));
  return names;
}

void find_names(sim_job& job) {
  job.collective = spelled(job.collective, sim_collectives(), "collective");
  const auto names = algorithm_names(job.collective);
  job.algorithm =
      job.algorithm.empty() ? names.front() : spelled(job.algorithm, names, "algorithm of " + job.collective);
}

simulator::workload workload_of(const sim_job& job, const simulator::machine_model& model) {
  algorithm_arguments shape = job.shape;
  set_costs(shape, static_cast<double>(job.bytes), model);
  const bool all_to_all = job.collective == name(collective::alltoall);
  const std::size_t elements = job.bytes * (all_to_all ? static_cast<std::size_t>(shape.ranks) : 1);
  const auto made_by = [&](const std::function<void(int rank, sink& to)>& emit) {
    return simulator::workload_of(shape.ranks, elements, 1, emit);
  };
  if (over_trees(job.collective))
    for (const tree_maker& maker : trees)
      if (maker.name == job.algorithm) {
        const auto emit =
            job.collective == name(collective::reduce) ? schedules::tree_reduce : schedules::tree_broadcast;
        return made_by([&, tree = maker.make(shape)](int rank, sink& to) { emit(tree.position(rank), shape.by, to); });
      }
  for (const auto& a : schedules::algorithms())
    if (name(a.kind) == job.collective && a.name == job.algorithm)
      return made_by([&](int rank, sink& to) {
        shape.rank = rank;
        a.emit(shape, to);
      });
  throw std::invalid_argument("no algorithm of " + job.collective + " is called \"" + job.algorithm + "\"");
}

}  // namespace weft::tools
