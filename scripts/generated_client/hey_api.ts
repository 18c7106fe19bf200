import * as sdk from "./sdk";
import { client } from "./sdk/client.gen";
import { formDataBodySerializer } from "./sdk/client";
import { refusal, run, type Calls } from "./trial";

const [url, ...images] = process.argv.slice(2);
client.setConfig({ baseUrl: url });

/** This generator has one type of body an operation, here JSON: others are given past its types. */
const as_bytes = (image: Blob) => ({ body: image as never, bodySerializer: null, headers: { "Content-Type": "image/jpeg" } });
const as_form = (fields: Record<string, unknown>) => ({
  ...formDataBodySerializer,
  body: fields as never,
  headers: { "Content-Type": null },
});

async function data<T>(response: Promise<{ data?: T; error?: unknown }>): Promise<T> {
  const { data, error } = await response;
  if (data === undefined) throw refusal(error);
  return data;
}

const path = (name: string) => ({ path: { class: name } });

const calls: Calls = {
  recognizer: () => data(sdk.showRecognizer()),
  classes: async () => (await data(sdk.listClasses())).classes,
  examples: async (name) => (await data(sdk.showClass(path(name)))).examples,
  enrolForm: (name, files) => data(sdk.enrol({ ...path(name), ...as_form({ image: files }) })),
  enrolBytes: (name, image) => data(sdk.enrol({ ...path(name), ...as_bytes(image) })),
  enrolFeatures: (name, features) => data(sdk.enrol({ ...path(name), body: { features } })),
  classifyBytes: async (image) => (await data(sdk.classify(as_bytes(image)))).answers,
  classifyForm: async (files) => (await data(sdk.classify(as_form({ image: files })))).answers,
  classifyFeatures: async (features) => (await data(sdk.classify({ body: { features } }))).answers,
  thumbnail: async (example) => (await data(sdk.showThumbnail({ path: { example } }))) as Blob,
  rename: (name, to) => data(sdk.changeClass({ ...path(name), body: { name: to } })),
  describe: (name, attribute) => data(sdk.changeClass({ ...path(name), body: { attributes: [{ name: attribute }] } })),
  removeExample: async (example) => (await data(sdk.removeExample({ path: { example } }))).change,
  removeClass: async (name) => (await data(sdk.removeClass(path(name)))).change,
  calibrate: (false_accept) => data(sdk.calibrate({ body: { false_accept } })),
  calibrateForm: (files, false_accept) => data(sdk.calibrate(as_form({ image: files, false_accept }))),
  undo: async () => (await data(sdk.undo())).undone,
  metrics: async () => (await data(sdk.metrics())) as string,
};

await run("@hey-api/openapi-ts", calls, images);
