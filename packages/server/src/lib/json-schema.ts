import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as ajvFormats from 'ajv-formats';
import { isPlain } from './plain-schema.ts';

/** `draftOf` checks the schemas. */
const options = { strict: false, allErrors: false, validateFormats: true, validateSchema: false } as const;
const addFormats = ajvFormats.default as unknown as (ajv: Ajv | Ajv2020) => void;

export type SchemaCheck = (value: unknown) => { readonly value: unknown } | { readonly problem: string };

/** Returns a check for a schema of draft 7, 2019-09 or 2020-12. Throws if it is not a valid schema. */
export function compileJsonSchema(jsonSchema: Readonly<Record<string, unknown>>): SchemaCheck {
  // The draft is chosen here. Ajv would look up the draft's own schema by this name.
  const { $schema, ...schema } = jsonSchema;
  const newer = /2019-09|2020-12/.test(String($schema ?? ''));
  let check: SchemaCheck | undefined;
  // A plainly valid schema is compiled when its first value is checked.
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
 * Validates schemas. There is one per draft, because compiling the draft's own schema takes 50 ms of CPU. It keeps
 * nothing of the validated schemas, whose names may be equal.
 */
function draftOf(newer: boolean): Ajv | Ajv2020 {
  let draft = drafts.get(newer);
  if (draft === undefined) {
    draft = newer ? new Ajv2020({ strict: false }) : new Ajv({ strict: false });
    drafts.set(newer, draft);
  }
  return draft;
}
