#include "program.h"

namespace protocom::cli {

const Program& program() {
  static const Program kProgram{"protocom-serve", "A recognizer: served over HTTP, enrolled, asked, corrected",
                                "serve"};
  return kProgram;
}

}  // namespace protocom::cli
