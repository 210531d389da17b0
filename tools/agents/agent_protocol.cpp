// SPDX-License-Identifier: Apache-2.0
#include "agent_protocol.hpp"

#include <nlohmann/json.hpp>
#include <weft/runtime/error.hpp>

namespace weft::tools {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(job_program, first, words)

void to_json(json& to, const job_settings& from) {
  to = {{"ranks", from.ranks},           {"ranks_per_process", from.ranks_per_process},
        {"workers", from.workers},       {"cpus_per_rank", from.cpus_per_rank},
        {"provider", from.provider},     {"topology", from.topology},
        {"progress", from.progress},     {"exports", from.exports},
        {"tag_output", from.tag_output}, {"oversubscribe", from.oversubscribe},
        {"programs", from.programs},     {"map_by", static_cast<int>(from.map_by)},
        {"report", from.report_bindings}};
  if (from.bind_to) to["bind_to"] = static_cast<int>(*from.bind_to);
}

void from_json(const json& from, job_settings& to) {
  from.at("ranks").get_to(to.ranks);
  from.at("ranks_per_process").get_to(to.ranks_per_process);
  from.at("workers").get_to(to.workers);
  from.at("cpus_per_rank").get_to(to.cpus_per_rank);
  from.at("provider").get_to(to.provider);
  from.at("topology").get_to(to.topology);
  from.at("progress").get_to(to.progress);
  from.at("exports").get_to(to.exports);
  from.at("tag_output").get_to(to.tag_output);
  from.at("oversubscribe").get_to(to.oversubscribe);
  from.at("programs").get_to(to.programs);
  from.at("report").get_to(to.report_bindings);
  to.map_by = static_cast<topology::order>(from.at("map_by").get<int>());
  if (from.contains("bind_to")) to.bind_to = static_cast<topology::binding>(from["bind_to"].get<int>());
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(process_range, first, count)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(invitation, secret, addresses, hosts, host, rsh, command, environment)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(orders, settings, processes, host, hosts, job, all_processes, store_address, folder)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(process_end, process, by_signal, dumped_core, number)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(failure, status, why)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(finishing, kill_after, job_ended)

namespace {

constexpr std::string_view greeting_begin = "weft agent ";

/// No body nests deeper. Reading one takes stack for each level, which a few bytes make.
constexpr int deepest = 8;

/// Looks how deep a body nests, and keeps nothing of it.
class depth_check final : public nlohmann::json_sax<json> {
 public:
  bool too_deep() const noexcept { return too_deep_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t&) override { return true; }
  bool start_object(std::size_t) override { return begin(); }
  bool end_object() override { return end(); }
  bool start_array(std::size_t) override { return begin(); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override { return false; }

 private:
  bool begin() noexcept { return !(too_deep_ = ++depth_ > deepest); }
  bool end() noexcept { return --depth_, true; }

  int depth_ = 0;
  bool too_deep_ = false;
};

}  // namespace

std::string agent_greeting() {
  return std::string(greeting_begin) + WEFT_VERSION + ", protocol " + std::to_string(agent_protocol_version);
}

bool is_greeting(std::string_view line) { return line.starts_with(greeting_begin); }

template <class T>
std::string to_body(const T& content) {
  std::string body;
  json::to_msgpack(json(content), body);
  return body;
}

template <class T>
T from_body(std::string_view body) try {
  depth_check depth;
  json::sax_parse(body, &depth, json::input_format_t::msgpack);
  if (depth.too_deep())
    throw error(errc::protocol, "launcher and agents: a message of more than " + std::to_string(deepest) + " levels");
  return json::from_msgpack(body).get<T>();
} catch (const json::exception& failure) {
  throw error(errc::protocol, std::string("launcher and agents: a message that cannot be read: ") + failure.what());
}

template std::string to_body(const invitation&);
template std::string to_body(const orders&);
template std::string to_body(const process_end&);
template std::string to_body(const failure&);
template std::string to_body(const finishing&);
template std::string to_body(const std::vector<int>&);
template std::string to_body(const int&);
template invitation from_body(std::string_view);
template orders from_body(std::string_view);
template process_end from_body(std::string_view);
template failure from_body(std::string_view);
template finishing from_body(std::string_view);
template std::vector<int> from_body(std::string_view);
template int from_body(std::string_view);

std::string length_prefix(std::size_t length) {
  std::string text;
  for (int i = 0; i < 4; ++i) text += static_cast<char>(length >> (8 * i));
  return text;
}

std::size_t read_length(std::string_view prefix) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(prefix[i])) << (8 * i);
  if (length > longest_body)
    throw error(errc::protocol, "launcher and agents: a message of " + std::to_string(length) + " bytes; at most " +
                                    std::to_string(longest_body) + " are possible");
  return length;
}

std::string frame(message kind, std::string_view body) {
  return length_prefix(body.size()).append(1, static_cast<char>(kind)).append(body);
}

}  // namespace weft::tools
