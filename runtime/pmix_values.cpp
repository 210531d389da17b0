// SPDX-License-Identifier: Apache-2.0
#include "pmix_values.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

namespace weft {
namespace {

/// What a PMIx call leaves to its caller to free.
struct value_deleter {
  void operator()(pmix_value_t* value) const noexcept {
    if (value->type == PMIX_BYTE_OBJECT) std::free(value->data.bo.bytes);
    std::free(value);
  }
};
using value_pointer = std::unique_ptr<pmix_value_t, value_deleter>;

pmix_proc_t process_of(const pmix_proc_t& job, pmix_rank_t rank) {
  pmix_proc_t result = job;
  result.rank = rank;
  return result;
}

/// What the launcher said of the job when it started it; null for what it did not say.
value_pointer said(const pmix_library& library, const pmix_proc_t& of, const char* key) {
  pmix_info_t here_only{};
  std::strncpy(here_only.key, PMIX_OPTIONAL, PMIX_MAX_KEYLEN);
  here_only.value.type = PMIX_BOOL;
  here_only.value.data.flag = true;
  pmix_value_t* found = nullptr;
  return value_pointer(library.get(&of, key, &here_only, 1, &found) == PMIX_SUCCESS ? found : nullptr);
}

/// The number that was said; -1 for none, and for one that is no count.
int number_said(const pmix_library& library, const pmix_proc_t& of, const char* key) {
  const value_pointer value = said(library, of, key);
  if (value != nullptr && value->type == PMIX_UINT16) return value->data.uint16;
  if (value == nullptr || value->type != PMIX_UINT32) return -1;
  constexpr auto most = static_cast<std::uint32_t>(std::numeric_limits<int>::max());
  return value->data.uint32 <= most ? static_cast<int>(value->data.uint32) : -1;
}

}  // namespace

job_said read_job_said(const pmix_library& library, const pmix_proc_t& self) {
  const pmix_proc_t everyone = process_of(self, PMIX_RANK_WILDCARD);
  job_said result;
  result.processes = number_said(library, everyone, PMIX_JOB_SIZE);
  const node_place p{number_said(library, self, PMIX_LOCAL_RANK), number_said(library, everyone, PMIX_LOCAL_SIZE),
                     number_said(library, self, PMIX_NODEID), number_said(library, everyone, PMIX_NUM_NODES)};
  if (p.process >= 0 && p.process < p.processes && p.processes <= result.processes && p.node >= 0 && p.node < p.nodes)
    result.place = p;
  return result;
}

pmix_records exchange_by(const pmix_library& library, const pmix_proc_t& self, int processes, const std::string& key,
                         std::vector<std::byte> mine) {
  pmix_value_t value{};
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo = {reinterpret_cast<char*>(mine.data()), mine.size()};
  pmix_status_t status = library.put(PMIX_GLOBAL, key.c_str(), &value);
  if (status == PMIX_SUCCESS) status = library.commit();
  if (status != PMIX_SUCCESS) return {status, {}};
  pmix_info_t gathering{};
  std::strncpy(gathering.key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN);
  gathering.value.type = PMIX_BOOL;
  gathering.value.data.flag = true;
  const pmix_proc_t everyone = process_of(self, PMIX_RANK_WILDCARD);
  status = library.fence(&everyone, 1, &gathering, 1);
  if (status != PMIX_SUCCESS) return {status, {}};
  std::vector<std::vector<std::byte>> all;
  for (int p = 0; p < processes; ++p) {
    const pmix_proc_t other = process_of(self, static_cast<pmix_rank_t>(p));
    pmix_value_t* got = nullptr;
    status = library.get(&other, key.c_str(), nullptr, 0, &got);
    const value_pointer found(status == PMIX_SUCCESS ? got : nullptr);
    if (status != PMIX_SUCCESS) return {status, {}};
    if (found == nullptr || found->type != PMIX_BYTE_OBJECT) return {PMIX_ERR_TYPE_MISMATCH, {}};
    const auto* const begin = reinterpret_cast<const std::byte*>(found->data.bo.bytes);
    all.emplace_back(begin, begin + found->data.bo.size);
  }
  return {PMIX_SUCCESS, std::move(all)};
}

}  // namespace weft
