#pragma once
#include <string>
#include <utility>
#include <vector>

#include "protocom/export.h"

namespace protocom::v0 {

/// The description of a class to enrol, besides its images: attributes or a synset, texts, or its name alone.
struct ClassRequest {
  ClassRequest() = default;
  ClassRequest(std::string its_name, std::vector<std::string> its_attributes = {})  // NOLINT: a name is a request
      : name(std::move(its_name)), attributes(std::move(its_attributes)) {}
  ClassRequest(const char* its_name, std::vector<std::string> its_attributes = {})  // NOLINT
      : ClassRequest(std::string(its_name), std::move(its_attributes)) {}

  std::string name;
  std::vector<std::string> attributes;  ///< by their names in the recognizer's knowledge
  /// Weight of each attribute, in (0, 1], as in the knowledge; empty: all 1.
  std::vector<float> weights;
  std::string synset;                     ///< used instead of attributes: "n02391049", "zebra.n.01"
  std::vector<std::string> descriptions;  ///< texts such as "a small brown bird"; the mean of all is used

  /// Whether the request has nothing but the name.
  [[nodiscard]] bool says_nothing() const { return attributes.empty() && synset.empty() && descriptions.empty(); }
};

}  // namespace protocom::v0

namespace protocom {
using v0::ClassRequest;
}  // namespace protocom
