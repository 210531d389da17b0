// SPDX-License-Identifier: Apache-2.0
// What weft throws. Every error carries a code to test for and a message that says what was wrong, where, and what
// would be right.
#pragma once

#include <weft/api.h>

#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace weft {

/// What went wrong, as a portable code. From 100 on come the kinds of invalid_argument that callers tell apart: a code
/// of one of them equals errc::invalid_argument, too (its value and error_code do not).
enum class errc {
  invalid_argument = 1,  ///< an argument, option or input that cannot be used
  truncated,             ///< a message longer than the buffer that was to receive it
  peer_lost,             ///< a process of the job died or can no longer be reached
  revoked,               ///< the communicator was aborted
  mismatched_call,       ///< ranks of one communicator called different things
  operation_failed,      ///< another rank could not complete its part
  incompatible,          ///< the other side is a different build of weft, or not weft at all
  no_rendezvous,         ///< a launcher is there but its rendezvous does not answer
  no_provider,           ///< no libfabric provider fits
  timed_out,             ///< a deadline passed
  provider_failed,       ///< libfabric reported an error
  protocol,              ///< a message from outside that breaks the wire protocol
  out_of_memory,         ///< the option memory-limit leaves less than is needed
  invalid_rank = 100,    ///< a source, destination or member that there is not, or a list of ranks that cannot be
  invalid_root,          ///< of a collective
  invalid_tag,           ///< of a message
  invalid_count,         ///< a count, a displacement, or a buffer's length that does not fit them
  invalid_buffer,        ///< a buffer at address 0, or two that overlap
  invalid_operator,      ///< one that the elements do not have, or that cannot be kept
};

}  // namespace weft

template <>
struct std::is_error_code_enum<weft::errc> : std::true_type {};

namespace weft {

WEFT_API const std::error_category& category() noexcept;
inline std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), category()}; }
/// Whether it is that code, or a kind of it.
WEFT_API bool operator==(const std::error_code& code, errc what) noexcept;

/// Base of everything that weft throws.
class WEFT_API error : public std::runtime_error {
 public:
  error(errc code, const std::string& message) : std::runtime_error(message), code_(make_error_code(code)) {}
  error(std::error_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  const std::error_code& code() const noexcept { return code_; }

 private:
  std::error_code code_;
};

/// A rank of the job is gone. `rank()` is its rank in the world (the first one, where a process hosted several).
class WEFT_API peer_lost : public error {
 public:
  /// `all`: the ranks known to be lost, in ascending order; of one alone there need be none.
  peer_lost(int rank, const std::string& message, std::vector<int> all = {});
  int rank() const noexcept { return rank_; }
  /// All ranks of the world that this process knew to be lost when this was thrown, in ascending order. Of a loss
  /// while the job starts the first alone.
  std::span<const int> ranks() const noexcept { return *all_; }

 private:
  int rank_;
  std::shared_ptr<const std::vector<int>> all_;  // copied without a throw
};

/// What an exception says: "not a std::exception" where it is none. `failure` is not null.
WEFT_API std::string message_of(const std::exception_ptr& failure);

/// Throws an `error` for a failed system call: "WHAT: CALL: text of errno (errno N)", and which
/// limit of this process it has met, if it may be one. `number` is errno.
[[noreturn]] WEFT_API void throw_system_error(int number, const char* call, const std::string& what);

}  // namespace weft
