#include "datasets/contact_sheet.h"

#include <stb_easy_font.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/rng.h"
#include "images/codec.h"

namespace protocom {
namespace {

constexpr int64_t kGap = 4;
constexpr int64_t kTextScale = 2;
constexpr int64_t kTextHeight = 12 * kTextScale;
constexpr uint8_t kInk = 40;
constexpr uint8_t kBoxGrey = 200;

void set_pixel(Image& image, int64_t y, int64_t x, uint8_t value) {
  if (x >= 0 && y >= 0 && x < image.width && y < image.height)
    std::fill_n(image.rgb.begin() + 3 * (y * image.width + x), 3, value);
}

/// The vertex type of stb_easy_font: four of them are an upright rectangle.
struct Vertex {
  float x, y, z;
  unsigned char colour[4];
};

/// Returns ASCII text, shortened to fit into `width` pixels.
std::string fit_text(std::string text, int64_t width) {
  for (char& c : text) {
    if (c < 32 || c > 126) c = '?';
  }
  const auto fits = [&](std::string candidate) { return stb_easy_font_width(candidate.data()) * kTextScale <= width; };
  if (fits(text)) return text;
  while (!text.empty() && !fits(text + "...")) text.pop_back();
  return text + "...";
}

void draw_text(Image& image, int64_t top, int64_t left, std::string text) {
  text = fit_text(std::move(text), image.width - left);
  std::vector<Vertex> corners(text.size() * 32 + 4);
  const int quads = stb_easy_font_print(0, 0, text.data(), nullptr, corners.data(),
                                        static_cast<int>(corners.size() * sizeof(Vertex)));
  for (int q = 0; q < quads; ++q) {
    const Vertex* quad = corners.data() + 4 * static_cast<ptrdiff_t>(q);
    const Vertex& first = quad[0];
    const Vertex& last = quad[2];
    for (int64_t y = static_cast<int64_t>(first.y) * kTextScale; y < static_cast<int64_t>(last.y) * kTextScale; ++y) {
      for (int64_t x = static_cast<int64_t>(first.x) * kTextScale; x < static_cast<int64_t>(last.x) * kTextScale; ++x) {
        set_pixel(image, top + y, left + x, kInk);
      }
    }
  }
}

void draw_crossed_box(Image& image, int64_t top, int64_t left, int64_t size) {
  for (int64_t i = 0; i < size; ++i) {
    for (const auto& [y, x] : {std::pair{i, i}, std::pair{i, size - 1 - i}, std::pair{int64_t{0}, i},
                               std::pair{size - 1, i}, std::pair{i, int64_t{0}}, std::pair{i, size - 1}}) {
      set_pixel(image, top + y, left + x, kBoxGrey);
    }
  }
}

void draw_tile(Image& sheet, int64_t top, int64_t left, int64_t size, const Image& image) {
  if (image.rgb.empty()) return draw_crossed_box(sheet, top, left, size);
  paste(resize_and_crop(image, {size}), top, left, sheet);
}

int64_t text_height(const SheetRow& row) { return row.label.empty() ? 0 : kTextHeight; }

/// Chooses about options.classes class indices: each split in proportion and at least once, base first.
std::vector<int64_t> choose_classes(const std::vector<Split>& class_split, const SheetOptions& options, Rng& rng) {
  std::vector<int64_t> chosen;
  for (const Split split : kAllSplits) {
    std::vector<int64_t> members;
    for (size_t c = 0; c < class_split.size(); ++c) {
      if (class_split[c] == split) members.push_back(static_cast<int64_t>(c));
    }
    const auto available = static_cast<int64_t>(members.size());
    const auto total = static_cast<int64_t>(class_split.size());
    const int64_t share = std::max<int64_t>(1, (2 * options.classes * available + total) / (2 * total));
    std::vector<int64_t> picks = rng.sample(available, std::min(share, available));
    std::sort(picks.begin(), picks.end());
    for (const int64_t pick : picks) chosen.push_back(members[static_cast<size_t>(pick)]);
  }
  return chosen;
}

/// Whether the title is redundant: "001.Black_footed_Albatross" needs no "Black footed Albatross" beside it.
bool name_contains_title(std::string name, const std::string& title) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name.find(title) != std::string::npos;
}

/// Draws a sheet. `load(i)` returns the image of row i of `labels`; `title` the display name.
template <typename Load, typename Title>
Image draw_sheet(const std::vector<int64_t>& labels, const std::vector<Split>& class_split, const SheetOptions& options,
                 Load&& load, Title&& title) {
  Rng rng(options.seed);
  std::vector<SheetRow> rows;
  for (const int64_t label : choose_classes(class_split, options, rng)) {
    std::vector<int64_t> members;
    for (size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] == label) members.push_back(static_cast<int64_t>(i));
    }
    const auto available = static_cast<int64_t>(members.size());
    SheetRow row{
        fmt::format("{}, {} images: {}", to_string(class_split[static_cast<size_t>(label)]), available, title(label)),
        {}};
    for (const int64_t pick : rng.sample(available, std::min(options.images_per_class, available))) {
      row.images.push_back(load(members[static_cast<size_t>(pick)]));
    }
    rows.push_back(std::move(row));
  }
  return draw_contact_sheet(rows, options.tile);
}

