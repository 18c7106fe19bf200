#include <fmt/format.h>

#include <fstream>

#include "base/error.h"
#include "base/parallel.h"
#include "demo/synthetic.h"
#include "io/csv.h"
#include "io/pending_folder.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

constexpr int kJpegQuality = 92;

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
  for (const SyntheticClass& synthetic_class : classes) {
    names.push_back(synthetic_class.name);
    split.push_back(synthetic_class.split);
    for (const std::string& attribute : synthetic_class.attributes) {
      attributes += fmt::format("{},{}\n", csv_cell(synthetic_class.name), csv_cell(attribute));
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
    const SyntheticClass& synthetic_class = world.classes()[static_cast<size_t>(c)];
    const fs::path class_folder = pending.path() / synthetic_class.name;
    fs::create_directory(class_folder);
    parallel_each(per_class, [&](int64_t i) {
      write_plain(class_folder / fmt::format("{:04d}.jpg", i), encode_jpeg(world.draw(c, i).image, kJpegQuality));
    });
    progress.advance((c + 1) * per_class, synthetic_class.name);
  }
  pending.keep();
  progress.finish();
}

}  // namespace protocom
