#pragma once
#include <string>

namespace protocom::cli {

/// The differences between the programs made of the same commands.
struct Program {
  std::string name;                  ///< "protocom"
  std::string about;                 ///< one line
  std::string default_command = {};  ///< used if the first argument is not a command; empty: that is an error
  std::string folder_command = {};   ///< used instead if it is a folder
};

/// Returns the description of this program.
const Program& program();

}  // namespace protocom::cli
