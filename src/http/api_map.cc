#include "base/error.h"
#include "base/threads.h"
#include "encoders/text_encoder.h"
#include "http/detail/api.h"
#include "http/detail/http_error.h"
#include "recognizer/photo_map.h"

namespace protocom::http {
namespace {

using nlohmann::json;

constexpr int64_t kMostSimilar = 1000;
constexpr int64_t kUsuallySimilar = 20;

/// Returns an image on the map or similar to another one, with its number in requests.
template <typename Photo>
json numbered(const Photo& photo, const std::vector<ExampleInfo>& unlabelled) {
  if (photo.class_name.empty()) return {{"unlabelled", unlabelled.at(static_cast<size_t>(photo.example)).id}};
  return {{"example", photo.example}, {"class", photo.class_name}};
}

/// What to search similar images by, if no image is sent: the number of an image, or words.
struct Wanted {
  std::optional<int64_t> example, unlabelled;
  std::optional<std::string> words;
};

std::optional<int64_t> number_in(const Sent& sent, const char* name) {
  const std::optional<json> found = sent.find(name);
  if (!found) return std::nullopt;
  if (!found->is_number_integer()) refuse(400, "'{}': expected the number of an image", name);
  return found->get<int64_t>();
}

Wanted wanted_in(const Sent& sent) {
  Wanted wanted = {number_in(sent, "example"), number_in(sent, "unlabelled"), std::nullopt};
  if (const auto field = sent.fields.find("words"); field != sent.fields.end()) {
    wanted.words = field->second;  // "2023" too
  } else if (sent.members.contains("words")) {
    if (!sent.members["words"].is_string()) refuse(400, "'words': expected a text");
    wanted.words = sent.members["words"].get<std::string>();
  }
  if (wanted.words) check_description(*wanted.words);
  const int64_t sent_features = sent.features.defined() ? sent.features.size(0) : 0;
  const int64_t given = static_cast<int64_t>(sent.images.size()) + sent_features + int64_t{wanted.example.has_value()} +
                        int64_t{wanted.unlabelled.has_value()} + int64_t{wanted.words.has_value()};
  if (given != 1) refuse(400, "give one image, 'example', 'unlabelled' or 'words', found {}", given);
  return wanted;
}

/// Returns the feature of an image in the recognizer. Throws HttpError 404.
Array held_feature(const RecognizerSnapshot& snapshot, const std::vector<ExampleInfo>& unlabelled,
                   const Wanted& wanted) {
  for (size_t k = 0; wanted.example && k < snapshot.examples.size(); ++k) {
    for (size_t i = 0; i < snapshot.examples[k].size(); ++i) {
      if (snapshot.examples[k][i].id == *wanted.example)
        return snapshot.enrolled.classes[k].features.row(static_cast<int64_t>(i));
    }
  }
  for (size_t i = 0; wanted.unlabelled && i < unlabelled.size(); ++i) {
    if (unlabelled[i].id == *wanted.unlabelled) return snapshot.enrolled.unlabelled.row(static_cast<int64_t>(i));
  }
  refuse(404, "unknown image {}", wanted.example ? *wanted.example : *wanted.unlabelled);
}

/// Returns the content of a file, and its unlabelled images in the order of their features.
std::pair<RecognizerSnapshot, std::vector<ExampleInfo>> held_photos(const RecognizerFile& file) {
  constexpr int kMostTries = 20;
  for (int tries = 1;; ++tries) {
    RecognizerSnapshot all = file.snapshot();
    const auto stays = [&] { return file.revision() == all.revision; };
    try {
      std::vector<ExampleInfo> entries = unlabelled_of(file, all);
      if (stays()) return {std::move(all), std::move(entries)};
    } catch (const HttpError&) {
      if (stays()) throw;
    }
    if (tries == kMostTries) refuse_for_now(503, 1, "the recognizer is being changed: send the request again");
  }
}

}  // namespace

json Api::map_of_photos(const Request& request) {
  const ExclusiveJob job(maps_);
  if (map_ && map_->first == served_revision(request)) return map_->second;
  const auto [snapshot, unlabelled] = with_own_file(request, held_photos);
  json photos = json::array();
  for (const MappedPhoto& photo : refusing(409, [&, &all = snapshot] { return map_photos(all); })) {
    json shown = numbered(photo, unlabelled);
    shown["x"] = photo.x;
    shown["y"] = photo.y;
    photos.push_back(std::move(shown));
  }
  map_.emplace(snapshot.revision, json{{"photos", std::move(photos)}});
  return map_->second;
}

Array Api::feature_of_words(const std::string& words) const {
  if (!searches_words_)
    refuse(409,
           "images cannot be found by words here: the server needs the text encoder of the recognizer's own backbone, "
           "such as CLIP's (serve --text-encoder)");
  const ThreadScope one_thread(1);  // the other threads are for the backbone
  return refusing(400, [&] { return text_encoder_->encode({words}).vectors.row(0); });
}

void Api::find_similar(const Request& request, const Respond& respond) {
  const int64_t count = count_in(request, "count", 1, kMostSimilar, kUsuallySimilar);
  const Sent sent = read(request, {"example", "unlabelled", "words"});
  const Wanted wanted = wanted_in(sent);
  const Array words = wanted.words ? feature_of_words(*wanted.words) : Array();
  const auto answer = [this, respond, count, wanted, words](const Request& now, const Array& features) {
    const auto [snapshot, unlabelled] = with_own_file(now, held_photos);
    const Array like = words.defined()      ? words
                       : features.defined() ? features.row(0)
                                            : held_feature(snapshot, unlabelled, wanted);
    json photos = json::array();
    for (const SimilarPhoto& photo : similar_photos(snapshot, like, count)) {
      json shown = numbered(photo, unlabelled);
      shown["similarity"] = photo.similarity;
      photos.push_back(std::move(shown));
    }
    respond(json_response({{"photos", photos}}));
  };
  with_features(request, sent, respond, answer);
}

}  // namespace protocom::http
