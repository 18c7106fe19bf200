#include "io/safetensors.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "io/files.h"
#include "io/json.h"

namespace protocom {
namespace {

using nlohmann::json;

const std::map<std::string, NumberType>& dtypes() {
  static const std::map<std::string, NumberType> kTable = {
      {"F64", NumberType::kFloat64},   {"F32", NumberType::kFloat32}, {"F16", NumberType::kFloat16},
      {"BF16", NumberType::kBFloat16}, {"I64", NumberType::kInt64},   {"I32", NumberType::kInt32},
      {"I16", NumberType::kInt16},     {"I8", NumberType::kInt8},     {"U8", NumberType::kUInt8},
      {"BOOL", NumberType::kBool}};
  return kTable;
}

std::string dtype_name(NumberType type) {
  for (const auto& [name, dtype] : dtypes()) {
    if (dtype == type) return name;
  }
  fail("a tensor of type {} cannot be written as safetensors", to_string(type));
}

// A tensor has about eight, a large checkpoint some ten thousand tensors. Each takes a hundred bytes as JSON.
constexpr size_t kMostHeaderValues = size_t{1} << 20;

/// Estimates the number of values in a JSON text, without names of members.
size_t count_values(std::string_view text) {
  size_t count = 0;
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_text = !in_text;
    if (in_text && c == '\\') ++i;
    if (!in_text && (c == ',' || c == '[' || c == '{')) ++count;
  }
  return count;
}

struct Header {
  json entries;
  size_t data_start = 0;
};

Header parse_header(std::string_view bytes, const std::string& where) {
  uint64_t length = 0;
  if (bytes.size() < sizeof(length)) fail("{} is not a safetensors file: it has {} bytes", where, bytes.size());
  std::memcpy(&length, bytes.data(), sizeof(length));
  if (length > bytes.size() - sizeof(length)) fail("{} is not a safetensors file, or is cut off", where);
  const std::string_view text = bytes.substr(sizeof(length), length);
  if (const size_t count = count_values(text); count > kMostHeaderValues)
    fail("{}: the safetensors header has {} values, expected at most {}", where, count, kMostHeaderValues);
  Header header;
  header.entries = parse_json(text, where + ": the safetensors header");
  if (!header.entries.is_object()) fail("{} is not a safetensors file: its header is not a JSON object", where);
  header.data_start = sizeof(length) + length;
  return header;
}

std::map<std::string, std::string> metadata_of(const Header& header) {
  const auto found = header.entries.find("__metadata__");
  if (found == header.entries.end()) return {};
  return found->get<std::map<std::string, std::string>>();
}

/// Returns the bytes that a tensor needs; -1 if its shape is impossible.
int64_t bytes_needed(const std::vector<int64_t>& shape, NumberType type) {
  int64_t bytes = size_of(type);
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) return -1;
  }
  return bytes;
}

/// Runs `read`; adds the file's name to errors in the header.
template <typename Read>
auto with_header_errors(const std::filesystem::path& path, const Read& read) {
  return reading(path, [&] {
    try {
      return read();
    } catch (const json::exception& error) {
      fail("{} has a damaged safetensors header: {}", path.string(), reason_of(error));
    }
  });
}

/// Throws Error unless the tensors' bytes are contiguous and complete: a file must not contain unused data.
void check_all_used(std::vector<std::pair<size_t, size_t>> spans, size_t size, const std::string& where) {
  std::sort(spans.begin(), spans.end());
  size_t end = 0;
  for (const auto& [begin, next] : spans) {
    if (begin != end) fail("{}: the tensors overlap or leave gaps; the file is damaged", where);
    end = next;
  }
  if (end != size) fail("{}: {} bytes follow the last tensor; the file is damaged", where, size - end);
}

/// The position of a tensor in the data.
struct Place {
  std::vector<int64_t> shape;
  NumberType type;
  size_t begin, end;
};

