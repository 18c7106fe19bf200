/* The recognizer of protocom for C, and for languages that call C: opaque handles, plain numbers, error strings.
 *
 *     protocom_recognizer* birds = protocom_open("birds.pcm", NULL);
 *     protocom_image image = {0};
 *     image.path = "holiday.jpg";
 *     protocom_answers* answers = birds ? protocom_classify(birds, &image, 1) : NULL;
 *     if (answers) puts(protocom_answer_name(answers, 0)); else fputs(protocom_error(), stderr);
 *     protocom_answers_free(answers);
 *     protocom_close(birds);
 *
 * A function that fails returns NULL, or a status that is not PROTOCOM_OK, and protocom_error() returns the reason.
 * Strings are UTF-8; those that are returned belong to the handle they came from and live as long as it. Functions that
 * free take NULL. A recognizer may be used from several threads at once; answers and classes may be read from several.
 */
#ifndef PROTOCOM_PROTOCOM_H_
#define PROTOCOM_PROTOCOM_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PROTOCOM_C_API __attribute__((visibility("default")))
#else
#define PROTOCOM_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Status of functions that return no handle. */
#define PROTOCOM_OK 0
#define PROTOCOM_ERROR 1 /* a file, a format, an argument, memory */
#define PROTOCOM_USAGE 2 /* a request that cannot be right whatever the files hold */

typedef struct protocom_recognizer protocom_recognizer;
typedef struct protocom_answers protocom_answers;
typedef struct protocom_classes protocom_classes;

/* An image in one of three forms; the other members are zero. */
typedef struct protocom_image {
  const char* path;    /* a file */
  const void* encoded; /* the bytes of a file */
  size_t encoded_size;
  const uint8_t* rgb; /* [height, width, 3], rows from top to bottom */
  int64_t height;
  int64_t width;
  int64_t stride; /* bytes from a row to the next; 0: 3 width */
} protocom_image;

/* The files that a recognizer is made from. All may be NULL; without a backbone the default encoder is used. */
typedef struct protocom_parts {
  const char* backbone; /* a file, a folder, or the name of an encoder that is installed */
  const char* preprocessing;
  const char* fitted;
  const char* space;
  const char* model;
  const char* knowledge;
} protocom_parts;

/* "0.1.0", of the library that is loaded. */
PROTOCOM_C_API const char* protocom_version(void);
/* The error of the last failed call of this thread, one sentence; valid until the next one. Never NULL. */
PROTOCOM_C_API const char* protocom_error(void);
/* PROTOCOM_ERROR or PROTOCOM_USAGE of that call; PROTOCOM_OK before any. */
PROTOCOM_C_API int protocom_error_status(void);

/* Makes a recognizer without classes at `path`. */
PROTOCOM_C_API int protocom_create(const char* path, const protocom_parts* parts);
/* `method`: NULL or "" for the recognizer's own. */
PROTOCOM_C_API protocom_recognizer* protocom_open(const char* path, const char* method);
PROTOCOM_C_API void protocom_close(protocom_recognizer* recognizer);
/* Number of dimensions of a feature; 0 for NULL. */
PROTOCOM_C_API int64_t protocom_dim(const protocom_recognizer* recognizer);

/* Adds a class, or images to one: all or nothing. */
PROTOCOM_C_API int protocom_enrol(protocom_recognizer* recognizer, const char* class_name, const protocom_image* images,
                                  size_t count);
/* The same of features float32 [rows, dim], row after row. */
PROTOCOM_C_API int protocom_enrol_features(protocom_recognizer* recognizer, const char* class_name,
                                           const float* features, int64_t rows, int64_t dim);
/* Reverts the last change of the file. */
PROTOCOM_C_API int protocom_undo(protocom_recognizer* recognizer);
/* Repeats the change that the last undo reverted, until there is a new change. */
PROTOCOM_C_API int protocom_redo(protocom_recognizer* recognizer);

/* An answer for each image. */
PROTOCOM_C_API protocom_answers* protocom_classify(protocom_recognizer* recognizer, const protocom_image* images,
                                                   size_t count);
/* The same of features float32 [rows, dim]. */
PROTOCOM_C_API protocom_answers* protocom_classify_features(protocom_recognizer* recognizer, const float* features,
                                                            int64_t rows, int64_t dim);
/* 0 for NULL. */
PROTOCOM_C_API size_t protocom_answers_count(const protocom_answers* answers);
/* The most probable class of answer i; "" if the image is of none of the classes, or if there is no answer i. */
PROTOCOM_C_API const char* protocom_answer_name(const protocom_answers* answers, size_t i);
/* Classes that answer i ranks, most probable first. */
PROTOCOM_C_API size_t protocom_answer_ranked(const protocom_answers* answers, size_t i);
/* "" and 0 if there is no such answer or rank. */
PROTOCOM_C_API const char* protocom_answer_class(const protocom_answers* answers, size_t i, size_t rank);
PROTOCOM_C_API double protocom_answer_probability(const protocom_answers* answers, size_t i, size_t rank);
/* A number of answer i by its name in JSON: "familiarity" (how well the image fits any class), "none" (the probability
   of none of the classes), "none_of_these" (1 or 0). NaN if answer i or the number does not exist, or if the number
   needs a calibration. */
PROTOCOM_C_API double protocom_answer_number(const protocom_answers* answers, size_t i, const char* field);
/* 1: it is of none of the classes; 0: of one of them; -1: not known without a calibration. */
PROTOCOM_C_API int protocom_answer_none_of_these(const protocom_answers* answers, size_t i);
PROTOCOM_C_API void protocom_answers_free(protocom_answers* answers);

/* The current classes. */
PROTOCOM_C_API protocom_classes* protocom_list_classes(protocom_recognizer* recognizer);
/* 0 for NULL. */
PROTOCOM_C_API size_t protocom_classes_count(const protocom_classes* classes);
/* "" and 0 if there is no class i. */
PROTOCOM_C_API const char* protocom_class_name(const protocom_classes* classes, size_t i);
PROTOCOM_C_API int64_t protocom_class_images(const protocom_classes* classes, size_t i);
PROTOCOM_C_API void protocom_classes_free(protocom_classes* classes);

#ifdef __cplusplus
}
#endif

#endif
