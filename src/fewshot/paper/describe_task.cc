#include "fewshot/paper/describe_task.h"

#include "base/error.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/paper/completion_model.h"

namespace protocom {

void describe_task(TaskInputs& inputs) {
  if (!inputs.model) return;
  if (!inputs.knowledge) fail_usage("a completion model needs knowledge of the classes");
  inputs.described = std::make_shared<KnowledgeTable>(
      align_knowledge(*inputs.knowledge, inputs.class_names, inputs.model->attributes));
}

}  // namespace protocom