Place read_place(const json& entry, size_t data_bytes, const std::string& where) {
  const auto dtype_text = entry.at("dtype").get<std::string>();
  const auto dtype = dtypes().find(dtype_text);
  if (dtype == dtypes().end()) fail("{}: dtype {} is not supported", where, excerpt(dtype_text));
  auto shape = entry.at("shape").get<std::vector<int64_t>>();
  const auto [begin, end] = entry.at("data_offsets").get<std::pair<size_t, size_t>>();
  if (begin > end || end > data_bytes || static_cast<int64_t>(end - begin) != bytes_needed(shape, dtype->second)) {
    fail("{}: {} {} at bytes {}..{} of {} does not fit; the file is damaged or cut off", where, dtype->first,
         excerpt(json_text(entry.at("shape"))), begin, end, data_bytes);
  }
  return {std::move(shape), dtype->second, begin, end};
}

/// Returns the positions of all tensors, by name. Throws Error unless each byte belongs to exactly one of them, so that
/// copies of unaligned ones together are no larger than the file.
std::map<std::string, Place> read_places(const Header& header, size_t data_bytes, const std::string& where) {
  std::map<std::string, Place> places;
  std::vector<std::pair<size_t, size_t>> spans;
  for (const auto& [name, entry] : header.entries.items()) {
    if (name == "__metadata__") continue;
    Place place = read_place(entry, data_bytes, where + ": tensor '" + excerpt(name) + "'");
    spans.emplace_back(place.begin, place.end);
    places.emplace(name, std::move(place));
  }
  check_all_used(std::move(spans), data_bytes, where);
  return places;
}

Array map_tensor(const Place& place, std::string_view data, const std::shared_ptr<MappedFile>& file) {
  void* address = const_cast<char*>(data.data() + place.begin);
  const Array mapped = Array::view(address, place.shape, place.type, file);
  const bool aligned = reinterpret_cast<uintptr_t>(address) % static_cast<size_t>(size_of(place.type)) == 0;
  return aligned ? mapped : mapped.copy();  // other programs need not align their tensors
}

/// Returns the header as JSON text. Throws Error if a name or a text is not UTF-8.
std::string header_text(const json& header, const std::filesystem::path& path) {
  try {
    return strict_json_text(header);
  } catch (const json::exception& error) {
    fail("cannot write {}: a name in it is not UTF-8: {}", path.string(), reason_of(error));
  }
}

}  // namespace

Safetensors read_safetensors(const std::filesystem::path& path) {
  const auto file = std::make_shared<MappedFile>(path);
  const Header header = parse_header(file->bytes(), path.string());
  const std::string_view data = file->bytes().substr(header.data_start);
  return with_header_errors(path, [&] {
    Safetensors result;
    result.metadata = metadata_of(header);
    for (const auto& [name, place] : read_places(header, data.size(), path.string()))
      result.tensors[name] = map_tensor(place, data, file);
    return result;
  });
}

std::map<std::string, std::string> read_safetensors_metadata(const std::filesystem::path& path) {
  const MappedFile file(path);
  return with_header_errors(path, [&] { return metadata_of(parse_header(file.bytes(), path.string())); });
}

void write_safetensors(const std::filesystem::path& path, const std::vector<std::pair<std::string, Array>>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  json header = json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  size_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const size_t end = offset + tensor.bytes();
    header[name] = {{"dtype", dtype_name(tensor.type())}, {"shape", tensor.shape()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header_text(header, path);
  text.append((8 - text.size() % 8) % 8, ' ');  // keeps the data aligned
  const uint64_t length = text.size();
  write_file_with(path, [&](const std::filesystem::path& temporary) {
    std::ofstream out(temporary, std::ios::binary);
    out.write(reinterpret_cast<const char*>(&length), sizeof(length));
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    for (const auto& entry : tensors) {
      const Array& tensor = entry.second;
      out.write(static_cast<const char*>(tensor.raw()), static_cast<std::streamsize>(tensor.bytes()));
    }
    out.close();
    if (!out) fail("cannot write {}: {}", path.string(), std::strerror(errno));
  });
}

}  // namespace protocom
