// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>
#include <weft/runtime/error.hpp>
#include <weft/runtime/limits.hpp>

namespace weft {
namespace {

class weft_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weft"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::invalid_argument:
        return "invalid argument";
      case errc::truncated:
        return "message longer than its buffer";
      case errc::peer_lost:
        return "peer lost";
      case errc::revoked:
        return "communicator revoked";
      case errc::mismatched_call:
        return "ranks called different things";
      case errc::operation_failed:
        return "operation failed on another rank";
      case errc::incompatible:
        return "incompatible peer";
      case errc::no_rendezvous:
        return "the launcher's rendezvous does not answer";
      case errc::no_provider:
        return "no usable provider";
      case errc::timed_out:
        return "deadline passed";
      case errc::provider_failed:
        return "libfabric error";
      case errc::protocol:
        return "wire protocol violated";
      case errc::out_of_memory:
        return "memory limit reached";
      case errc::invalid_rank:
        return "invalid rank";
      case errc::invalid_root:
        return "invalid root";
      case errc::invalid_tag:
        return "invalid tag";
      case errc::invalid_count:
        return "invalid count";
      case errc::invalid_buffer:
        return "invalid buffer";
      case errc::invalid_operator:
        return "invalid operator";
    }
    return "unknown error";
  }
};

}  // namespace

const std::error_category& category() noexcept {
  static const weft_category instance;
  return instance;
}

bool operator==(const std::error_code& code, errc what) noexcept {
  if (code == make_error_code(what)) return true;
  return what == errc::invalid_argument && code.category() == category() &&
         code.value() >= static_cast<int>(errc::invalid_rank);
}

peer_lost::peer_lost(int rank, const std::string& message, std::vector<int> all)
    : error(errc::peer_lost, message), rank_(rank) {
  if (all.empty() && rank >= 0) all.push_back(rank);
  all_ = std::make_shared<const std::vector<int>>(std::move(all));
}

std::string message_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "not a std::exception";
  }
}

void throw_system_error(int number, const char* call, const std::string& what) {
  throw error(std::error_code(number, std::system_category()), what + ": " + call + ": " + std::strerror(number) +
                                                                   " (errno " + std::to_string(number) + ")" +
                                                                   limit_behind(number, call));
}

}  // namespace weft
