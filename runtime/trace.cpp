// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <exception>
#include <utility>
#include <weft/runtime/trace.hpp>

namespace weft::trace {

constinit thread_local track* current_track = nullptr;

track::track(const recorder& of, std::string name, int rank, std::size_t records, memory_charge charge)
    : of_(of),
      name_(std::move(name)),
      rank_(rank),
      charge_(std::move(charge)),
      mask_(records - 1),
      ring_(std::make_unique<line[]>(records)) {}  // written at once, so that no page is missing later

recorder::recorder(int first_rank, int ranks, std::size_t track_bytes, std::shared_ptr<memory_budget> memory)
    : records_(std::bit_floor(std::max(track_bytes / sizeof(record), std::size_t{1}))),
      memory_(std::move(memory)),
      home_(ranks == 1 ? &current_track : nullptr) {
  for (int i = 0; i < ranks; ++i)
    ranks_.push_back(make("rank " + std::to_string(first_rank + i), first_rank + i, memory_use::call));
}

std::unique_ptr<track> recorder::make(const std::string& name, int rank, memory_use use) const {
  return std::make_unique<track>(*this, name, rank, records_,
                                 memory_charge(memory_, records_ * sizeof(record), "the records of a trace", use));
}

track& recorder::of_thread(const std::string& name) {
  const std::lock_guard lock(lock_);
  const auto found = std::ranges::find(added_, name, [](const auto& each) { return each->name(); });
  if (found != added_.end()) return **found;
  added_.push_back(make(name, -1, memory_use::arrival));  // threads of weft's: few, that cannot do without
  return *added_.back();
}

track* recorder::lend() noexcept {
  const std::lock_guard lock(lock_);
  try {
    if (free_.empty()) {
      if (lent_.size() == most_lent) return nullptr;
      free_.reserve(most_lent);  // giving back needs no memory
      lent_.push_back(make("thread " + std::to_string(lent_.size() + 1), -1, memory_use::spare));
      return lent_.back().get();
    }
  } catch (const std::exception&) {  // weft::error, std::bad_alloc
    return nullptr;
  }
  track* const taken = free_.back();
  free_.pop_back();
  return taken;
}

void recorder::give_back(track& lent) noexcept {
  const std::lock_guard lock(lock_);
  if (std::ranges::any_of(lent_, [&](const auto& each) { return each.get() == &lent; })) free_.push_back(&lent);
}

std::vector<const track*> recorder::all() const {
  const std::lock_guard lock(lock_);
  std::vector<const track*> found;
  for (const auto* some : {&ranks_, &added_, &lent_})
    for (const auto& each : *some) found.push_back(each.get());
  return found;
}

ticks note_wait(ticks since, int peer) noexcept {
  track* const on = current_track;
  if (since == 0 || on == nullptr) return 0;
  record& its = on->next();
  its = record();
  its.what = kind::wait;
  its.name = "wait";
  its.begin = since;
  const ticks now = ticks_now();
  its.end = now;
  its.peer = peer;
  on->add();
  return now;
}

void part::begin(kind what, const char* name, std::uint64_t bytes, int peer) noexcept {
  new (&its_) record;
  its_.what = what;
  its_.name = name;
  its_.bytes = bytes;
  its_.peer = peer;
  its_.begin = ticks_now();
}

void part::end() noexcept {
  its_.end = ticks_now();
  if (current_track != nullptr) current_track->add(its_);
}

}  // namespace weft::trace
