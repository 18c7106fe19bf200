#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "http/detail/cancellation.h"
#include "http/detail/json_body.h"
#include "http/detail/message.h"
#include "images/image.h"
#include "images/image_region.h"
#include "images/preprocessing.h"
#include "protocom/server_options.h"
#include "recognizer/recognizer.h"
#include "store/recognizer_file.h"

namespace protocom::http {

/// An image that a client sent, or a box of it, which is then a photo of its own: decoded, or why not.
struct Upload {
  std::string label;                 ///< the client's name for it, without folders; may be empty
  Image image;                       ///< as the backbone takes it
  std::string hash;                  ///< hash_bytes of what was sent, or of that and the box
  std::string error;                 ///< empty: it could be read
  std::optional<ImageBox> box = {};  ///< in shares of the image
  size_t number = 0;                 ///< of the image among those sent
  std::optional<double> taken = {};  ///< its capture_time()
  int64_t width = 0, height = 0;     ///< of the image as it was decoded, perhaps at a reduced size

  /// What an example that is made of it came from: its label, with the box.
  [[nodiscard]] std::string source() const { return name_of({label, box}).string(); }
};

/// Images, or features in their place, with the other members of a body.
struct Sent {
  std::vector<Upload> images;
  Array features = {};                             ///< float32 [n, d]; undefined: none were sent
  nlohmann::json members = {};                     ///< of a body in JSON
  std::map<std::string, std::string> fields = {};  ///< of a form

  /// What has this name in either: the member, or the field as the JSON that it is, else as a text. Throws HttpError
  /// 413 for a field of more than 128 KiB.
  [[nodiscard]] std::optional<nlohmann::json> find(const std::string& name) const;
};

/// How uploads are read.
struct UploadOptions {
  Preprocessing preprocessing;
  ServerLimits limits;
  std::vector<std::string> fields;             ///< that a form may have besides `image`
  const Cancellation* cancellation = nullptr;  ///< asked before each image; nullptr: nothing cancels it
};

/// The field, or member, in which a form or a body in JSON gives the boxes of its images where UploadOptions::fields
/// has it: a list with a list of boxes for each image, `[[[0.1, 0.2, 0.3, 0.4]], null]`, each box x, y, width and
/// height in shares of the image. null or no box: the whole image.
inline constexpr const char* kBoxesField = "boxes";

/// The images of a body in JSON: its members `image` (a text) and `images` (a list of texts), as base64 or data URLs
/// ("data:image/png;base64,..."). Throws HttpError like read_form.
std::vector<Upload> read_json_images(const nlohmann::json& members, const UploadOptions& options);

/// The image that a body is, or the fields and images of a multipart body, whose parts `image`, `images`, `file` and
/// `files` (with or without [] behind) are images. An image that cannot be read does not stop
/// the others. Throws HttpError 400 for a form that is not one or has other fields, 413 for more parts, or more pixels
/// in all images, than may be.
Sent read_form(const Request& request, const UploadOptions& options);

/// Either of both, of a body in JSON or a form. Throws what reading it throws, HttpError 400 for images and features
/// together and if no image could be read.
Sent read_sent(const Request& request, const UploadOptions& options, const JsonShape& shape);

/// As the recognizer's file takes them; `features` are those that were sent or those of the images that could be read.
NewExamples examples_of(const Sent& sent, const Array& features, const Recognizer& recognizer);

/// Those that could not be read, by their place, name and why, for a response.
nlohmann::json unreadable_json(const std::vector<Upload>& images);

/// Throws HttpError 400 when there are images but none could be read.
void check_any_readable(const std::vector<Upload>& images);

}  // namespace protocom::http
