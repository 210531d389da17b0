#include "plan_job.hpp"

namespace weft::tools {
namespace {

using schedules::algorithm;
using schedules::collective;

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

const algorithm& algorithm_named(collective of, const std::string& wanted) {
  const auto names = algorithm_names(of);
  const std::string first = of == collective::reduce ? "greedy" : names.front();
  return *schedules::find_algorithm(
      of, wanted.empty() ? first : spelled(wanted, names, "algorithm of " + std::string(name(of))));
}

std::vector<std::string> options_of(const algorithm& how) {
  std::vector<std::string> options;
  for (const option_name& one : option_names)
    if (how.parameters & one.bit) options.emplace_back(one.name);
  return options;
}

steps_of_rank steps_of(const plan_job& job) { return steps_of(job.how->kind, job.how->name, job.shape); }

schedules::partition counts_of(const plan_job& job, std::size_t bytes) {
  return counts_of(job.how->kind, job.shape.ranks, bytes);
}

std::string heading(const plan_job& job) {
  std::string text = std::string(job.how->name) + " " + std::string(name(job.how->kind)) + ", " +
                     std::to_string(job.shape.ranks) + (job.shape.ranks == 1 ? " rank" : " ranks");
  if (is_rooted(job.how->kind)) text += ", root " + std::to_string(job.shape.root);
  return text;
}

}  // namespace weft::tools
