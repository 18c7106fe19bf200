#pragma once
#include <filesystem>
#include <string>

namespace protocom {

/// Whether a name is that of a file of features: .npz, .npy, .parquet, .safetensors.
bool is_features_file(const std::filesystem::path& path);

/// Returns how to make photos of a video, in one clause with the command. `film`: its name in the command.
std::string photos_of_film(const std::string& film);

/// Whether a name has the suffix of a video, in any case.
bool is_film(const std::filesystem::path& path);

/// Describes what a path given instead of photos is, and what to do with it, in one sentence, from its name alone: a
/// URL, an archive (.zip, .tar, ...), a video (.mp4, .mov, .avi, ...), a library of Apple Photos, features. Empty for
/// other names.
std::string other_media(const std::filesystem::path& path);

/// Does so for the first such file in a folder. Empty: it has none.
std::string other_media_in(const std::filesystem::path& folder);

/// Throws Error with that sentence, unless it is empty.
void refuse_other_media(const std::filesystem::path& path);

}  // namespace protocom
