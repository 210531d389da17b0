// SPDX-License-Identifier: Apache-2.0
// First in, first out, for each key.
#pragma once

#include <algorithm>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace weft::fabric {

/// What a message is matched by. In receives either part may be a wildcard, which here is a value like any other.
struct match_key {
  int source = 0;
  std::uint64_t tag = 0;
  friend bool operator==(const match_key&, const match_key&) = default;
};

/// A hash table of queues: each key's items in the order in which they were pushed. Items are linked through their
/// member `Hook`, never copied or owned; queues are recycled, so that a steady state allocates nothing. All calls take
/// constant time.
template <class T, boost::intrusive::list_member_hook<> T::*Hook>
class fifo_index {
 public:
  using list = boost::intrusive::list<T, boost::intrusive::member_hook<T, boost::intrusive::list_member_hook<>, Hook>,
                                      boost::intrusive::constant_time_size<false>>;

  fifo_index() = default;
  ~fifo_index() {
    for (queue* chain : buckets_)
      for (; chain != nullptr; chain = chain->next) chain->items.clear();
  }
  fifo_index(const fifo_index&) = delete;
  fifo_index& operator=(const fifo_index&) = delete;

  bool empty() const noexcept { return queues_ == 0; }

  /// Items of so many keys can be here at a time without an allocation.
  void reserve(std::size_t keys) {
    owned_.reserve(keys);
    while (owned_.size() < keys) {
      owned_.push_back(std::make_unique<queue>());
      owned_.back()->next = free_;
      free_ = owned_.back().get();
    }
    while (buckets_.size() < keys) grow();
  }

  void push(const match_key& key, T& item) {
    if (latest_ == nullptr || latest_->key != key) {
      latest_ = find(key);
      if (latest_ == nullptr) latest_ = add(key);
    }
    latest_->items.push_back(item);
  }

  /// The first item of `key`, or null.
  T* front(const match_key& key) noexcept {
    queue* found = find(key);
    return found == nullptr ? nullptr : &found->items.front();
  }

  /// Takes out the first item of `key`. Null: there is none.
  T* take(const match_key& key) noexcept {
    if (latest_ != nullptr && latest_->key == key)
      if (T* const first = &latest_->items.front(); first != &latest_->items.back()) {  // its queue stays
        latest_->items.pop_front();
        return first;
      }
    for (queue** at = &bucket(key); *at != nullptr; at = &(*at)->next) {
      if ((*at)->key != key) continue;
      list& items = (*at)->items;
      T& first = items.front();
      items.pop_front();
      if (items.empty()) recycle(at);
      return &first;
    }
    return nullptr;
  }

  /// Takes out `item`, which was pushed under `key`.
  void erase(const match_key& key, T& item) noexcept {
    for (queue** at = &bucket(key); *at != nullptr; at = &(*at)->next) {
      if ((*at)->key != key) continue;
      (*at)->items.erase(list::s_iterator_to(item));
      if ((*at)->items.empty()) recycle(at);
      return;
    }
  }

 private:
  struct queue {
    match_key key;
    queue* next = nullptr;
    list items;
  };

  static std::size_t hash(const match_key& key) noexcept {
    std::uint64_t mixed =
        (key.tag ^ (static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.source)) << 32 | 0x9e3779b9u)) *
        0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(mixed ^ (mixed >> 29));
  }
  queue*& bucket(const match_key& key) noexcept { return buckets_[(hash(key) >> 3) & (buckets_.size() - 1)]; }

  queue* find(const match_key& key) noexcept {
    queue* found = bucket(key);
    while (found != nullptr && found->key != key) found = found->next;
    return found;
  }

  [[gnu::noinline]] queue* add(const match_key& key) {
    if (queues_ >= buckets_.size()) grow();
    if (free_ == nullptr) {
      owned_.push_back(std::make_unique<queue>());
      free_ = owned_.back().get();
    }
    queue* taken = free_;
    free_ = taken->next;
    queue*& first = bucket(key);
    taken->key = key;
    taken->next = first;
    first = taken;
    ++queues_;
    return taken;
  }

  void recycle(queue** at) noexcept {
    queue* emptied = *at;
    *at = emptied->next;
    if (emptied == latest_) latest_ = nullptr;
    emptied->next = free_;
    free_ = emptied;
    --queues_;
  }

  void grow() {
    const std::size_t more = std::max(buckets_.size() * 2, least_allocated);
    const std::unique_ptr<queue*[]> before = std::exchange(allocated_, std::make_unique<queue*[]>(more));
    const std::span<queue*> old = std::exchange(buckets_, {allocated_.get(), more});
    for (queue* chain : old) {
      while (chain != nullptr) {
        queue* moved = chain;
        chain = chain->next;
        queue*& first = bucket(moved->key);
        moved->next = first;
        first = moved;
      }
    }
  }

  static constexpr std::size_t least_allocated = 16;

  // For one key at a time there is room here: most of a rank's tables stay empty, and a process may have 10,000 ranks.
  queue* only_ = nullptr;
  std::unique_ptr<queue*[]> allocated_;
  std::span<queue*> buckets_{&only_, 1};
  std::vector<std::unique_ptr<queue>> owned_;
  queue* free_ = nullptr;
  queue* latest_ = nullptr;  // that was pushed to, while it is there: messages of a kind come one after the other
  std::size_t queues_ = 0;
};

}  // namespace weft::fabric
