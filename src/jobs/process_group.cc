#include "jobs/process_group.h"

#include "jobs/torch_functions.h"

namespace protocom {

PluginFunction<std::unique_ptr<Connection>(const Launch&, OnLoss)> torch_connect("a job of several processes");

ProcessGroup::ProcessGroup(const Launch& launch, OnLoss on_loss) : launch_(launch) {
  if (is_single()) return;
  connection_ = torch_connect(launch, std::move(on_loss));
  barrier();
}

ProcessGroup::~ProcessGroup() {
  // Its destructor would wait for the operation that was given up.
  if (broken()) static_cast<void>(connection_.release());
}

const ProcessGroup& ProcessGroup::single() {
  static const ProcessGroup kSingle{Launch()};
  return kSingle;
}

std::pair<int64_t, int64_t> ProcessGroup::share(int64_t count) const {
  const int64_t parts = launch_.size;
  return {count * launch_.rank / parts, count * (launch_.rank + 1) / parts};
}

Array ProcessGroup::gather_rows(const Array& rows) const { return is_single() ? rows : connection_->gather_rows(rows); }

std::string ProcessGroup::broadcast(const std::string& text) const {
  return is_single() ? text : connection_->broadcast(text);
}

void ProcessGroup::barrier() const {
  if (!is_single()) connection_->barrier();
}

void ProcessGroup::announce_failure(const std::string& reason) const {
  if (!is_single()) connection_->announce_failure(reason);
}

void ProcessGroup::leave() const {
  if (!is_single() && !broken()) connection_->leave();
}

bool ProcessGroup::broken() const { return connection_ && connection_->broken(); }

}  // namespace protocom
