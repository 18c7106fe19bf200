#pragma once
/// Functions shared by the commands.
///
/// A command is one thin file, cmd_<name>.cc, that nothing else mentions:
///
///     #include "cli.h"
///     #include "datasets/packed_images.h"
///
///     namespace protocom::cli {
///     namespace {
///
///     struct Options {            // the library's options structs, so that their defaults are the command's defaults
///       std::string images, out;
///       PackOptions pack;
///     };
///
///     void run_pack(const CLI::App& command, const Options& options) {
///       check_writable(options.out);                                   // before hours of work, not after
///       Provenance provenance = provenance_of(command, /*seed=*/0);
///       add_input(provenance, "images", options.images);
///       const PackedImages images = pack_images(list_images(options.images, {}), options.pack, progress());
///       write_pack(options.out, images, provenance);
///       print_table({{"images", std::to_string(images.size())}});
///     }
///
///     void add_pack_command(CLI::App& app) {                           // `app` is the whole program's parser
///       auto options = std::make_shared<Options>();
///       CLI::App* command = add_command(app, "pack", "Decode images once into one memory-mapped file",
///                                       "protocom pack photos --image-size 84 --out images.pack");
///       add_input_option(*command, "images", options->images, "Folder of images")->required();
///       command->add_option("--image-size", options->pack.image_size, "Side of the square images, pixels");
///       add_output_option(*command, "--out", options->out, "File to write")->required();
///       command->callback([command, options] { run_pack(*command, *options); });
///     }
///
///     const Command kRegister{Group::kDataSets, 40, &add_pack_command};
///
///     }  // namespace
///     }  // namespace protocom::cli
///
/// An option that names files states whether they are read or written (file_options.h): how they are checked, resolved,
/// compared and shown follows from that. Every option automatically shows its default in --help and is recorded in the
/// provenance. Throw with fail()/fail_usage(); print results on stdout (fmt::print), never errors. --threads, --quiet,
/// --verbose and --log-file are the program's, not the command's.
///
/// So that `protocom run` can connect stages, these names mean the same in every command: --images (a pack or a
/// folder), --knowledge, --backbone, --features, --model, --out, --seed.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "commands.h"
#include "file_options.h"
#include "io/artefact.h"
#include "io/files.h"
#include "terminal_table.h"

namespace protocom::cli {

/// Adds a subcommand whose --help ends with `example` (one command line per line).
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& example);

/// Add --device and --batch to a command that runs an encoder.
CLI::Option* add_device(CLI::App& command, std::string& device);
CLI::Option* add_batch(CLI::App& command, int64_t& batch);

/// Accepts whole numbers of at least `least`, without a practical upper limit.
CLI::Range at_least(int64_t least);

/// Returns the display of long jobs: a bar on a terminal, plain lines elsewhere, nothing with --quiet.
Progress& progress();

/// Returns every option of a parsed command by its long name, given or default, and the seed. Inputs are empty: see
/// add_input.
Provenance provenance_of(const CLI::App& command, uint64_t seed);

/// Adds the hash of a file, or of a folder's listing (hash_input), under `name`. Does nothing for an empty path.
void add_input(Provenance& provenance, const std::string& name, const std::filesystem::path& path);

/// Returns hash_file of a file; for a folder the hash of its sorted listing: relative path, size and modification time
/// of every file below it. Throws Error if the path does not exist.
std::string hash_input(const std::filesystem::path& path);

/// Returns the options of a parsed command as JSON: numbers as numbers, flags as true or false, lists as arrays,
/// everything else as text; an option that was not given and has no default is null.
nlohmann::json options_json(const CLI::App& command);

/// Returns the command as typed, with the options that were given.
std::string command_line(const CLI::App& command);

}  // namespace protocom::cli
