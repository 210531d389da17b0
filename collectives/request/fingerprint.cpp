// SPDX-License-Identifier: Apache-2.0
#include <weft/request/fingerprint.hpp>

namespace weft::detail {
namespace {

//   63..60  59..55  54      53..50  49..45  44    43..20  19..0
//   what    how     uneven  op      type    long  count   root
// how: which of the collective's algorithms in the table. Counts below `prime` travel as they are, the others as the
// remainder to it, marked as long. Where nothing is combined bytes are counted. Uneven: in place of the count a hash of
// all ranks' counts; of an all-to-all, whose ranks know only their own, nothing; where they are the root's, the mask.
// An operator of the caller's is 14 (it commutes) or 15, and in place of its type stand the bytes of an element, 0 from
// 32 on.
constexpr std::uint64_t how_mask = 31;
constexpr std::uint64_t how_joined = how_mask;  // no collective has so many algorithms
constexpr std::uint64_t count_mask = (std::uint64_t{1} << 24) - 1;
constexpr std::uint64_t prime = 16777213;  // the largest below 2^24
constexpr std::uint64_t root_mask = (std::uint64_t{1} << 20) - 1;

std::uint64_t hash_of(const std::vector<std::size_t>& counts) noexcept {
  std::uint64_t hash = counts.size();
  for (const std::size_t count : counts) {
    hash = (hash ^ count) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

constexpr std::uint64_t first_custom = 14;

std::uint64_t operator_number(const collective_call& call) {
  if (call.custom == custom_operator::none) return static_cast<std::uint64_t>(call.op);
  return call.custom == custom_operator::commutes ? first_custom : first_custom + 1;
}
std::uint64_t type_number(const collective_call& call) {
  if (call.custom == custom_operator::none) return static_cast<std::uint64_t>(call.type);
  return call.element_bytes < 32 ? call.element_bytes : 0;
}

std::string describe_operator(std::uint64_t op, std::uint64_t type) {
  if (op < first_custom)
    return std::string(kernels::name(static_cast<kernels::operation>(op))) + ", " +
           std::string(kernels::name(static_cast<kernels::type>(type)));
  return std::string("an operator of the caller's that ") + (op == first_custom ? "commutes" : "does not commute") +
         ", elements of " + (type == 0 ? "32 bytes or more" : std::to_string(type) + " bytes");
}

std::string describe_count(collective what, bool uneven, bool is_long, std::uint64_t count) {
  if (uneven && count == count_mask) return "counts of the root";
  if (uneven && what == collective::alltoall) return "counts of its own";
  if (uneven) return "counts of hash " + std::to_string(count);
  return (is_long ? "a count of 2^24 - 3 or more" : "count " + std::to_string(count)) +
         (schedules::combines(what) ? " elements" : " bytes") + (schedules::has_blocks(what) ? " a rank" : "");
}

/// The call that has this fingerprint; `count` has lost what is beyond it where `is_long`.
std::string describe(std::uint64_t fingerprint, bool is_long, std::uint64_t count, std::int64_t root) {
  const std::uint64_t kind = fingerprint >> 60;
  if (kind >= schedules::collectives) return "something else";
  const auto what = static_cast<collective>(kind);
  std::string text = std::string(schedules::call_name(what)) + "(";
  if (schedules::combines(what)) text += describe_operator(fingerprint >> 50 & 15, fingerprint >> 45 & 31) + ", ";
  if (what != collective::barrier) text += describe_count(what, (fingerprint >> 54 & 1) != 0, is_long, count);
  if (schedules::is_rooted(what)) text += ", root " + std::to_string(root);
  const auto of_it = schedules::algorithms_of(what);
  const std::uint64_t how = fingerprint >> 55 & how_mask;
  if (how == how_joined) return text + "), through shared memory";
  return text + ") by " + std::string(how < of_it.size() ? of_it[how].name : "something else");
}

}  // namespace

std::uint64_t fingerprint(const collective_call& call) noexcept {
  const collective what = call.what();
  const bool uneven = !call.counts.empty();
  const bool is_long = !uneven && call.count >= prime;
  std::uint64_t count = is_long ? call.count % prime : call.count;
  if (uneven) count = what == collective::alltoall ? 0 : call.at_root ? count_mask : hash_of(call.counts) % prime;
  const auto how = static_cast<std::uint64_t>(call.how - schedules::algorithms_of(what).data());
  return static_cast<std::uint64_t>(what) << 60 | (how & how_mask) << 55 | static_cast<std::uint64_t>(uneven) << 54 |
         operator_number(call) << 50 | type_number(call) << 45 | static_cast<std::uint64_t>(is_long) << 44 |
         count << 20 | (static_cast<std::uint64_t>(call.root) & root_mask);
}

call_terms terms_of(const collective_call& call) noexcept {
  std::uint64_t count = call.count;
  if (call.at_root)
    count = count_mask;
  else if (!call.counts.empty())
    count = call.what() == collective::alltoall ? 0 : hash_of(call.counts);
  return {fingerprint(call), count, call.root, call.element_bytes};
}

std::uint64_t joined_fingerprint(const collective_call& call) noexcept { return fingerprint(call) | how_joined << 55; }

std::string describe_fingerprint(std::uint64_t fingerprint) {
  return describe(fingerprint, (fingerprint >> 44 & 1) != 0, fingerprint >> 20 & count_mask,
                  static_cast<std::int64_t>(fingerprint & root_mask));
}

std::string describe_terms(const call_terms& of) { return describe(of.fingerprint, false, of.count, of.root); }

}  // namespace weft::detail
