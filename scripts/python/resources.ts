import { RESOURCES } from '../../packages/client/src/resources.ts';
import { type Operation, operations } from '../../packages/contract/src/schemas/index.ts';
import { docstring, isKeyword, type Json, PythonModels } from './models.ts';

/*
 * The API's operations as methods of Python, with the resources and names of the TypeScript client: a module with
 * methods that block, and a module with methods of asyncio.
 */

const COMMAND = 'npm run contract-types';
const banner = (what: string) => `"""${what}. Made from the schemas by \`${COMMAND}\`; do not edit."""`;

interface Parameter {
  readonly wire: string;
  readonly name: string;
  /** With its default. */
  readonly declaration: string;
  readonly kind: 'positional' | 'required' | 'optional';
}

type Answer = { readonly kind: 'json' | 'list' | 'content'; readonly type: string };

const models = new PythonModels();

const toSnakeCase = (name: string) => {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return isKeyword(snake) ? `${snake}_` : snake;
};

function operationFor(route: string): Operation {
  const all = Object.values(operations) as readonly Operation[];
  const found = all.find(({ method, path }) => `${method} ${path}` === route);
  if (found === undefined) throw new Error(`No operation has the route ${route}.`);
  return found;
}

const toSchema = (schema: unknown) => (schema ?? {}) as Json;
const listProperties = (schema: unknown) =>
  Object.entries((toSchema(schema).properties ?? {}) as Readonly<Record<string, Json>>);
const isRequiredIn = (schema: unknown, field: string) =>
  ((toSchema(schema).required ?? []) as readonly string[]).includes(field);

/** A method's parameters: the path's ids by position, the others by name, the integration last. */
function readParameters(operation: Operation, verb: string): Parameter[] {
  const { params, query, path } = operation;
  const owner = operation.operationId.charAt(0).toUpperCase() + operation.operationId.slice(1);
  const found: Parameter[] = [];
  const add = (wire: string, schema: Json, kind: Parameter['kind'], whenAbsent = '') => {
    const name = toSnakeCase(wire);
    const type = models.type(schema, `${owner}${wire.charAt(0).toUpperCase()}${wire.slice(1)}`, 'models.');
    found.push({ wire, name, declaration: `${name}: ${type}${whenAbsent}`, kind });
  };
  for (const [wire, schema] of listProperties(params)) if (wire !== 'apiIntegrationId') add(wire, schema, 'positional');
  for (const [wire, schema] of listProperties(query)) {
    if (wire === 'cursor' || wire === 'format' || (verb === 'csv' && wire === 'limit')) continue;
    if (isRequiredIn(query, wire)) add(wire, schema, 'required');
    else add(wire, schema, 'optional', ' | None = None');
  }
  const { bodyField } = operation;
  if (bodyField !== undefined) add(bodyField, { type: 'object', additionalProperties: true }, 'positional');
  const body = operation.body === undefined ? undefined : PythonModels.named(toSchema(operation.body).$ref);
  for (const [wire, schema] of listProperties(body)) {
    if (isRequiredIn(body, wire)) add(wire, schema, 'required');
    else add(wire, schema, 'optional', ' | Omitted = OMITTED');
  }
  if (!path.includes(':apiIntegrationId')) return found;
  const declaration = 'integration: str | None = None';
  const integration = { wire: 'apiIntegrationId', name: 'integration', declaration };
  // The integration is what the operation is about.
  if (path.endsWith(':apiIntegrationId')) return [{ ...integration, kind: 'positional' }, ...found];
  return [...found, { ...integration, kind: 'optional' }];
}

function readAnswer({ responses, method }: Operation, verb: string, prefix: string): Answer {
  const schemas = Object.entries(responses).flatMap(([status, { schema }]) =>
    Number(status) < 300 ? [toSchema(schema)] : [],
  );
  const references = [...new Set(schemas.flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : [])))];
  const isText = schemas.some(({ type }) => type === 'string');
  if (verb === 'csv' || isText || method === 'HEAD') return { kind: 'content', type: `${prefix}Content` };
  const types = references.map(($ref) => models.type({ $ref }, '', 'models.'));
  const [page] = references.map(PythonModels.named);
  const { items, nextCursor } = page?.properties ?? {};
  if (items !== undefined && nextCursor !== undefined) {
    const item = models.type(items.items as Json, `${page?.$id}ItemsItem`, 'models.');
    return { kind: 'list', type: `${prefix}ItemList[${item}, ${types[0]}]` };
  }
  const isEmpty = schemas.some(({ $ref }) => $ref === undefined);
  return { kind: 'json', type: [...types, ...(isEmpty ? ['None'] : [])].join(' | ') };
}

