#include "program.h"

namespace protocom::cli {

const Program& program() {
  static const Program kProgram{"protocom-serve", "Serve a recognizer over HTTP; enrol, classify and correct", "serve"};
  return kProgram;
}

}  // namespace protocom::cli
