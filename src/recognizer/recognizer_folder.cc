#include "recognizer/recognizer_folder.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/json_text.h"
#include "io/files.h"
#include "io/json.h"
#include "io/npz.h"
#include "io/pending_folder.h"
#include "recognizer/calibration.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr const char* kDocument = "recognizer.json";
constexpr const char* kClassesFile = "classes.npz";
constexpr const char* kExamplesFile = "examples.npz";
constexpr const char* kUnlabelledFile = "unlabelled.npz";
constexpr const char* kThumbnails = "thumbnails";
constexpr const char* kUnlabelledThumbnails = "unlabelled-thumbnails";

constexpr size_t kLongestSuffix = 16;

/// Returns "backbone.pt": the artefact's kind, with its original suffix if that consists of letters and digits.
std::string file_name(const RecognizerArtefact& artefact) {
  const std::string suffix = artefact.path.extension().string();
  const bool is_plain =
      suffix.size() > 1 && suffix.size() <= kLongestSuffix &&
      std::all_of(suffix.begin() + 1, suffix.end(), [](unsigned char c) { return c < 0x80 && std::isalnum(c) != 0; });
  return artefact.name + (is_plain ? suffix : "");
}

/// `which`: kThumbnails or kUnlabelledThumbnails.
fs::path thumbnail_path(const fs::path& folder, const char* which, int64_t number) {
  return folder / which / fmt::format("{}.jpg", number);
}

/// Returns the path of a file in an exported folder, which contains no links: one that leads out of it would bring
/// another file of this machine into the recognizer, which is passed on.
fs::path member(const fs::path& path) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(path, error)))
    fail("{} is a symbolic link: replace it by a copy of the file", path.string());
  return path;
}

/// Returns the picture of an example; empty if there is none.
std::string read_thumbnail(const fs::path& path) {
  constexpr uintmax_t kMostBytes = uintmax_t{4} << 20;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return {};
  check_plain_file(member(path));
  if (const uintmax_t size = fs::file_size(path, error); !error && size > kMostBytes)
    fail("{} has {} MiB: a thumbnail has at most {}", path.string(), size >> 20, kMostBytes >> 20);
  return read_file(path);
}

/// Serialises JSON, whose texts must be UTF-8: a name in another encoding would come back as a different one.
json dumped_safely(const json& document) {
  try {
    static_cast<void>(strict_json_text(document));
  } catch (const json::exception&) {
    fail("a name or file name in the recognizer is not UTF-8: JSON cannot hold it; rename the class");
  }
  return document;
}

json export_artefacts(const RecognizerFile& file, const fs::path& folder) {
  json entries = json::array();
  for (const RecognizerArtefact& artefact : file.artefacts()) {
    file.read_artefact(artefact.name, [&](const fs::path& from) {
      write_file(folder / file_name(artefact), MappedFile(from).bytes());
    });
    entries.push_back({{"name", artefact.name},
                       {"file", file_name(artefact)},
                       {"hash", artefact.hash},
                       {"embedded", artefact.embedded}});
  }
  return entries;
}

/// Returns a vector [d] as a matrix of one row.
Array row_of(const Array& vector) { return vector.reshaped({1, vector.numel()}); }

json export_classes(const RecognizerContents& contents, const std::vector<std::string>& attributes,
                    const fs::path& folder) {
  json entries = json::array();
  std::vector<Array> association, embedding;  // [1, a] and [1, e] each
  for (const StoredClass& stored_class : contents.classes) {
    entries.push_back({{"class", stored_class.name},
                       {"title", stored_class.description.title},
                       {"embedding_source", stored_class.description.embedding_source}});
    association.push_back(row_of(stored_class.description.association));
    embedding.push_back(row_of(stored_class.description.embedding));
  }
  NpzWriter writer(folder / kClassesFile);
  writer.add("attributes", attributes);
  if (!entries.empty()) {
    writer.add("association", Array::joined(association));
    writer.add("class_embedding", Array::joined(embedding));
  }
  writer.close();
  return entries;
}

json taken_json(const std::optional<double>& taken) { return taken ? json(*taken) : json(); }

std::optional<double> taken_from(const json& item) {
  const json& taken = item.at("taken");
  return taken.is_null() ? std::nullopt : std::optional(taken.get<double>());
}

