// Steps in every format of `weft plan`. All write to the standard output.
#pragma once

#include <optional>
#include <weft/verifier/verifier.hpp>

#include "job.hpp"

namespace weft::tools {

/// One rank's steps, as they are emitted: none is held.
void print_rank_as_text(const plan_job& job, int rank);
void print_rank_as_json(const plan_job& job, int rank);

/// Every rank's.
void print_all_as_json(const plan_job& job);
void print_all_as_dot(const plan_job& job);
/// Where no bytes were given, of 8 bytes. A combine of the vector takes shape.compute.
void print_all_as_goal(const plan_job& job);

/// What is wrong with the steps of all ranks together; nothing: they hold.
std::optional<schedules::fault> verify(const plan_job& job);

}  // namespace weft::tools
