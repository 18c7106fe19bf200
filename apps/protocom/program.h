#pragma once
#include <string>

namespace protocom::cli {

/// What differs between the programs that are made of the same commands.
struct Program {
  std::string name;                  ///< "protocom"
  std::string about;                 ///< one line
  std::string default_command = {};  ///< if the first argument is not a command; empty: an error then
  std::string folder_command = {};   ///< the same where it is a folder
};

/// The one that this is.
const Program& program();

}  // namespace protocom::cli
