// SPDX-License-Identifier: Apache-2.0
// A set of logical processors, by the numbers that the kernel gives them.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace weft::topology {

/// A value; iterates in ascending order. Negative numbers are not cpus: a set never holds one.
class cpu_set {
 public:
  cpu_set() = default;
  cpu_set(std::initializer_list<int> cpus);

  /// Reads Linux' list syntax, "0-3,8"; the empty string is the empty set. Throws errc::invalid_argument that names the
  /// text and the place in it: anything else, a range that runs backwards, a cpu beyond `largest`.
  static cpu_set parse(std::string_view list);
  static constexpr int largest = 65535;  ///< bounds what a text can make us allocate; no kernel numbers so far

  void insert(int cpu);
  bool empty() const noexcept { return cpus_.empty(); }
  int size() const noexcept { return static_cast<int>(cpus_.size()); }
  int first() const { return cpus_.front(); }  ///< of a set that is not empty
  int last() const { return cpus_.back(); }    ///< of a set that is not empty
  auto begin() const noexcept { return cpus_.begin(); }
  auto end() const noexcept { return cpus_.end(); }

  bool contains(int cpu) const noexcept;
  bool includes(const cpu_set& other) const noexcept;    ///< every cpu of `other` is here
  bool intersects(const cpu_set& other) const noexcept;  ///< some cpu of `other` is here
  friend bool operator==(const cpu_set&, const cpu_set&) = default;

 private:
  friend cpu_set operator|(const cpu_set& a, const cpu_set& b);
  friend cpu_set operator&(const cpu_set& a, const cpu_set& b);
  friend cpu_set operator-(const cpu_set& a, const cpu_set& b);

  std::vector<int> cpus_;  // ascending, each once
};

cpu_set operator|(const cpu_set& a, const cpu_set& b);  ///< in a or in b
cpu_set operator&(const cpu_set& a, const cpu_set& b);  ///< in a and in b
cpu_set operator-(const cpu_set& a, const cpu_set& b);  ///< in a and not in b

/// Linux' list syntax in its shortest form, "0-3,8"; the empty set is the empty string.
std::string to_string(const cpu_set& cpus);

}  // namespace weft::topology
