// What the server sends (assets/server/openapi.json) and what the modules hand to one another. Only the optional check of
// types reads this file; browsers never see it. Its types are known in every module.

interface Change { id: number; what: string; time?: number }

interface ClassEntry {
  class: string;
  title: string;
  images: number;
  time: number;
  embedding_source: string;
  attributes: { name: string; weight: number }[];
}

interface Example { example: number; source: string; time: number; confirmed: boolean }

/** An unlabelled photo. */
interface Unsorted { photo: number; source: string; time: number }

/** One that is worth naming next. */
interface Suggested { photo: number; source: string; class: string; probability: number; runner_up: string }

/** Which parts of a photo made its answer: patches, rows top to bottom, of an area in shares of the photo. */
interface Explained { class: string; effects: number[][]; area: number[] }

/** A part of a photo, in shares of its width and height. */
interface Box { x: number; y: number; width: number; height: number }

interface Calibration {
  false_accept: number;
  accepted: number;
  accuracy: number;
  images: number;
  unknown: number;
  balanced?: boolean;
  similar?: boolean;
  exchange?: { false_accept: number; accepted: number }[];
}

interface RecognizerInfo {
  name: string;
  recognizers: { name: string; path: string }[];
  attributes: string[];
  words: Record<string, string>;
  takes_words: boolean;
  searches_words: boolean;
  takes_unlabelled: boolean;
  unlabelled: number;
  shorter_side: number;
  calibration: Calibration | null;
}

interface Answer {
  error?: string;
  ranking: { class: string; probability: number }[];
  none: number | null;
  none_of_these: boolean | null;
  attributes: { words: string; effect: number }[];
  nearest: { example: number; class: string; source: string; similarity: number }[];
  nearest_note: string;
  feature?: number[];
}

/** A photo of a test. */
interface Tested {
  image: string;
  class: string;
  known: boolean;
  answer: string;
  certainty: number;
  none_of_these: boolean | null;
  right: boolean;
}

interface Accuracy {
  classes: number;
  images: number;
  moments: number;
  /** classes whose photos are nearly the same, if most are */
  nearly_same: number;
  asked: number;
  accuracy: number | null;
  expected: number | null;
  low: number | null;
  high: number | null;
  without_unlabelled: number | null;
  gain: number | null;
  by_class: { class: string; asked: number; right: number }[];
  mistakes: { example: number; class: string; taken_for: string }[];
  twins: { example: number; class: string; twin: number; twin_class: string; similarity: number }[];
}

/** What is said of a class beside its photos: attributes separated by commas, a description a line. */
interface Said { attributes?: string; descriptions?: string }

/** What a person has said of a photo: a class it was enrolled in, or that it is of none. */
interface Verdict {
  class: string | null;
  changes: number[];
  example?: number;
}

/** A photo that was asked about. */
interface Photo {
  id: number;
  file: File;
  name: string;
  print: string;
  blob: Blob;
  answer: Answer | null;
  feature: number[] | null;
  error: string;
  verdict: Verdict | null;
  selected: boolean;
}

/** A file and the folders it lies in. */
interface Found { path: string[]; file: File }

/** Photos by class: to learn from, and to test with. */
interface Parts { learn: Map<string, File[]>; test: Map<string, File[]> }
