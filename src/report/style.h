#pragma once

namespace protocom {

/// The report's style sheet: light, dark and print, for a phone and a desk.
const char* report_style();

}  // namespace protocom
