#include "report/test_files.h"

#include <fmt/format.h>

#include "base/error.h"
#include "eval/test_figures.h"
#include "images/image.h"
#include "io/base64.h"
#include "io/csv.h"
#include "io/files.h"
#include "report/test_page.h"

namespace protocom {
namespace {

/// Returns "answer,certainty,none,none_of_these,rank,log_loss" of one test.
std::string answer_cells(const TestedImage& image) {
  const std::string none = image.none ? fmt::format("{:.6f},{:d}", *image.none, image.is_refused()) : ",";
  const std::string own = image.known ? fmt::format("{},{:.6f}", image.rank, image.loss) : ",";
  return fmt::format("{},{:.6f},{},{}", csv_cell(image.answer), image.certainty, none, own);
}

/// Returns a small picture of a photo for the page; "" if it cannot be read, or is known only by its features.
std::string small_picture(const std::string& path) {
  constexpr int64_t kSide = 192;
  constexpr int kQuality = 80;
  try {
    return base64(encode_jpeg(read_square_image(path, {kSide}), kQuality));
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

void write_test_csv(const std::filesystem::path& path, const TestResult& first, const TestResult* second) {
  if (second != nullptr) compare_tests(first, *second);  // refuses other photos
  std::string text = "image,class,known,answer,certainty,none,none_of_these,rank,log_loss";
  if (second != nullptr) text += ",answer_2,certainty_2,none_2,none_of_these_2,rank_2,log_loss_2";
  for (size_t i = 0; i < first.tested.size(); ++i) {
    const TestedImage& image = first.tested[i];
    text += fmt::format("\n{},{},{:d},{}", csv_cell(image.image), csv_cell(image.class_name), image.known,
                        answer_cells(image));
    if (second != nullptr) text += "," + answer_cells(second->tested[i]);
  }
  write_file(path, text + "\n");
}

void write_test_page(const std::filesystem::path& path, const TestResult& first, const TestResult* second,
                     int64_t worst) {
  TestPage page;
  page.first = &first;
  page.second = second;
  if (second != nullptr) page.comparison = compare_tests(first, *second);
  page.picture = &small_picture;
  page.worst = worst;
  write_file(path, test_page(page));
}

}  // namespace protocom
