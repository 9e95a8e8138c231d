import { readFile, writeFile } from 'node:fs/promises';
import { compile } from 'json-schema-to-typescript';
import { namedSchemas } from '../packages/contract/src/schemas/index.ts';

const output = new URL('../packages/contract/src/types.gen.ts', import.meta.url);
const command = 'npm exec -- node -C runwire scripts/build-contract-types.ts';
const banner = `// Made from packages/contract/src/schemas by \`${command}\`; do not edit.`;

type Json = { [key: string]: unknown };

function shapeOf(schema: object): string {
  const { $id: _id, nullable: _nullable, description: _description, ...shape } = schema as Json;
  return JSON.stringify(shape);
}

const nameByShape = new Map(namedSchemas.map((schema) => [shapeOf(schema), schema.$id]));
if (nameByShape.size !== namedSchemas.length) {
  throw new Error('Two named schemas are the same; give one of them up.');
}

function typeOf(name: string, schema: Json): Json {
  if (!namedSchemas.some((other) => other.$id === name)) throw new Error(`The reference to ${name} leads nowhere.`);
  const tsType = schema.nullable === true ? `${name} | null` : name;
  return schema.description === undefined ? { tsType } : { tsType, description: schema.description };
}

/**
 * A reference becomes the name of the type. So does a nullable copy of a named schema, which stands for a reference
 * that Ajv would not take.
 */
function withNames(schema: Json): Json {
  const name = typeof schema.$ref === 'string' ? schema.$ref.replace(/#$/, '') : nameByShape.get(shapeOf(schema));
  return name === undefined ? withNamesInside(schema) : typeOf(name, schema);
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

const types = await Promise.all(
  namedSchemas.map((schema) =>
    compile(withNamesInside({ ...schema }), schema.$id, {
      additionalProperties: false,
      bannerComment: '',
      ignoreMinAndMaxItems: true,
      unknownAny: true,
      style: { singleQuote: true, printWidth: 120 },
    }),
  ),
);
const text = `${[banner, ...types.map((type) => type.trimEnd())].join('\n\n')}\n`;

if (process.argv.includes('--check')) {
  const committed = await readFile(output, 'utf8').catch(() => '');
  if (committed !== text) {
    console.error(`packages/contract/src/types.gen.ts does not match the schemas; run \`${command}\` and commit it.`);
    process.exitCode = 1;
  }
} else {
  await writeFile(output, text);
}
