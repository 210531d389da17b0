// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <weft/runtime/error.hpp>

#include "bytes.hpp"
#include "exchanged_store.hpp"
#include "met_job.hpp"
#include "pmix_client.hpp"

namespace weft {
namespace {

constexpr std::chrono::seconds pmix_finalize_limit{5};

class pmix_store final : public exchanged_store {
 public:
  explicit pmix_store(pmix_client server) : server_(std::move(server)) {}

  ~pmix_store() override {
    if (!left_) server_.abort_at_exit();
  }

  int process() const noexcept override { return server_.process(); }
  int processes() const noexcept override { return server_.processes(); }

  void leave() noexcept override {
    left_ = true;
    try {
      server_.finalize(clock::now() + pmix_finalize_limit);
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "weft: leaving the job: %s\n", failure.what());
    }
  }

 private:
  std::vector<bytes> exchange(std::span<const std::byte> mine, clock::time_point deadline) override {
    bytes checked(mine.begin(), mine.end());
    append_length(checked);
    auto all = server_.exchange("weft-" + std::to_string(++round_), std::move(checked), deadline);
    for (std::size_t p = 0; p < all.size(); ++p)
      if (!take_length(all[p]))
        throw error(errc::protocol, server_.name() + ": what process " + std::to_string(p) + " put came back with " +
                                        std::to_string(all[p].size()) + " bytes: it was cut");
    return all;
  }

  pmix_client server_;
  int round_ = 0;  ///< of the exchange: a key is put once
  bool left_ = false;
};

}  // namespace

met_job connect_pmix_store(const pmix_environment& started, store::clock::time_point deadline) {
  pmix_client server(started, deadline);
  const auto place = server.place();
  return {std::make_unique<pmix_store>(std::move(server)), place};
}

launcher_greeting greet_pmix(const pmix_environment& started, store::clock::time_point deadline) {
  pmix_client server(started, deadline);
  server.finalize(deadline);
  return {server.process(), server.processes(), server.place(), "PMIx, which answers: " + server.version()};
}

}  // namespace weft
