#include "http/detail/uploads.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/json_text.h"
#include "base/quiet.h"
#include "base/text.h"
#include "datasets/boxes.h"
#include "http/detail/multipart.h"
#include "http/detail/target.h"
#include "images/capture_time.h"
#include "io/files.h"

namespace protocom::http {
namespace {

constexpr const char* kMultipart = "multipart/form-data";

/// Returns a client's file name for display: no folders, only valid text.
std::string label_of_upload(const std::string& file_name) {
  const size_t folder = file_name.find_last_of("/\\");
  const std::string name = folder == std::string::npos ? file_name : file_name.substr(folder + 1);
  return is_plain_text(name) ? excerpt(name, 120) : "";
}

struct SentBox {
  ImageBox box;
  std::string kind = {};  ///< its class, if the kinds of its file are classes
};

/// The boxes of the images of a request.
struct SentBoxes {
  std::vector<std::vector<SentBox>> of_images = {};  ///< of each; none: all images are whole
  bool whole_without = true;                         ///< whether an image without a box is whole, else not used
};

/// Returns a box in shares of the image.
ImageBox shares_of(const ImageBox& box, const ImageSize& size) {
  if (box.relative) return box;
  const auto width = static_cast<double>(size.width), height = static_cast<double>(size.height);
  return {box.x / width, box.y / height, box.width / width, box.height / height, /*relative=*/true, box.margin};
}

/// Reads the images of a request, and their boxes.
class ImageReader {
 public:
  ImageReader(const UploadOptions& options, SentBoxes boxes)
      : options_(options), boxes_(std::move(boxes)), pixels_left_(options.limits.request_pixels) {}

  void read(std::string_view bytes, const std::string& file_name) {
    if (options_.cancellation != nullptr) options_.cancellation->check();
    const std::vector<SentBox> boxes =
        number_ < boxes_.of_images.size() ? boxes_.of_images[number_] : std::vector<SentBox>();
    std::vector<Upload> photos(std::max<size_t>(1, boxes.size()));
    for (size_t i = 0; i < photos.size(); ++i) {
      photos[i].label = label_of_upload(file_name);
      photos[i].number = number_;
      if (boxes.empty()) continue;
      photos[i].box = boxes[i].box;
      photos[i].kind = boxes[i].kind;
    }
    ++number_;
    photos.front().without_box = boxes.empty() && !boxes_.whole_without;
    if (photos.front().without_box)
      photos.front().error = fmt::format("'{}' has no box of this image", kBoxesField);
    else
      decode(bytes, photos);
    for (Upload& photo : photos) images_.push_back(std::move(photo));
  }

  [[nodiscard]] std::vector<Upload> take() { return std::move(images_); }
  [[nodiscard]] size_t count() const { return number_; }

 private:
  void decode(std::string_view bytes, std::vector<Upload>& photos) {
    DecodeOptions decode;
    decode.min_side = side_for(photos);
    decode.max_pixels = options_.limits.pixels;
    decode.pixels_left = &pixels_left_;
    try {
      const auto [image, size] = decode_image_and_size(bytes, decode);
      const std::string hash = hash_bytes(bytes);
      const std::optional<double> taken = capture_time(bytes);
      for (Upload& photo : photos) photo.taken = taken;
      for (Upload& photo : photos) {
        if (options_.cancellation != nullptr) options_.cancellation->check();
        if (photo.box) photo.box = shares_of(*photo.box, size);
        if (photo.box) pixels_left_ -= pixels_around(image, *photo.box);
        if (pixels_left_ < 0) break;
        take_photo(image, size, hash, photo);
      }
    } catch (const Error& error) {
      for (Upload& photo : photos) photo.error = error.what();
    }
    if (pixels_left_ < 0)
      refuse(413, "the images of the request and their boxes exceed {} million pixels together: send fewer at once",
             options_.limits.request_pixels / 1'000'000);
  }

  void take_photo(const Image& image, const ImageSize& size, const std::string& hash, Upload& photo) const {
    photo.width = image.width;
    photo.height = image.height;
    try {
      photo.image = resize_and_crop(photo.box ? square_around(image, *photo.box, size) : image, options_.preprocessing);
      photo.hash = region_hash(hash, {{}, photo.box});
    } catch (const Error& error) {
      photo.error = error.what();
    }
  }

