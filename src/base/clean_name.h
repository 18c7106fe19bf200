#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// A name as it is compared: in Unicode's composed form (NFC; macOS writes "é" in file names as two letters), every
/// kind of blank as one space, none before, behind or beside another. Looks as it did before. Bytes that are not UTF-8
/// stay as they are, but for spaces and tabs around them, and so does the form of more than 1,024 bytes.
std::string clean_name(std::string_view name);

/// The name by which a class is kept and looked up: clean_name of the name as it was written. Throws
/// UsageError if nothing of it can be seen, and if it steers a terminal (steers_terminals).
std::string checked_class_name(std::string_view written);

/// The same for a class that is to be called so. Throws UsageError also for "none of these", however it is written:
/// answers, tables and folders have it for photos of none of the classes.
std::string checked_new_class_name(std::string_view written);

/// The name without capitals, to find those that differ in nothing else.
std::string without_capitals(std::string_view name);

/// Warns of names that differ only in capitals ('Zebra', 'zebra'): two classes of them were hardly meant. `what` are
/// they ("classes of animals.csv").
void warn_of_same_but_capitals(const std::vector<std::string>& names, std::string_view what);

}  // namespace protocom
