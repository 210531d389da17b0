// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "report.hpp"

namespace weft::tools {
namespace {

using json = nlohmann::ordered_json;

json provider_json(const info_report& report) {
  json rejected = json::array();
  for (const auto& one : report.candidates)
    if (!one.rejected.empty())
      rejected.push_back({{"provider", one.provider},
                          {"fabric", one.fabric},
                          {"domain", one.domain},
                          {"address", one.address},
                          {"reason", one.rejected}});
  json result{{"libfabric", report.libfabric.empty() ? json() : json(report.libfabric)}};
  if (!report.provider_failure.empty()) {
    result["chosen"] = nullptr;
    result["failure"] = report.provider_failure;
    return result;
  }
  result["chosen"] = report.provider;
  result["reason"] = report.provider_reason;
  result["warning"] = report.provider_warning;
  result["proves_secret"] = false;  // control connections do
  for (const auto& one : report.candidates)
    if (one.rejected.empty()) {
      result["fabric"] = one.fabric;
      result["domain"] = one.domain;
      result["address"] = one.address;
    }
  result["rejected"] = std::move(rejected);
  return result;
}

json interface_json(const info_report& report) {
  json all = json::array();
  for (const auto& one : report.interfaces)
    all.push_back({{"name", one.is.name},
                   {"address", one.is.address},
                   {"prefix", one.is.prefix},
                   {"default_route", one.is.default_route},
                   {"rejected", one.rejected}});
  return {{"chosen", report.interface},
          {"reason", report.interface_reason},
          {"failure", report.interface_failure},
          {"links", report.links},
          {"all", all}};
}

json machine_json(const topology::machine& m) {
  json nodes = json::array(), caches = json::array(), cores = json::array(), devices = json::array();
  for (const auto& node : m.numa_nodes)
    nodes.push_back({{"number", node.os_index}, {"cpus", to_string(node.cpus)}, {"memory", node.memory}});
  for (const auto& cache : m.caches)
    caches.push_back({{"level", cache.level}, {"size", cache.size}, {"cpus", to_string(cache.cpus)}});
  for (const auto& core : m.cores) cores.push_back({{"cpus", to_string(core.cpus)}, {"numa_node", core.numa_node}});
  for (const auto& device : m.network_devices)
    devices.push_back({{"name", device.name},
                       {"kind", name(device.kind)},
                       {"pci", device.pci},
                       {"near", to_string(device.near)},
                       {"numa_node", device.numa_node}});
  return {{"this_system", m.this_system},
          {"cpus", to_string(m.cpus)},
          {"allowed", to_string(m.allowed)},
          {"given", to_string(m.given)},
          {"numa_nodes", nodes},
          {"caches", caches},
          {"cores", cores},
          {"network_devices", devices}};
}

}  // namespace

std::string to_json(const info_report& report) {
  json options = json::array();
  for (const auto& option : report.options)
    options.push_back({{"name", option.name},
                       {"variable", variable_of(option.name)},
                       {"value", option.value},
                       {"origin", option.origin},
                       {"help", option.help}});
  const json all{
      {"version", report.version},
      {"commit", report.commit},
      {"build",
       {{"compiler", report.compiler}, {"type", report.build_type}, {"instruction_set", report.instruction_set}}},
      {"provider", provider_json(report)},
      {"interface", interface_json(report)},
      {"node_memory",
       {{"used", report.node && report.arena.refusal.empty()},
        {"bytes_of_process", report.arena.bytes_of_process},
        {"refusal", report.arena.refusal},
        {"heap_bytes", report.arena.heap_bytes},
        {"heap_refusal", report.arena.heap_refusal},
        {"memory_left", report.arena.memory_left},
        {"memory_limit", report.arena.memory_limit},
        {"reading_refusal", report.arena.reading_refusal}}},
      {"machine", machine_json(report.machine)},
      {"progress_core",
       {{"core", report.progress.core}, {"cpus", to_string(report.progress.cpus)}, {"reason", report.progress.reason}}},
      {"launchers", report.launchers},
      {"launcher",
       {{"found", !report.launcher.empty()}, {"name", report.launcher}, {"detail", report.launcher_detail}}},
      {"options", options},
  };
  // Names that the system gives need not be UTF-8.
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace weft::tools
