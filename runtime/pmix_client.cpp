#include "pmix_client.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <weft/runtime/error.hpp>

#include "abort_at_exit.hpp"
#include "call_before.hpp"

namespace weft {
namespace {

constexpr std::chrono::seconds abort_limit{5};

/// What a PMIx call leaves to its caller to free.
struct value_deleter {
  void operator()(pmix_value_t* value) const noexcept {
    if (value->type == PMIX_BYTE_OBJECT) std::free(value->data.bo.bytes);
    std::free(value);
  }
};
using value_pointer = std::unique_ptr<pmix_value_t, value_deleter>;

pmix_proc_t process_of(const pmix_proc_t& job, pmix_rank_t rank) {
  pmix_proc_t result = job;
  result.rank = rank;
  return result;
}

/// What the launcher said of the job when it started it; null for what it did not say.
value_pointer said(const pmix_library& library, const pmix_proc_t& of, const char* key) {
  pmix_info_t here_only{};
  std::strncpy(here_only.key, PMIX_OPTIONAL, PMIX_MAX_KEYLEN);
  here_only.value.type = PMIX_BOOL;
  here_only.value.data.flag = true;
  pmix_value_t* found = nullptr;
  return value_pointer(library.get(&of, key, &here_only, 1, &found) == PMIX_SUCCESS ? found : nullptr);
}

/// The number that was said; -1 for none, and for one that is no count.
int number_said(const pmix_library& library, const pmix_proc_t& of, const char* key) {
  const value_pointer value = said(library, of, key);
  if (value != nullptr && value->type == PMIX_UINT16) return value->data.uint16;
  if (value == nullptr || value->type != PMIX_UINT32) return -1;
  constexpr auto most = static_cast<std::uint32_t>(std::numeric_limits<int>::max());
  return value->data.uint32 <= most ? static_cast<int>(value->data.uint32) : -1;
}

struct job_said {
  int processes = -1;
  node_place place;
};

struct begun_client {
  pmix_status_t status;
  pmix_proc_t self;
};

struct records {
  pmix_status_t status;
  std::vector<pmix_client::bytes> all;
};

/// Puts `mine`, and returns what each of `processes` has put.
records exchange_by(const pmix_library& library, const pmix_proc_t& self, int processes, const std::string& key,
                    pmix_client::bytes mine) {
  pmix_value_t value{};
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo = {reinterpret_cast<char*>(mine.data()), mine.size()};
  pmix_status_t status = library.put(PMIX_GLOBAL, key.c_str(), &value);
  if (status == PMIX_SUCCESS) status = library.commit();
  if (status != PMIX_SUCCESS) return {status, {}};
  pmix_info_t gathering{};
  std::strncpy(gathering.key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN);
  gathering.value.type = PMIX_BOOL;
  gathering.value.data.flag = true;
  const pmix_proc_t everyone = process_of(self, PMIX_RANK_WILDCARD);
  status = library.fence(&everyone, 1, &gathering, 1);
  if (status != PMIX_SUCCESS) return {status, {}};
  std::vector<pmix_client::bytes> all;
  for (int p = 0; p < processes; ++p) {
    const pmix_proc_t other = process_of(self, static_cast<pmix_rank_t>(p));
    pmix_value_t* got = nullptr;
    status = library.get(&other, key.c_str(), nullptr, 0, &got);
    const value_pointer found(status == PMIX_SUCCESS ? got : nullptr);
    if (status != PMIX_SUCCESS) return {status, {}};
    if (found == nullptr || found->type != PMIX_BYTE_OBJECT) return {PMIX_ERR_TYPE_MISMATCH, {}};
    const auto* const begin = reinterpret_cast<const std::byte*>(found->data.bo.bytes);
    all.emplace_back(begin, begin + found->data.bo.size);
  }
  return {PMIX_SUCCESS, std::move(all)};
}

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
  const auto job = call_before(deadline, [library = library_, self = self_] {
    const pmix_proc_t everyone = process_of(self, PMIX_RANK_WILDCARD);
    job_said result;
    result.processes = number_said(*library, everyone, PMIX_JOB_SIZE);
    result.place = {number_said(*library, self, PMIX_LOCAL_RANK), number_said(*library, everyone, PMIX_LOCAL_SIZE),
                    number_said(*library, self, PMIX_NODEID), number_said(*library, everyone, PMIX_NUM_NODES)};
    return result;
  });
  if (!job) throw error(errc::no_rendezvous, name_ + ": it does not say what the job is before the deadline");
  if (job->processes < 1 || self_.rank >= static_cast<pmix_rank_t>(job->processes))
    throw error(errc::protocol, name_ + ": it numbers this process " + std::to_string(self_.rank) +
                                    ", of a job whose size (pmix.job.size) it gives as " +
                                    (job->processes < 0 ? "nothing" : std::to_string(job->processes)));
  processes_ = job->processes;
  const node_place& p = job->place;
  if (p.process >= 0 && p.process < p.processes && p.processes <= processes_ && p.node >= 0 && p.node < p.nodes)
    place_ = p;
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
        records got = exchange_by(*library, self, processes, key, std::move(mine));
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
