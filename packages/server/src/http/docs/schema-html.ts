import { type Html, html, prose } from './html.ts';

/** The parts of an OpenAPI 3.0 schema object that our document uses. */
export interface SchemaObject {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly required?: readonly string[];
  readonly items?: SchemaObject;
  readonly oneOf?: readonly SchemaObject[];
  readonly anyOf?: readonly SchemaObject[];
  readonly additionalProperties?: boolean | SchemaObject;
  readonly description?: string;
  readonly default?: unknown;
  readonly [constraint: string]: unknown;
}

export const schemaName = (ref: string) => ref.replace('#/components/schemas/', '');
export const schemaAnchor = (name: string) => `schema-${name}`;

/** Renders the type in one or two words. A named type is a link. */
export function typeHtml(schema: SchemaObject): Html {
  if (schema.$ref !== undefined) {
    const name = schemaName(schema.$ref);
    return html`<a href="#${schemaAnchor(name)}">${name}</a>`;
  }
  const orNull = schema.nullable === true ? ' or null' : null;
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants !== undefined) {
    return html`${variants.map((variant, index) => html`${index === 0 ? null : ' or '}${typeHtml(variant)}`)}${orNull}`;
  }
  if (schema.enum !== undefined) {
    const values = schema.enum.map((value, index) => html`${index === 0 ? null : ' · '}<code>${String(value)}</code>`);
    return html`${values}`;
  }
  if (schema.type === 'array') return html`array of ${typeHtml(schema.items ?? {})}${orNull}`;
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object') {
    return html`object, values: ${typeHtml(schema.additionalProperties)}${orNull}`;
  }
  return html`${schema.type ?? 'anything'}${schema.format === undefined ? null : ` (${schema.format})`}${orNull}`;
}

/** "1 to 256 characters", "at most 5 items", "at least 1". */
function rangeText(min: unknown, max: unknown, of: string): string | null {
  if (min === undefined && max === undefined) return null;
  if (max === undefined) return `at least ${min}${min === 1 ? of.replace(/s$/, '') : of}`;
  return min === undefined ? `at most ${max}${of}` : `${min} to ${max}${of}`;
}

function constraintsHtml(schema: SchemaObject): Html {
  const ranges = [
    rangeText(schema.minimum, schema.maximum, ''),
    rangeText(schema.minLength, schema.maxLength, ' characters'),
    rangeText(schema.minItems, schema.maxItems, ' items'),
  ];
  const found = ranges.filter((text) => text !== null).map((text) => html`${text}`);
  if (schema.pattern !== undefined) found.push(html`matches <code>${String(schema.pattern)}</code>`);
  if (schema.default !== undefined) found.push(html`default <code>${String(schema.default)}</code>`);
  if (schema.example !== undefined) found.push(html`example <code>${String(schema.example)}</code>`);
  return html`${found.map((one) => html` <span class="limit">· ${one}</span>`)}`;
}

/** Renders a field with its type, constraints and description, then the fields inside it. */
export function fieldHtml(name: string, schema: SchemaObject, required: boolean): Html {
  const inner = schema.type === 'array' ? (schema.items ?? {}) : schema;
  return html`<li><code class="name">${name}</code> <span class="type">${typeHtml(schema)}</span>${
    required ? html` <span class="required">required</span>` : null
  }${constraintsHtml(schema)}${
    schema.description === undefined ? null : html`<div>${prose(schema.description)}</div>`
  }${insideHtml(inner)}</li>`;
}

/** Renders an object's fields, or of each variant that has no name. */
function insideHtml(schema: SchemaObject): Html | null {
  if (schema.properties !== undefined) return fieldsHtml(schema);
  const variants = (schema.oneOf ?? schema.anyOf ?? []).filter(({ properties }) => properties !== undefined);
  if (variants.length === 0) return null;
  return html`${variants.map((variant) => html`<div>${prose(variant.description)}</div>${fieldsHtml(variant)}`)}`;
}

export function fieldsHtml(schema: SchemaObject): Html {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {});
  return html`<ul class="fields">${fields.map(([name, field]) => fieldHtml(name, field, required.has(name)))}</ul>`;
}

/** Renders a named schema, a body or an answer. */
export function schemaHtml(schema: SchemaObject): Html {
  const description = schema.description === undefined ? null : html`<p>${prose(schema.description)}</p>`;
  const strict = schema.additionalProperties === false ? html`<p class="limit">No other fields.</p>` : null;
  if (schema.properties === undefined)
    return html`${description}<p class="type">${typeHtml(schema)}${constraintsHtml(schema)}</p>`;
  return html`${description}${fieldsHtml(schema)}${strict}`;
}
