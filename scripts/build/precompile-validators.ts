import { operations } from '@runwire/contract/schemas';
import { _ } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { readConfig } from '../../packages/server/src/config/read-config.ts';
import { toSchema } from '../../packages/server/src/http/openapi.ts';
import { ajvFor, partName } from '../../packages/server/src/http/validators.ts';

const PARTS = ['body', 'querystring', 'params', 'headers'] as const;
const standaloneCode = standalone as unknown as typeof standalone.default;

/**
 * Returns the module that takes the place of `http/precompiled-validators.ts` in the bundle: the code of one validator for
 * each part of each operation, for the longest message by default.
 */
export function precompiledModule(): string {
  const { messageCharacters } = readConfig({}).config.limits;
  const parts = Object.values(operations).flatMap((operation) => {
    const schema = toSchema(operation) as Readonly<Record<string, object | undefined>>;
    return PARTS.flatMap((httpPart) => {
      const found = schema[httpPart];
      if (found === undefined) return [];
      return [{ name: partName({ method: operation.method, url: operation.path, httpPart }), httpPart, schema: found }];
    });
  });
  const bodies = parts.filter(({ httpPart }) => httpPart === 'body');
  const texts = parts.filter(({ httpPart }) => httpPart !== 'body');
  return `import { stringFormats as formats } from './string-formats.ts';
${moduleCode('bodies', bodies, messageCharacters)}
${moduleCode('texts', texts, messageCharacters)}
export const precompiled = {
  messageCharacters: ${messageCharacters},
  validators: { ...bodies, ...texts },
};
`;
}

interface Part {
  readonly name: string;
  readonly httpPart: string;
  readonly schema: object;
}

/** The code of these validators as an object that has them by name. */
function moduleCode(object: string, parts: readonly Part[], messageCharacters: number): string {
  const ajv = ajvFor(parts[0]?.httpPart, messageCharacters, { source: true, formats: _`formats` });
  const ids: Record<string, string> = {};
  for (const [index, { name, schema }] of parts.entries()) {
    // References are resolved against it: a name with a slash would move them.
    const id = `part${index}`;
    ajv.addSchema(schema, id);
    ids[name] = id;
  }
  return `const ${object} = {};\n((exports) => {${standaloneCode(ajv, ids)}})(${object});`;
}
