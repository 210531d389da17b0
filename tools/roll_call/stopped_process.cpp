// SPDX-License-Identifier: Apache-2.0
#include "stopped_process.hpp"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>
#include <weft/roll_call/ask.hpp>

namespace weft::tools {
namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

/// A thread in the middle of a call of the system that cannot be interrupted is waited for so long.
constexpr auto stopping_time = 500ms;

/// Of each stack, from its innermost frame outward.
constexpr std::size_t most_copied = 256 << 10;

constexpr std::size_t page = 4096;

/// Coroutines that resume each other.
constexpr int deepest = 4;

std::string refusal(int number) {
  std::string text = std::string("no stacks, since it may not be traced: ptrace: ") + std::strerror(number);
  if (number != EPERM) return text;
  char scope = '0';
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  if (scope == '0') return text + "; it takes the same user and a program that may be read, or CAP_SYS_PTRACE";
  return text + "; /proc/sys/kernel/yama/ptrace_scope is " + scope +
         ": its `weft run` may where that is 1 (by `weft ps JOB` and --stuck-after), else root, or all where it is 0";
}

#if defined(__aarch64__)
saved_registers from_user(const user_regs_struct& of) {
  saved_registers its;
  std::copy(std::begin(of.regs), std::end(of.regs), its.values.begin());
  its.values[31] = of.sp;
  its.pc = of.pc;
  return its;
}
#elif defined(__x86_64__)
saved_registers from_user(const user_regs_struct& of) {
  return {{of.rax, of.rdx, of.rcx, of.rbx, of.rsi, of.rdi, of.rbp, of.rsp, of.r8, of.r9, of.r10, of.r11, of.r12, of.r13,
           of.r14, of.r15, of.rip},
          of.rip};
}
#endif

/// The threads that ranks run on, stopped until it ends.
class stopped_threads {
 public:
  stopped_threads(const roll_process& of, std::string& problem) {
    std::set<pid_t> threads;
    for (const roll_rank& each : of.ranks)  // its own: it may say what it likes
      if (state_of(of.pid, each.thread) != '?') threads.insert(each.thread);
    for (const pid_t thread : threads) {
      if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
        if (errno != ESRCH) problem = refusal(errno);
        continue;
      }
      ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
      seized_.push_back(thread);
    }
    // Not by waitpid: in a launcher, whose children they are, its event loop would take part in that.
    const auto deadline = clock_type::now() + stopping_time;
    for (const pid_t thread : seized_) {
      user_regs_struct found{};
      iovec place{&found, sizeof found};
      while (::ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &place) != 0) {
        if (clock_type::now() > deadline) {
          problem = "no stack of a thread that does not stop, in a call of the system";
          break;
        }
        std::this_thread::sleep_for(50us);
        place = {&found, sizeof found};
      }
      if (found.*stack_pointer != 0) registers_[thread] = from_user(found);
    }
  }
  stopped_threads(const stopped_threads&) = delete;
  stopped_threads& operator=(const stopped_threads&) = delete;
  ~stopped_threads() {
    for (const pid_t thread : seized_) ::ptrace(PTRACE_DETACH, thread, nullptr, nullptr);
  }

  const saved_registers* of(pid_t thread) const {
    const auto found = registers_.find(thread);
    return found != registers_.end() ? &found->second : nullptr;
  }

 private:
#if defined(__aarch64__)
  static constexpr auto stack_pointer = &user_regs_struct::sp;
#else
  static constexpr auto stack_pointer = &user_regs_struct::rsp;
#endif

  std::vector<pid_t> seized_;
  std::map<pid_t, saved_registers> registers_;
};

std::optional<std::uint64_t> read_word(pid_t of, std::uint64_t at) noexcept {
  std::uint64_t word = 0;
  if (read_memory(of, at, reinterpret_cast<std::byte*>(&word), sizeof word) != sizeof word) return std::nullopt;
  return word;
}

