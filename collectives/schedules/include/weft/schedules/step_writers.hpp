// SPDX-License-Identifier: Apache-2.0
// Steps as text: for people, for programs, and as a graph for Graphviz.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <weft/schedules/message_ordinals.hpp>
#include <weft/schedules/partition.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

/// One rank's steps for people: a line a step, as it is emitted; only the lines that `write` keeps are held.
///
///     0  send     to 1    input 0
///     1  receive  from 3  -> scratch[0] 3
///     2  combine  input 3 + scratch[0] 3 -> output 3  after 1
class text_steps final : public sink {
 public:
  explicit text_steps(std::function<void(std::string_view line)> write) : write_(std::move(write)) {}
  void begin(const layout& cut) override;
  step_index emit(step_kind kind, std::int32_t peer, std::span<const segment> sources, std::span<const segment> targets,
                  std::span<const step_index> after) override;

 private:
  std::function<void(std::string_view line)> write_;
  step_index next_ = 0;
};

/// One rank's steps for programs: an object a step, as it is emitted, with a comma between two; the caller writes the
/// brackets around them.
///
///     {"step": 2, "kind": "receive", "peer": 3, "ordinal": 0, "targets": [{"in": "output", "first": 3, "count": 1}],
///      "after": [0]}
///
/// Segments in scratch have a "slot", those of another rank an "owner". Keys without a meaning for a step, and empty
/// lists, are left out. Where there are counts, of bytes, messages have their "bytes", copies and combines those of
/// their target.
class json_steps final : public sink {
 public:
  explicit json_steps(std::function<void(std::string_view text)> write, std::optional<partition> bytes = std::nullopt)
      : write_(std::move(write)), bytes_(std::move(bytes)) {}
  void begin(const layout& cut) override;
  step_index emit(step_kind kind, std::int32_t peer, std::span<const segment> sources, std::span<const segment> targets,
                  std::span<const step_index> after) override;

 private:
  std::function<void(std::string_view text)> write_;
  std::optional<partition> bytes_;
  layout cut_;
  message_ordinals ordinals_;
  step_index next_ = 0;
};

/// Writes a digraph in the DOT language: a cluster a rank, a node a step, an edge from each step to those that depend
/// on it, and a bold one from each send to its receive, which matching by ordinal finds. Messages without a receive
/// have no edge.
void write_dot(std::span<const schedule> ranks, const std::function<void(std::string_view text)>& write);

}  // namespace weft::schedules
