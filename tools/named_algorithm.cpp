#include "named_algorithm.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <weft/schedules/greedy_tree.hpp>
#include <weft/schedules/tree_broadcast.hpp>
#include <weft/schedules/tree_reduce.hpp>

namespace weft::tools {
namespace {

using schedules::algorithm;
using schedules::algorithm_arguments;
using schedules::algorithms;
using schedules::collective;

/// A name without what people spell differently.
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

}  // namespace

std::vector<std::string> collective_names() {
  std::vector<std::string> names;
  for (const algorithm& a : algorithms())
    if (names.empty() || names.back() != name(a.kind)) names.emplace_back(name(a.kind));
  return names;
}

std::vector<std::string> algorithm_names(collective of) {
  std::vector<std::string> names;
  for (const algorithm& a : schedules::algorithms_of(of)) names.emplace_back(a.name);
  return names;
}

std::vector<std::string> tree_names() {
  std::vector<std::string> names;
  for (const tree_maker& tree : trees) names.emplace_back(tree.name);
  return names;
}

bool goes_over_trees(collective kind) { return kind == collective::reduce || kind == collective::broadcast; }

std::string spelled(const std::string& wanted, const std::vector<std::string>& names, const std::string& what) {
  std::string there_are;
  for (const std::string& name : names) {
    if (plain(name) == plain(wanted)) return name;
    there_are += (there_are.empty() ? "" : ", ") + name;
  }
  throw std::invalid_argument("no " + what + " is called \"" + wanted + "\": there are " + there_are);
}

collective collective_named(const std::string& wanted) {
  const std::string exact = spelled(wanted, collective_names(), "collective");
  return std::find_if(algorithms().begin(), algorithms().end(),
                      [&](const algorithm& a) { return name(a.kind) == exact; })
      ->kind;
}

steps_of_rank steps_of(collective kind, std::string_view algorithm, const algorithm_arguments& shape) {
  const auto over = std::find_if(std::begin(trees), std::end(trees),
                                 [&](const tree_maker& maker) { return maker.name == algorithm; });
  if (goes_over_trees(kind) && over != std::end(trees)) {
    const auto emit = kind == collective::reduce ? schedules::tree_reduce : schedules::tree_broadcast;
    return [emit, by = shape.by, tree = std::make_shared<const schedules::tree>(over->make(shape))](
               int rank, schedules::sink& to) { emit(tree->position(rank), by, to); };
  }
  return [how = schedules::find_algorithm(kind, algorithm), of = shape](int rank, schedules::sink& to) mutable {
    of.rank = rank;
    how->emit(of, to);
  };
}

schedules::partition counts_of(collective kind, int ranks, std::size_t bytes) {
  return bytes * (kind == collective::alltoall ? static_cast<std::size_t>(ranks) : 1);
}

}  // namespace weft::tools
