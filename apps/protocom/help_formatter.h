#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace protocom::cli {

/// Formats help pages of at most 100 columns. An option has its name and type on the left; on the right its text, and
/// in brackets its range, default, and the options that it needs or that exclude it. The programs under packaging/ and
/// scripts/site read these pages.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
};

}  // namespace protocom::cli
