#pragma once
#include <memory>
#include <vector>

#include "datasets/episodes.h"
#include "datasets/feature_set.h"
#include "encoders/text_encoder.h"
#include "fewshot/fitted_method.h"
#include "fewshot/paper/completion_model.h"
#include "knowledge/knowledge.h"
#include "protocom/evaluate.h"
#include "protocom/features.h"
#include "protocom/fit.h"
#include "protocom/knowledge.h"
#include "protocom/recognizer.h"
#include "protocom/text.h"
#include "recognizer/recognizer.h"

// Implementations of the public values.
namespace protocom::v0 {

struct FeatureSet::Impl {
  protocom::FeatureSet set;
  Warnings warnings = {};
};

struct Knowledge::Impl {
  std::shared_ptr<const protocom::Knowledge> knowledge;
  Warnings warnings = {};
};

struct CompletionModel::Impl {
  std::shared_ptr<const protocom::CompletionModel> model;
};

struct Fitted::Impl {
  protocom::FittedMethod fitted;
  Warnings warnings = {};
};

struct TextEncoder::Impl {
  protocom::TextEncoder encoder;
};

struct Episodes::Impl {
  FeatureSet features;
  protocom::EpisodeList list;
};

/// Throws UsageError for numbers out of range.
void check_options(const RecognizerOptions& given);
std::vector<protocom::FittedMethod> fitted_of(const std::vector<Fitted>& fitted);

}  // namespace protocom::v0
