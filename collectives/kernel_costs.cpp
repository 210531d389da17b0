#include "kernel_costs.hpp"

#include <cstddef>
#include <cstring>
#include <vector>

#include "aligned_bytes.hpp"
#include "steady_time.hpp"

namespace weft::detail {
namespace {

using kernels::operation, kernels::type;

/// A multiple of every type's size. Three of them leave the first cache and fit the second, where a segment is combined
/// that has just arrived.
constexpr std::size_t operand_bytes = 8 * 6720;

/// Seconds that the kernel takes for three operands that follow one another.
double seconds_of_call(operation op, type element, std::byte* operands) {
  const void* const both[] = {operands, operands + operand_bytes};
  const auto combine = kernels::combine(op, element);
  const std::size_t count = operand_bytes / kernels::size_of(element);
  const double start = seconds_now();
  combine(both, 2, operands + 2 * operand_bytes, count);
  return seconds_now() - start;
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
  const aligned_bytes operands = make_aligned_bytes(3 * operand_bytes);
  std::memset(operands.get(), 0, 3 * operand_bytes);
  // All of them again and again: what slows the core down for a while then slows no kernel alone.
  std::vector<std::vector<double>> times(wanted.size());
  const auto round = [&] {
    const double start = seconds_now();
    for (std::size_t i = 0; i < wanted.size(); ++i)
      times[i].push_back(seconds_of_call(wanted[i].first, wanted[i].second, operands.get()));
    return seconds_now() - start;
  };
  repeats often;
  often.budget = budget;
  steady_time(
      often, round, [](std::int64_t more) { return more; }, seconds_now);
  std::map<std::pair<operation, type>, double> costs;
  for (std::size_t i = 0; i < wanted.size(); ++i) costs[wanted[i]] = steady_time(times[i]) / operand_bytes;
  return costs;
}

}  // namespace weft::detail
