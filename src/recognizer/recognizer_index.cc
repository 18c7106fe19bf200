#include "recognizer/detail/recognizer_index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "io/derived_output.h"
#include "io/safetensors.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using Arrays = std::vector<std::pair<std::string, Array>>;

constexpr const char* kFormat = "1";

/// Texts as one array of bytes and the end offset of each.
class PackedTexts {
 public:
  void add(std::string_view text) {
    bytes_->append(text);
    ends_.push_back(static_cast<int64_t>(bytes_->size()));
  }
  [[nodiscard]] Array ends() const { return Array::of(ends_); }
  /// The bytes of all texts added so far.
  [[nodiscard]] Array bytes() const {
    return Array::view(bytes_->data(), {static_cast<int64_t>(bytes_->size())}, NumberType::kUInt8, bytes_);
  }

 private:
  std::shared_ptr<std::string> bytes_ = std::make_shared<std::string>();
  std::vector<int64_t> ends_;
};

/// The classes' data in an index, in the order of the file: data that need alignment first.
struct Columns {
  PackedTexts names, titles, embedding_sources, sources;
  std::vector<int64_t> first = {0}, example_ids;
  std::vector<double> taken;                              // per example, NaN: unknown
  std::vector<Array> associations, embeddings, features;  // [1, a], [1, e], [m, d] each
};

/// Returns a vector [d] as a matrix float32 of one row.
Array float_row_of(const Array& vector) { return vector.to(NumberType::kFloat32).reshaped({1, vector.numel()}); }

Columns columns_of(const RecognizerSnapshot& snapshot) {
  Columns all;
  for (size_t k = 0; k < snapshot.enrolled.classes.size(); ++k) {
    const StoredClass& own = snapshot.enrolled.classes[k];
    all.names.add(own.name);
    all.titles.add(own.description.title);
    all.embedding_sources.add(own.description.embedding_source);
    all.associations.push_back(float_row_of(own.description.association));
    all.embeddings.push_back(float_row_of(own.description.embedding));
    all.features.push_back(own.features);
    all.first.push_back(all.first.back() + own.features.size(0));
    for (const KeptExample& example : snapshot.examples[k]) {
      all.example_ids.push_back(example.id);
      all.sources.add(example.source);
      all.taken.push_back(example.taken.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
  }
  return all;
}

/// The tensors of an index, by name, checked against their required sizes.
class IndexReader {
 public:
  explicit IndexReader(const fs::path& path) : path_(path), file_(read_safetensors(path)) {}

  [[nodiscard]] std::string text(const std::string& key) const {
    const auto found = file_.metadata.find(key);
    return found == file_.metadata.end() ? "" : found->second;
  }

  [[nodiscard]] const Array& array(const std::string& name, NumberType type, const Shape& shape) const {
    const auto found = file_.tensors.find(name);
    if (found == file_.tensors.end() || found->second.type() != type || found->second.shape() != shape)
      fail("{} is damaged: '{}' has an unexpected type or shape", path_.string(), name);
    return found->second;
  }

  [[nodiscard]] int64_t length(const std::string& name) const {
    const auto found = file_.tensors.find(name);
    if (found == file_.tensors.end() || found->second.dim() < 1)
      fail("{} is damaged: missing '{}'", path_.string(), name);
    return found->second.size(0);
  }

  [[nodiscard]] bool has(const std::string& name) const { return file_.tensors.count(name) > 0; }
  [[nodiscard]] const Array& any(const std::string& name) const { return file_.tensors.at(name); }

  /// Returns the numbers, checked to be ascending from `least` to `most`.
  [[nodiscard]] const int64_t* ascending(const Array& numbers, int64_t least, int64_t most) const {
    const auto* number = numbers.data<int64_t>();
    int64_t last = least;
    for (int64_t i = 0; i < numbers.size(0); ++i) {
      if (number[i] < last || number[i] > most) fail("{} is damaged: its numbers are not ascending", path_.string());
      last = number[i];
    }
    return number;
  }

 private:
  fs::path path_;
  Safetensors file_;
};

/// Texts as packed by write_index.
class ReadTexts {
 public:
  ReadTexts(const IndexReader& reader, const std::string& name, int64_t count)
      : bytes_(reader.array(name, NumberType::kUInt8, {reader.length(name)})),
        ends_(reader.ascending(reader.array(name + ".ends", NumberType::kInt64, {count}), 0, bytes_.size(0))) {}
  [[nodiscard]] std::string next() {
    const int64_t begin = i_ == 0 ? 0 : ends_[i_ - 1];
    const auto* text = reinterpret_cast<const char*>(bytes_.data<uint8_t>());
    return {text + begin, text + ends_[i_++]};
  }

 private:
  Array bytes_;
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
  const auto* sum = reader.array("feature_sum", NumberType::kFloat64, {d}).data<double>();
  made.feature_sum.assign(sum, sum + d);
  made.feature_count = m;
  const auto* ids = reader.array("class_ids", NumberType::kInt64, {c}).data<int64_t>();
  made.class_ids.assign(ids, ids + c);
  const auto* first = reader.ascending(reader.array("first", NumberType::kInt64, {c + 1}), 0, m);
  const auto* example = reader.array("example_ids", NumberType::kInt64, {m}).data<int64_t>();
  const auto* taken = reader.array("taken", NumberType::kFloat64, {m}).data<double>();
  const Array& features = reader.array("features", NumberType::kFloat32, {m, d});
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
    own.features = features.rows(first[k], first[k + 1]);
    std::vector<KeptExample>& kept = made.examples.emplace_back();
    for (int64_t i = first[k]; i < first[k + 1]; ++i)
      kept.push_back({example[i], sources.next(), std::isfinite(taken[i]) ? std::optional(taken[i]) : std::nullopt});
  }
  return made;
}

PlacedClasses placed_in(const IndexReader& reader) {
  PlacedClasses placed;
  for (size_t i = 0; reader.has(fmt::format("placed.{}", i)); ++i) {
    const Array& part = reader.any(fmt::format("placed.{}", i));
    if (part.dim() < 1 || part.size(0) != reader.length("class_ids")) fail("its positions do not match its classes");
    placed.push_back(part);
  }
  if (placed.empty()) fail("missing positions of classes");
  return placed;
}

/// Returns a hash of what a method was made from: another method places classes differently.
std::string models_hash(const RecognizerFile& file) {
  std::string hashes;
  for (const char* name : {"fitted", "model"}) {
    const RecognizerArtefact* artefact = file.artefact(name);
    if (artefact != nullptr) hashes += artefact->hash;
  }
  return hashes;
}

/// A revision as text.
int64_t whole_number_in(const std::string& text) {
  const std::optional<int64_t> number = number_from<int64_t>(text);
  if (!number) fail("its revision '{}' is not an integer", excerpt(text));
  return *number;
}

}  // namespace

