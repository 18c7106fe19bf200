#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "store/detail/database.h"
#include "store/recognizer_file.h"

namespace protocom {

/// The rows of Examples::features that belong to a class, ascending, and their descriptions.
struct ExamplesOfClass {
  std::vector<int64_t> rows;
  std::vector<KeptExample> examples;
};

struct Examples {
  std::unordered_map<int64_t, ExamplesOfClass> of_class;  // by class id
  Array features;                                         // float32 [m, d]
};

/// The examples to read: all, those of a class, or those that changes after `since` added to a class.
struct ExampleRange {
  std::optional<int64_t> class_id = {};
  std::optional<int64_t> since = {};  ///< only with a class
};

/// Reads live examples that have a feature. Throws Error if one states another size, without reading it: a damaged file
/// must not cause large allocations.
Examples read_examples(const Database& database, const RecognizerSettings& settings, const ExampleRange& range = {});

/// Returns the rows of a class, float32 [n, d]; a view if they are contiguous.
Array features_of(const Examples& examples, const std::vector<int64_t>& rows);

/// Reads the features of the unlabelled images, float32 [u, d], in the order of their numbers; undefined if there are
/// none. Throws Error if one states another size.
Array read_unlabelled(const Database& database, const RecognizerSettings& settings);

/// Reads everything stored of the unlabelled images.
NewExamples unlabelled_contents(const Database& database, const RecognizerSettings& settings);

}  // namespace protocom
