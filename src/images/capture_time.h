#pragma once
#include <filesystem>
#include <optional>
#include <string_view>

namespace protocom {

/// Returns when a photo was taken, from its EXIF data (DateTimeOriginal and SubSecTimeOriginal; EXIF 2.32, tags 0x9003
/// and 0x9291): seconds since 1970 by the camera's clock, whose time zone is unknown. `bytes`: a JPEG, HEIC, AVIF, PNG,
/// WebP, TIFF or a camera's raw photo. Nothing if it has none, an invalid date, or midnight to the second, which
/// programs write that know only the day. Thread-safe.
std::optional<double> capture_time(std::string_view bytes);
/// Reads it from a file; nothing if that cannot be read.
std::optional<double> capture_time_of(const std::filesystem::path& file);

}  // namespace protocom
