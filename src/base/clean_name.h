#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// Normalises a name for comparison: Unicode's composed form (NFC; macOS writes "é" in file names as two letters),
/// every kind of blank as one space, without leading, trailing or repeated ones. Its appearance does not change. Bytes
/// that are not UTF-8 stay unchanged, except spaces and tabs around them, and so do texts of more than 1,024 bytes.
std::string clean_name(std::string_view name);

/// Returns the name under which a class is stored and looked up: clean_name of the name as written. Throws UsageError
/// if it is invisible, or contains characters that control a terminal (steers_terminals).
std::string checked_class_name(std::string_view written);

/// Does so for the name of a new class. Throws UsageError also for "none of these", in any spelling, which answers,
/// tables and folders use for photos of none of the classes.
std::string checked_new_class_name(std::string_view written);

/// Returns the name in lower case, to find names that differ only in case.
std::string without_capitals(std::string_view name);

/// Warns of names that differ only in case ('Zebra', 'zebra'), which are hardly meant as two classes. `what` describes
/// them ("classes of animals.csv").
void warn_of_same_but_capitals(const std::vector<std::string>& names, std::string_view what);

}  // namespace protocom
