// SPDX-License-Identifier: Apache-2.0
// In place of all that meets under other launchers than `weft run`, where weft is built without it.
#include <weft/runtime/error.hpp>

#include "met_job.hpp"

namespace weft {
namespace {

void refuse_any(const environment& variables) {
  const foreign_launcher found = find_foreign_launcher(variables);
  if (found.name.empty()) return;
  throw error(errc::no_rendezvous, "started by " + found.name +
                                       ", and this build of weft has no PMI (-Dpmi=disabled): start the program with "
                                       "`weft run`, describe the job (WEFT_JOB=static), or build weft anew");
}

}  // namespace

std::optional<joined_job> join_met_job(store::clock::time_point, const environment& variables) {
  refuse_any(variables);
  return std::nullopt;
}

std::optional<launcher_greeting> greet_launcher(store::clock::time_point, const environment& variables) {
  refuse_any(variables);
  return std::nullopt;
}

}  // namespace weft
