// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#include <weft/schedules/selection.hpp>

namespace weft::schedules {
namespace {

/// All-to-alls in which the ranks of a node send so many bytes together go from node to node in one message; longer
/// ones from rank to rank, since the one that speaks for a node would copy them four times.
constexpr std::size_t most_packed = 64 << 10;

/// Of a vector, where that is what a process gives of it: the inverse of bytes_given.
double bytes_of_vector(collective kind, double given, double processes) {
  if (kind == collective::allgather || kind == collective::gather) return given * processes;
  const bool but_one = kind == collective::alltoall || kind == collective::reduce_scatter;
  return but_one ? given * processes / (processes - 1) : given;
}

/// Whether fewer bytes count for more than fewer rounds.
bool is_long(collective kind, int ranks, std::size_t bytes, const selection_parameters& by) {
  if (kind == collective::alltoall) return ranks <= 2 || bytes > by.bruck_limit * static_cast<std::size_t>(ranks);
  if (ranks > 2) return bytes >= by.ring_threshold;
  return kind == collective::allreduce && bytes >= by.ring_threshold_pair;
}

/// By the costs in the table: the fewest start-ups for short vectors, the least β for long ones.
std::string_view by_length(collective kind, bool is_long) {
  switch (kind) {
    case collective::reduce:
      return is_long ? "two-tree" : "greedy";
    case collective::broadcast:
      return is_long ? "scatter-doubling" : "binomial";
    case collective::allreduce:
      return is_long ? "ring" : "recursive-doubling";
    case collective::reduce_scatter:
      return is_long ? "ring" : "recursive-halving";
    case collective::allgather:
      return is_long ? "ring" : "bruck";
    case collective::barrier:
      return "dissemination";
    case collective::gather:
    case collective::scatter:
      return is_long ? "linear" : "binomial";
    case collective::alltoall:
      return is_long ? "pairwise" : "bruck";
    case collective::scan:
    case collective::exscan:
      return is_long ? "chain" : "recursive-doubling";
  }
  return "";
}

/// The same, looked up in the table once and for all.
const algorithm* usual(collective kind, bool is_long) {
  static const auto found = [] {
    std::array<std::array<const algorithm*, 2>, collectives> all;
    for (std::size_t i = 0; i < collectives; ++i)
      for (const bool each : {false, true}) {
        const auto one = static_cast<collective>(i);
        all[i][each] = find_algorithm(one, by_length(one, each));
      }
    return all;
  }();
  return found[static_cast<std::size_t>(kind)][is_long];
}

/// Leaves those of them that are near the fastest, that one first. Of several that are predicted to take just as long
/// the first: among so few ranks, or without groups, they are the same steps by other names.
void keep_near(std::vector<prediction>& all, double factor, std::size_t most) {
  std::ranges::stable_sort(all, {}, &prediction::seconds);
  const auto same = std::ranges::unique(all, {}, &prediction::seconds);
  all.erase(same.begin(), same.end());
  std::erase_if(all, [least = all.empty() ? 0 : all.front().seconds, factor](const prediction& each) {
    return each.seconds > factor * least;
  });
  if (all.size() > most) all.resize(most);
}

selected selected_of(const prediction& best, std::size_t bytes, const path_costs& each,
                     const selection_parameters& by) {
  return {best.how, best.segments, bytes <= by.in_order_limit,
          operand_costs_of(static_cast<double>(bytes) / best.segments, each.of_vector(static_cast<double>(bytes))),
          best.degree};
}

[[noreturn]] void refuse(collective kind) {
  throw std::invalid_argument("no algorithm of " + std::string(name(kind)) + " does what is asked of it");
}

/// The algorithm wanted, where it meets the demands; else null.
const algorithm* served_wish(collective kind, const selection_parameters& by, const demands& of) {
  const algorithm* const wanted = by.wanted[static_cast<std::size_t>(kind)];
  return wanted != nullptr && meets(of, *wanted) ? wanted : nullptr;
}

/// A closer look says at least so much of what the formula does, as far as formulas hold.
constexpr double least_of_formula = 0.6;

/// What a closer look says of those that may take up to `factor` times as long as the fastest: from the one on whose
/// formula says least, until those of all others say too much.
std::vector<prediction> look_closer(std::vector<prediction> by_formula, const closer_look& closer, double factor) {
  std::ranges::stable_sort(by_formula, {}, &prediction::seconds);
  double least = std::numeric_limits<double>::infinity();
  std::vector<prediction> seen;
  for (const prediction& each : by_formula) {
    if (least_of_formula * each.seconds >= factor * least) break;
    seen.push_back(closer(each, factor * least));
    least = std::min(least, seen.back().seconds);
  }
  return seen;
}

/// Of what one algorithm would take in each number of segments and of each degree the best of each degree.
void add_degrees(std::vector<prediction>& to, const std::vector<prediction>& variants) {
  const std::size_t known = to.size();
  for (const prediction& each : variants) {
    if (known == to.size() || to.back().degree != each.degree)
      to.push_back(each);
    else if (each.seconds < to.back().seconds)
      to.back() = each;
  }
}

/// Puts the fastest behind those that are near it, in a quarter of its segments and in four times as many, where
/// formulas say that these are near it too, but not as fast.
void add_other_segments(std::vector<prediction>& near, const std::vector<prediction>& variants, double factor,
                        std::size_t most) {
  const std::uint32_t best = near.front().segments;
  const auto seconds_in = [&, degree = near.front().degree](std::uint32_t segments) {
    const auto its = std::ranges::find_if(
        variants, [&](const prediction& each) { return each.degree == degree && each.segments == segments; });
    return its != variants.end() ? std::optional(its->seconds) : std::nullopt;
  };
  const auto alone = seconds_in(best);
  for (const std::uint32_t segments : {best / 4, best * 4}) {
    const auto other = seconds_in(segments);
    if (!alone || !other || *other == *alone || *other > factor * *alone || near.size() == most) continue;
    near.push_back({near.front().how, segments, *other, near.front().degree});
  }
}

const algorithm& choose(collective kind, int ranks, std::size_t bytes, const selection_parameters& by,
                        const demands& of) {
  if (const algorithm* const wanted = served_wish(kind, by, of)) return *wanted;
  const algorithm& by_size = *usual(kind, is_long(kind, ranks, bytes, by));
  if (meets(of, by_size)) return by_size;
  for (const algorithm& other : algorithms_of(kind))
    if (meets(of, other)) return other;
  refuse(kind);
}

}  // namespace

std::size_t bytes_given(collective kind, std::size_t bytes, int processes) {
  const auto share = bytes / static_cast<std::size_t>(processes);
  if (kind == collective::allgather || kind == collective::gather) return share;
  return kind == collective::alltoall || kind == collective::reduce_scatter ? bytes - share : bytes;
}

bool is_candidate(const algorithm& how, std::size_t given, const shared_node& on) {
  const auto processes = static_cast<std::size_t>(on.shape.ranks);
  const bool is_scatter = how.kind == collective::reduce_scatter;
  const bool fits = given <= (is_scatter ? slot_bytes / processes * (processes - 1) : slot_bytes);
  const bool in_groups = on.shape.groups.size() > 1 && !on.custom;
  switch (how.pattern) {
    case memory_pattern::none:
    case memory_pattern::served:  // of ranks of one process
    case memory_pattern::served_shown:
    case memory_pattern::staged:
      return false;
    case memory_pattern::at_once:
      if (how.kind == collective::barrier) return !in_groups && !on.crowded;
      if (how.kind == collective::allreduce) return !in_groups;
      return fits || !(is_scatter || how.kind == collective::scan || how.kind == collective::exscan);
    case memory_pattern::through_first:
      return !in_groups && on.crowded;
    case memory_pattern::in_groups:
      return in_groups;
    case memory_pattern::by_shares:
      return !fits && on.long_slots && !on.custom;
    case memory_pattern::in_place:
      return on.mapped && (how.kind != collective::reduce || !fits);
    case memory_pattern::single_copy:
      return on.reads;
    case memory_pattern::in_parts:
    case memory_pattern::pipelined:
      break;
  }
  return true;
}

prediction predict(const algorithm& how, std::size_t given, const shared_node& on) {
  const auto bytes = static_cast<double>(given);
  const path_costs each = path_of(on.costs, how.kind, how.pattern, bytes, on.combine);
  const double all = bytes_of_vector(how.kind, bytes, on.shape.ranks);
  // What a byte costs of the others has the rounds for all pieces in it.
  if (how.pattern != memory_pattern::pipelined) return {&how, 1, how.cost(on.shape, all, each)};
  return predict(how, on.shape, given, each, std::max<std::size_t>(given, 1));
}

memory_pattern pattern_of(collective kind, std::size_t given, const shared_node& on) {
  prediction best;
  for (const algorithm& how : algorithms_of(kind)) {
    if (!is_candidate(how, given, on)) continue;
    const prediction one = predict(how, given, on);
    if (best.how == nullptr || one.seconds < best.seconds) best = one;
  }
  return best.how->pattern;
}

std::vector<memory_pattern> patterns_near(collective kind, std::size_t given, const shared_node& on, double factor,
                                          std::size_t most) {
  std::vector<prediction> all;
  for (const algorithm& how : algorithms_of(kind))
    if (is_candidate(how, given, on)) all.push_back(predict(how, given, on));
  keep_near(all, factor, most);
  std::vector<memory_pattern> near;
  for (const prediction& one : all) near.push_back(one.how->pattern);
  return near;
}

bool goes_in_stages(collective kind, std::size_t bytes, std::size_t most) {
  if (kind == collective::alltoall) return most * bytes <= most_packed;
  return kind != collective::gather && kind != collective::scatter;
}

prediction predict_stages(collective kind, const algorithm_arguments& of, std::size_t bytes, const path_costs& each) {
  const algorithm& how = row_of(kind, memory_pattern::staged);
  algorithm_arguments tried = of;
  tried.by.segments = 1;
  const auto seconds = [&] { return how.cost(tried, static_cast<double>(bytes), each); };
  prediction best{&how, 1, seconds()};
  if ((how.parameters & takes::segments) == 0) return best;
  for (std::uint32_t pieces = 2; pieces <= most_segments && bytes / pieces >= least_piece; pieces *= 2) {
    tried.by.segments = pieces;
    if (const double time = seconds(); time < best.seconds) best = {&how, pieces, time};
  }
  return best;
}

const algorithm& row_of(collective kind, memory_pattern by) {
  return *std::ranges::find(algorithms_of(kind), by, &algorithm::pattern);
}

bool meets(const demands& of, const algorithm& how) {
  if (of.by_pattern != (how.pattern != memory_pattern::none)) return false;
  // Only where every rank sends straight to every other one need nobody know what the others have; and in a ring, as
  // there, a message is of one block.
  if (of.block_by_block && how.name != "pairwise" && how.name != "linear" && how.name != "ring") return false;
  if (of.no_reading && (how.parameters & takes::nodes) != 0) return false;
  if (!of.rank_order) return true;
  switch (how.order) {
    case rank_order::kept:
    case rank_order::on_request:
      return true;
    case rank_order::kept_for_root:
      return of.root == 0;
    case rank_order::kept_in_rows:
      return of.groups_in_rows;
    case rank_order::not_kept:
      break;
  }
  return false;
}

bool may_be_chosen(const algorithm& how, const demands& of, const algorithm* wanted) {
  const bool is_offered = (how.parameters & takes::arrivals_of_calls) == 0 || &how == wanted;
  return is_offered && meets(of, how);
}

selected select(collective kind, int ranks, std::size_t bytes, const selection_parameters& by, const demands& of) {
  const algorithm& how = choose(kind, ranks, bytes, by, of);
  return {&how, segments_of(how, ranks, bytes, by.segment), bytes <= by.in_order_limit, {}, 0};
}

selected select_fastest(collective kind, const algorithm_arguments& shape, std::size_t bytes, const path_costs& each,
                        const selection_parameters& by, const demands& of, const closer_look& closer) {
  if (const algorithm* const wanted = served_wish(kind, by, of))
    return selected_of(predict(*wanted, shape, bytes, each, by.segment), bytes, each, by);
  std::vector<prediction> all;
  for (const algorithm& how : algorithms_of(kind))
    if (may_be_chosen(how, of)) all.push_back(predict(how, shape, bytes, each, by.segment));
  if (all.empty()) refuse(kind);
  if (closer) all = look_closer(std::move(all), closer, 1);
  return selected_of(*std::ranges::min_element(all, {}, &prediction::seconds), bytes, each, by);
}

std::vector<selected> select_near(collective kind, const algorithm_arguments& shape, std::size_t bytes,
                                  const path_costs& each, const selection_parameters& by, const demands& of,
                                  const closer_look& closer, double factor, std::size_t most) {
  std::vector<prediction> all;
  for (const algorithm& how : algorithms_of(kind))
    if (may_be_chosen(how, of)) add_degrees(all, predict_each(how, shape, bytes, each, by.segment));
  if (all.empty()) refuse(kind);
  if (closer) all = look_closer(std::move(all), closer, factor);
  keep_near(all, factor, most);
  // Of a few bytes a segment would have none.
  if (bytes > by.in_order_limit)
    add_other_segments(all, predict_each(*all.front().how, shape, bytes, each, by.segment), factor, most);
  std::vector<selected> near;
  for (const prediction& one : all) near.push_back(selected_of(one, bytes, each, by));
  return near;
}

}  // namespace weft::schedules