/// Where code is in the process.
class code_map {
 public:
  explicit code_map(pid_t of) {
    std::ifstream maps("/proc/" + std::to_string(of) + "/maps");
    for (std::string line; std::getline(maps, line);) {
      unsigned long long begin = 0, end = 0;
      std::array<char, 5> rights{};
      if (std::sscanf(line.c_str(), "%llx-%llx %4s", &begin, &end, rights.data()) == 3 && rights[2] == 'x')
        ranges_.push_back({begin, end});
    }
  }
  bool contains(std::uint64_t address) const {
    return std::ranges::any_of(ranges_,
                               [&](const auto& each) { return each.first <= address && address < each.second; });
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;
};

/// What a fiber goes on with that was left by Boost's jump_fcontext: that has pushed the registers that a function must
/// keep, and `at` is the stack pointer behind that.
std::optional<saved_registers> left_registers(pid_t of, const code_map& code, std::uint64_t at) {
  saved_registers its;
#if defined(__aarch64__)
  // d8 to d15, x19 to x30, pc
  std::array<std::uint64_t, 22> words{};
  const std::size_t bytes = sizeof words;
  if (read_memory(of, at, reinterpret_cast<std::byte*>(words.data()), bytes) != bytes) return std::nullopt;
  for (std::size_t i = 0; i < 12; ++i) its.values[19 + i] = words[8 + i];
  its.pc = words[20];
  its.values[31] = at + 0xb0;
  if (!code.contains(its.pc)) return std::nullopt;
#else
  // mxcsr and x87, with a protector of the stack also its guard; r12 to r15, rbx, rbp, pc
  std::array<std::uint64_t, 9> words{};
  const std::size_t bytes = sizeof words;
  if (read_memory(of, at, reinterpret_cast<std::byte*>(words.data()), bytes) != bytes) return std::nullopt;
  std::size_t first = 1;
  if (!code.contains(words[first + 6])) ++first;
  if (first + 6 >= words.size() || !code.contains(words[first + 6])) return std::nullopt;
  for (std::size_t i = 0; i < 4; ++i) its.values[12 + i] = words[first + i];
  its.values[3] = words[first + 4];
  its.values[6] = words[first + 5];
  its.values[16] = its.pc = words[first + 6];
  its.values[7] = at + 8 * (first + 7);
#endif
  return its;
}

/// What is on the stack from its innermost frame on; not beyond `top`, where that is near.
void copy_bytes(pid_t of, saved_stack& to, std::uint64_t top, std::vector<std::byte> room) {
  to.begin = to.registers.values[saved_registers::stack_pointer];
  const bool ends = top > to.begin && top - to.begin < room.size();
  if (ends) room.resize(top - to.begin);
  room.resize(read_memory(of, to.begin, room.data(), room.size()));
  to.bytes = std::move(room);
}

/// Where the stack is that of a coroutine: the stack of whoever has resumed that.
saved_stack* add_outer(const roll_process& of, const code_map& code, std::uint64_t top, saved_stack& inner) {
  const auto lies_there = [&](const roll_coroutine& each) {
    return each.bottom <= inner.begin && inner.begin < each.top;
  };
  const auto found = std::ranges::find_if(of.coroutines, lies_there);
  if (found == of.coroutines.end()) return nullptr;
  const auto context = read_word(of.pid, found->resumed_by);
  const auto left_at = context ? read_word(of.pid, *context) : std::nullopt;
  const auto left = left_at ? left_registers(of.pid, code, *left_at) : std::nullopt;
  if (!left) return nullptr;
  inner.outer = std::make_unique<saved_stack>();
  inner.outer->registers = *left;
  inner.outer->parked = true;
  copy_bytes(of.pid, *inner.outer, top, std::vector<std::byte>(most_copied));
  return inner.outer.get();
}

}  // namespace

std::size_t read_memory(pid_t of, std::uint64_t at, std::byte* to, std::size_t bytes) noexcept {
  // By pages: what cannot be read ends it there.
  std::array<iovec, most_copied / page + 2> theirs;
  std::size_t parts = 0;
  for (std::uint64_t from = at; from < at + bytes && parts < theirs.size(); ++parts) {
    const std::uint64_t next = std::min((from / page + 1) * page, at + bytes);
    theirs[parts] = {reinterpret_cast<void*>(from), next - from};
    from = next;
  }
  const iovec mine{to, bytes};
  const ssize_t count = ::process_vm_readv(of, &mine, 1, theirs.data(), parts, 0);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

std::vector<std::optional<saved_stack>> copy_stacks(const roll_process& of, std::string& problem) {
  std::vector<std::optional<saved_stack>> result(of.ranks.size());
  const code_map code(of.pid);
  std::vector<std::vector<std::byte>> rooms(of.ranks.size());  // made before anybody is stopped
  for (auto& each : rooms) each.resize(most_copied);
  const stopped_threads stopped(of, problem);
  for (std::size_t i = 0; i < of.ranks.size(); ++i) {
    const roll_rank& rank = of.ranks[i];
    const saved_registers* const its = stopped.of(rank.thread);
    if (its == nullptr) continue;
    saved_stack copy;
    copy.registers = *its;
    if (rank.fiber != 0) {
      const auto running = read_word(of.pid, rank.running);
      copy.parked = running && *running != rank.fiber;
    }
    if (copy.parked) {
      const auto left_at = read_word(of.pid, rank.left_at);
      const auto left = left_at ? left_registers(of.pid, code, *left_at) : std::nullopt;
      if (!left) continue;
      copy.registers = *left;
    }
    copy_bytes(of.pid, copy, rank.top, std::move(rooms[i]));
    saved_stack* inner = &copy;
    for (int depth = 0; depth < deepest && inner != nullptr; ++depth) inner = add_outer(of, code, rank.top, *inner);
    result[i] = std::move(copy);
  }
  return result;
}

}  // namespace weft::tools
