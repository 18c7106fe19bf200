#include "protocom/data/feature_set.h"

#include <ATen/ATen.h>

#include <map>
#include <unordered_set>

#include "protocom/core/clean_name.h"
#include "protocom/core/error.h"
#include "protocom/core/feature_values.h"
#include "protocom/core/files.h"
#include "protocom/core/log.h"
#include "protocom/core/text.h"
#include "protocom/data/feature_preprocessing.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKind = "features";
constexpr int kFormatVersion = 1;

/// float32 [n, d] that can be computed with; names the first row that cannot.
at::Tensor checked_features(const at::Tensor& raw, const std::string& where) {
  if (raw.dim() != 2 || raw.size(0) == 0 || raw.size(1) == 0) {
    fail("{}: features of shape [n, d] were expected, found {} dimensions of sizes [{}]", where, raw.dim(),
         fmt::join(raw.sizes(), ", "));
  }
  at::Tensor features = raw.to(at::kFloat).contiguous();
  check_features(features, where);
  return features;
}

at::Tensor checked_labels(const at::Tensor& raw, int64_t images, const std::string& where) {
  if (raw.dim() != 1 || raw.size(0) != images) {
    fail("{}: {} labels were expected, one a feature row; found [{}]", where, images, fmt::join(raw.sizes(), ", "));
  }
  if (!at::isIntegralType(raw.scalar_type(), false)) fail("{}: labels must be integers", where);
  return raw.to(at::kLong).contiguous();
}

std::vector<std::string> numbered(int64_t count) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

/// Classes that have no names are called by their labels.
std::vector<std::string> names_from_labels(const at::Tensor& labels, const std::string& where) {
  constexpr int64_t kMostClasses = 1'000'000;
  const int64_t classes = labels.max().item<int64_t>() + 1;
  if (classes > kMostClasses) fail("{}: labels must be 0, 1, 2, ...; found {}", where, classes - 1);
  return numbered(classes);
}

void check_label_range(const FeatureSet& set, const std::string& where) {
  const int64_t low = set.labels.min().item<int64_t>();
  const int64_t high = set.labels.max().item<int64_t>();
  const auto classes = static_cast<int64_t>(set.class_names.size());
  if (low < 0 || high >= classes) fail("{}: labels run from {} to {}, there are {} classes", where, low, high, classes);
}

void check_unique(const std::vector<std::string>& names, const char* what, const std::string& where) {
  std::unordered_set<std::string> seen;
  for (const auto& name : names) {
    if (!seen.insert(name).second) fail("{}: the {} '{}' appears twice", where, what, excerpt(name));
  }
}

std::vector<Split> split_from_table(const std::vector<std::string>& class_names, const fs::path& path) {
  const SplitTable table = read_split(path);
  std::vector<Split> splits;
  for (const auto& name : class_names) {
    const auto found = table.find(name);
    if (found == table.end()) fail("{} does not name the class '{}' of the features", path.string(), excerpt(name));
    splits.push_back(found->second);
  }
  return splits;
}

std::vector<Split> split_from_member(const NpzReader& reader, size_t classes, const std::string& where) {
  if (!reader.has("split")) {
    fail("{} says no split: add a text member 'split' [c] to it, base, val or novel for each class", where);
  }
  std::vector<Split> splits;
  try {
    for (const auto& text : reader.strings("split")) splits.push_back(parse_split(text));
  } catch (const UsageError& error) {
    fail("{}: member 'split': {}", where, error.what());
  }
  if (splits.size() != classes) fail("{}: 'split' names {} classes, 'names' {}", where, splits.size(), classes);
  return splits;
}

FeatureSet read_npz(const fs::path& path, const FeatureFileOptions& options) {
  const std::string where = path.string();
  const NpzReader reader(path);
  FeatureSet set;
  if (reader.has("header.json")) {
    const ArtefactHeader header = read_header(reader, kKind, kFormatVersion);
    set.backbone_hash = header.details.value("backbone_hash", "");
  }
  set.features = checked_features(reader.tensor("features"), where);
  set.labels = checked_labels(reader.tensor("labels"), set.features.size(0), where);
  set.class_names = reader.has("names") ? reader.strings("names") : names_from_labels(set.labels, where);
  for (std::string& name : set.class_names) name = clean_name(name);
  set.class_split = options.split ? split_from_table(set.class_names, *options.split)
                                  : split_from_member(reader, set.class_names.size(), where);
  set.image_ids = reader.has("paths") ? reader.strings("paths") : numbered(set.features.size(0));
  return set;
}

/// x-features.npy -> x-labels.npy, x.npy -> x-labels.npy
fs::path labels_beside(const fs::path& path) {
  constexpr std::string_view kFeatures = "features";
  std::string stem = path.stem().string();
  const size_t at = stem.rfind(kFeatures);
  stem = at == std::string::npos ? stem + "-labels" : stem.replace(at, kFeatures.size(), "labels");
  return path.parent_path() / (stem + ".npy");
}

FeatureSet read_arrays(const fs::path& path, const FeatureFileOptions& options) {
  const fs::path labels = options.labels ? *options.labels : labels_beside(path);
  if (!fs::exists(labels)) {
    fail("{} holds features only: their labels were expected beside it in {}", path.string(),
         labels.filename().string());
  }
  if (!options.split) fail_usage("{} says no split: give the split of its classes too", path.string());
  FeatureSet set;
  set.features = checked_features(read_npy(path), path.string());
  set.labels = checked_labels(read_npy(labels), set.features.size(0), labels.string());
  set.class_names = names_from_labels(set.labels, labels.string());
  set.class_split = split_from_table(set.class_names, *options.split);
  set.image_ids = numbered(set.features.size(0));
  return set;
}

}  // namespace

