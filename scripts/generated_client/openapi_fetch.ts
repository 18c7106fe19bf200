import createClient from "openapi-fetch";
import { refusal, run, type Calls } from "./trial";
import type { components, paths } from "./types";

const [url, ...images] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: url });

/** Types of this generator have a string where bytes are meant. */
const bytes = (image: Blob) => image as unknown as string;
const as_bytes = { bodySerializer: (body: unknown) => body as Blob, headers: { "Content-Type": "image/jpeg" } };
const as_form = {
  bodySerializer(fields: unknown) {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields as Record<string, unknown>))
      for (const one of [value].flat()) if (one !== undefined) form.append(name, one as string);
    return form;
  },
};

async function data<T>(response: Promise<{ data?: T; error?: unknown }>): Promise<T> {
  const { data, error } = await response;
  if (data === undefined) throw refusal(error);
  return data;
}

const path = (name: string) => ({ path: { class: name } });
const answers = async (response: Promise<{ data?: { answers: components["schemas"]["Answer"][] }; error?: unknown }>) =>
  (await data(response)).answers;

const calls: Calls = {
  recognizer: () => data(client.GET("/v1/recognizer")),
  classes: async () => (await data(client.GET("/v1/classes"))).classes,
  examples: async (name) => (await data(client.GET("/v1/classes/{class}", { params: path(name) }))).examples,
  enrolForm: (name, files) =>
    data(client.POST("/v1/classes/{class}/examples", { params: path(name), body: { image: files.map(bytes) }, ...as_form })),
  enrolBytes: (name, image) =>
    data(client.POST("/v1/classes/{class}/examples", { params: path(name), body: bytes(image), ...as_bytes })),
  enrolFeatures: (name, features) =>
    data(client.POST("/v1/classes/{class}/examples", { params: path(name), body: { features } })),
  classifyBytes: (image) => answers(client.POST("/v1/classify", { body: bytes(image), ...as_bytes })),
  classifyForm: (files) => answers(client.POST("/v1/classify", { body: { image: files.map(bytes) }, ...as_form })),
  classifyFeatures: (features) => answers(client.POST("/v1/classify", { body: { features } })),
  thumbnail: (example) =>
    data(client.GET("/v1/examples/{example}/thumbnail", { params: { path: { example } }, parseAs: "blob" })),
  rename: (name, to) => data(client.PATCH("/v1/classes/{class}", { params: path(name), body: { name: to } })),
  describe: (name, attribute) =>
    data(client.PATCH("/v1/classes/{class}", { params: path(name), body: { attributes: [{ name: attribute }] } })),
  removeExample: async (example) =>
    (await data(client.DELETE("/v1/examples/{example}", { params: { path: { example } } }))).change,
  removeClass: async (name) => (await data(client.DELETE("/v1/classes/{class}", { params: path(name) }))).change,
  calibrate: (false_accept) => data(client.POST("/v1/calibrate", { body: { false_accept } })),
  calibrateForm: (files, false_accept) =>
    data(client.POST("/v1/calibrate", { body: { image: files.map(bytes), false_accept }, ...as_form })),
  undo: async () => (await data(client.POST("/v1/undo"))).undone,
  metrics: () => data(client.GET("/metrics", { parseAs: "text" })),
};

await run("openapi-fetch", calls, images);
