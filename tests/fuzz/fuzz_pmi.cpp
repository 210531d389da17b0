// SPDX-License-Identifier: Apache-2.0
// All that a process manager with PMI-1 or PMI-2 says. With 0 in front: the mapping of processes to nodes alone.
#include <sys/socket.h>

#include <array>
#include <weft/runtime/error.hpp>

#include "input.hpp"
#include "runtime/bytes.hpp"
#include "runtime/met_job.hpp"
#include "runtime/pmi_pieces.hpp"
#include "runtime/process_mapping.hpp"

using namespace weft;

namespace {

constexpr int processes = 6;

void read_mapping(std::string_view text) {
  weft_fuzz::require(read_process_mapping(text, processes).size() == processes);
}

/// What joining a job and leaving it asks for. Nothing is waited for: all answers are there.
void join(std::span<const std::byte> answers) {
  std::array<int, 2> ends;
  weft_fuzz::require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const file_descriptor ours(ends[0]), theirs(ends[1]);
  ::send(ours.get(), answers.data(), answers.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  ::shutdown(ours.get(), SHUT_WR);
  const pmi_client::time_point now = std::chrono::steady_clock::now();
  const pmi_environment started{theirs.get(), 1, processes, "job"};
  const auto manager = connect_pmi(started, now);
  place_by(*manager, started, now);
  put_pieces(*manager, "weft-1p1", as_bytes("what this process says"), now);
  manager->barrier(now);
  for (int p = 0; p < processes; ++p) get_pieces(*manager, "weft-1p" + std::to_string(p), now);
  manager->finalize(now);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft_fuzz::input from(data, size);
  const bool mapping = size != 0 && data[0] == 0;
  if (mapping) from.take();
  try {
    mapping ? read_mapping(weft_fuzz::text_of(from.rest())) : join(from.rest());
  } catch (const error& failure) {
    weft_fuzz::require(failure.code() == errc::protocol || failure.code() == errc::no_rendezvous ||
                       failure.code() == errc::incompatible || failure.code() == errc::timed_out);
  }
  return 0;
}
