// SPDX-License-Identifier: Apache-2.0
#include "troubles.hpp"

#include <algorithm>
#include <new>

namespace weft::fabric {

void troubles::suspect(peer& who, std::string_view why, std::chrono::milliseconds patience) noexcept {
  if (who.lost || who.suspected) return;
  who.suspected = any_ = true;
  who.lose_at = time_.now() + patience;
  try {
    who.suspicion = why;
  } catch (const std::bad_alloc&) {  // then without a reason
  }
}

bool troubles::is_owed(std::uint64_t communicator) const noexcept {
  return std::ranges::find(owed_, communicator, &owed_break::communicator) != owed_.end();
}

void troubles::owe_break(std::uint64_t communicator, const std::exception_ptr& why) noexcept {
  if (owes_break(communicator)) return;
  any_ = true;
  if (has_room())
    owed_.push_back({communicator, why});
  else
    general_ = why;
}

}  // namespace weft::fabric
