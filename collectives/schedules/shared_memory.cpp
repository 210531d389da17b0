#include "shared_memory.hpp"

#include <stdexcept>
#include <string>
#include <weft/patterns/prefix.hpp>
#include <weft/patterns/reduce_scatter.hpp>

#include "arguments.hpp"
#include "groups.hpp"
#include "recording_party.hpp"

namespace weft::schedules {
namespace {

using patterns::range;

/// In every round each rank hears of every other one: what is recorded grows with their number.
constexpr int most_ranks = 1 << 14;

/// What of a recorded call follows from its pattern: as many pieces as segments.
recorded_call call_of(const algorithm_arguments& of, collective what, memory_pattern by) {
  const std::size_t ranks = static_cast<std::size_t>(of.ranks), segments = of.by.segments;
  recorded_call call{what, of.ranks, of.rank, of.root, what == collective::barrier ? 0 : segments};
  switch (by) {
    case memory_pattern::by_shares:  // room for a piece of a block a share, and a share: see piece_by_shares
      call.count = segments * ranks;
      call.room = 2 * ranks + 3;
      break;
    case memory_pattern::in_place:
      call.mapped.assign(ranks, true);
      [[fallthrough]];
    case memory_pattern::single_copy:
      if (!has_blocks(what)) call.count = segments * ranks;
      break;
    case memory_pattern::in_parts:
      call.room = ranks;
      break;
    default:
      break;
  }
  return call;
}

class pattern_call {
 public:
  pattern_call(const algorithm_arguments& of, collective what, memory_pattern by)
      : of_(of), what_(what), by_(by), call_(call_of(of, what, by)), party_(call_) {}

  void emit(sink& to) {
    run();
    party_.emit(to);
  }

 private:
  void run() {
    switch (what_) {
      case collective::barrier:
        return barrier();
      case collective::allreduce:
        return reduce(patterns::everyone);
      case collective::reduce:
        return reduce(patterns::only(root()));
      case collective::broadcast:
        return broadcast();
      case collective::reduce_scatter:
        return reduce_scatter();
      case collective::scan:
      case collective::exscan:
        return scan();
      case collective::gather:
        return move(patterns::moving::gather);
      case collective::scatter:
        return move(patterns::moving::scatter);
      case collective::allgather:
        return move(patterns::moving::allgather);
      case collective::alltoall:
        if (by_ != memory_pattern::in_parts) return move(patterns::moving::alltoall);
        patterns::alltoall_in_parts(party_);
    }
  }

  std::size_t root() const { return static_cast<std::size_t>(of_.root); }

  void barrier() {
    if (by_ == memory_pattern::through_first)
      patterns::barrier_of_first(party_);
    else if (by_ == memory_pattern::in_groups)
      in_groups();
    else
      patterns::reduce_at_once(party_, {}, patterns::everyone);
  }

  void in_groups() {
    std::vector<std::vector<int>> groups = of_.groups;
    if (groups.empty()) groups = {everybody(of_.ranks, 0).ranks};
    const grouped_rank at(groups, of_.rank);
    std::vector<std::size_t> beside, across;
    for (const int rank : at.within().ranks) beside.push_back(static_cast<std::size_t>(rank));
    for (const int rank : at.across([&](int size) { return at.place() % size; }).ranks)
      across.push_back(static_cast<std::size_t>(rank));
    const auto is_across = [&](std::size_t member) {
      const auto other = static_cast<int>(member);
      return at.group_of(other) != at.group() && at.place_of(other) % at.within().size() == at.place();
    };
    const auto piece = [&](range of) { return patterns::allreduce_in_groups(party_, beside, across, is_across, of); };
    if (call_.count == 0)
      piece({});
    else
      patterns::in_pieces(party_, 0, call_.count, piece);
  }

  template <class Takes>
  void reduce(Takes takes) {
    const auto at_once = [&](range piece) { return patterns::reduce_at_once(party_, piece, takes); };
    switch (by_) {
      case memory_pattern::in_groups:
        return in_groups();
      case memory_pattern::by_shares:
      case memory_pattern::in_place:
        patterns::reduce_telling(party_, call_.count, false, takes, at_once);
        return;
      case memory_pattern::single_copy:
        patterns::reduce_by_reading(party_, call_.count, takes);
        return;
      default:
        patterns::in_pieces(party_, 0, call_.count, at_once);
    }
  }

  void broadcast() {
    if (by_ == memory_pattern::at_once)
      patterns::in_pieces(party_, 0, call_.count,
                          [&](range piece) { return patterns::broadcast_at_once(party_, root(), piece); });
    else
      patterns::broadcast_telling(party_, root(), call_.count, by_ == memory_pattern::single_copy);
  }

  void reduce_scatter() {
    if (by_ == memory_pattern::in_parts)
      patterns::reduce_scatter_in_parts(party_);
    else if (by_ == memory_pattern::single_copy)
      patterns::reduce_scatter_by_reading(party_);
    else
      patterns::reduce_scatter_in_pieces(party_, call_.count * party_.size());
  }

  void scan() {
    const bool exclusive = what_ == collective::exscan;
    if (by_ == memory_pattern::pipelined)
      patterns::scan_in_pieces(party_, exclusive, call_.count);
    else
      patterns::scan_at_once(party_, exclusive, call_.count);
  }

  void move(patterns::moving what) {
    patterns::block_moves moves(party_, what, root());
    if (by_ == memory_pattern::single_copy)
      moves.by_reading();
    else
      moves.in_pieces();
  }

  const algorithm_arguments& of_;
  const collective what_;
  const memory_pattern by_;
  const recorded_call call_;
  recording_party party_;
};

}  // namespace

void emit_pattern(const algorithm_arguments& of, collective what, memory_pattern by, sink& to) {
  check_pipeline(of.by);
  check_rank(of.ranks, of.rank, "rank");
  if (of.ranks > most_ranks)
    throw std::invalid_argument("ranks is " + std::to_string(of.ranks) +
                                ", but those of a pattern of shared memory are " + "on one node: at most " +
                                std::to_string(most_ranks));
  check_rank(of.ranks, of.root, "root");
  pattern_call(of, what, by).emit(to);
}

}  // namespace weft::schedules
