#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "recognizer/recognizer.h"
#include "shared_lines.h"

namespace protocom::cli {

/// --resume of a command whose processes write lines until all are there; `where`: what they lie beside.
void add_resume(CLI::App& command, ResumeLines& resume, const char* where);

/// The folder of the lines that become `output`.
std::filesystem::path folder_of_lines(const std::filesystem::path& output);

/// The job of a command with a recognizer: its lines depend on its options and on what the recognizer holds.
LinesJob lines_job(const CLI::App& command, const Recognizer& recognizer, const std::filesystem::path& output,
                   ResumeLines resume);

/// Classifies files in all processes of a job. `to_line` makes JSON of an answer, in any of them; process 0 gets the
/// lines of all files that could be read, in order, as one process would make them.
struct SharedAnswers {
  std::function<std::string(const std::filesystem::path& image, const Answer& answer)> to_line;
  std::function<void(size_t number, std::string_view line)> take;
};
void classify_shared(Recognizer& recognizer, SharedLines& lines, const SharedAnswers& answers);

/// Features of files by all processes of a job: process 0 gets each that could be read, in order.
void embed_shared(Recognizer& recognizer, SharedLines& lines, const Recognizer::TakeEmbedded& take);

}  // namespace protocom::cli