void check_options(const SheetOptions& options) {
  if (options.classes < 1 || options.images_per_class < 1) {
    fail_usage("a contact sheet needs at least one class and one image per class, found {} and {}", options.classes,
               options.images_per_class);
  }
}

}  // namespace

void paste(const Image& picture, int64_t top, int64_t left, Image& sheet) {
  for (int64_t y = 0; y < picture.height; ++y) {
    std::copy_n(picture.rgb.begin() + 3 * y * picture.width, 3 * picture.width,
                sheet.rgb.begin() + 3 * ((top + y) * sheet.width + left));
  }
}

Image draw_contact_sheet(const std::vector<SheetRow>& rows, int64_t tile) {
  if (tile < 8 || tile > 1024) fail_usage("tile size out of range: expected 8 to 1024 pixels, found {}", tile);
  int64_t columns = 0;
  int64_t height = kGap;
  for (const SheetRow& row : rows) {
    columns = std::max(columns, static_cast<int64_t>(row.images.size()));
    height += text_height(row) + tile + kGap;
  }
  if (columns == 0) fail_usage("a contact sheet needs at least one image");
  Image sheet = codec::blank_image(height, kGap + columns * (tile + kGap));
  std::fill(sheet.rgb.begin(), sheet.rgb.end(), 255);
  int64_t top = kGap;
  for (const SheetRow& row : rows) {
    draw_text(sheet, top + kGap, kGap, row.label);
    top += text_height(row);
    for (size_t i = 0; i < row.images.size(); ++i) {
      draw_tile(sheet, top, kGap + static_cast<int64_t>(i) * (tile + kGap), tile, row.images[i]);
    }
    top += tile + kGap;
  }
  return sheet;
}

Image make_contact_sheet(const ImageDataset& dataset, const SheetOptions& options) {
  check_options(options);
  std::vector<int64_t> labels;
  for (const ImageItem& item : dataset.items) labels.push_back(item.label);
  const auto load = [&](int64_t i) {
    try {
      return read_square_image(dataset.items[static_cast<size_t>(i)].path, {options.tile});
    } catch (const Error&) {
      return Image{};
    }
  };
  const auto title = [&](int64_t label) {
    const std::string& name = dataset.class_names[static_cast<size_t>(label)];
    const auto words = dataset.class_title.find(name);
    if (words == dataset.class_title.end() || name_contains_title(name, words->second)) return name;
    return name + " (" + words->second + ")";
  };
  return draw_sheet(labels, dataset.class_split, options, load, title);
}

Image make_contact_sheet(const PackedImages& images, const SheetOptions& options) {
  check_options(options);
  const auto load = [&](int64_t i) { return images.image(i); };
  const auto title = [&](int64_t label) { return images.class_names[static_cast<size_t>(label)]; };
  return draw_sheet(images.labels, images.class_split, options, load, title);
}

}  // namespace protocom
