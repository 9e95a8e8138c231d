import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as ajvFormats from 'ajv-formats';
import { isPlain } from './plain-schema.ts';

/** Schemas are checked by `draftOf`. */
const options = { strict: false, allErrors: false, validateFormats: true, validateSchema: false } as const;
const addFormats = ajvFormats.default as unknown as (ajv: Ajv | Ajv2020) => void;

export type SchemaCheck = (value: unknown) => { readonly value: unknown } | { readonly problem: string };

/** Holds values against a schema of draft 7, 2019-09 or 2020-12. Throws where it is none. */
export function compileJsonSchema(jsonSchema: Readonly<Record<string, unknown>>): SchemaCheck {
  // Which draft it is is decided here; Ajv would look for the draft's own schema by this name.
  const { $schema, ...schema } = jsonSchema;
  const newer = /2019-09|2020-12/.test(String($schema ?? ''));
  let check: SchemaCheck | undefined;
  // One that is plainly valid is compiled when a value first comes.
  if (!isPlain(schema)) {
    draftOf(newer).validateSchema(schema, true);
    check = compiled(schema, newer);
  }
  return (value) => {
    check ??= compiled(schema, newer);
    return check(value);
  };
}

function compiled(schema: Readonly<Record<string, unknown>>, newer: boolean): SchemaCheck {
  const ajv = newer ? new Ajv2020(options) : new Ajv(options);
  addFormats(ajv);
  const validate = ajv.compile(schema);
  return (value) => {
    if (validate(value)) return { value };
    return { problem: ajv.errorsText(validate.errors, { dataVar: 'input' }) };
  };
}

const drafts = new Map<boolean, Ajv | Ajv2020>();

/**
 * Knows what is valid JSON Schema. One for all: it compiles the draft's own schema, which takes 50 ms of processor, and
 * keeps nothing of those that it checks, whose names may be the same.
 */
function draftOf(newer: boolean): Ajv | Ajv2020 {
  let draft = drafts.get(newer);
  if (draft === undefined) {
    draft = newer ? new Ajv2020({ strict: false }) : new Ajv({ strict: false });
    drafts.set(newer, draft);
  }
  return draft;
}