  /// Returns the pixels counted for a box: at most the whole image.
  static int64_t pixels_around(const Image& image, const ImageBox& box) {
    const auto width = static_cast<double>(image.width), height = static_cast<double>(image.height);
    const double side = (1 + 2 * box.margin) * std::max(box.width * width, box.height * height);
    return static_cast<int64_t>(std::min(width * height, side * side));
  }

  /// Returns the length of the shorter side at which the smallest box still has the encoder's resolution
  /// (image_region.cc); 0, the image as it is, for boxes in pixels.
  [[nodiscard]] int64_t side_for(const std::vector<Upload>& photos) const {
    const auto side = static_cast<double>(options_.preprocessing.shorter_side());
    double most = side;
    for (const Upload& photo : photos) {
      if (photo.box && !photo.box->relative) return 0;
      if (photo.box)
        most = std::max(most, 2 * side / std::clamp(std::max(photo.box->width, photo.box->height), 1e-3, 1.0));
    }
    return static_cast<int64_t>(most);
  }

  const UploadOptions& options_;
  SentBoxes boxes_;
  int64_t pixels_left_;
  size_t number_ = 0;
  std::vector<Upload> images_;
};

constexpr size_t kMostBoxes = 512;
constexpr double kLargestShare = 2;  // of a box that extends beyond the border; anything larger was meant in pixels

ImageBox box_in(const nlohmann::json& numbers, size_t image, double margin) {
  std::array<double, 4> values{};
  const bool is_list = numbers.is_array() && numbers.size() == values.size();
  for (size_t i = 0; is_list && i < values.size(); ++i) {
    if (!numbers[i].is_number()) refuse(400, "a box of image {} holds a value that is not a number", image);
    values[i] = numbers[i].get<double>();
  }
  if (!is_list) refuse(400, "a box of image {} is not [x, y, width, height]", image);
  for (const double value : values) {
    if (!(std::abs(value) <= kLargestShare))
      refuse(400, "a box of image {} has {}: expected fractions of its width and height, 0 to 1", image, value);
  }
  return {values[0], values[1], values[2], values[3], /*relative=*/true, margin};
}

void check_count(size_t boxes) {
  if (boxes > kMostBoxes) refuse(413, "a request has at most {} boxes", kMostBoxes);
}

/// Returns a field or member that is a share, if it was given.
double fraction_in(const std::optional<nlohmann::json>& said, const char* name, double otherwise) {
  if (!said) return otherwise;
  const double share = said->is_number() ? said->get<double>() : -1;
  if (!(share >= 0 && share <= 1)) refuse(400, "'{}': expected a number from 0 to 1", name);
  return share;
}

/// Returns the boxes of each of `images` images; none: the request has no boxes.
SentBoxes boxes_in(const nlohmann::json& said, size_t images, double margin) {
  std::vector<std::vector<SentBox>> boxes;
  if (said.is_null()) return {};
  if (!said.is_array() || said.size() != images)
    refuse(400, "'{}': expected a list with the boxes of each of the {} images, or null for a whole image", kBoxesField,
           images);
  size_t count = 0;
  for (const nlohmann::json& some : said) {
    std::vector<SentBox>& own = boxes.emplace_back();
    if (!some.is_null() && !some.is_array()) refuse(400, "the boxes of image {} are not a list", boxes.size() - 1);
    for (const nlohmann::json& one : some) own.push_back({box_in(one, boxes.size() - 1, margin)});
    count += own.size();
  }
  check_count(count);
  return {std::move(boxes)};
}

std::vector<std::string> kinds_in(const nlohmann::json& said) {
  std::vector<std::string> kinds;
  const bool is_list =
      said.is_array() && std::all_of(said.begin(), said.end(), [](const auto& one) { return one.is_string(); });
  if (is_list) {
    kinds = said.get<std::vector<std::string>>();
  } else if (said.is_string()) {
    for (const std::string_view kind : split_at(said.get_ref<const std::string&>(), ','))
      kinds.emplace_back(trimmed(kind));
  } else {
    refuse(400, "'{}': expected the kinds of boxes, as animal,person", kKindsField);
  }
  return kinds;
}

BoxChoice box_choice(const Sent& form) {
  BoxChoice choice;
  choice.file = kBoxesField;
  choice.min_confidence = fraction_in(form.find(kMinConfidenceField), kMinConfidenceField, choice.min_confidence);
  choice.margin = fraction_in(form.find(kMarginField), kMarginField, choice.margin);
  if (const auto kinds = form.find(kKindsField)) choice.kinds = kinds_in(*kinds);
  return choice;
}

/// Returns the file names of the images, by which a detector's file knows them.
std::vector<std::filesystem::path> names_of_images(const std::vector<Part>& images) {
  std::vector<std::filesystem::path> names;
  std::set<std::string> known;
  for (const Part& part : images) {
    if (part.file_name.empty() || !known.insert(part.file_name).second)
      refuse(400, "'{}' is a file that names images: each image of the form needs a file name of its own, found '{}'",
             kBoxesField, excerpt(part.file_name));
    names.emplace_back(part.file_name);
  }
  return names;
}

/// Returns the boxes in a detector's file.
SentBoxes boxes_of_file(const std::string& text, const BoxChoice& choice, const std::vector<Part>& images) {
  constexpr std::string_view kGzip = "\x1f\x8b";
  if (text.compare(0, kGzip.size(), kGzip) == 0) refuse(400, "'{}': expected JSON or CSV, found gzip", kBoxesField);
  const std::vector<std::filesystem::path> names = names_of_images(images);
  const Quiet quiet;
  std::vector<Crop> crops;
  bool classes = false;
  try {
    const BoxFile file = read_boxes_in(text, choice);
    classes = file.kinds_are_classes;
    crops = crop_photos(names, file, choice.file);
  } catch (const Error& error) {
    refuse(400, "{}", error.what());
  }
  check_count(crops.size());
  SentBoxes boxes{std::vector<std::vector<SentBox>>(images.size()), /*whole_without=*/false};
  for (const Crop& crop : crops) {
    const auto image = std::find(names.begin(), names.end(), crop.photo) - names.begin();
    boxes.of_images[static_cast<size_t>(image)].push_back({crop.box, classes ? crop.kind : ""});
  }
  return boxes;
}

/// Returns the boxes in a form, as numbers or as a detector's file.
SentBoxes boxes_of_form(const Sent& form, const std::vector<Part>& images) {
  const nlohmann::json said = form.find(kBoxesField).value_or(nullptr);
  if (said.is_null() && form.fields.count(kMarginField) > 0) refuse(400, "'{}' needs '{}'", kMarginField, kBoxesField);
  const bool is_file =
      (said.is_object() || said.is_string()) && trimmed(form.fields.at(kBoxesField)).substr(0, 1) != "[";
  if (is_file) return boxes_of_file(form.fields.at(kBoxesField), box_choice(form), images);
  for (const char* name : {kMinConfidenceField, kKindsField}) {
    if (form.fields.count(name) > 0) refuse(400, "'{}' needs '{}' as a detector's file", name, kBoxesField);
  }
  return boxes_in(said, images.size(), fraction_in(form.find(kMarginField), kMarginField, kBoxMargin));
}

/// Returns the boxes in a JSON body, whose images have no file names.
SentBoxes boxes_of_json(const nlohmann::json& members, size_t images) {
  for (const char* name : {kMinConfidenceField, kKindsField}) {
    if (members.contains(name)) refuse(400, "'{}' needs a form with '{}' as a detector's file", name, kBoxesField);
  }
  const nlohmann::json said = members.value(kBoxesField, nlohmann::json());
  std::optional<nlohmann::json> margin;
  if (members.contains(kMarginField)) margin = members[kMarginField];
  if (margin && said.is_null()) refuse(400, "'{}' needs '{}'", kMarginField, kBoxesField);
  if (said.is_object() || said.is_string())
    refuse(400, "'{}': a detector's file goes into a form, whose images have file names", kBoxesField);
  return boxes_in(said, images, fraction_in(margin, kMarginField, kBoxMargin));
}

/// Whether a field is an image, by the names that forms and generated clients use.
bool is_image_field(std::string name) {
  if (name.size() > 2 && name.compare(name.size() - 2, 2, "[]") == 0) name.resize(name.size() - 2);
  return name == "image" || name == "images" || name == "file" || name == "files";
}

/// Decodes base64, with or without line ends, padding, and the URL alphabet; throws HttpError 400 for anything else.
std::string from_base64(std::string_view text, size_t number) {
  std::string plain;
  plain.reserve(text.size() + 3);
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ') continue;
    plain += c == '-' ? '+' : c == '_' ? '/' : c;
  }
  const size_t padded = plain.size();
  plain.resize(plain.find_last_not_of('=') + 1);
  if (padded > plain.size() + 2 || plain.size() % 4 == 1 || plain.find('=') != std::string::npos)
    refuse(400, "image {} is not base64", number);
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

/// Returns the content of a data URL; other texts unchanged.
std::string_view without_data_url(std::string_view text, size_t number) {
  if (text.substr(0, 5) != "data:") return text;
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos || text.substr(0, comma).find(";base64") == std::string_view::npos)
    refuse(400, "image {} is a data URL without base64", number);
  return text.substr(comma + 1);
}

}  // namespace

