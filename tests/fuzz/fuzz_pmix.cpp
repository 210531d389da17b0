// SPDX-License-Identifier: Apache-2.0
// Values of a PMIx server: what it says of the job, and what the processes are said to have given.
#include <weft/runtime/error.hpp>

#include "input.hpp"
#include "runtime/bytes.hpp"
#include "runtime/exchanged_store.hpp"
#include "runtime/pmix_values.hpp"

using namespace weft;

namespace {

weft_fuzz::input* server;

pmix_status_t answer(const pmix_proc_t*, const char*, const pmix_info_t*, size_t, pmix_value_t** value) {
  const std::uint8_t kind = server->take();
  if (kind >= 240) return PMIX_ERR_NOT_FOUND;
  if (kind >= 235) return PMIX_SUCCESS;  // without a value
  auto* const made = static_cast<pmix_value_t*>(std::calloc(1, sizeof(pmix_value_t)));
  switch (kind % 8) {
    case 0:
      made->type = PMIX_UINT16;
      made->data.uint16 = server->take<std::uint16_t>();
      break;
    case 1:
      made->type = PMIX_UINT32;
      made->data.uint32 = server->take<std::uint32_t>();
      break;
    case 2:
      made->type = PMIX_UINT32;
      made->data.uint32 = server->take();
      break;
    case 3:
      made->type = server->take<std::uint16_t>();
      if (made->type == PMIX_BYTE_OBJECT) made->type = PMIX_UNDEF;
      break;
    default: {
      made->type = PMIX_BYTE_OBJECT;
      std::vector<std::byte> bytes;
      append(bytes, server->take_bytes(server->take()));
      if (kind % 8 >= 6) append_length(bytes);
      made->data.bo.size = bytes.size();
      if (bytes.empty()) break;
      made->data.bo.bytes = static_cast<char*>(std::malloc(bytes.size()));
      std::memcpy(made->data.bo.bytes, bytes.data(), bytes.size());
    }
  }
  *value = made;
  return PMIX_SUCCESS;
}

/// Meets as processes under PMIx do.
class store_of_server final : public exchanged_store {
 public:
  store_of_server(const pmix_library& library, int processes) : library_(library), processes_(processes) {}
  int process() const noexcept override { return 0; }
  int processes() const noexcept override { return processes_; }
  void leave() noexcept override {}

 private:
  std::vector<bytes> exchange(std::span<const std::byte> mine, clock::time_point) override {
    bytes given(mine.begin(), mine.end());
    append_length(given);
    pmix_records got = exchange_by(library_, {}, processes_, "weft", std::move(given));
    if (got.status != PMIX_SUCCESS) throw error(errc::protocol, "refused");
    for (bytes& each : got.all)
      if (!take_length(each)) throw error(errc::protocol, "cut");
    return std::move(got.all);
  }

  const pmix_library& library_;
  int processes_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft_fuzz::input from(data, size);
  server = &from;
  pmix_library library{};
  library.put = [](pmix_scope_t, const char[], pmix_value_t*) { return PMIX_SUCCESS; };
  library.commit = [] { return PMIX_SUCCESS; };
  library.fence = [](const pmix_proc_t[], size_t, const pmix_info_t[], size_t) { return PMIX_SUCCESS; };
  library.get = answer;
  const job_said job = read_job_said(library, {});
  if (job.place) {
    const node_place& p = *job.place;
    weft_fuzz::require(0 <= p.process && p.process < p.processes && p.processes <= job.processes && 0 <= p.node &&
                       p.node < p.nodes);
  }
  if (job.processes < 1) return 0;
  try {
    store_of_server store(library, std::min(job.processes, 8));
    store.put("mine", as_bytes("value"));
    store.fence({});
    store.gather("key", as_bytes("record"), {});
    store.find("k");
  } catch (const error& failure) {
    weft_fuzz::require(failure.code() == errc::protocol);
  }
  return 0;
}