/** Puts a list into one line if it fits, otherwise each part into its own. */
function wrapped(before: string, parts: readonly string[], after: string, indent: string): string {
  const line = `${indent}${before}${parts.join(', ')}${after}`;
  if (line.length <= 120) return line;
  return [`${indent}${before}`, ...parts.map((part) => `${indent}    ${part},`), `${indent}${after}`].join('\n');
}

function methodText(verb: string, route: string, isAsync: boolean): string {
  const operation = operationFor(route);
  const parameters = readParameters(operation, verb);
  const { kind, type } = readAnswer(operation, verb, isAsync ? 'Async' : '');
  const declarations = (wanted: Parameter['kind']) =>
    parameters.filter((parameter) => parameter.kind === wanted).map(({ declaration }) => declaration);
  const named = [...declarations('required'), ...declarations('optional')];
  const declared = ['self', ...declarations('positional'), ...(named.length === 0 ? [] : ['*', ...named])];
  const isAwaited = isAsync && kind !== 'list';
  const head = wrapped(`${isAwaited ? 'async ' : ''}def ${toSnakeCase(verb)}(`, declared, `) -> ${type}:`, '    ');
  const fields = parameters.map(({ wire, name }) => `"${wire}": ${name}`);
  if (verb === 'csv') fields.push('"format": "csv"');
  const call = `${isAwaited ? 'await ' : ''}self._${kind}(`;
  const target = kind !== 'json' ? 'return ' : type === 'None' ? '' : `answer: ${type} = `;
  const line = `        ${target}${call}"${route}", {${fields.join(', ')}})`;
  const indented = wrapped('{', fields, '}', '            ');
  const body = line.length <= 120 ? line : `        ${target}${call}\n            "${route}",\n${indented},\n        )`;
  const end = kind === 'json' && type !== 'None' ? '\n        return answer' : '';
  return `${head}\n${docstring(`${operation.summary}.`, '        ')}\n${body}${end}`;
}

function module(isAsync: boolean): string {
  const prefix = isAsync ? 'Async' : '';
  const className = (name: string) => `${prefix}${name.charAt(0).toUpperCase()}${name.slice(1)}Api`;
  const classes = Object.entries(RESOURCES).map(([name, verbs]) => {
    const methods = Object.entries(verbs).map(([verb, route]) => methodText(verb, route, isAsync));
    return `class ${className(name)}(${prefix}Resource):\n    """Operations of \`client.${name}\`."""\n\n${methods.join('\n\n')}`;
  });
  const fields = Object.keys(RESOURCES).map((name) => `        self.${name} = ${className(name)}(transport)`);
  const imports = [
    'from __future__ import annotations',
    'from typing import Any, Literal, Mapping, Sequence',
    'from . import models',
    `from ._resource import ${['Caller', `${prefix}Content`, `${prefix}ItemList`, `${prefix}Resource`].sort().join(', ')}`,
    'from ._transport import OMITTED, Omitted, Transport',
  ];
  const [future, typing, ...own] = imports;
  const api = `class ${prefix}Api(Caller):\n    """Every operation of the API that needs a key."""\n\n    def __init__(self, transport: Transport) -> None:\n        super().__init__(transport)\n${fields.join('\n')}`;
  const what = `Operations of the API${isAsync ? ' for asyncio' : ''}`;
  return `${[banner(what), future, typing, own.join('\n')].join('\n\n')}\n\n\n${[...classes, api].join('\n\n\n')}\n`;
}

/** The generated files of the Python client. */
export function pythonFiles(): Record<string, string> {
  const files = { '_api.py': module(false), '_async_api.py': module(true) };
  // No operation answers with an event. It is defined after them, so that types which both use keep the operation's name.
  models.type({ $ref: 'WebhookEvent#' }, '');
  return { ...files, 'models.py': models.module(banner('JSON values of the API')) };
}
