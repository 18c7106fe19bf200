#pragma once
#include "cli.h"

namespace protocom::cli {

/// Adds `renew` to the commands of `protocom recognizer`.
void add_renew(CLI::App& parent);

}  // namespace protocom::cli
