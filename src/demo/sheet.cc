#include "base/error.h"
#include "datasets/contact_sheet.h"
#include "demo/detail/paint.h"
#include "demo/synthetic.h"

namespace protocom {

using namespace synthetic;

namespace {

constexpr int64_t kMargin = 14;
constexpr int64_t kGap = 4;
constexpr int64_t kLabelHeight = 30;

struct Label {
  std::string title;
  std::string detail;
};

// Returns a strip of text as wide as the sheet.
Image text_strip(int64_t width, const Label& label) {
  const Surface surface = make_surface(kLabelHeight, width);
  const Context context = make_context(surface.get());
  cairo_t* cr = context.get();
  cairo_set_source_rgb(cr, 1, 1, 1);
  cairo_paint(cr);
  cairo_set_source_rgb(cr, 0.12, 0.12, 0.16);
  cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
  cairo_set_font_size(cr, 15);
  cairo_move_to(cr, 0, 21);
  cairo_show_text(cr, label.title.c_str());
  cairo_text_extents_t extents;
  cairo_text_extents(cr, label.title.c_str(), &extents);
  cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cr, 12.5);
  cairo_set_source_rgb(cr, 0.36, 0.37, 0.43);
  cairo_move_to(cr, extents.x_advance + 12, 21);
  cairo_show_text(cr, label.detail.c_str());
  return shrink(surface.get(), 1);
}

}  // namespace

Image synthetic_sheet(const SyntheticWorld& world, const SyntheticSheetOptions& options) {
  if (options.max_classes < 1 || options.images_per_class < 1 || options.cell_size < 16) {
    fail_usage("a sheet needs at least one class, one image and cells of 16 pixels");
  }
  std::vector<int64_t> rows;
  for (size_t i = 0; i < world.classes().size() && static_cast<int64_t>(rows.size()) < options.max_classes; ++i) {
    if (world.classes()[i].split == options.split) rows.push_back(static_cast<int64_t>(i));
  }
  if (rows.empty()) fail_usage("the world has no class of the split '{}' to show", to_string(options.split));
  const int64_t cell = options.cell_size;
  const int64_t row_height = kLabelHeight + cell + kGap;
  Image sheet;
  sheet.width = 2 * kMargin + (options.images_per_class + 1) * (cell + kGap) + 2 * kGap;
  sheet.height = 2 * kMargin + static_cast<int64_t>(rows.size()) * row_height;
  sheet.rgb.assign(static_cast<size_t>(sheet.height * sheet.width * 3), 255);
  SyntheticOptions drawn = world.options();
  drawn.image_size = cell;
  const SyntheticWorld large(drawn);
  for (size_t r = 0; r < rows.size(); ++r) {
    const SyntheticClass& synthetic_class = world.classes()[static_cast<size_t>(rows[r])];
    const int64_t top = kMargin + static_cast<int64_t>(r) * row_height;
    const std::string attributes = fmt::format("{}", fmt::join(synthetic_class.attributes, ", "));
    paste(text_strip(sheet.width - 2 * kMargin, {synthetic_class.name, attributes}), top, kMargin, sheet);
    paste(large.plate(rows[r], cell), top + kLabelHeight, kMargin, sheet);
    for (int64_t k = 0; k < options.images_per_class; ++k) {
      const int64_t left = kMargin + (k + 1) * (cell + kGap) + 2 * kGap;
      paste(large.draw(rows[r], k).image, top + kLabelHeight, left, sheet);
    }
  }
  return sheet;
}

}  // namespace protocom
