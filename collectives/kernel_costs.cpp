#include "kernel_costs.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace weft::detail {
namespace {

using kernels::operation, kernels::type;

/// A multiple of every type's size. Three of them leave the first cache and fit the second, where a segment is combined
/// that has just arrived.
constexpr std::size_t operand_bytes = 8 * 6720;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What an operand of zeros costs, by the least of at least three calls.
double seconds_of_call(operation op, type element, double budget) {
  std::vector<std::byte> sources(2 * operand_bytes), target(operand_bytes);
  const void* const both[] = {sources.data(), sources.data() + operand_bytes};
  const auto combine = kernels::combine(op, element);
  const std::size_t count = operand_bytes / kernels::size_of(element);
  const double end = seconds_now() + budget;
  double least = 1;
  for (int calls = 0; calls < 4 || seconds_now() < end; ++calls) {
    const double start = seconds_now();
    combine(both, 2, target.data(), count);
    least = std::min(least, seconds_now() - start);
  }
  return least;
}

}  // namespace

std::map<std::pair<operation, type>, double> measure_kernels(double budget) {
  std::vector<std::pair<operation, type>> wanted;
  const bool all = budget > 0.05;
  for (const operation op : kernels::all_operations()) {
    const bool of_its_kind = op == operation::sum || op == operation::min || op == operation::bit_and ||
                             op == operation::logical_and || op == operation::min_location;
    for (const type element : kernels::all_types())
      if ((all || of_its_kind) && kernels::has(op, element)) wanted.emplace_back(op, element);
  }
  std::map<std::pair<operation, type>, double> costs;
  for (const auto& [op, element] : wanted)
    costs[{op, element}] = seconds_of_call(op, element, budget / static_cast<double>(wanted.size())) / operand_bytes;
  return costs;
}

}  // namespace weft::detail
