// SPDX-License-Identifier: Apache-2.0
// What `weft plan` is asked to show, and how it shows that.
#pragma once

#include <optional>
#include <string>
#include <vector>
#include <weft/algorithms/named_algorithm.hpp>
#include <weft/schedules/every_rank.hpp>
#include <weft/verifier/verifier.hpp>

namespace weft::tools {

struct plan_job {
  const schedules::algorithm* how = nullptr;
  schedules::algorithm_arguments shape;
  std::optional<std::size_t> bytes;  ///< of the vector; of an all-to-all, one rank's input
};

schedules::steps_of_rank steps_of(const plan_job& job);

schedules::partition counts_of(const plan_job& job, std::size_t bytes);

/// "ring all-reduce, 4 ranks", with the root where there is one.
std::string heading(const plan_job& job);

// Its steps, to the standard output.

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

// As rounds.

/// What goes to whom in each round, where a rank sends and receives at most one message at a time, a message takes a
/// round and everything else no time: a column a rank where that fits into 120 characters, else a line a message.
/// In brackets the blocks of the vector that the message carries.
std::string draw_rounds(const plan_job& job);

/// A message, and the round that it is sent in.
struct round_message {
  int round = 0;
  int from = 0, to = 0;
  schedules::step_index step = 0;  ///< of the sender
};

/// By round, then by sender.
std::vector<round_message> messages_of(const plan_job& job);

/// The blocks of the vector that the step is about.
std::string blocks_of(const schedules::schedule& of, schedules::step_index step);

// Reductions and broadcasts over one tree, with the times of their transfers.

/// Whether the algorithm is a tree that can be timed: one segment over one tree.
bool is_timed_tree(const plan_job& job);

/// The same in every format, of a timed tree. Throws std::invalid_argument for what the tree does not take.
std::string tree_as_text(const plan_job& job);
void print_tree_as_json(const plan_job& job);
void print_tree_as_dot(const plan_job& job);

}  // namespace weft::tools
