// SPDX-License-Identifier: Apache-2.0
// Which algorithm a communicator's collectives take, and why.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <weft/choice/candidate_trial.hpp>
#include <weft/communicator.hpp>
#include <weft/process/choosing.hpp>

namespace weft::detail {

/// For tools: what collectives take on a communicator, for elements combined by a built-in operator.
struct choices {
  static choice_request request(communicator& on, collective what, std::size_t bytes, kernels::operation op,
                                kernels::type type);
  static schedules::selected taken(communicator& on, const choice_request& of);
  /// What such a call goes by, in every form: a pattern of the memory that its node shares, stages of several nodes,
  /// of a process that has all ranks, or else as `taken`. Not for ranks that join in several processes first.
  static const schedules::algorithm* way(communicator& on, const choice_request& of);
  /// Its name; "joined" where ranks join before their processes go on, "node" where these go on in the memory of nodes.
  static std::string_view name_of_way(communicator& on, const choice_request& of);
  /// Whether the ranks of each process join in its memory first: then what is taken goes between the processes, and is
  /// chosen among these. Not while an algorithm is preferred.
  static bool joined(communicator& on, collective what);
  /// Whether calls go through the memory that the processes of this node share; behind a meeting in each process where
  /// those are joined. `bytes`: of a rank's vector, which for all-to-alls of several nodes counts.
  static bool on_node(communicator& on, collective what, std::size_t bytes = 0);
  /// By what the ranks that are the farthest from each other meet: "memory" of their process, that of their "node", or
  /// a provider of libfabric, by its name.
  static std::string road(communicator& on);
  /// Takes this algorithm from now on, or with null what the options say: every rank must ask for the same.
  static void prefer(communicator& on, collective what, const schedules::algorithm* wanted);
  /// Whether calls that are made often try what is near the choice. What was found to be the fastest is taken then.
  static bool tunes_online(communicator& on);
  /// What its calls have tried, and those of its process where ranks join or go through memory.
  static trial_counts trials(communicator& on);
  /// After so many calls it is known; up to then the choice goes by costs.
  static constexpr std::uint32_t calls_until_known = candidate_trial::calls_of(most_candidates) + 1;
  /// What the next such call takes of those that go by when ranks come, and with which arrivals; null where they do
  /// not, or none has been made.
  static const schedules::selected* by_arrival(communicator& on, const choice_request& of);
  /// Of these the rank that comes last, and how many seconds behind the first; nothing where nobody is late.
  static std::optional<std::pair<int, double>> latest(communicator& on, const choice_request& of);
  /// Whether any of its calls do.
  static bool watches(communicator& on);
  /// The costs that the job agreed on; null where it goes by length.
  static const tuning* costs(communicator& on);
  /// Every algorithm and, where `way` gives one, every pattern that could be taken, the fastest first; none where
  /// nothing was measured.
  static std::vector<schedules::prediction> predicted(communicator& on, const choice_request& of);
};

}  // namespace weft::detail
