import { namedSchemas } from '../../packages/contract/src/schemas/index.ts';

/* Python types of JSON values. Objects become `TypedDict`s with the wire's names. */

export type Json = { readonly [key: string]: unknown };

interface ObjectSchema {
  readonly properties: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

const WIDTH = 120;
const NAMES: Readonly<Record<string, string>> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool' };
/** Keywords of Python that are names of fields. */
export const isKeyword = (name: string) => /^(from|in|is|for|not|class|global|with)$/.test(name);

const capitalised = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

function toShapeKey(schema: Json): string {
  const { $id: _id, nullable: _nullable, description: _description, ...shape } = schema;
  return JSON.stringify(shape);
}

/** A string of Python that is broken into lines. */
export function docstring(text: string, indent: string): string {
  const lines = [''];
  for (const word of text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").split(/\s+/)) {
    const line = lines.at(-1) ?? '';
    const isFull = indent.length + line.length + word.length + 7 > WIDTH;
    if (isFull) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  const [first = '', ...rest] = lines;
  // A quotation mark before the end of the string would end it.
  const last = (line: string) => (line.endsWith('"') ? `${line} ` : line);
  if (rest.length === 0) return `${indent}"""${last(first)}"""`;
  return `${indent}"""${lines.join(`\n${indent}`)}\n${indent}"""`;
}

/** Collects the types that are used, and writes their module. */
export class PythonModels {
  readonly #texts = new Map<string, string>();
  readonly #aliases = new Map<string, string>();
  readonly #nameByShape = new Map(namedSchemas.map((schema) => [toShapeKey({ ...schema }), String(schema.$id)]));

  /** A schema's type. `name` is that of its object if the schema has none. */
  type(schema: Json, name: string, prefix = ''): string {
    const type = this.#plainType(schema, name, prefix);
    return schema.nullable === true && type !== 'Any' ? `${type} | None` : type;
  }

  /** The schema that a reference names. */
  static named(reference: unknown): Json & ObjectSchema {
    const name = String(reference).replace(/#$/, '');
    const found = namedSchemas.find(({ $id }) => $id === name);
    if (found === undefined) throw new Error(`The reference to ${name} leads nowhere.`);
    return { ...found } as unknown as Json & ObjectSchema;
  }

  #plainType(schema: Json, name: string, prefix: string): string {
    if (typeof schema.$ref === 'string') {
      const named = PythonModels.named(schema.$ref);
      return prefix + this.#define(String(named.$id), named);
    }
    if (Array.isArray(schema.enum)) {
      // Null is in the list if the field is nullable.
      const values = schema.enum.filter((value) => value !== null);
      return `Literal[${values.map((value) => JSON.stringify(value)).join(', ')}]`;
    }
    const variants = (schema.oneOf ?? schema.anyOf) as readonly Json[] | undefined;
    if (variants !== undefined) return this.#union(variants, name, prefix);
    if (schema.type === 'array')
      return `${prefix === '' ? 'list' : 'Sequence'}[${this.type(schema.items as Json, `${name}Item`, prefix)}]`;
    if (schema.type !== 'object') return NAMES[String(schema.type)] ?? 'Any';
    if (schema.properties !== undefined) return prefix + this.#define(name, schema);
    const values = schema.additionalProperties;
    return `${prefix === '' ? 'dict' : 'Mapping'}[str, ${
      typeof values === 'object' ? this.type(values as Json, `${name}Value`, prefix) : 'Any'
    }]`;
  }

  #union(variants: readonly Json[], name: string, prefix: string): string {
    const types = variants.flatMap((variant) => this.type(variant, name, prefix).split(' | '));
    const sorted = [...new Set(types)].sort((one, other) => Number(one === 'None') - Number(other === 'None'));
    return sorted.includes('Any') ? 'Any' : sorted.join(' | ');
  }

  /** Defines a type once. Returns the name of the type with this shape. */
  #define(wanted: string, schema: Json): string {
    const shape = toShapeKey(schema);
    const name = this.#nameByShape.get(shape) ?? wanted;
    if (this.#texts.has(name) || this.#aliases.has(name)) return name;
    this.#nameByShape.set(shape, name);
    if (schema.properties === undefined) {
      // Reserves the name, because a type can refer to itself.
      this.#aliases.set(name, '');
      const type = this.#plainType(schema, name, '');
      this.#aliases.set(name, `${name} = ${type}\n${docstring(String(schema.description), '')}`);
    } else {
      this.#texts.set(name, '');
      this.#texts.set(name, this.#classText(name, schema as Json & ObjectSchema));
    }
    return name;
  }

  #classText(name: string, schema: Json & ObjectSchema): string {
    const fields = Object.entries(schema.properties);
    const isRequired = ([field]: readonly [string, Json]) => schema.required?.includes(field) === true;
    const required = fields.filter(isRequired);
    const optional = fields.filter((field) => !isRequired(field));
    const doc = docstring(String(schema.description ?? 'A part of an answer.'), '    ');
    if (optional.length === 0) return this.#fieldsText(name, required, { doc });
    if (required.length === 0) return this.#fieldsText(name, optional, { doc, bases: 'TypedDict, total=False' });
    // `NotRequired` is younger than the oldest supported Python.
    const base = `_${name}Required`;
    return [
      this.#fieldsText(base, required, { types: name }),
      this.#fieldsText(name, optional, { doc, bases: `${base}, total=False` }),
    ].join('\n\n\n');
  }

  #fieldsText(
    name: string,
    fields: readonly (readonly [string, Json])[],
    { doc, types = name, bases = 'TypedDict' }: { doc?: string; types?: string; bases?: string },
  ): string {
    const typed = fields.map(([field, schema]) => ({
      field,
      type: this.type(schema, `${types}${capitalised(field)}`),
      doc: docstring(String(schema.description ?? ''), '    '),
    }));
    if (!typed.some(({ field }) => isKeyword(field))) {
      const lines = typed.flatMap(({ field, type, doc }) => [`    ${field}: ${type}`, doc]);
      return [`class ${name}(${bases}):`, ...(doc === undefined ? [] : [doc, '']), ...lines].join('\n');
    }
    const lines = typed.map(({ field, type }) => `        "${field}": ${JSON.stringify(type)},`);
    const text = [`${name} = TypedDict(`, `    "${name}",`, '    {', ...lines, '    },', ')'].join('\n');
    return doc === undefined ? text : `${text}\n${doc.replaceAll(/^ {4}/gm, '')}`;
  }

  /** The module with all types that were asked for. */
  module(banner: string): string {
    const imports = 'from __future__ import annotations\n\nfrom typing import Any, Literal, TypedDict';
    const parts = [...[...this.#texts].sort(), ...this.#aliases].map(([, text]) => text);
    return `${banner}\n\n${imports}\n\n\n${parts.join('\n\n\n')}\n`;
  }
}
