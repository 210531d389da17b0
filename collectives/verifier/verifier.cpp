// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <weft/verifier/verifier.hpp>

#include "job.hpp"

namespace weft::schedules {

void fail(int rank, std::string what) { throw fault_found{{std::move(what), rank, std::nullopt}}; }

void fail(int rank, step_index index, const step& at, const std::string& what) {
  throw fault_found{{"rank " + std::to_string(rank) + ", " + name_of(index, at) + ": " + what, rank, index}};
}

std::string name_of(step_index index, const step& of) {
  const auto peer = " rank " + std::to_string(of.peer);
  std::string kind;
  switch (of.kind) {
    case step_kind::send:
      kind = "send to" + peer;
      break;
    case step_kind::receive:
      kind = "receive from" + peer;
      break;
    case step_kind::copy:
      kind = "copy";
      break;
    case step_kind::combine:
      kind = "combine";
      break;
    case step_kind::notify:
      kind = "notify" + peer;
      break;
    case step_kind::await:
      kind = "await" + peer;
      break;
  }
  return "step " + std::to_string(index) + " (" + kind + ")";
}

std::string name_of(block_range elements) {
  const std::string first = std::to_string(elements.first);
  if (elements.count == 1) return "block " + first;
  return std::to_string(elements.count) + " blocks from " + first;
}

std::string name_of(const block_set& held) {
  const std::string row = name_of(block_range{held.first, held.run});
  if (held.run == held.count) return row;
  return row + " and every " + std::to_string(held.stride) + " further, " + std::to_string(held.count) + " in all";
}

std::string name_of(const segment& memory) {
  const std::string whose = memory.owner == me ? "" : "rank " + std::to_string(memory.owner) + "'s ";
  switch (memory.in) {
    case buffer::input:
      return whose + "input " + name_of(memory.elements);
    case buffer::output:
      return whose + "output " + name_of(memory.elements);
    case buffer::work:
      return whose + "work " + name_of(memory.elements);
    case buffer::board:
      return whose + "board from position " + std::to_string(memory.slot);
    case buffer::scratch:
      break;
  }
  return whose + "scratch slot " + std::to_string(memory.slot);
}

std::optional<fault> verify(const purpose& meant, std::span<const schedule> ranks) {
  try {
    const job all(meant, ranks);
    check_progress(all, execution_order::in_order);
    const auto order = check_progress(all, execution_order::dataflow);
    check_reads(all, order);
    for (const placing where : {placing::separate, placing::in_place}) {
      check_accesses(all, order, where);
      check_outputs(meant, all, run_symbolically(all, order, where));
    }
    if (meant.kind == collective::barrier) check_all_heard(all, order);
    return std::nullopt;
  } catch (fault_found& thrown) {
    return std::move(thrown.found);
  }
}

bool keeps_rank_order(const purpose& meant, std::span<const schedule> ranks) {
  if (const auto wrong = verify(meant, ranks))
    throw std::invalid_argument("not a schedule that verifies: " + wrong->what);
  const job all(meant, ranks);
  const auto outputs = run_symbolically(all, check_progress(all, execution_order::dataflow), placing::separate);
  return std::ranges::all_of(outputs.blocks, [&](const output_block& block) {
    return std::ranges::is_sorted(outputs.values[block.holds], {}, &rank_run::first);
  });
}

}  // namespace weft::schedules
