#include "recognizer/describe_class.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/matrix.h"
#include "knowledge/class_description.h"
#include "knowledge/names.h"
#include "knowledge/wordnet.h"
#include "recognizer/class_words.h"

namespace protocom {
namespace {

/// Returns the name in words if they differ from the name.
std::string title_besides(const std::string& name) {
  const std::string title = title_of_name(name);
  return title == name ? "" : title;
}

/// Returns the class as the knowledge describes it.
ClassDescription known_class(const Knowledge& knowledge, int64_t row) {
  ClassDescription known;
  const auto title = knowledge.titles.find(knowledge.classes[static_cast<size_t>(row)]);
  if (title != knowledge.titles.end()) known.title = title->second;
  known.association = knowledge.association.row(row);
  known.embedding = knowledge.class_embedding.row(row);
  known.embedding_source = "knowledge";
  return known;
}

/// Returns a class without a description, like classes that the knowledge does not contain in an evaluation
/// (align_knowledge).
ClassDescription unknown_class(const Knowledge& knowledge, const std::string& name) {
  ClassDescription unknown;
  unknown.title = title_besides(name);
  unknown.association = Array::zeros({static_cast<int64_t>(knowledge.attributes.size())});
  unknown.embedding = Array::zeros({knowledge.embedding_dim()});
  unknown.embedding_source = "nothing";
  return unknown;
}

/// Describes a class by its synset; WordNet names the attributes that no base class has.
ClassDescription class_of_synset(const Knowledge& knowledge, const ClassToDescribe& request,
                                 const DescribeOptions& options) {
  const WordNet wordnet(request.wordnet.empty() ? kWordNetFolder : request.wordnet);
  ClassDescription found = describe_by_synset(knowledge, wordnet, request.synset, options);
  for (std::string& text : found.unknown_attributes) text = title(wordnet.synset(text));
  return found;
}

ClassDescription describe(const Knowledge& knowledge, const ClassToDescribe& request) {
  if (!request.attributes.empty() && !request.synset.empty())
    fail_usage("give a class attributes or a synset, not both");
  DescribeOptions options;
  options.unknown = request.unknown;
  if (!request.vectors.empty()) options.vectors = request.vectors;
  options.weights = request.weights;
  if (!request.synset.empty()) return class_of_synset(knowledge, request, options);
  const int64_t row = knowledge.class_index(request.name);
  if (request.attributes.empty() && row >= 0) return known_class(knowledge, row);
  if (request.attributes.empty() && request.vectors.empty()) return unknown_class(knowledge, request.name);
  return describe_by_attributes(knowledge, request.name, request.attributes, options);
}

/// Maps a row of R over the knowledge's attributes to the model's. float32 [a]
Array over_model_attributes(const Knowledge& knowledge, const std::vector<std::string>& attributes,
                            const Array& association) {
  Array result = Array::zeros({static_cast<int64_t>(attributes.size())});
  for (size_t a = 0; a < attributes.size(); ++a) {
    const int64_t column = knowledge.attribute_index(attributes[a]);
    if (column >= 0) result.mutable_data<float>()[a] = association.data<float>()[column];
  }
  return result;
}

/// Returns the median length of the rows [n, e] that are not zero, the lower of the two middle values; 1 if there are
/// none.
float median_length(const FloatMatrix& rows) {
  std::vector<float> lengths;
  for (int64_t i = 0; i < rows.rows(); ++i) {
    if (const float length = rows.row(i).norm(); length > 0) lengths.push_back(length);
  }
  if (lengths.empty()) return 1;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>((lengths.size() - 1) / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

/// Replaces the embedding by the vector of a text, scaled to the length of the knowledge's.
void embed_by_text(const Knowledge& knowledge, const ClassToDescribe& request, ClassDescription& found) {
  if (!request.text_vector.defined()) return;
  check_takes_words(&knowledge, request.name, request.text_vector.numel());
  const int64_t numbers = request.text_vector.numel(), begin = begin_of_words(knowledge, numbers);
  const float length = median_length(matrix_of<float>(knowledge.class_embedding).middleCols(begin, numbers));
  const auto text = matrix_of<float>(request.text_vector);
  found.embedding = Array::zeros({knowledge.embedding_dim()});
  mutable_matrix_of<float>(found.embedding).middleCols(begin, numbers) = text * (length / text.norm());
  found.embedding_source = "text";
}

bool is_zero(const Array& numbers) {
  const auto* number = numbers.data<float>();
  return std::all_of(number, number + numbers.numel(), [](float value) { return value == 0; });
}

void check_dimension(const Knowledge& knowledge, const StoreModel& model) {
  if (!model.completion) return;
  const int64_t expected = model.completion->sizes.embedding_dim;
  if (knowledge.embedding_dim() == expected) return;
  fail(
      "the knowledge's embeddings have {} dimensions, the completion model expects {}: it was trained with another "
      "knowledge file",
      knowledge.embedding_dim(), expected);
}

}  // namespace

ClassDescription describe_class(const Knowledge& knowledge, const StoreModel& model, const ClassToDescribe& request,
                                std::set<std::string>* left_out) {
  check_dimension(knowledge, model);
  ClassDescription found = describe(knowledge, request);
  embed_by_text(knowledge, request, found);
  ClassDescription description;
  description.title = found.title == request.name ? "" : found.title;
  description.association = over_model_attributes(knowledge, model.attributes(), found.association);
  description.embedding = found.embedding.to(NumberType::kFloat32);
  description.embedding_source = found.embedding_source;
  if (left_out != nullptr && request.synset.empty()) {
    left_out->insert(found.unknown_attributes.begin(), found.unknown_attributes.end());
  } else if (!found.unknown_attributes.empty()) {
    logger().info("class '{}': ignoring attributes that no base class has ({}): {}", request.name,
                  found.unknown_attributes.size(), fmt::join(found.unknown_attributes, "; "));
  }
  const bool by_text = description.association.numel() == 0;
  if (by_text && !(request.attributes.empty() && request.synset.empty())) {
    logger().warn("class '{}': the model uses no attributes, only images (fit with --knowledge-use always to use them)",
                  request.name);
  } else if (by_text && is_zero(description.embedding)) {
    logger().warn("class '{}' has no vector in the knowledge: only its images are used", request.name);
  } else if (!by_text && is_zero(description.association)) {
    logger().warn("class '{}' has no attribute of the model: only its images and, with word vectors, its name are used",
                  request.name);
  }
  return description;
}

ClassDescription describe_without_knowledge(const ClassToDescribe& request) {
  if (!request.attributes.empty() || !request.synset.empty())
    fail_usage("the recognizer has no knowledge, which attributes need: make one with `recognizer create --knowledge`");
  if (request.text_vector.defined()) check_takes_words(nullptr, request.name, request.text_vector.numel());
  return {title_besides(request.name), Array::zeros({0}), Array::zeros({0}), "nothing"};
}

}  // namespace protocom
