// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <weft/executor/heap_bytes.hpp>
#include <weft/executor/plan_cache.hpp>

namespace weft::detail {
namespace {

/// A plan, and what it is charged for, as long as one of its runs has it.
struct counted_plan {
  std::shared_ptr<const bound_schedule> plan;
  memory_charge charge;
};

}  // namespace

std::shared_ptr<plan_cache::entry> plan_cache::find(const collective_call& call) {
  if (!recent_.empty() && recent_.front()->call == call) return recent_.front();
  const auto found = entries_.find(call);
  if (found == entries_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second);
  return recent_.front();
}

std::shared_ptr<plan_cache::entry> plan_cache::add(const collective_call& call,
                                                   std::shared_ptr<const bound_schedule> plan) {
  auto made = std::make_shared<entry>();
  made->call = call;
  made->fingerprint = fingerprint(call);
  made->bytes = own_bytes(call) + plan->footprint();
  auto charge = memory_charge::attempt(memory_, made->bytes, memory_use::spare);
  for (; !charge && !recent_.empty(); charge = memory_charge::attempt(memory_, made->bytes, memory_use::spare))
    drop_last();
  made->dropped = !charge;
  if (!charge) charge.emplace(memory_, made->bytes, "the plan of a collective by messages");
  const auto counted = std::make_shared<counted_plan>(counted_plan{std::move(plan), std::move(*charge)});
  made->plan = {counted, counted->plan.get()};
  if (made->dropped) return made;
  recent_.push_front(made);
  entries_[call] = recent_.begin();
  used_ += made->bytes;
  shrink();
  return made;
}

std::size_t plan_cache::own_bytes(const collective_call& call) noexcept {
  struct listed {
    void* before;
    void* behind;
    std::shared_ptr<entry> value;
  };
  struct found {
    void* next;
    std::pair<collective_call, order::iterator> value;
  };
  std::size_t counts = 0;
  for (const auto* each : {&call.counts, &call.displacements, &call.received_displacements})
    if (!each->empty()) counts += heap_bytes(each->size() * sizeof each->front());
  if (!call.arrivals.empty()) counts += heap_bytes(call.arrivals.size() * sizeof call.arrivals.front());
  return heap_bytes_shared<entry>() + heap_bytes(sizeof(listed)) + heap_bytes(sizeof(found)) + 2 * counts;
}

void plan_cache::put_back_later(std::unique_ptr<ended_run> ended) noexcept {
  ended_run* const mine = ended.release();
  mine->next = ended_.load(std::memory_order_relaxed);
  // release: who takes it sees all that this thread has done with it. Relaxed where it fails, as the load before it:
  // what was found is not read here.
  while (!ended_.compare_exchange_weak(mine->next, mine, std::memory_order_release, std::memory_order_relaxed))
    continue;
}

void plan_cache::collect_ended() {
  if (ended_.load(std::memory_order_relaxed) == nullptr) return;  // relaxed: what comes later is for the next call
  // acquire: pairs with the release of each that put one there, since those after it continued its release sequence.
  // All are taken at once, so none that is looked at can come back meanwhile.
  ended_run* each = ended_.exchange(nullptr, std::memory_order_acquire);
  while (each != nullptr) {
    const std::unique_ptr<ended_run> one(std::exchange(each, each->next));
    put_back(one->of, std::move(one->run));
  }
}

void plan_cache::delete_all(ended_run* first) noexcept {
  while (first != nullptr) delete std::exchange(first, first->next);
}

void plan_cache::drop_last() noexcept {
  const std::shared_ptr<entry> last = recent_.back();
  used_ -= last->bytes;
  last->in_order.clear();
  last->dataflow.clear();
  last->dropped = true;
  if (noted_ == last) note({}, nullptr);
  entries_.erase(last->call);
  recent_.pop_back();
}

void plan_cache::shrink() noexcept {
  while (used_ > limit_ && recent_.size() > 1) drop_last();
  if (used_ <= limit_ || recent_.empty()) return;
  // The plan itself stays: the next call is likely to be of its shape. What more than one call at a time needs does
  // not.
  entry& only = *recent_.front();
  const auto keep_one = [&](auto& list) {
    for (; used_ > limit_ && list.size() > 1; list.pop_back()) count(only, -bytes_of(*list.back()));
  };
  keep_one(only.in_order);
  keep_one(only.dataflow);
}

}  // namespace weft::detail
