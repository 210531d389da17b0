// SPDX-License-Identifier: Apache-2.0
// PMI-1, as MPICH's process managers and Slurm speak it.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <weft/runtime/error.hpp>

#include "abort_at_exit.hpp"
#include "pmi_client.hpp"

namespace weft {
namespace {

// Slurm reads requests into 1024 characters, whatever it says of values.
constexpr std::size_t longest_request = 1023;
constexpr std::size_t longest_key = 31;
constexpr std::size_t shortest_value = 63;  // below which it would be nothing but overhead

class pmi1_client final : public pmi_client {
 public:
  pmi1_client(pmi_connection connection, time_point deadline);

  const char* version() const noexcept override { return "PMI-1"; }
  std::size_t longest_value() const noexcept override { return longest_value_; }
  void put(const std::string& key, const std::string& value, time_point deadline) override;
  std::string get(const std::string& key, time_point deadline) override;
  std::optional<std::string> find(const std::string& key, time_point deadline) override;
  void barrier(time_point deadline) override;
  void finalize(time_point deadline) override { ask("finalize", "finalize_ack", deadline); }
  void abort_at_exit() noexcept override {
    abort_pmi_at_exit(connection_.release(),
                      [](int status) { return pmi1_message("abort exitcode=" + std::to_string(status)); });
  }

 private:
  std::string ask(const std::string& request, std::string_view answer, time_point deadline);
  std::size_t limit(std::string_view maxes, std::string_view name, std::size_t least) const;
  std::string put_request(const std::string& key, const std::string& value) const;
  std::string get_request(const std::string& key) const { return "get kvsname=" + space_ + " key=" + key; }

  std::size_t longest_value_ = 0;
  std::string space_;  ///< the name of the job's key-value space
};

pmi1_client::pmi1_client(pmi_connection connection, time_point deadline) : pmi_client(std::move(connection)) {
  const std::string maxes = ask("get_maxes", "maxes", deadline);
  limit(maxes, "keylen_max", longest_key + 1);  // both count the NUL of a C string
  longest_value_ = limit(maxes, "vallen_max", shortest_value + 1) - 1;
  const std::string space = ask("get_my_kvsname", "my_kvsname", deadline);
  space_ = connection_.field(space, "kvsname").value_or("");
  if (space_.empty()) throw error(errc::protocol, name() + ": it gives the job's key-value space no name");
  const std::size_t around = std::strlen("cmd=\n") + put_request(std::string(longest_key, 'k'), "").size();
  if (around + shortest_value > longest_request)
    throw error(errc::incompatible, name() + ": the name of the job's key-value space, of " +
                                        std::to_string(space_.size()) + " characters, leaves no room for values");
  longest_value_ = std::min(longest_value_, longest_request - around);
}

std::size_t pmi1_client::limit(std::string_view maxes, std::string_view field, std::size_t least) const {
  const std::string_view text = connection_.field(maxes, field).value_or("");
  std::size_t result = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (failure != std::errc{} || end != text.data() + text.size())
    throw error(errc::protocol, name() + ": get_maxes was answered without " + std::string(field));
  if (result < least)
    throw error(errc::incompatible, name() + ": " + std::string(field) + "=" + std::to_string(result) + "; at least " +
                                        std::to_string(least) + " are needed");
  return result;
}

std::string pmi1_client::ask(const std::string& request, std::string_view answer, time_point deadline) {
  std::string line = connection_.ask(request, answer, deadline);
  if (const auto status = connection_.field(line, "rc").value_or("0"); status != "0")
    throw error(errc::protocol, name() + ": " + in_quotes(request) + " was refused: " + in_quotes(line));
  return line;
}

std::string pmi1_client::put_request(const std::string& key, const std::string& value) const {
  return "put kvsname=" + space_ + " key=" + key + " value=" + value;
}

void pmi1_client::put(const std::string& key, const std::string& value, time_point deadline) {
  ask(put_request(key, value), "put_result", deadline);
}

std::string pmi1_client::get(const std::string& key, time_point deadline) {
  const std::string line = ask(get_request(key), "get_result", deadline);
  const auto value = connection_.field(line, "value");
  if (!value) throw error(errc::protocol, name() + ": " + key + " was got without a value");
  return std::string(*value);
}

std::optional<std::string> pmi1_client::find(const std::string& key, time_point deadline) {
  const std::string line = connection_.ask(get_request(key), "get_result", deadline);
  const auto value = connection_.field(line, "value");
  if (connection_.field(line, "rc").value_or("0") != "0" || !value) return std::nullopt;
  return std::string(*value);
}

void pmi1_client::barrier(time_point deadline) try {
  ask("barrier_in", "barrier_out", deadline);
} catch (const error& failure) {
  if (failure.code() != errc::timed_out) throw;
  throw error(errc::timed_out, name() + ": not every process of the job came to the barrier before the deadline");
}

}  // namespace

std::unique_ptr<pmi_client> make_pmi1_client(pmi_connection connection, pmi_client::time_point deadline) {
  return std::make_unique<pmi1_client>(std::move(connection), deadline);
}

}  // namespace weft
