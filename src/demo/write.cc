#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <system_error>

#include "protocom/core/csv.h"
#include "protocom/core/error.h"
#include "protocom/core/parallel.h"
#include "protocom/core/unfinished.h"
#include "protocom/demo/synthetic.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

constexpr int kJpegQuality = 92;

/// A folder beside its final place; removed again unless it was moved there.
class PendingFolder {
 public:
  explicit PendingFolder(fs::path final_place)
      : final_(std::move(final_place)), pending_(temporary_beside(plain(final_))) {
    std::error_code error;
    if (fs::exists(final_) && (!fs::is_directory(final_) || !fs::is_empty(final_))) {
      fail("{} exists and is not an empty folder: give another place, or remove it first", final_.string());
    }
    if (pending_.path().has_parent_path()) fs::create_directories(pending_.path().parent_path(), error);
    remove_leftovers(plain(final_));
    // Fails when something is there already: the folder shall be ours alone.
    if (!error && !fs::create_directory(pending_.path(), error) && !error)
      error = std::make_error_code(std::errc::file_exists);
    if (error) fail("cannot make the folder {}: {}", pending_.path().string(), error.message());
  }

  [[nodiscard]] const fs::path& path() const { return pending_.path(); }

  void keep() {
    std::error_code error;
    fs::remove(final_, error);
    fs::rename(pending_.path(), final_, error);
    if (error) fail("cannot rename {} to {}: {}", pending_.path().string(), final_.string(), error.message());
    pending_.release();
  }

 private:
  static fs::path plain(const fs::path& final_place) {
    return final_place.has_filename() ? final_place : final_place.parent_path();
  }

  fs::path final_;
  UnfinishedPath pending_;
};

// Not core's write_file, which syncs each file: thousands of small files appear together when the folder is renamed.
void write_plain(const fs::path& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) fail("cannot write {}: is the disk full?", path.string());
}

void write_tables(const fs::path& folder, const std::vector<SyntheticClass>& classes) {
  std::vector<std::string> names;
  std::vector<Split> split;
  std::string attributes = "class,attribute\n";
  for (const SyntheticClass& one : classes) {
    names.push_back(one.name);
    split.push_back(one.split);
    for (const std::string& attribute : one.attributes) {
      attributes += fmt::format("{},{}\n", csv_cell(one.name), csv_cell(attribute));
    }
  }
  write_plain(folder / "split.csv", split_csv(names, split));
  write_plain(folder / "attributes.csv", attributes);
}

}  // namespace

void write_synthetic(const fs::path& folder, const SyntheticWorld& world, Progress& progress) {
  PendingFolder pending(folder);
  write_tables(pending.path(), world.classes());
  const int64_t per_class = world.options().images_per_class;
  const auto count = static_cast<int64_t>(world.classes().size());
  progress.start("drawing", count * per_class);
  for (int64_t c = 0; c < count; ++c) {
    const SyntheticClass& one = world.classes()[static_cast<size_t>(c)];
    const fs::path class_folder = pending.path() / one.name;
    fs::create_directory(class_folder);
    parallel_for(0, per_class, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        write_plain(class_folder / fmt::format("{:04d}.jpg", i), encode_jpeg(world.draw(c, i).image, kJpegQuality));
      }
    });
    progress.advance((c + 1) * per_class, one.name);
  }
  pending.keep();
  progress.finish();
}

}  // namespace protocom
