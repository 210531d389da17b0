// SPDX-License-Identifier: Apache-2.0
// What the ranks of a simulated job do: drawn from its seed, the same for all that take part in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>
#include <weft/fabric/group.hpp>
#include <weft/fabric/loopback.hpp>
#include <weft/fabric/messenger_settings.hpp>

#include "fabric/simulation/draws.hpp"

namespace weft_test {

/// One thing that all ranks of a communicator do, each in its time. Communicators are numbered as they are made, the
/// world is 0; a rank skips what is of one that it is not in.
struct plan_step {
  enum kind : std::uint8_t {
    messages,    ///< some between them; each posts all of its own, and waits, perhaps later
    probes,      ///< the same, received by those who have found them by a probe
    collective,  ///< in rounds
    divide,      ///< some of them get communicator `makes`
    agree,
    shrink,  ///< an agreement, after which those in the answer get communicator `makes`
    revoke,  ///< by one of them
    vain,    ///< one of them waits for what nobody sends; the others leave
    leave,
  };
  kind what = messages;
  int on = 0;
  int makes = -1;
  bool of_anybody = false;  ///< messages, probes: received by any source and any tag
  bool barrier = false;     ///< collective: nobody is done before all have begun
  std::uint64_t seed = 0;
};

struct simulation_plan {
  explicit simulation_plan(std::uint64_t seed);

  int process_of(int rank) const { return rank / ranks_each; }
  int ranks() const { return processes * ranks_each; }
  std::size_t communicators() const { return static_cast<std::size_t>(made_); }

  int processes = 2;
  int ranks_each = 1;
  weft::fabric::messenger_settings settings;
  weft::fabric::loopback_options network;
  std::vector<std::size_t> sizes;  ///< of messages
  std::size_t longest = 0;
  std::vector<plan_step> steps;

  // Faults, of which some come only if the job lasts so long.
  std::vector<std::size_t> deaths;        ///< after so many posts of all ranks a process dies
  std::vector<std::size_t> false_losses;  ///< or is taken for lost
  bool dies_in_agreements = false;
  bool ranks_throw = false;           ///< now and then one leaves everything in the middle
  std::int64_t memory_fails_at = -1;  ///< which allocation of process `short_process`
  std::int64_t memory_failures = 0;
  int short_process = 0;

 private:
  void draw_limits(draws& random);
  void draw_sizes(draws& random);
  void draw_steps(draws& random);
  void draw_faults(draws& random);

  int made_ = 1;
};

/// A message of a step; `from` and `to` are ranks of the communicator.
struct planned_transfer {
  int from = 0, to = 0;
  std::uint64_t tag = 0;  ///< collectives: the ordinal
  std::size_t bytes = 0;
  std::size_t round = 0;
};

/// What passes in that step between the ranks of a communicator of `size` ranks. The tags of those too short to say
/// who they are begin at `own_tags`.
std::vector<planned_transfer> transfers_of(const simulation_plan& plan, std::size_t step, int size);

/// By what a rank receives the messages of a step: the same for all that could get each other's messages, so that
/// whatever a receive takes the others find theirs. A step's messages have tags of their own.
struct receive_manner {
  bool of_anybody = false;
  bool any_tag = false;       ///< of the sources that the plan says
  std::uint64_t classes = 0;  ///< else: tags that are received by any source

  bool takes_any_tag() const { return of_anybody || any_tag; }
  bool takes_any_source(std::uint64_t tag) const {
    return of_anybody || (!any_tag && ((classes >> (tag & 3)) & 1) != 0);
  }
};
inline receive_manner manner_of(const plan_step& step, int rank) {
  draws random(step.seed, static_cast<std::uint64_t>(rank));
  return {step.of_anybody, random.one_in(4), random.one_in(2) ? random.below(std::size_t{16}) : 0};
}

inline constexpr std::uint64_t own_tags = 1'000'000;
inline constexpr std::uint64_t tag_of_nothing = 500'000;

/// The ranks of communicator `from` that get a part of it, in the order of their ranks there.
std::vector<int> chosen_of(const plan_step& step, int size);

}  // namespace weft_test
