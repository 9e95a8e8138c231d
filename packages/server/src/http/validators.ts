import { Ajv, type CodeOptions, type ValidateFunction } from 'ajv';
import { schemasWithLimit } from './openapi.ts';
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

/**
 * Bodies are checked as they are: without coercion, removal or defaults. Parameters and queries are text, so numbers are
 * read from the text.
 */
export function ajvFor(httpPart: string | undefined, messageCharacters: number, code: CodeOptions = {}): Ajv {
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
  for (const schema of schemasWithLimit(messageCharacters)) ajv.addSchema(schema, schema.$id);
  return ajv;
}

const compiledByLimit = new Map<number, (part: RequestPart) => ValidateFunction>();

/** Compiles each part once for all servers of this process that have the same longest message. */
function compilerFor(messageCharacters: number): (part: RequestPart) => ValidateFunction {
  const known = compiledByLimit.get(messageCharacters);
  if (known !== undefined) return known;
  const [instances, compiled] = [new Map<boolean, Ajv>(), new Map<string, ValidateFunction>()];
  const compile = (part: RequestPart): ValidateFunction => {
    const name = partName(part);
    const isBody = part.httpPart === 'body';
    const ajv = instances.get(isBody) ?? ajvFor(part.httpPart, messageCharacters);
    instances.set(isBody, ajv);
    const validate = compiled.get(name) ?? ajv.compile(part.schema);
    compiled.set(name, validate);
    return validate;
  };
  compiledByLimit.set(messageCharacters, compile);
  return compile;
}

/** Makes Fastify's validators: from the build's table if it is for this limit, otherwise at the first use. */
export function validatorsFor(messageCharacters: number) {
  const table = precompiled?.messageCharacters === messageCharacters ? precompiled.validators : {};
  const compile = compilerFor(messageCharacters);
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
