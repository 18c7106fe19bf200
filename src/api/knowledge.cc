#include "protocom/knowledge.h"

#include "api/detail/boundary.h"
#include "api/detail/parts.h"
#include "base/error.h"
#include "base/matrix.h"
#include "knowledge/build.h"

namespace protocom::v0 {
namespace {

protocom::Knowledge knowledge_of(const std::vector<std::string>& classes, const std::vector<std::string>& attributes,
                                 const Rows& association) {
  const auto c = static_cast<int64_t>(classes.size()), a = static_cast<int64_t>(attributes.size());
  if (association.rows() != c || association.dim() != a)
    fail("association: expected [{}, {}], a row per class and a number per attribute, found [{}, {}]", c, a,
         association.rows(), association.dim());
  AttributeTable table;
  table.classes = classes;
  table.attributes = attributes;
  table.association = array_of(association, "the association").copy();
  const auto weights = protocom::matrix_of<float>(table.association).array();
  if (!(weights >= 0 && weights <= 1).all())
    fail("association: expected numbers in [0, 1] (how much a class has an attribute)");
  table.source = {{"kind", "library"}};
  return build_knowledge(table, {});
}

}  // namespace

Knowledge::Knowledge(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Knowledge::Knowledge(const std::vector<std::string>& classes, const std::vector<std::string>& attributes,
                     const Rows& association)
    : impl_(guarded([&] {
        const Collected collected;
        auto made = std::make_shared<const protocom::Knowledge>(knowledge_of(classes, attributes, association));
        return std::make_shared<const Impl>(Impl{std::move(made), collected.warnings()});
      })) {}

Knowledge Knowledge::read(const std::string& path) {
  return guarded([&] {
    const Collected collected;
    auto read = std::make_shared<const protocom::Knowledge>(read_knowledge(path));
    return Knowledge(std::make_shared<const Impl>(Impl{std::move(read), collected.warnings()}));
  });
}

void Knowledge::save(const std::string& path) const {
  guarded([&] {
    Provenance provenance;
    provenance.command = "knowledge";
    write_knowledge(path, *impl_->knowledge, provenance, impl_->knowledge->details);
  });
}

const std::vector<std::string>& Knowledge::classes() const { return impl_->knowledge->classes; }
const std::vector<std::string>& Knowledge::attributes() const { return impl_->knowledge->attributes; }
Matrix Knowledge::association() const {
  return guarded([&] { return matrix_of(impl_->knowledge->association); });
}
const Warnings& Knowledge::warnings() const { return impl_->warnings; }

CompletionModel::CompletionModel(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

CompletionModel CompletionModel::read(const std::string& path) {
  return guarded([&] {
    auto model = std::make_shared<const protocom::CompletionModel>(read_completion_model(path));
    return CompletionModel(std::make_shared<const Impl>(Impl{std::move(model)}));
  });
}

}  // namespace protocom::v0
