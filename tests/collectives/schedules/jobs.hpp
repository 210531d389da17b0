// SPDX-License-Identifier: Apache-2.0
// Schedules of every rank of a job.
#pragma once

#include <string>
#include <utility>
#include <vector>
#include <weft/schedules/schedule_sink.hpp>
#include <weft/verifier/verifier.hpp>

namespace weft_test {

/// Calls `builder` with each rank and a sink for its steps.
template <class Builder>
std::vector<weft::schedules::schedule> schedules_of(int ranks, Builder&& builder) {
  std::vector<weft::schedules::schedule> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(weft::schedules::built_by([&](weft::schedules::sink& to) { builder(rank, to); }));
  return all;
}

/// What the verifier says: empty when it finds nothing.
inline std::string fault_in(const weft::schedules::purpose& meant, const std::vector<weft::schedules::schedule>& all) {
  const auto found = weft::schedules::verify(meant, all);
  return found ? found->what : std::string();
}

}  // namespace weft_test
