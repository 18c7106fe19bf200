#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "protocom/recognizer_parts.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// Returns the moments stated by the column of RecognizerParts::moments, by region_hash of the photo; boxes of one
/// photo have the same. Without a column, none. Logs photos that the table does not contain. Throws UsageError for an
/// unknown word, Error for a table that contains none of the photos.
std::map<std::string, int64_t> find_stated_moments(const RecognizerParts& parts,
                                                   const std::vector<EnrolRequest>& classes);

}  // namespace protocom
