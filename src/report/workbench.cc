#include "protocom/report/workbench.h"

#include <map>

#include "protocom/core/error.h"
#include "report/analyses.h"

namespace protocom {
namespace {

std::map<std::string, Analysis> all_analyses() {
  std::map<std::string, Analysis> all;
  for (const auto& some : {series_analyses(), paper_analyses(), image_analyses(), answer_analyses()}) {
    for (const Analysis& analysis : some) all.emplace(analysis.name, analysis);
  }
  return all;
}

const Analysis& analysis_named(const std::string& name) {
  static const std::map<std::string, Analysis> kAnalyses = all_analyses();
  return kAnalyses.at(name);
}

}  // namespace

Workbench::Workbench(const WorkbenchInputs& inputs, const AnalyseOptions& options, Progress& progress)
    : bench_(std::make_unique<Bench>(inputs, options, progress)) {}
Workbench::~Workbench() = default;

std::string Workbench::obstacle(const std::string& name) const {
  const Analysis& analysis = analysis_named(name);
  return analysis.obstacle == nullptr ? "" : analysis.obstacle(*bench_);
}

AnalysisOutcome Workbench::run(const std::string& name) {
  if (const std::string reason = obstacle(name); !reason.empty()) {
    if (reason.rfind(kTooFew, 0) == 0) fail("'{}' {}", name, reason);
    fail_usage("'{}' {}", name, reason);
  }
  return analysis_named(name).run(*bench_);
}

}  // namespace protocom
