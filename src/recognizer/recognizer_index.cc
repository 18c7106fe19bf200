#include "recognizer/detail/recognizer_index.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "io/safetensors.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using Tensors = std::vector<std::pair<std::string, at::Tensor>>;

constexpr const char* kFormat = "1";

/// Texts as one tensor of bytes and where each ends.
class PackedTexts {
 public:
  void add(std::string_view text) {
    bytes_.append(text);
    ends_.push_back(static_cast<int64_t>(bytes_.size()));
  }
  [[nodiscard]] at::Tensor ends() const { return at::tensor(ends_, at::kLong); }
  /// On this object's memory.
  [[nodiscard]] at::Tensor bytes() const {
    return at::from_blob(const_cast<char*>(bytes_.data()), {static_cast<int64_t>(bytes_.size())}, at::kByte);
  }

 private:
  std::string bytes_;
  std::vector<int64_t> ends_;
};

/// All that an index has of the classes, in the order of the file: what needs alignment first.
struct Columns {
  PackedTexts names, titles, embedding_sources, sources;
  std::vector<int64_t> first = {0}, example_ids;
  std::vector<at::Tensor> associations, embeddings, features;
};

Columns columns_of(const RecognizerSnapshot& snapshot) {
  Columns all;
  for (size_t k = 0; k < snapshot.enrolled.classes.size(); ++k) {
    const StoredClass& own = snapshot.enrolled.classes[k];
    all.names.add(own.name);
    all.titles.add(own.description.title);
    all.embedding_sources.add(own.description.embedding_source);
    all.associations.push_back(tensor_of(own.description.association.to(NumberType::kFloat32)));
    all.embeddings.push_back(tensor_of(own.description.embedding.to(NumberType::kFloat32)));
    all.features.push_back(own.features);
    all.first.push_back(all.first.back() + own.features.size(0));
    for (const KeptExample& example : snapshot.examples[k]) {
      all.example_ids.push_back(example.id);
      all.sources.add(example.source);
    }
  }
  return all;
}

/// The tensors of an index, by name and checked against the sizes that they must have.
class IndexReader {
 public:
  explicit IndexReader(const fs::path& path) : path_(path), file_(read_safetensors(path)) {}

  [[nodiscard]] std::string text(const std::string& key) const {
    const auto found = file_.metadata.find(key);
    return found == file_.metadata.end() ? "" : found->second;
  }

  [[nodiscard]] at::Tensor tensor(const std::string& name, at::ScalarType type,
                                  const std::vector<int64_t>& shape) const {
    return tensor_of(array(name, number_type_of(type), shape));
  }

  [[nodiscard]] const Array& array(const std::string& name, NumberType type, const Shape& shape) const {
    const auto found = file_.tensors.find(name);
    if (found == file_.tensors.end() || found->second.type() != type || found->second.shape() != shape)
      fail("{} is damaged: '{}' is not as it should be", path_.string(), name);
    return found->second;
  }

  [[nodiscard]] int64_t length(const std::string& name) const {
    const auto found = file_.tensors.find(name);
    if (found == file_.tensors.end() || found->second.dim() < 1) fail("{} is damaged: no '{}'", path_.string(), name);
    return found->second.size(0);
  }

  [[nodiscard]] bool has(const std::string& name) const { return file_.tensors.count(name) > 0; }
  [[nodiscard]] at::Tensor any(const std::string& name) const { return tensor_of(file_.tensors.at(name)); }

  /// Ascending from `least` to `most`.
  [[nodiscard]] const int64_t* ascending(const at::Tensor& numbers, int64_t least, int64_t most) const {
    const auto* number = numbers.data_ptr<int64_t>();
    int64_t last = least;
    for (int64_t i = 0; i < numbers.size(0); ++i) {
      if (number[i] < last || number[i] > most) fail("{} is damaged: its numbers do not ascend", path_.string());
      last = number[i];
    }
    return number;
  }

 private:
  fs::path path_;
  Safetensors file_;
};

/// Texts as write_index packed them.
class ReadTexts {
 public:
  ReadTexts(const IndexReader& reader, const std::string& name, int64_t count)
      : bytes_(reader.tensor(name, at::kByte, {reader.length(name)})),
        ends_(reader.ascending(reader.tensor(name + ".ends", at::kLong, {count}), 0, bytes_.size(0))) {}
  [[nodiscard]] std::string next() {
    const int64_t begin = i_ == 0 ? 0 : ends_[i_ - 1];
    const auto* text = reinterpret_cast<const char*>(bytes_.data_ptr<uint8_t>());
    return {text + begin, text + ends_[i_++]};
  }

 private:
  at::Tensor bytes_;
  const int64_t* ends_;
  int64_t i_ = 0;
};

