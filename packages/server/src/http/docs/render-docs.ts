import { hash } from 'node:crypto';
import { type Html, html, prose } from './html.ts';
import { fieldHtml, type SchemaObject, schemaAnchor, schemaHtml, schemaName, typeHtml } from './schema-html.ts';
import { STYLE } from './style.ts';

interface MediaType {
  readonly schema?: SchemaObject;
  readonly example?: unknown;
  /** The schema of the data of each server-sent event. */
  readonly 'x-sse-events'?: Readonly<Record<string, SchemaObject>>;
}

interface Content {
  readonly [mediaType: string]: MediaType;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: SchemaObject;
  readonly example?: unknown;
}

interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly schema?: SchemaObject; readonly description?: string }>>;
  readonly content?: Content;
}

interface OperationObject {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

/** The parts of an OpenAPI 3.0 document that ours uses. */
export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly servers?: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, SchemaObject>> };
}

interface DocumentedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: OperationObject;
}

type Schemas = OpenApiDocument['components']['schemas'];

/** The page loads nothing and runs no script. Its only style is allowed by its hash. */
export const DOCS_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Renders the document as one page for people. */
export function renderDocs(document: OpenApiDocument): string {
  const { info, components } = document;
  const url = document.servers?.[0]?.url ?? '';
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]): DocumentedOperation => ({ method: method.toUpperCase(), path, operation }),
    ),
  );
  const byTag = Map.groupBy(all, ({ operation }) => operation.tags?.[0] ?? 'Other');
  const names = Object.keys(components.schemas).sort();
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${info.title} API</title>
`;
  const body = html`</head>
<body>
<nav aria-label="Operations"><details class="menu"><summary>${info.title} API</summary>
${[...byTag].map(([tag, some]) => navHtml(tag, some))}
<h2><a href="#schemas">Schemas</a></h2>
</details></nav>
<main>
<header>
<h1>${info.title} API <small>${info.version}</small></h1>
<p>${prose(info.description)}</p>
<p>Base address: <code>${url}</code>. Every operation needs an API key, except those marked <span class="open">no key</span>.
<a href="openapi.json">openapi.json</a> is this page in machine-readable form.</p>
<pre><code>${sample(url)}</code></pre>
</header>
${[...byTag].map(
  ([tag, some]) => html`<section id="tag-${tag}"><h2>${tag}</h2>
${some.map((one) => operationHtml(one, components.schemas))}</section>
`,
)}
<section id="schemas"><h2>Schemas</h2>
${names.map((name) => namedSchemaHtml(name, components.schemas[name] ?? {}))}</section>
</main>
</body>
</html>
`;
  // The style is not escaped, because its hash is in the policy.
  return `${page.text}<style>${STYLE}</style>\n${body.text}`;
}

function sample(url: string): string {
  const body = JSON.stringify({ apiIntegrationId: 'demo', message: 'Hello' });
  return [
    `curl -N ${url}/get_completion_v2 \\`,
    '  -H "Authorization: Bearer $RUNWIRE_API_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d '${body}'`,
  ].join('\n');
}

function navHtml(tag: string, some: readonly DocumentedOperation[]): Html {
  return html`<h2><a href="#tag-${tag}">${tag}</a></h2><ul>${some.map(
    ({ method, operation }) =>
      html`<li><a href="#${operation.operationId}"><span class="method ${method}">${method}</span> ${operation.summary ?? operation.operationId}</a></li>`,
  )}</ul>
`;
}

/** A long path may break after each of its slashes. */
const pathHtml = (path: string) => html`${path.split(/(?<=\/)/).map((piece) => html`${piece}<wbr>`)}`;

