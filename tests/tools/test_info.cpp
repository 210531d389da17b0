// SPDX-License-Identifier: Apache-2.0
// `weft info`.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "launcher_under_test.hpp"
#include "variable.hpp"

using nlohmann::json;
using weft_test::ContainsSubstring;
using weft_test::outcome;
using weft_test::run;
using weft_test::variable;

namespace {

using words = std::vector<std::string>;

outcome run_with(words arguments, const words& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

json option(const json& info, const std::string& name) {
  const auto& options = info.at("options");
  const auto found = std::find_if(options.begin(), options.end(), [&](const json& o) { return o.at("name") == name; });
  REQUIRE(found != options.end());
  return *found;
}

}  // namespace

TEST_CASE("info describes the build, the provider and the machine") {
  const outcome text = run({"info"});
  CHECK(text.status == 0);
  for (const char* part :
       {"instruction set", "libfabric", "provider", "rejected", "interface", "NUMA node", "progress core",
        "no proof of the job's secret", "launcher         none", "WEFT_EAGER_LIMIT"})
    CHECK_THAT(text.output, ContainsSubstring(part));
  std::istringstream lines(text.output);
  std::string line;
  for (const char* first : {"weft ", "build ", "instruction set ", "libfabric ", "provider ", "interface ",
                            "node memory ", "cores ", "launchers ", "launcher "}) {
    std::getline(lines, line);
    CHECK(line.starts_with(first));
  }
  std::getline(lines, line);
  CHECK(line.empty());
  CHECK_THAT(text.output, ContainsSubstring(", commit ") && ContainsSubstring("weft run, PMI-1, PMI-2"));
  const json info = json::parse(run({"info", "--json"}).output);
  CHECK(!info.at("version").get<std::string>().empty());
  CHECK(!info.at("commit").get<std::string>().empty());
  CHECK(!info.at("build").at("instruction_set").get<std::string>().empty());
  CHECK(!info.at("provider").at("chosen").get<std::string>().empty());
  CHECK(!info.at("provider").at("reason").get<std::string>().empty());
  const auto& interfaces = info.at("interface").at("all");
  CHECK(std::any_of(interfaces.begin(), interfaces.end(), [](const json& one) {
    return one.at("address") == "127.0.0.1" && one.at("rejected") == "reaches this host alone";
  }));
  const json alone = json::parse(run({"info", "--json", "--weft-address=127.0.0.1", "--weft-endpoints=3"}).output);
  CHECK(alone.at("interface").at("links") == json({"lo 127.0.0.1/8", "lo 127.0.0.1/8", "lo 127.0.0.1/8"}));
  CHECK(!info.at("machine").at("cores").empty());
  CHECK(!info.at("progress_core").at("reason").get<std::string>().empty());
  CHECK(info.at("launcher").at("found") == false);
  for (const json& one : info.at("provider").at("rejected")) CHECK(!one.at("reason").get<std::string>().empty());
}

TEST_CASE("info lists what else libfabric has where that is asked for") {
  const json rejected = json::parse(run({"info", "--json"}).output).at("provider").at("rejected");
  REQUIRE(!rejected.empty());
  const std::string reason = rejected.front().at("reason");
  CHECK_THAT(run({"info"}).output, !ContainsSubstring(reason));
  CHECK_THAT(run({"info", "--providers"}).output, ContainsSubstring(reason));
}

TEST_CASE("info says where each option comes from") {
  const variable segment("WEFT_SEGMENT", "4k"), limit("WEFT_EAGER_LIMIT", "1k"), unknown("WEFT_NO_SUCH_THING", "1");
  const outcome done = run({"info", "--json", "--weft-eager-limit=2k"});
  CHECK_THAT(done.error, ContainsSubstring("WEFT_NO_SUCH_THING"));
  const json info = json::parse(done.output);
  CHECK(option(info, "segment").at("value") == "4096");
  CHECK(option(info, "segment").at("origin") == "WEFT_SEGMENT");
  CHECK(option(info, "eager-limit").at("value") == "2048");
  CHECK(option(info, "eager-limit").at("origin") == "--weft-eager-limit");
  CHECK(option(info, "piece").at("origin") == "default");
}

TEST_CASE("info describes what it can where there is no such provider") {
  const variable provider("WEFT_PROVIDER", "pigeon");
  const outcome text = run({"info"});
  CHECK(text.status == 1);
  CHECK_THAT(text.output, ContainsSubstring("NONE: "));
  CHECK_THAT(text.output, ContainsSubstring("valid: "));
  const outcome done = run({"info", "--json"});
  CHECK(done.status == 1);
  const json info = json::parse(done.output);
  CHECK(info.at("provider").at("chosen").is_null());
  CHECK(!info.at("machine").at("cores").empty());
}

TEST_CASE("where libfabric cannot be loaded info says so, and jobs of one node run") {
  const auto folder = std::filesystem::temp_directory_path() / ("weft-test-info-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "libfabric.so.1") << "no library";
  {
    const variable libraries("LD_LIBRARY_PATH", folder.c_str());
    const outcome text = run({"info"});
    CHECK(text.status == 1);
    CHECK_THAT(text.output, ContainsSubstring("libfabric.so.1 cannot be used: "));
    CHECK_THAT(text.output, ContainsSubstring("; install it"));
    CHECK(json::parse(run({"info", "--json"}).output).at("provider").at("libfabric").is_null());
    const words barrier{"weft", "bench", "barrier", "--budget", "1"};
    CHECK(run_with({"run", "-n", "2"}, barrier).status == 0);
    const outcome refused = run_with({"run", "-n", "2", "--provider", "net"}, barrier);
    CHECK(refused.status != 0);
    CHECK_THAT(refused.error, ContainsSubstring("libfabric.so.1 cannot be used: "));
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("info finds the launcher") {
  const json inside = json::parse(run({"run", "-n", "1", "weft", "info", "--json"}).output);
  CHECK(inside.at("launcher").at("name") == "weft run");
  const variable foreign("PMI_SIZE", "4");
  const json other = json::parse(run({"info", "--json"}).output);
  CHECK(other.at("launcher").at("found") == true);
  CHECK_THAT(other.at("launcher").at("name").get<std::string>(), ContainsSubstring("PMI"));
}

TEST_CASE("bad arguments of info are refused") {
  CHECK(run({"info", "--no-such-option"}).status == 2);
  CHECK_THAT(run({"info", "--weft-segment=x"}).error, ContainsSubstring("--weft-segment=x"));
  CHECK_THAT(run({"info", "--weft-interface=none0"}).output, ContainsSubstring("WEFT_INTERFACE=none0"));
}
