#include "plan_cache.hpp"

namespace weft::detail {

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
  made->bytes = plan->footprint();
  made->plan = std::move(plan);
  recent_.push_front(made);
  entries_[call] = recent_.begin();
  used_ += made->bytes;
  shrink();
  return made;
}

void plan_cache::shrink() noexcept {
  while (used_ > limit_ && recent_.size() > 1) {
    const std::shared_ptr<entry> last = recent_.back();
    used_ -= last->bytes;
    last->in_order.clear();
    last->dataflow.clear();
    last->dropped = true;
    entries_.erase(last->call);
    recent_.pop_back();
  }
  if (used_ <= limit_ || recent_.empty()) return;
  // The plan itself stays: the next call is likely to be of its shape. What more than one call at a time needs does
  // not.
  entry& only = *recent_.front();
  for (; used_ > limit_ && only.in_order.size() > 1; count(only, -only.bytes_of_each())) only.in_order.pop_back();
  for (; used_ > limit_ && only.dataflow.size() > 1; count(only, -only.bytes_of_each())) only.dataflow.pop_back();
}

}  // namespace weft::detail
