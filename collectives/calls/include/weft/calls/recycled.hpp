// SPDX-License-Identifier: Apache-2.0
// Memory of objects that begin and end in great numbers.
#pragma once

#include <cstddef>
#include <new>

namespace weft::detail {

/// Base of a class whose objects that end leave their memory to those that begin next on the same thread, up to `most`
/// of them at a time.
template <class Object, std::size_t most>
class recycled {
 public:
  static void* operator new(std::size_t bytes) {
    if (bytes != sizeof(Object) || kept.first == nullptr) return ::operator new(bytes);
    piece* const taken = kept.first;
    kept.first = taken->next;
    --kept.count;
    return taken;
  }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    if (bytes != sizeof(Object) || kept.count >= most) return ::operator delete(memory);
    [[maybe_unused]] static thread_local const at_exit ends;
    kept.first = new (memory) piece{kept.first};
    ++kept.count;
  }

 private:
  struct piece {
    piece* next;
  };
  struct kept_pieces {
    piece* first = nullptr;
    std::size_t count = 0;
  };
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local kept_pieces kept{};

  /// What ends on the thread after this one is kept no more.
  struct at_exit {
    ~at_exit() {
      while (kept.first != nullptr) {
        piece* const last = kept.first;
        kept.first = last->next;
        ::operator delete(last);
      }
      kept.count = most;
    }
  };
};

}  // namespace weft::detail
