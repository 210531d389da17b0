// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <system_error>
#include <vector>
#include <weft/version.hpp>

#include "handles.hpp"

namespace weft::c {
namespace {

thread_local failure latest;

failure described(int result, const char* text, std::span<const int> ranks = {}) noexcept {
  failure what;
  what.result = result;
  try {
    what.ranks.assign(ranks.begin(), ranks.end());
    what.text = text;
  } catch (const std::bad_alloc&) {
    what.without_memory = "an error, and no memory for its text";
  }
  return what;
}

static_assert(WEFT_INVALID_ARGUMENT == static_cast<int>(errc::invalid_argument));
static_assert(WEFT_PROTOCOL == static_cast<int>(errc::protocol));
static_assert(WEFT_INVALID_OPERATOR == static_cast<int>(errc::invalid_operator));

int code_of(const std::error_code& code) noexcept {
  if (code == errc::out_of_memory) return WEFT_NO_MEMORY;
  return code.category() == category() ? code.value() : WEFT_SYSTEM;
}

}  // namespace

void check_callback(const char* which, int returned) {
  if (returned != 0) throw callback_failed(std::string(which) + " returned " + std::to_string(returned));
}

void refuse_null(const char* what) { throw error(errc::invalid_argument, std::string(what) + " is NULL"); }

failure current_failure() noexcept {
  try {
    throw;
  } catch (const peer_lost& lost) {
    return described(WEFT_PEER_LOST, lost.what(), lost.ranks());
  } catch (const timed_out& late) {
    return described(WEFT_TIMED_OUT, late.what(), late.missing());
  } catch (const error& failed) {
    return described(code_of(failed.code()), failed.what());
  } catch (const std::bad_alloc& failed) {
    return described(WEFT_NO_MEMORY, failed.what());
  } catch (const std::system_error& failed) {
    return described(WEFT_SYSTEM, failed.what());
  } catch (const std::exception& failed) {
    return described(WEFT_CALLBACK, failed.what());
  } catch (...) {
    return described(WEFT_CALLBACK, "an exception that is no std::exception");
  }
}

int keep(failure&& what) noexcept {
  latest = std::move(what);
  return latest.result;
}

}  // namespace weft::c

using namespace weft::c;

const char* weft_error_text() { return latest.without_memory != nullptr ? latest.without_memory : latest.text.c_str(); }

size_t weft_error_ranks(int* ranks, size_t room) {
  if (ranks != nullptr) std::copy_n(latest.ranks.begin(), std::min(room, latest.ranks.size()), ranks);
  return latest.ranks.size();
}

const char* weft_result_name(int result) {
  switch (result) {
    case WEFT_OK:
      return "no error";
    case WEFT_NO_MEMORY:
      return "no memory";
    case WEFT_SYSTEM:
      return "a call of the system failed";
    case WEFT_CALLBACK:
      return "a function of the caller's failed";
    default: {
      thread_local std::string name;
      try {
        name = weft::category().message(result);
      } catch (const std::bad_alloc&) {
        return "an error";
      }
      return name.c_str();
    }
  }
}

int weft_version() { return WEFT_VERSION; }
