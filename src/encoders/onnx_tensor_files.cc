#include "encoders/onnx_tensor_files.h"

#include "base/error.h"
#include "base/text.h"
#include "encoders/protobuf.h"

namespace protocom::onnx {
namespace {

/// Field numbers of TensorProto.
constexpr protozero::pbf_tag_type kExternalData = 13, kDataLocation = 14;
constexpr int32_t kOutside = 1;  // TensorProto.EXTERNAL

uint64_t parse_number(const std::string& text) {
  const auto value = number_from<uint64_t>(text);
  if (!value) fail("'{}' is not an offset or length of a tensor's bytes", excerpt(text));
  return *value;
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos &&
         name.find('\\') == std::string::npos && name.find('\0') == std::string::npos;
}

/// Returns the path of a file of tensors beside a model. It may be a link into the folder of the real model, as in
/// Hugging Face's cache. Any other link is refused: a recognizer keeps a copy of these bytes, and sharing it would leak
/// the target of the link. Throws Error.
std::filesystem::path beside(const std::filesystem::path& model, const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path file = model.parent_path() / name;
  std::error_code missing;
  const fs::path real = fs::canonical(file, missing);
  if (missing) return file;  // opening it reports why
  const fs::path folder = real.parent_path();
  if (folder != fs::canonical(model).parent_path() && folder != fs::canonical(fs::absolute(model).parent_path()))
    fail("tensors are in '{}', a symbolic link out of the model's folder: replace it by the file", excerpt(name));
  return real;
}

}  // namespace

TensorFiles::Opened& TensorFiles::open(const std::string& location) {
  std::string name = location;
  if (name.rfind("./", 0) == 0) name.erase(0, 2);
  if (!is_plain_name(name)) fail("tensors are in '{}': expected a file in the same folder", excerpt(location));
  if (shown(model_) != model_.string()) fail("its tensors are in another file, '{}', which is missing", excerpt(name));
  auto found = opened_.find(name);
  if (found == opened_.end()) found = opened_.emplace(name, Opened{MappedFile(beside(model_, name)), 0}).first;
  return found->second;
}

std::string_view TensorFiles::peek(const std::string& location, uint64_t offset, std::optional<uint64_t> length) {
  const std::string_view all = open(location).file.bytes();
  const uint64_t taken = length.value_or(offset <= all.size() ? all.size() - offset : 0);
  if (offset > all.size() || taken > all.size() - offset)
    fail("'{}' has {} bytes, but its tensors are at {} to {}; it is the wrong file, or cut off", excerpt(location),
         all.size(), offset, offset + taken);
  return all.substr(offset, taken);
}

std::string_view TensorFiles::bytes(const std::string& location, uint64_t offset, std::optional<uint64_t> length) {
  const std::string_view found = peek(location, offset, length);
  Opened& file = open(location);
  file.handed_out += found.size();
  if (file.handed_out > file.file.bytes().size())
    fail("several tensors share the bytes of '{}'; the file is damaged", excerpt(location));
  return found;
}

std::map<std::string, std::string_view> TensorFiles::opened() const {
  std::map<std::string, std::string_view> files;
  for (const auto& [name, one] : opened_) files.emplace(name, one.file.bytes());
  return files;
}

std::pair<std::string, std::string> read_pair(protozero::pbf_reader reader) {
  std::pair<std::string, std::string> pair;
  read_fields(reader, Field{1, [&] { pair.first = read_text(reader); }},
              Field{2, [&] { pair.second = read_text(reader); }});
  return pair;
}

std::optional<TensorPlace> read_place(protozero::pbf_reader tensor) {
  TensorPlace place;
  bool outside = false;
  const auto read_entry = [&] {
    const auto [key, value] = read_pair(read_message(tensor));
    if (key == "location") place.location = value;
    if (key == "offset") place.offset = parse_number(value);
    if (key == "length") place.length = parse_number(value);
  };
  read_fields(tensor, Field{kDataLocation, [&] { outside = read_integer(tensor) == kOutside; }},
              Field{kExternalData, read_entry});
  return outside ? std::optional(place) : std::nullopt;
}

bool is_place_field(protozero::pbf_tag_type field) { return field == kExternalData || field == kDataLocation; }

void add_place(const TensorPlace& place, protozero::pbf_writer& tensor) {
  const auto add = [&](const char* key, const std::string& value) {
    protozero::pbf_writer entry(tensor, kExternalData);
    entry.add_string(1, key);
    entry.add_string(2, value);
  };
  add("location", place.location);
  add("offset", std::to_string(place.offset));
  if (place.length) add("length", std::to_string(*place.length));
  tensor.add_int32(kDataLocation, kOutside);
}

}  // namespace protocom::onnx
