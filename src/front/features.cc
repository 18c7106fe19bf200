#include "protocom/features.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "front/boundary.h"
#include "front/parts.h"
#include "protocom/core/error.h"

namespace protocom::v0 {
namespace {

std::vector<protocom::Split> splits_of(const std::vector<std::string>& texts, size_t classes) {
  if (texts.empty()) fail("there is no split: give base, val or novel of each class, or one for all");
  std::vector<protocom::Split> splits;
  for (const std::string& text : texts) splits.push_back(parse_split(text));
  if (splits.size() == 1) splits.resize(classes, splits.front());
  if (splits.size() != classes)
    fail("the split names {} classes, there are {}: one split a class is needed, or one for all", splits.size(),
         classes);
  return splits;
}

/// Names given, of the labels, or as many numbers as the labels have.
std::vector<std::string> names_of(const Labels& labels, const std::vector<std::string>& given) {
  if (!given.empty() && !labels.names().empty()) fail("labels that are names have class names already: give no others");
  if (!given.empty()) return given;
  if (!labels.names().empty()) return labels.names();
  int64_t classes = 0;
  for (const int64_t label : labels.numbers()) classes = std::max(classes, label + 1);
  // A label that is no number of a class would make as many names.
  if (classes > static_cast<int64_t>(labels.numbers().size()))
    fail("labels without class names run from 0 to the number of classes, found {} among {} labels", classes - 1,
         labels.numbers().size());
  std::vector<std::string> names;
  for (int64_t k = 0; k < classes; ++k) names.push_back(std::to_string(k));
  return names;
}

void check_labels(const Labels& labels, int64_t rows, size_t classes) {
  if (static_cast<int64_t>(labels.numbers().size()) != rows)
    fail("there are {} rows of features and {} labels: one label a row is needed", rows, labels.numbers().size());
  for (size_t i = 0; i < labels.numbers().size(); ++i) {
    const int64_t label = labels.numbers()[i];
    if (label < 0 || label >= static_cast<int64_t>(classes))
      fail("the label of row {} is {}, there are {} classes", i, label, classes);
  }
}

protocom::FeatureSet set_of(const Rows& features, const Labels& labels, const FeatureSetOptions& options) {
  protocom::FeatureSet set;
  set.features = tensor_of(features, "features").clone();
  set.class_names = names_of(labels, options.class_names);
  check_labels(labels, features.rows(), set.class_names.size());
  set.labels = tensor_of(labels);
  set.class_split = splits_of(options.split, set.class_names.size());
  set.image_ids = options.ids;
  return checked_feature_set(std::move(set), "features");
}

}  // namespace

FeatureSet::FeatureSet(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

FeatureSet::FeatureSet(const Rows& features, const Labels& labels, const FeatureSetOptions& options)
    : impl_(guarded([&] {
        const Collected collected;
        protocom::FeatureSet set = set_of(features, labels, options);
        return std::make_shared<const Impl>(Impl{std::move(set), collected.warnings()});
      })) {}

FeatureSet FeatureSet::read(const std::string& path, const FeatureFileOptions& options) {
  return guarded([&] {
    const Collected collected;
    protocom::FeatureFileOptions files;
    if (!options.labels.empty()) files.labels = options.labels;
    if (!options.split.empty()) files.split = options.split;
    protocom::FeatureSet set = read_features(path, files);
    return FeatureSet(std::make_shared<const Impl>(Impl{std::move(set), collected.warnings()}));
  });
}

void FeatureSet::save(const std::string& path) const {
  guarded([&] {
    Provenance provenance;
    provenance.command = "features";
    write_features(path, impl_->set, provenance);
  });
}

int64_t FeatureSet::rows() const { return impl_->set.size(); }
int64_t FeatureSet::dim() const { return impl_->set.dim(); }
const float* FeatureSet::features() const { return impl_->set.features.data_ptr<float>(); }
const int64_t* FeatureSet::labels() const { return impl_->set.labels.data_ptr<int64_t>(); }
const std::vector<std::string>& FeatureSet::class_names() const { return impl_->set.class_names; }
const std::vector<std::string>& FeatureSet::ids() const { return impl_->set.image_ids; }
const Warnings& FeatureSet::warnings() const { return impl_->warnings; }

std::vector<std::string> FeatureSet::split() const {
  std::vector<std::string> texts;
  for (const protocom::Split split : impl_->set.class_split) texts.emplace_back(to_string(split));
  return texts;
}

}  // namespace protocom::v0
