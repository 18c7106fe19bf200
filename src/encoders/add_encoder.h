#pragma once
#include <filesystem>
#include <string_view>

namespace protocom {

/// What becomes of an encoder that is installed under the same name.
enum class AddedTwice { kRefuse, kReplace };

/// Copies an encoder, a file or a folder, into the user's folder under a name (user_encoders), all of it or nothing,
/// after it has been opened; what an ONNX file has in other files goes into the one that is written, and
/// into a folder with it if preprocessor_config.json lies beside it; hidden files of a folder stay behind. Returns
/// where it is. Throws UsageError for a name that no file can have, Error if there is no such folder, where an encoder
/// of that name is installed (kRefuse), and what open_encoder throws.
std::filesystem::path add_encoder(std::string_view name, const std::filesystem::path& path, AddedTwice twice);

}  // namespace protocom
