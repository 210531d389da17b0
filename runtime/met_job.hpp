// SPDX-License-Identifier: Apache-2.0
// A job whose launcher is not `weft run`: its rendezvous over PMI or PMIx, and what the launcher leaves unsaid.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <weft/runtime/launch.hpp>

#include "pmi_client.hpp"

namespace weft {

/// A rendezvous that answered, and where its launcher says that this process is.
struct met_job {
  std::unique_ptr<store> rendezvous;
  std::optional<node_place> place;
};

// PMI: MPICH's hydra, Slurm's `srun --mpi=pmi2`.

/// Joins the job; exchanged_store says how the store differs from others. A store that ends without `leave` lets the
/// manager end the job when this process exits. Blocks until the manager has answered. Throws as pmi_client does, with
/// errc::no_rendezvous when it does not answer before the deadline.
met_job connect_pmi_store(const pmi_environment& started, store::clock::time_point deadline);

/// Where the launcher says that the process is; nothing when it does not. Throws errc::protocol for what was cut.
std::optional<node_place> place_by(pmi_client& manager, const pmi_environment& started,
                                   pmi_client::time_point deadline);

// PMIx: Open MPI's mpirun, `srun --mpi=pmix`.

/// Joins the job; exchanged_store says how the store differs from others. A store that ends without `leave` lets the
/// launcher end the job when this process exits. Blocks until the launcher has answered. Throws as pmix_client does,
/// and errc::no_rendezvous where weft was built without PMIx.
met_job connect_pmix_store(const pmix_environment& started, store::clock::time_point deadline);

/// What a launcher says of the job and of itself.
struct launcher_greeting {
  int process = 0;
  int processes = 1;
  std::optional<node_place> place;  ///< nothing: it does not say
  std::string rendezvous;           ///< "PMIx, which answers: OpenPMIx 4.2.2"
};

/// Greets the launcher and takes leave of it. Throws as connect_pmix_store does.
launcher_greeting greet_pmix(const pmix_environment& started, store::clock::time_point deadline);

/// Gives a job whose launcher has none a number and a secret: process 0 draws them. Where the launcher does not say
/// which processes share a node, they exchange that, too. Blocks until all processes are here. Throws as a store does.
joined_job identify(met_job met, store::clock::time_point deadline);

// Either.

/// Joins the job of the launcher that started this process; nothing where none but `weft run` did. Blocks until all its
/// processes are here. Throws what the store over PMI or PMIx does, with the launcher and a remedy, and
/// errc::no_rendezvous where the launcher offers neither, or weft was built without PMI.
std::optional<joined_job> join_met_job(store::clock::time_point deadline, const environment& variables);

/// Greets that launcher and takes leave of it. Throws as join_met_job does.
std::optional<launcher_greeting> greet_launcher(store::clock::time_point deadline, const environment& variables);

}  // namespace weft
