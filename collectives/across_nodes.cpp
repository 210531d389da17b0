#include "across_nodes.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "prepared_calls.hpp"
#include "process.hpp"

namespace weft::detail {
namespace {

std::vector<int> chosen(std::span<const int> of, std::span<const int> indices) {
  std::vector<int> all;
  for (const int each : indices) all.push_back(of[static_cast<std::size_t>(each)]);
  return all;
}

std::vector<int> firsts(const node_layout& layout) {
  std::vector<int> all;
  for (const auto& each : layout.members) all.push_back(each.front());
  return all;
}

std::vector<int> processes_of(std::span<const fabric::arena_boards::seat> seats) {
  std::vector<int> all;
  for (const auto& each : seats) all.push_back(each.process);
  return all;
}

}  // namespace

node_layout::node_layout(std::span<const int> processes, std::span<const int> nodes) {
  std::vector<int> number(nodes.size(), -1);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    int& known = number[static_cast<std::size_t>(nodes[static_cast<std::size_t>(processes[i])])];
    if (known < 0) {
      known = static_cast<int>(members.size());
      members.emplace_back();
    }
    in_rows = in_rows && known + 1 == static_cast<int>(members.size());
    auto& its = members[static_cast<std::size_t>(known)];
    node.push_back(known);
    seat.push_back(static_cast<int>(its.size()));
    its.push_back(static_cast<int>(i));
  }
}

std::unique_ptr<across_nodes> across_nodes::of(process& host, std::uint64_t communicator, node_layout layout,
                                               std::span<const fabric::arena_boards::seat> seats,
                                               std::span<const int> leaders, int here) {
  if (!host.settings().node || host.settings().check) return nullptr;
  const auto has_board = [&](int process) {
    return node_road::is_board(seats[static_cast<std::size_t>(process)].ticket);
  };
  bool any = false;
  for (const auto& each : layout.members) {
    if (each.size() == 1) continue;
    if (!std::ranges::all_of(each, has_board)) return nullptr;
    any = true;
  }
  if (!any) return nullptr;
  return std::make_unique<across_nodes>(host, communicator, std::move(layout), seats, leaders, here);
}

across_nodes::across_nodes(process& host, std::uint64_t communicator, node_layout layout,
                           std::span<const fabric::arena_boards::seat> seats, std::span<const int> leaders, int here)
    : host_(host),
      layout_(std::move(layout)),
      here_(here),
      node_(layout_.node[static_cast<std::size_t>(here)]),
      node_ranks_(chosen(leaders, layout_.members[static_cast<std::size_t>(node_)])),
      between_(host, chosen(leaders, firsts(layout_)), chosen(processes_of(seats), firsts(layout_)), node_) {
  const auto& mine = layout_.members[static_cast<std::size_t>(node_)];
  if (mine.size() == 1) return;
  std::vector<fabric::arena_boards::seat> of_node;
  for (const int each : mine) of_node.push_back(seats[static_cast<std::size_t>(each)]);
  road_ = std::make_unique<node_road>(host, communicator, of_node, node_ranks_,
                                      static_cast<std::size_t>(layout_.seat[static_cast<std::size_t>(here)]));
}

fabric::board_ticket across_nodes::board() const noexcept {
  return road_ != nullptr ? road_->board() : fabric::board_ticket();
}

bool across_nodes::takes(collective what, const request& call) const noexcept {
  switch (what) {
    case collective::barrier:
      return true;
    case collective::broadcast:
    case collective::reduce:
    case collective::allreduce:
      return call.element_bytes <= fabric::arena_slot_bytes &&
             (layout_.in_rows || custom_of(call.custom) != custom_operator::keeps_order);
    default:
      return false;
  }
}

/// One call, in stages. Where an operator has thrown the stages behind it are gone through all the same.
class across_nodes::run_of_call {
 public:
  run_of_call(across_nodes& on, const leader_call& call, fabric::participant& member,
              const schedules::selection_parameters& selection)
      : on_(on), call_(call), member_(member), selection_(selection), missing_(call.poisoned) {}

