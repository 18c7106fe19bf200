#include "protocom/serve/describe_class.h"

#include <ATen/ATen.h>

#include "protocom/core/error.h"
#include "protocom/core/log.h"
#include "protocom/knowledge/new_class.h"

namespace protocom {
namespace {

/// The class as the knowledge has it.
NewClass known_class(const Knowledge& knowledge, int64_t row) {
  NewClass known;
  const auto title = knowledge.titles.find(knowledge.classes[static_cast<size_t>(row)]);
  if (title != knowledge.titles.end()) known.title = title->second;
  known.association = knowledge.association[row];
  known.embedding = knowledge.class_embedding[row];
  known.embedding_source = "knowledge";
  return known;
}

NewClass describe(const Knowledge& knowledge, const ClassRequest& request) {
  if (!request.attributes.empty() && !request.synset.empty())
    fail_usage("give a class attributes or a synset, not both");
  NewClassOptions options;
  if (!request.vectors.empty()) options.vectors = request.vectors;
  if (!request.synset.empty()) return describe_by_synset(knowledge, WordNet(request.wordnet), request.synset, options);
  const int64_t row = knowledge.class_index(request.name);
  if (request.attributes.empty() && row >= 0) return known_class(knowledge, row);
  return describe_by_attributes(knowledge, request.name, request.attributes, options);
}

/// A row of R over the knowledge's attributes -> over the model's. float32 [a]
at::Tensor over_model_attributes(const Knowledge& knowledge, const CompletionModel& model,
                                 const at::Tensor& association) {
  at::Tensor result = at::zeros({static_cast<int64_t>(model.attributes.size())}, at::kFloat);
  for (size_t a = 0; a < model.attributes.size(); ++a) {
    const int64_t column = knowledge.attribute_index(model.attributes[a]);
    if (column >= 0) result[static_cast<int64_t>(a)] = association[column];
  }
  return result;
}

}  // namespace

ClassDescription describe_class(const Knowledge& knowledge, const CompletionModel& model, const ClassRequest& request) {
  const int64_t expected = model.network.options().embedding_dim;
  if (knowledge.embedding_dim() != expected) {
    fail(
        "the knowledge's embeddings have {} dimensions, the completion model takes {}: it was trained with another "
        "knowledge file",
        knowledge.embedding_dim(), expected);
  }
  const NewClass found = describe(knowledge, request);
  ClassDescription description;
  description.title = found.title;
  description.association = over_model_attributes(knowledge, model, found.association);
  description.embedding = found.embedding.to(at::kFloat).contiguous();
  description.embedding_source = found.embedding_source;
  if (!found.outside_vocabulary.empty()) {
    logger().info("class '{}': {} of its attributes are unknown to the base classes and cannot help", request.name,
                  found.outside_vocabulary.size());
  }
  if (description.association.count_nonzero().item<int64_t>() == 0) {
    logger().warn(
        "class '{}' has no attribute that the completion model knows: its prototype is completed from its images and "
        "name alone",
        request.name);
  }
  return description;
}

}  // namespace protocom
