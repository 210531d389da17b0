#include <algorithm>
#include <weft/runtime/coroutine.hpp>
#include <weft/runtime/event.hpp>
#include <weft/runtime/fiber.hpp>
#include <weft/runtime/patience.hpp>
#include <weft/runtime/scheduler.hpp>

namespace weft {

void patience::wait() {
  if (coroutine::leave()) return;
  if (by_.help()) return pause_.reset();
  pause_.pause([this](auto longest, progress* rung_by) {
    if (rung_by != nullptr && fiber::current() == nullptr) return rung_by->sleep_until_rung(longest);
    event never;
    never.wait_until(by_, by_.time().now() + std::min<clock::duration>(longest, backoff::longest_sleep));
  });
  if (fiber::current() != nullptr) scheduler::yield();
}

}  // namespace weft
