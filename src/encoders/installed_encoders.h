#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// The encoder that is taken if none is named, unless the environment's PROTOCOM_ENCODER names another.
inline constexpr const char* kDefaultEncoder = "efficientnet-lite0";

/// An encoder that can be named without its path: NAME.onnx (.tflite, .safetensors, ...) or a folder NAME.
struct InstalledEncoder {
  std::string name;
  std::filesystem::path path;
};

/// What lies in the folders of encoders.
struct InstalledEncoders {
  std::vector<InstalledEncoder> encoders;     ///< by name; of one name in two folders the first
  std::vector<std::filesystem::path> others;  ///< no encoders by their names: unfinished copies, notes
  std::vector<std::string> unreadable;        ///< folders that cannot be listed, each with the reason
};

/// The folders of encoders, those that are not there too, in the order in which they are searched: the environment's
/// PROTOCOM_ENCODERS, the user's own, those that came with this library or the build tree, /usr/local and /usr.
std::vector<std::filesystem::path> encoder_folders();

/// The user's own folder, $XDG_DATA_HOME/protocom/encoders or ~/.local/share/protocom/encoders; empty if the
/// environment has neither variable.
std::filesystem::path user_encoders();

/// Nothing is opened: a damaged file is reported when it is used.
InstalledEncoders installed_encoders();

/// Whether a file may be an encoder by its suffix (.onnx, .tflite, .pt, .pth, .safetensors, .npz).
bool has_encoder_suffix(const std::filesystem::path& path);

/// The path of an encoder: a path that exists as it is, else the installed encoder of that name; of nothing the default
/// one. Throws Error that lists the installed names.
std::filesystem::path find_encoder(const std::filesystem::path& name_or_path);

/// The same for commands that compute with it: logs which one is used if none is named.
std::filesystem::path chosen_encoder(const std::filesystem::path& name_or_path);

/// The value of PROTOCOM_ENCODER, a name or a path, else kDefaultEncoder.
std::string default_encoder_name();

/// The encoder that PROTOCOM_ENCODER names, by name or path, else kDefaultEncoder. Throws Error that says how to get
/// it.
std::filesystem::path default_encoder();

}  // namespace protocom
