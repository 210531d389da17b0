// SPDX-License-Identifier: Apache-2.0
// Other launchers, by what they leave in the environment.
#include <array>
#include <charconv>
#include <weft/runtime/launch.hpp>

namespace weft {
namespace {

std::optional<int> count(const environment& variables, const char* name) {
  const std::string value = value_of(variables, name);
  int result = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (value.empty() || failure != std::errc{} || end != value.data() + value.size()) return std::nullopt;
  return result;
}

std::string named(const char* launcher, const char* variable, const environment& variables) {
  return std::string(launcher) + " (" + variable + "=" + value_of(variables, variable) + ")";
}

/// How many tasks Slurm started beside this one. A batch script is one process, however many tasks were asked for.
const char* slurm_count(const environment& variables) {
  if (variables("SLURM_PROCID") == nullptr) return nullptr;
  if (variables("SLURM_STEP_NUM_TASKS") != nullptr) return "SLURM_STEP_NUM_TASKS";
  return value_of(variables, "ENVIRONMENT") == "BATCH" ? nullptr : "SLURM_NTASKS";
}

struct sign {
  const char* launcher;
  const char* variable;
};

constexpr std::array<sign, 4> sizes{{{"Open MPI", "OMPI_COMM_WORLD_SIZE"},
                                     {"PMI", "PMI_SIZE"},
                                     {"MVAPICH", "MV2_COMM_WORLD_SIZE"},
                                     {"PALS", "PALS_SIZE"}}};

// These say that a launcher is there, and not how many processes it started.
constexpr std::array<sign, 5> presences{{{"PMIx", "PMIX_NAMESPACE"},
                                         {"PMIx", "PMIX_RANK"},
                                         {"PALS", "PALS_RANKID"},
                                         {"PMI", "PMI_FD"},
                                         {"PMI", "PMI_PORT"}}};

}  // namespace

foreign_launcher find_foreign_launcher(const environment& variables) {
  bool counted = false;
  const auto several = [&](const char* variable) {
    const auto tasks = variable == nullptr ? std::nullopt : count(variables, variable);
    counted = counted || tasks.has_value();
    return tasks.value_or(1) > 1;
  };
  const auto found = [&](const char* launcher, const char* variable) {
    return foreign_launcher{named(launcher, variable, variables), count(variables, variable).value_or(0)};
  };
  for (const auto& [launcher, variable] : sizes)
    if (several(variable)) return found(launcher, variable);
  if (const char* const variable = slurm_count(variables); several(variable)) return found("Slurm", variable);
  if (counted) return {};
  for (const auto& [launcher, variable] : presences)
    if (variables(variable) != nullptr) return {named(launcher, variable, variables), 0};
  return {};
}

}  // namespace weft
