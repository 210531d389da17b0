// SPDX-License-Identifier: Apache-2.0
// What the outputs hold in the end.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "memory.hpp"

namespace weft::schedules {
namespace {

constexpr value_number nothing = std::numeric_limits<value_number>::max();

class symbolic_run {
 public:
  symbolic_run(const job& all, placing where)
      : all_(all), cells_(all, where), held_(cells_.size(), nothing), blocks_(cells_.size()), slots_(cells_.slots()) {
    for (int rank = 0; rank < all.ranks(); ++rank) {
      const rank_run own{rank, 1};
      const value_number mine = values_.add({&own, 1});
      const block_set& input = all.of(rank).cut.input;
      for (std::uint32_t i = 0; i < input.count; ++i) held_[cells_.input(rank, input.at(i))] = mine;
    }
  }

  void take(step_event e) {
    const step& at = all_.at(e.step);
    if (at.kind == step_kind::send && !e.end) sent_[e.step] = read_message(e.step);
    if (!e.end) return;
    switch (at.kind) {
      case step_kind::receive:
        write_message(e.step);
        break;
      case step_kind::copy:
        write(e.step, target(e.step), read(e.step, source(e.step, 0)));
        break;
      case step_kind::combine:
        write(e.step, target(e.step), combined(e.step));
        break;
      case step_kind::send:
      case step_kind::notify:
      case step_kind::await:
        break;
    }
  }

  symbolic_outputs outputs() && {
    symbolic_outputs all;
    const value_number none = values_.add({});
    for (int rank = 0; rank < all_.ranks(); ++rank) {
      const block_set& output = all_.of(rank).cut.output;
      for (std::uint32_t i = 0; i < output.count; ++i) {
        const value_number held = held_[cells_.output(rank, output.at(i))];
        all.blocks.push_back({rank, output.at(i), held == nothing ? none : held});
      }
    }
    all.values = std::move(values_);
    return all;
  }

 private:
  /// What a slot holds: values of consecutive blocks.
  struct slot_contents {
    std::uint32_t first = 0;
    std::vector<value_number> held;
  };

  const segment& source(job_step s, std::size_t operand) const {
    return all_.of(all_.rank_of(s)).sources_of(all_.at(s))[operand];
  }
  const segment& target(job_step s) const { return all_.of(all_.rank_of(s)).targets_of(all_.at(s))[0]; }
  [[noreturn]] void wrong(job_step s, const std::string& what) const {
    fail(all_.rank_of(s), all_.index_of(s), all_.at(s), what);
  }

  std::vector<value_number> read(job_step s, const segment& memory) const {
    const auto [first, count] = memory.elements;
    if (count == 0) return {};
    const int rank = all_.rank_of(s);
    if (memory.in == buffer::scratch) {
      const auto& slot = slots_[cells_.slot_number(job::owner(rank, memory), memory.slot)];
      if (slot.held.empty()) wrong(s, "reads " + name_of(memory) + " before it is written");
      if (slot.first != first || slot.held.size() < count)
        wrong(s, "reads " + name_of(memory.elements) + " from " + name_of(memory) + ", which holds " +
                     name_of(block_range{slot.first, static_cast<std::uint32_t>(slot.held.size())}));
      return {slot.held.begin(), slot.held.begin() + count};
    }
    std::vector<value_number> result;
    result.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      result.push_back(held_[cells_.of(rank, memory, first + i)]);
      if (result.back() == nothing) wrong(s, "reads " + name_of(memory) + " before it is written");
      if (memory.in == buffer::board && blocks_[cells_.of(rank, memory, first + i)] != first + i)
        wrong(s, "reads " + name_of(block_range{first + i, 1}) + " from " + name_of(memory) + ", which holds another");
    }
    return result;
  }

  std::vector<value_number> read_message(job_step s) const {
    std::vector<value_number> contents;
    for (const segment& part : all_.of(all_.rank_of(s)).sources_of(all_.at(s))) {
      const auto more = read(s, part);
      contents.insert(contents.end(), more.begin(), more.end());
    }
    return contents;
  }

  void write_message(job_step s) {
    const std::vector<value_number> contents = std::move(sent_.extract(all_.partner(s)).mapped());
    auto next = contents.begin();
    for (const segment& part : all_.of(all_.rank_of(s)).targets_of(all_.at(s))) {
      const auto end = next + static_cast<std::ptrdiff_t>(part.elements.count);
      write(s, part, {next, end});
      next = end;
    }
  }

  void write(job_step s, const segment& target, const std::vector<value_number>& contents) {
    const auto [first, count] = target.elements;
    if (count == 0) return;
    const int rank = all_.rank_of(s);
    if (target.in == buffer::scratch)
      slots_[cells_.slot_number(rank, target.slot)] = {first, contents};
    else
      for (std::uint32_t i = 0; i < count; ++i) {
        const cell to = cells_.of(rank, target, first + i);
        held_[to] = contents[i];
        blocks_[to] = first + i;
      }
  }

