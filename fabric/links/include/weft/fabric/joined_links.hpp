// SPDX-License-Identifier: Apache-2.0
// Several endpoints of a process, used side by side as one transport.
//
//   process 0                         process 1
//     link 0  eth0 ---------------- eth0  link 0      a link joins the endpoints of one number
//     link 1  ib0  ---------------- ib0   link 1
//
//   frames      each by the link that has least to do; their receiver puts them in order again
//   payloads    by turns, by their tags, so that both sides know where each is to come
//
// A frame is kept until its receiver has said, with a frame of its own, up to which it has taken them; a payload is
// done when its receiver has said that it has landed. So a link between two processes can be given up while something
// is on it: what is not known to have come goes again by another one, and what comes twice is dropped. A link is given
// up when the provider reports an error on it, when its interface is down on either side, and when the other side
// answers by others alone; and for good. The last one that this side uses is kept, and its errors are the transport's.
// Where both sides give up another one at the same time, they are lost to each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>
#include <weft/fabric/transport.hpp>
#include <weft/runtime/clock.hpp>

namespace weft::fabric {

/// A link is a bit of a mask.
inline constexpr int most_links = 16;

/// What a frame of a link holds beside the joined transport's, bytes.
inline constexpr std::size_t joined_overhead = 20;

struct joined_links_settings {
  int process = 0;                  ///< this one
  std::vector<std::uint32_t> keys;  ///< of each process, drawn anew when it joins: strangers' frames have others
  std::function<bool(int link)>
      works;  ///< whether its interface is up, asked now and then; empty: always. Must not block
  /// That the link to that peer is given up. With the token held; must not block.
  std::function<void(int peer, int link)> given_up;
  const clock* time = &steady_clock_source();  ///< outlives the transport
};

/// Joins `links`, of which none has been started, 1 to `most_links`. One alone has its frames put in order. Until
/// `keep_links` only link 0 is used, by which alone the peers have to be within reach. Every process of the job has as
/// many.
std::unique_ptr<transport> join_links(std::vector<std::unique_ptr<transport>> links, joined_links_settings settings);

}  // namespace weft::fabric
