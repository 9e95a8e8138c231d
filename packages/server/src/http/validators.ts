import { hash } from 'node:crypto';
import { Ajv, type CodeOptions, type ValidateFunction } from 'ajv';
import { precompiled } from './precompiled-validators.ts';
import { stringFormats } from './string-formats.ts';

/** The part of a request that a schema describes, as Fastify names it. */
export interface RequestPart {
  readonly schema: object;
  readonly method: string;
  readonly url: string;
  readonly httpPart?: string | undefined;
}

/** The name of a validator in the table that the build makes. */
export const partName = ({ method, url, httpPart }: Omit<RequestPart, 'schema'>): string =>
  `${method} ${url} ${httpPart}`;

/** Tells whether schemas are those of the build. */
export const schemasDigest = (namedSchemas: Readonly<Record<string, object>>): string =>
  hash('sha256', JSON.stringify(Object.entries(namedSchemas).sort(([a], [b]) => (a < b ? -1 : 1))));

/**
 * Bodies are checked as they are: without coercion, removal or defaults. Parameters and queries are text, so numbers are
 * read from the text.
 */
export function ajvFor(
  httpPart: string | undefined,
  namedSchemas: Readonly<Record<string, object>>,
  code: CodeOptions = {},
): Ajv {
  const ajv = new Ajv({
    coerceTypes: httpPart !== 'body',
    removeAdditional: false,
    useDefaults: false,
    discriminator: true,
    strict: false,
    allErrors: false,
    // The schemas are our own, and a test checks them. Checking them at each start took 0.5 s of CPU.
    meta: false,
    validateSchema: false,
    formats: stringFormats,
    code,
  });
  for (const [id, schema] of Object.entries(namedSchemas)) ajv.addSchema(schema, id);
  return ajv;
}

/** Makes Fastify's validators: from the build's table if it has one for these schemas, otherwise at the first use. */
export function buildValidator(externalSchemas: unknown) {
  const namedSchemas = externalSchemas as Readonly<Record<string, object>>;
  const table = precompiled?.fits(namedSchemas) === true ? precompiled.validators : {};
  const made = new Map<boolean, Ajv>();
  const compile = ({ schema, httpPart }: RequestPart): ValidateFunction => {
    const isBody = httpPart === 'body';
    const ajv = made.get(isBody) ?? ajvFor(httpPart, namedSchemas);
    made.set(isBody, ajv);
    return ajv.compile(schema);
  };
  return (part: RequestPart) => table[partName(part)] ?? compiledAtFirstUse(() => compile(part));
}

interface Validator {
  (value: unknown): boolean;
  /** Fastify reads them immediately after a call. */
  errors?: ValidateFunction['errors'];
}

/** Compiling the schemas of all routes took a third of a start. The first request of a route takes 5 ms longer instead. */
function compiledAtFirstUse(compile: () => ValidateFunction): Validator {
  let compiled: ValidateFunction | undefined;
  const validator: Validator = (value) => {
    compiled ??= compile();
    const isValid = compiled(value);
    validator.errors = compiled.errors;
    return isValid;
  };
  return validator;
}
