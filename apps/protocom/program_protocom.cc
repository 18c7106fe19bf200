#include "program.h"

namespace protocom::cli {

const Program& program() {
  static const Program kProgram{"protocom", "Few-shot image classification with class knowledge (prototype completion)",
                                /*default_command=*/"", /*folder_command=*/"new"};
  return kProgram;
}

}  // namespace protocom::cli
