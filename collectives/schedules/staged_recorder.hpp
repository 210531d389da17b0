// SPDX-License-Identifier: Apache-2.0
// The party that records a collective in stages: what each stage does becomes part of one schedule.
#pragma once

#include <array>
#include <cstdint>
#include <vector>
#include <weft/schedules/algorithms.hpp>
#include <weft/schedules/staged.hpp>

#include "groups.hpp"

namespace weft::schedules {

/// One rank's; see weft/schedules/staged.hpp. On a node every stage goes at once, between the nodes by the algorithm
/// that short vectors take. Whoever speaks for a node follows the order of the ranks.
class staged_recorder {
 public:
  /// In memory a block lies at the slot of its own number.
  struct place {
    buffer in = buffer::input;
    std::uint32_t slot = 0;
  };
  using stage = stage_of<place>;

  /// Throws std::invalid_argument for nodes that do not hold all ranks once each.
  staged_recorder(const algorithm_arguments& of, collective what);
  /// What was recorded.
  void emit(sink& to) const;

  std::size_t nodes() const { return static_cast<std::size_t>(at_.groups()); }
  std::size_t node() const { return static_cast<std::size_t>(at_.group()); }
  bool is_alone() const { return at_.within().size() == 1; }
  bool speaks() const { return at_.place() == 0; }
  std::size_t root_node() const { return static_cast<std::size_t>(at_.group_of(root_)); }
  std::size_t root_seat() const { return static_cast<std::size_t>(at_.place_of(root_)); }
  static place input() { return {buffer::input, 0}; }
  static place output() { return {buffer::output, 0}; }
  place memory();
  place memory_of_rows() { return memory(); }
  static place of_node(place all) { return all; }
  std::size_t pieces() const { return cut_.segments; }

  bool on_node(const stage& one);
  bool on_node(const stage& one, std::size_t piece);
  bool between(const stage& one);
  bool begin_between(const stage& one, std::size_t piece);
  bool end_between(std::size_t piece);
  bool blocks_on_node(const stage& one);
  bool blocks_between(const stage& one);
  bool hand_over(place from, place to);
  bool gather_rows(place rows) { return rows_on_node(collective::gather, input(), rows); }
  bool exchange(place rows, place columns);
  bool scatter_columns(place columns) { return rows_on_node(collective::scatter, columns, output()); }
  bool exchange_alone() { return exchange(input(), output()); }
  void combine(place first, place second, place to);
  void copy(place from, place to);

 private:
  struct recorded {
    step_kind kind;
    std::int32_t peer;
    std::vector<segment> sources, targets;
    std::vector<step_index> after;
  };
  /// What the blocks of a stage's own vector stand for: the blocks of the call's from begin[b] to before begin[b + 1]
  /// of this list.
  struct part {
    std::vector<std::uint32_t> blocks = {};
    std::vector<std::uint32_t> begin = {0};
    void add(block_range some);
    void add_each(block_range some);
    void end_block() { begin.push_back(static_cast<std::uint32_t>(blocks.size())); }
  };
  class embedding;

  std::uint32_t blocks() const { return cut_.chunks * cut_.segments; }
  block_range block_of(int rank) const { return {static_cast<std::uint32_t>(rank) * cut_.segments, cut_.segments}; }
  /// Of an all-to-all.
  block_range block_of(int giver, int taker) const { return block_of(giver * at_.ranks() + taker); }
  static part each_of(block_range some);
  static part one_of(block_range some);
  bool rows_on_node(collective what, place in, place out);
  party among_speakers() const { return at_.across(0); }
  void record_on_node(collective what, std::size_t root, std::uint32_t count, const part& of, place in, place out);
  std::vector<step_index> record_between(const stage& one, const part& of);
  bool go_between(const stage& one, const part& of);
  void add_at_speaker(step_kind kind, std::vector<place> from, place to);
  static segment at(const place& of, std::uint32_t block);

  const std::vector<std::vector<int>> members_;  // of each node
  const grouped_rank at_;
  const int root_;
  const std::uint32_t window_;
  const collective what_;
  layout cut_;
  std::vector<recorded> steps_;
  std::vector<step_index> done_;                       // by all that follows these are done
  std::array<std::vector<step_index>, 2> on_the_way_;  // of the latest pieces
};

}  // namespace weft::schedules
