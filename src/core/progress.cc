#include "protocom/core/progress.h"

namespace protocom {
namespace {

class NoProgress final : public Progress {
 public:
  void start(std::string_view, int64_t) override {}
  void advance(int64_t, std::string_view) override {}
  void finish() override {}
};

}  // namespace

Progress& Progress::none() {
  static NoProgress instance;
  return instance;
}

}  // namespace protocom
