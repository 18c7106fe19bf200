#include "http/detail/api.h"
#include "recognizer/photo_map.h"

namespace protocom::http {

nlohmann::json Api::map_of_photos(const Request& request) {
  const ExclusiveJob job(maps_);
  const RecognizerSnapshot snapshot =
      with_editor(request, [](const Recognizer& editor) { return editor.file().snapshot(); });
  if (map_ && map_->first == snapshot.revision) return map_->second;
  nlohmann::json photos = nlohmann::json::array();
  for (const MappedPhoto& photo : refusing(409, [&] { return map_photos(snapshot); }))
    photos.push_back({{"example", photo.example}, {"class", photo.class_name}, {"x", photo.x}, {"y", photo.y}});
  map_.emplace(snapshot.revision, nlohmann::json{{"photos", std::move(photos)}});
  return map_->second;
}

}  // namespace protocom::http
