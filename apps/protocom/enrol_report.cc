#include "enrol_report.h"

#include <algorithm>
#include <iterator>

#include "base/clean_name.h"
#include "base/log.h"
#include "base/near_matches.h"
#include "base/text.h"
#include "cli.h"
#include "image_arguments.h"

namespace protocom::cli {
namespace {

/// Returns the number of attributes of the class, and how many previous ones they replace.
std::string attribute_count_text(const EnrolledClass& enrolled) {
  const std::string now = std::to_string(enrolled.now.attributes.size());
  if (!enrolled.replaced || enrolled.replaced->empty() || *enrolled.replaced == enrolled.now.attributes) return now;
  return fmt::format("{}, in place of {}", now, enrolled.replaced->size());
}

/// Numbers of images over all classes.
struct EnrolledTotals {
  int64_t added = 0;  // new ones
  int64_t held = 0;   // ones that existed already
};

EnrolledTotals count_images(const Enrolment& done) {
  EnrolledTotals totals;
  for (const EnrolledClass& enrolled : done.classes) {
    totals.added += enrolled.added;
    totals.held += enrolled.held;
  }
  return totals;
}

/// Whether no class is known by attributes or anything but images, so that both columns are useless.
bool is_known_by_images(const Enrolment& done) {
  return std::all_of(done.classes.begin(), done.classes.end(), [](const EnrolledClass& enrolled) {
    return enrolled.now.attributes.empty() && !enrolled.replaced && enrolled.now.embedding_source == "nothing";
  });
}

void print_enrolled(const Enrolment& done, const EnrolledTotals& totals) {
  std::vector<std::vector<std::string>> rows = {
      {"class", "added", "there already", "total", "attributes", "embedding from"}};
  for (const EnrolledClass& enrolled : done.classes) {
    rows.push_back({name_and_word(enrolled.now.name, enrolled.now.title), std::to_string(enrolled.added),
                    std::to_string(enrolled.held), std::to_string(enrolled.now.images), attribute_count_text(enrolled),
                    enrolled.now.embedding_source});
  }
  if (is_known_by_images(done) && !logger().writes(LogLevel::kDebug)) {
    for (std::vector<std::string>& row : rows) row.resize(row.size() - 2);
  }
  if (totals.held == 0) {
    for (std::vector<std::string>& row : rows) row.erase(row.begin() + 2);
  }
  print_table(rows);
}

bool is_separator(char c) { return c == ' ' || c == '_' || c == '-'; }

std::string without_separators(std::string_view name) {
  std::string letters = lowercase(name);
  letters.erase(std::remove_if(letters.begin(), letters.end(), is_separator), letters.end());
  return letters;
}

std::string keep_digits(std::string_view name) {
  std::string digits;
  std::copy_if(name.begin(), name.end(), std::back_inserter(digits), [](char c) { return c >= '0' && c <= '9'; });
  return digits;
}

/// Whether two names are similar; names that differ in a number ("class 1", "class 2") are intentional.
bool is_near(const std::string& name, const std::string& other) {
  constexpr size_t kLettersPerError = 6;
  const std::string a = without_separators(name), b = without_separators(other);
  const auto tolerance = static_cast<int64_t>(std::min<size_t>(a.size() / kLettersPerError, 2));
  return keep_digits(a) == keep_digits(b) && edit_distance(a, b) <= tolerance;
}

/// For very many classes comparing takes too long, and long lists are rarely typed by hand.
constexpr size_t kMostCompared = 1'000'000;

}  // namespace

void warn_of_near_names(const Enrolment& done, const std::vector<ClassInfo>& before) {
  if (before.size() * done.classes.size() > kMostCompared) return;
  for (const EnrolledClass& enrolled : done.classes) {
    if (!enrolled.is_new) continue;
    for (const ClassInfo& old : before) {
      if (!is_near(enrolled.now.name, old.name)) continue;
      logger().warn("'{}' is a new class; did you mean '{}'? (protocom undo reverts it)", excerpt(enrolled.now.name),
                    excerpt(old.name));
      break;
    }
  }
}

void print_enrolment(const Enrolment& done) {
  const EnrolledTotals totals = count_images(done);
  print_enrolled(done, totals);
  if (totals.held > 0) logger().info("ignoring images that the class already has");
  if (done.skipped.total() > 0) fmt::print("{}\n", done.skipped.describe());
  for (const UnreadableFile& file : done.unreadable) logger().error("{}", file.reason);
}

void check_all_read(const Enrolment& done) {
  const EnrolledTotals totals = count_images(done);
  const size_t folders = folders_among(done.unreadable);
  const size_t images = done.unreadable.size() - folders;
  const std::string held = totals.held == 0 ? "" : fmt::format(", there already: {}", totals.held);
  if (images > 0) fail("{} of the images could not be read; images enrolled: {}{}", images, totals.added, held);
  if (folders > 0) fail("folders without readable images: {}; images enrolled: {}{}", folders, totals.added, held);
}

}  // namespace protocom::cli
