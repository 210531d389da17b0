// The rendezvous of a job that a launcher with PMIx started: Open MPI's mpirun, `srun --mpi=pmix`.
#pragma once

#include <string>
#include <weft/runtime/launch.hpp>

#include "identify.hpp"

namespace weft {

/// Joins the job; exchanged_store says how the store differs from others. A store that ends without `leave` lets the
/// launcher end the job when this process exits. Blocks until the launcher has answered. Throws as pmix_client does,
/// and errc::no_rendezvous where weft was built without PMIx.
met_job connect_pmix_store(const pmix_environment& started, store::clock::time_point deadline);

/// What a launcher says of the job and of itself.
struct pmix_greeting {
  int process = 0;
  int processes = 1;
  std::optional<node_place> place;  ///< nothing: it does not say
  std::string version;              ///< "OpenPMIx 4.2.2"
};

/// Greets the launcher and takes leave of it. Throws as connect_pmix_store does.
pmix_greeting greet_pmix(const pmix_environment& started, store::clock::time_point deadline);

}  // namespace weft
