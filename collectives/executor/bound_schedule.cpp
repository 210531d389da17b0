// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <weft/executor/bound_schedule.hpp>
#include <weft/executor/heap_bytes.hpp>
#include <weft/fabric/process_memory.hpp>

namespace weft::detail {
namespace {

using schedules::buffer;
using schedules::step_index;
using schedules::step_kind;

/// Slots of scratch, work memory and packed messages begin on cache lines of their own.
constexpr std::size_t alignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

class binder {
 public:
  binder(bound_schedule& into, const schedules::schedule& from, const schedules::partition& counts,
         displaced_buffers displaced)
      : into_(into),
        from_(from),
        cut_(from.cut),
        counts_(counts),
        input_(counts, cut_, cut_.input, std::move(displaced.input)),
        output_(counts, cut_, cut_.output, std::move(displaced.output)),
        work_offsets_(counts, cut_, cut_.work) {
    const auto is_others = [](const schedules::segment& each) { return each.owner != schedules::me; };
    const auto writes_others = [&](const schedules::step& each) {
      return std::ranges::any_of(from_.targets_of(each), is_others);
    };
    if (cut_.board != 0 || std::ranges::any_of(from_.steps, writes_others))
      throw std::invalid_argument("a pattern of shared memory cannot be carried out by messages");
    slot_bytes_ = aligned(bytes(counts.most(cut_, cut_.slot_blocks)));
    work_ = slot_bytes_ * cut_.scratch_slots;
    into_.scratch_bytes = work_ + aligned(bytes(work_offsets_.total()));
  }

  void run() {
    into_.steps.reserve(from_.steps.size());
    into_.segments.reserve(from_.segments.size());
    into_.dependencies.reserve(from_.dependencies.size());
    for (step_index i = 0; i < from_.steps.size(); ++i) {
      for (const step_index before : from_.after(from_.steps[i])) unpack(before);
      add(from_.steps[i]);
    }
    for (step_index i = 0; i < from_.steps.size(); ++i) unpack(i);
    into_.pieces_offset = into_.scratch_bytes;
    into_.scratch_bytes += into_.pieces_bytes;
    link_successors();
  }

 private:
  static constexpr step_index none = std::numeric_limits<step_index>::max();

  std::size_t bytes(std::size_t elements) const { return elements * into_.element_bytes; }

  bound_segment bind(const schedules::segment& s) const {
    bound_segment bound{s.in, 0, counts_.count(cut_, s.elements)};
    if (s.owner != schedules::me) return bind_offered(s, bound);
    if (bound.count == 0) return bound;  // at the base: never outside of an empty buffer
    switch (s.in) {
      case buffer::input:
        bound.offset = bytes(begin_in(input_, s.elements));
        break;
      case buffer::output:
        bound.offset = bytes(begin_in(output_, s.elements));
        break;
      case buffer::work:
        bound.in = buffer::scratch;
        bound.offset = work_ + bytes(work_offsets_(s.elements.first));
        break;
      case buffer::scratch:
        bound.offset = s.slot * slot_bytes_;
        break;
      case buffer::board:
        break;
    }
    return bound;
  }

  static std::size_t begin_in(const schedules::held_offsets& buffer, schedules::block_range blocks) {
    if (!buffer.in_a_row(blocks)) throw std::invalid_argument("blocks of a step lie apart in a buffer");
    return buffer(blocks.first);
  }

  /// In what that rank has offered last, of the memory named.
  bound_segment bind_offered(const schedules::segment& s, bound_segment bound) const {
    const auto covers = [&](const schedules::segment& offer) {
      const std::uint32_t end = s.elements.first + s.elements.count;
      return offer.owner == s.owner && offer.in == s.in && offer.slot == s.slot &&
             offer.elements.first <= s.elements.first && end <= offer.elements.first + offer.elements.count;
    };
    const auto found = std::find_if(offers_.rbegin(), offers_.rend(), covers);
    if (found == offers_.rend())
      throw std::invalid_argument("a step reads memory of rank " + std::to_string(s.owner) + " that is not offered");
    bound.offer = static_cast<std::uint32_t>(offers_.rend() - found - 1);
    const std::uint32_t first = found->elements.first;
    bound.offset = bytes(counts_.count(cut_, {first, s.elements.first - first}));
    return bound;
  }

  /// The parts of a message, joined where one follows another in memory: at least one.
  std::vector<bound_segment> joined(std::span<const schedules::segment> parts) const {
    std::vector<bound_segment> all{bind(parts[0])};
    for (const auto& part : parts.subspan(1)) {
      const bound_segment next = bind(part);
      bound_segment& last = all.back();
      if (last.count == 0)
        last = next;
      else if (next.count != 0 && next.in == last.in && next.offset == last.offset + bytes(last.count))
        last.count += next.count;
      else if (next.count != 0)
        all.push_back(next);
    }
    return all;
  }

  bound_segment packed(std::span<const bound_segment> parts) {
    bound_segment row{buffer::scratch, into_.scratch_bytes, 0};
    for (const auto& part : parts) row.count += part.count;
    into_.scratch_bytes += aligned(bytes(row.count));
    return row;
  }

