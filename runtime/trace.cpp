// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <new>
#include <utility>
#include <weft/runtime/trace.hpp>

namespace weft::trace {

constinit thread_local track* current_track = nullptr;

track::track(const recorder& of, std::string name, int rank, std::size_t records)
    : of_(of),
      name_(std::move(name)),
      rank_(rank),
      mask_(records - 1),
      ring_(std::make_unique<line[]>(records)) {}  // written at once, so that no page is missing later

recorder::recorder(int first_rank, int ranks, std::size_t track_bytes)
    : records_(std::bit_floor(std::max(track_bytes / sizeof(record), std::size_t{1}))),
      home_(ranks == 1 ? &current_track : nullptr) {
  for (int i = 0; i < ranks; ++i)
    ranks_.push_back(
        std::make_unique<track>(*this, "rank " + std::to_string(first_rank + i), first_rank + i, records_));
}

track& recorder::of_thread(const std::string& name) {
  const std::lock_guard lock(lock_);
  const auto found = std::ranges::find(added_, name, [](const auto& each) { return each->name(); });
  if (found != added_.end()) return **found;
  added_.push_back(std::make_unique<track>(*this, name, -1, records_));
  return *added_.back();
}

track* recorder::lend() noexcept {
  const std::lock_guard lock(lock_);
  try {
    if (free_.empty()) {
      if (lent_.size() == most_lent) return nullptr;
      free_.reserve(most_lent);  // giving back needs no memory
      lent_.push_back(std::make_unique<track>(*this, "thread " + std::to_string(lent_.size() + 1), -1, records_));
      return lent_.back().get();
    }
  } catch (const std::bad_alloc&) {
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
