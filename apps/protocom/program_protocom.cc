#include "program.h"

namespace protocom::cli {

const Program& program() {
  static const Program kProgram{"protocom", "Recognise classes of images from a few photos of each",
                                /*default_command=*/"", /*folder_command=*/"new"};
  return kProgram;
}

}  // namespace protocom::cli
