#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <system_error>

#include "protocom/core/csv.h"
#include "protocom/core/error.h"
#include "protocom/data/synthetic.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

constexpr int kJpegQuality = 92;

/// A folder beside its final place; removed again unless it was moved there.
class PendingFolder {
 public:
  explicit PendingFolder(fs::path final_place) : final_(std::move(final_place)) {
    std::error_code error;
    if (fs::exists(final_) && (!fs::is_directory(final_) || !fs::is_empty(final_))) {
      fail("{} exists and is not an empty folder: give another place, or remove it first", final_.string());
    }
    fs::path plain = final_.has_filename() ? final_ : final_.parent_path();
    pending_ = plain.string() + fmt::format(".part-{}", ::getpid());
    fs::create_directories(pending_, error);
    if (error) fail("cannot make the folder {}: {}", pending_.string(), error.message());
  }
  ~PendingFolder() {
    std::error_code ignored;
    fs::remove_all(pending_, ignored);
  }
  PendingFolder(const PendingFolder&) = delete;
  PendingFolder& operator=(const PendingFolder&) = delete;

  [[nodiscard]] const fs::path& path() const { return pending_; }

  void keep() {
    std::error_code error;
    fs::remove(final_, error);
    fs::rename(pending_, final_, error);
    if (error) fail("cannot rename {} to {}: {}", pending_.string(), final_.string(), error.message());
  }

 private:
  fs::path final_;
  fs::path pending_;
};

// Not core's write_file, which syncs each file: thousands of small files appear together when the folder is renamed.
void write_plain(const fs::path& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) fail("cannot write {}: is the disk full?", path.string());
}

void write_tables(const fs::path& folder, const std::vector<SyntheticClass>& classes) {
  std::string split = "class,split\n";
  std::string attributes = "class,attribute\n";
  for (const SyntheticClass& one : classes) {
    split += fmt::format("{},{}\n", csv_cell(one.name), to_string(one.split));
    for (const std::string& attribute : one.attributes) {
      attributes += fmt::format("{},{}\n", csv_cell(one.name), csv_cell(attribute));
    }
  }
  write_plain(folder / "split.csv", split);
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
    at::parallel_for(0, per_class, 1, [&](int64_t begin, int64_t end) {
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
