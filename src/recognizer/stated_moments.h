#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "recognizer/recognizer.h"

namespace protocom {

/// What a table or the times of photos tell of their moments, before any photo is compared: by region_hash of photos.
struct StatedMoments {
  std::map<std::string, int64_t> by_table;  ///< RecognizerSettings::stated_moments
  std::map<std::string, int64_t> bursts;    ///< RecognizerSettings::bursts
};

/// Photos of a class and a folder that follow one another by at most so many seconds are a burst: nobody photographs
/// another thing so soon, and cameras write whole seconds.
inline constexpr double kBurstGap = 2;

/// As RecognizerParts::moments says: those of the column that it names, with boxes of one photo alike, or for "auto"
/// the bursts, or none. Photos of which a table says nothing are logged. Throws UsageError for an unknown word, Error
/// for a table that says nothing of any photo.
StatedMoments find_stated_moments(const RecognizerParts& parts, const std::vector<EnrolRequest>& classes);

}  // namespace protocom
