#pragma once
#include <filesystem>
#include <functional>
#include <vector>

namespace protocom {

/// Runs `write` on the paths of new empty files, one for each of `paths`, and moves them where write_file would, the
/// last one first, once all are on the disk and `before` has run. If either throws, all of `paths` are untouched.
void write_together(const std::vector<std::filesystem::path>& paths,
                    const std::function<void(const std::vector<std::filesystem::path>&)>& write,
                    const std::function<void()>& before = {});

}  // namespace protocom
