#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace protocom::fuzz {

/// One way for external bytes into protocom.
struct Reader {
  std::string name;       ///< of the harness and of its folder of regression inputs
  std::string extension;  ///< of the file that it reads
  /// Whether the input is a list of an archive's members (see pack_members) instead of a file: checksums and
  /// compression would stop a fuzzer.
  bool members = false;
  void (*read)(const std::filesystem::path& path) = nullptr;
};

/// Returns the readers of core, data, knowledge and nn: of files that other people and programs make.
const std::vector<Reader>& lower_readers();
/// Returns the readers of the modules above and of the program, whose harnesses take much longer to build.
const std::vector<Reader>& upper_readers();
/// Returns all readers.
std::vector<Reader> readers();

/// Runs something that may reject its input.
template <typename Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const Error&) {
  }
}

/// Gives one input to a reader and returns whether it was read. Aborts unless it was read, or rejected by an Error of
/// one short line that names the file.
bool read_input(const Reader& reader, std::string_view input);

/// Returns the members of an npz as one text: for each a byte of name length, the name, four bytes of length, the
/// content.
std::string pack_members(const std::filesystem::path& npz);

}  // namespace protocom::fuzz
