#include "features_out.h"

#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "cli.h"
#include "datasets/feature_set.h"

namespace protocom::cli {

FeaturesOut::FeaturesOut(std::filesystem::path path) : path_(std::move(path)) { check_writable(path_); }

void FeaturesOut::add(const Array& features) {
  for (int64_t i = 0; i < features.size(0); ++i) rows_.push_back(features.rows(i, i + 1));
}

void FeaturesOut::add(const std::string& image, const Answer& answer) {
  images_.push_back(image);
  answers_.push_back(answer.ranking.front().name);
}

void FeaturesOut::write(Recognizer& recognizer, Provenance provenance) const {
  if (images_.empty()) return;
  FeatureSet set;
  set.class_names = recognizer.class_names();
  std::map<std::string, int64_t> labels;
  for (const std::string& name : set.class_names) labels.emplace(name, static_cast<int64_t>(labels.size()));
  std::set<std::string> known;
  std::vector<Array> rows;
  for (size_t i = 0; i < images_.size(); ++i) {
    if (!known.insert(images_[i]).second) continue;
    rows.push_back(rows_[i]);
    // Another process may have removed it since.
    const auto [label, is_new] = labels.emplace(answers_[i], static_cast<int64_t>(labels.size()));
    if (is_new) set.class_names.push_back(answers_[i]);
    set.labels.push_back(label->second);
    set.image_ids.push_back(images_[i]);
  }
  set.class_split.assign(set.class_names.size(), Split::kNovel);
  set.features = Array::joined(rows);
  const RecognizerFile& file = recognizer.file();
  if (const auto* backbone = file.artefact("backbone")) set.backbone_hash = backbone->hash;
  provenance.inputs["backbone"] = set.backbone_hash;
  write_features(path_, set, provenance, file.settings().preprocessing);
  logger().info("features of {} images: {}", set.size(), path_.string());
}

}  // namespace protocom::cli
