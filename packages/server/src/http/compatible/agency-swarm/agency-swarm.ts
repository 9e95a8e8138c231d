import type { CompatibleSettings } from '../../../accounts/compatible-settings.ts';
import type { LoadedAgency } from '../../../agencies/loaded-agency.ts';
import type { Scope } from '../../../domain/account/scope.ts';
import type { OwnerId, RunId } from '../../../domain/ids.ts';
import { Refusal } from '../../../domain/refusal.ts';
import { cancelRun } from '../../../runs/cancel-run.ts';
import { DefaultFraming } from '../../encoders/default-framing.ts';
import type { Encoder } from '../../encoders/encoder.ts';
import type { CompatibleApi } from '../compatible-api.ts';
import type { CompatibleDeps } from '../compatible-deps.ts';
import {
  type CompatibleCall,
  type CompatibleHandler,
  type CompatibleOperation,
  compatibleRoute,
} from '../compatible-route.ts';
import { type EndOfRun, readEndOfRun } from '../end-of-run.ts';
import { Fields } from '../fields.ts';
import { metadataJson } from './metadata.ts';
import { readRequest } from './read-request.ts';
import { newMessagesJson, ResponseAnswer } from './response-answer.ts';

const AGENCY_SWARM: CompatibleApi = {
  name: 'agency-swarm',
  path: '/agency-swarm',
  memberField: 'The header `X-Runwire-Consumer-Id`',
  contextField: '`user_context`',
  // Clients of FastAPI read `detail`.
  errorBody: ({ message, code, details }) => ({ error: message, code, ...details, detail: message }),
};

/**
 * Agency-swarm's own routes. A client appends an agency's name to its base URL, or its base URL
 * ends with the name; so each route exists with the agency's id before it, and without.
 */
export function agencySwarmRoutes(deps: CompatibleDeps): void {
  const framing = new DefaultFraming();
  const add = (operation: CompatibleOperation, handler: CompatibleHandler) => {
    compatibleRoute(deps, AGENCY_SWARM, operation, handler);
    const named = { ...operation, operationId: `${operation.operationId}ByName`, path: `/:agency${operation.path}` };
    compatibleRoute(deps, AGENCY_SWARM, named, (call) => {
      checkAgency(call);
      return handler(call);
    });
  };
  const start = async (call: CompatibleCall, encoder: Encoder) => {
    const { agents, entryPoints } = findAgency(deps, call.settings);
    const names = { agents: new Set(agents.keys()), entryPoints };
    const started = await deps.starts.admit(AGENCY_SWARM, call, readRequest(call, names));
    deps.starts.follow(call, started, encoder);
  };
  const run = { method: 'POST', clientToken: 'run', startsRuns: true } as const;
  add({ ...run, operationId: 'agencySwarmStream', path: '/get_response_stream' }, (call) => start(call, framing));
  add({ ...run, operationId: 'agencySwarmResponse', path: '/get_response' }, (call) =>
    start(call, new ResponseAnswer()),
  );
  add(
    { operationId: 'agencySwarmCancel', method: 'POST', path: '/cancel_response_stream', clientToken: 'run' },
    (call) => cancel(deps, call),
  );
  add({ operationId: 'agencySwarmMetadata', method: 'GET', path: '/get_metadata' }, async ({ settings }) =>
    metadataJson(deps.agencies, findAgency(deps, settings), settings.model),
  );
  compatibleRoute(
    deps,
    AGENCY_SWARM,
    { operationId: 'agencySwarmDiscovery', method: 'GET', path: '/openapi.json' },
    async ({ settings }) => discovery(settings.agency),
  );
}

/** Clients find agencies by the paths that end with `/get_metadata`. */
function discovery(agency: string) {
  const paths = {
    [`/${agency}/get_response`]: { post: {} },
    [`/${agency}/get_response_stream`]: { post: {} },
    [`/${agency}/cancel_response_stream`]: { post: {} },
    [`/${agency}/get_metadata`]: { get: {} },
  };
  return { openapi: '3.1.0', info: { title: agency, version: '1.0.0' }, paths };
}

function checkAgency({ request, settings }: CompatibleCall): void {
  const { agency } = request.params as { readonly agency: string };
  if (agency === settings.agency) return;
  throw new Refusal(
    'not_found',
    `The agency of this integration is \`${settings.agency}\`; use that name in the path.`,
  );
}

/** Throws if no version could be loaded. */
function findAgency({ agencies }: Pick<CompatibleDeps, 'agencies'>, { agency }: CompatibleSettings): LoadedAgency {
  const loaded = agencies.find(agency)?.loaded ?? null;
  if (loaded === null) throw new Refusal('agency_unavailable', undefined, {}, 5);
  return loaded;
}

const MODES = { immediate: 'immediate', after_turn: 'after_step' } as const;

async function readEnd(deps: CompatibleDeps, ownerId: OwnerId, scope: Scope, runId: RunId): Promise<EndOfRun> {
  return readEndOfRun(deps, await deps.runReads.row(scope, runId), ownerId);
}

/** Cancels exactly that run, and answers with what it has made. */
async function cancel(deps: CompatibleDeps, { request, scope, reply }: CompatibleCall) {
  const body = Fields.of(request.body);
  const runId = body.requiredText('run_id');
  const mode = body.text('cancel_mode') ?? 'immediate';
  if (mode !== 'immediate' && mode !== 'after_turn') {
    throw body.refusal('cancel_mode', 'must be `immediate` or `after_turn`');
  }
  const before = await deps.runReads.row(scope, runId);
  if (before.status === 'completed' || before.status === 'failed') {
    throw new Refusal('run_not_found', `The run \`${runId}\` has already ended.`);
  }
  const { cancelled, status } = await cancelRun(deps.cancel, scope, before.run_id, MODES[mode]);
  const timedOut = status === 'cancelling';
  const messages = timedOut
    ? '[]'
    : newMessagesJson(await readEnd(deps, request.principal.ownerId, scope, before.run_id));
  const head = JSON.stringify({ ok: !timedOut, run_id: runId, cancelled, cancel_mode: mode, timed_out: timedOut });
  return reply.type('application/json; charset=utf-8').send(`${head.slice(0, -1)},"new_messages":${messages}}`);
}