json export_examples(const RecognizerContents& contents, const fs::path& folder) {
  json entries = json::array();
  for (size_t i = 0; i < contents.examples.size(); ++i) {
    const ExampleInfo& entry = contents.examples[i];
    const std::string& jpeg = contents.thumbnails[i];
    if (!jpeg.empty()) write_file(thumbnail_path(folder, kThumbnails, static_cast<int64_t>(i)), jpeg);
    entries.push_back({{"class", entry.class_name},
                       {"hash", entry.hash},
                       {"source", entry.source},
                       {"time", entry.time},
                       {"taken", taken_json(entry.taken)},
                       {"confirmed", entry.confirmed}});
  }
  NpzWriter writer(folder / kExamplesFile);
  writer.add("features", contents.features);
  writer.close();
  return entries;
}

/// Exports the unlabelled images; writes no file if there are none.
json export_unlabelled(const NewExamples& unlabelled, const fs::path& folder) {
  json entries = json::array();
  for (size_t i = 0; i < unlabelled.hashes.size(); ++i) {
    const std::string& jpeg = unlabelled.thumbnails[i];
    if (!jpeg.empty()) write_file(thumbnail_path(folder, kUnlabelledThumbnails, static_cast<int64_t>(i)), jpeg);
    entries.push_back({{"hash", unlabelled.hashes[i]},
                       {"source", unlabelled.sources[i]},
                       {"time", unlabelled.times[i]},
                       {"taken", taken_json(unlabelled.taken[i])}});
  }
  if (entries.empty()) return entries;
  NpzWriter writer(folder / kUnlabelledFile);
  writer.add("features", unlabelled.features);
  writer.close();
  return entries;
}

/// The folder's document and tensors while a recognizer is made from them.
class Folder {
 public:
  explicit Folder(const fs::path& folder)
      : folder_(folder), where_((folder / kDocument).string()), document_(read_json(member(folder / kDocument))) {}

  void read_into(const fs::path& path, const Provenance& provenance) const {
    const ArtefactHeader header = ArtefactHeader::from_json(document_.at("header"), where_);
    const NpzReader classes(member(folder_ / kClassesFile));
    RecognizerFile::create(path, RecognizerFile::settings_of(header, classes.strings("attributes"), where_),
                           artefacts(), provenance);
    RecognizerFile file(path);
    const std::vector<ClassEnrolment> all = enrolments(classes);
    if (!all.empty()) file.enrol(all);
    confirm_examples(file);
    if (const NewExamples images = unlabelled(); !images.hashes.empty()) file.add_unlabelled(images);
    if (const json& stored = document_.at("calibration"); !stored.is_null()) {
      Calibration read = calibration_from(stored, where_);
      read.class_ids.clear();  // the classes get new numbers
      file.set_calibration(to_json(read));
    }
    file.compact();
  }

 private:
  [[nodiscard]] std::vector<RecognizerArtefact> artefacts() const {
    std::vector<RecognizerArtefact> all;
    for (const json& item : document_.at("artefacts")) {
      const fs::path name = item.at("file").get<std::string>();
      if (name != name.filename() || name == ".." || name.string().find('\0') != std::string::npos)
        fail("{}: an artefact outside the folder: '{}'", where_, excerpt(name.string()));
      all.push_back({item.at("name").get<std::string>(), member(folder_ / name)});
      all.back().embedded = item.at("embedded").get<bool>();
      if (hash_file(all.back().path) != item.at("hash").get<std::string>())
        fail("{} differs from the file that was exported", all.back().path.string());
    }
    return all;
  }

  static Array row(const Array& table, int64_t k, const std::string& what) {
    if (table.dim() != 2 || k >= table.size(0)) fail("{} has fewer rows than recognizer.json has entries", what);
    return table.row(k);
  }

  [[nodiscard]] std::vector<ClassEnrolment> enrolments(const NpzReader& classes) const {
    std::vector<ClassEnrolment> all;
    std::map<std::string, size_t> number;
    std::map<std::string, std::string> written;
    if (document_.at("classes").empty()) return all;
    const Array association = classes.array("association");
    const Array embedding = classes.array("class_embedding");
    for (const json& item : document_.at("classes")) {
      const auto k = static_cast<int64_t>(all.size());
      ClassDescription stated;
      stated.title = item.at("title").get<std::string>();
      stated.association = row(association, k, kClassesFile);
      stated.embedding = row(embedding, k, kClassesFile);
      stated.embedding_source = item.at("embedding_source").get<std::string>();
      const auto name = item.at("class").get<std::string>();
      const auto [first, is_new] = written.emplace(clean_name(name), name);
      if (!is_new)
        fail("{}: the classes '{}' and '{}' have the same name: rename one", where_, excerpt(first->second),
             excerpt(name));
      number[name] = all.size();
      all.push_back({name, stated});
    }
    if (fs::exists(folder_ / kExamplesFile))
      add_examples(number, all);
    else if (!document_.at("examples").empty())
      fail("{} lists {} images, but {} is missing", where_, document_.at("examples").size(), kExamplesFile);
    return all;
  }

