import { type IntegrationId, newId, type OwnerId } from '../domain/ids.ts';
import type { Answerer } from '../domain/question/question.ts';
import type { EarlierNodes } from '../store/earlier-nodes.ts';
import { insertAuditEvent } from '../store/queries/audit.ts';
import type { Tx } from '../store/store.ts';
import type { StoredPath } from '../store/stored-path.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The request that changes something. */
export interface AuditSource {
  readonly ownerId: OwnerId;
  readonly actor: Answerer;
  /** The operation's id. */
  readonly operation: string;
  readonly requestId: string;
  /** Null if it is not known. */
  readonly address: string | null;
  /** The member of a client token. */
  readonly consumerId: string | null;
}

/** What was changed. `before` and `after` must not have message texts or secrets. */
export interface AuditedChange {
  readonly target: readonly [kind: TargetKind, id: string];
  readonly integrationId?: IntegrationId;
  /** The member whom the change is about. An erasure finds the event by it. */
  readonly consumerId?: string | null;
  readonly path?: StoredPath;
  /** The fields that callers see. Absent for something new. */
  readonly before?: Fields;
  /** Absent for something deleted. */
  readonly after?: Fields;
}

export type TargetKind =
  | 'person'
  | 'key'
  | 'owner'
  | 'integration'
  | 'member'
  | 'file'
  | 'chat'
  | 'question'
  | 'webhook'
  | 'schedule';

/** Stores an event in the transaction that changes something. */
export type Audit = (tx: Tx, change: AuditedChange) => Promise<void>;

/** For changes that no request asked for. */
export const notAudited: Audit = async () => {};

/**
 * Stores nothing while a node from an earlier version is alive: such a node stores no events, and would not erase a member's.
 */
export function auditFor(source: AuditSource, earlierNodes: EarlierNodes): Audit {
  return async (
    tx,
    { target: [kind, id], integrationId = null, consumerId = source.consumerId, path = null, ...change },
  ) => {
    if (earlierNodes.areAlive()) return;
    const { actor } = source;
    await tx.run(insertAuditEvent, {
      event_id: newId('aud'),
      owner_id: source.ownerId,
      at: Date.now(),
      actor_kind: actor.kind,
      actor_id: actor.id,
      actor_name_json: actor.name === null ? null : JSON.stringify(actor.name),
      operation: source.operation,
      target_kind: kind,
      target_id: id,
      changes_json: toChanges(change),
      request_id: source.requestId,
      address: source.address,
      integration_id: integrationId,
      consumer_id: consumerId,
      path,
    });
  };
}

/** Secrets, ids that the target has, and fields that change by themselves. */
const LEFT_OUT = new Set([
  'apiIntegrationId',
  'keyId',
  'personId',
  'createdAt',
  'updatedAt',
  'apiKey',
  'suffix',
  'secret',
  'createdBy',
  'lastUsedAt',
  'lastSeenAt',
  'state',
]);

function toChanges({ before = {}, after = {} }: Pick<AuditedChange, 'before' | 'after'>): string | null {
  const names = new Set([...Object.keys(before), ...Object.keys(after)].filter((name) => !LEFT_OUT.has(name)));
  const changed = [...names].flatMap((name) => {
    const values = { before: before[name] ?? null, after: after[name] ?? null };
    return JSON.stringify(values.before) === JSON.stringify(values.after) ? [] : [[name, values] as const];
  });
  return changed.length === 0 ? null : JSON.stringify(Object.fromEntries(changed));
}

/** True if a caller sees a difference between the two. */
export const differs = (before: Fields, after: Fields): boolean => toChanges({ before, after }) !== null;
