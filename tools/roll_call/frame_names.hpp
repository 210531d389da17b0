// SPDX-License-Identifier: Apache-2.0
// The names of functions on a stack, as people read them.
#pragma once

#include <string>
#include <string_view>
#include <weft/roll_call/report.hpp>

namespace weft::tools {

/// The name of a function without its type, its arguments and those of templates.
std::string plain_name(std::string_view function);

/// Whose a function is, by its name as a person reads it, its file and its module.
frame_owner owner_of(const roll_frame& of);

}  // namespace weft::tools
