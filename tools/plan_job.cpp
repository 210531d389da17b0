#include "plan_job.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <weft/schedules/tree_reduce.hpp>

namespace weft::tools {
namespace {

using schedules::algorithm;
using schedules::algorithms;
using schedules::collective;

/// A name without what people spell differently.
std::string plain(std::string_view name) {
  if (name == "bcast") return "broadcast";
  std::string letters;
  std::copy_if(name.begin(), name.end(), std::back_inserter(letters), [](char c) { return c != '-' && c != '_'; });
  return letters;
}

[[noreturn]] void refuse(const std::string& what, const std::string& wanted,
                         const std::vector<std::string_view>& valid) {
  std::string there_are;
  for (const std::string_view name : valid) there_are.append(there_are.empty() ? "" : ", ").append(name);
  throw std::invalid_argument("no " + what + " is called \"" + wanted + "\": there are " + there_are);
}

struct option_name {
  unsigned bit;
  const char* name;
};
constexpr option_name option_names[] = {
    {schedules::takes::root, "--root"},         {schedules::takes::segments, "--segments"},
    {schedules::takes::window, "--window"},     {schedules::takes::degree, "--degree"},
    {schedules::takes::splits, "--splits"},     {schedules::takes::connections, "--connections"},
    {schedules::takes::groups, "--group-size"}, {schedules::takes::costs, "--transfer"},
    {schedules::takes::costs, "--compute"},     {schedules::takes::groups | schedules::takes::order, "--topology"},
};

}  // namespace

collective collective_named(const std::string& wanted) {
  std::vector<std::string_view> names;
  for (const algorithm& a : algorithms()) {
    if (plain(name(a.kind)) == plain(wanted)) return a.kind;
    if (names.empty() || names.back() != name(a.kind)) names.push_back(name(a.kind));
  }
  refuse("collective", wanted, names);
}

const algorithm& algorithm_named(collective of, const std::string& wanted) {
  if (wanted.empty() && of == collective::reduce) return algorithm_named(of, "greedy");
  std::vector<std::string_view> names;
  for (const algorithm& a : algorithms()) {
    if (a.kind != of) continue;
    if (wanted.empty() || plain(a.name) == plain(wanted)) return a;
    names.push_back(a.name);
  }
  refuse("algorithm of " + std::string(name(of)), wanted, names);
}

std::vector<std::string> options_of(const algorithm& how) {
  std::vector<std::string> options;
  for (const option_name& one : option_names)
    if (how.parameters & one.bit) options.emplace_back(one.name);
  return options;
}

steps_of_rank steps_of(const plan_job& job) {
  const auto& shape = job.shape;
  if (job.how->kind == collective::reduce && job.how->name == "greedy")
    return [by = shape.by, tree = std::make_shared<schedules::tree>(
                               schedules::greedy_tree(shape.ranks, shape.root, shape.transfer, shape.compute))](
               int rank, auto& to) { tree_reduce(tree->position(rank), by, to); };
  if (job.how->kind == collective::reduce && job.how->name == "fibonacci")
    return
        [by = shape.by, tree = std::make_shared<schedules::tree>(schedules::fibonacci_tree(shape.ranks, shape.root))](
            int rank, auto& to) { tree_reduce(tree->position(rank), by, to); };
  return [how = job.how, of = shape](int rank, schedules::sink& to) mutable {
    of.rank = rank;
    how->emit(of, to);
  };
}

schedules::partition counts_of(const plan_job& job, std::size_t bytes) {
  return bytes * (job.how->kind == collective::alltoall ? static_cast<std::size_t>(job.shape.ranks) : 1);
}

std::string heading(const plan_job& job) {
  std::string text = std::string(job.how->name) + " " + std::string(name(job.how->kind)) + ", " +
                     std::to_string(job.shape.ranks) + (job.shape.ranks == 1 ? " rank" : " ranks");
  if (is_rooted(job.how->kind)) text += ", root " + std::to_string(job.shape.root);
  return text;
}

}  // namespace weft::tools
