#include "enrol_report.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "cli.h"
#include "image_arguments.h"

namespace protocom::cli {
namespace {

/// How many the class has, and in place of how many others.
std::string attribute_count_text(const EnrolledClass& enrolled) {
  const std::string now = std::to_string(enrolled.now.attributes.size());
  if (!enrolled.replaced || enrolled.replaced->empty() || *enrolled.replaced == enrolled.now.attributes) return now;
  return fmt::format("{}, in place of {}", now, enrolled.replaced->size());
}

/// Images of all classes together.
struct EnrolledTotals {
  int64_t added = 0;  // that are new
  int64_t held = 0;   // that were there already
};

EnrolledTotals totals_of(const Enrolment& done) {
  EnrolledTotals totals;
  for (const EnrolledClass& enrolled : done.classes) {
    totals.added += enrolled.added;
    totals.held += enrolled.held;
  }
  return totals;
}

/// Whether no class has attributes or anything else to be known by, so that the columns of both say nothing.
bool is_known_by_images(const Enrolment& done) {
  return std::all_of(done.classes.begin(), done.classes.end(), [](const EnrolledClass& enrolled) {
    return enrolled.now.attributes.empty() && !enrolled.replaced && enrolled.now.embedding_source == "nothing";
  });
}

void print_enrolled(const Enrolment& done, const EnrolledTotals& totals) {
  std::vector<std::vector<std::string>> rows = {
      {"class", "new images", "there already", "images", "attributes", "embedding from"}};
  for (const EnrolledClass& enrolled : done.classes) {
    rows.push_back({name_and_word(enrolled.now.name, enrolled.now.title), std::to_string(enrolled.added),
                    std::to_string(enrolled.held), std::to_string(enrolled.now.images), attribute_count_text(enrolled),
                    enrolled.now.embedding_source});
  }
  if (is_known_by_images(done) && !logger().should_log(spdlog::level::debug)) {
    for (std::vector<std::string>& row : rows) row.resize(row.size() - 2);
  }
  if (totals.held == 0) {
    for (std::vector<std::string>& row : rows) row.erase(row.begin() + 2);
  }
  print_table(rows);
}

}  // namespace

void print_enrolment(const Enrolment& done) {
  const EnrolledTotals totals = totals_of(done);
  print_enrolled(done, totals);
  if (totals.held > 0) logger().info("images that a class already holds do not count twice");
  if (done.skipped.total() > 0) fmt::print("{}\n", done.skipped.describe());
  for (const UnreadableFile& file : done.unreadable) logger().error("{}", file.reason);
  const size_t folders = folders_among(done.unreadable);
  const size_t images = done.unreadable.size() - folders;
  const std::string held = totals.held == 0 ? "" : fmt::format(", there already: {}", totals.held);
  if (images > 0) fail("{} of the images could not be read; images enrolled: {}{}", images, totals.added, held);
  if (folders > 0)
    fail("folders without an image that can be read: {}; images enrolled: {}{}", folders, totals.added, held);
}

}  // namespace protocom::cli
