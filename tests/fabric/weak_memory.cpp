// SPDX-License-Identifier: Apache-2.0
#include "fabric/weak_memory.hpp"

#include <algorithm>
#include <exception>
#include <runtime/sanitizer.hpp>
#include <string_view>

namespace weft_test {
namespace {

constexpr std::size_t watched_bytes = 8;  // are one place
constexpr std::size_t stack_bytes = 64 << 10;

/// Stacks are used again: to make one takes as long as a short run.
weft::stack_pool& stacks() {
  static weft::stack_pool pool(stack_bytes);
  return pool;
}

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

}  // namespace

bool weak_memory::are_same(const site& one, const site& other) noexcept {
  return one.line() == other.line() && std::string_view(one.file_name()) == other.file_name();
}

void weak_memory::join(times& mine, const times& its) noexcept {
  for (std::size_t i = 0; i < most_threads; ++i) mine[i] = std::max(mine[i], its[i]);
}

void weak_memory::view::join(const view& its) noexcept {
  weak_memory::join(happened, its.happened);
  weak_memory::join(fenced, its.fenced);
  fence = std::max(fence, its.fence);
}

weak_memory::weak_memory(std::uint64_t seed, std::optional<site> weakened)
    : random_(seed), weakened_(std::move(weakened)), steady_(std::size_t{1} << random_.below(7)) {}

weak_memory::~weak_memory() {
  for (thread& each : threads_) {
    each.own.reset();
    weft::sanitizer::unpoison(each.memory.bottom(), each.memory.size());  // it may have been left in the middle
    stacks().give(std::move(each.memory));
  }
}

void weak_memory::watch(const void* begin, std::size_t bytes, std::size_t stride, const std::string& name) {
  watched_.push_back({static_cast<const std::byte*>(begin), bytes, stride, name});
}

std::string weak_memory::run(const std::vector<std::function<void()>>& bodies) {
  threads_ = std::vector<thread>(bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    thread& each = threads_[i];
    each.body = &bodies[i];
    each.memory = stacks().take();
    each.own.emplace(each.memory.bottom(), each.memory.top(), &begin_thread, this);
  }
  home_.emplace();
  running_now = this;
  current_ = random_.below(threads_.size());
  home_->switch_to(*self().own);
  running_now = nullptr;
  return wrong_;
}

void weak_memory::begin_thread(void* machine) {
  weak_memory& of = *static_cast<weak_memory*>(machine);
  try {
    (*of.self().body)();
  } catch (const std::exception& thrown) {
    of.wrong_ = "a thread throws: " + std::string(thrown.what());
  }
  if (!of.wrong_.empty()) of.leave();
  of.self().ended = true;
  if (std::ranges::all_of(of.threads_, [](const thread& each) { return each.ended; }))
    of.self().own->leave_for(*of.home_);
  of.go_on(false);
  std::terminate();
}

void weak_memory::fail(const char* why) {
  wrong_ = "thread " + std::to_string(current_) + " " + why;
  leave();
}

void weak_memory::leave() noexcept { self().own->leave_for(*home_); }

void weak_memory::go_on(bool with_self) {
  std::array<std::size_t, most_threads> can{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < threads_.size(); ++i)
    if (!threads_[i].ended && threads_[i].sleeps_on == nullptr && (with_self || i != current_)) can[count++] = i;
  if (count == 0) {
    if (!self().ended && self().sleeps_on == nullptr) return;
    fail("is the last to sleep, or to end while others sleep: nobody wakes them");
  }
  const std::size_t next = can[random_.below(count)];
  if (next == current_) return;
  thread& from = self();
  current_ = next;
  if (from.ended) from.own->leave_for(*self().own);
  from.own->switch_to(*self().own);
}

void weak_memory::take_turn() {
  if (++steps_ > most_steps) fail("comes to no end");
  if (random_.one_in(steady_)) go_on(true);
}

void weak_memory::give_way() {
  if (++steps_ > most_steps) fail("comes to no end");
  go_on(false);
}

std::memory_order weak_memory::order_at(const site& where, std::memory_order order) {
  if (order == std::memory_order_relaxed) return order;
  if (weakened_ && are_same(where, *weakened_)) return std::memory_order_relaxed;
  if (std::ranges::none_of(sites_, [&](const site& each) { return are_same(each, where); })) sites_.push_back(where);
  return order;
}

weak_memory::place& weak_memory::place_at(const void* at, std::uint64_t bits) {
  place& found = places_[at];
  if (found.stores.empty()) found.stores.push_back({bits, {}});
  return found;
}

std::size_t weak_memory::earliest_found(const place& of, bool in_order) const {
  const view& now = threads_[current_].now;
  std::size_t earliest = 0;
  for (const look& each : of.looks) {
    if (each.index <= earliest) continue;
    const bool known = each.time <= now.happened[each.thread] || each.time <= now.fenced[each.thread] ||
                       (each.in_order != 0 && (in_order || each.in_order <= now.fence)) ||
                       (in_order && each.time <= fenced_[each.thread]);
    if (known) earliest = each.index;
  }
  return earliest;
}

std::size_t weak_memory::draw_store(const place& of, std::size_t earliest) {
  const std::size_t newest = of.stores.size() - 1;
  return random_.one_in(2) ? newest : earliest + random_.below(newest - earliest + 1);
}

void weak_memory::note_look(place& of, std::size_t index, bool in_order) {
  const std::uint64_t number = in_order ? ++order_ : 0;
  if (number == 0)
    for (auto each = of.looks.rbegin(); each != of.looks.rend(); ++each)
      if (each->thread == current_) {
        if (each->index == index) return;  // what that look forbids this one does, and more
        break;
      }
  of.looks.push_back({current_, self().now.happened[current_], index, number});
}

std::uint64_t weak_memory::load(const void* at, std::uint64_t bits, std::memory_order order, const site& where) {
  order = order_at(where, order);
  place& of = place_at(at, bits);
  thread& mine = self();
  of.loaded[current_] = ++mine.now.happened[current_];
  check_order(of.written, at, "looks at what is being written");
  const bool in_order = order == std::memory_order_seq_cst;
  const std::size_t index = draw_store(of, earliest_found(of, in_order));
  note_look(of, index, in_order);
  (acquires(order) ? mine.now : mine.offered).join(of.stores[index].handed);
  return of.stores[index].value;
}

void weak_memory::store(const void* at, std::uint64_t bits, std::uint64_t value, std::memory_order order,
                        const site& where) {
  order = order_at(where, order);
  place& of = place_at(at, bits);
  thread& mine = self();
  of.changed[current_] = ++mine.now.happened[current_];
  check_order(of.written, at, "changes what is being written");
  check_order(of.read, at, "changes what is being read");
  note_look(of, of.stores.size(), order == std::memory_order_seq_cst);
  of.stores.push_back({value, releases(order) ? mine.now : mine.released});
}

void weak_memory::fence(std::memory_order order, const site& where) {
  order = order_at(where, order);
  thread& mine = self();
  if (acquires(order)) mine.now.join(mine.offered);
  if (order == std::memory_order_seq_cst) {
    join(mine.now.fenced, fenced_);
    join(fenced_, mine.now.happened);
    mine.now.fence = ++order_;
  }
  if (releases(order)) mine.released = mine.now;
}

void weak_memory::check_order(const times& earlier, const void* at, const char* what) {
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (earlier[i] <= self().now.happened[i]) continue;
    wrong_ = "thread " + std::to_string(current_) + " " + what + " by thread " + std::to_string(i) + ": " + name_of(at);
    leave();
  }
}

