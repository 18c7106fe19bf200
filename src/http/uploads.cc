#include "http/uploads.h"

#include <algorithm>

#include "http/multipart.h"
#include "http/target.h"
#include "protocom/core/error.h"
#include "protocom/core/files.h"

namespace protocom::http {
namespace {

constexpr const char* kMultipart = "multipart/form-data";

/// What is left of a client's file name to be shown: no folders, nothing that is no text.
std::string label_of(const std::string& file_name) {
  const size_t folder = file_name.find_last_of("/\\");
  const std::string name = folder == std::string::npos ? file_name : file_name.substr(folder + 1);
  return is_plain_text(name) ? excerpt(name, 120) : "";
}

Upload read_upload(std::string_view bytes, const std::string& file_name, const UploadOptions& options,
                   int64_t& pixels_left) {
  if (options.cancellation != nullptr) options.cancellation->check();
  Upload upload;
  upload.label = label_of(file_name);
  DecodeOptions decode;
  decode.min_side = options.preprocessing.shorter_side();
  decode.max_pixels = options.limits.pixels;
  decode.pixels_left = &pixels_left;
  try {
    upload.image = resize_and_crop(decode_image(bytes, decode), options.preprocessing);
    upload.hash = hash_bytes(bytes);
  } catch (const Error& error) {
    upload.error = error.what();
  }
  if (pixels_left < 0)
    refuse(413, "the images of a request have at most {} million pixels together: send fewer at once",
           options.limits.request_pixels / 1'000'000);
  return upload;
}

}  // namespace

Form read_form(const Request& request, const UploadOptions& options) {
  Form form;
  int64_t pixels_left = options.limits.request_pixels;
  if (media_type(request.content_type) != kMultipart) {
    form.images.push_back(read_upload(request.body, "", options, pixels_left));
    return form;
  }
  for (const Part& part : parse_multipart(request.body, request.content_type, options.limits.parts)) {
    if (part.name == "image") {
      form.images.push_back(read_upload(part.content, part.file_name, options, pixels_left));
      continue;
    }
    if (std::find(options.fields.begin(), options.fields.end(), part.name) == options.fields.end())
      refuse(400, "a form has no field '{}' here", excerpt(part.name));
    if (!form.fields.emplace(part.name, part.content).second)
      refuse(400, "duplicate field '{}' of the form", excerpt(part.name));
  }
  return form;
}

void check_any_readable(const std::vector<Upload>& images) {
  if (images.empty()) return;
  for (const Upload& one : images) {
    if (one.error.empty()) return;
  }
  refuse(400, "no image could be read: {}", images.front().error);
}

}  // namespace protocom::http
