#include "recognizer/enrol_sources.h"

#include "base/clean_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "datasets/feature_set.h"
#include "images/other_media.h"
#include "knowledge/class_texts.h"
#include "recognizer/class_words.h"
#include "recognizer/enrol_requests.h"

namespace protocom {
namespace {

/// Warns that features of another backbone are not comparable with the recognizer's images.
void warn_of_other_backbone(const FeatureSet& features, const RecognizerFile& file, const std::string& path) {
  const RecognizerArtefact* backbone = file.artefact("backbone");
  if (features.backbone_hash.empty() || backbone == nullptr || features.backbone_hash == backbone->hash) return;
  logger().warn("{} was extracted with another backbone than the recognizer's", path);
}

std::vector<EnrolRequest> requests_of_features_file(const EnrolSources& sources, const RecognizerFile& file) {
  FeatureFileOptions read;
  read.without_split = Split::kBase;  // the split does not matter here
  const FeatureSet features = read_features(sources.features, read);
  warn_of_other_backbone(features, file, sources.features.string());
  return requests_of_features(features, sources.one_class.name);
}

/// Checks that something is known of each new class: one without images or knowledge would still receive its share of
/// the answers.
void check_something_is_known(const std::vector<EnrolRequest>& requests, Recognizer& recognizer) {
  for (const EnrolRequest& request : requests) {
    const std::string& name = request.name;
    if (!request.is_name_alone() || recognizer.file().has_class(name)) continue;
    const Knowledge* knowledge = recognizer.knowledge();
    if (knowledge == nullptr || knowledge->class_index(clean_name(name)) < 0)
      fail_usage("unknown class '{}': give images of it, its attributes, or a description in words", name);
  }
}

/// Sets the vectors of descriptions in words of the requests' classes; without requests, makes a class for each
/// description.
void set_text_vectors_of_sources(const EnrolSources& sources, std::vector<EnrolRequest>& requests) {
  const std::vector<std::string>& descriptions = sources.one_class.descriptions;
  if (descriptions.empty() && sources.described.empty()) return;
  const TextEncoder encoder = open_text_encoder(sources.text_encoder);
  if (!descriptions.empty()) return describe_in_words(encoder, requests.front());
  const ClassTexts texts = read_class_texts(sources.described);
  const Array vectors = encode_classes(encoder, texts);
  if (requests.empty()) {
    for (const std::string& name : texts.classes) requests.emplace_back().name = name;
  }
  set_text_vectors(texts, vectors, requests);
}

void check_sources(const EnrolSources& sources) {
  const bool one_class = !sources.one_class.name.empty(), features = !sources.features.empty();
  const bool descriptions = !sources.one_class.descriptions.empty();
  const int kinds = (one_class || features) + !sources.folder.empty() + !sources.list.empty();
  if (kinds > 1 || (kinds == 0 && sources.described.empty()))
    fail_usage("give one class by its name, or classes by a folder, a CSV list, a file of features or of descriptions");
  const bool texts = descriptions || !sources.described.empty();
  if (texts && sources.text_encoder.empty())
    fail_usage("descriptions need the text encoder that made the recognizer's knowledge: give it");
  if (!texts && !sources.text_encoder.empty())
    fail_usage("a text encoder needs descriptions: give them, or leave it out");
  if (descriptions && !one_class) fail_usage("a description in words is of one class: give its name");
  if (!sources.boxes.file.empty() && sources.images.empty() && sources.folder.empty() && sources.list.empty())
    fail_usage("boxes need images: give those of a class, a folder or a CSV list");
  if (!sources.images.empty() && (!one_class || features))
    fail_usage("images need a class: give its name{}", features ? ", and no file of features" : "");
}

/// create uses such folders for the threshold of "none of these".
void warn_of_none_classes(const std::vector<EnrolRequest>& requests, const RecognizerFile& file) {
  for (const EnrolRequest& request : requests) {
    if (is_none_of_the_classes(request.name) && !file.has_class(request.name))
      logger().warn("the folder '{}' becomes a class: photos of none of the classes are given to calibrate (others)",
                    request.name);
  }
}

std::vector<EnrolRequest> requests_of_classes(const EnrolSources& sources, const RecognizerFile& file,
                                              SplitPurpose purpose) {
  std::vector<EnrolRequest> requests;
  if (!sources.features.empty()) {
    requests = requests_of_features_file(sources, file);
  } else if (!sources.folder.empty()) {
    return requests_of_boxed_folder(sources.folder, sources.boxes, sources.lists, purpose);
  } else if (!sources.list.empty()) {
    requests = requests_of_csv(sources.list, sources.lists);
    replace_by_boxes(sources.boxes, requests);
    return requests;
  } else if (!sources.one_class.name.empty()) {
    requests.emplace_back().images = sources.images;
  }
  if (!sources.one_class.name.empty()) static_cast<ClassRequest&>(requests.front()) = sources.one_class;
  replace_by_boxes(sources.boxes, requests);
  return requests;
}

}  // namespace

std::vector<EnrolRequest> labelled_images(const EnrolSources& sources, const RecognizerFile& file) {
  if (!sources.boxes.file.empty() && !sources.features.empty())
    fail_usage("boxes need images, {} has features", sources.features.string());
  if (sources.folder.empty() && sources.list.empty() && sources.features.empty() && sources.one_class.name.empty())
    fail_usage("expected labelled images as a folder, a list, a file of features, or images with their class");
  return requests_of_classes(sources, file, SplitPurpose::kTesting);
}

EnrolSources sources_at(const std::filesystem::path& path) {
  if (!is_features_file(path)) refuse_other_media(path);
  EnrolSources sources;
  std::error_code ignored;
  const std::string suffix = lowercase(path.extension().string());
  const bool is_list = suffix == ".csv" || suffix == ".tsv" || suffix == ".json" || suffix == ".jsonl";
  if (std::filesystem::is_directory(path, ignored))
    sources.folder = path;
  else if (!std::filesystem::exists(path, ignored))
    fail("{}: no such folder or file of labelled images", path.string());
  else
    (is_list ? sources.list : sources.features) = path;
  return sources;
}

std::vector<EnrolRequest> requests_of_sources(const EnrolSources& sources, Recognizer& recognizer) {
  check_sources(sources);
  std::vector<EnrolRequest> requests = requests_of_classes(sources, recognizer.file(), SplitPurpose::kTraining);
  if (!sources.folder.empty()) warn_of_none_classes(requests, recognizer.file());
  set_text_vectors_of_sources(sources, requests);
  if (!sources.table.empty()) add_attributes_of_table(sources.table, requests);
  for (EnrolRequest& request : requests) {
    request.vectors = sources.vectors;
    request.wordnet = sources.wordnet;
  }
  check_something_is_known(requests, recognizer);
  return requests;
}

}  // namespace protocom
