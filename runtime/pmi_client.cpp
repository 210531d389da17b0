#include "pmi_client.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <weft/runtime/error.hpp>

#include "bytes.hpp"
#include "read_output.hpp"

namespace weft {
namespace {

// Slurm reads requests into 1024 characters, whatever it says of values.
constexpr std::size_t longest_request = 1023;
constexpr std::size_t longest_key = 31;
constexpr std::size_t shortest_value = 63;  // below which it would be nothing but overhead

void tell_abort(int status, void* descriptor) {
  let_output_be_read();
  const file_descriptor socket(static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor)));
  send_now(socket, as_bytes("cmd=abort exitcode=" + std::to_string(status != 0 ? status : EXIT_FAILURE) + "\n"));
}

}  // namespace

pmi_client::pmi_client(int descriptor, time_point deadline) : connection_(descriptor) {
  const std::string greeting = connection_.ask("init pmi_version=1 pmi_subversion=1", "response_to_init", deadline);
  if (pmi_field(greeting, "pmi_version") != "1" || pmi_field(greeting, "rc").value_or("0") != "0")
    throw error(errc::incompatible, name() + ": asked for version 1 of PMI it answers " + quoted(greeting));
  const std::string maxes = ask("get_maxes", "maxes", deadline);
  limit(maxes, "keylen_max", longest_key + 1);  // both count the NUL of a C string
  longest_value_ = limit(maxes, "vallen_max", shortest_value + 1) - 1;
  const std::string space = ask("get_my_kvsname", "my_kvsname", deadline);
  space_ = pmi_field(space, "kvsname").value_or("");
  if (space_.empty()) throw error(errc::protocol, name() + ": it gives the job's key-value space no name");
  const std::size_t around = std::strlen("cmd=\n") + put_request(std::string(longest_key, 'k'), "").size();
  if (around + shortest_value > longest_request)
    throw error(errc::incompatible, name() + ": the name of the job's key-value space, of " +
                                        std::to_string(space_.size()) + " characters, leaves no room for values");
  longest_value_ = std::min(longest_value_, longest_request - around);
}

std::size_t pmi_client::limit(std::string_view maxes, std::string_view field, std::size_t least) const {
  const std::string_view text = pmi_field(maxes, field).value_or("");
  std::size_t result = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (failure != std::errc{} || end != text.data() + text.size())
    throw error(errc::protocol, name() + ": get_maxes was answered without " + std::string(field));
  if (result < least)
    throw error(errc::incompatible, name() + ": " + std::string(field) + "=" + std::to_string(result) + "; at least " +
                                        std::to_string(least) + " are needed");
  return result;
}

std::string pmi_client::ask(const std::string& request, std::string_view answer, time_point deadline) {
  std::string line = connection_.ask(request, answer, deadline);
  if (const auto status = pmi_field(line, "rc").value_or("0"); status != "0")
    throw error(errc::protocol, name() + ": " + quoted(request) + " was refused: " + quoted(line));
  return line;
}

std::string pmi_client::put_request(const std::string& key, const std::string& value) const {
  return "put kvsname=" + space_ + " key=" + key + " value=" + value;
}

void pmi_client::put(const std::string& key, const std::string& value, time_point deadline) {
  ask(put_request(key, value), "put_result", deadline);
}

std::string pmi_client::get(const std::string& key, time_point deadline) {
  const std::string line = ask("get kvsname=" + space_ + " key=" + key, "get_result", deadline);
  const auto value = pmi_field(line, "value");
  if (!value) throw error(errc::protocol, name() + ": " + key + " was got without a value");
  return std::string(*value);
}

std::optional<std::string> pmi_client::find(const std::string& key, time_point deadline) {
  const std::string line = connection_.ask("get kvsname=" + space_ + " key=" + key, "get_result", deadline);
  const auto value = pmi_field(line, "value");
  if (pmi_field(line, "rc").value_or("0") != "0" || !value) return std::nullopt;
  return std::string(*value);
}

void pmi_client::barrier(time_point deadline) try {
  ask("barrier_in", "barrier_out", deadline);
} catch (const error& failure) {
  if (failure.code() != errc::timed_out) throw;
  throw error(errc::timed_out, name() + ": not every process of the job came to the barrier before the deadline");
}

void pmi_client::finalize(time_point deadline) { ask("finalize", "finalize_ack", deadline); }

void pmi_client::abort_at_exit() noexcept {
  ::on_exit(tell_abort, reinterpret_cast<void*>(static_cast<std::intptr_t>(connection_.release())));
}

}  // namespace weft