  void add(const schedules::step& unbound) {
    const auto sources = from_.sources_of(unbound);
    const auto targets = from_.targets_of(unbound);
    bound_step step;
    step.kind = unbound.kind;
    step.peer = unbound.peer;
    step.ordinal = unbound.ordinal;
    std::vector<step_index> after;
    for (const step_index before : from_.after(unbound)) after.push_back(done_by_[before]);
    std::vector<bound_segment> unpacked;
    switch (unbound.kind) {
      case step_kind::send: {
        auto parts = joined(sources);
        if (parts.size() > 1) {
          const bound_segment row = packed(parts);
          after = {copy(parts, {&row, 1}, after)};
          parts = {row};
        }
        step.sources = append(parts);
        step.bytes = bytes(parts[0].count);
        break;
      }
      case step_kind::receive: {
        const auto parts = joined(targets);
        if (parts.size() > 1) unpacked = parts;
        step.target = parts.size() > 1 ? packed(parts) : parts[0];
        step.bytes = bytes(step.target.count);
        break;
      }
      case step_kind::copy: {
        const bound_segment from = bind(sources[0]), to = bind(targets[0]);
        done_by_.push_back(copy({&from, 1}, {&to, 1}, after));
        unpack_.push_back({});
        return;
      }
      case step_kind::combine: {
        std::vector<bound_segment> operands;
        for (const auto& source : sources) operands.push_back(bind(source));
        reserve_pieces(operands);
        step.sources = append(operands);
        step.target = bind(targets[0]);
        step.bytes = bytes(step.target.count);
        break;
      }
      case step_kind::notify:
        if (sources.empty()) break;
        step.offer = into_.offers_made++;
        step.bytes = sizeof(memory_offer);
        step.sources = append(std::array{bind(sources[0])});
        break;
      case step_kind::await:
        if (sources.empty()) break;
        step.offer = static_cast<std::uint32_t>(offers_.size());
        step.bytes = sizeof(memory_offer);
        offers_.push_back(sources[0]);
        into_.offers.push_back(static_cast<step_index>(into_.steps.size()));
        break;
    }
    done_by_.push_back(push(step, after));
    unpack_.push_back(std::move(unpacked));
  }

  /// Memory for those of the operands that have to be fetched.
  void reserve_pieces(std::span<const bound_segment> operands) {
    const auto others = static_cast<std::size_t>(
        std::ranges::count_if(operands, [](const bound_segment& each) { return each.offer != bound_segment::own; }));
    if (others == 0) return;
    into_.pieces_bytes = std::max(
        {into_.pieces_bytes, fabric::most_pieces, others * fabric::least_piece, aligned(bytes(operands.size()))});
  }

  /// Emits the copy out of the row in which step `received` has landed, if that is still to be done. The steps that
  /// depend on it then depend on the copy.
  void unpack(step_index received) {
    if (unpack_[received].empty()) return;
    const auto parts = std::exchange(unpack_[received], {});
    const step_index landed = done_by_[received];
    const bound_segment row = into_.steps[landed].target;
    done_by_[received] = copy({&row, 1}, parts, {landed});
  }

  step_index copy(std::span<const bound_segment> sources, std::span<const bound_segment> targets,
                  const std::vector<step_index>& after) {
    bound_step step;
    step.sources = append(sources);
    step.targets = append(targets);
    for (const auto& target : targets) step.bytes += bytes(target.count);
    return push(step, after);
  }

  schedules::table_range append(std::span<const bound_segment> more) {
    const schedules::table_range range{static_cast<std::uint32_t>(into_.segments.size()),
                                       static_cast<std::uint32_t>(more.size())};
    into_.segments.insert(into_.segments.end(), more.begin(), more.end());
    return range;
  }

  step_index push(bound_step step, const std::vector<step_index>& after) {
    step.after = {static_cast<std::uint32_t>(into_.dependencies.size()), static_cast<std::uint32_t>(after.size())};
    into_.dependencies.insert(into_.dependencies.end(), after.begin(), after.end());
    into_.steps.push_back(step);
    return static_cast<step_index>(into_.steps.size() - 1);
  }

  void link_successors() {
    auto& steps = into_.steps;
    for (const bound_step& step : steps)
      for (const auto before : into_.after(step)) ++steps[before].successors.count;
    std::uint32_t first = 0;
    for (auto& step : steps) {
      step.successors.first = first;
      first += step.successors.count;
      step.successors.count = 0;
    }
    into_.successors.resize(first);
    for (step_index i = 0; i < steps.size(); ++i)
      for (const auto before : into_.after(steps[i]))
        into_.successors[steps[before].successors.first + steps[before].successors.count++] = i;
  }

  bound_schedule& into_;
  const schedules::schedule& from_;
  const schedules::layout& cut_;
  const schedules::partition& counts_;
  schedules::held_offsets input_, output_, work_offsets_;
  std::size_t slot_bytes_ = 0;
  std::size_t work_ = 0;                            // offset of the work memory
  std::vector<schedules::segment> offers_;          // of the awaits so far
  std::vector<step_index> done_by_;                 // of each unbound step: the bound one that ends it
  std::vector<std::vector<bound_segment>> unpack_;  // of each receive: where its row is still to be copied to
};

}  // namespace

bound_schedule::bound_schedule(const schedules::schedule& unbound, const schedules::partition& counts,
                               std::size_t bytes_each, kernels::combine_function function, displaced_buffers displaced)
    : element_bytes(bytes_each), combine(function) {
  binder(*this, unbound, counts, std::move(displaced)).run();
}

void bound_schedule::reserve_between() {
  constexpr std::size_t some = 4096;
  between_offset = scratch_bytes;
  between_bytes = std::max(some / element_bytes, std::size_t{1}) * element_bytes;
  scratch_bytes += aligned(between_bytes);
}

std::size_t bound_schedule::footprint() const noexcept {
  return heap_bytes_shared<bound_schedule>() + heap_bytes(steps) + heap_bytes(segments) + heap_bytes(dependencies) +
         heap_bytes(successors) + heap_bytes(offers);
}

}  // namespace weft::detail