  leader_result run() {
    switch (call_.what) {
      case collective::broadcast:
        broadcast();
        break;
      case collective::reduce:
        reduce();
        break;
      case collective::allreduce:
        allreduce();
        break;
      default:
        barrier();
        break;
    }
    return std::move(result_);
  }

 private:
  bool speaks() const { return on_.layout_.seat[static_cast<std::size_t>(on_.here_)] == 0; }
  int root_node() const { return on_.layout_.node[static_cast<std::size_t>(call_.root)]; }
  int root_seat() const { return on_.layout_.seat[static_cast<std::size_t>(call_.root)]; }
  bool is_root() const { return on_.here_ == call_.root; }
  bool root_is_here() const { return on_.node_ == root_node(); }

  leader_call stage(collective what, int root, const std::byte* in, std::byte* out) const {
    leader_call one = call_;
    one.what = what;
    one.root = root;
    one.in = in;
    one.out = out;
    one.poisoned = missing_;
    return one;
  }

  /// Whether the next stage is to follow: the communicator has not failed.
  bool take(leader_result found) {
    missing_ = found.poisoned;
    const bool goes_on = found.failure == nullptr || found.poisoned != nullptr;
    if (found.failure != nullptr && result_.failure == nullptr) result_ = std::move(found);
    return goes_on;
  }
  bool on_node(const leader_call& call) { return on_.road_ == nullptr || take(on_.road_->run(call, member_)); }
  bool between(const leader_call& call) { return !speaks() || take(on_.between_.run(call, member_, selection_)); }

  void barrier() {
    if (!on_node(stage(collective::reduce, 0, nullptr, nullptr))) return;  // of nothing: the first awaits all
    if (!between(stage(collective::barrier, 0, nullptr, nullptr))) return;
    on_node(stage(collective::broadcast, 0, nullptr, nullptr));
  }

  void broadcast() {
    if (root_is_here() && !on_node(stage(collective::broadcast, root_seat(), call_.in, call_.out))) return;
    if (!between(stage(collective::broadcast, root_node(), is_root() ? call_.in : call_.out, call_.out))) return;
    if (!root_is_here()) on_node(stage(collective::broadcast, 0, call_.out, call_.out));
  }

  void allreduce() {
    if (!on_node(stage(collective::reduce, 0, call_.in, call_.out))) return;
    const std::byte* const of_node = on_.road_ != nullptr ? call_.out : call_.in;
    if (!between(stage(collective::allreduce, 0, of_node, call_.out))) return;
    on_node(stage(collective::broadcast, 0, call_.out, call_.out));
  }

  void reduce() {
    aligned_bytes scratch;
    std::byte* target = call_.out;
    if (speaks() && !is_root() && call_.count != 0) {
      scratch = make_aligned_bytes(call_.count * call_.of->element_bytes);
      target = scratch.get();
    }
    if (!on_node(stage(collective::reduce, 0, call_.in, target))) return;
    const std::byte* const of_node = on_.road_ != nullptr ? target : call_.in;
    if (!between(stage(collective::reduce, root_node(), of_node, target))) return;
    if (root_is_here() && root_seat() != 0) hand_over(target);
  }

  /// From the process that speaks for the root's node to the root.
  void hand_over(const std::byte* from) {
    leader_call last = stage(collective::gather, root_seat(), from, call_.out);
    last.counts.assign(on_.node_ranks_.size(), 0);
    last.counts[0] = call_.count;
    on_node(last);
  }

  across_nodes& on_;
  const leader_call& call_;
  fabric::participant& member_;
  const schedules::selection_parameters& selection_;
  std::shared_ptr<const fabric::poison> missing_;  // why this process has nothing for the next stage
  leader_result result_;
};

leader_result across_nodes::run(const leader_call& call, fabric::participant& member,
                                const schedules::selection_parameters& selection) {
  try {
    return run_of_call(*this, call, member, selection).run();
  } catch (const std::bad_alloc&) {
    return {host_.break_communicator(member), nullptr};
  }
}

}  // namespace weft::detail
