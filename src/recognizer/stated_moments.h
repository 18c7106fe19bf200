#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "protocom/recognizer_parts.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// Returns the moments stated by RecognizerParts::moments, by region_hash of the photo; boxes of one photo have the
/// same. By a column: photos with the same text; logs photos that the table does not contain. "folder": photos in one
/// subfolder of a class; "auto": the same, for subfolders named as a sequence ("visit1", "burst 2", "seq-03") if at
/// least two of them have several photos, and logs it. Other photos have none. Throws UsageError for an unknown word,
/// Error for a table that contains none of the photos, and for classes without subfolders with "folder".
std::map<std::string, int64_t> find_stated_moments(const RecognizerParts& parts,
                                                   const std::vector<EnrolRequest>& classes);

}  // namespace protocom
