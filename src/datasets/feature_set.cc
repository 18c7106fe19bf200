#include "datasets/feature_set.h"

#include <map>
#include <unordered_set>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/feature_values.h"
#include "base/log.h"
#include "base/text.h"
#include "datasets/detail/feature_parts.h"
#include "datasets/detail/mapped_artefact.h"
#include "datasets/feature_rows.h"
#include "io/files.h"
#include "io/mapped_rows.h"

namespace protocom {
using namespace feature_parts;
namespace {

namespace fs = std::filesystem;

constexpr const char* kKind = "features";
constexpr int kFormatVersion = 1;

void check_unique(const std::vector<std::string>& names, const char* what, const std::string& where) {
  std::unordered_set<std::string> seen;
  for (const auto& name : names) {
    if (!seen.insert(name).second) fail("{}: duplicate {} '{}'", where, what, excerpt(name));
  }
}

/// Returns the split of each class; none for those that the table does not name.
std::vector<std::optional<Split>> splits_in(const SplitTable& table, const std::vector<std::string>& class_names) {
  std::vector<std::optional<Split>> splits;
  for (const auto& name : class_names) {
    const auto found = table.find(name);
    splits.push_back(found == table.end() ? std::nullopt : std::optional(found->second));
  }
  return splits;
}

/// Returns the split of the classes: as the file states, or else the same for all. The caller's choice is applied after
/// the file has been checked (take_split).
std::vector<Split> split_of(const FeatureSet& set, const std::optional<std::vector<std::string>>& own,
                            const FeatureFileOptions& options, const std::string& where) {
  if (options.split) return std::vector<Split>(set.class_names.size(), Split::kBase);
  if (!own) {
    if (!options.without_split)
      fail(
          "{} has no split: give it by --class-split (a CSV class,split), or add a text member 'split' [c] with base, "
          "val or novel for each class",
          where);
    logger().info("{} has no split: using all {} classes as {}", where, set.class_names.size(),
                  to_string(*options.without_split));
    return std::vector<Split>(set.class_names.size(), *options.without_split);
  }
  if (own->size() != set.class_names.size())
    fail("{}: 'split' names {} classes, 'names' {}", where, own->size(), set.class_names.size());
  std::vector<Split> splits;
  try {
    for (const auto& text : *own) splits.push_back(parse_split(text));
  } catch (const UsageError& error) {
    fail("{}: member 'split': {}", where, error.what());
  }
  return splits;
}

/// Returns which of some members the file has; the first if it has none.
std::string member_of(const NpzReader& reader, const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (reader.has(name)) found.push_back(name);
  }
  if (found.empty() || found.front() == names.front()) return names.front();
  if (found.size() > 1)
    fail("{}: '{}' or '{}' may be its {}: rename the right one to {}", reader.path().string(), found[0], found[1],
         names.front(), names.front());
  logger().info("{}: member '{}' is read as its {}", reader.path().string(), found.front(), names.front());
  return found.front();
}

/// Returns the features; those of a large file stay there, and their values are checked when they are used.
Array features_of_npz(const NpzReader& reader) {
  const std::string member = member_of(reader, {"features", "X", "x", "feats", "embeddings"});
  const auto mapped = map_npz_rows(reader.path(), member);
  return mapped ? *mapped : checked_features(reader.array(member), reader.path().string());
}

FeatureSet read_npz(const fs::path& path, const FeatureFileOptions& options) {
  const std::string where = path.string();
  const NpzReader reader(path);
  FeatureSet set;
  if (reader.has("header.json")) {
    const ArtefactHeader header = read_header(reader, kKind, kFormatVersion);
    set.backbone_hash = header.details.value("backbone_hash", "");
  }
  set.features = features_of_npz(reader);
  std::optional<std::vector<std::string>> names, split;
  if (reader.has("names")) names = clean_names(reader.strings("names"));
  if (reader.has("split") && !options.split) split = reader.strings("split");
  const std::string member = member_of(reader, {"labels", "y", "Y", "label", "target", "targets"});
  take_labels(array_in(reader, member), {names, split ? split->size() : 0, where}, set);
  set.image_ids = reader.has("paths") ? reader.strings("paths") : numbered(set.features.size(0));
  set.class_split = split_of(set, split, options, where);
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

Array features_of_npy(const fs::path& path) {
  const auto mapped = map_npy_rows(path);
  return mapped ? *mapped : checked_features(read_npy(path), path.string());
}

FeatureSet read_arrays(const fs::path& path, const FeatureFileOptions& options) {
  const fs::path labels = options.labels ? *options.labels : labels_beside(path);
  if (!fs::exists(labels)) {
    fail("{} has only features: expected their labels beside it in {}", path.string(), labels.filename().string());
  }
  if (!options.split && !options.without_split)
    fail_usage("{} has no split: give the split of its classes too", path.string());
  FeatureSet set;
  set.features = features_of_npy(path);
  take_labels(read_npy_array(labels), {std::nullopt, 0, labels.string()}, set);
  set.image_ids = numbered(set.features.size(0));
  set.class_split = split_of(set, std::nullopt, options, path.string());
  return set;
}

/// Returns a JSON list in the metadata; nothing if there is none.
std::optional<std::vector<std::string>> list_in(const Safetensors& file, const char* key, const std::string& where) {
  if (file.metadata.count(key) == 0) return std::nullopt;
  return images_detail::words_of(file, key, where);
}

const Array& tensor_in(const Safetensors& file, const char* name, const std::string& where) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end()) fail("{}: missing tensor '{}'", where, name);
  return found->second;
}

