// SPDX-License-Identifier: Apache-2.0
// How this process was started: by `weft run`, by another launcher, or alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <weft/runtime/launch_description.hpp>
#include <weft/runtime/store.hpp>
#include <weft/runtime/tcp_store.hpp>

namespace weft {

/// The same for all processes of a node: the running kernel's boot id and the network namespace. Two containers of one
/// machine that have a network of their own each are two nodes, since nothing that listens on loopback or on an
/// abstract Unix socket of the one can be reached from the other.
std::string node_identity();

/// Where a process is among those of its job and the nodes that it runs on.
struct node_place {
  int process = 0;    ///< its number among those of its node
  int processes = 1;  ///< how many are on its node
  int node = 0;       ///< the number of its node
  int nodes = 1;      ///< how many nodes there are
};

/// "1 of 2 on node 0 of 3"
std::string to_string(const node_place& place);

/// What `weft run` tells a process in WEFT_JOB, WEFT_PROCESS, WEFT_PROCESSES, WEFT_STORE and WEFT_SECRET, and where
/// there are several nodes in WEFT_PLACE, as "PROCESS,PROCESSES,NODE,NODES". WEFT_LAUNCHER names another launcher that
/// does the same.
struct job_environment {
  int process = 0;
  int processes = 1;
  std::string store_address;
  std::string secret;
  std::uint64_t job = 0;
  node_place place;
  std::string launcher = "weft run";
};

/// Looks up an environment variable; null when it is not set.
using environment = std::function<const char*(const char*)>;

/// This process's own environment.
environment process_environment();

/// Empty where it is not set.
std::string value_of(const environment& variables, const char* name);

/// What `weft run` said, if it started this process. Throws errc::invalid_argument naming the variable when only some
/// of the variables are set, or one cannot be read.
std::optional<job_environment> launched(const environment& variables = process_environment());

/// What a launcher that speaks PMI-1 or PMI-2 tells a process in PMI_FD, PMI_RANK and PMI_SIZE, and perhaps PMI_JOBID.
struct pmi_environment {
  int descriptor = -1;  ///< of the connection to it
  int process = 0;
  int processes = 1;
  std::string job = {};  ///< the launcher's name for it; empty: it does not say
};

/// What a launcher with PMI said, if it started this process as one of several. Throws errc::invalid_argument naming a
/// variable that cannot be read.
std::optional<pmi_environment> pmi_offered(const environment& variables = process_environment());

/// What a launcher that speaks PMIx tells a process in PMIX_NAMESPACE and PMIX_RANK. Where its server is, libpmix finds
/// in this process's own environment.
struct pmix_environment {
  std::string job;   ///< the launcher's name for it
  std::string rank;  ///< the number of this process, which the server says again
};

/// What a launcher with PMIx said, if it started this process as one of several, or of nobody knows how many.
std::optional<pmix_environment> pmix_offered(const environment& variables = process_environment());

/// A launcher that is not `weft run`.
struct foreign_launcher {
  std::string name;  ///< by what it is recognised: "PMI (PMI_SIZE=4)"; empty: there is none
  int tasks = 0;     ///< how many processes it started; 0: it does not say
};

/// Another launcher that started this process as one of several, or of nobody knows how many.
foreign_launcher find_foreign_launcher(const environment& variables = process_environment());

/// Whether this process is part of a job that a launcher started, or that is described.
bool in_job(const environment& variables = process_environment());

/// A job that this process has joined.
struct joined_job {
  std::unique_ptr<store> rendezvous;
  std::uint64_t number = 0;  ///< the same for all its processes, and told apart from other jobs by it
  std::string secret;        ///< known to all its processes; empty when this process is alone
  node_place place;
  std::shared_ptr<void> serves;  ///< what others join by, as long as this lives; null: this process serves nobody
};

/// Whether WEFT_JOB is "static".
bool is_described(const environment& variables = process_environment());

/// What describes the job where it is: the words of the file WEFT_JOB_FILE, or of the kernel's command
/// line. Throws as read_description does, and a system error for a file that cannot be read.
std::optional<launch_description> find_description(const environment& variables = process_environment());

/// Reads words as "weft.hosts=10.0.0.1,10.0.0.2 weft.rank=1 weft.secret=FILE": beside these there are weft.port and
/// weft.job, and options of weft's, as "weft.tune=off". Other words are not weft's. Throws errc::invalid_argument that
/// names `origin` and the word, and a system error where the secret's file cannot be read.
launch_description read_description(const std::string& words, const std::string& origin);

/// Which process of the job this one is. Blocks until this machine has its address. Throws errc::invalid_argument where
/// it has none when the deadline passes, with those that it has, and for what cannot be.
int await_process(const launch_description& job, store::clock::time_point deadline);

/// Joins a job that is described, as process `job.process`. Process 0 serves the rendezvous. Blocks until all are here.
/// Throws errc::no_rendezvous where process 0 has not come before the deadline or refuses, and errc::peer_lost that
/// names another that has not.
joined_job join_described(const launch_description& job, store::clock::time_point deadline);

/// Joins the job of whoever started this process: `weft run`, a launcher with PMI or one with PMIx; a job of one when
/// it is alone. Blocks until it has joined, under PMI and PMIx until all have. Throws errc::no_rendezvous, with the
/// remedy, when the launcher does not answer before the deadline or when another launcher is there: never silently
/// alone.
joined_job join_job(store::clock::time_point deadline, const environment& variables = process_environment());

/// Greets the launcher that started this process and takes leave of it: what rendezvous it has, and that it answers:
/// "rendezvous by PMI-1 over PMI_FD=6, ..."; empty when it is alone. Blocks until the launcher has answered. Throws as
/// join_job does.
std::string try_rendezvous(store::clock::time_point deadline, const environment& variables = process_environment());

}  // namespace weft
