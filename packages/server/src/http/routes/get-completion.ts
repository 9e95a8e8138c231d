import { operations } from '@runwire/contract/schemas';
import type { FetchAllow } from '@runwire/guarded-fetch/url-rules';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { toAnswerer } from '../../accounts/answerer.ts';
import type { CompletionRequest } from '../../admission/completion-request.ts';
import type { Scope } from '../../domain/account/scope.ts';
import type { RunId } from '../../domain/ids.ts';
import { isFinished } from '../../domain/run/run-state.ts';
import type { RunReads } from '../../runs/read-runs.ts';
import {
  type CompletionLimits,
  type GivenCompletion,
  prepareCompletion,
  readCompletion,
} from '../body/read-completion.ts';
import type { Encoder } from '../encoders/encoder.ts';
import { TextOnly } from '../encoders/text-only.ts';
import { givenCursor, parseEventId } from '../event-cursor.ts';
import { toTrace } from '../request-id.ts';
import { type RequestOf, route } from '../route.ts';
import type { RunStarts } from '../run-starts.ts';

export interface GetCompletionDeps {
  readonly starts: RunStarts;
  readonly runReads: RunReads;
  readonly encoder: Encoder;
  readonly limits: CompletionLimits;
  readonly fetchAllow: FetchAllow;
}

type Request = RequestOf<typeof operations.getCompletionV2>;

/** Admit, then follow from the start. */
export function getCompletion(app: FastifyInstance, deps: GetCompletionDeps): void {
  const complete = async (request: Request, reply: FastifyReply, scope: Scope, given: GivenCompletion) => {
    const completion: CompletionRequest = Object.assign(given, {
      integrationId: scope.integrationId,
      ...(given.answers === null ? {} : { audit: app.audit(request) }),
    });
    const started = await deps.starts.admit(request, reply, completion);
    const { runId, replayed, textOnly } = started.admission;
    // "A replay sends the whole text."
    const resumes = replayed && !textOnly;
    const after = resumes ? await replayCursor(deps, scope, runId, request.headers['last-event-id']) : 0;
    // `Accept` is ignored: only the integration decides.
    deps.starts.follow(request, reply, started, textOnly ? new TextOnly() : deps.encoder, after);
  };
  const read = (request: Request) => {
    const { body, principal, clientToken, inlineFiles: images } = request;
    const { ownerId } = principal;
    const answeredBy = body.answers === undefined ? null : toAnswerer(request);
    const source = { body, ownerId, clientToken, answeredBy, images, trace: toTrace(request) };
    return readCompletion(source, deps.limits, deps.fetchAllow);
  };
  route(app, operations.getCompletionV2, complete, { prepareBody: prepareCompletion, read });
}

/**
 * Returns the cursor of a replay from its `Last-Event-ID`. The header counts as absent if the run is compacted, or if the
 * run has ended and the header is at or after its end. If it is ahead of a live run, the reader waits, as at `…/events`.
 */
export async function replayCursor(
  deps: Pick<GetCompletionDeps, 'runReads'>,
  scope: Scope,
  runId: RunId,
  header: string | string[] | undefined,
): Promise<number> {
  const after = parseEventId(givenCursor(header) ?? '0') ?? 0;
  if (after === 0) return 0;
  const run = await deps.runReads.row(scope, runId).catch(() => null);
  if (run === null || run.compacted_at !== null) return 0;
  return isFinished(run.status) && after >= (run.last_event_id ?? 0) ? 0 : after;
}
