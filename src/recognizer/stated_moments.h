#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "recognizer/recognizer.h"

namespace protocom {

/// The moments that a table or capture times state, by region_hash of the photo.
struct StatedMoments {
  std::map<std::string, int64_t> by_table;  ///< RecognizerSettings::stated_moments
  std::map<std::string, int64_t> bursts;    ///< RecognizerSettings::bursts
};

/// Photos of one class and folder are a burst if each was taken at most this many seconds after the one before. People
/// rarely photograph another subject that soon; cameras store whole seconds.
inline constexpr double kBurstGap = 2;

/// As RecognizerParts::moments says: those of the column that it names, with boxes of one photo alike, or for "auto"
/// the bursts, or none. Photos of which a table says nothing are logged. Throws UsageError for an unknown word, Error
/// for a table that says nothing of any photo.
StatedMoments find_stated_moments(const RecognizerParts& parts, const std::vector<EnrolRequest>& classes);

}  // namespace protocom
