// SPDX-License-Identifier: Apache-2.0
// A schedule bound to a communicator's rank, an element type and counts: every segment an offset, every message a
// length and one row of bytes. Messages of several parts that do not lie side by side pass through memory of the
// plan's: copies that pack them come before their send, copies that unpack them before the first step that depends on
// their receive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>
#include <weft/kernels/combine.hpp>
#include <weft/operators.hpp>
#include <weft/schedules/partition.hpp>

namespace weft::detail {

/// Elements in a memory whose base is known when the schedule runs: input, output or scratch, which is all of the
/// plan's own; or in what another rank has offered.
struct bound_segment {
  static constexpr std::uint32_t own = std::numeric_limits<std::uint32_t>::max();

  schedules::buffer in = schedules::buffer::input;
  std::size_t offset = 0;     ///< bytes from the base
  std::size_t count = 0;      ///< elements
  std::uint32_t offer = own;  ///< number of the await that was told where they lie
};

struct bound_step {
  schedules::step_kind kind = schedules::step_kind::copy;
  std::int32_t peer = -1;
  std::uint32_t ordinal = 0;
  std::size_t bytes = 0;              ///< of the message, or of the targets
  std::uint32_t offer = 0;            ///< of a notify or await with a message, which tells of an offer: its number
  bound_segment target;               ///< of a receive or combine
  schedules::table_range sources;     ///< in bound_schedule::segments
  schedules::table_range targets;     ///< of a copy: in bound_schedule::segments, one where there are several sources
  schedules::table_range after;       ///< in bound_schedule::dependencies
  schedules::table_range successors;  ///< in bound_schedule::successors: the steps that depend on this one

  bool is_transfer() const noexcept {
    return kind != schedules::step_kind::copy && kind != schedules::step_kind::combine;
  }
  bool is_send() const noexcept { return kind == schedules::step_kind::send || kind == schedules::step_kind::notify; }
};

/// Where each chunk of a caller's buffer begins, elements; none where they lie one after another.
struct displaced_buffers {
  std::vector<std::size_t> input, output;
};

/// Never changed once made; any number of executions may share it.
struct bound_schedule {
  /// `combine` may be null where no step combines. Throws std::invalid_argument where `counts` do not fit the schedule,
  /// and for one of a pattern of shared memory, whose ranks have boards or write each other's memory; or where a step
  /// has several chunks of a buffer in which they are displaced.
  bound_schedule(const schedules::schedule& unbound, const schedules::partition& counts, std::size_t element_bytes,
                 kernels::combine_function combine, displaced_buffers displaced = {});

  std::vector<bound_step> steps;
  std::vector<bound_segment> segments;
  std::vector<schedules::step_index> dependencies;
  std::vector<schedules::step_index> successors;
  std::size_t element_bytes = 1;
  std::size_t vector_bytes = SIZE_MAX;  ///< as fabric::operation::vector
  std::size_t scratch_bytes = 0;
  kernels::combine_function combine = nullptr;
  std::size_t between_offset = 0;  ///< of what `reserve_between` has set apart, in scratch
  std::size_t between_bytes = 0;
  std::uint32_t offers_made = 0;              ///< notifies that tell of an offer; numbered in their order
  std::vector<schedules::step_index> offers;  ///< the awaits that are told of one, in the order of their numbers
  std::size_t pieces_offset = 0;              ///< in scratch: for what has to be fetched to be combined
  std::size_t pieces_bytes = 0;

  std::span<const bound_segment> sources_of(const bound_step& s) const {
    return {segments.data() + s.sources.first, s.sources.count};
  }
  std::span<const bound_segment> targets_of(const bound_step& s) const {
    return {segments.data() + s.targets.first, s.targets.count};
  }
  std::span<const schedules::step_index> after(const bound_step& s) const {
    return {dependencies.data() + s.after.first, s.after.count};
  }
  std::span<const schedules::step_index> successors_of(const bound_step& s) const {
    return {successors.data() + s.successors.first, s.successors.count};
  }
  /// Sets memory of the plan's apart for an operator of the caller's, which `combine` is not: one element or more.
  void reserve_between();
  /// Bytes of the heap that it takes, owned by shared pointers.
  std::size_t footprint() const noexcept;
};

/// A notify's message: where what it offers lies.
struct memory_offer {
  static constexpr std::uint64_t elsewhere = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t address = 0;        ///< in its process
  std::uint64_t place = elsewhere;  ///< in that process's region of the heap that its node shares
  std::uint64_t mark = 0;           ///< address of what says whether this holds (offered_memory.hpp)
};

/// Where the segments of one execution lie.
struct bases {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::byte* scratch = nullptr;

  const std::byte* read(const bound_segment& s) const noexcept { return base(s.in) + s.offset; }
  std::byte* write(const bound_segment& s) const noexcept { return const_cast<std::byte*>(base(s.in)) + s.offset; }

 private:
  const std::byte* base(schedules::buffer in) const noexcept {
    switch (in) {
      case schedules::buffer::input:
        return input;
      case schedules::buffer::output:
        return output;
      case schedules::buffer::scratch:
      case schedules::buffer::work:
      case schedules::buffer::board:  // no bound schedule has one
        break;
    }
    return scratch;
  }
};

/// Runs a copy or combine step of this rank's memory alone, where `custom` is one by it and not by the plan's operator.
/// Throws what that throws.
void run_local(const bound_schedule& plan, const bound_step& step, const bases& memory, const user_function& custom);

/// Combines `count` elements of these operands by the plan's operator, or by `custom` where it is one. Throws what that
/// throws.
void combine_operands(const bound_schedule& plan, std::span<const void*> operands, std::byte* target, std::size_t count,
                      const bases& memory, const user_function& custom);

}  // namespace weft::detail
