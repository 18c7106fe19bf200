#pragma once
#include <filesystem>
#include <string_view>

namespace protocom {

/// What to do with an encoder that is installed under the same name.
enum class AddedTwice { kRefuse, kReplace };

/// Copies an encoder, a file or a folder, into the user's folder under a name (user_encoders), all of it or nothing,
/// after opening it. External data of an ONNX file are merged into the written file; if preprocessor_config.json lies
/// beside it, both go into a folder. Hidden files of a folder are not copied. Returns its path. Throws UsageError for
/// an invalid file name, Error if there is no such folder, if an encoder of that name is installed (kRefuse), and what
/// open_encoder throws.
std::filesystem::path add_encoder(std::string_view name, const std::filesystem::path& path, AddedTwice twice);

}  // namespace protocom
