#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "fewshot/prepared_method.h"
#include "store/recognizer_file.h"

namespace protocom {

/// What opening a recognizer of very many classes takes long for, in a file beside it that is mapped instead: its
/// snapshot and where its classes are placed (docs/formats.md, "index of a recognizer"). It tells nothing that does not
/// follow from the recognizer, and is only used for the state that it was made of or one that follows from it.
struct RecognizerIndex {
  RecognizerSnapshot snapshot;  ///< arrays are mapped; without a calibration
  PlacedClasses placed;         ///< mapped: not to be written to
};

/// The file beside a recognizer: its name and ".index".
std::filesystem::path index_path(const std::filesystem::path& recognizer);

/// Makes the file of a snapshot of `file` and the places of its classes by the method of that label. Throws Error.
void write_index(const RecognizerFile& file, const std::string& method, const RecognizerIndex& index);

/// Nothing if there is none, or it is of another method, or of a state from which `file` does not follow: that is
/// logged. Never throws for what the index holds: a damaged one is logged and not used.
std::optional<RecognizerIndex> read_index(const RecognizerFile& file, const std::string& method);

}  // namespace protocom
