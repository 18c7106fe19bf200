#include <ATen/ATen.h>

#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/core/npz.h"
#include "protocom/nn/backbone.h"
#include "protocom/serve/class_store.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKind = "class-store";
constexpr int kFormatVersion = 2;

nlohmann::json to_json(const FileReference& file) { return {{"path", file.path.string()}, {"hash", file.hash}}; }

FileReference reference_from(const nlohmann::json& json) {
  return {json.at("path").get<std::string>(), json.at("hash").get<std::string>()};
}

/// None where the header has none: a store has a completion model or a fitted method.
FileReference reference_in(const nlohmann::json& details, const char* name) {
  return details.contains(name) ? reference_from(details.at(name)) : FileReference();
}

at::Tensor stack(const ClassStore& store, const at::Tensor& (*field)(const StoredClass&), c10::ScalarType type) {
  std::vector<at::Tensor> rows;
  for (const StoredClass& one : store.classes) rows.push_back(field(one));
  return rows.empty() ? at::zeros({0, 0}, type) : at::stack(rows).to(type);
}

std::vector<std::string> texts(const ClassStore& store, const std::string& (*field)(const StoredClass&)) {
  std::vector<std::string> result;
  for (const StoredClass& one : store.classes) result.push_back(field(one));
  return result;
}

at::Tensor checked(const NpzReader& reader, const std::string& name, c10::ScalarType type,
                   const std::vector<int64_t>& sizes) {
  at::Tensor tensor = reader.tensor(name);
  bool fits = tensor.scalar_type() == type && tensor.dim() == static_cast<int64_t>(sizes.size());
  for (size_t i = 0; fits && i < sizes.size(); ++i)
    fits = sizes[i] < 0 || tensor.size(static_cast<int64_t>(i)) == sizes[i];
  if (fits && tensor.is_floating_point() && !tensor.isfinite().all().item<bool>())
    fail("{}: the member '{}' holds NaN or infinity", reader.path().string(), name);
  if (!fits)
    fail("{}: the member '{}' has another type or shape than its class-store needs", reader.path().string(), name);
  return tensor;
}

std::vector<std::string> checked_texts(const NpzReader& reader, const std::string& name, size_t size) {
  std::vector<std::string> result = reader.strings(name);
  if (result.size() != size)
    fail("{}: the member '{}' has {} entries, expected {}", reader.path().string(), name, result.size(), size);
  return result;
}

ClassStore from_details(const nlohmann::json& details, const std::string& where) {
  ClassStore store;
  try {
    store.backbone = reference_from(details.at("backbone"));
    store.model = reference_in(details, "model");
    store.fitted = reference_in(details, "fitted");
    store.knowledge = reference_in(details, "knowledge");
    details.at("feature_dim").get_to(store.feature_dim);
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the header is damaged: {}", where, reason_of(error));
  }
  if (store.model.path.empty() == store.fitted.path.empty())
    fail("{}: the header is damaged: it should name a completion model or a fitted method", where);
  constexpr int64_t kMostDim = int64_t{1} << 30;
  if (store.feature_dim < 1 || store.feature_dim > kMostDim)
    fail("{}: the header is damaged: features of {} dimensions", where, store.feature_dim);
  // Version 1 has the size alone.
  store.preprocessing =
      preprocessing_from(details.contains("preprocessing") ? details.at("preprocessing") : details, where);
  if (store.preprocessing.image_size > kLargestImage)
    fail("{}: the header is damaged: images of {} pixels", where, store.preprocessing.image_size);
  return store;
}

void read_classes(const NpzReader& reader, ClassStore& store) {
  const std::vector<std::string> names = reader.strings("classes");
  const auto c = static_cast<int64_t>(names.size());
  const auto a = static_cast<int64_t>(store.attributes.size());
  const std::vector<std::string> titles = checked_texts(reader, "titles", names.size());
  const std::vector<std::string> sources = checked_texts(reader, "embedding_source", names.size());
  const at::Tensor count = checked(reader, "count", at::kLong, {c});
  const at::Tensor sum = checked(reader, "sum", at::kDouble, {c, store.feature_dim});
  const at::Tensor sum_squares = checked(reader, "sum_squares", at::kDouble, {c, store.feature_dim});
  const at::Tensor association = checked(reader, "association", at::kFloat, {c, a});
  const at::Tensor embedding = checked(reader, "class_embedding", at::kFloat, {c, -1});
  for (int64_t k = 0; k < c; ++k) {
    const auto i = static_cast<size_t>(k);
    StoredClass one;
    one.name = names[i];
    one.description = {titles[i], association[k].clone(), embedding[k].clone(), sources[i]};
    one.count = count[k].item<int64_t>();
    if (one.name.empty() || one.count < 0)
      fail("{}: class {} ('{}') with {} images cannot be", reader.path().string(), k, excerpt(one.name), one.count);
    if (store.find(one.name) != nullptr)
      fail("{}: the class '{}' is there twice", reader.path().string(), excerpt(one.name));
    one.sum = sum[k].clone();
    one.sum_squares = sum_squares[k].clone();
    store.classes.push_back(std::move(one));
  }
}

