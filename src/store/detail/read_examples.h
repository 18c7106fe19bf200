#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "store/detail/database.h"
#include "store/recognizer_file.h"

namespace protocom {

/// Which rows of Examples::features are a class's, ascending, and what they are.
struct ExamplesOfClass {
  std::vector<int64_t> rows;
  std::vector<KeptExample> examples;
};

struct Examples {
  std::unordered_map<int64_t, ExamplesOfClass> of_class;  // by its id
  Array features;                                         // float32 [m, d]
};

/// Which examples are read: all, those of a class, or those of a class that changes after `since` added.
struct ExampleRange {
  std::optional<int64_t> class_id = {};
  std::optional<int64_t> since = {};  ///< with a class alone
};

/// Live examples that have a feature. Throws Error if one states another size, without reading it: a damaged file
/// must not ask for memory.
Examples read_examples(const Database& database, const RecognizerSettings& settings, const ExampleRange& range = {});

/// The rows of a class, float32 [n, d]; a view where they lie together.
Array features_of(const Examples& examples, const std::vector<int64_t>& rows);

/// The features of the unlabelled images, float32 [u, d], in the order of their numbers; undefined
/// if there is none. Throws Error if one states another size.
Array read_unlabelled(const Database& database, const RecognizerSettings& settings);

/// The same with all that is kept of them.
NewExamples unlabelled_contents(const Database& database, const RecognizerSettings& settings);

}  // namespace protocom
