// SPDX-License-Identifier: Apache-2.0
#include "worker.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <weft/api/choices.hpp>
#include <weft/command_line/progress_bar.hpp>
#include <weft/process/membership.hpp>
#include <weft/runtime.hpp>

namespace weft::tools {
namespace {

detail::membership join(std::size_t budget, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "weft");
  arguments.insert(arguments.end(), {"--weft-tune=start", "--weft-tune-budget=" + std::to_string(budget)});
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(arguments.size());
  return detail::join_by_environment(argc, argv.data());
}

/// There is either the old file or the whole new one.
void replace(const std::string& file, const std::string& text) {
  const std::string beside = file + ".new-" + std::to_string(::getpid());
  std::ofstream out(beside, std::ios::binary);
  out << text << std::flush;
  if (!out) {
    const int number = errno;
    std::filesystem::remove(beside);
    throw std::runtime_error(beside + ": cannot be written: " + std::strerror(number));
  }
  out.close();
  std::filesystem::rename(beside, file);
}

void print_roads(const detail::tuning& measured) {
  std::printf("%-8s %10s %10s %10s %12s %14s %12s\n", "road", "L us", "o us", "g us", "G ns/B", "exchange ns/B",
              "handshake us");
  for (std::size_t i = 0; i < schedules::roads; ++i)
    if (const auto& road = measured.machine.by_road[i])
      std::printf("%-8s %10.3f %10.3f %10.3f %12.4f %14.4f %12.3f\n",
                  std::string(name(static_cast<schedules::road>(i))).c_str(), road->latency * 1e6, road->overhead * 1e6,
                  road->gap * 1e6, road->gap_per_byte * 1e9, road->exchange_per_byte * 1e9, road->handshake * 1e6);
}

void print_kernels(const detail::tuning& measured) {
  std::printf("%-14s %-16s %12s\n", "operator", "type", "c ns/B");
  for (const auto& [kernel, seconds] : measured.combine)
    std::printf("%-14s %-16s %12.4f\n", std::string(kernels::name(kernel.first)).c_str(),
                std::string(kernels::name(kernel.second)).c_str(), seconds * 1e9);
}

}  // namespace

int run_tune_worker(const std::string& file, std::size_t budget, const std::vector<std::string>& weft_arguments) {
  detail::membership member = join(budget, weft_arguments);
  const std::string provider = member.named_provider();
  runtime job(std::move(member));
  job.run([&](communicator& world) {
    if (world.rank() != 0) return;
    const detail::tuning* const measured = detail::choices::costs(world);
    if (measured == nullptr) throw std::runtime_error("weft tune: one rank has nobody to send to: -n 2 or more");
    clear_bar();
    const std::string comment = "weft tune: " + std::to_string(world.size()) + " ranks, provider " + provider +
                                "; seconds, for each byte where so named";
    if (file.empty()) {
      std::printf("%s", to_text(*measured, comment).c_str());
      return;
    }
    replace(file, to_text(*measured, comment));
    print_roads(*measured);
    print_kernels(*measured);
    std::printf("written to %s\n", file.c_str());
  });
  return 0;
}

}  // namespace weft::tools