void read_image_hashes(const NpzReader& reader, ClassStore& store) {
  const std::vector<std::string> hashes = reader.strings("image_hashes");
  const at::Tensor owner = checked(reader, "image_class", at::kLong, {static_cast<int64_t>(hashes.size())});
  for (size_t i = 0; i < hashes.size(); ++i) {
    const auto k = owner[static_cast<int64_t>(i)].item<int64_t>();
    if (k < 0 || k >= static_cast<int64_t>(store.classes.size()))
      fail("{}: image_class[{}] is out of range", reader.path().string(), i);
    store.classes[static_cast<size_t>(k)].image_hashes.push_back(hashes[i]);
  }
  for (const StoredClass& one : store.classes) {
    if (one.count != static_cast<int64_t>(one.image_hashes.size()))
      fail("{}: class '{}' counts {} images and lists {}", reader.path().string(), excerpt(one.name), one.count,
           one.image_hashes.size());
  }
}

/// Each class's rows, in the order of its hashes.
void read_features(const NpzReader& reader, ClassStore& store) {
  if (!store.keeps_features() || store.classes.empty()) return;
  int64_t total = 0;
  for (const StoredClass& one : store.classes) total += one.count;
  const at::Tensor features = checked(reader, "features", at::kFloat, {total, store.feature_dim});
  const at::Tensor owner = reader.tensor("image_class");
  for (size_t k = 0; k < store.classes.size(); ++k) {
    const at::Tensor own = owner.eq(static_cast<int64_t>(k)).nonzero().flatten();
    store.classes[k].features = features.index_select(0, own);
  }
}

nlohmann::json details_of(const ClassStore& store) {
  nlohmann::json details = {{"backbone", to_json(store.backbone)},
                            {"preprocessing", to_json(store.preprocessing)},
                            {"feature_dim", store.feature_dim},
                            {"classes", store.classes.size()}};
  for (const auto& [name, file] :
       {std::pair{"model", store.model}, {"fitted", store.fitted}, {"knowledge", store.knowledge}}) {
    if (!file.path.empty()) details[name] = to_json(file);
  }
  return details;
}

}  // namespace

void write_class_store(const fs::path& path, const ClassStore& store, const Provenance& provenance) {
  ArtefactHeader header = make_header(kKind, kFormatVersion, provenance);
  header.details = details_of(store);
  std::vector<int64_t> count, owner;
  std::vector<at::Tensor> features;
  std::vector<std::string> hashes;
  for (const StoredClass& one : store.classes) {
    hashes.insert(hashes.end(), one.image_hashes.begin(), one.image_hashes.end());
    owner.resize(hashes.size(), static_cast<int64_t>(count.size()));
    count.push_back(one.count);
    if (one.features.defined()) features.push_back(one.features);
  }
  using Row = const at::Tensor& (*)(const StoredClass&);
  const Row sum = [](const StoredClass& one) -> const at::Tensor& { return one.sum; };
  const Row sum_squares = [](const StoredClass& one) -> const at::Tensor& { return one.sum_squares; };
  const Row association = [](const StoredClass& one) -> const at::Tensor& { return one.description.association; };
  const Row embedding = [](const StoredClass& one) -> const at::Tensor& { return one.description.embedding; };
  NpzWriter writer(path);
  add_header(writer, header);
  writer.add("classes", texts(store, [](const StoredClass& one) -> const std::string& { return one.name; }));
  writer.add("titles",
             texts(store, [](const StoredClass& one) -> const std::string& { return one.description.title; }));
  writer.add("embedding_source", texts(store, [](const StoredClass& one) -> const std::string& {
               return one.description.embedding_source;
             }));
  writer.add("count", at::tensor(count, at::kLong));
  writer.add("sum", stack(store, sum, at::kDouble));
  writer.add("sum_squares", stack(store, sum_squares, at::kDouble));
  writer.add("attributes", store.attributes);
  writer.add("association", stack(store, association, at::kFloat));
  writer.add("class_embedding", stack(store, embedding, at::kFloat));
  writer.add("image_hashes", hashes);
  writer.add("image_class", at::tensor(owner, at::kLong));
  if (!features.empty()) writer.add("features", at::cat(features));
  writer.close();
}

ClassStore read_class_store(const fs::path& path) {
  return reading(path, [&] {
    const NpzReader reader(path);
    const ArtefactHeader header = read_header(reader, kKind, kFormatVersion);
    ClassStore store = from_details(header.details, path.string());
    store.attributes = reader.strings("attributes");
    read_classes(reader, store);
    read_image_hashes(reader, store);
    read_features(reader, store);
    return store;
  });
}

}  // namespace protocom
