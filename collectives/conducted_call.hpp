// Collectives that the ranks of a process do in each other's buffers.
#pragma once

#include <exception>
#include <memory>
#include <span>

#include "joined_work.hpp"

namespace weft::detail {

/// The bench whose last rank conducts.
inline constexpr std::size_t conducting_bench = 0;

/// One bench's part of a call, by its last rank. That of one bench conducts: it finds memory, says who does what of the
/// work, and takes the process's part among the processes, while the others do as it says. A short one it does alone.
class conducted_call {
 public:
  /// In a round in which this bench has published, `turn`; null where it is the only one.
  conducted_call(communicator_state& state, const request& call, joined_work& work, worker_rounds::round* turn);

  /// By the first, when all others have published. Blocks until all calls here are over.
  void conduct();
  /// By the others. Blocks likewise, and ends the calls of its bench where the communicator has failed before.
  void follow();

 private:
  enum class job : std::uint32_t { join, take, over };

  void run();
  void all_do(job what);
  void do_part(job what) noexcept;
  void end_joining();
  void go_between(std::shared_ptr<const fabric::poison> poisoned = nullptr);
  leader_call call_between(std::shared_ptr<const fabric::poison> poisoned);
  void end_poisoned(const leader_result& result);
  void end_all(const std::exception_ptr& failure) noexcept;
  bool shares_work() const;

  communicator_state& state_;
  meeting& here_;
  const request& call_;
  joined_work& work_;
  worker_rounds::round* const turn_;
  meeting::seat& mine_;
  const std::span<const std::size_t> seats_;  ///< of its bench
};

}  // namespace weft::detail
