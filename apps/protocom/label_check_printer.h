#pragma once
#include <cstdint>
#include <set>
#include <string>

#include "recognizer/recognizer.h"

namespace protocom::cli {

/// Images up to which labels are checked without a request: the work is that of expected_accuracy().
inline constexpr int64_t kMostCheckedUnasked = 5000;

/// Prints what the enrolled images say of their labels: images that look misplaced, images in two classes, classes that
/// are confused, and those that more photos would help most; nothing if there is nothing to say. `most`: rows of
/// each kind.
void print_label_check(const LabelCheck& check, size_t most);

/// The findings that concern these classes.
LabelCheck about_classes(LabelCheck check, const std::set<std::string>& classes);

}  // namespace protocom::cli
