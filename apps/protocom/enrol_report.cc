#include "enrol_report.h"

#include <ATen/ATen.h>

#include "cli.h"
#include "image_arguments.h"

namespace protocom::cli {

void print_enrolment(const Enrolment& done) {
  std::vector<std::vector<std::string>> rows = {{"class", "new images", "images", "attributes", "embedding from"}};
  int64_t added = 0;
  for (const Enrolled& one : done.classes) {
    const ClassDescription& said = one.now.description;
    added += one.added;
    rows.push_back({one.now.name + (said.title.empty() ? "" : " (" + said.title + ")"), std::to_string(one.added),
                    std::to_string(one.now.images), std::to_string(said.association.count_nonzero().item<int64_t>()),
                    said.embedding_source});
  }
  print_table(rows);
  if (added < done.given) logger().info("images that a class already holds do not count twice");
  if (done.skipped.total() > 0) fmt::print("{}\n", done.skipped.describe());
  for (const UnreadableFile& one : done.unreadable) logger().error("{}", one.reason);
  const size_t folders = folders_among(done.unreadable);
  const size_t images = done.unreadable.size() - folders;
  if (images > 0) fail("{} of the images could not be read; the other {} are enrolled", images, done.given);
  if (folders > 0) fail("folders without an image that can be read: {}; images enrolled: {}", folders, done.given);
}

}  // namespace protocom::cli
