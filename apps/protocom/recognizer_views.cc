#include "recognizer_views.h"

#include <ctime>

#include "cli.h"
#include "encoders/encoder_engine.h"
#include "io/artefact_contents.h"
#include "recognizer/calibration.h"

namespace protocom::cli {
namespace {

std::string text_of(const RecognizerArtefact& artefact) {
  const std::string name = artefact.path.filename().string();
  return artefact.embedded ? fmt::format("{}, {} bytes inside", name, artefact.size)
                           : fmt::format("{}, outside ({})", artefact.path.string(), artefact.hash);
}

std::string text_of(const std::optional<nlohmann::json>& calibration, const std::string& where) {
  if (!calibration) return "none yet (protocom calibrate)";
  const Calibration made = calibration_from(*calibration, where);
  const std::string others = made.unknown == 0 ? "" : fmt::format("{:.1f} % of others pass, ", 100 * made.false_accept);
  return fmt::format("{}: {}{:.1f} % of own images{}; on {} own, {} others, of {} classes", made.method, others,
                     100 * made.accepted, others.empty() ? " pass" : "", made.images, made.unknown, made.classes);
}

/// Prints the findings from making one of its artefacts, if that is inside.
void print_findings_of(const RecognizerFile& file, const std::string& name) {
  const RecognizerArtefact* made = file.artefact(name);
  if (made == nullptr || !made->embedded) return;
  file.read_artefact(name, [](const std::filesystem::path& path) {
    for (const std::string& finding : findings_in(read_contents(path).header)) fmt::print("{}\n", one_line(finding));
  });
}

/// Returns the settings of the space that its images chose; empty if there are none, or if choosing takes over a
/// second.
std::string space_text(const RecognizerFile& file, int64_t images) {
  constexpr int64_t kMostImages = 1000;
  if (images == 0 || images > kMostImages) return "";
  try {
    const std::vector<std::string> chosen = open_to_read(file.path()).method().findings();
    return chosen.empty() ? "" : chosen.front();
  } catch (const Error&) {  // a missing external part is reported with the artefacts
    return "";
  }
}

/// Returns the engine of its encoder; a missing external one is reported with the artefacts.
std::string engine_text(const RecognizerFile& file) {
  std::string engine;
  try {
    file.read_artefact("backbone", [&](const std::filesystem::path& path) { engine = engine_name_for(path); });
  } catch (const Error& error) {
    return error.what();
  }
  return engine;
}

std::string moments_text(const RecognizerSettings& settings) {
  if (settings.stated_moments.empty()) return settings.moments ? "auto" : "off";
  return fmt::format("stated for {} photos, else auto", settings.stated_moments.size());
}

}  // namespace

std::string time_text(int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (::gmtime_r(&time, &parts) == nullptr) return std::to_string(seconds);
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &parts)};
}

Recognizer open_to_read(const std::filesystem::path& file) {
  RecognizerOptions options;
  options.use = FileUse::kRead;
  return Recognizer::open(file, options);
}

void print_info(const RecognizerFile& file) {
  const RecognizerSettings& settings = file.settings();
  std::vector<std::vector<std::string>> rows = {{"recognizer", file.path().string()}};
  for (const RecognizerArtefact& artefact : file.artefacts()) rows.push_back({artefact.name, text_of(artefact)});
  int64_t images = 0;
  const std::vector<ClassInfo> classes = file.list_classes();
  for (const ClassInfo& entry : classes) images += entry.images;
  const std::vector<ChangeEntry> changes = file.changes(1);
  rows.insert(
      rows.end(),
      {{"preprocessing", describe(settings.preprocessing)},
       {"encoder runs on", engine_text(file)},
       {"features", fmt::format("{} numbers, {}", settings.feature_dim, to_string(settings.feature_type))},
       {"thumbnails", settings.thumbnail_side == 0 ? "none" : fmt::format("{} pixels", settings.thumbnail_side)},
       {"moments", moments_text(settings)},
       {"attributes", std::to_string(settings.attributes.size())},
       {"classes", std::to_string(classes.size())},
       {"images", std::to_string(images)},
       {"unlabelled images", std::to_string(file.count_unlabelled())},
       {"calibration", text_of(file.calibration(), file.path().string())},
       {"last change",
        changes.empty() ? "none that can be undone" : changes.front().what + ", " + time_text(changes.front().time)}});
  if (const std::string space = space_text(file, images); !space.empty()) rows.push_back({"space", space});
  print_table(rows);
  for (const char* made : {"model", "fitted"}) print_findings_of(file, made);
}

}  // namespace protocom::cli
