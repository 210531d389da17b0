// What a job has to know of itself and its launcher did not say.
#pragma once

#include <memory>
#include <optional>
#include <weft/runtime/launch.hpp>

namespace weft {

/// A rendezvous that answered, and where its launcher says that this process is.
struct met_job {
  std::unique_ptr<store> rendezvous;
  std::optional<node_place> place;
};

/// Gives a job whose launcher has none a number and a secret: process 0 draws them. Where the launcher does not say
/// which processes share a node, they exchange that, too. Blocks until all processes are here. Throws as a store does.
joined_job identify(met_job met, store::clock::time_point deadline);

}  // namespace weft
