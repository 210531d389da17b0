// SPDX-License-Identifier: Apache-2.0
// Everything that a program needs of weft.
#pragma once

#include <weft/version.hpp>
#if __cplusplus >= 202002L  // else that has said what is needed, and the others would say it in hundreds of lines
#include <weft/array_view.hpp>
#include <weft/communicator.hpp>
#include <weft/deadline.hpp>
#include <weft/grid.hpp>
#include <weft/group.hpp>
#include <weft/halo.hpp>
#include <weft/runtime.hpp>
#include <weft/runtime/error.hpp>
#include <weft/window.hpp>
#endif
