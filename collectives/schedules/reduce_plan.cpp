#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <weft/schedules/reduce_plan.hpp>
#include <weft/schedules/regular_trees.hpp>

#include "draw_tree.hpp"

namespace weft::schedules {
namespace {

timed_tree timed(tree of, const reduce_parameters& wanted) {
  reduce_timing times = timing(of, wanted.transfer, wanted.compute);
  return {std::move(of), std::move(times)};
}

struct algorithm {
  const char* name;
  timed_tree (*plan)(const reduce_parameters&);
};

constexpr algorithm algorithms[] = {
    {"greedy",
     [](const reduce_parameters& wanted) {
       return greedy_schedule(wanted.ranks, wanted.root, wanted.transfer, wanted.compute, wanted.within);
     }},
    {"binomial",
     [](const reduce_parameters& wanted) { return timed(binomial_tree(wanted.ranks, wanted.root), wanted); }},
    {"fibonacci",
     [](const reduce_parameters& wanted) { return timed(fibonacci_tree(wanted.ranks, wanted.root), wanted); }},
    {"fnomial",
     [](const reduce_parameters& wanted) {
       return timed(fnomial_tree(wanted.ranks, wanted.root, wanted.degree), wanted);
     }},
    {"chain", [](const reduce_parameters& wanted) { return timed(chain_tree(wanted.ranks, wanted.root), wanted); }},
};

const algorithm& named(const std::string& name) {
  for (const algorithm& one : algorithms)
    if (name == one.name) return one;
  std::string there_are;
  for (const algorithm& one : algorithms) there_are += std::string(there_are.empty() ? "" : ", ") + one.name;
  throw std::invalid_argument("no reduction is called \"" + name + "\": there are " + there_are);
}

void check_fit(const reduce_parameters& wanted) {
  const bool limited = wanted.within.transfers != 0 || wanted.within.reducers != 0;
  if (limited && wanted.algorithm != "greedy")
    throw std::invalid_argument("only the greedy tree takes limits, not " + wanted.algorithm);
  if (wanted.degree != reduce_parameters{}.degree && wanted.algorithm != "fnomial")
    throw std::invalid_argument("only the f-nomial tree takes a degree, not " + wanted.algorithm);
}

}  // namespace

std::vector<std::string> reduce_algorithms() {
  std::vector<std::string> names;
  for (const algorithm& one : algorithms) names.push_back(one.name);
  return names;
}

reduce_plan plan_reduce(const reduce_parameters& wanted) {
  const algorithm& how = named(wanted.algorithm);
  check_fit(wanted);
  timed_tree made = how.plan(wanted);
  return {wanted.algorithm, wanted.ranks, wanted.root, made.times.length, std::move(made.times.edges)};
}

std::string draw(const reduce_plan& plan) {
  std::vector<tree_edge> receptions;
  std::vector<const timed_edge*> transfer_of(static_cast<std::size_t>(plan.ranks));
  for (const timed_edge& edge : plan.edges) {
    receptions.push_back({edge.from, edge.to});
    transfer_of.at(static_cast<std::size_t>(edge.from)) = &edge;
  }
  const tree drawn(plan.ranks, plan.root, receptions);
  return plan.algorithm + " reduction, ranks " + std::to_string(plan.ranks) + ", root " + std::to_string(plan.root) +
         ", length " + time_text(plan.length) + "; in brackets, when a rank's transfer starts and ends\n" +
         draw_tree(drawn, [&](int rank) {
           const timed_edge* const edge = transfer_of[static_cast<std::size_t>(rank)];
           if (edge == nullptr) return std::to_string(rank);
           return std::to_string(rank) + "  [" + time_text(edge->start) + ", " + time_text(edge->end) + "]";
         });
}

std::string time_text(double time) {
  constexpr double exact = 9007199254740992;  // 2^53: below, every whole number is a double
  if (std::abs(time) <= exact && time == std::trunc(time)) return std::to_string(static_cast<long long>(time));
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), time).ptr;
  return {text.data(), end};
}

}  // namespace weft::schedules
