import { headerNames } from '@runwire/contract';
import type { ClientPermission, Operation } from '@runwire/contract/schemas';
import type { FetchAllow } from '@runwire/guarded-fetch/url-rules';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { CompatibleSettings, SettingsByIntegration } from '../../accounts/compatible-settings.ts';
import type { Scope } from '../../domain/account/scope.ts';
import { Refusal } from '../../domain/refusal.ts';
import { NO_FILES } from '../body/inline-files.ts';
import { requireRoleEntry } from '../check-role.ts';
import type { CompatibleApi } from './compatible-api.ts';
import type { PartRules } from './message-parts.ts';

export interface CompatibleOperation {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the API's own path: `/responses/:responseId`. */
  readonly path: string;
  /** What a client token must permit. Absent if no client token may call it. */
  readonly clientToken?: ClientPermission;
  readonly startsRuns?: boolean;
  /** The known query parameters. */
  readonly query?: TSchema;
}

/** One request of a compatible API, from a caller who owns the integration. */
export interface CompatibleCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly scope: Scope;
  readonly settings: CompatibleSettings;
  /** What the attachments in its messages may be. */
  readonly parts: PartRules;
  /** Names of fields that were sent and are not used, in the order sent: `X-Runwire-Ignored`. */
  readonly ignored: Set<string>;
}

export type CompatibleHandler = (call: CompatibleCall) => Promise<unknown>;

export interface CompatibleRoutes {
  readonly app: FastifyInstance;
  readonly settings: SettingsByIntegration;
  readonly fetchAllow: FetchAllow;
}

/** At most this many bytes of names; longer lists end with the last whole name. */
const MAX_IGNORED_BYTES = 2048;

export function ignoredHeader(ignored: ReadonlySet<string>): Record<string, string> {
  const names = [...ignored].map((name) => name.replace(/[^\x21-\x7e]/g, '?').replaceAll(',', '?'));
  let text = '';
  for (const name of names) {
    const longer = text === '' ? name : `${text}, ${name}`;
    if (longer.length > MAX_IGNORED_BYTES) break;
    text = longer;
  }
  return text === '' ? {} : { [headerNames.ignored]: text };
}

/**
 * Registers an operation of a compatible API. It is checked like an operation of our own: key, role, query, client token,
 * owner. It is not described in OpenAPI, and its body has no schema: the API's request reader checks it.
 */
export function compatibleRoute(
  { app, settings, fetchAllow }: CompatibleRoutes,
  api: CompatibleApi,
  { operationId, method, path, clientToken, startsRuns = false, query }: CompatibleOperation,
  handler: CompatibleHandler,
): void {
  const url = `/v2/integrations/:apiIntegrationId${api.path}${path}`;
  const operation: Operation = {
    operationId,
    method,
    path: url,
    summary: operationId,
    tags: [],
    auth: true,
    example: { status: 200 },
    responses: {},
    ...(clientToken === undefined ? {} : { clientToken }),
    ...(query === undefined ? {} : { query }),
  };
  requireRoleEntry(operation);
  app.compatibleOperations.push(operation);
  app.route({
    method,
    url,
    schema: { hide: true },
    config: { operation, compatible: api, startsRuns },
    handler: async (request, reply) => {
      const { apiIntegrationId } = request.params as { readonly apiIntegrationId: string };
      const scope = await app.ownership.scope(request, apiIntegrationId);
      const allowed = await settings.get(scope.integrationId);
      if (!allowed.apis.has(api.name)) {
        const sentence = `This API is off for the integration; add \`${api.name}\` to its \`compatibleApis\`.`;
        throw new Refusal('not_found', sentence);
      }
      const parts = { fetchAllow, inline: request.inlineFiles ?? NO_FILES };
      const answer = await handler({ request, reply, scope, settings: allowed, parts, ignored: new Set() });
      // A handler that starts no run is done with them. Errors release them too.
      request.inlineFiles?.release();
      return answer;
    },
  });
}
