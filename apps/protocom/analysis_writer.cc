#include "analysis_writer.h"

namespace protocom::cli {
namespace {

void print_section(const Section& section) {
  fmt::print("\n{}\n{}\n", section.title, section.finding);
  for (const ReportTable& table : section.tables) {
    if (&table != &section.tables.front()) fmt::print("\n{}\n", table.caption);
    std::vector<std::vector<std::string>> rows = {table.columns};
    rows.insert(rows.end(), table.rows.begin(), table.rows.end());
    print_table(rows);
  }
}

}  // namespace

AnalysisWriter::AnalysisWriter(const CLI::App& command, std::filesystem::path folder, Provenance provenance)
    : folder_(std::move(folder)), command_(command_line(command)) {
  std::filesystem::create_directories(folder_);
  check_writable(folder_ / "analysis.json");
  header_ = make_header("analysis", 1, std::move(provenance)).to_json();
}

void AnalysisWriter::write(const AnalysisOutcome& outcome) const {
  const Section& section = outcome.section;
  write_file(folder_ / (section.name + ".json"),
             analysis_json({section, command_, outcome.episodes_hash, header_}, outcome.data)
                 .dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
  for (const Figure& figure : section.figures) {
    const Svg svg = draw(figure);
    write_file(folder_ / (id_of(figure) + ".svg"), svg.file());
    if (png_) write_file(folder_ / (id_of(figure) + ".png"), svg.png());
  }
  print_section(section);
}

}  // namespace protocom::cli
