#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "recognizer/recognizer.h"
#include "shared_lines.h"

namespace protocom::cli {

/// Adds --resume to a command whose processes write lines until all are complete; `where`: the place of the lines.
void add_resume(CLI::App& command, ResumeLines& resume, const char* where);

/// Returns the folder of the lines that become `output`.
std::filesystem::path folder_of_lines(const std::filesystem::path& output);

/// Returns the job of a command with a recognizer: its lines depend on its options and on the recognizer's content.
LinesJob lines_job(const CLI::App& command, const Recognizer& recognizer, const std::filesystem::path& output,
                   ResumeLines resume);

/// Classifies files in all processes of a job. `to_line` makes JSON from an answer, in any of them; process 0 gets the
/// lines of all readable files, in order, as one process would make them.
struct SharedAnswers {
  std::function<std::string(const std::filesystem::path& image, const Answer& answer)> to_line;
  std::function<void(size_t number, std::string_view line)> take;
};
void classify_shared(Recognizer& recognizer, SharedLines& lines, const SharedAnswers& answers);

/// Computes features of files in all processes of a job: process 0 gets each readable one, in order.
void embed_shared(Recognizer& recognizer, SharedLines& lines, const Recognizer::TakeEmbedded& take);

}  // namespace protocom::cli
