// SPDX-License-Identifier: Apache-2.0
// meet [other-wire|not-weft PROCESS]: joins the job and counts everyone; or one of them puts the record of another
// build into the store. Started by any launcher.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <weft/fabric/process_record.hpp>
#include <weft/runtime/launch.hpp>
#include <weft/weft.hpp>

#include "jobs.hpp"

namespace weft_test {
namespace {

using namespace std::chrono_literals;

/// The number of this process, as whoever started it says.
std::string own_number() {
  for (const char* name : {"WEFT_PROCESS", "PMI_RANK", "PMIX_RANK"})
    if (const char* const number = std::getenv(name)) return number;
  return "";
}

/// Joins as a build with another wire version would.
void pretend(const std::string& how) {
  const auto until = weft::store::clock::now() + 20s;
  const auto store = weft::join_job(until).rendezvous;
  auto record = weft::fabric::local_record();
  record.build.wire += 1;
  record.build.version = "9.9.9";
  auto bytes = weft::fabric::encode(record);
  if (how == "not-weft") std::memcpy(bytes.data(), "othermpi", 8);
  if (store->process() == 0) store->put("weft/options", {});
  store->gather("weft/process", bytes, until);
  std::this_thread::sleep_for(300ms);  // the others refuse by the record, not because this one is gone
}

}  // namespace

int meet(int argc, char** argv) try {
  if (argc > 3 && own_number() == argv[3]) return pretend(argv[2]), 0;
  weft::runtime runtime(argc, argv);
  runtime.run([](weft::communicator& world) {
    const std::int64_t one = 1;
    std::int64_t all = 0;
    world.allreduce(std::span(&one, 1), std::span(&all, 1), weft::sum);
    if (world.rank() == 0) std::printf("%d ranks\n", static_cast<int>(all));
  });
  return 0;
} catch (const weft::error& e) {
  std::fprintf(stderr, "meet: %s: %s\n", e.code().message().c_str(), e.what());
  return 4;
}

}  // namespace weft_test
