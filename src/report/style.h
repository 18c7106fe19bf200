#pragma once
#include <string>

namespace protocom {

/// The style sheet of a page: palette, page, figures.
std::string report_style();

}  // namespace protocom
