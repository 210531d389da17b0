#include <weft/schedules/dissemination_barrier.hpp>

#include "arguments.hpp"
#include "emitter.hpp"

namespace weft::schedules {

void dissemination_barrier(int ranks, int rank, sink& to) {
  check_rank(ranks, rank, "rank");
  emitter emit(to, {});
  step_index heard = no_step;
  for (long long distance = 1; distance < ranks; distance *= 2) {
    emit.notify(static_cast<int>((rank + distance) % ranks), {heard});
    heard = emit.await(static_cast<int>((rank + ranks - distance) % ranks), {});
  }
}

}  // namespace weft::schedules
