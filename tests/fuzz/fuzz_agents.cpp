// SPDX-License-Identifier: Apache-2.0
// What the launcher and its agents send to each other, over a connection between two of them; and an agent's hello.
#include <sys/socket.h>

#include <array>
#include <weft/runtime/error.hpp>

#include "input.hpp"
#include "tools/agents/agent_handshake.hpp"
#include "tools/agents/agent_link.hpp"

using namespace weft::tools;

namespace {

template <class T>
void read(std::string_view body) {
  to_body(from_body<T>(body));
}

void hear(link_sink& output, message kind, std::string_view body) {
  switch (kind) {
    case message::orders:
      return read<orders>(body);
    case message::signal:
    case message::errors_written:
      return read<int>(body);
    case message::output_written:
      return output.written(from_body<int>(body));
    case message::finish:
      return read<finishing>(body);
    case message::started:
      return read<std::vector<int>>(body);
    case message::failed:
    case message::host_failed:
      return read<failure>(body);
    case message::ended:
      return read<process_end>(body);
    case message::input:
      return read<invitation>(body);  // which comes another way
    default:
      return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static event_loop loop;
  const auto bytes = std::as_bytes(std::span(data, size));
  std::array<int, 2> ends;
  weft_fuzz::require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const weft::file_descriptor theirs(ends[1]);
  link_sink* output = nullptr;
  agent_link link(
      loop, weft::file_descriptor(ends[0]), [&](message kind, std::string_view body) { hear(*output, kind, body); },
      [](const std::string&) {});
  link_sink sink(link, message::output);
  output = &sink;
  sink.put("some output");
  if (size != 0) ::send(theirs.get(), data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
  ::shutdown(theirs.get(), SHUT_WR);
  while (link.open()) loop.wait(event_loop::clock::now());
  if (size >= agent_hello_size) admit("the secret of this job", {}, bytes.first(agent_hello_size));
  return 0;
}
