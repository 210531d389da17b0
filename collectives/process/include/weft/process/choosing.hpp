// SPDX-License-Identifier: Apache-2.0
// Which algorithm a collective takes among some ranks, which need not be all of a communicator.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>
#include <weft/choice/tuning.hpp>
#include <weft/request.hpp>
#include <weft/schedules/selection.hpp>

namespace weft::detail {

class process;
struct rank_groups;

/// A collective, as far as the choice goes by it.
struct choice_request {
  collective what = collective::barrier;
  std::size_t bytes = 0;  ///< of the vector; of an all-to-all, one rank's input
  schedules::demands asked;
  double combine = 0;   ///< seconds for each byte; 0 where nothing is combined
  bool mapped = false;  ///< all buffers lie in memory that the node shares
  friend bool operator==(const choice_request&, const choice_request&) = default;
};

struct choice_hash {
  std::size_t operator()(const choice_request& of) const noexcept {
    return (static_cast<std::size_t>(of.what) << 56 ^ static_cast<std::size_t>(of.asked.root) << 40 ^ of.bytes) *
           0x9e3779b97f4a7c15u;
  }
};

struct among {
  const process& host;
  int ranks = 1;
  const rank_groups& groups;
  const schedules::selection_parameters& selection;
};

/// Seconds to combine a byte in a `what` by the operator and type of `call`: as measured, else assumed; 0 where nothing
/// is combined.
double combine_seconds_of(const process& host, collective what, const request& call);

/// What is asked for a `what` of so many bytes, by the operator and type of `call`; `uneven`: in blocks of counts.
choice_request choice_for(const among& these, const request& call, collective what, std::size_t bytes, int root,
                          bool uneven);

/// What a collective takes among these: what its option names, else by the costs that the job agreed on, with what they
/// take where messages share links of a network that is known (simulator/network_prediction.hpp), else by length.
/// Throws std::invalid_argument where no algorithm meets the demands.
schedules::selected choose(const among& these, const choice_request& of);

/// Its latest answers for some ranks: where a network is known each may take milliseconds.
class choices_made {
 public:
  schedules::selected of(const among& these, const choice_request& of);
  void forget() noexcept { made_.clear(); }

 private:
  std::unordered_map<choice_request, schedules::selected, choice_hash> made_;  ///< by measured costs
};

/// Whether a `what` with the operator and type of `call` may go by one algorithm now and by another then. Not by an
/// operator that does not commute, nor of reproducible sums.
bool may_be_tried(collective what, const request& call) noexcept;
/// What `choose` gives, first, and what else is predicted to be near that (candidate_trial.hpp).
std::vector<schedules::selected> choose_near(const among& these, const choice_request& of);

/// In the same way: every algorithm that may be chosen, the fastest first; and one.
std::vector<schedules::prediction> predict_all(const among& these, const choice_request& of);
schedules::prediction predict(const among& these, const choice_request& of, const schedules::algorithm& how);
/// What messages among these cost, as it was measured.
schedules::path_costs costs_among(const among& these, const tuning& measured, const choice_request& of);
/// Stages of their nodes.
schedules::prediction predict_stages(const among& these, const tuning& measured, const choice_request& of);

}  // namespace weft::detail
