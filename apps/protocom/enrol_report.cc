#include "enrol_report.h"

#include <ATen/ATen.h>

#include "cli.h"
#include "image_arguments.h"
#include "protocom/core/text.h"

namespace protocom::cli {
namespace {

int64_t attributes_in(const ClassDescription& said) { return said.association.count_nonzero().item<int64_t>(); }

/// How many the class has, and in place of how many others.
std::string attribute_count_text(const Enrolled& one) {
  const std::string now = std::to_string(attributes_in(one.now.description));
  if (!one.replaced || one.replaced->association.equal(one.now.description.association)) return now;
  const int64_t before = attributes_in(*one.replaced);
  return before == 0 ? now : fmt::format("{}, in place of {}", now, before);
}

/// Images of all classes together.
struct EnrolledTotals {
  int64_t added = 0;  // that are new
  int64_t held = 0;   // that were there already
};

EnrolledTotals totals_of(const Enrolment& done) {
  EnrolledTotals totals;
  for (const Enrolled& one : done.classes) {
    totals.added += one.added;
    totals.held += one.held;
  }
  return totals;
}

void print_enrolled(const Enrolment& done, const EnrolledTotals& totals) {
  std::vector<std::vector<std::string>> rows = {
      {"class", "new images", "there already", "images", "attributes", "embedding from"}};
  for (const Enrolled& one : done.classes) {
    const ClassDescription& said = one.now.description;
    rows.push_back({name_and_word(one.now.name, said.title), std::to_string(one.added), std::to_string(one.held),
                    std::to_string(one.now.images), attribute_count_text(one), said.embedding_source});
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
  for (const UnreadableFile& one : done.unreadable) logger().error("{}", one.reason);
  const size_t folders = folders_among(done.unreadable);
  const size_t images = done.unreadable.size() - folders;
  const std::string held = totals.held == 0 ? "" : fmt::format(", there already: {}", totals.held);
  if (images > 0) fail("{} of the images could not be read; images enrolled: {}{}", images, totals.added, held);
  if (folders > 0)
    fail("folders without an image that can be read: {}; images enrolled: {}{}", folders, totals.added, held);
}

}  // namespace protocom::cli
