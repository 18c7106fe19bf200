#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "io/files.h"
#include "io/memory_file.h"

namespace protocom::onnx {

/// StringStringEntryProto.
std::pair<std::string, std::string> read_pair(protozero::pbf_reader reader);

/// The files beside an ONNX file that hold its large tensors.
class TensorFiles {
 public:
  explicit TensorFiles(std::filesystem::path model) : model_(std::move(model)) {}

  /// Bytes of the file called `location` in the model's folder. Throws Error for a name with a folder, a link that
  /// leads out of that folder and of the one where the model itself lies, a range that the file does not have, and for
  /// ranges that are together longer than it.
  std::string_view bytes(const std::string& location, uint64_t offset, std::optional<uint64_t> length);
  /// The same of a range that is not one of those: it may be asked for again.
  std::string_view peek(const std::string& location, uint64_t offset, std::optional<uint64_t> length);
  /// The files that bytes were asked of, by their names.
  [[nodiscard]] std::map<std::string, std::string_view> opened() const;

 private:
  struct Opened {
    MappedFile file;
    uint64_t handed_out = 0;
  };
  Opened& open(const std::string& location);

  std::filesystem::path model_;
  std::map<std::string, Opened> opened_;
};

/// Where a TensorProto's bytes lie when they are outside.
struct TensorPlace {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};
/// None: inside.
std::optional<TensorPlace> read_place(protozero::pbf_reader tensor);
/// Adds the fields of a TensorProto that say so.
void add_place(const TensorPlace& place, protozero::pbf_writer& tensor);
/// Whether a field of a TensorProto is one of those.
bool is_place_field(protozero::pbf_tag_type field);

}  // namespace protocom::onnx
