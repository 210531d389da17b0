// SPDX-License-Identifier: Apache-2.0
// Why a collective takes which algorithm: what each alternative is predicted to take.
#pragma once

#include <optional>
#include <string>
#include <vector>
#include <weft/choice/tuning.hpp>
#include <weft/schedules/prediction.hpp>
#include <weft/schedules/selection.hpp>

namespace weft::tools {

/// A call, and where it runs.
struct explained_call {
  schedules::collective kind = schedules::collective::allreduce;
  schedules::algorithm_arguments shape;
  std::size_t bytes = 8;  ///< of the vector; of an all-to-all, one rank's input
  kernels::operation op = kernels::operation::sum;
  kernels::type type = kernels::type::float32;
  std::optional<schedules::road> over;           ///< nothing: the longest that was measured
  const schedules::algorithm* wanted = nullptr;  ///< null: the fastest
  std::size_t segment = 512 << 10;               ///< bytes that none of its segments exceeds
};

struct explanation {
  std::vector<schedules::prediction> alternatives;  ///< the fastest first
  schedules::selected chosen;
  const schedules::algorithm* by_length = nullptr;  ///< what is taken where nothing is measured
  schedules::road over = schedules::road::node;
  std::string why;  ///< the choice, in a sentence
};

/// By what was measured. Throws std::invalid_argument where no algorithm serves the call.
explanation explain(const explained_call& call, const detail::tuning& measured);

/// A line an alternative, the fastest first, the choice marked; `source` says where the parameters come from.
std::string explanation_as_text(const explained_call& call, const explanation& made, const std::string& source);
/// An object; `alternatives` has one for each, with the keys algorithm, segments, predicted_us and chosen.
std::string explanation_as_json(const explained_call& call, const explanation& made, const std::string& source);

}  // namespace weft::tools
