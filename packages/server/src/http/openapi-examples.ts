import type { Operation } from '@runwire/contract/schemas';

type Json = Record<string, unknown>;
type Content = Record<string, Json>;

interface OperationObject extends Json {
  parameters?: { name: string; in: string; example?: unknown }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}

/** The parts of an OpenAPI document that this server changes after it was generated. */
export type OpenApiDocument = Json & {
  components?: { schemas?: Record<string, Json> };
  paths?: Record<string, Record<string, OperationObject>>;
};

const PLACES = { path: 'params', query: 'query' } as const;

/** Adds the example of the operation to its parameters, its body and its answer. Ajv does not accept it in schemas. */
export function addExamples(document: OpenApiDocument, operation: Operation): void {
  const described = find(document, operation);
  const { example } = operation;
  for (const parameter of described?.parameters ?? []) {
    const values = parameter.in in PLACES ? example[PLACES[parameter.in as keyof typeof PLACES]] : undefined;
    if (values?.[parameter.name] !== undefined) parameter.example = values[parameter.name];
  }
  const body = described?.requestBody?.content['application/json'];
  if (body !== undefined && example.body !== undefined) body.example = example.body;
  const content = described?.responses[example.status]?.content ?? {};
  for (const [type, answer] of Object.entries(example.answer ?? {})) {
    if (content[type] !== undefined) content[type].example = answer;
  }
}

/**
 * Adds the schemas of server-sent events as `x-sse-events`, by event name. OpenAPI 3.0.3 has no keyword for the items of
 * a stream: `schema` describes the body as a whole, which is text.
 */
export function addEvents(document: OpenApiDocument, operation: Operation): void {
  const described = find(document, operation);
  for (const [status, { events }] of Object.entries(operation.responses)) {
    const stream = described?.responses[status]?.content?.['text/event-stream'];
    if (events !== undefined && stream !== undefined) stream['x-sse-events'] = withReferences(events);
  }
}

function find(document: OpenApiDocument, { path, method }: Operation): OperationObject | undefined {
  return document.paths?.[path.replace(/:([A-Za-z]+)/g, '{$1}')]?.[method.toLowerCase()];
}

/** Turns references of Fastify (`Name#`) into references of OpenAPI. */
function withReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withReferences);
  if (value === null || typeof value !== 'object') return value;
  const { $ref } = value as { $ref?: string };
  if ($ref !== undefined) return { $ref: `#/components/schemas/${$ref.replace(/#$/, '')}` };
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withReferences(inner)]));
}