  void add_examples(const std::map<std::string, size_t>& number, std::vector<ClassEnrolment>& to) const {
    const Array features = NpzReader(member(folder_ / kExamplesFile)).array("features").to(NumberType::kFloat32);
    std::vector<std::vector<Array>> rows(to.size());
    int64_t i = 0;
    for (const json& item : document_.at("examples")) {
      const auto found = number.find(item.at("class").get<std::string>());
      if (found == number.end()) fail("{}: example {} has no class", where_, i);
      NewExamples& own = to[found->second].examples;
      rows[found->second].push_back(row_of(row(features, i, kExamplesFile)));
      own.hashes.push_back(item.at("hash").get<std::string>());
      own.sources.push_back(item.at("source").get<std::string>());
      own.times.push_back(whole_number<int64_t>(item.at("time")));
      own.taken.push_back(taken_from(item));
      const fs::path jpeg = thumbnail_path(folder_, kThumbnails, i++);
      own.thumbnails.push_back(read_thumbnail(jpeg));
    }
    if (features.dim() == 2 && i != features.size(0))
      fail("{} lists {} images, but {} has {} rows", where_, i, kExamplesFile, features.size(0));
    for (size_t k = 0; k < to.size(); ++k) {
      if (!rows[k].empty()) to[k].examples.features = Array::joined(rows[k]);
    }
  }

  void confirm_examples(RecognizerFile& file) const {
    std::map<std::pair<std::string, std::string>, int64_t> ids;  // by class and hash
    for (const ExampleInfo& example : file.list_examples("")) ids[{example.class_name, example.hash}] = example.id;
    std::vector<int64_t> confirmed;
    for (const json& item : document_.at("examples")) {
      if (!item.at("confirmed").get<bool>()) continue;
      confirmed.push_back(
          ids.at({clean_name(item.at("class").get<std::string>()), item.at("hash").get<std::string>()}));
    }
    file.confirm_examples(confirmed);
  }

  [[nodiscard]] NewExamples unlabelled() const {
    NewExamples images;
    if (document_.at("unlabelled").empty()) return images;
    images.features = NpzReader(member(folder_ / kUnlabelledFile)).array("features").to(NumberType::kFloat32);
    for (const json& item : document_.at("unlabelled")) {
      const fs::path jpeg = thumbnail_path(folder_, kUnlabelledThumbnails, static_cast<int64_t>(images.hashes.size()));
      images.hashes.push_back(item.at("hash").get<std::string>());
      images.sources.push_back(item.at("source").get<std::string>());
      images.times.push_back(whole_number<int64_t>(item.at("time")));
      images.taken.push_back(taken_from(item));
      images.thumbnails.push_back(read_thumbnail(jpeg));
    }
    return images;
  }

  fs::path folder_;
  std::string where_;
  json document_;
};

}  // namespace

void export_recognizer(const RecognizerFile& file, const fs::path& folder) {
  check_absent(folder);
  PendingFolder pending(folder);
  const RecognizerContents contents = file.contents();
  const json document = {{"header", file.header().to_json()},
                         {"artefacts", export_artefacts(file, pending.path())},
                         {"classes", export_classes(contents, file.settings().attributes, pending.path())},
                         {"examples", export_examples(contents, pending.path())},
                         {"unlabelled", export_unlabelled(contents.unlabelled, pending.path())},
                         {"calibration", contents.calibration ? *contents.calibration : json()}};
  write_file(pending.path() / kDocument, json_text(dumped_safely(document), 1));
  pending.keep();
}

void import_recognizer(const fs::path& folder, const fs::path& path, const Provenance& provenance) {
  check_absent(path);
  reading(folder / kDocument, [&] {
    const Folder read(folder);
    write_file_with(path, [&](const fs::path& temporary) { read.read_into(temporary, provenance); });
  });
}

}  // namespace protocom
