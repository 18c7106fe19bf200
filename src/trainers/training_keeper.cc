#include "trainers/detail/training_keeper.h"

#include <unistd.h>

#include "base/error.h"
#include "base/json_text.h"
#include "base/log.h"
#include "io/derived_output.h"
#include "io/files.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

struct StopAsked {};

/// Throws out of a long job when a stop is requested.
class StopProgress : public Progress {
 public:
  explicit StopProgress(const StopSignal& signal) : signal_(signal) {}
  void start(std::string_view, int64_t) override { advance(0, {}); }
  void advance(int64_t, std::string_view) override {
    if (signal_.requested()) throw StopAsked();
  }

 private:
  const StopSignal& signal_;
};

int64_t number(const nlohmann::json& object, const char* name) { return object.value(name, int64_t{0}); }

bool is_finished(const Checkpoint& state) { return number(state.position, "epoch") >= number(state.made_by, "epochs"); }

bool has_begun(const Checkpoint& state) {
  return number(state.position, "epoch") > 0 || number(state.position, "step") > 0;
}

/// Returns "epoch 3 of 100, after step 17".
std::string where(const Checkpoint& state) {
  const int64_t epochs = number(state.made_by, "epochs"), epoch = number(state.position, "epoch");
  if (is_finished(state)) return fmt::format("all {} epochs done", epochs);
  return fmt::format("epoch {} of {}, after step {}", epoch + 1, epochs, number(state.position, "step"));
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

}  // namespace

TrainingKeeper::TrainingKeeper(const TrainingFiles& files, const nlohmann::json& made_by)
    : files_(files),
      made_by_(json_from_text(json_text(made_by))),  // as it will be read back
      listener_(files.stop) {
  if (!(files.checkpoint_seconds >= 0))
    fail_usage("seconds between two checkpoints: expected at least 0, found {}", files.checkpoint_seconds);
}

std::optional<Checkpoint> TrainingKeeper::begin() {
  if (files_.out.empty()) return std::nullopt;
  for (const fs::path& derived : {files_.last(), files_.previous(), files_.log()}) refuse_link(derived);
  check_writable(files_.out);
  lock_.emplace(files_.out);
  for (const fs::path& path : {files_.out, files_.last(), files_.previous()}) {
    check_writable(path);
    remove_leftovers(path);
  }
  if (files_.resume == Resume::kIfThere) {
    auto found = newest();
    if (!found) return std::nullopt;
    check_made_by(*found, made_by_);
    logger().info("resuming from {}: {}", found->path.string(), where(*found));
    return found;
  }
  std::optional<Checkpoint> found;
  try {
    found = newest();
  } catch (const Error& error) {
    logger().warn("{}; the training starts from the beginning", error.what());
  }
  if (found && has_begun(*found) && !is_finished(*found)) {
    fail("{} holds an unfinished training ({}): continue with --resume, or delete that file to start again",
         found->path.string(), where(*found));
  }
  // Leftovers of another training must not be found when this one's state is damaged.
  last_is_whole_ = false;
  std::error_code ignored;
  fs::remove(files_.previous(), ignored);
  return std::nullopt;
}

std::optional<Checkpoint> TrainingKeeper::newest() {
  std::string damage;
  if (fs::exists(files_.last())) {
    try {
      Checkpoint found = read_checkpoint(files_.last());
      last_is_whole_ = true;
      return found;
    } catch (const Error& error) {
      damage = error.what();
    }
  }
  if (!fs::exists(files_.previous())) {
    if (damage.empty()) return std::nullopt;
    fail("{}, and {} is missing: delete the damaged file to start again", damage, files_.previous().string());
  }
  try {
    Checkpoint found = read_checkpoint(files_.previous());
    logger().warn("{}; using the state before it, {}", damage.empty() ? files_.last().string() + " is missing" : damage,
                  files_.previous().string());
    return found;
  } catch (const Error& error) {
    fail("{}; and {}: delete both files to start again", damage, error.what());
  }
}

void TrainingKeeper::after_step(const Snapshot& snapshot) {
  if (asked_to_stop()) stop(snapshot);
  if (files_.out.empty()) return;
  const double since = std::chrono::duration<double>(Clock::now() - saved_).count();
  if (since >= files_.checkpoint_seconds) save(snapshot());
}

void TrainingKeeper::interruptible(const std::function<void(Progress&)>& work, const Snapshot& snapshot) {
  if (files_.stop == nullptr) return work(Progress::none());
  StopProgress progress(*files_.stop);
  try {
    work(progress);
  } catch (const StopAsked&) {
    stop(snapshot);
  }
}

bool TrainingKeeper::asked_to_stop() const { return files_.stop != nullptr && files_.stop->requested(); }

void TrainingKeeper::stop(const Snapshot& snapshot) {
  const int signal = files_.stop->signal();
  if (files_.out.empty()) throw Interrupted(signal, fmt::format("stopped by {}", signal_name(signal)));
  Checkpoint state = snapshot();
  state.made_by = made_by_;
  const std::string place = where(state);
  save(std::move(state));
  throw Interrupted(signal, fmt::format("stopped by {} in {}; {} holds the state: continue with --resume",
                                        signal_name(signal), place, files_.last().string()));
}

void TrainingKeeper::save(Checkpoint state) {
  if (files_.out.empty()) return;
  state.made_by = made_by_;
  std::string temporary_name;
  try {
    UnfinishedPath before(temporary_beside(files_.previous()));
    bool is_kept = false;
    write_file_with(files_.last(), [&](const fs::path& temporary) {
      temporary_name = temporary.string();
      write_checkpoint(temporary, state);
      is_kept = set_aside(before.path());
    });
    if (is_kept) rename_to_previous(before);
  } catch (const Error& error) {
    const std::string reason = replaced(error.what(), one_line(temporary_name), files_.last().string());
    fail("the state of the training is not saved: {}{}", reason,
         last_is_whole_ ? "; the state saved before is intact: continue from it with --resume" : "");
  }
  last_is_whole_ = true;
  saved_ = Clock::now();
}

void TrainingKeeper::rename_to_previous(UnfinishedPath& before) const {
  std::error_code error;
  fs::rename(before.path(), files_.previous(), error);
  if (error) fail("cannot write {}: {}", files_.previous().string(), error.message());
  before.release();
}

/// Gives the last checkpoint a second name, which becomes that of the previous one once the next is in place: at every
/// moment there is a last one, and the previous one is another file, since two names of one file are damaged together.
bool TrainingKeeper::set_aside(const fs::path& name) const {
  if (!last_is_whole_ || !fs::exists(files_.last())) return false;
  std::error_code error;
  fs::create_hard_link(files_.last(), name, error);
  if (!error) return true;
  fs::rename(files_.last(), files_.previous(), error);  // file systems without hard links
  if (error) fail("cannot write {}: {}", files_.previous().string(), error.message());
  return false;
}

void TrainingKeeper::finish() {
  if (files_.out.empty()) return;
  std::error_code ignored;
  fs::remove(files_.previous(), ignored);
}

}  // namespace protocom
