/* The C header, compiled as C99: argv[1] is a folder with encoder.npz, red.png, blue.png and asked.png, a red one. */
#include <math.h>
#include <protocom/protocom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                                              \
  do {                                                                                                 \
    if (!(condition)) {                                                                                \
      fprintf(stderr, "%s:%d: %s does not hold; protocom_error: %s\n", __FILE__, __LINE__, #condition, \
              protocom_error());                                                                       \
      exit(1);                                                                                         \
    }                                                                                                  \
  } while (0)

static char path[4096];
static const char* folder;

static const char* in_folder(const char* name) {
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static protocom_image file_image(const char* name) {
  static char paths[8][4096];
  static int next = 0;
  protocom_image image = {0};
  char* own = paths[next++ % 8];
  snprintf(own, sizeof paths[0], "%s/%s", folder, name);
  image.path = own;
  return image;
}

static void create(void) {
  char encoder[4096];
  protocom_parts parts = {0};
  snprintf(encoder, sizeof encoder, "%s", in_folder("encoder.npz"));
  parts.backbone = encoder;
  EXPECT(protocom_create(in_folder("birds.pcm"), &parts) == PROTOCOM_OK);
  EXPECT(protocom_create(path, &parts) == PROTOCOM_ERROR); /* it is there */
  EXPECT(strstr(protocom_error(), "birds.pcm") != NULL);
}

static void enrol(protocom_recognizer* birds) {
  protocom_image red = file_image("red.png"), blue = file_image("blue.png");
  protocom_classes* classes;
  EXPECT(protocom_enrol(birds, "cardinal", &red, 1) == PROTOCOM_OK);
  EXPECT(protocom_enrol(birds, "bluebird", &blue, 1) == PROTOCOM_OK);
  classes = protocom_list_classes(birds);
  EXPECT(classes != NULL && protocom_classes_count(classes) == 2);
  EXPECT(strcmp(protocom_class_name(classes, 1), "bluebird") == 0);
  EXPECT(protocom_class_images(classes, 1) == 1);
  EXPECT(strcmp(protocom_class_name(classes, 2), "") == 0);
  protocom_classes_free(classes);
}

static unsigned char* bytes_of(const char* name, size_t* size) {
  unsigned char* bytes = malloc(1 << 20);
  FILE* file = fopen(in_folder(name), "rb");
  EXPECT(file != NULL && bytes != NULL);
  *size = fread(bytes, 1, 1 << 20, file);
  fclose(file);
  return bytes;
}

static void classify(protocom_recognizer* birds) {
  protocom_image images[3];
  protocom_answers* answers;
  unsigned char rgb[16 * 16 * 3];
  size_t i;
  unsigned char* encoded;
  memset(images, 0, sizeof images);
  images[0] = file_image("asked.png");
  encoded = bytes_of("asked.png", &images[1].encoded_size);
  images[1].encoded = encoded;
  for (i = 0; i < sizeof rgb; ++i) rgb[i] = i % 3 == 2 ? 210 : 10;
  images[2].rgb = rgb;
  images[2].height = images[2].width = 16;
  answers = protocom_classify(birds, images, 3);
  EXPECT(answers != NULL && protocom_answers_count(answers) == 3);
  EXPECT(strcmp(protocom_answer_name(answers, 0), "cardinal") == 0);
  EXPECT(strcmp(protocom_answer_name(answers, 1), "cardinal") == 0);
  EXPECT(strcmp(protocom_answer_name(answers, 2), "bluebird") == 0);
  EXPECT(strcmp(protocom_answer_name(answers, 3), "") == 0);
  EXPECT(protocom_answer_ranked(answers, 0) == 2);
  EXPECT(protocom_answer_probability(answers, 0, 0) >= protocom_answer_probability(answers, 0, 1));
  EXPECT(protocom_answer_number(answers, 0, "familiarity") == protocom_answer_number(answers, 1, "familiarity"));
  EXPECT(isnan(protocom_answer_number(answers, 0, "none")) && isnan(protocom_answer_number(answers, 0, "weight")));
  EXPECT(isnan(protocom_answer_number(answers, 9, "familiarity")) && isnan(protocom_answer_number(answers, 0, NULL)));
  EXPECT(protocom_answer_none_of_these(answers, 0) == -1);
  protocom_answers_free(answers);
  free(encoded);
}

static void features(protocom_recognizer* birds) {
  int64_t dim = protocom_dim(birds), i;
  float* row = calloc((size_t)dim, sizeof *row);
  protocom_answers* answers;
  EXPECT(row != NULL);
  for (i = 0; i < dim; ++i) row[i] = (float)(i % 5);
  EXPECT(protocom_enrol_features(birds, "wren", row, 1, dim) == PROTOCOM_OK);
  answers = protocom_classify_features(birds, row, 1, dim);
  EXPECT(answers != NULL && strcmp(protocom_answer_class(answers, 0, 0), "wren") == 0);
  protocom_answers_free(answers);
  EXPECT(protocom_undo(birds) == PROTOCOM_OK);
  EXPECT(protocom_redo(birds) == PROTOCOM_OK);
  EXPECT(protocom_redo(birds) == PROTOCOM_ERROR && strstr(protocom_error(), "nothing to redo") != NULL);
  EXPECT(protocom_undo(birds) == PROTOCOM_OK);
  EXPECT(protocom_classify_features(birds, row, 1, dim - 1) == NULL);
  EXPECT(strstr(protocom_error(), "float32 [n, ") != NULL);
  free(row);
}

static void misuse(protocom_recognizer* birds) {
  protocom_image none;
  memset(&none, 0, sizeof none);
  EXPECT(protocom_open(NULL, NULL) == NULL && protocom_error_status() == PROTOCOM_USAGE);
  EXPECT(protocom_open("none.pcm", NULL) == NULL && protocom_error_status() == PROTOCOM_ERROR);
  EXPECT(strcmp(protocom_error(), "none.pcm: no such file") == 0);
  EXPECT(protocom_classify(birds, &none, 1) == NULL && strstr(protocom_error(), "exactly one") != NULL);
  EXPECT(protocom_classify(birds, NULL, 1) == NULL && strstr(protocom_error(), "null pointer") != NULL);
  EXPECT(protocom_classify(NULL, &none, 1) == NULL);
  EXPECT(protocom_enrol(birds, NULL, &none, 1) == PROTOCOM_USAGE);
  EXPECT(protocom_enrol(birds, "a", NULL, 1) == PROTOCOM_USAGE);
  EXPECT(protocom_undo(NULL) == PROTOCOM_USAGE);
  EXPECT(protocom_redo(NULL) == PROTOCOM_USAGE);
  EXPECT(protocom_answers_count(NULL) == 0 && protocom_classes_count(NULL) == 0 && protocom_dim(NULL) == 0);
  protocom_answers_free(NULL);
  protocom_classes_free(NULL);
  protocom_close(NULL);
}

int main(int argc, char** argv) {
  protocom_recognizer* birds;
  if (argc != 2) return 2;
  folder = argv[1];
  create();
  birds = protocom_open(in_folder("birds.pcm"), "");
  EXPECT(birds != NULL);
  enrol(birds);
  classify(birds);
  features(birds);
  misuse(birds);
  protocom_close(birds);
  printf("protocom %s speaks C\n", protocom_version());
  return 0;
}
