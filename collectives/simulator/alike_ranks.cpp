// SPDX-License-Identifier: Apache-2.0
// Jobs in which one rank stands for all.
#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <weft/schedules/every_rank.hpp>

#include "emitted_steps.hpp"

namespace weft::simulator {
namespace {

using schedules::collective;

struct alike_algorithm {
  collective kind;
  std::string_view name;
  bool around, exchanging;  ///< for any number of ranks; for 2^m of them, where that goes first
};

constexpr std::array alike_algorithms{
    alike_algorithm{collective::allreduce, "ring", true, false},
    alike_algorithm{collective::allreduce, "recursive-doubling", false, true},
    alike_algorithm{collective::reduce_scatter, "ring", true, false},
    alike_algorithm{collective::allgather, "ring", true, false},
    alike_algorithm{collective::alltoall, "pairwise", true, true},
    alike_algorithm{collective::alltoall, "bruck", true, false},
    alike_algorithm{collective::barrier, "dissemination", true, false},
};

}  // namespace

likeness likeness_of(const schedules::algorithm& how, const schedules::algorithm_arguments& shape, std::size_t bytes) {
  const auto found = std::ranges::find_if(
      alike_algorithms, [&](const alike_algorithm& each) { return each.kind == how.kind && each.name == how.name; });
  if (found == alike_algorithms.end() || shape.ranks < 2 || !shape.order.empty() || !shape.each.empty())
    return likeness::none;
  const bool same_chunks = how.kind == collective::barrier || bytes % static_cast<std::size_t>(shape.ranks) == 0;
  if (!same_chunks) return likeness::none;
  if (found->exchanging && std::has_single_bit(static_cast<unsigned>(shape.ranks))) return likeness::exchanging;
  return found->around ? likeness::around : likeness::none;
}

workload workload_of_alike(likeness ranks, const schedules::algorithm& how, const schedules::algorithm_arguments& shape,
                           std::size_t bytes) {
  workload_builder into;
  const auto counts = schedules::counts_of(how.kind, shape.ranks, bytes);
  emitted_steps to(counts, 1, into);
  to.make_alike(ranks, shape.ranks);
  schedules::algorithm_arguments first = shape;
  first.rank = 0;
  how.emit(first, to);
  into.end_rank();
  return into.finish();
}

int peer_of_alike(likeness ranks, int count, const operation& message) {
  const int tag = static_cast<int>(message.tag);
  return message.kind == operation_kind::send || ranks == likeness::exchanging ? tag : count - tag;
}

}  // namespace weft::simulator