Array features_of_tensors(const Safetensors& file, const std::string& where) {
  const Array& stored = tensor_in(file, "features", where);
  const auto mapped = map_array_rows(stored);
  return mapped ? *mapped : checked_features(stored, where).copy();
}

FeatureSet read_tensors(const fs::path& path, const FeatureFileOptions& options) {
  const std::string where = path.string();
  const Safetensors file = read_safetensors(path);
  FeatureSet set;
  set.features = features_of_tensors(file, where);
  auto names = list_in(file, "names", where), split = list_in(file, "split", where);
  if (names) names = clean_names(*names);
  if (options.split) split.reset();
  take_labels(tensor_in(file, "labels", where).copy(), {names, split ? split->size() : 0, where}, set);
  set.image_ids = list_in(file, "paths", where).value_or(numbered(set.features.size(0)));
  set.class_split = split_of(set, split, options, where);
  return set;
}

}  // namespace

FeatureSet keep_classes(const FeatureSet& features, const std::vector<int64_t>& classes) {
  const auto many = static_cast<int64_t>(features.class_names.size());
  std::vector<int64_t> place(features.class_names.size(), -1);
  FeatureSet kept;
  for (const int64_t k : classes) {
    if (k < 0 || k >= many) fail("class {} is out of range: there are {}", k, many);
    place[static_cast<size_t>(k)] = static_cast<int64_t>(kept.class_names.size());
    kept.class_names.push_back(features.class_names[static_cast<size_t>(k)]);
    kept.class_split.push_back(features.class_split[static_cast<size_t>(k)]);
  }
  std::vector<int64_t> rows;
  for (size_t i = 0; i < features.labels.size(); ++i) {
    const int64_t label = place[static_cast<size_t>(features.labels[i])];
    if (label < 0) continue;
    rows.push_back(static_cast<int64_t>(i));
    kept.labels.push_back(label);
    kept.image_ids.push_back(features.image_ids[i]);
  }
  kept.features = features.features.gathered(rows);
  kept.backbone_hash = features.backbone_hash;
  return kept;
}

std::vector<int64_t> FeatureSet::classes_of(Split split) const {
  std::vector<int64_t> classes;
  for (size_t i = 0; i < class_split.size(); ++i) {
    if (class_split[i] == split) classes.push_back(static_cast<int64_t>(i));
  }
  return classes;
}

std::vector<std::vector<int64_t>> FeatureSet::rows_by_class() const {
  std::vector<std::vector<int64_t>> rows(class_names.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= static_cast<int64_t>(rows.size()))
      fail("image {} has the class number {}, the features have {} classes", i, labels[i], rows.size());
    rows[static_cast<size_t>(labels[i])].push_back(static_cast<int64_t>(i));
  }
  return rows;
}

namespace {

/// Finds copies of a photo, which have equal features whatever their names and formats.
std::vector<DuplicateGroup> copies_in(const FeatureSet& set) {
  const ImageOwners owners{set.class_names, set.class_split, set.image_ids, set.labels};
  std::vector<std::string> hashes;
  const auto* rows = static_cast<const char*>(set.features.raw());
  const auto bytes = static_cast<size_t>(set.dim()) * sizeof(float);
  for (int64_t i = 0; i < set.size(); ++i)
    hashes.push_back(hash_bytes(std::string_view(rows + static_cast<size_t>(i) * bytes, bytes)));
  return find_duplicates(hashes, owners);
}

void warn_of_copies(const std::vector<DuplicateGroup>& copies, const std::string& where) {
  if (copies.empty()) return;
  std::map<DuplicateKind, int64_t> images;  // that are copies of another one
  for (const DuplicateGroup& group : copies) images[group.kind] += static_cast<int64_t>(group.ids.size()) - 1;
  std::vector<std::string> counts;
  for (const auto& [kind, count] : images) counts.push_back(fmt::format("{} {}", count, to_string(kind)));
  constexpr size_t kShown = 4;
  logger().warn("{}: duplicate features: {} (such as {}), which inflate accuracy", where, fmt::join(counts, ", "),
                first_of(copies.front().ids, kShown));
}

/// Whether ids were made by numbered(): these are unique, and checking millions of rows would take a gigabyte.
bool are_numbers(const std::vector<std::string>& ids) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != fmt::format_int(i).c_str()) return false;
  }
  return true;
}

