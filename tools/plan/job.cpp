#include "job.hpp"

namespace weft::tools {
steps_of_rank steps_of(const plan_job& job) { return steps_of(*job.how, job.shape); }

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
