#include <algorithm>

#include "http/detail/api.h"
#include "recognizer/occlusion.h"

namespace protocom::http {
namespace {

using nlohmann::json;

/// Returns the square of an image that the encoder sees, in shares of its width and height: x, y, width, height.
json area_seen(const Upload& upload, const Preprocessing& preprocessing) {
  const double kept = static_cast<double>(preprocessing.image_size) / static_cast<double>(preprocessing.shorter_side());
  double width = kept, height = kept;
  if (!preprocessing.squeeze) {
    const double ratio = static_cast<double>(upload.width) / static_cast<double>(std::max<int64_t>(1, upload.height));
    width = std::min(kept, kept / ratio);
    height = std::min(kept, kept * ratio);
  }
  return {(1 - width) / 2, (1 - height) / 2, width, height};
}

/// Returns the image with each patch covered, as images of a request.
Sent covered_parts(const Upload& upload) {
  Sent parts;
  for (Image& image : covered_in_turn(upload.image)) {
    Upload part;
    part.image = std::move(image);
    parts.images.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

void Api::explain(const Request& request, const Respond& respond) {
  const Sent sent = read_sent(request, uploads(request, {}), shape_of(request, {"image"}));
  if (sent.images.size() != 1) refuse(400, "give one image, found {}", sent.images.size());
  const auto asked = request.parameters.find("class");
  std::string name;
  if (asked != request.parameters.end())
    name =
        with_editor(request, [&](const Recognizer& editor) { return class_or_404(editor.file(), asked->second); }).name;
  const json about = {{"image", sent.images.front().label},
                      {"area", area_seen(sent.images.front(), settings_.preprocessing)}};
  const auto work = [this, respond, name, about](const Request& now, const Array& features) {
    json shown = with_editor(now, [&](Recognizer& editor) {
      return refusing(409, [&] { return occlusion_json(occlusion_of(editor, features, name)); });
    });
    shown.update(about);
    respond(json_response(shown));
  };
  with_features(request, covered_parts(sent.images.front()), respond, work);
}

}  // namespace protocom::http
