#include "protocom/features.h"

#include <algorithm>

#include "api/detail/boundary.h"
#include "api/detail/parts.h"
#include "base/error.h"

namespace protocom::v0 {
namespace {

std::vector<protocom::Split> splits_of(const std::vector<std::string>& texts, size_t classes) {
  if (texts.empty()) fail("missing split: give base, val or novel for each class, or one for all");
  std::vector<protocom::Split> splits;
  for (const std::string& text : texts) splits.push_back(parse_split(text));
  if (splits.size() == 1) splits.resize(classes, splits.front());
  if (splits.size() != classes)
    fail("the split has {} entries for {} classes: give one per class, or one for all", splits.size(), classes);
  return splits;
}

void check_in_range(const Labels& labels, size_t classes) {
  for (size_t i = 0; i < labels.numbers().size(); ++i) {
    const int64_t label = labels.numbers()[i];
    if (label < 0 || label >= static_cast<int64_t>(classes))
      fail("label out of range: row {} has {}, there are {} classes", i, label, classes);
  }
}

protocom::FeatureSet make_feature_set(const Rows& features, const Labels& labels, const FeatureSetOptions& options) {
  protocom::FeatureSet set;
  set.features = array_of(features, "features").copy();
  set.class_names = names_for(labels, options.class_names);
  check_one_label_a_row(labels, features.rows());
  check_in_range(labels, set.class_names.size());
  set.labels = labels.numbers();
  set.class_split = splits_of(options.split, set.class_names.size());
  set.image_ids = options.ids;
  return checked_feature_set(std::move(set), "features");
}

}  // namespace

FeatureSet::FeatureSet(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

FeatureSet::FeatureSet(const Rows& features, const Labels& labels, const FeatureSetOptions& options)
    : impl_(guarded([&] {
        const Collected collected;
        protocom::FeatureSet set = make_feature_set(features, labels, options);
        return std::make_shared<const Impl>(Impl{std::move(set), collected.warnings()});
      })) {}

FeatureSet FeatureSet::read(const std::string& path, const FeatureFileOptions& options) {
  return guarded([&] {
    const Collected collected;
    protocom::FeatureSet set = read_features(path, options);
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
const float* FeatureSet::features() const { return impl_->set.features.data<float>(); }
const int64_t* FeatureSet::labels() const { return impl_->set.labels.data(); }
const std::vector<std::string>& FeatureSet::class_names() const { return impl_->set.class_names; }
const std::vector<std::string>& FeatureSet::ids() const { return impl_->set.image_ids; }
const Warnings& FeatureSet::warnings() const { return impl_->warnings; }

std::vector<std::string> FeatureSet::split() const {
  std::vector<std::string> texts;
  for (const protocom::Split split : impl_->set.class_split) texts.emplace_back(to_string(split));
  return texts;
}

}  // namespace protocom::v0
