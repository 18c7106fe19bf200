#include "trainers/detail/epoch_loop.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "trainers/detail/together.h"
#include "trainers/detail/validation_episodes.h"

// A training:
//   1. Restore the last checkpoint, or validate the initial state where it counts as an epoch, and save it (begin).
//   2. For each step of an epoch: set the learning rate, let the trainer compute loss and gradients (Trainer::learn),
//      add its sums, and apply the gradients (train_step). In between, the keeper saves the state when it is due or
//      the training is stopped.
//   3. After the steps: validate if due, keep the state if it is the best so far, and write a line of the log
//      (end_epoch). Only then is the epoch complete and its state saved.
//   4. After the last epoch: write the kept state as the result (Trainer::finish).
// A stop is saved after the step in progress; after a kill the training resumes from the last checkpoint. Either way
// the result is, to the bit, that of a training without interruption.
namespace protocom {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr const char* kOptimizer = "optimizer";

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

EpochLoop::EpochLoop(Trainer& trainer, EpochLoopOptions options, Progress& progress)
    : trainer_(trainer),
      options_(std::move(options)),
      progress_(progress),
      listener_(options_.files.stop),
      files_(files_of(*options_.group, options_.files, agreed_)),
      keeper_(files_, options_.made_by),
      reader_(*options_.group, options_.files.stop, agreed_,
              [this](double loss, int64_t step) { fail_not_finite(loss, step); }) {}

EpochLoopResult EpochLoop::run() {
  begin();
  progress_.start(options_.name, options_.schedule.epochs * options_.steps);
  progress_.advance(steps_done(), "");
  while (place_.epoch < options_.schedule.epochs) {
    train_epoch();
    // The epoch is complete only once it is validated: a stop in between is saved as its last step, and resumes with no
    // step left and the validation again.
    end_epoch(place_.epoch + 1);
    ++place_.epoch;
    place_.step = 0;
    keeper_.save(snapshot());
    // The listener of an epoch finds its state in the file already.
    tell_epoch();
  }
  progress_.finish();
  trainer_.finish(kept_epoch_);
  keeper_.finish();
  return {place_.epoch, kept_epoch_, best_accuracy_, sums_};
}

void EpochLoop::begin() {
  const auto saved = begin_together(keeper_, *options_.group);
  if (saved) {
    restore(*saved);
  } else {
    if (options_.start == StartCounts::kYes) end_epoch(0);
    keeper_.save(snapshot());
  }
  // Lines of epochs after the saved state are removed: those epochs are repeated.
  log_.emplace(files_, saved ? place_.epoch : TrainingLog::kNew);
}

Checkpoint EpochLoop::snapshot() {
  // The sums of completed steps may still be on a GPU.
  reader_.read(sums_);
  Checkpoint saved = trainer_.snapshot();
  saved.add_optimizer(kOptimizer, trainer_.optimizer());
  saved.position.update({{"epoch", place_.epoch},
                         {"step", place_.step},
                         {"sums", to_json(sums_)},
                         {"kept_epoch", kept_epoch_},
                         {"best_accuracy", best_accuracy_ ? json(*best_accuracy_) : json(nullptr)}});
  return saved;
}

void EpochLoop::restore(const Checkpoint& saved) {
  saved.load_optimizer(kOptimizer, trainer_.optimizer());
  try {
    const json& position = saved.position;
    place_ = {position.at("epoch"), position.at("step")};
    sums_ = sums_from(position.at("sums"));
    kept_epoch_ = position.at("kept_epoch");
    if (!position.at("best_accuracy").is_null()) best_accuracy_ = position.at("best_accuracy").get<double>();
    trainer_.restore(saved);
  } catch (const json::exception& error) {
    fail("{} has no valid position of the training: {}", saved.path.string(), error.what());
  }
}

void EpochLoop::train_epoch() {
  if (place_.step == 0) sums_ = {};
  // Includes the time of the epoch before it was resumed.
  const double before = sums_.seconds;
  const auto start = Clock::now();
  trainer_.begin_epoch(place_);
  while (place_.step < options_.steps) {
    train_step();
    ++place_.step;
    sums_.seconds = before + seconds_since(start);
    progress_.advance(steps_done(), describe());
    if (const auto seconds = timer_.step()) say_time(*seconds);
    keeper_.after_step([this] { return snapshot(); });
  }
  reader_.read(sums_);
}

void EpochLoop::train_step() {
  for (auto& group : trainer_.optimizer().param_groups()) {
    static_cast<torch::optim::SGDOptions&>(group.options())
        .lr(options_.schedule.at(place_.epoch, place_.step, options_.steps));
  }
  trainer_.optimizer().zero_grad();
  const at::Tensor sums = trainer_.learn(place_);
  // On the CPU they are read before the step's gradients change anything.
  reader_.add(place_.step, sums, sums_);
  trainer_.optimizer().step();
}

void EpochLoop::say_time(double step_seconds) const {
  if (!options_.group->is_main()) return;
  const int64_t left = options_.schedule.epochs * options_.steps - steps_done();
  const std::string text =
      say_estimate({step_seconds, options_.steps, left, options_.schedule.epochs, peak_memory()}, options_.shorter_way);
  if (!text.empty()) logger().info("{}", text);
}

void EpochLoop::fail_not_finite(double loss, int64_t step) const {
  const std::string saved =
      files_.out.empty() ? "" : fmt::format("; {} has the state that was saved last", files_.last().string());
  fail("the loss is not finite at epoch {}, step {} of {} ({}, seed {}): lower --lr, or compute in float32{}",
       place_.epoch + 1, step + 1, options_.steps, loss, options_.seed, saved);
}

void EpochLoop::end_epoch(int64_t epoch) {
  EpochEnd end{epoch, options_.schedule.at(std::max<int64_t>(epoch - 1, 0)), sums_, {}, 0};
  const bool last = epoch == options_.schedule.epochs;
  const int64_t every = trainer_.validates_every();
  if (every > 0 && (last || epoch % every == 0)) end.validation = validate();
  if (take_if_best(epoch, end.validation)) trainer_.keep(epoch);
  end.kept_epoch = kept_epoch_;
  nlohmann::json figures = trainer_.end_epoch(end);
  if (epoch > 0) log(end, std::move(figures));
}

std::vector<MethodScores> EpochLoop::validate() {
  std::vector<MethodScores> scores;
  const auto work = [&](Progress& progress) { scores = trainer_.validate(progress); };
  // Several processes would not stop at the same place, and before the first epoch there is no state to resume from.
  if (options_.group->is_single() && log_) {
    keeper_.interruptible(work, [this] { return snapshot(); });
  } else {
    work(Progress::none());
  }
  return scores;
}

bool EpochLoop::take_if_best(int64_t epoch, const std::vector<MethodScores>& validation) {
  const bool last = epoch == options_.schedule.epochs;
  if (trainer_.validates_every() == 0 || options_.chosen_by.empty()) {
    kept_epoch_ = epoch;
    // Each would replace the one before, so only the last is written.
    return last;
  }
  if (validation.empty()) return false;
  const double accuracy = mean_accuracy(validation, options_.chosen_by);
  // The earlier of equal ones stays; a NaN is never better.
  if (best_accuracy_ && !(accuracy > *best_accuracy_)) return false;
  best_accuracy_ = accuracy;
  kept_epoch_ = epoch;
  return true;
}

void EpochLoop::log(const EpochEnd& end, nlohmann::json figures) {
  figures["learning_rate"] = end.learning_rate;
  figures["loss"] = end.sums.mean_loss();
  log_->add(end.epoch, figures);
  logged_ = {{"epoch", end.epoch}};
  logged_.update(figures);
}

void EpochLoop::tell_epoch() const {
  if (files_.on_epoch && options_.group->is_main()) files_.on_epoch(logged_);
}

std::string EpochLoop::describe() const {
  std::string text = fmt::format("epoch {}/{}", place_.epoch + 1, options_.schedule.epochs);
  if (sums_.count > 0) text += "  " + trainer_.describe(sums_);
  if (best_accuracy_) text += fmt::format("  best val {:.2f} %", *best_accuracy_);
  return text;
}

std::unique_ptr<torch::optim::SGD> make_optimizer(const std::vector<at::Tensor>& parameters,
                                                  const SgdOptions& options) {
  return std::make_unique<torch::optim::SGD>(
      parameters,
      torch::optim::SGDOptions(0).momentum(options.momentum).weight_decay(options.weight_decay).nesterov(true));
}

}  // namespace protocom
