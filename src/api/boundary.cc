#include "api/detail/boundary.h"

#include <spdlog/sinks/base_sink.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include "base/blas_kernels.h"
#include "base/error.h"
#include "base/log_sinks.h"

#ifdef PROTOCOM_LINKS_TORCH
namespace protocom {
/// Defined in the plug-in (trainers/add_torch.h), which an archive also contains: named here so that the linker
/// includes it.
void add_torch();
}  // namespace protocom
#endif

namespace protocom::v0 {
namespace {

/// Passes log messages to their collectors.
class CollectingSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void add(std::vector<std::string>* texts) {
    const std::lock_guard lock(mutex_);
    all_.push_back(texts);
  }
  void remove(std::vector<std::string>* texts) {
    const std::lock_guard lock(mutex_);
    all_.erase(std::find(all_.begin(), all_.end(), texts));
  }
  std::vector<std::string> texts_of(const std::vector<std::string>* texts) {
    const std::lock_guard lock(mutex_);
    return *texts;
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}

 private:
  std::vector<std::vector<std::string>*> all_;
};

CollectingSink& sink() {
  static const auto kSink = [] {
    auto made = std::make_shared<CollectingSink>();
    made->set_level(spdlog::level::warn);
    log_backend().sinks().push_back(made);
    return made;
  }();
  return *kSink;
}

/// Texts collected by this thread, the innermost last.
std::vector<std::vector<std::string>>& own_texts() {
  static thread_local std::vector<std::vector<std::string>> texts;
  return texts;
}

void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

void CollectingSink::sink_it_(const spdlog::details::log_msg& message) {
  const std::string text(message.payload.data(), message.payload.size());
  if (!own_texts().empty()) {
    add_once(own_texts().back(), text);
  } else {
    for (std::vector<std::string>* row : all_) add_once(*row, text);
  }
}

}  // namespace

void prepare() {
  static const bool kReady = [] {
    choose_blas_kernels();
    sink();
#ifdef PROTOCOM_LINKS_TORCH
    add_torch();
#endif
    return true;
  }();
  static_cast<void>(kReady);
}

int& calls_within() {
  static thread_local int calls = 0;
  return calls;
}

void rethrow() {
  try {
    throw;
  } catch (const ThrownByCaller& thrown) {
    std::rethrow_exception(thrown.exception);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(one_line(reason_of(error)));
  } catch (...) {
    throw Error("an exception of an unknown type was thrown");
  }
}

Collected::Collected() {
  prepare();
  // Reserved once, since growing would move the vectors, to which other threads may hold pointers.
  constexpr size_t kDepth = 8;
  own_texts().reserve(kDepth);
  if (own_texts().size() == kDepth)
    fail("calls into protocom are nested deeper than {} levels (from a Progress or an OwnMethod)", kDepth);
  own_texts().emplace_back();
  sink().add(&own_texts().back());
}

Collected::~Collected() {
  sink().remove(&own_texts().back());
  own_texts().pop_back();
}

Warnings Collected::warnings() const { return sink().texts_of(&own_texts().back()); }

CallerProgress::CallerProgress(const v0::Progress& report)
    : ReportedProgress([&report](const std::string& job, int64_t done, int64_t total, const std::string& detail) {
        if (report) by_caller([&] { report({job, done, total, detail}); });
      }) {}

Array array_of(const Rows& rows, const char* what) {
  if (rows.rows() == 0) fail("{}: expected a row of numbers per image, found none", what);
  const bool floats = rows.floats() != nullptr;
  void* data = floats ? const_cast<float*>(rows.floats()) : static_cast<void*>(const_cast<double*>(rows.doubles()));
  const NumberType type = floats ? NumberType::kFloat32 : NumberType::kFloat64;
  return Array::view(data, {rows.rows(), rows.dim()}, type, std::shared_ptr<const void>(data, [](const void*) {}))
      .to(NumberType::kFloat32);
}

Matrix matrix_of(const Array& array) {
  const auto* first = array.data<float>();
  return {{first, first + array.numel()}, array.size(0), array.size(1)};
}

std::vector<std::string> names_for(const Labels& labels, const std::vector<std::string>& given) {
  if (!given.empty() && !labels.names().empty()) fail("labels are names: leave out the class names");
  if (!given.empty()) return given;
  if (!labels.names().empty()) return labels.names();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t classes = 0;
  for (const int64_t label : labels.numbers()) classes = std::max(classes, label < kMost ? label + 1 : kMost);
  // A label that is not the number of a class would create as many names.
  if (classes > static_cast<int64_t>(labels.numbers().size()))
    fail("labels without class names run from 0 to the number of classes, found {} among {} labels", classes - 1,
         labels.numbers().size());
  std::vector<std::string> names;
  for (int64_t k = 0; k < classes; ++k) names.push_back(std::to_string(k));
  return names;
}

void check_one_label_a_row(const Labels& labels, int64_t rows) {
  if (static_cast<int64_t>(labels.numbers().size()) != rows)
    fail("expected one label per row, found {} rows of features and {} labels", rows, labels.numbers().size());
}

}  // namespace protocom::v0
