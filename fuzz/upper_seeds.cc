#include <ATen/ATen.h>

#include "fuzz/seeds.h"
#include "protocom/report/section.h"
#include "train/checkpoint.h"

namespace protocom::fuzz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void write_analysis(const fs::path& folder) {
  const json header = make_header("results", 1, seed_provenance()).to_json();
  Section section{"noise", "Title", "Finding.", "How.", {{"caption", {"a", "b"}, {{"1", "2"}}}}, {}};
  section.figures = {
      BarChart{"noise-a", "Bars", "", {{"x", "note", 0.5, 0.1, "m-mean"}}, 0, 1, 1, "%", {{0.2, "c"}}},
      LineChart{"noise-b", "Lines", "", "x", "y", {{"s", "m-mean", {1, 2}, {3, 4}, {0.1, 0.2}}}, 0, 0, 1, {}, ""},
      ScatterChart{"noise-c", "Points", "", "x", "y", {{"g", {0.1}, {0.2}}}},
      HeatMap{"noise-d", "Matrix", "", "r", "c", {"a", "b"}, {{90, 10}, {20, 80}}},
      PictureChart{"noise-e", "Pictures", "", {{"row", {{"/9j/4AA=", "c", "t"}}}}}};
  write_file(folder / "analysis/plain", analysis_json({section, "protocom analyse", "h", header}, {{"x", 1}}).dump());
}

void write_state(const fs::path& folder) {
  Checkpoint state;
  state.header = make_header("backbone", 1, seed_provenance());
  state.artefact = {{"weight", at::ones({2, 2})}};
  state.training = {{"momentum", at::ones({2})}};
  state.bytes = {{"optimizer", "some bytes"}};
  state.made_by = {{"epochs", 2}, {"seed", 1}};
  state.position = {{"epoch", 1}, {"step", 0}};
  const fs::path whole = folder / "artefacts/checkpoint.npz";
  write_checkpoint(whole, state);
  write_as_members(whole, folder / "checkpoint/plain");
  fs::remove_all(whole.parent_path());
}

}  // namespace

void write_upper_seeds(const fs::path& folder) {
  write_analysis(folder);
  write_state(folder);
}

void write_seeds(const fs::path& folder) {
  write_lower_seeds(folder);
  write_upper_seeds(folder);
}

}  // namespace protocom::fuzz
