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

/// An image that a client sent, or a box of it, which then counts as a separate photo: decoded, or the reason why not.
struct Upload {
  std::string label;                 ///< the client's name for it, without folders; may be empty
  Image image;                       ///< as the backbone takes it
  std::string hash;                  ///< hash_bytes of what was sent, or of that and the box
  std::string error;                 ///< why it could not be read; empty: it could
  std::optional<ImageBox> box = {};  ///< in shares of the image
  std::string kind = {};             ///< class of the box, if it is from a file whose kinds are classes
  bool without_box = false;          ///< has an error because a detector's file has no box of it
  size_t number = 0;                 ///< index among the images sent
  std::optional<double> taken = {};  ///< its capture_time()
  int64_t width = 0, height = 0;     ///< of the decoded image, perhaps at a reduced size

  /// The source of an example made from it: its label, with the box.
  [[nodiscard]] std::string source() const { return name_of({label, box}).string(); }
};

/// Images, or features instead, with the other members of a body.
struct Sent {
  std::vector<Upload> images;
  Array features = {};                             ///< float32 [n, d]; undefined: none were sent
  nlohmann::json members = {};                     ///< of a JSON body
  std::map<std::string, std::string> fields = {};  ///< of a form

  /// Returns the member of this name, or the field, parsed as JSON if it is that, else as a text. Throws HttpError 413
  /// for a field of more than 128 KiB.
  [[nodiscard]] std::optional<nlohmann::json> find(const std::string& name) const;
};

/// Options for reading uploads.
struct UploadOptions {
  Preprocessing preprocessing;
  ServerLimits limits;
  std::vector<std::string> fields;             ///< permitted fields of a form besides `image`
  const Cancellation* cancellation = nullptr;  ///< checked before each image; nullptr: it cannot be cancelled
};

/// Name of the field, or member, with the boxes of images in a form or a JSON body, if UploadOptions::fields permits
/// it: a list with a list of boxes for each image, `[[[0.1, 0.2, 0.3, 0.4]], null]`, each box x, y, width and height in
/// shares of the image. null or no box: the whole image.
///
/// In a form it may also be a detector's file (read_boxes_in) of photos with the file names of the images; a photo
/// without a box in it then has an error. kMinConfidenceField and kKindsField, of such a file, are
/// BoxChoice::min_confidence, a number, and BoxChoice::kinds, a list of texts or a text "animal,person". kMarginField
/// is BoxChoice::margin, of all boxes.
inline constexpr const char* kBoxesField = "boxes";
inline constexpr const char* kMinConfidenceField = "min_confidence";
inline constexpr const char* kKindsField = "kinds";
inline constexpr const char* kMarginField = "box_margin";

/// Returns the names of fields together with those above, for requests whose images may have boxes.
std::vector<std::string> with_box_fields(std::vector<std::string> names);

/// Reads the images of a JSON body: its members `image` (a text) and `images` (a list of texts), as base64 or data URLs
/// ("data:image/png;base64,..."). Throws HttpError like read_form.
std::vector<Upload> read_json_images(const nlohmann::json& members, const UploadOptions& options);

/// Reads a body that is an image, or the fields and images of a multipart body, whose parts `image`, `images`, `file`
/// and `files` (also with [] appended) are images. An unreadable image does not stop the others. Throws HttpError 400
/// for an invalid form or other fields, 413 for more parts, or more pixels in all images, than are allowed.
Sent read_form(const Request& request, const UploadOptions& options);

/// Reads images or features from a JSON body or a form. Throws what reading it throws, HttpError 400 for images and
/// features together and if no image could be read.
Sent read_sent(const Request& request, const UploadOptions& options, const JsonShape& shape);

/// Returns examples for the recognizer's file; `features` are those that were sent or those of the readable images.
NewExamples examples_of(const Sent& sent, const Array& features, const Recognizer& recognizer);

/// Lists the unreadable images, with index, name and reason, for a response.
nlohmann::json unreadable_json(const std::vector<Upload>& images);

/// Throws HttpError 400 if there are images but none could be read.
void check_any_readable(const std::vector<Upload>& images);

}  // namespace protocom::http
