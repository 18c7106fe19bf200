#pragma once
#include <string>

#include "protocom/report/section.h"

namespace protocom {

/// Throws Error that names `name` unless the section can be drawn: its parts fit together, its numbers are some that a
/// chart can show.
void check_section(const Section& section, const std::string& name);

}  // namespace protocom
