#pragma once
#include <filesystem>
#include <string>

#include "cli.h"
#include "protocom/report/workbench.h"

namespace protocom::cli {

/// Writes an analysis' JSON and every figure into a folder, and prints its tables.
class AnalysisWriter {
 public:
  /// Makes the folder. Throws Error when nothing can be written there.
  AnalysisWriter(const CLI::App& command, std::filesystem::path folder, Provenance provenance);

  void also_png() { png_ = true; }
  void write(const AnalysisOutcome& outcome) const;

 private:
  std::filesystem::path folder_;
  bool png_ = false;
  nlohmann::json header_;
  std::string command_;
};

}  // namespace protocom::cli
