// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <weft/processes/program.hpp>

namespace weft::tools {
namespace {

enum class fitness { missing, unfit, fit };

fitness judge(const std::string& path) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status)) return fitness::missing;
  return std::filesystem::is_regular_file(status) && ::access(path.c_str(), X_OK) == 0 ? fitness::fit : fitness::unfit;
}

[[noreturn]] void throw_unfit(const std::string& path) {
  std::error_code failure;
  throw launch_failure(126,
                       "\"" + path + "\" cannot be executed: it is " +
                           (std::filesystem::is_directory(path, failure) ? "a directory" : "not an executable file"));
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    const fitness found = judge(name);
    if (found == fitness::missing) throw launch_failure(127, "there is no program \"" + name + "\"");
    if (found == fitness::unfit) throw_unfit(name);
    return name;
  }
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  std::string unfit;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    const fitness found = judge(candidate);
    if (found == fitness::fit) return candidate;
    if (found == fitness::unfit && unfit.empty()) unfit = candidate;
  }
  if (name == "weft") return std::filesystem::read_symlink("/proc/self/exe");
  if (!unfit.empty()) throw_unfit(unfit);
  const bool here = judge("./" + name) == fitness::fit;
  throw launch_failure(127, "there is no program \"" + name + "\" in PATH" +
                                (here ? "; for the one in this folder say \"./" + name + "\"" : ""));
}

}  // namespace weft::tools
