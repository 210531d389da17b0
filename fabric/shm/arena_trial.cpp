// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <weft/fabric/arena.hpp>
#include <weft/fabric/arena_trial.hpp>
#include <weft/fabric/process_memory.hpp>
#include <weft/runtime/error.hpp>

#include "descriptor_passing.hpp"
#include "heap_space.hpp"
#include "memory_left.hpp"
#include "shared_memory.hpp"

namespace weft::fabric {
namespace {

std::string try_to_read_child() {
  const volatile int known = 4884;
  const pid_t child = ::fork();
  if (child < 0) return "fork: " + std::error_code(errno, std::system_category()).message();
  if (child == 0)
    for (;;) ::pause();
  int found = 0;
  const auto failed = read_process_memory(child, reinterpret_cast<std::uintptr_t>(&known),
                                          std::as_writable_bytes(std::span(&found, 1)));
  ::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (failed) return "process_vm_readv: " + failed.message();
  return found == known ? "" : "process_vm_readv reads something else";
}

void try_heaps(arena_trial& result) {
  try {
    result.heap_bytes = heap_space::make(2).region_bytes();
    const memory_left left = find_memory_left();
    result.memory_left = left.bytes;
    result.memory_limit = left.limit;
  } catch (const error& failed) {
    result.heap_refusal = failed.what();
  }
}

}  // namespace

arena_trial try_arena() {
  arena_trial result;
  result.bytes_of_process = arena::area_bytes(2);
  try {
    const auto listener = nameless_listener::open();
    const auto connection = connect_to_listener(::getpid(), listener.number());
    const auto memory = make_shared_memory(arena::all_bytes(2));
    reserve_shared_memory(memory, 0, 2 * arena::area_bytes(2));
    const mapping all(memory, 0, arena::all_bytes(2));
  } catch (const error& failed) {
    result.refusal = failed.what();
  }
  try_heaps(result);
  result.reading_refusal = try_to_read_child();
  return result;
}

}  // namespace weft::fabric
