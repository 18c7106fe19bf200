#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "fewshot/prepared_method.h"
#include "store/recognizer_file.h"

namespace protocom {

/// The data that make opening a recognizer of very many classes slow, in a file beside it that is mapped instead: its
/// snapshot and its placed classes (docs/formats.md, "index of a recognizer"). All of it follows from the recognizer;
/// it is used only for the state it was made from, or a later one.
struct RecognizerIndex {
  RecognizerSnapshot snapshot;  ///< arrays are mapped; without a calibration
  PlacedClasses placed;         ///< mapped: must not be written to
};

/// Returns the path of the index: the recognizer's name with ".index".
std::filesystem::path index_path(const std::filesystem::path& recognizer);

/// Writes the index from a snapshot of `file` and its classes as placed by the method of that label. Throws Error.
void write_index(const RecognizerFile& file, const std::string& method, const RecognizerIndex& index);

/// Returns nothing if there is no index, or it is for another method, or from a state that `file` does not derive from,
/// which is logged. Never throws because of its content: a damaged index is logged and ignored.
std::optional<RecognizerIndex> read_index(const RecognizerFile& file, const std::string& method);

}  // namespace protocom
