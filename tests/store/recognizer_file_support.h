#pragma once
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "io/files.h"
#include "store/recognizer_file.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom::testing {

/// Returns settings with features of two numbers, the attributes "tail" and "wing", embeddings of two numbers.
inline RecognizerSettings small_settings() {
  RecognizerSettings settings;
  settings.preprocessing.image_size = 16;
  settings.feature_dim = 2;
  settings.embedding_dim = 2;
  settings.attributes = {"tail", "wing"};
  return settings;
}

/// Returns the list of a class of small_settings(): the attributes that it has.
inline std::vector<AttributeWeight> weights(double tail, double wing) {
  std::vector<AttributeWeight> made;
  if (tail > 0) made.push_back({"tail", tail});
  if (wing > 0) made.push_back({"wing", wing});
  return made;
}

/// Makes a recognizer whose artefacts are texts, in a folder.
inline std::filesystem::path make_file(const TempDir& folder, const RecognizerSettings& settings = small_settings()) {
  write_file(folder / "backbone.npz", "the backbone");
  write_file(folder / "model.npz", std::string(10'000'000, 'm'));
  RecognizerFile::create(folder / "a.pcm", settings,
                         {{"backbone", folder / "backbone.npz"}, {"model", folder / "model.npz"}}, {});
  return folder / "a.pcm";
}

/// Returns a class that is described by one number.
inline ClassEnrolment enrolment(const std::string& name, const std::vector<std::vector<float>>& features,
                                const std::vector<std::string>& hashes, float tail = 1) {
  ClassEnrolment made{name, ClassDescription{"a " + name, Array::of(std::vector<float>{tail, 0.5F}),
                                             Array::of(std::vector<float>{tail, 2.0F}), "attributes"}};
  std::vector<at::Tensor> rows;
  for (const auto& one : features) rows.push_back(at::tensor(one));
  if (!rows.empty()) made.examples.features = array_of(at::stack(rows));
  made.examples.hashes = hashes;
  for (const std::string& hash : hashes) {
    made.examples.sources.push_back("photos/" + hash + ".jpg");
    made.examples.thumbnails.push_back("JPEG of " + hash);
  }
  return made;
}

/// Returns everything that a user can see of a recognizer, as text.
inline std::string all_of(const RecognizerFile& file) {
  std::string text;
  const RecognizerSnapshot snapshot = file.snapshot();
  for (const StoredClass& one : snapshot.enrolled.classes) {
    text += fmt::format("{} {} {}\n", one.name, one.description.title, one.count);
    for (const Array& array : {one.description.association, one.description.embedding, one.features}) {
      if (array.defined()) text += hash_bytes({static_cast<const char*>(array.raw()), array.bytes()});
    }
  }
  for (const ExampleInfo& one : file.list_examples(""))
    text += fmt::format("\n{} {} {} {} {} {}", one.id, one.class_name, one.source, one.hash, file.thumbnail(one.id),
                        one.confirmed);
  for (const ExampleInfo& one : file.list_unlabelled())
    text += fmt::format("\n{} {} {} {}", one.id, one.source, one.hash, file.unlabelled_thumbnail(one.id));
  if (snapshot.enrolled.unlabelled.defined())
    text += fmt::format("\n{}", tensor_of(snapshot.enrolled.unlabelled).sum().item<float>());
  return text + (snapshot.calibration ? snapshot.calibration->dump() : "");
}

/// Makes a random change.
inline void change_anything(RecognizerFile& file, std::mt19937& random) {
  const auto classes = file.list_classes();
  const auto examples = file.list_examples("");
  const std::string name = "class" + std::to_string(random() % 6);
  const std::string some = classes.empty() ? "" : classes[random() % classes.size()].name;
  const auto number = static_cast<float>(random() % 100);
  const std::string hash = std::to_string(random() % 30);
  switch (random() % 10) {
    case 0:
      if (!some.empty() && !file.find_class(name)) return file.rename_class(some, name);
      break;
    case 1:
      if (!some.empty()) return file.remove_class(some);
      break;
    case 2:
      if (!examples.empty()) return file.remove_examples({examples[random() % examples.size()].id});
      break;
    case 3:
      return file.set_calibration({{"number", number}});
    case 4:
      if (classes.size() > 1 && name != some && file.find_class(name)) {
        file.merge_class(some, name);
        return;
      }
      break;
    case 5:
      if (file.add_unlabelled(enrolment("", {{number, 3}}, {hash}).examples) > 0) return;
      break;
    case 6:
      if (const auto unlabelled = file.list_unlabelled(); !unlabelled.empty())
        return file.remove_unlabelled({unlabelled[random() % unlabelled.size()].id});
      break;
    case 7:
      if (!examples.empty() && file.confirm_examples({examples[random() % examples.size()].id}) > 0) return;
      break;
    default:
      break;
  }
  file.enrol({enrolment(name, {{number, 1}, {number, 2}}, {hash, hash + "x"}, number / 100)});
}

}  // namespace protocom::testing