std::vector<std::string> with_box_fields(std::vector<std::string> names) {
  names.insert(names.end(), {kBoxesField, kMinConfidenceField, kKindsField, kMarginField});
  return names;
}

std::optional<nlohmann::json> Sent::find(const std::string& name) const {
  // 64 labels of 200 bytes with sixfold escapes are shorter; a field as long as a form would take thirty times as much
  // memory once it is parsed.
  constexpr size_t kMostBytes = size_t{128} << 10;
  if (members.contains(name)) return members[name];
  const auto field = fields.find(name);
  if (field == fields.end()) return std::nullopt;
  if (field->second.size() > kMostBytes) refuse(413, "'{}' has at most {} KiB", name, kMostBytes >> 10);
  const nlohmann::json value = json_from_text(field->second);
  return value.is_discarded() ? nlohmann::json(field->second) : value;
}

std::vector<Upload> read_json_images(const nlohmann::json& members, const UploadOptions& options) {
  std::vector<const nlohmann::json*> texts;
  if (members.contains("image")) texts.push_back(&members["image"]);
  if (members.contains("images")) {
    if (!members["images"].is_array()) refuse(400, "'images': expected a list of base64 strings");
    for (const nlohmann::json& image : members["images"]) texts.push_back(&image);
  }
  if (static_cast<int64_t>(texts.size()) > options.limits.parts)
    refuse(413, "a request has at most {} images", options.limits.parts);
  ImageReader reader(options, boxes_of_json(members, texts.size()));
  for (const nlohmann::json* item : texts) {
    if (!item->is_string()) refuse(400, "image: expected a string (base64 or a data URL)");
    const std::string_view text = item->get_ref<const std::string&>();
    reader.read(from_base64(without_data_url(text, reader.count()), reader.count()), "");
  }
  return reader.take();
}

