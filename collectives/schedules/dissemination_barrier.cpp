#include <vector>
#include <weft/schedules/dissemination_barrier.hpp>

#include "arguments.hpp"
#include "emitter.hpp"

namespace weft::schedules {

void dissemination_barrier(int ranks, int rank, sink& to) {
  check_rank(ranks, rank, "rank");
  emitter emit(to, {});
  std::vector<step_index> heard;
  for (long long distance = 1; distance < ranks; distance *= 2) {
    emit.notify(static_cast<int>((rank + distance) % ranks), heard);
    heard.push_back(emit.await(static_cast<int>((rank + ranks - distance) % ranks)));
  }
}

}  // namespace weft::schedules
