#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

namespace protocom {

/// What a method sees before it answers a query.
enum class Sees {
  kEachQueryAlone,  ///< inductive: the answer to a query ignores the other queries
  kAllQueries       ///< transductive: all queries of the episode, or its unlabelled pool instead
};

/// What a method assumes about the queries' classes.
enum class Assumes {
  kNothing,         ///< any proportions
  kBalancedQueries  ///< equally many queries of each class: it relies on that, or favours such answers
};

/// What a method needs besides the episode itself.
enum class Need {
  kCompletionModel,  ///< a trained completion network (`protocom complete`) with the knowledge it was trained with
  kKnowledge,        ///< attributes or embeddings of the classes
  kBaseFeatures,     ///< features of the base classes
  kFitting,          ///< a fit (`protocom fit`)
  kFeatureMaps,      ///< feature maps: the episodes' features are the maps, [c, h, w] of an image in one row
  kOtherClasses,     ///< all of the KnowledgeTable: an answer depends on the knowledge of classes outside the task
  kMatchedText  ///< embeddings of the classes in the space of the images: by the text encoder that was trained with the
                ///< image encoder (CLIP, SigLIP)
};

/// Returns "a completion model", "knowledge", ...: for messages and lists.
std::string_view to_string(Need need);

/// The value of a parameter: a real number, a whole number, or one of some words.
using ParameterValue = std::variant<double, int64_t, std::string>;

/// Returns the value as typed: "10", "0.5", "cl2n".
std::string to_string(const ParameterValue& value);

/// A parameter of a method: `gauss-fusion:scale=20` sets `scale`.
struct ParameterSpec {
  std::string name;
  ParameterValue default_value;  ///< its alternative is the parameter's type
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices = {};  ///< values of a word
  std::string text;                       ///< description, with the equation if there is one
  bool when_fitted = false;               ///< takes effect in `protocom fit`, whose file stores it
};

/// Values worth trying besides the defaults, by parameter name.
using ParameterTries = std::map<std::string, std::vector<ParameterValue>>;

/// The description of a method.
struct MethodSpec {
  std::string name;      ///< "gauss-fusion"
  std::string about;     ///< one line
  std::string citation;  ///< authors, title, year
  Sees sees = Sees::kEachQueryAlone;
  Assumes assumes = Assumes::kNothing;
  std::vector<Need> needs = {};
  int64_t fewest_shots = 1;       ///< labelled images that each class must have; 0: a description suffices
  std::string fitted_as = {};     ///< the method whose fitted files it uses, if another one
  int paper_row = 0;              ///< 1 to 4: row (i) to (iv) of the paper's ablation (table 4); 0: none of them
  std::string notes = {};         ///< variants, and where it differs from its source
  std::string symbol = {};        ///< symbol of its prototype in the paper (table 3); may be empty
  bool trained_by_torch = false;  ///< trained and run by the plug-in with LibTorch
  std::vector<ParameterSpec> parameters = {};

  [[nodiscard]] bool has(Need need) const;
  /// "transductive" or "inductive".
  [[nodiscard]] std::string_view mode() const;
};

/// Returns all of the above as JSON, for programs (`protocom methods --json`).
nlohmann::json to_json(const MethodSpec& spec);

}  // namespace protocom
