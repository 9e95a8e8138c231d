import { readFile, writeFile } from 'node:fs/promises';
import { compile } from 'json-schema-to-typescript';
import { namedSchemas, type Operation, operations } from '../packages/contract/src/schemas/index.ts';
import { pythonFiles } from './python/resources.ts';

const command = 'npm exec -- node -C runwire scripts/build-contract-types.ts';
const banner = `// Made from packages/contract/src/schemas by \`${command}\`; do not edit.`;

type Json = { [key: string]: unknown };

function getShape(schema: object): string {
  const { $id: _id, nullable: _nullable, description: _description, ...shape } = schema as Json;
  return JSON.stringify(shape);
}

const nameByShape = new Map(namedSchemas.map((schema) => [getShape(schema), schema.$id]));
if (nameByShape.size !== namedSchemas.length) {
  throw new Error('Two named schemas are the same; give one of them up.');
}

function toType(name: string, schema: Json): Json {
  if (!namedSchemas.some((other) => other.$id === name)) throw new Error(`The reference to ${name} leads nowhere.`);
  const tsType = schema.nullable === true ? `${name} | null` : name;
  return schema.description === undefined ? { tsType } : { tsType, description: schema.description };
}

/**
 * A reference becomes the type's name. So does a nullable copy of a named schema, which stands for a reference
 * that Ajv would not take.
 */
function withNames(schema: Json): Json {
  const name = typeof schema.$ref === 'string' ? schema.$ref.replace(/#$/, '') : nameByShape.get(getShape(schema));
  return name === undefined ? withNamesInside(schema) : toType(name, schema);
}

function withNamesInside(schema: Json): Json {
  const result = { ...schema };
  if (isSchema(schema.properties)) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([key, value]) => [key, withNames(value as Json)]),
    );
  }
  for (const keyword of ['items', 'additionalProperties']) {
    const inner = schema[keyword];
    if (isSchema(inner)) result[keyword] = withNames(inner);
  }
  for (const keyword of ['oneOf', 'anyOf']) {
    const variants = schema[keyword];
    if (!Array.isArray(variants)) continue;
    result[keyword] = variants.map(withNames);
    // Beside variants, `type` and `required` only repeat what each variant contains.
    delete result.type;
    delete result.required;
  }
  return result;
}

function isSchema(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

const compileType = (schema: Json, name: string): Promise<string> =>
  compile(withNamesInside({ ...schema }), name, {
    additionalProperties: false,
    bannerComment: '',
    ignoreMinAndMaxItems: true,
    unknownAny: true,
    style: { singleQuote: true, printWidth: 120 },
  });

/** Lets callers pass undefined for an optional property of what they send. Its type may have several lines. */
const withUndefined = (type: string): string =>
  type.replace(/^( +)(\w+\?:(?: .*;|[^;]*? \{\n[\s\S]*?\n\1\}.*;|\n[\s\S]*?\n\1 {2}\| .*;))$/gm, (property) =>
    property.replace(/;$/, ' | undefined;'),
  );

const getFile = (parts: readonly string[]) => `${[banner, ...parts.map((part) => part.trimEnd())].join('\n\n')}\n`;

const namesIn = (text: string) =>
  namedSchemas.map(({ $id }) => $id).filter((name) => new RegExp(`(?<![\\w'.])${name}(?![\\w'])`).test(text));

/** A referenced schema's name. Null if the schema has no name. */
const getRef = (schema: object | undefined) =>
  (schema as { readonly $ref?: string } | undefined)?.$ref?.replace(/#$/, '') ?? null;

/** The parameters of the path and of the query of an operation, as one type. Null if it has none. */
async function listParameters({ operationId, params, query }: Operation): Promise<[string, string] | null> {
  const parts = [params, query].filter((part) => part !== undefined) as Json[];
  const properties = Object.assign({}, ...parts.map((part) => part.properties));
  if (Object.keys(properties).length === 0) return null;
  const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Parameters`;
  const required = parts.flatMap((part) => (part.required as string[] | undefined) ?? []);
  const type = await compileType({ type: 'object', properties, required, additionalProperties: false }, name);
  return [name, withUndefined(type)];
}

/** A successful answer's type: JSON by its name, and undefined for an answer without a body. */
function toAnswer({ responses }: Operation): string {
  const found = Object.entries(responses).flatMap(([status, { schema }]) =>
    Number(status) < 300 ? [schema === undefined ? 'undefined' : (getRef(schema) ?? 'unknown')] : [],
  );
  return [...new Set(found)].join(' | ') || 'undefined';
}

/** The types of the operations that need a key, and their routes: method and path. */
async function operationFiles(): Promise<Record<string, string>> {
  const all = (Object.values(operations) as readonly Operation[]).filter(({ auth }) => auth);
  const types: string[] = [];
  const entries: string[] = [];
  for (const operation of all) {
    const parameters = await listParameters(operation);
    if (parameters !== null) types.push(parameters[1]);
    const { bodyField } = operation;
    const whole = getRef(operation.body);
    const body = bodyField === undefined ? whole : `{ ${bodyField}: ${whole} }`;
    const input = [parameters?.[0], body].filter((part) => typeof part === 'string').join(' & ');
    entries.push(
      `  /**\n   * ${operation.summary}.\n   */\n` +
        `  ${operation.operationId}: { input: ${input || 'Record<never, never>'}; answer: ${toAnswer(operation)} };`,
    );
  }
  const table = `export interface Operations {\n${entries.join('\n')}\n}`;
  // Constants of their own: a bundler leaves out the ones that a program does not use, and their names.
  const routes = all.map(({ operationId, method, path }) => `export const ${operationId} = '${method} ${path}';`);
  const names = namesIn([...types, table].join('\n'));
  const text = getFile([
    `import type {\n${names.map((name) => `  ${name},`).join('\n')}\n} from './types.gen.ts';`,
    ...types,
    `/**\n * What each operation takes, path, query and body in one object, and what it answers.\n */\n${table}`,
  ]);
  return { 'operations.gen.ts': text, 'routes.gen.ts': getFile(routes) };
}

/** The named schemas of request bodies, and the schemas to which these refer. */
const sent = new Set<string>();
const addSent = (schema: object) => {
  for (const [, name = ''] of JSON.stringify(schema).matchAll(/"\$ref":"(\w+)#"/g)) {
    if (sent.has(name)) continue;
    sent.add(name);
    addSent(namedSchemas.find(({ $id }) => $id === name) ?? {});
  }
};
for (const { body } of Object.values(operations) as readonly Operation[]) addSent(body ?? {});

const compiled = namedSchemas.map(async (schema) => {
  const type = await compileType({ ...schema }, schema.$id);
  return sent.has(schema.$id) ? withUndefined(type) : type;
});
const types = getFile(await Promise.all(compiled));
const below = (folder: string, texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([name, text]) => ({ name: `${folder}/${name}`, text }));
const files = [
  ...below('packages/contract/src', { 'types.gen.ts': types, ...(await operationFiles()) }),
  ...below('packages/client-python/src/runwire', pythonFiles()),
];

for (const { name, text } of files) {
  const output = new URL(`../${name}`, import.meta.url);
  if (!process.argv.includes('--check')) await writeFile(output, text);
  else if ((await readFile(output, 'utf8').catch(() => '')) !== text) {
    console.error(`${name} does not match the schemas; run \`${command}\` and commit it.`);
    process.exitCode = 1;
  }
}