template <class Each>
void weak_memory::for_watched(const void* begin, std::size_t bytes, Each&& each) {
  const auto* const first = static_cast<const std::byte*>(begin);
  for (const watched& of : watched_) {
    if (bytes == 0 || first < of.begin || first >= of.begin + of.bytes) continue;
    const auto offset = static_cast<std::size_t>(first - of.begin);
    each(of.begin + offset / watched_bytes * watched_bytes);
    for (std::size_t at = (offset / of.stride + 1) * of.stride; at < offset + bytes; at += of.stride)
      each(of.begin + at);
  }
}

void weak_memory::note_read(const void* begin, std::size_t bytes) {
  const std::uint32_t now = ++self().now.happened[current_];
  for_watched(begin, bytes, [&](const std::byte* at) {
    place& of = places_[at];
    of.read[current_] = now;
    check_order(of.written, at, "reads what is being written");
    check_order(of.changed, at, "reads what is being changed");
  });
}

void weak_memory::note_write(const void* begin, std::size_t bytes) {
  const std::uint32_t now = ++self().now.happened[current_];
  for_watched(begin, bytes, [&](const std::byte* at) {
    place& of = places_[at];
    check_order(of.read, at, "writes what is being read");
    check_order(of.written, at, "writes what is being written");
    check_order(of.loaded, at, "writes what is being looked at");
    check_order(of.changed, at, "writes what is being changed");
    of = {};  // all of it happens before this
    of.written[current_] = now;
  });
}

void weak_memory::sleep(const void* at, std::uint64_t bits, std::uint32_t expected) {
  place& of = place_at(at, bits);
  ++self().now.happened[current_];
  const std::size_t index = draw_store(of, std::max(of.woken, earliest_found(of, false)));
  note_look(of, index, false);
  if (static_cast<std::uint32_t>(of.stores[index].value >> 32) != expected) return;
  self().sleeps_on = at;
  go_on(false);
}

void weak_memory::wake(const void* at, std::uint64_t bits) {
  place& of = place_at(at, bits);
  of.woken = std::max(of.woken, earliest_found(of, false));
  for (thread& each : threads_)
    if (each.sleeps_on == at) each.sleeps_on = nullptr;
}

std::string weak_memory::name_of(const void* at) const {
  const auto* const place = static_cast<const std::byte*>(at);
  for (const watched& of : watched_)
    if (place >= of.begin && place < of.begin + of.bytes) return of.name + " + " + std::to_string(place - of.begin);
  return "a word";
}

}  // namespace weft_test
