// SPDX-License-Identifier: Apache-2.0
#include "pmix_client.hpp"

#include <cstdlib>
#include <memory>
#include <weft/runtime/error.hpp>

#include "abort_at_exit.hpp"
#include "call_before.hpp"
#include "pmix_values.hpp"

namespace weft {
namespace {

constexpr std::chrono::seconds abort_limit{5};

struct begun_client {
  pmix_status_t status;
  pmix_proc_t self;
};

void tell_abort(int status, void*) {
  let_output_be_read();
  const int given = status != 0 ? status : EXIT_FAILURE;
  call_before(std::chrono::steady_clock::now() + abort_limit,
              [given] { return load_pmix().abort(given, "a process of weft failed", nullptr, 0); });
}

}  // namespace

pmix_client::pmix_client(const pmix_environment& started, time_point deadline)
    : name_("the launcher's PMIx (PMIX_NAMESPACE=" + started.job + ")"), library_(&load_pmix()) {
  const auto connected = call_before(deadline, [library = library_] {
    begun_client result{};
    result.status = library->init(&result.self, nullptr, 0);
    return result;
  });
  if (!connected) throw error(errc::no_rendezvous, name_ + ": no answer to PMIx_Init before the deadline");
  if (connected->status != PMIX_SUCCESS)
    throw error(errc::no_rendezvous, name_ + ": PMIx_Init: " + library_->error_string(connected->status));
  self_ = connected->self;
  read_job(deadline);
}

void pmix_client::read_job(time_point deadline) {
  const auto job = call_before(deadline, [library = library_, self = self_] { return read_job_said(*library, self); });
  if (!job) throw error(errc::no_rendezvous, name_ + ": it does not say what the job is before the deadline");
  if (job->processes < 1 || self_.rank >= static_cast<pmix_rank_t>(job->processes))
    throw error(errc::protocol, name_ + ": it numbers this process " + std::to_string(self_.rank) +
                                    ", of a job whose size (pmix.job.size) it gives as " +
                                    (job->processes < 0 ? "nothing" : std::to_string(job->processes)));
  processes_ = job->processes;
  place_ = job->place;
}

std::string pmix_client::version() const {
  const std::string text = library_->version();  // "OpenPMIx 4.2.2rc2 (...)"
  return text.substr(0, text.find(" ("));
}

/// Makes a call whose result says how it went by its `status`.
template <typename Call>
void pmix_client::ask(const char* what, time_point deadline, Call call) {
  if (!usable_) throw error(errc::no_rendezvous, name_ + ": an earlier call has failed, none can follow it");
  usable_ = false;
  const auto status = call_before(deadline, std::move(call));
  if (!status)
    throw error(errc::timed_out, name_ + ": not every process of the job came to " + what + " before the deadline");
  if (*status != PMIX_SUCCESS)
    throw error(errc::protocol, name_ + ": " + what + ": " + library_->error_string(*status));
  usable_ = true;
}

std::vector<pmix_client::bytes> pmix_client::exchange(const std::string& key, bytes mine, time_point deadline) {
  const auto result = std::make_shared<std::vector<bytes>>();
  ask("PMIx_Fence", deadline,
      [library = library_, self = self_, processes = processes_, key, mine = std::move(mine), result]() mutable {
        pmix_records got = exchange_by(*library, self, processes, key, std::move(mine));
        *result = std::move(got.all);
        return got.status;
      });
  return std::move(*result);
}

void pmix_client::finalize(time_point deadline) {
  ask("PMIx_Finalize", deadline, [library = library_] { return library->finalize(nullptr, 0); });
}

void pmix_client::abort_at_exit() noexcept { ::on_exit(tell_abort, nullptr); }

}  // namespace weft
