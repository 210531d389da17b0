// Reduction of vectors that are split among groups of ranks.
#pragma once

#include <weft/schedules/pipeline.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::schedules {

struct split_reduction {
  int ranks = 1;
  int root = 0;
  int splits = 1;  ///< how often the vector is halved: 2^splits groups of ranks and parts, at most as many as ranks
  int degree = 2;  ///< of the f-nomial tree within each group, at least 2
  pipeline by;     ///< of each part
};

/// Emits `rank`'s steps of the f-nomial split of Moody et al. 2003 (section 5.3, after van de Geijn 1991), for
/// operators whose combining costs more than some more messages. The ranks halve, and so does the vector; each rank
/// sends the half that the others keep to one of them and combines what it gets with the half that it keeps itself. So
/// again, `splits` times. Then each group reduces its part of the vector over a tree of its own, all at the same time,
/// and the groups' roots send the parts to the root.
///
///     8 ranks, 1 split       0 1 2 3   keep the first half, and send the second one down
///                            | | | |
///                            4 5 6 7   keep the second half, and send the first one up
///                            0 <- 1, 2 <- 3, 0 <- 2      then the same tree in both groups, each on half a vector
///                            4 <- 5, 6 <- 7, 4 <- 6
///                            0 <- 4                      which the root puts together
///
/// With ranks to spare the lower halves have one less, and one of them takes two halves. A rank combines
/// 1 - 2^-splits of a vector, and 2^-splits of one for each operand of its tree, where one tree alone combines a whole
/// one. Ranks are counted from the root on, around. Chunks are the parts; every rank's input is the whole vector, and
/// so is the root's output, which may be the same memory. Scratch is `window` slots of half a vector's segment, and the
/// others than the root work on half a vector beside it. Operators must commute. Throws std::invalid_argument for a bad
/// rank, root, degree, pipeline or number of splits.
void split_reduce(const split_reduction& of, int rank, sink& to);

}  // namespace weft::schedules
