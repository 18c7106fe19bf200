#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// The encoder used if none is named, unless the environment's PROTOCOM_ENCODER names another.
inline constexpr const char* kDefaultEncoder = "efficientnet-lite0";

/// An encoder that can be named without its path: NAME.onnx (.tflite, .safetensors, ...) or a folder NAME.
struct InstalledEncoder {
  std::string name;
  std::filesystem::path path;
};

/// The content of the folders of encoders.
struct InstalledEncoders {
  std::vector<InstalledEncoder> encoders;     ///< sorted by name; for one name in two folders the first
  std::vector<std::filesystem::path> others;  ///< not encoders, by their names: unfinished copies, notes
  std::vector<std::string> unreadable;        ///< folders that cannot be listed, each with the reason
};

/// Returns the folders of encoders, including missing ones, in search order: the environment's PROTOCOM_ENCODERS, the
/// user's own, those installed with this library or in the build tree, /usr/local and /usr.
std::vector<std::filesystem::path> encoder_folders();

/// Returns the user's own folder, $XDG_DATA_HOME/protocom/encoders or ~/.local/share/protocom/encoders; empty if the
/// environment has neither variable.
std::filesystem::path user_encoders();

/// Lists installed encoders. Nothing is opened: a damaged file is reported when it is used.
InstalledEncoders installed_encoders();

/// Whether a file may be an encoder by its suffix (.onnx, .tflite, .pt, .pth, .safetensors, .npz).
bool has_encoder_suffix(const std::filesystem::path& path);

/// Returns the path of an encoder: an existing path unchanged, else the installed encoder of that name; for an empty
/// path the default one. Throws Error that lists the installed names.
std::filesystem::path find_encoder(const std::filesystem::path& name_or_path);

/// Does so for commands that compute with it: logs which one is used if none is named.
std::filesystem::path chosen_encoder(const std::filesystem::path& name_or_path);

/// Returns the value of PROTOCOM_ENCODER, a name or a path, else kDefaultEncoder.
std::string default_encoder_name();

/// Returns the path of the encoder that PROTOCOM_ENCODER names, by name or path, else of kDefaultEncoder. Throws Error
/// that says how to get it.
std::filesystem::path default_encoder();

}  // namespace protocom
