#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocom/export.h"

namespace protocom::v0 {

/// An attribute of a class.
struct AttributeWeight {
  std::string name;   ///< in the recognizer's knowledge
  double weight = 0;  ///< in (0, 1]
};

/// Compares names and weights exactly.
inline bool operator==(const AttributeWeight& a, const AttributeWeight& b) {
  return a.name == b.name && a.weight == b.weight;
}

/// A class in lists.
struct ClassInfo {
  int64_t id = 0;
  std::string name;
  std::string title;                        ///< display name; may be empty
  std::vector<AttributeWeight> attributes;  ///< its attributes, in the recognizer's order
  std::string embedding_source;  ///< "word-vectors", "graph-svd", "attributes", "knowledge", "text" or "nothing"
  int64_t images = 0;
  int64_t time = 0;  ///< when it was enrolled, seconds since 1970
};

/// An enrolled image in lists.
struct ExampleInfo {
  int64_t id = 0;
  std::string class_name;            ///< empty: unlabelled
  std::string source;                ///< its origin
  std::string hash;                  ///< of its file, or of its feature if only that is known
  int64_t time = 0;                  ///< of its enrolment, seconds since 1970
  std::optional<double> taken = {};  ///< when it was taken, seconds since 1970 by the camera's clock; empty: unknown
  bool confirmed = false;            ///< whether it was confirmed to be in its right class (confirm_examples)
};

}  // namespace protocom::v0

namespace protocom {
using v0::AttributeWeight;
using v0::ClassInfo;
using v0::ExampleInfo;
}  // namespace protocom
