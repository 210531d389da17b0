// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <cctype>
#include <chrono>
#include <weft/kernels/combine.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/launch.hpp>
#include <weft/topology/affinity.hpp>

#include "commit.hpp"

namespace weft::tools {
namespace {

constexpr std::chrono::seconds answer_limit{5};  // of the launcher

std::string compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#else
  return "unknown";
#endif
}

void find_provider(info_report& report, const options& parsed) {
  try {
    report.libfabric = fabric::libfabric_version();
    auto choice =
        fabric::choose_provider(parsed.provider, parsed.address, fabric::unsafe_providers{parsed.unsafe_provider});
    report.provider = choice.provider;
    report.provider_reason = choice.reason;
    report.provider_warning = choice.warning;
    report.candidates = std::move(choice.candidates);
  } catch (const error& failure) {
    report.provider_failure = failure.what();
  }
}

void find_interface(info_report& report, const options& parsed) {
  try {
    report.interfaces = fabric::list_interfaces(parsed.interface);
    const auto usable = fabric::usable_interfaces(parsed.interface, parsed.address);
    const auto chosen = fabric::choose_interfaces({{"", "this", usable}}).front();
    report.interface = to_string(chosen.is);
    const auto links = fabric::choose_links({{"", "this", usable}}, parsed.endpoints);
    for (const fabric::network_interface& each : links.front()) report.links.push_back(to_string(each));
    report.interface_reason = chosen.reason + "; in a job rather the one whose subnet holds the most of the others";
  } catch (const error& failure) {
    report.interface_failure = failure.what();
  }
}

void find_launcher(info_report& report) {
  try {
    const auto job = launched();
    report.launcher = job ? job->launcher : find_foreign_launcher().name;
    report.launcher_detail = try_rendezvous(store::clock::now() + answer_limit);
    if (report.launcher.empty()) report.launcher_detail = "a program started like this is a job of one";
  } catch (const error& failure) {
    if (report.launcher.empty()) report.launcher = "weft run";
    report.launcher_detail = failure.what();
  }
}

}  // namespace

info_report collect_info(const options& parsed) {
  info_report report;
  report.version = WEFT_VERSION;
  report.commit = WEFT_COMMIT;
  report.launchers = WEFT_LAUNCHERS;
  report.compiler = compiler();
  report.build_type = WEFT_BUILD_TYPE;
  report.instruction_set = kernels::instruction_set();
  report.arena = fabric::try_arena();  // forks: before libfabric makes threads
  report.node = parsed.node;
  report.machine = topology::discover();
  report.progress = topology::choose_progress_core(report.machine, topology::this_thread_binding());
  find_provider(report, parsed);
  find_interface(report, parsed);
  find_launcher(report);
  report.options = list_options(parsed);
  return report;
}

std::string name(topology::network_kind kind) {
  switch (kind) {
    case topology::network_kind::ethernet:
      return "ethernet";
    case topology::network_kind::infiniband:
      return "infiniband";
    case topology::network_kind::verbs:
      return "verbs";
    case topology::network_kind::other:
      break;
  }
  return "other";
}

std::string variable_of(const std::string& option) {
  std::string name = "WEFT_";
  for (const unsigned char c : option) name += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return name;
}

}  // namespace weft::tools
