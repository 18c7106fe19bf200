#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "protocom/recognizer_parts.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// The moments of the column that RecognizerParts::moments names, by region_hash of the photo; boxes of one photo have
/// the same. Without a column, none. Photos of which the table says nothing are logged. Throws UsageError for an
/// unknown word, Error for a table that says nothing of any photo.
std::map<std::string, int64_t> find_stated_moments(const RecognizerParts& parts,
                                                   const std::vector<EnrolRequest>& classes);

}  // namespace protocom