std::vector<int64_t> FeatureSet::classes_of(Split split) const {
  std::vector<int64_t> classes;
  for (size_t i = 0; i < class_split.size(); ++i) {
    if (class_split[i] == split) classes.push_back(static_cast<int64_t>(i));
  }
  return classes;
}

std::vector<std::vector<int64_t>> FeatureSet::rows_by_class() const {
  std::vector<std::vector<int64_t>> rows(class_names.size());
  const at::Tensor plain = labels.contiguous();
  const int64_t* label = plain.data_ptr<int64_t>();
  for (int64_t i = 0; i < plain.size(0); ++i) {
    if (label[i] < 0 || label[i] >= static_cast<int64_t>(rows.size()))
      fail("image {} has the class number {}, the features have {} classes", i, label[i], rows.size());
    rows[static_cast<size_t>(label[i])].push_back(i);
  }
  return rows;
}

namespace {

/// Copies of a photo have the same features, whatever their names and formats.
std::vector<DuplicateGroup> copies_in(const FeatureSet& set) {
  ImageOwners owners{set.class_names, set.class_split, set.image_ids, {}};
  const auto* labels = set.labels.data_ptr<int64_t>();
  owners.labels.assign(labels, labels + set.size());
  std::vector<std::string> hashes;
  const auto* rows = reinterpret_cast<const char*>(set.features.data_ptr<float>());
  const auto bytes = static_cast<size_t>(set.dim()) * sizeof(float);
  for (int64_t i = 0; i < set.size(); ++i)
    hashes.push_back(hash_bytes(std::string_view(rows + static_cast<size_t>(i) * bytes, bytes)));
  return find_duplicates(hashes, owners);
}

void warn_of_copies(const std::vector<DuplicateGroup>& copies, const std::string& where) {
  if (copies.empty()) return;
  std::map<DuplicateKind, int64_t> images;  // that are a copy of another one
  for (const DuplicateGroup& group : copies) images[group.kind] += static_cast<int64_t>(group.ids.size()) - 1;
  std::vector<std::string> counts;
  for (const auto& [kind, count] : images) counts.push_back(fmt::format("{} {}", count, to_string(kind)));
  constexpr size_t kShown = 4;
  logger().warn(
      "{}: images with exactly the features of another one: {} (such as {}); copies make figures look better than they "
      "are",
      where, fmt::join(counts, ", "), first_of(copies.front().ids, kShown));
}

/// What has the types of a feature set is held against itself.
void check_parts(FeatureSet& set, const std::string& where) {
  if (static_cast<int64_t>(set.image_ids.size()) != set.features.size(0)) {
    fail("{}: {} image ids for {} feature rows", where, set.image_ids.size(), set.features.size(0));
  }
  if (set.class_split.size() != set.class_names.size())
    fail("{}: {} splits for {} class names", where, set.class_split.size(), set.class_names.size());
  check_label_range(set, where);
  check_unique(set.class_names, "class name", where);
  check_unique(set.image_ids, "image id", where);
  set.copies = copies_in(set);
  warn_of_copies(set.copies, where);
}

FeatureSet read_any(const fs::path& path, const FeatureFileOptions& options) {
  FeatureSet set = path.extension() == ".npy" ? read_arrays(path, options) : read_npz(path, options);
  check_parts(set, path.string());
  set.content_hash = hash_file(path);
  return set;
}

}  // namespace

FeatureSet checked_feature_set(FeatureSet set, const std::string& where) {
  if (!set.features.defined() || !set.labels.defined()) fail("{}: features and labels are needed", where);
  set.features = checked_features(set.features, where);
  set.labels = checked_labels(set.labels, set.features.size(0), where);
  if (set.class_names.empty()) set.class_names = names_from_labels(set.labels, where);
  for (std::string& name : set.class_names) name = clean_name(name);
  if (set.image_ids.empty()) set.image_ids = numbered(set.features.size(0));
  check_parts(set, where);
  return set;
}

FeatureSet read_features(const fs::path& path, const FeatureFileOptions& options) {
  try {
    return read_any(path, options);
  } catch (const UsageError&) {
    throw;
  } catch (...) {
    rethrow_for(path);
  }
}

namespace {

void write(const fs::path& path, const FeatureSet& set, const Provenance& provenance, const nlohmann::json& more) {
  ArtefactHeader header = make_header(kKind, kFormatVersion, provenance);
  header.details = {{"images", set.size()},
                    {"dim", set.dim()},
                    {"classes", set.class_names.size()},
                    {"backbone_hash", set.backbone_hash}};
  header.details.update(more);
  std::vector<std::string> splits;
  for (const Split split : set.class_split) splits.emplace_back(to_string(split));
  NpzWriter writer(path);
  writer.add("features", set.features.to(at::kFloat));
  writer.add("labels", set.labels);
  writer.add("names", set.class_names);
  writer.add("split", splits);
  writer.add("paths", set.image_ids);
  add_header(writer, header);
  writer.close();
}

}  // namespace

void write_features(const fs::path& path, const FeatureSet& set, const Provenance& provenance) {
  write(path, set, provenance, nlohmann::json::object());
}

void write_features(const fs::path& path, const FeatureSet& set, const Provenance& provenance,
                    const Preprocessing& preprocessing) {
  write(path, set, provenance, {{"preprocessing", to_json(preprocessing)}});
}

}  // namespace protocom