Sent read_form(const Request& request, const UploadOptions& options) {
  Sent form;
  if (media_type(request.content_type) != kMultipart) {
    ImageReader reader(options, {});
    reader.read(request.body, "");
    form.images = reader.take();
    return form;
  }
  std::vector<Part> images;
  for (const Part& part : parse_multipart(request.body, request.content_type, options.limits.parts)) {
    if (is_image_field(part.name)) {
      images.push_back(part);
      continue;
    }
    if (std::find(options.fields.begin(), options.fields.end(), part.name) == options.fields.end())
      refuse(400, "unknown field '{}' of the form: expected 'image'{}", excerpt(part.name),
             options.fields.empty() ? "" : fmt::format(", or '{}'", fmt::join(options.fields, "', '")));
    if (!form.fields.emplace(part.name, part.content).second)
      refuse(400, "duplicate field '{}' of the form", excerpt(part.name));
  }
  ImageReader reader(options, boxes_of_form(form, images));
  for (const Part& part : images) reader.read(part.content, part.file_name);
  form.images = reader.take();
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
    examples.sources.push_back(upload.source());
    examples.thumbnails.push_back(recognizer.thumbnail_of(upload.image));
    examples.taken.push_back(upload.taken);
  }
  return examples;
}

nlohmann::json unreadable_json(const std::vector<Upload>& images) {
  nlohmann::json list = nlohmann::json::array();
  for (const Upload& upload : images) {
    if (!upload.error.empty())
      list.push_back({{"number", upload.number}, {"image", upload.source()}, {"reason", upload.error}});
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
