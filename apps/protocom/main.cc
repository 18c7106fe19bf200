#include "entry.h"

int main(int argc, char** argv) { protocom::cli::run_program(argc, argv); }
