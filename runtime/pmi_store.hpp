// The rendezvous of a job that a process manager with PMI started: MPICH's hydra, Slurm's `srun --mpi=pmi2`.
#pragma once

#include <weft/runtime/launch.hpp>

#include "identify.hpp"
#include "pmi_client.hpp"

namespace weft {

/// Joins the job; exchanged_store says how the store differs from others. A store that ends without `leave` lets the
/// manager end the job when this process exits. Blocks until the manager has answered. Throws as pmi_client does, with
/// errc::no_rendezvous when it does not answer before the deadline.
met_job connect_pmi_store(const pmi_environment& started, store::clock::time_point deadline);

/// Where the launcher says that the process is; nothing when it does not. Throws errc::protocol for what was cut.
std::optional<node_place> place_by(pmi_client& manager, const pmi_environment& started,
                                   pmi_client::time_point deadline);

}  // namespace weft
