import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { components } from "./types";

type Schemas = components["schemas"];

/** What a client does; each call gives what the server said and throws what it refused. */
export interface Calls {
  recognizer(): Promise<Schemas["Recognizer"]>;
  classes(): Promise<Schemas["Class"][]>;
  examples(name: string): Promise<Schemas["Example"][]>;
  enrolForm(name: string, images: File[]): Promise<Schemas["Enrolled"]>;
  enrolBytes(name: string, image: Blob): Promise<Schemas["Enrolled"]>;
  enrolFeatures(name: string, features: number[][]): Promise<Schemas["Enrolled"]>;
  classifyBytes(image: Blob): Promise<Schemas["Answer"][]>;
  classifyForm(images: File[]): Promise<Schemas["Answer"][]>;
  classifyFeatures(features: number[][]): Promise<Schemas["Answer"][]>;
  thumbnail(example: number): Promise<Blob>;
  rename(name: string, to: string): Promise<Schemas["Class"]>;
  describe(name: string, attribute: string): Promise<Schemas["Class"]>;
  removeExample(example: number): Promise<Schemas["Change"]>;
  removeClass(name: string): Promise<Schemas["Change"]>;
  calibrate(falseAccept: number): Promise<Schemas["Calibration"]>;
  calibrateForm(images: File[], falseAccept: number): Promise<Schemas["Calibration"]>;
  undo(): Promise<Schemas["Change"]>;
  metrics(): Promise<string>;
}

/** An error as the document has it. */
export function refusal(error: unknown): Error {
  const said = error as Schemas["Error"];
  return Object.assign(new Error(said.error.message), { status: said.error.status });
}

export async function run(client: string, calls: Calls, paths: string[]) {
  const files = paths.map((path) => new File([readFileSync(path)], basename(path), { type: "image/jpeg" }));
  const name = "new class ä/1";  // needs escapes in a path
  const { feature_dim, attributes } = await calls.recognizer();
  const features = [0, 1].map((shift) => Array.from({ length: feature_dim }, (_, i) => ((i + shift) % 7) / 7));
  const before = (await calls.classes()).length;

  const enrolled = await calls.enrolForm(name, files.slice(1));
  assert.deepEqual([enrolled.class, enrolled.is_new, enrolled.added], [name, true, files.length - 1]);
  assert.equal((await calls.enrolBytes(name, files[0])).images, files.length);
  assert.equal((await calls.enrolFeatures(name, features)).added, 2);
  assert.equal((await calls.classes()).length, before + 1);
  const examples = await calls.examples(name);
  assert.equal(examples[0].source, files[1].name);
  assert.ok((await calls.thumbnail(examples[0].example)).size > 0);

  const [answer] = await calls.classifyBytes(files[0]);
  assert.ok(answer.ranking!.some((one) => one.class === name && one.probability > 0));
  const answers = await calls.classifyForm([...files, new File(["no image"], "bad.jpg")]);
  assert.deepEqual(answers.map((one) => one.image), [...files.map((one) => one.name), "bad.jpg"]);
  assert.ok(answers.at(-1)!.error);
  assert.equal((await calls.classifyFeatures(features))[0].ranking![0].class, name);

  await calls.calibrate(0.1);
  assert.equal((await calls.calibrateForm(files, 0.25)).false_accept, 0.25);
  assert.equal(typeof (await calls.classifyBytes(files[0]))[0].none_of_these, "boolean");
  assert.equal((await calls.undo())?.what, "calibrate");
  assert.ok(await calls.removeExample(examples[0].example));
  for (const attribute of attributes.slice(0, 1))
    assert.deepEqual((await calls.describe(name, attribute)).attributes, [{ name: attribute, weight: 1 }]);
  assert.equal((await calls.rename(name, "other")).class, "other");
  await assert.rejects(calls.examples(name), { status: 404 });
  assert.ok(await calls.removeClass("other"));
  assert.equal((await calls.classes()).length, before);
  assert.match(await calls.metrics(), /protocom_requests_total/);
  console.log(`${client}: all as the document says`);
}