  std::vector<value_number> combined(job_step s) {
    std::vector<std::vector<value_number>> operands(all_.at(s).sources.count);
    for (std::size_t operand = 0; operand < operands.size(); ++operand) operands[operand] = read(s, source(s, operand));
    const auto as_the_block_before = [&](std::size_t i) {
      return i > 0 && std::ranges::all_of(operands, [&](const auto& each) { return each[i] == each[i - 1]; });
    };
    std::vector<value_number> result;
    result.reserve(target(s).elements.count);
    for (std::size_t i = 0; i < target(s).elements.count; ++i) {
      result.push_back(as_the_block_before(i) ? result.back() : values_.add(sum_of(s, operands, i)));
    }
    return result;
  }

  contributions sum_of(job_step s, const std::vector<std::vector<value_number>>& operands, std::size_t block) const {
    contributions sum;
    for (const auto& each : operands)
      for (const rank_run& more : values_[each[block]]) append(sum, more);
    if (const auto twice = first_twice(sorted(sum)))
      wrong(s, "combines the contribution of rank " + std::to_string(*twice) + " a second time");
    return sum;
  }

  const job& all_;
  cell_map cells_;
  std::vector<value_number> held_;                                // by inputs, outputs, work memories and boards
  std::vector<std::uint32_t> blocks_;                             // which of the vector these are
  std::vector<slot_contents> slots_;                              // of scratch
  std::unordered_map<job_step, std::vector<value_number>> sent_;  // and not received yet
  value_table values_;
};

}  // namespace

symbolic_outputs run_symbolically(const job& all, std::span<const step_event> order, placing where) {
  symbolic_run run(all, where);
  for (const step_event e : order) run.take(e);
  return std::move(run).outputs();
}

namespace {

/// The ranks whose contributions an output block of a rank should hold, in order.
contributions expected_in(const purpose& meant, int ranks, int rank, int chunk) {
  const auto one = [](int contributor) { return contributions{{contributor, 1}}; };
  int end = ranks;
  switch (meant.kind) {
    case collective::broadcast:
    case collective::scatter:
      return one(meant.root);
    case collective::allgather:
    case collective::gather:
      return one(chunk);
    case collective::alltoall:
      return one(chunk / ranks);
    case collective::scan:
      end = rank + 1;
      break;
    case collective::exscan:
      end = rank;
      break;
    case collective::reduce:
    case collective::allreduce:
    case collective::reduce_scatter:
    case collective::barrier:
      break;
  }
  contributions expected;
  append(expected, {0, end});
  return expected;
}

}  // namespace

void check_outputs(const purpose& meant, const job& all, const symbolic_outputs& outputs) {
  const auto chunk_of = [&](const output_block& of) { return static_cast<int>(of.block / all.of(0).cut.segments); };
  const output_block* before = nullptr;
  for (const output_block& block : outputs.blocks) {
    const bool as_before = before != nullptr && before->rank == block.rank && before->holds == block.holds &&
                           chunk_of(*before) == chunk_of(block);
    before = &block;
    if (as_before) continue;
    const contributions expected = expected_in(meant, all.ranks(), block.rank, chunk_of(block));
    const auto held = outputs.values[block.holds];
    const contributions found = sorted(held);
    const auto differing = first_differing(found, expected);
    const bool ordered = meant.kind == collective::scan || meant.kind == collective::exscan;
    if (!differing && ordered && !std::ranges::equal(held, expected))
      fail(block.rank, "rank " + std::to_string(block.rank) + ": output block " + std::to_string(block.block) +
                           " is not combined in the order of the ranks");
    if (!differing) continue;
    const int rank = *differing;
    const bool lacking = !has(found, rank);
    fail(block.rank, "rank " + std::to_string(block.rank) + ": output block " + std::to_string(block.block) +
                         (lacking ? " lacks" : " holds") + " the contribution of rank " + std::to_string(rank) +
                         (lacking ? "" : " once too often"));
  }
}

void check_all_heard(const job& all, std::span<const step_event> order) {
  const auto ranks = static_cast<std::size_t>(all.ranks());
  const auto join = [](std::vector<bool>& into, const std::vector<bool>& more) {
    for (std::size_t i = 0; i < into.size(); ++i)
      if (more[i]) into[i] = true;
  };
  // Whose begin comes before a step's begin, and then before its end.
  std::vector<std::vector<bool>> at_begin(all.steps()), at_end(all.steps()), heard(ranks, std::vector<bool>(ranks));
  for (std::size_t rank = 0; rank < ranks; ++rank) heard[rank][rank] = true;
  for (const step_event e : order) {
    const auto rank = static_cast<std::size_t>(all.rank_of(e.step));
    if (!e.end) {
      at_begin[e.step].resize(ranks);
      at_begin[e.step][rank] = true;
      all.for_each_before(e.step, [&](job_step before) { join(at_begin[e.step], at_end[before]); });
    } else {
      at_end[e.step] = at_begin[e.step];
      if (is_incoming(all.at(e.step).kind)) join(at_end[e.step], at_begin[all.partner(e.step)]);
      join(heard[rank], at_end[e.step]);
    }
  }
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (std::size_t other = 0; other < ranks; ++other)
      if (!heard[rank][other])
        fail(static_cast<int>(rank),
             "rank " + std::to_string(rank) + " may leave before rank " + std::to_string(other) + " has come");
}

}  // namespace weft::schedules
