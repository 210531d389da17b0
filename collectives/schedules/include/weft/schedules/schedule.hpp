// SPDX-License-Identifier: Apache-2.0
// A schedule: one rank's steps with their dependencies. Data, no behaviour, no addresses, no tags, no clock.
//
//   builder (pure) --> sink (a schedule in memory, the verifier, the simulator, text)
//
// A vector is cut into `chunks` chunks (one a rank where ranks share the work, one a pair of ranks in an all-to-all),
// each chunk into `segments` segments. The segments are numbered through, chunk after chunk: these numbers, the
// *blocks*, are what steps speak of. partition.hpp binds them to element counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::schedules {

using step_index = std::uint32_t;

/// What a step does. send and receive name a peer (a rank of the communicator); copy and combine have none.
enum class step_kind : std::uint8_t {
  send,     ///< sources, in order and as one message, go to peer; done when the bytes may be overwritten
  receive,  ///< targets, in order and as one message, come from peer; done when the bytes are there
  copy,     ///< the one source to the one target
  combine,  ///< sources in the stated order (1 to 16) into the one target, which may be exactly one of them
  notify,  ///< tells peer that everything this step depends on is done; offers it the sources, if there are any, to use
  await,   ///< done when the peer's matching notify is; its sources are what that offers, in the peer's memory
};

/// Which memory of its owner a segment lies in.
enum class buffer : std::uint8_t {
  input,    ///< the caller's
  output,   ///< the caller's
  scratch,  ///< the executor's: slots that serve again and again
  work,     ///< the executor's: a part of the vector, every block at its place
  board,    ///< of the members of a node, which outlives the call: what each shows the others, round after round
};

/// Whether a segment of it has a slot.
constexpr bool has_slots(buffer in) { return in == buffer::scratch || in == buffer::board; }

/// Blocks first, first + 1, ... first + count - 1 of the vector: contiguous elements. count 0 names no elements.
struct block_range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  friend bool operator==(const block_range&, const block_range&) = default;
};

/// The blocks that a buffer holds, one after another: rows of `run` consecutive blocks whose first ones are `stride`
/// apart. A range is one row; a column of a matrix of chunks is several.
struct block_set {
  std::uint32_t first = 0;
  std::uint32_t count = 0;  ///< of blocks, a multiple of run
  std::uint32_t run = 0;
  std::uint32_t stride = 0;

  constexpr block_set() = default;
  constexpr block_set(block_range row) : first(row.first), count(row.count), run(row.count), stride(row.count) {}
  constexpr block_set(block_range row, std::uint32_t rows, std::uint32_t row_stride)
      : first(row.first), count(row.count * rows), run(row.count), stride(row_stride) {}

  /// Whether the blocks are there, in a row.
  constexpr bool holds(block_range blocks) const {
    if (blocks.count == 0) return true;
    if (count == 0 || blocks.first < first) return false;
    const std::uint32_t row = (blocks.first - first) / stride;
    const std::uint32_t within = blocks.first - first - row * stride;
    return row < count / run && within < run && blocks.count <= run - within;
  }
  /// How many blocks of the set come before `block`, which it holds.
  constexpr std::uint32_t position(std::uint32_t block) const {
    return (block - first) / stride * run + (block - first) % stride;
  }
  /// The block at a position less than count.
  constexpr std::uint32_t at(std::uint32_t place) const { return first + place / run * stride + place % run; }
  friend constexpr bool operator==(const block_set& a, const block_set& b) {
    return a.count == b.count &&
           (a.count == 0 || (a.first == b.first && a.run == b.run && (a.run == a.count || a.stride == b.stride)));
  }
};

/// The owner of a segment in this rank's own memory.
inline constexpr std::int32_t me = -1;

/// Elements in a memory: the range says which elements of the vector they stand for, and so how many. In scratch they
/// lie at the beginning of slot `slot`; two segments of one slot overlap, those of two slots never do. On a board they
/// lie, a block a position, from position `slot` on; rounds have positions of their own (why slots of the real board
/// can serve again is proved apart: fabric/shm/round_order.hpp).
///
/// Copies and combines may have sources on other ranks' boards, and sources and targets in what those have offered,
/// until they are told, by what they await, that it is used no more.
struct segment {
  std::int32_t owner = me;  ///< `me`, or a rank whose memory this rank can read
  buffer in = buffer::input;
  std::uint32_t slot = 0;  ///< of scratch, or the first position on a board
  block_range elements;    ///< in another memory than scratch: held there, in a row
  friend bool operator==(const segment&, const segment&) = default;
};

/// How a builder has cut the vector, which part of it the caller's buffers hold, and what memory it needs.
struct layout {
  std::uint32_t chunks = 1;    ///< chunks of the vector
  std::uint32_t segments = 1;  ///< segments of each chunk
  block_set input;             ///< the blocks that the input buffer holds
  block_set output;            ///< the same of the output buffer; count 0: this rank has none
  std::uint32_t scratch_slots = 0;
  std::uint32_t slot_blocks = 0;  ///< the most blocks that one slot holds at a time, consecutive ones
  block_set work = {};            ///< the blocks for which the executor keeps memory beside scratch
  std::uint32_t board = 0;        ///< positions of this rank's board
};

/// Part [first, first + count) of a side table of the schedule.
struct table_range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct step {
  step_kind kind = step_kind::copy;
  std::int32_t peer = -1;
  /// The k-th message from a to b is b's k-th receive from a (k from 0, notifies and awaits counted alike with sends
  /// and receives): fixed here, when it is built, so that steps may run in any order that their dependencies allow.
  std::uint32_t ordinal = 0;
  table_range sources;  ///< in schedule::segments
  table_range targets;  ///< in schedule::segments
  table_range after;    ///< in schedule::dependencies: earlier steps that must be done before this one begins
};

/// What a builder emits into.
class sink {
 public:
  virtual ~sink() = default;
  /// Called once, before any step.
  virtual void begin(const layout& cut) = 0;
  /// Appends a step and returns its index, counted from 0. `after` names earlier steps only.
  virtual step_index emit(step_kind kind, std::int32_t peer, std::span<const segment> sources,
                          std::span<const segment> targets, std::span<const step_index> after) = 0;
};

/// One rank's schedule in memory.
struct schedule {
  layout cut;
  std::vector<step> steps;
  std::vector<segment> segments;
  std::vector<step_index> dependencies;

  std::span<const segment> sources_of(const step& s) const {
    return {segments.data() + s.sources.first, s.sources.count};
  }
  std::span<const segment> targets_of(const step& s) const {
    return {segments.data() + s.targets.first, s.targets.count};
  }
  std::span<const step_index> after(const step& s) const {
    return {dependencies.data() + s.after.first, s.after.count};
  }
};

/// Where a range of blocks lies in a vector of `elements` elements.
struct element_range {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// First element of part `part` (from 0 to parts, that is one past the last) of `whole` elements in `parts` parts,
/// whose sizes differ by one at most, the longer ones first.
std::size_t first_of_part(std::size_t whole, std::size_t parts, std::size_t part);

/// First element of `block` (from 0 to chunks * segments, that is one past the last) in a vector of `elements` elements
/// cut as `cut` says: chunks are balanced over the vector, segments over their chunk, the longer ones first.
std::size_t first_element(const layout& cut, std::size_t elements, std::uint32_t block);

/// The elements that `blocks` stand for.
element_range elements_of(const layout& cut, std::size_t elements, block_range blocks);

/// The most elements that any `count` consecutive blocks hold: what a scratch slot must have room for.
std::size_t most_elements(const layout& cut, std::size_t elements, std::uint32_t count);

}  // namespace weft::schedules
