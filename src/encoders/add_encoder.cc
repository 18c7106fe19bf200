#include "encoders/add_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/clean_name.h"
#include "base/error.h"
#include "encoders/encoder.h"
#include "encoders/huggingface_images.h"
#include "encoders/installed_encoders.h"
#include "encoders/onnx_file_kind.h"
#include "io/files.h"
#include "io/files_below.h"
#include "io/scratch_folder.h"
#include "io/unfinished.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// Returns the name as used for a file.
std::string checked_encoder_name(std::string_view written) {
  const std::string name = checked_class_name(written);
  if (name.find('/') != std::string::npos || name.front() == '.' || name.front() == '-' ||
      name.find(".tmp-") != std::string::npos)
    fail_usage("'{}' is not a name of an encoder: expected one without '/' that begins with a letter or a digit",
               excerpt(name));
  if (has_encoder_suffix(name))
    fail_usage("'{}' names a file: leave out its suffix, the name is '{}'", excerpt(name),
               fs::path(name).stem().string());
  return name;
}

/// Throws what open_encoder throws, except for unstated preprocessing, which may be stated later.
void check_opens(const fs::path& path) {
  try {
    open_encoder(path, {});
  } catch (const UnstatedPreprocessing&) {
    EncoderFileOptions any;
    any.preprocessing = parse_preprocessing("imagenet");
    open_encoder(path, any);
  }
}

std::optional<fs::path> installed_as(const std::string& name) {
  for (const InstalledEncoder& one : installed_encoders().encoders) {
    if (one.name == name) return one.path;
  }
  return std::nullopt;
}

bool is_hidden(const fs::path& below) {
  return std::any_of(below.begin(), below.end(), [](const fs::path& part) { return part.string().front() == '.'; });
}

void copy_files(const fs::path& from, const fs::path& to) {
  for (const auto& entry : files_below(from)) {
    const fs::path below = entry.path().lexically_relative(from);
    if (is_hidden(below)) continue;  // .git of a cloned folder contains all of it again
    fs::create_directories((to / below).parent_path());
    fs::copy_file(entry.path(), to / below);
  }
}

/// Copies a folder, replacing what is there.
void put_folder(const fs::path& from, const fs::path& to) {
  UnfinishedPath made(temporary_beside(to)), before(temporary_beside(to));
  copy_files(from, made.path());
  std::error_code ignored, failed;
  if (fs::exists(to, ignored)) fs::rename(to, before.path());
  fs::rename(made.path(), to, failed);
  if (failed) {
    fs::rename(before.path(), to, ignored);  // what was there stays
    throw fs::filesystem_error("cannot put the encoder in its place", to, failed);
  }
  made.release();
}

void put_file(const fs::path& from, const fs::path& to) {
  write_file_with(to, [&](const fs::path& made) { fs::copy_file(from, made, fs::copy_options::overwrite_existing); });
}

/// Writes a folder with a file and its image settings, which the file alone would lose.
void put_with_images(const fs::path& file, const std::string& images, const fs::path& to) {
  const ScratchFolder both;
  fs::copy_file(file, both.path() / ("model" + file.extension().string()));
  write_file(both.path() / huggingface::kImages, images);
  put_folder(both.path(), to);
}

/// Removes other encoders of the same name in this folder (NAME.onnx if NAME is a folder now).
void remove_others(const fs::path& kept, const std::string& name) {
  for (const auto& entry : fs::directory_iterator(kept.parent_path())) {
    const fs::path& path = entry.path();
    if (path != kept && (path.filename() == name || (has_encoder_suffix(path) && path.stem() == name)))
      fs::remove_all(path);
  }
}

fs::path user_folder() {
  const fs::path folder = user_encoders();
  if (folder.empty()) fail("no folder to install encoders in: set HOME or XDG_DATA_HOME");
  return folder;
}

}  // namespace

fs::path add_encoder(std::string_view written, const fs::path& path, AddedTwice twice) {
  const std::string name = checked_encoder_name(written);
  const fs::path from = find_encoder(path);
  const fs::path folder = user_folder();
  if (const auto there = installed_as(name); there && twice == AddedTwice::kRefuse)
    fail("an encoder '{}' is installed already, {}: give --replace to replace it", name, there->string());
  check_opens(from);
  fs::create_directories(folder);
  fs::path added = folder / name;
  if (fs::is_directory(from)) {
    put_folder(from, added);
  } else {
    const ScratchFolder scratch;
    const fs::path file = as_one_file(from, {}, scratch.path());
    if (!has_encoder_suffix(file))
      fail("{}: expected a file that ends in .onnx, .tflite, .safetensors, .pt or .npz", from.string());
    if (const auto images = is_onnx_file(from) ? huggingface::images_text_beside(from) : std::nullopt) {
      put_with_images(file, *images, added);
    } else {
      added += file.extension();
      put_file(file, added);
    }
  }
  remove_others(added, name);
  return added;
}

}  // namespace protocom
