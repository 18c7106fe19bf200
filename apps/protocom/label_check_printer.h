#pragma once
#include <cstdint>
#include <set>
#include <string>

#include "recognizer/recognizer.h"

namespace protocom::cli {

/// Most images for which labels are checked without a request: the work is that of expected_accuracy().
inline constexpr int64_t kMostCheckedUnasked = 5000;

/// Prints the findings on the enrolled images' labels: images that look misplaced, images in two classes, confused
/// classes, and classes that more photos would help most; nothing if there are none. `most`: rows of each kind.
void print_label_check(const LabelCheck& check, size_t most);

/// Returns the findings that concern these classes.
LabelCheck about_classes(LabelCheck check, const std::set<std::string>& classes);

}  // namespace protocom::cli
