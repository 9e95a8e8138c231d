import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as ajvFormats from 'ajv-formats';
import { isPlain } from './plain-schema.ts';

/** `getDraft` checks the schemas. */
const options = { strict: false, allErrors: false, validateFormats: true, validateSchema: false } as const;
const addFormats = ajvFormats.default as unknown as (ajv: Ajv | Ajv2020) => void;

type JsonSchema = Readonly<Record<string, unknown>>;

export type SchemaCheck = (value: unknown) => { readonly value: unknown } | { readonly problem: string };

/** Returns a check for a schema of draft 7, 2019-09 or 2020-12. Throws if it is not a valid schema. */
export function compileJsonSchema(jsonSchema: JsonSchema): SchemaCheck {
  const { schema, newer } = withDraft(jsonSchema);
  let check: SchemaCheck | undefined;
  // A plainly valid schema is compiled when its first value is checked.
  if (!isPlain(schema)) {
    validateJsonSchema(jsonSchema);
    check = compiled(schema, newer);
  }
  return (value) => {
    check ??= compiled(schema, newer);
    return check(value);
  };
}

/** Throws if it is not a valid schema. Neither compiles it nor runs its patterns. */
export function validateJsonSchema(jsonSchema: JsonSchema): void {
  const { schema, newer } = withDraft(jsonSchema);
  if (!isPlain(schema)) getDraft(newer).validateSchema(schema, true);
}

/** Chooses the draft. Ajv would look up the draft's own schema by the name in `$schema`. */
function withDraft({ $schema, ...schema }: JsonSchema): { readonly schema: JsonSchema; readonly newer: boolean } {
  return { schema, newer: /2019-09|2020-12/.test(String($schema ?? '')) };
}

function compiled(schema: JsonSchema, newer: boolean): SchemaCheck {
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
function getDraft(newer: boolean): Ajv | Ajv2020 {
  let draft = drafts.get(newer);
  if (draft === undefined) {
    draft = newer ? new Ajv2020({ strict: false }) : new Ajv({ strict: false });
    // Compares each value of an `enum` with each other one: 12 500 numbers of a caller take 1.2 s.
    draft.removeKeyword('uniqueItems');
    drafts.set(newer, draft);
  }
  return draft;
}
