#include "fingerprint.hpp"

namespace weft::detail {
namespace {

//   63..60  59..54  53..50  49..45  44    43..20  19..0
//   what    how     op      type    long  count   root
// An operator of the caller's is 14 (it commutes) or 15, and in place of its type stand the bytes of an element, 0 from
// 32 on. Counts below `prime` travel as they are, the others as the remainder to it, marked as long. A broadcast counts
// bytes.
constexpr std::uint64_t count_mask = (std::uint64_t{1} << 24) - 1;
constexpr std::uint64_t prime = 16777213;  // the largest below 2^24
constexpr std::uint64_t root_mask = (std::uint64_t{1} << 20) - 1;

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

bool has_operator(collective what) { return what == collective::reduce || what == collective::allreduce; }
bool has_root(collective what) { return what == collective::reduce || what == collective::broadcast; }

}  // namespace

const char* name(collective what) noexcept {
  switch (what) {
    case collective::barrier:
      return "barrier";
    case collective::broadcast:
      return "bcast";
    case collective::reduce:
      return "reduce";
    case collective::allreduce:
      return "allreduce";
  }
  return "?";
}

const char* name(algorithm how) noexcept {
  switch (how) {
    case algorithm::dissemination:
      return "dissemination";
    case algorithm::binomial:
      return "binomial";
    case algorithm::greedy:
      return "greedy";
    case algorithm::recursive_doubling:
      return "recursive_doubling";
    case algorithm::ring:
      return "ring";
  }
  return "?";
}

std::uint64_t fingerprint(const collective_call& call) noexcept {
  const std::uint64_t count = call.count;
  const bool is_long = count >= prime;
  return static_cast<std::uint64_t>(call.what) << 60 | static_cast<std::uint64_t>(call.how) << 54 |
         operator_number(call) << 50 | type_number(call) << 45 | static_cast<std::uint64_t>(is_long) << 44 |
         (is_long ? count % prime : count) << 20 | (static_cast<std::uint64_t>(call.root) & root_mask);
}

std::string describe_fingerprint(std::uint64_t fingerprint) {
  const auto what = static_cast<collective>(fingerprint >> 60);
  const std::uint64_t count = fingerprint >> 20 & count_mask;
  const bool is_long = (fingerprint >> 44 & 1) != 0;
  std::string text = std::string(name(what)) + "(";
  if (has_operator(what)) text += describe_operator(fingerprint >> 50 & 15, fingerprint >> 45 & 31) + ", ";
  if (what != collective::barrier)
    text += (is_long ? "a count of 2^24 - 3 or more" : "count " + std::to_string(count)) +
            (has_operator(what) ? " elements" : " bytes");
  if (has_root(what)) text += ", root " + std::to_string(fingerprint & root_mask);
  return text + ") by " + name(static_cast<algorithm>(fingerprint >> 54 & 63));
}

}  // namespace weft::detail