void find_copies(FeatureSet& set, const std::string& where) {
  if (is_mapped(set.features)) {
    logger().info("{}: {} rows are read from the file when used, and checked then; duplicates are not searched for",
                  where, set.size());
    return;
  }
  set.copies = copies_in(set);
  warn_of_copies(set.copies, where);
}

/// Checks data with the types of a feature set for consistency.
void check_parts(FeatureSet& set, const std::string& where) {
  if (static_cast<int64_t>(set.image_ids.size()) != set.features.size(0)) {
    fail("{}: {} image ids for {} feature rows", where, set.image_ids.size(), set.features.size(0));
  }
  if (set.class_split.size() != set.class_names.size())
    fail("{}: {} splits for {} class names", where, set.class_split.size(), set.class_names.size());
  check_unique(set.class_names, "class name", where);
  if (!are_numbers(set.image_ids)) check_unique(set.image_ids, "image id", where);
  find_copies(set, where);
}

FeatureSet read_mat(const fs::path& path, const FeatureFileOptions& options) {
  FeatureSet set;
  std::optional<std::vector<std::string>> split = read_mat_features(path, set);
  if (options.split) split.reset();
  set.class_split = split_of(set, split, options, path.string());
  return set;
}

FeatureSet read_kind(const fs::path& path, const FeatureFileOptions& options) {
  refuse_pickle(path);
  const std::string suffix = path.extension().string();
  if (suffix == ".mat") return read_mat(path, options);
  if (suffix == ".safetensors") return read_tensors(path, options);
  return suffix == ".npy" ? read_arrays(path, options) : read_npz(path, options);
}

/// Applies the splits of a table, and drops the classes that it does not name.
FeatureSet take_split(FeatureSet set, const fs::path& path) {
  const auto splits = splits_in(read_split(path), set.class_names);
  std::vector<int64_t> named;
  std::vector<std::string> unnamed;
  for (size_t k = 0; k < splits.size(); ++k) {
    if (splits[k]) {
      set.class_split[k] = *splits[k];
      named.push_back(static_cast<int64_t>(k));
    } else {
      unnamed.push_back(set.class_names[k]);
    }
  }
  if (unnamed.empty()) return set;
  constexpr size_t kShown = 8;
  if (named.empty())
    fail("{} names none of the {} classes of the features, such as {}", path.string(), unnamed.size(),
         first_of(unnamed, kShown));
  logger().warn("ignoring classes of the features that are not in {}, {} of {}: {}", path.string(), unnamed.size(),
                splits.size(), first_of(unnamed, kShown));
  FeatureSet kept = keep_classes(set, named);
  if (is_mapped(set.features)) check_features(kept.features, path.string());  // in memory now
  kept.copies = copies_in(kept);
  return kept;
}

FeatureSet read_any(const fs::path& path, const FeatureFileOptions& options) {
  FeatureSet set = read_kind(path, options);
  check_parts(set, path.string());
  if (options.split) set = take_split(std::move(set), *options.split);
  set.content_hash = hash_file(path);
  return set;
}

}  // namespace

FeatureSet checked_feature_set(FeatureSet set, const std::string& where) {
  if (!set.features.defined() || set.labels.empty()) fail("{}: expected features and labels", where);
  set.features = checked_features(set.features, where);
  std::optional<std::vector<std::string>> names;
  if (!set.class_names.empty()) names = clean_names(set.class_names);
  take_labels(Array::of(set.labels), {names, set.class_split.size(), where}, set);
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

Array read_feature_rows(const fs::path& path) {
  try {
    refuse_pickle(path);
    const std::string suffix = path.extension().string();
    if (suffix == ".mat") return read_mat(path, {{}, {}, Split::kBase}).features;
    if (suffix == ".safetensors") return features_of_tensors(read_safetensors(path), path.string());
    return suffix == ".npy" ? features_of_npy(path) : features_of_npz(NpzReader(path));
  } catch (...) {
    rethrow_for(path);
  }
}

void write_features(const fs::path& path, const FeatureSet& set, const Provenance& provenance,
                    const std::optional<Preprocessing>& preprocessing) {
  ArtefactHeader header = make_header(kKind, kFormatVersion, provenance);
  header.details = {{"images", set.size()},
                    {"dim", set.dim()},
                    {"classes", set.class_names.size()},
                    {"backbone_hash", set.backbone_hash}};
  if (preprocessing) header.details["preprocessing"] = to_json(*preprocessing);
  std::vector<std::string> splits;
  for (const Split split : set.class_split) splits.emplace_back(to_string(split));
  NpzWriter writer(path);
  writer.add("features", set.features.to(NumberType::kFloat32));
  writer.add("labels", Array::of(set.labels));
  writer.add("names", set.class_names);
  writer.add("split", splits);
  writer.add("paths", set.image_ids);
  add_header(writer, header);
  writer.close();
}

}  // namespace protocom
