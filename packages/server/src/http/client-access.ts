import type { ClientPermission, OperationId, operations } from '@runwire/contract/schemas';
import { isBlank } from '@runwire/lib/is-blank.ts';
import type { FastifyRequest } from 'fastify';
import type { ClientToken } from '../domain/account/caller.ts';
import { Refusal } from '../domain/refusal.ts';

/*
 * What a client token may do. An operation names the permission that it needs (`clientToken` in the contract), and an
 * operation without one is refused. The caller's `Scope` decides which runs and chats it sees.
 */

/** Throws a `Refusal` if the token does not permit this operation on this integration, for a page of this origin. */
export function checkClientToken(
  token: ClientToken,
  permission: ClientPermission | undefined,
  { params, headers }: Pick<FastifyRequest, 'params' | 'headers'>,
): void {
  const { origin } = headers;
  // Requests that are not cross-origin need no `Origin`, and other programs than browsers can send any.
  if (token.origins !== null && origin !== undefined && !token.origins.includes(origin)) {
    throw new Refusal(
      'foreign_origin',
      'The client token is not for this origin; mint it with the origin in `origins`.',
    );
  }
  if (permission === undefined) throw forbidden('A client token cannot call this operation; use an API key.');
  if (!token.can.includes(permission)) {
    throw forbidden(`The client token does not permit this; mint it with \`${permission}\` in \`can\`.`);
  }
  const { apiIntegrationId } = (params ?? {}) as { readonly apiIntegrationId?: string };
  if (apiIntegrationId !== undefined) checkValue('apiIntegrationId', apiIntegrationId, token.integrationId);
}

/** Fills in the token's fields, and refuses what it does not permit. Runs before the schema validates the request. */
export function applyClientToken(
  token: ClientToken,
  operationId: string,
  { body, query }: Pick<FastifyRequest, 'body' | 'query'>,
): void {
  const apply = RULES[operationId as TokenOperation];
  const isObject = body !== null && typeof body === 'object' && !Array.isArray(body);
  // The schema refuses a body that is no object.
  apply(token, { body: isObject ? (body as Fields) : {}, query: (query ?? {}) as Fields });
}

type Fields = Record<string, unknown>;
type Rule = (token: ClientToken, request: { readonly body: Fields; readonly query: Fields }) => void;

type TokenOperation = {
  [Id in OperationId]: (typeof operations)[Id] extends { readonly clientToken: ClientPermission } ? Id : never;
}[OperationId];

const forbidden = (sentence: string) => new Refusal('token_forbidden', sentence);

/** The permission and the scope are enough. */
const noFurtherRule: Rule = () => {};

/** Every operation that accepts client tokens, so that none is without a rule. */
const RULES: Readonly<Record<TokenOperation, Rule>> = {
  getCompletionV2: (token, { body }) => {
    if (body.user_context !== undefined && body.user_context !== null) {
      const sentence = '`user_context` cannot be sent with a client token; your backend sets it as `userContext`.';
      throw new Refusal('invalid_request', sentence);
    }
    if (typeof body.consumerId === 'string' && isBlank(body.consumerId)) body.consumerId = undefined;
    fillIn(body, 'apiIntegrationId', token.integrationId);
    fillIn(body, 'consumerId', token.consumerId);
    fillIn(body, 'chatId', token.chatId);
    fillIn(body, 'agent', token.agent);
    if (token.chatId !== null && (body.aliasChatId ?? null) !== null) {
      throw forbidden('The client token is for one chat; leave out `aliasChatId`.');
    }
    if ((body.answers ?? null) !== null && !token.can.includes('answer')) {
      throw forbidden('The client token does not permit `answers`; mint it with `answer` in `can`.');
    }
    for (const name of ['history', 'instructions']) {
      if (body[name] === undefined) continue;
      throw forbidden(`\`${name}\` cannot be sent with a client token; your backend can send it.`);
    }
    const files: readonly unknown[] = Array.isArray(body.sandboxFiles) ? body.sandboxFiles : [];
    for (const [index, file] of files.entries()) {
      checkPath(token, `sandboxFiles[${index}].path`, (file as { path?: unknown } | null)?.path);
    }
  },
  createAgencyUpload: (token, { body }) => {
    fillIn(body, 'apiIntegrationId', token.integrationId);
    checkPath(token, 'folder', body.folder);
  },
  listFiles: (token, { query }) => {
    query.folder ??= token.folder;
    checkPath(token, 'folder', query.folder);
  },
  getFileContent: (token, { query }) => checkPath(token, 'path', query.path),
  headFileContent: (token, { query }) => checkPath(token, 'path', query.path),
  cancelRun: noFurtherRule,
  getChatStatus: noFurtherRule,
  getRun: noFurtherRule,
  listRunSteps: noFurtherRule,
  getRunEvents: noFurtherRule,
  getRunAttachment: noFurtherRule,
  listChats: noFurtherRule,
  getChat: noFurtherRule,
  listChatMessages: noFurtherRule,
};

/**
 * `value` is null if the token leaves the field to the caller. A value of a wrong type is left to the schema, except null:
 * for `chatId` the schema accepts it as "a new chat", which the token does not permit.
 */
function fillIn(body: Fields, name: string, value: string | null): void {
  if (value === null) return;
  if (body[name] === null) {
    const sentence = `\`${name}\` must not be null with this client token; leave it out, or send the one of the token.`;
    throw new Refusal('invalid_request', sentence);
  }
  body[name] ??= value;
  if (typeof body[name] === 'string') checkValue(name, body[name], value);
}

function checkValue(name: string, given: string, ofToken: string): void {
  if (given === ofToken) return;
  throw forbidden(`\`${name}\` is not the one of the client token; leave it out, or send the one of the token.`);
}

/** A path that is not canonical is refused later. It cannot become another path, because no path is ever changed. */
function checkPath({ folder }: ClientToken, name: string, path: unknown): void {
  if (typeof path !== 'string') return;
  if (folder === null) throw forbidden(`The client token has no \`folder\`, so it permits no \`${name}\`.`);
  if (path !== folder && !path.startsWith(`${folder}/`)) {
    throw forbidden(`\`${name}\` must be at or below the \`folder\` of the client token, \`${folder}\`.`);
  }
}