function operationHtml({ method, path, operation }: DocumentedOperation, schemas: Schemas): Html {
  const { operationId: id, parameters = [], requestBody, responses } = operation;
  const inPath = Map.groupBy(parameters, (parameter) => parameter.in);
  return html`<article id="${id}">
<h3><a href="#${id}">${operation.summary ?? id}</a>${
    operation.security?.length === 0 ? html` <span class="open">no key</span>` : null
  }</h3>
<p class="path"><span class="method ${method}">${method}</span> <code>${pathHtml(path)}</code></p>
${operation.description === undefined ? null : html`<p>${prose(operation.description)}</p>`}
${['path', 'query', 'header'].map((location) => parametersHtml(location, inPath.get(location) ?? []))}
${requestBody === undefined ? null : contentHtml('Body', requestBody.content, schemas)}
<h4>Answers</h4>
${Object.entries(responses).map(([status, response]) => responseHtml(status, response, schemas))}
</article>
`;
}

function parametersHtml(location: string, parameters: readonly Parameter[]): Html | null {
  if (parameters.length === 0) return null;
  const fields = parameters.map(({ name, schema = {}, required = false, description, example }) =>
    fieldHtml(name, { ...schema, ...(description === undefined ? {} : { description }), example }, required),
  );
  return html`<h4>In the ${location}</h4><ul class="fields">${fields}</ul>`;
}

function responseHtml(status: string, response: ResponseObject, schemas: Schemas): Html {
  const { headers = {}, content, description } = response;
  const sent = Object.entries(headers).map(([name, { schema = {}, description: text }]) =>
    fieldHtml(name, { ...schema, ...(text === undefined ? {} : { description: text }) }, false),
  );
  const line = html`<span class="status s${status.charAt(0)}">${status}</span> ${prose(description)}`;
  const [only] = Object.values(content ?? {});
  if (/^[45]/.test(status) && only?.schema?.$ref !== undefined) {
    // All errors have the same shape, which the schemas at the end of the page show.
    const names = Object.keys(headers).map((name) => html`, <code>${name}</code>`);
    return html`<p class="answer">${line} <span class="type">${typeHtml(only.schema)}${names}</span></p>`;
  }
  const shown = content === undefined ? null : contentHtml(null, content, schemas);
  if (shown === null && sent.length === 0) return html`<p class="answer">${line}</p>`;
  return html`<details class="answer"><summary>${line}</summary>${
    sent.length === 0 ? null : html`<h5>Headers</h5><ul class="fields">${sent}</ul>`
  }${shown}</details>`;
}

function contentHtml(title: string | null, content: Content, schemas: Schemas): Html {
  const shapes = Map.groupBy(Object.entries(content), ([, { schema }]) => JSON.stringify(schema));
  return html`${title === null ? null : html`<h4>${title}</h4>`}${[...shapes.values()].map((same) => {
    const schema = same[0]?.[1].schema ?? {};
    const types = same.map(([type]) => html`<code>${type}</code> `);
    const named = schema.$ref === undefined ? undefined : schemas[schemaName(schema.$ref)];
    const shape = html`<h5>${types}${named === undefined ? null : typeHtml(schema)}</h5>${schemaHtml(named ?? schema)}`;
    return html`${shape}${same.map(([type, media]) => mediaHtml(type, media))}`;
  })}`;
}

/** A stream's events, and the example. */
function mediaHtml(type: string, { example, 'x-sse-events': events }: MediaType): Html {
  const names = Object.entries(events ?? {}).map(
    ([name, schema]) => html`<li><code class="name">${name}</code> <span class="type">${typeHtml(schema)}</span></li>`,
  );
  const list = html`<h5>Events, by name (<code>message</code>: no <code>event:</code> line)</h5><ul class="fields">${names}</ul>`;
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2);
  const shown = html`<h5>Example, <code>${type}</code></h5><pre><code>${text ?? ''}</code></pre>`;
  return html`${events === undefined ? null : list}${example === undefined ? null : shown}`;
}

/** The anchor is inside the element, so that a link to it opens the element. */
function namedSchemaHtml(name: string, schema: SchemaObject): Html {
  return html`<details class="schema"><summary><code>${name}</code></summary><div id="${schemaAnchor(name)}">${schemaHtml(schema)}</div></details>
`;
}
