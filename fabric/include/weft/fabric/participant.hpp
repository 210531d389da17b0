// One rank of one communicator, as the messenger knows it.
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <exception>
#include <memory>
#include <weft/fabric/group.hpp>
#include <weft/fabric/operation.hpp>

namespace weft::fabric {

struct room;

/// Made by a communicator for its rank in this process, and known to the messenger from `join` to `leave`.
class participant {
 public:
  participant(std::shared_ptr<const group> all, int rank) : members(std::move(all)), rank(rank) {}
  participant(const participant&) = delete;
  participant& operator=(const participant&) = delete;

  const std::shared_ptr<const group> members;
  const int rank;

  // The messenger's, under its token.
  room* here = nullptr;        ///< what waits for it
  std::exception_ptr failure;  ///< once set, every operation ends with it
  bool failed_alone = false;   ///< and the other ranks do not hear of it by themselves
  /// The collectives that it began last, by sequence: what it must agree on with the others.
  struct begun_collective {
    std::uint32_t sequence = 0;
    bool valid = false;
    std::uint64_t fingerprint = 0;
  };
  std::array<begun_collective, 64> begun{};
  boost::intrusive::list<
      operation, boost::intrusive::member_hook<operation, boost::intrusive::list_member_hook<>, &operation::active>,
      boost::intrusive::constant_time_size<false>>
      active;
};

}  // namespace weft::fabric
