// SPDX-License-Identifier: Apache-2.0
// What weft writes into frames.
//
//   eager      header | the message
//   envelope   header | envelope_body       a message of header.length bytes waits at its sender
//   grant      header | grant_body          the receiver has posted memory for `granted` bytes of it; of 0: it will
//                                           when it is told that the message is ready
//   ready      header                       the message that the receiver calls header.detail, of which 0 were granted
//   refuse     header                       the message that its sender calls header.detail is longer than the
//                                           receiver's buffer, which has header.length bytes
//   withdraw   header                       the receiver gives up the message that it calls header.detail; source: why
//                                           (`stopped`)
//   withdrawn  header                       the sender has stopped after header.length bytes of what the receiver calls
//                                           header.detail; source: why (`stopped`)
//   poisoned   header | poison_body | text  a short message of header.length bytes without contents
//   inquiry    header | inquiry_body        a rank waits long for header.destination: of a collective its tag and
//                                           fingerprint, for the other side to compare; length: of the message that it
//                                           waits to send, 0 of one that it is to receive
//   left       header                       behind all messages, to who inquired: that rank is in the communicator no
//                                           more, or, in matching 1, no collective of it from number header.tag on will
//                                           be whole; length: 0, or one more than a rank of the world known to be lost
//   consensus  header | part                of a message of agreement number header.source, which has header.length
//                                           bytes: those from header.detail on; tag: what rank header.destination had
//                                           offered (group::offered)
//   dropped    header                       nothing of the message that its sender calls header.detail will be granted:
//                                           nobody will ever receive it, or it was empty and has been received
//   credit     header                       gives credit back; source 1: send envelopes only, 0: send eagerly again;
//                                           destination 1: it costs credit itself
//   several    header | frames               other frames, each behind its length in 4 bytes; their headers need no
//                                           sender, sequence and credit
//   hello      header                       opens a connection, gives header.length units of credit and takes frames of
//                                           header.detail bytes; source 1: asks for an answer; source 2: the connection
//                                           stands, and header.detail names the sender's end of it (transport::cut)
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <weft/fabric/build_identity.hpp>

namespace weft::fabric {

inline constexpr std::uint8_t wire_version = build_identity::current_wire;

enum class message_kind : std::uint8_t {
  hello = 1,
  eager,
  envelope,
  grant,
  refuse,
  withdraw,
  withdrawn,
  credit,
  dropped,
  inquiry,
  poisoned,
  ready,
  left,
  consensus,
  several
};

/// Of `withdrawn`, in header.source: why the sender has stopped; of `withdraw`, why the receiver has: told or alone.
enum class stopped : std::int32_t {
  told = 0,  ///< the other side hears of it otherwise
  alone,     ///< it does not
  poisoned,  ///< the message has no contents: poison_body | text follow
  left,      ///< the sender's rank is in the communicator no more; header.tag as the length of `left`
};

/// Matching space within a communicator: messages by source and tag, or a collective's by source and ordinal.
enum class space : std::uint16_t { message = 0, collective = 1 };

/// In front of every frame; little-endian as all machines that weft runs on.
struct header {
  std::uint8_t version = wire_version;
  message_kind kind = message_kind::eager;
  std::uint16_t epoch = 0;  ///< of the communicator
  std::uint32_t job = 0;
  std::uint32_t process = 0;      ///< who sends
  std::uint16_t incarnation = 0;  ///< which start of that process
  space matching = space::message;
  std::uint32_t sequence = 0;  ///< counts the frames from this process to that one
  std::uint32_t credit = 0;    ///< gives back so many units of credit
  std::uint64_t communicator = 0;
  /// The message's ranks: that which gets the frame is one of the world, the other one of the communicator.
  std::int32_t source = 0;
  std::int32_t destination = 0;
  std::uint64_t tag = 0;
  std::uint64_t length = 0;  ///< of the message, bytes
  std::uint64_t detail = 0;  ///< eager, envelope, grant: a collective's fingerprint; else a name of the message
};

struct envelope_body {
  std::uint32_t sender_name = 0;  ///< what the sender calls the message
};

struct inquiry_body {
  std::int32_t asker = -1;  ///< its rank in the world
  std::uint32_t unused = 0;
  std::uint64_t offered = 0;  ///< see group::offered; 0: nothing was
};

/// Of fabric::poison; the text is the rest of the frame.
struct poison_body {
  std::int32_t origin = -1;
};

struct grant_body {
  std::uint64_t granted = 0;      ///< bytes of the message that may be sent so far
  std::uint64_t sender_name = 0;  ///< from the envelope; 0 where there was none
  std::uint32_t id = 0;           ///< the receiver's name for the message, and the tag of its payload
  std::uint32_t piece = 0;        ///< bytes of each payload transfer since the grant before, but the last
};
static_assert(sizeof(grant_body) == 24);

/// Credit is counted in units of so many bytes.
inline constexpr std::size_t credit_unit = 64;
inline constexpr std::uint32_t credit_cost(std::size_t frame) {
  return static_cast<std::uint32_t>((frame + credit_unit - 1) / credit_unit);
}

template <class Part>
Part read_part(std::span<const std::byte> frame, std::size_t at) {
  Part part;
  std::memcpy(&part, frame.data() + at, sizeof part);
  return part;
}
template <class Part>
void write_part(std::byte* frame, std::size_t at, const Part& part) {
  std::memcpy(frame + at, &part, sizeof part);
}

}  // namespace weft::fabric
