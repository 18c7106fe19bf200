#include "protocom/core/error.h"
#include "protocom/serve/calibration.h"
#include "protocom/serve/recognizer_file.h"
#include "serve/database.h"

namespace protocom {
namespace {

/// A query that counts rows which should not be there, and what they are.
struct Rule {
  const char* query;
  const char* finding;
};

constexpr Rule kRules[] = {
    {"SELECT count(*) FROM classes c WHERE c.removed_by IS NULL AND NOT EXISTS "
     "(SELECT 1 FROM names n WHERE n.class = c.id AND n.removed_by IS NULL)",
     "classes without a name"},
    {"SELECT count(*) FROM classes c WHERE c.removed_by IS NULL AND NOT EXISTS "
     "(SELECT 1 FROM descriptions d WHERE d.class = c.id AND d.removed_by IS NULL)",
     "classes without a description"},
    {"SELECT count(*) FROM examples e WHERE e.removed_by IS NULL AND NOT EXISTS "
     "(SELECT 1 FROM classes c WHERE c.id = e.class AND c.removed_by IS NULL)",
     "examples of classes that are not there"},
    {"SELECT count(*) FROM thumbnails t WHERE t.removed_by IS NULL AND NOT EXISTS "
     "(SELECT 1 FROM examples e WHERE e.id = t.example AND e.removed_by IS NULL)",
     "thumbnails of examples that are not there"},
};

template <typename Look>
void note(std::vector<std::string>& findings, const Look& look) {
  try {
    look();
  } catch (const Error& error) {
    findings.emplace_back(error.what());
  }
}

void check_pages(const Database& database, std::vector<std::string>& findings) {
  Statement rows = database.prepare("PRAGMA integrity_check(10)");
  while (rows.step()) {
    if (const std::string said = rows.text(0); said != "ok")
      findings.push_back(fmt::format("{}: the file is damaged: {}", database.path().string(), one_line(said)));
  }
}

void check_rules(const Database& database, std::vector<std::string>& findings) {
  for (const Rule& rule : kRules) {
    const int64_t count = database.number(rule.query).value_or(0);
    if (count > 0) findings.push_back(fmt::format("{}: {} {}", database.path().string(), count, rule.finding));
  }
}

}  // namespace

std::vector<std::string> RecognizerFile::check() const {
  std::vector<std::string> findings;
  note(findings, [&] { check_pages(*database_, findings); });
  note(findings, [&] { check_rules(*database_, findings); });
  note(findings, [&] { static_cast<void>(snapshot()); });
  note(findings, [&] {
    if (const auto read = calibration()) static_cast<void>(calibration_from(*read, path().string()));
  });
  for (const RecognizerArtefact& one : artefacts_)
    note(findings, [&] { read_artefact(one.name, [](const std::filesystem::path&) {}); });
  return findings;
}

}  // namespace protocom
