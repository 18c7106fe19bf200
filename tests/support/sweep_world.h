#pragma once
#include <gtest/gtest.h>

#include <string>

#include "eval/analysis_sweep.h"
#include "fewshot/align_knowledge.h"
#include "support/untrained.h"

namespace protocom::testing {

/// A toy world with an untrained model.
class Sweep : public ::testing::Test {
 protected:
  Sweep() { episodes_.count = 30, episodes_.shape.n_query = 6; }

  [[nodiscard]] AnalysisInputs inputs() const { return {{world_.features, &model_, &classes_, &world_.knowledge}}; }
  [[nodiscard]] MethodScores scores_of(const std::string& method, const EpisodeShape& shape) const {
    const EpisodeList list =
        sample_episodes(world_.features, {episodes_.split, shape, episodes_.count, episodes_.seed});
    ScoringOptions options;
    options.methods = make_methods({method});
    return evaluate(inputs().data, list, options, Progress::none()).front();
  }

  ToyWorld world_ = toy_world();
  CompletionModel model_ = untrained_model(world_);
  KnowledgeTable classes_ = align_knowledge(world_.knowledge, world_.features.class_names, model_.attributes);
  EpisodeOptions episodes_;
};

}  // namespace protocom::testing
