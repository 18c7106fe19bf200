#include "http/detail/uploads.h"

#include <openssl/evp.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "http/detail/multipart.h"
#include "http/detail/target.h"
#include "io/files.h"

namespace protocom::http {
namespace {

constexpr const char* kMultipart = "multipart/form-data";

/// What is left of a client's file name to be shown: no folders, nothing that is not a text.
std::string label_of_upload(const std::string& file_name) {
  const size_t folder = file_name.find_last_of("/\\");
  const std::string name = folder == std::string::npos ? file_name : file_name.substr(folder + 1);
  return is_plain_text(name) ? excerpt(name, 120) : "";
}

Upload read_upload(std::string_view bytes, const std::string& file_name, const UploadOptions& options,
                   int64_t& pixels_left) {
  if (options.cancellation != nullptr) options.cancellation->check();
  Upload upload;
  upload.label = label_of_upload(file_name);
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
    refuse(413, "the images of the request exceed {} million pixels together: send fewer at once",
           options.limits.request_pixels / 1'000'000);
  return upload;
}

/// What forms and generated clients call them.
bool is_image_field(std::string name) {
  if (name.size() > 2 && name.compare(name.size() - 2, 2, "[]") == 0) name.resize(name.size() - 2);
  return name == "image" || name == "images" || name == "file" || name == "files";
}

/// Base64 with or without line ends, padding, and the letters of URLs; throws HttpError 400 for anything else.
std::string from_base64(std::string_view text, size_t number) {
  std::string plain;
  plain.reserve(text.size() + 3);
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '=') continue;
    plain += c == '-' ? '+' : c == '_' ? '/' : c;
  }
  const size_t length = plain.size() / 4 * 3 + (plain.size() % 4 == 0 ? 0 : plain.size() % 4 - 1);
  while (plain.size() % 4 != 0) plain += '=';
  std::string bytes(plain.size() / 4 * 3, '\0');
  const int written =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(plain.data()), static_cast<int>(plain.size()));
  if (written < 0 || plain.empty()) refuse(400, "image {} is not base64", number);
  bytes.resize(length);
  return bytes;
}

/// What a data URL holds; other texts as they are.
std::string_view without_data_url(std::string_view text, size_t number) {
  if (text.substr(0, 5) != "data:") return text;
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos || text.substr(0, comma).find(";base64") == std::string_view::npos)
    refuse(400, "image {} is a data URL without base64", number);
  return text.substr(comma + 1);
}

}  // namespace

std::vector<Upload> read_json_images(const nlohmann::json& members, const UploadOptions& options) {
  std::vector<const nlohmann::json*> texts;
  if (members.contains("image")) texts.push_back(&members["image"]);
  if (members.contains("images")) {
    if (!members["images"].is_array()) refuse(400, "'images' must be a list of base64 strings");
    for (const nlohmann::json& image : members["images"]) texts.push_back(&image);
  }
  if (static_cast<int64_t>(texts.size()) > options.limits.parts)
    refuse(413, "a request has at most {} images", options.limits.parts);
  int64_t pixels_left = options.limits.request_pixels;
  std::vector<Upload> images;
  for (const nlohmann::json* item : texts) {
    if (!item->is_string()) refuse(400, "an image must be a string: base64 or a data URL");
    const std::string_view text = item->get_ref<const std::string&>();
    images.push_back(
        read_upload(from_base64(without_data_url(text, images.size()), images.size()), "", options, pixels_left));
  }
  return images;
}

Sent read_form(const Request& request, const UploadOptions& options) {
  Sent form;
  int64_t pixels_left = options.limits.request_pixels;
  if (media_type(request.content_type) != kMultipart) {
    form.images.push_back(read_upload(request.body, "", options, pixels_left));
    return form;
  }
  for (const Part& part : parse_multipart(request.body, request.content_type, options.limits.parts)) {
    if (is_image_field(part.name)) {
      form.images.push_back(read_upload(part.content, part.file_name, options, pixels_left));
      continue;
    }
    if (std::find(options.fields.begin(), options.fields.end(), part.name) == options.fields.end())
      refuse(400, "unknown field '{}' of the form: expected 'image'{}", excerpt(part.name),
             options.fields.empty() ? "" : fmt::format(", or '{}'", fmt::join(options.fields, "', '")));
    if (!form.fields.emplace(part.name, part.content).second)
      refuse(400, "duplicate field '{}' of the form", excerpt(part.name));
  }
  return form;
}

Sent read_sent(const Request& request, const UploadOptions& options, const JsonShape& shape) {
  Sent sent;
  if (media_type(request.content_type) == "application/json") {
    JsonBody body = read_json_body(request.body, shape);
    sent.images = read_json_images(body.members, options);
    sent.features = body.features;
    sent.members = std::move(body.members);
    if (sent.features.defined() && !sent.images.empty()) refuse(400, "give either 'features' or images, not both");
  } else {
    sent = read_form(request, options);
  }
  check_any_readable(sent.images);
  return sent;
}

NewExamples examples_of(const Sent& sent, const Array& features, const Recognizer& recognizer) {
  if (sent.features.defined()) return examples_of_features(features);
  NewExamples examples;
  examples.features = features;
  for (const Upload& upload : sent.images) {
    if (!upload.error.empty()) continue;
    examples.hashes.push_back(upload.hash);
    examples.sources.push_back(upload.label);
    examples.thumbnails.push_back(recognizer.thumbnail_of(upload.image));
  }
  return examples;
}

nlohmann::json unreadable_json(const std::vector<Upload>& images) {
  nlohmann::json list = nlohmann::json::array();
  for (size_t i = 0; i < images.size(); ++i) {
    if (!images[i].error.empty())
      list.push_back({{"number", i}, {"image", images[i].label}, {"reason", images[i].error}});
  }
  return list;
}

void check_any_readable(const std::vector<Upload>& images) {
  if (images.empty()) return;
  for (const Upload& upload : images) {
    if (upload.error.empty()) return;
  }
  refuse(400, "no image could be read: {}", images.front().error);
}

}  // namespace protocom::http
