// SPDX-License-Identifier: Apache-2.0
// Options: the command line over the environment over the defaults, and what is said of bad ones.
#include <algorithm>
#include <string>
#include <vector>
#include <weft/runtime/error.hpp>
#include <weft/runtime/options.hpp>

#include "catch.hpp"

namespace {

/// A command line and an environment for parse_options.
class situation {
 public:
  situation(std::vector<std::string> arguments, std::vector<std::string> variables)
      : arguments_(std::move(arguments)), variables_(std::move(variables)) {
    for (std::string& each : arguments_) argv_.push_back(each.data());
    argv_.push_back(nullptr);
    for (const std::string& each : variables_) environment_.push_back(each.c_str());
    environment_.push_back(nullptr);
    argc_ = static_cast<int>(arguments_.size());
  }

  weft::options parse() { return weft::parse_options(argc_, argv_.data(), environment_.data(), warnings); }

  /// What the program is left with.
  std::vector<std::string> rest() const { return {argv_.begin(), argv_.begin() + argc_}; }

  std::vector<std::string> warnings;

 private:
  std::vector<std::string> arguments_, variables_;
  std::vector<char*> argv_;
  std::vector<const char*> environment_;
  int argc_ = 0;
};

std::string refusal(std::vector<std::string> arguments, std::vector<std::string> variables) {
  try {
    situation(std::move(arguments), std::move(variables)).parse();
  } catch (const weft::error& e) {
    CHECK(e.code() == weft::errc::invalid_argument);
    return e.what();
  }
  return "";
}

std::string origin_of(const weft::options& o, const std::string& name) {
  const auto list = weft::list_options(o);
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.name == name; });
  REQUIRE(found != list.end());
  return found->origin;
}

}  // namespace

TEST_CASE("options: the command line wins over the environment, which wins over the default") {
  situation here({"program", "--weft-provider=shm", "-n", "3"}, {"WEFT_PROVIDER=net", "WEFT_PIECE=64k", "HOME=/"});
  const weft::options o = here.parse();
  CHECK(o.provider == "shm");
  CHECK(o.piece == 64 << 10);
  CHECK(o.window == weft::options{}.window);
  CHECK(origin_of(o, "provider") == "--weft-provider");
  CHECK(origin_of(o, "piece") == "WEFT_PIECE");
  CHECK(origin_of(o, "window") == "default");
  CHECK(here.rest() == std::vector<std::string>{"program", "-n", "3"});
  CHECK(here.warnings.empty());
}

TEST_CASE("options: only --weft-* is taken from the program's arguments, and nothing behind --") {
  situation here({"program", "--weft", "--weft-progress", "thread", "--verbose", "--", "--weft-provider=shm"}, {});
  const weft::options o = here.parse();
  CHECK(o.progress == weft::progress_mode::thread);
  CHECK(o.provider.empty());
  CHECK(here.rest() == std::vector<std::string>{"program", "--weft", "--verbose", "--", "--weft-provider=shm"});
}

TEST_CASE("options: an unknown variable is warned about, an unknown argument refused") {
  situation here({"program"}, {"WEFT_PROVIDR=shm", "WEFT_JOB=1", "WEFT_TEST_SEED=1", "WEFTY=1"});
  here.parse();
  REQUIRE(here.warnings.size() == 1);
  CHECK_THAT(here.warnings[0], weft_test::ContainsSubstring("WEFT_PROVIDR"));
  CHECK_THAT(refusal({"program", "--weft-providr=shm"}, {}), weft_test::ContainsSubstring("no option \"providr\""));
}

TEST_CASE("options: sizes are read with their units") {
  for (const char* bytes : {"65536", "64k", "64K", "64KiB", "65536B"}) {
    situation here({"program"}, {std::string("WEFT_PIECE=") + bytes});
    CHECK(here.parse().piece == 65536);
  }
}

TEST_CASE("options: a bad value is refused with where it stands and what is valid") {
  CHECK_THAT(refusal({"p"}, {"WEFT_PROGRESS=fast"}),
             weft_test::ContainsSubstring("WEFT_PROGRESS=fast") && weft_test::ContainsSubstring("caller, thread"));
  for (const char* bytes : {"", "x", "-1", "1.5", "12q", "k", "1", "99999999999999999999", "17179869184G"})
    CHECK_THAT(refusal({"p"}, {std::string("WEFT_PIECE=") + bytes}), weft_test::ContainsSubstring("bytes from 4096"));
  for (const char* bytes : {"-1", "half", "1.5G", "99999999999999999999"})
    CHECK_THAT(refusal({"p", std::string("--weft-memory-limit=") + bytes}, {}),
               weft_test::ContainsSubstring("--weft-memory-limit=") && weft_test::ContainsSubstring("bytes from 0"));
  CHECK_THAT(refusal({"p"}, {"WEFT_RANKS_PER_PROCESS=0"}), weft_test::ContainsSubstring("from 1"));
  CHECK_THAT(refusal({"p", "--weft-degree=1"}, {}), weft_test::ContainsSubstring("a number from 2"));
  CHECK_THAT(refusal({"p"}, {"WEFT_JOIN_TIMEOUT=0"}), weft_test::ContainsSubstring("milliseconds"));
  CHECK_THAT(refusal({"p"}, {"WEFT_TRANSFER_COST=nan"}), weft_test::ContainsSubstring("a number from 0"));
  CHECK_THAT(refusal({"p", "--weft-provider"}, {}), weft_test::ContainsSubstring("a value is missing"));
}

TEST_CASE("options: what is listed can be set again to the same") {
  const weft::options defaults;
  weft::options copy;
  for (const auto& each : weft::list_options(defaults)) {
    INFO(each.name << "=" << each.value);
    CHECK(each.origin == "default");
    CHECK_FALSE(each.help.empty());
    weft::set_option(copy, each.name, each.value, "here");
  }
  for (const auto& each : weft::list_options(copy)) CHECK(each.origin == "here");
}
