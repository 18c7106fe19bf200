#include "shared_work.h"

#include <cstring>

#include "base/json_text.h"
#include "cli.h"
#include "job.h"

// One job in several processes:
//   1. All processes have the same list of files; each takes a share of whole batches (SharedLines), without what an
//      interrupted run has finished.
//   2. Each writes a line of JSON for each of its files, as it goes: the answer; or hash, feature and thumbnail, if
//      process 0 has to see all images together (to enrol them, or for a transductive method).
//   3. join() waits for all processes; then process 0 reads all lines.
//   4. Process 0 passes them on in the order of the files, or classifies all features together first.
namespace protocom::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string_view bytes_of(const Array& values) { return {static_cast<const char*>(values.raw()), values.bytes()}; }

std::string line_of(const EmbeddedImage& embedded) {
  return json_text(json{{"hash", embedded.hash},
                        {"feature", hex_of(bytes_of(embedded.feature))},
                        {"thumbnail", hex_of(embedded.thumbnail)}});
}

EmbeddedImage embedded_in(std::string_view line) {
  const json all = json_from_text(line);
  const std::string bytes = from_hex(all.at("feature").get_ref<const std::string&>());
  if (bytes.size() % sizeof(float) != 0) fail("a feature of {} bytes", bytes.size());
  EmbeddedImage embedded{all.at("hash"), Array::uninitialised({1, static_cast<int64_t>(bytes.size() / sizeof(float))}),
                         from_hex(all.at("thumbnail").get_ref<const std::string&>())};
  std::memcpy(embedded.feature.mutable_raw(), bytes.data(), bytes.size());
  return embedded;
}

/// Embeds each process's own files; process 0 then has all lines.
void embed_own(Recognizer& recognizer, SharedLines& lines) {
  const auto add = [&](size_t number, const EmbeddedImage& embedded) { lines.add(number, line_of(embedded)); };
  if (!lines.own_files().empty()) lines.add(recognizer.embed(lines.own_files(), add, progress()));
  lines.join();
}

}  // namespace

void add_resume(CLI::App& command, ResumeLines& resume, const char* where) {
  const auto set = [&resume](int64_t) { resume = ResumeLines::kYes; };
  command.add_flag(
      "--resume", set,
      fmt::format("Resume an interrupted run with the same options and files, whose partial results lie beside {}",
                  where));
}

fs::path folder_of_lines(const fs::path& output) {
  fs::path plain = output;
  if (!plain.has_filename()) plain = plain.parent_path();  // a folder may be given as "sorted/"
  return plain.string() + ".parts";
}

LinesJob lines_job(const CLI::App& command, const Recognizer& recognizer, const fs::path& output, ResumeLines resume) {
  json options = options_json(command);
  for (const CLI::Option* option : command.get_options()) {
    if (is_input(*option) || is_output(*option)) options.erase(long_name(*option));
  }
  for (const char* without : {"resume", "link"}) options.erase(without);
  options["command"] = command.get_name();
  const RecognizerFile& file = recognizer.file();
  return {folder_of_lines(output),
          {{"options", std::move(options)}, {"recognizer", file.header().to_json()}, {"revision", file.revision()}},
          recognizer.options().batch,
          resume};
}

void embed_shared(Recognizer& recognizer, SharedLines& lines, const Recognizer::TakeEmbedded& take) {
  embed_own(recognizer, lines);
  for (size_t n = 0; job().is_main() && n < lines.files().size(); ++n) {
    if (const auto line = lines.line(n)) take(n, embedded_in(*line));
  }
}

void classify_shared(Recognizer& recognizer, SharedLines& lines, const SharedAnswers& answers) {
  if (recognizer.method().spec().sees == Sees::kAllQueries) {
    embed_own(recognizer, lines);
    if (!job().is_main()) return;
    std::vector<size_t> numbers;
    std::vector<Array> features;
    for (size_t n = 0; n < lines.files().size(); ++n) {
      const auto line = lines.line(n);
      if (!line) continue;
      numbers.push_back(n);
      features.push_back(embedded_in(*line).feature);
    }
    if (numbers.empty()) return;
    const std::vector<Answer> all = recognizer.classify_together(Array::joined(features));
    for (size_t i = 0; i < all.size(); ++i)
      answers.take(numbers[i], answers.to_line(lines.files()[numbers[i]], all[i]));
    return;
  }
  const auto add = [&](size_t number, const Answer& answer) {
    lines.add(number, answers.to_line(lines.own_files()[number], answer));
  };
  if (!lines.own_files().empty()) lines.add(recognizer.classify(lines.own_files(), add, progress()));
  lines.join();
  for (size_t n = 0; job().is_main() && n < lines.files().size(); ++n) {
    if (const auto line = lines.line(n)) answers.take(n, *line);
  }
}

}  // namespace protocom::cli
