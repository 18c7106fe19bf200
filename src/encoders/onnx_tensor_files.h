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

/// Reads a StringStringEntryProto.
std::pair<std::string, std::string> read_pair(protozero::pbf_reader reader);

/// The files beside an ONNX file with its large tensors.
class TensorFiles {
 public:
  explicit TensorFiles(std::filesystem::path model) : model_(std::move(model)) {}

  /// Returns bytes of the file `location` in the model's folder. Throws Error for a name with a folder, a link that
  /// leads out of that folder and of the real model's, a range outside the file, and if all ranges together are longer
  /// than it.
  std::string_view bytes(const std::string& location, uint64_t offset, std::optional<uint64_t> length);
  /// Returns a range without counting it: it may be requested again.
  std::string_view peek(const std::string& location, uint64_t offset, std::optional<uint64_t> length);
  /// The files from which bytes were requested, by name.
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

/// The location of an external TensorProto's bytes.
struct TensorPlace {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};
/// Returns nothing for an internal tensor.
std::optional<TensorPlace> read_place(protozero::pbf_reader tensor);
/// Adds the fields of a TensorProto that state the location.
void add_place(const TensorPlace& place, protozero::pbf_writer& tensor);
/// Whether a field of a TensorProto is one of those.
bool is_place_field(protozero::pbf_tag_type field);

}  // namespace protocom::onnx
