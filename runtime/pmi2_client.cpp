// SPDX-License-Identifier: Apache-2.0
// PMI-2, for managers that speak nothing else.
#include <chrono>
#include <thread>
#include <weft/runtime/error.hpp>

#include "abort_at_exit.hpp"
#include "pmi_client.hpp"

namespace weft {
namespace {

constexpr std::chrono::milliseconds lookup_pause{10};

class pmi2_client final : public pmi_client {
 public:
  pmi2_client(pmi_connection connection, const pmi_environment& started, time_point deadline);

  const char* version() const noexcept override { return "PMI-2"; }
  std::size_t longest_value() const noexcept override { return 1023; }  // PMI2_MAX_VALLEN counts the NUL
  void put(const std::string& key, const std::string& value, time_point deadline) override {
    ask("kvs-put", ";key=" + key + ";value=" + value, deadline);
  }
  std::string get(const std::string& key, time_point deadline) override;
  std::optional<std::string> find(const std::string& key, time_point deadline) override {
    return value_in(ask("info-getjobattr", ";key=" + key, deadline));
  }
  void barrier(time_point deadline) override;
  void finalize(time_point deadline) override { ask("finalize", "", deadline); }
  void abort_at_exit() noexcept override;

 private:
  std::string ask(const std::string& command, const std::string& fields, time_point deadline);
  std::optional<std::string> value_in(const std::string& answer) const;

  std::string job_;  ///< ";jobid=NAME", or nothing
};

pmi2_client::pmi2_client(pmi_connection connection, const pmi_environment& started, time_point deadline)
    : pmi_client(std::move(connection)) {
  connection_.use_version_2();
  const std::string rank = std::to_string(started.process), size = std::to_string(started.processes);
  std::string fields = ";pmirank=" + rank + ";threaded=FALSE";
  if (!started.job.empty()) {
    fields.insert(0, ";pmijobid=" + started.job);
    job_ = ";jobid=" + started.job;
  }
  const std::string job = ask("fullinit", fields, deadline);
  if (connection_.field(job, "rank").value_or(rank) != rank || connection_.field(job, "size").value_or(size) != size)
    throw error(errc::protocol,
                name() + ": process " + rank + " of " + size + " by PMI_RANK and PMI_SIZE is told " + in_quotes(job));
}

/// Asks "cmd=COMMAND FIELDS", which "cmd=COMMAND-response" answers.
std::string pmi2_client::ask(const std::string& command, const std::string& fields, time_point deadline) {
  std::string answer = connection_.ask(command + fields, command + "-response", deadline);
  if (connection_.field(answer, "rc").value_or("0") != "0")
    throw error(errc::protocol, name() + ": " + in_quotes(command + fields) + " was refused: " + in_quotes(answer));
  return answer;
}

std::optional<std::string> pmi2_client::value_in(const std::string& answer) const {
  const auto value = connection_.field(answer, "value");
  if (connection_.field(answer, "found") != "TRUE" || !value) return std::nullopt;
  return std::string(*value);
}

/// Asks again for what is not there: hydra's fence lets processes go on before all have come.
std::string pmi2_client::get(const std::string& key, time_point deadline) {
  for (;;) {
    if (auto value = value_in(ask("kvs-get", job_ + ";srcid=-1;key=" + key, deadline))) return *std::move(value);
    if (std::chrono::steady_clock::now() + lookup_pause >= deadline)
      throw error(errc::timed_out,
                  name() + ": not every process of the job came: nobody has put " + key + " before the deadline");
    std::this_thread::sleep_for(lookup_pause);
  }
}

void pmi2_client::barrier(time_point deadline) try { ask("kvs-fence", "", deadline); } catch (const error& failure) {
  if (failure.code() != errc::timed_out) throw;
  throw error(errc::timed_out, name() + ": not every process of the job came to the fence before the deadline");
}

void pmi2_client::abort_at_exit() noexcept {
  abort_pmi_at_exit(connection_.release(), [](int status) {
    return pmi2_message("abort;isworld=TRUE;msg=a process of weft failed with status " + std::to_string(status));
  });
}

}  // namespace

std::unique_ptr<pmi_client> make_pmi2_client(pmi_connection connection, const pmi_environment& started,
                                             pmi_client::time_point deadline) {
  return std::make_unique<pmi2_client>(std::move(connection), started, deadline);
}

}  // namespace weft