RecognizerSnapshot snapshot_in(const IndexReader& reader, const RecognizerSettings& settings, int64_t revision) {
  const int64_t c = reader.length("class_ids"), m = reader.length("features"), d = settings.feature_dim;
  const auto a = static_cast<int64_t>(settings.attributes.size());
  RecognizerSnapshot made;
  made.revision = revision;
  made.steps = {{revision, {}}};
  made.enrolled.feature_dim = d;
  made.enrolled.attributes = settings.attributes;
  made.feature_sum = reader.tensor("feature_sum", at::kDouble, {d}).clone();
  made.feature_count = m;
  const auto* ids = reader.tensor("class_ids", at::kLong, {c}).data_ptr<int64_t>();
  made.class_ids.assign(ids, ids + c);
  const auto* first = reader.ascending(reader.tensor("first", at::kLong, {c + 1}), 0, m);
  const auto* example = reader.tensor("example_ids", at::kLong, {m}).data_ptr<int64_t>();
  const at::Tensor features = reader.tensor("features", at::kFloat, {m, d});
  const Array& associations = reader.array("associations", NumberType::kFloat32, {c, a});
  const Array& embeddings = reader.array("embeddings", NumberType::kFloat32, {c, settings.embedding_dim});
  const Array none = Array::zeros({0});
  ReadTexts names(reader, "names", c), titles(reader, "titles", c), from(reader, "embedding_sources", c);
  ReadTexts sources(reader, "sources", m);
  for (int64_t k = 0; k < c; ++k) {
    StoredClass& own = made.enrolled.classes.emplace_back();
    own.name = names.next();
    own.description.title = titles.next();
    own.description.embedding_source = from.next();
    own.description.association = a == 0 ? none : associations.row(k);
    own.description.embedding = settings.embedding_dim == 0 ? none : embeddings.row(k);
    own.count = first[k + 1] - first[k];
    own.features = features.narrow(0, first[k], own.count);
    std::vector<KeptExample>& kept = made.examples.emplace_back();
    for (int64_t i = first[k]; i < first[k + 1]; ++i) kept.push_back({example[i], sources.next()});
  }
  return made;
}

PlacedClasses placed_in(const IndexReader& reader) {
  PlacedClasses placed;
  for (size_t i = 0; reader.has(fmt::format("placed.{}", i)); ++i) {
    const at::Tensor part = reader.any(fmt::format("placed.{}", i));
    if (part.dim() < 1 || part.size(0) != reader.length("class_ids")) fail("its places are not those of its classes");
    placed.push_back(part);
  }
  if (placed.empty()) fail("it has no places of classes");
  return placed;
}

/// Of what a method was made of: places of another one are others.
std::string models_hash(const RecognizerFile& file) {
  std::string hashes;
  for (const char* name : {"fitted", "model"}) {
    const RecognizerArtefact* artefact = file.artefact(name);
    if (artefact != nullptr) hashes += artefact->hash;
  }
  return hashes;
}

}  // namespace

fs::path index_path(const fs::path& recognizer) { return recognizer.string() + ".index"; }

void write_index(const RecognizerFile& file, const std::string& method, const RecognizerIndex& index) {
  const RecognizerSnapshot& snapshot = index.snapshot;
  const Columns all = columns_of(snapshot);
  const auto numbers = [](const std::vector<int64_t>& values) { return at::tensor(values, at::kLong); };
  Tensors tensors = {{"class_ids", numbers(snapshot.class_ids)},
                     {"first", numbers(all.first)},
                     {"example_ids", numbers(all.example_ids)},
                     {"feature_sum", snapshot.feature_sum},
                     {"names.ends", all.names.ends()},
                     {"titles.ends", all.titles.ends()},
                     {"embedding_sources.ends", all.embedding_sources.ends()},
                     {"sources.ends", all.sources.ends()},
                     {"associations", at::stack(all.associations)},
                     {"embeddings", at::stack(all.embeddings)},
                     {"features", at::cat(all.features)}};
  Tensors bytes = {{"names", all.names.bytes()},
                   {"titles", all.titles.bytes()},
                   {"embedding_sources", all.embedding_sources.bytes()},
                   {"sources", all.sources.bytes()}};
  for (size_t i = 0; i < index.placed.size(); ++i) {
    const at::Tensor& part = index.placed[i];
    (part.element_size() == 1 ? bytes : tensors).emplace_back(fmt::format("placed.{}", i), part);
  }
  tensors.insert(tensors.end(), bytes.begin(), bytes.end());
  write_safetensors(index_path(file.path()), arrays_of(tensors),
                    {{"format", kFormat},
                     {"method", method},
                     {"model", models_hash(file)},
                     {"revision", std::to_string(snapshot.revision)},
                     {"history", file.history(snapshot.revision)}});
}

std::optional<RecognizerIndex> read_index(const RecognizerFile& file, const std::string& method) {
  const fs::path path = index_path(file.path());
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  try {
    const IndexReader reader(path);
    if (reader.text("format") != kFormat || reader.text("method") != method ||
        reader.text("model") != models_hash(file)) {
      logger().info("{} is of another method and is not used", path.string());
      return std::nullopt;
    }
    const int64_t revision = std::stoll(reader.text("revision"));
    if (reader.text("history") != file.history(revision)) {
      logger().info("{} is of another state and is not used: make it anew (protocom recognizer index {})",
                    path.string(), file.path().string());
      return std::nullopt;
    }
    return RecognizerIndex{snapshot_in(reader, file.settings(), revision), placed_in(reader)};
  } catch (const std::exception& error) {
    logger().warn("{} is not used: {}", path.string(), reason_of(error));
    return std::nullopt;
  }
}

}  // namespace protocom
