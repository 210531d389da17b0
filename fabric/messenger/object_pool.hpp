// SPDX-License-Identifier: Apache-2.0
// Objects that are used again and again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace weft::fabric {

/// What comes back is kept for the next use, so that a steady state of so many allocates nothing; and more objects can
/// be reserved beforehand. One thread at a time.
template <class T>
class object_pool {
 public:
  /// Of those that were not reserved so many are kept at most.
  explicit object_pool(std::size_t most_kept = 512) noexcept : most_kept_(most_kept) {}

  /// One that came back, as it was left, or a new one made of `arguments`, by which all are alike. Throws what that
  /// throws, std::bad_alloc.
  template <class... Arguments>
  std::unique_ptr<T> take(const Arguments&... arguments) {
    if (spare_.empty()) add(arguments...);
    auto taken = std::move(spare_.back());
    spare_.pop_back();
    return taken;
  }
  void keep(std::unique_ptr<T> used) noexcept {
    if (made_ > std::max(reserved_, most_kept_))
      --made_;
    else
      spare_.push_back(std::move(used));
  }

  /// So many can be in use at a time from now on without an allocation. Throws as `take`.
  template <class... Arguments>
  void reserve(std::size_t all, const Arguments&... arguments) {
    while (made_ < all) add(arguments...);
    reserved_ = std::max(reserved_, all);
  }
  /// No more than so many need be kept, beside a few.
  void trim(std::size_t all) noexcept {
    reserved_ = all;
    for (all = std::max(all, std::min(most_spare, most_kept_)); made_ > all && !spare_.empty(); --made_)
      spare_.pop_back();
  }

 private:
  static constexpr std::size_t most_spare = 64;  // when a reservation has ended

  template <class... Arguments>
  void add(const Arguments&... arguments) {
    auto made = std::make_unique<T>(arguments...);
    if (spare_.capacity() == made_) spare_.reserve(2 * made_ + 16);
    spare_.push_back(std::move(made));
    ++made_;
  }

  std::size_t most_kept_;
  std::vector<std::unique_ptr<T>> spare_;  // has room for all that were made
  std::size_t made_ = 0;                   // and not deleted
  std::size_t reserved_ = 0;
};

}  // namespace weft::fabric
