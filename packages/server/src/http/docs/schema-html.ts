import { type Html, html, prose } from './html.ts';

/** As much of OpenAPI 3.0's schema object as our own description uses. */
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

/** The type in a word or two; a named one is a link. */
export function typeHtml(schema: SchemaObject): Html {
  if (schema.$ref !== undefined) {
    const name = schemaName(schema.$ref);
    return html`<a href="#${schemaAnchor(name)}">${name}</a>`;
  }
  const orNull = schema.nullable === true ? ' or null' : null;
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants !== undefined) {
    return html`${variants.map((variant, place) => html`${place === 0 ? null : ' or '}${typeHtml(variant)}`)}${orNull}`;
  }
  if (schema.enum !== undefined) {
    const values = schema.enum.map((value, place) => html`${place === 0 ? null : ' · '}<code>${String(value)}</code>`);
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
  return html`${found.map((one) => html` <span class="limit">· ${one}</span>`)}`;
}

/** One field with all that is said of it; the fields inside it below. */
export function fieldHtml(name: string, schema: SchemaObject, required: boolean): Html {
  const inner = schema.type === 'array' ? (schema.items ?? {}) : schema;
  return html`<li><code class="name">${name}</code> <span class="type">${typeHtml(schema)}</span>${
    required ? html` <span class="required">required</span>` : null
  }${constraintsHtml(schema)}${
    schema.description === undefined ? null : html`<div>${prose(schema.description)}</div>`
  }${inner.properties === undefined ? null : fieldsHtml(inner)}</li>`;
}

export function fieldsHtml(schema: SchemaObject): Html {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {});
  return html`<ul class="fields">${fields.map(([name, field]) => fieldHtml(name, field, required.has(name)))}</ul>`;
}

/** What a named schema, a body or an answer holds. */
export function schemaHtml(schema: SchemaObject): Html {
  const said = schema.description === undefined ? null : html`<p>${prose(schema.description)}</p>`;
  const strict = schema.additionalProperties === false ? html`<p class="limit">No other fields.</p>` : null;
  if (schema.properties === undefined)
    return html`${said}<p class="type">${typeHtml(schema)}${constraintsHtml(schema)}</p>`;
  return html`${said}${fieldsHtml(schema)}${strict}`;
}
