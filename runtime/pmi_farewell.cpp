#include "pmi_farewell.hpp"

#include <cstdlib>
#include <new>
#include <weft/runtime/socket.hpp>

#include "bytes.hpp"
#include "read_output.hpp"

namespace weft {
namespace {

struct farewell {
  int descriptor;
  std::string (*message)(int status);
};

void say(int status, void* argument) {
  const auto* const last = static_cast<farewell*>(argument);
  let_output_be_read();
  const file_descriptor socket(last->descriptor);
  send_now(socket, as_bytes(last->message(status != 0 ? status : EXIT_FAILURE)));
  delete last;
}

}  // namespace

void abort_pmi_at_exit(int descriptor, std::string (*message)(int status)) noexcept {
  ::on_exit(say, new (std::nothrow) farewell{descriptor, message});
}

}  // namespace weft
