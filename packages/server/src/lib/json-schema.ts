import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as ajvFormats from 'ajv-formats';

const options = { strict: false, allErrors: false, validateFormats: true } as const;
const addFormats = ajvFormats.default as unknown as (ajv: Ajv | Ajv2020) => void;

export type SchemaCheck = (value: unknown) => { readonly value: unknown } | { readonly problem: string };

/** Holds values against a schema of draft 7, 2019-09 or 2020-12. Throws where it is none. */
export function compileJsonSchema(jsonSchema: Readonly<Record<string, unknown>>): SchemaCheck {
  // Which draft it is is decided here; Ajv would look for the draft's own schema by this name.
  const { $schema, ...schema } = jsonSchema;
  const newer = /2019-09|2020-12/.test(String($schema ?? ''));
  const ajv = newer ? new Ajv2020(options) : new Ajv(options);
  addFormats(ajv);
  const validate = ajv.compile(schema);
  return (value) => {
    if (validate(value)) return { value };
    return { problem: ajv.errorsText(validate.errors, { dataVar: 'input' }) };
  };
}
