#pragma once
#include <memory>

#include "fewshot/methods.h"
#include "support/golden.h"
#include "support/scorer.h"
#include "tensors/tensors.h"

namespace protocom::testing {

/// The small episode of tests/golden/yardsticks.py, and base features.
struct YardstickEpisode {
  YardstickEpisode() {
    const nlohmann::json episode = golden("episode", "yardsticks.json");
    std::vector<at::Tensor> classes;
    for (const auto& supports : episode.at("support")) classes.push_back(tensor_of(supports));
    batch.support = at::stack(classes).unsqueeze(0).to(at::kFloat);
    batch.query = tensor_of(episode.at("query")).unsqueeze(0).to(at::kFloat);
    base.features = array_of(tensor_of(episode.at("base")).to(at::kFloat));
    base.labels = episode.at("base_labels").get<std::vector<int64_t>>();
    context.base = &base;
    batch.classes = at::arange(batch.support.size(1), at::kLong).unsqueeze(0);
    for (int64_t k = 0; k < batch.support.size(1); ++k) class_names.push_back("class" + std::to_string(k));
    knowledge.classes = class_names;
    knowledge.class_embedding = array_of(tensor_of(episode.at("text")).to(at::kFloat));
    knowledge.association = array_of(at::zeros({batch.support.size(1), 0}));
    knowledge.attribute_embedding = array_of(at::zeros({0, tensor_of(knowledge.class_embedding).size(1)}));
    context.knowledge = &knowledge;
    context.class_names = &class_names;
  }
  YardstickEpisode(const YardstickEpisode&) = delete;  // the context points into it
  YardstickEpisode& operator=(const YardstickEpisode&) = delete;

  /// Returns the log probabilities of the queries by a method, [q, n].
  [[nodiscard]] at::Tensor answer(const std::string& method, const EpisodeBatch& to) const {
    return testing::scores_of(*make_method(method), context, to).logits.squeeze(0).to(at::kDouble).log_softmax(-1);
  }
  [[nodiscard]] at::Tensor answer(const std::string& method) const { return answer(method, batch); }

  LabelledFeatures base;
  std::vector<std::string> class_names;
  KnowledgeTable knowledge;  ///< a text vector of each class in the space of the images
  MethodContext context;
  EpisodeBatch batch;
};

}  // namespace protocom::testing
