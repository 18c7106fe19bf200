import { Validator } from "@seriousme/openapi-schema-validator";

const document = await (await fetch(`${process.argv[2]}/openapi.json`)).json();
const validator = new Validator();
const result = await validator.validate(document);
if (!result.valid) throw new Error(JSON.stringify(result.errors, null, 1));
console.log(`valid as OpenAPI ${validator.version}`);