fs::path index_path(const fs::path& recognizer) { return recognizer.string() + ".index"; }

void write_index(const RecognizerFile& file, const std::string& method, const RecognizerIndex& index) {
  const RecognizerSnapshot& snapshot = index.snapshot;
  const Columns all = columns_of(snapshot);
  Arrays arrays = {{"class_ids", Array::of(snapshot.class_ids)},
                   {"first", Array::of(all.first)},
                   {"example_ids", Array::of(all.example_ids)},
                   {"taken", Array::of(all.taken)},
                   {"feature_sum", Array::of(snapshot.feature_sum)},
                   {"names.ends", all.names.ends()},
                   {"titles.ends", all.titles.ends()},
                   {"embedding_sources.ends", all.embedding_sources.ends()},
                   {"sources.ends", all.sources.ends()},
                   {"associations", Array::joined(all.associations)},
                   {"embeddings", Array::joined(all.embeddings)},
                   {"features", Array::joined(all.features)}};
  Arrays bytes = {{"names", all.names.bytes()},
                  {"titles", all.titles.bytes()},
                  {"embedding_sources", all.embedding_sources.bytes()},
                  {"sources", all.sources.bytes()}};
  for (size_t i = 0; i < index.placed.size(); ++i) {
    const Array& part = index.placed[i];
    (size_of(part.type()) == 1 ? bytes : arrays).emplace_back(fmt::format("placed.{}", i), part);
  }
  arrays.insert(arrays.end(), bytes.begin(), bytes.end());
  refuse_link(index_path(file.path()));
  write_safetensors(index_path(file.path()), arrays,
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
      logger().info("ignoring {}: it was made with another method", path.string());
      return std::nullopt;
    }
    const int64_t revision = whole_number_in(reader.text("revision"));
    if (reader.text("history") != file.history(revision)) {
      logger().info("ignoring {}, which is out of date: make it again (protocom recognizer index {})", path.string(),
                    file.path().string());
      return std::nullopt;
    }
    return RecognizerIndex{snapshot_in(reader, file.settings(), revision), placed_in(reader)};
  } catch (const std::exception& error) {
    logger().warn("ignoring {}: {}", path.string(), reason_of(error));
    return std::nullopt;
  }
}

}  // namespace protocom
