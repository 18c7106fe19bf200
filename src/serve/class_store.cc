#include "protocom/serve/class_store.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "protocom/core/error.h"
#include "protocom/core/feature_values.h"
#include "protocom/core/files.h"
#include "protocom/core/near_matches.h"

namespace protocom {

namespace fs = std::filesystem;

namespace {

StoredClass& existing(ClassStore& store, const std::string& name) {
  std::vector<std::string> names;
  for (StoredClass& one : store.classes) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  fail("the store has no class '{}'{}", name, did_you_mean(name, names));
}

void check_vector(const at::Tensor& vector, const char* what, const std::string& name) {
  if (!vector.defined()) fail("class '{}' has no {}", name, what);
  if (vector.dim() != 1 || vector.scalar_type() != at::kFloat || !vector.device().is_cpu()) {
    fail("class '{}': expected an {} of one dimension in float32 on the CPU, found {} [{}] on {}", name, what,
         c10::toString(vector.scalar_type()), fmt::join(vector.sizes(), ", "), vector.device().str());
  }
}

}  // namespace

FileReference FileReference::to(const fs::path& path) {
  return {fs::absolute(path).lexically_normal(), hash_file(path)};
}

void add_class(ClassStore& store, const std::string& name, ClassDescription description) {
  if (name.empty()) fail("a class needs a name");
  if (store.find(name) != nullptr) fail("the store already has a class '{}'", name);
  check_vector(description.association, "association", name);
  check_vector(description.embedding, "embedding", name);
  if (description.association.numel() != static_cast<int64_t>(store.attributes.size())) {
    fail("class '{}': weights of {} attributes, the store has {}: it was made with another model", name,
         description.association.numel(), store.attributes.size());
  }
  if (!store.classes.empty()) {
    const int64_t expected = store.classes.front().description.embedding.numel();
    const int64_t found = description.embedding.numel();
    if (found != expected)
      fail("class '{}': an embedding of {} dimensions, the store's have {}", name, found, expected);
  }
  StoredClass added;
  added.name = name;
  added.description = std::move(description);
  added.sum = at::zeros({store.feature_dim}, at::kDouble);
  added.sum_squares = at::zeros({store.feature_dim}, at::kDouble);
  if (store.keeps_features()) added.features = at::zeros({0, store.feature_dim});
  store.classes.push_back(std::move(added));
}

int64_t add_images(ClassStore& store, const std::string& name, const EnrolledImages& images) {
  StoredClass& target = existing(store, name);
  if (images.features.dim() != 2 || images.features.size(0) != static_cast<int64_t>(images.hashes.size())) {
    fail("class '{}': expected one row of features for each of {} images, found the shape [{}]", name,
         images.hashes.size(), fmt::join(images.features.sizes(), ", "));
  }
  if (images.features.size(1) != store.feature_dim) {
    fail("features of {} dimensions, the store's have {}", images.features.size(1), store.feature_dim);
  }
  check_features(images.features, fmt::format("class '{}'", name));
  std::set<std::string> known(target.image_hashes.begin(), target.image_hashes.end());
  const at::Tensor features = images.features.to(at::kDouble);  // [n, d]
  std::vector<int64_t> added;
  for (size_t i = 0; i < images.hashes.size(); ++i) {
    if (!known.insert(images.hashes[i]).second) continue;
    const at::Tensor feature = features[static_cast<int64_t>(i)];
    target.sum += feature;
    target.sum_squares += feature * feature;
    target.image_hashes.push_back(images.hashes[i]);
    added.push_back(static_cast<int64_t>(i));
  }
  target.count += static_cast<int64_t>(added.size());
  if (store.keeps_features()) {
    const at::Tensor rows = images.features.to(at::kFloat).index_select(0, at::tensor(added, at::kLong));
    target.features = at::cat({target.features, rows});  // [count, d]
  }
  return static_cast<int64_t>(added.size());
}

fs::path locate(const FileReference& reference, const std::string& what, const fs::path& store,
                const fs::path& replacement) {
  fs::path path = replacement;
  if (path.empty()) {
    path = reference.path;
    const fs::path beside = store.parent_path() / reference.path.filename();
    if (!fs::exists(path) && fs::exists(beside)) path = beside;
  }
  if (!fs::exists(path))
    fail("{}: its {} {} is not there; name it with --{}", store.string(), what, path.string(), what);
  if (hash_file(path) != reference.hash) {
    fail("{} is not the {} that {} was made with (its content differs); name that one with --{}", path.string(), what,
         store.string(), what);
  }
  return path;
}

}  // namespace protocom
