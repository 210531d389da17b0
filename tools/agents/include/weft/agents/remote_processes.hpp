// SPDX-License-Identifier: Apache-2.0
// The processes of a job on several hosts, each of which has an agent that starts and ends those of its host.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <weft/processes/job_processes.hpp>
#include <weft/processes/job_settings.hpp>
#include <weft/processes/reaper.hpp>
#include <weft/runtime/tcp_store.hpp>
#include <weft/streams/output.hpp>

namespace weft::tools {

/// `serve` is to make the rendezvous listen on one of this machine's addresses, and to say what to connect to. What is
/// given by reference must outlive the result.
std::unique_ptr<job_processes> make_remote_processes(event_loop& loop, reaper& of_job, const job_settings& settings,
                                                     store_job job, job_events events, sink& output, sink& errors,
                                                     std::function<std::string(const std::string& address)> serve);

}  // namespace weft::tools
