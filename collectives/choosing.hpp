// Which algorithm a collective takes among some ranks, which need not be all of a communicator.
#pragma once

#include <weft/choices.hpp>

#include "process.hpp"
#include "rank_groups.hpp"

namespace weft::detail {

struct among {
  const process& host;
  int ranks = 1;
  const rank_groups& groups;
  const schedules::selection_parameters& selection;
};

/// What a collective takes among these: what its option names, else by the costs that the job agreed on, else by
/// length. Throws std::invalid_argument where no algorithm meets the demands.
schedules::selected choose(const among& these, const choice_request& of);

}  // namespace weft::detail
