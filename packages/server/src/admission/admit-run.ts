import { setTimeout as sleep } from 'node:timers/promises';
import type { Agencies } from '../agencies/agencies.ts';
import { type AttachmentBlobs, BlobGone, type StoredBlob } from '../attachments/attachment-blobs.ts';
import { insertAttachments, isInline, type RequestAttachment } from '../attachments/request-attachment.ts';
import {
  type AdmissionDecision,
  type AdmissionRequest,
  decideAdmission,
  type FilesFact,
  type RefreshesFact,
} from '../domain/admission.ts';
import { dayOf } from '../domain/allowance.ts';
import { checkRefreshes } from '../domain/attachment-refresh.ts';
import type { Meta, RunEvent } from '../domain/events.ts';
import { newId } from '../domain/ids.ts';
import type { MountPath } from '../domain/mount-path.ts';
import type { ModelPrice, Prices } from '../domain/prices.ts';
import { Refusal } from '../domain/refusal.ts';
import type { RequestTrace } from '../domain/request-trace.ts';
import type { SandboxFile } from '../domain/sandbox-file.ts';
import { JOURNAL_FORMAT, JOURNAL_FORMAT_WITH_URLS } from '../domain/step.ts';
import { CommitUnknown, StoreUnavailable } from '../domain/unavailable.ts';
import type { AdmittedRun, RunEngine } from '../engine/port.ts';
import { encodeChunk } from '../eventlog/chunk-codec.ts';
import type { SandboxFiles } from '../files/sandbox-files.ts';
import type { FairBudget, Hold } from '../lib/fair-budget.ts';
import { admissionFacts, growChat, insertChat, insertMessage, insertRun } from '../store/queries/admission.ts';
import { periodDays } from '../store/queries/allowance.ts';
import { insertChunk } from '../store/queries/eventlog.ts';
import { lockForAdmission } from '../store/queries/locks.ts';
import { type UnfinishedRun, unfinishedRun } from '../store/queries/takeover.ts';
import { first, type Reads, repeatOnConflict, type Store, type Tx, UniqueViolation } from '../store/store.ts';
import type { NodeIdentity, ThisNode } from '../store/this-node.ts';
import type { Logger } from '../telemetry/logger.ts';
import { applyRefreshes, earlierUrls } from './earlier-urls.ts';

/** A request whose body is checked and whose caller owns the integration. */
export interface CompletionRequest extends AdmissionRequest {
  /** The owner of the integration. */
  readonly ownerId: string;
  readonly integrationId: string;
  readonly trace: RequestTrace;
  readonly message: string;
  readonly userContext: unknown;
  readonly ignoredFields: readonly string[];
  readonly attachments: readonly RequestAttachment[];
  readonly sandboxFiles: readonly { readonly file: SandboxFile; readonly below: MountPath }[];
}

export interface Admission {
  readonly runId: string;
  readonly chatId: string;
  readonly textOnly: boolean;
  readonly replayed: boolean;
}

export interface AdmissionDeps {
  readonly store: Store;
  readonly agencies: Agencies;
  readonly engine: RunEngine;
  readonly blobs: AttachmentBlobs;
  readonly sandboxFiles: SandboxFiles;
  readonly node: ThisNode;
  readonly prices: Prices;
  readonly isShuttingDown: () => boolean;
  /** Active runs of this node, by owner: a request holds a slot from its decision until its run has started. */
  readonly runSlots: FairBudget;
  /** `RUNWIRE_RESERVE_TOKENS`. */
  readonly reserveTokens: number;
  readonly logger: Logger;
}

const LOOK_AGAIN_MS = 500;
const NO_BLOBS: ReadonlyMap<string, StoredBlob> = new Map();

/** The chat was deleted between the facts and the writes. */
class ChatGone extends Error {
  override readonly name = 'ChatGone';
}

/** The sweep let go of copies between the facts and the writes, and a link in their place has expired. */
class CopiesGone extends Error {
  override readonly name = 'CopiesGone';
}

/** The facts have changed since they were read: the indexes say so, or chat, blob or copies went meanwhile. */
const isConflict = (error: unknown) =>
  error instanceof UniqueViolation ||
  error instanceof ChatGone ||
  error instanceof CopiesGone ||
  error instanceof BlobGone;

/** Decides whether a request may become a run, in one transaction that admits everything or reserves nothing. */
export class RunAdmission {
  readonly #deps: AdmissionDeps;
  /** Requests under way by integration and usage request id: the equal ones share, the others wait. */
  readonly #underWay = new Map<string, { readonly body: string; readonly outcome: Promise<Admission> }>();

  #admitting = 0;

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
  }

  /** Requests that may still become runs. */
  get underWay(): number {
    return this.#admitting;
  }

  /** Throws a `Refusal`; then nothing is reserved. */
  async admit(request: CompletionRequest): Promise<Admission> {
    this.#admitting += 1;
    try {
      return await this.#admitOnce(request);
    } finally {
      this.#admitting -= 1;
    }
  }

  async #admitOnce(request: CompletionRequest): Promise<Admission> {
    if (request.usageRequestId === null) return this.#admit(request);
    const key = JSON.stringify([request.integrationId, request.usageRequestId]);
    const body = JSON.stringify([request.fingerprint, request.chatId, request.aliasChatId]);
    for (let other = this.#underWay.get(key); other !== undefined; other = this.#underWay.get(key)) {
      if (other.body === body) return { ...(await other.outcome), replayed: true };
      await other.outcome.catch(() => {});
    }
    const outcome = this.#admit(request).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, { body, outcome });
    return outcome;
  }

  async #admit(request: CompletionRequest): Promise<Admission> {
    const { store } = this.#deps;
    const hasInline = request.attachments.some(isInline);
    let files: FilesFact = request.sandboxFiles.length === 0 ? null : 'unasked';
    if (files !== null || hasInline) {
      // A replay or a refusal that can be known before asks for no file and stores no image.
      let { decision } = await this.#decide(store.reads, request, files, null);
      if (decision.kind === 'ask-files') {
        files = await this.#missingFile(request);
        if (files !== null || hasInline) {
          ({ decision } = await this.#decide(store.reads, request, files, null));
        }
      }
      if (decision.kind === 'replay') return replayOf(decision);
    }
    return repeatOnConflict(async () => {
      const blobs = await this.#storeInline(request);
      using slot = this.#deps.runSlots.hold(request.ownerId);
      const made: { start: AdmittedRun | null } = { start: null };
      const as = this.#deps.node.identity;
      try {
        const result = await store.transact('admit', async (tx) => {
          const result = await this.#transaction(tx, request, files, blobs, slot);
          made.start = result.start;
          return result;
        });
        // In the same turn in which the commit returns, so that no cancel can arrive before the run can be stopped.
        if (result.start !== null) this.#start(result.start, as);
        return result.admission;
      } catch (error) {
        if (error instanceof CommitUnknown && made.start !== null) this.#startIfCommitted(error, made.start, as);
        throw error;
      }
    }, isConflict);
  }

  /** Makes the bytes of the request's inline images durable. */
  async #storeInline({ integrationId, attachments }: CompletionRequest): Promise<ReadonlyMap<string, StoredBlob>> {
    const inline = attachments.filter(isInline);
    return inline.length === 0 ? NO_BLOBS : await this.#deps.blobs.store(integrationId, inline);
  }

  async #missingFile({ integrationId, sandboxFiles }: CompletionRequest): Promise<FilesFact> {
    const paths = sandboxFiles.map(({ below }) => below);
    const missing = await this.#deps.sandboxFiles.firstMissing(integrationId, paths);
    return missing === null ? null : { missing };
  }

  /**
   * The caller got 503 without a header, because the outcome of the commit is unknown. When the outcome is known, starts
   * the run if it was admitted. If this server stops before, another one takes the run over.
   */
  #startIfCommitted({ happened }: CommitUnknown, run: AdmittedRun, as: NodeIdentity | null): void {
    const { engine, isShuttingDown, logger } = this.#deps;
    const start = async () => {
      if (!(await happened) || (await this.#unfinished(run.runId)) === undefined || isShuttingDown()) return;
      this.#start(run, as);
      // Read after the start: a cancel that arrived earlier found no run here that it could stop.
      const row = await this.#unfinished(run.runId);
      if (row !== undefined && row.cancel_mode !== null) engine.stop(run.runId, row.cancel_mode);
    };
    start().catch((error: unknown) =>
      logger.error({ err: error, runId: run.runId, ...run.trace }, 'an admitted run could not be started'),
    );
  }

  /** Skips the start if this node was fenced after it admitted the run: another node owns it now. */
  #start(run: AdmittedRun, as: NodeIdentity | null): void {
    if (this.#deps.node.identity === as) this.#deps.engine.start(run);
  }

  /** Retries until the store answers. Returns undefined if the run has ended or this server is shutting down. */
  async #unfinished(runId: string): Promise<UnfinishedRun | undefined> {
    while (!this.#deps.isShuttingDown()) {
      try {
        return await first(this.#deps.store.reads.all(unfinishedRun, { runId }));
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        await sleep(LOOK_AGAIN_MS, undefined, { ref: false });
      }
    }
    return undefined;
  }

  /**
   * Throws the refusal if the decision is one. The slot is taken in the same step in which it is found free: other
   * requests read their facts concurrently. `slot` is null if nothing is to be reserved yet.
   */
  async #decide(reads: Reads, request: CompletionRequest, files: FilesFact, slot: Hold | null) {
    const now = Date.now();
    const { runSlots } = this.#deps;
    const { ownerId, integrationId, consumerId, usageRequestId, chatId, aliasChatId } = request;
    const facts = await first(
      reads.all(admissionFacts, { integrationId, consumerId, usageRequestId, chatId, aliasChatId, ...periodDays(now) }),
    );
    const decide = (refreshes: RefreshesFact) =>
      decideAdmission(facts, request, {
        nowMs: now,
        entryPoints: { of: (agency) => this.#deps.agencies.entryPoints(agency) },
        prices: { of: (agency, agent) => this.#entryPrice(agency, agent) },
        reserveTokens: this.#deps.reserveTokens,
        load: { shuttingDown: this.#deps.isShuttingDown(), full: slot?.amount !== 1 && !runSlots.fits(ownerId, 1) },
        files,
        refreshes,
      });
    let decision = decide('unasked');
    if (decision.kind === 'ask-refreshes')
      decision = decide(await refreshesFact(reads, decision.chatKey, request, now));
    if (decision.kind === 'refuse') throw decision.refusal;
    if (decision.kind === 'admit' && slot?.amount === 0) slot.grow(1);
    return { decision, now };
  }

  async #transaction(
    tx: Tx,
    request: CompletionRequest,
    files: FilesFact,
    blobs: ReadonlyMap<string, StoredBlob>,
    slot: Hold,
  ): Promise<{ readonly admission: Admission; readonly start: AdmittedRun | null }> {
    const { integrationId, consumerId } = request;
    // Both are sent in one round trip. The database reads the facts after it has the locks.
    const locked = tx.all(lockForAdmission, { integrationId, consumerId });
    const [, { decision, now }] = await Promise.all([locked, this.#decide(tx, request, files, slot)]);
    if (decision.kind === 'replay') return { admission: replayOf(decision), start: null };
    if (decision.kind !== 'admit') throw new Error('Files and refreshes were checked before the transaction.');
    const start = await this.#reserve(tx, request, blobs, decision, now);
    const { runId, chatId: made } = start;
    return { admission: { runId, chatId: made, textOnly: decision.textOnly, replayed: false }, start };
  }

  #entryPrice(agency: string, agent: string): ModelPrice | null {
    const model = this.#deps.agencies.agent(agency, agent)?.model;
    return (model === undefined ? undefined : this.#deps.prices.get(model)) ?? null;
  }

  /** T1's writes. */
  async #reserve(
    tx: Tx,
    request: CompletionRequest,
    blobs: ReadonlyMap<string, StoredBlob>,
    decision: Extract<AdmissionDecision, { kind: 'admit' }>,
    now: number,
  ): Promise<AdmittedRun> {
    const { ownerId, integrationId, consumerId, usageRequestId, message, messageBytes } = request;
    const runId = newId('run');
    const sandboxFiles = request.sandboxFiles.map(({ file }) => file);
    const chatKey = decision.chat?.chatKey ?? newId('chat');
    const chatId = decision.chat?.chatId ?? request.chatId ?? chatKey;
    // All statements are sent together: that is one round trip to the database.
    const joined =
      decision.chat === null
        ? tx.run(insertChat, {
            chatKey,
            integrationId,
            chatId,
            alias: request.aliasChatId,
            consumerId,
            numMessages: 1,
            textBytes: messageBytes,
            now,
          })
        : tx.run(growChat, { chatKey, textBytes: messageBytes, alias: decision.chat.alias, now });
    const writes = [
      joined,
      tx.run(insertMessage, {
        messageId: newId('msg'),
        chatKey,
        runId,
        role: 'user',
        status: 'completed',
        agent: decision.agent,
        contentJson: JSON.stringify(message),
        errorCode: null,
        errorMessage: null,
        sandboxFilesJson: sandboxFiles.length === 0 ? null : JSON.stringify(sandboxFiles),
        now,
      }),
      tx.run(insertRun, {
        runId,
        integrationId,
        chatKey,
        consumerId,
        usageRequestId,
        fingerprint: request.fingerprint,
        agency: decision.agency,
        agent: decision.agent,
        nodeId: this.#deps.node.nodeId,
        held: decision.held,
        unit: decision.unit,
        day: dayOf(now),
        period: decision.period,
        periodStart: decision.periodStart,
        userContextJson: request.userContext === undefined ? null : JSON.stringify(request.userContext),
        journalFormat: request.attachments.every(isInline) ? JOURNAL_FORMAT : JOURNAL_FORMAT_WITH_URLS,
        now,
      }),
    ];
    const meta: Meta = {
      runId,
      chatId,
      aliasChatId: request.aliasChatId ?? decision.chat?.knownAlias ?? null,
      usageRequestId,
      consumerId,
      agent: decision.agent,
      createdAt: now,
      ...(request.ignoredFields.length === 0 ? {} : { ignoredFields: request.ignoredFields }),
    };
    const event: RunEvent = { type: 'meta', meta, id: 1 };
    writes.push(tx.run(insertChunk, { runId, firstId: 1, lastId: 1, data: encodeChunk([event]) }));
    // After `joined`, which locks the chat's row: from then on no sweep can delete its copies.
    const links =
      decision.hasHistory && !decision.keepAttachments
        ? refreshesFact(tx, chatKey, request, now)
        : Promise.resolve(null);
    await Promise.all([...writes, links]);
    if ((await joined) !== 1) throw new ChatGone();
    if ((await links) instanceof Refusal) throw new CopiesGone();
    // After the others: a job awaits everything that it has sent before it sends what depends on the answers.
    const { refreshes } = request;
    if (!(refreshes instanceof Refusal) && refreshes.length > 0) await applyRefreshes(tx, chatKey, refreshes);
    const attached =
      request.attachments.length === 0
        ? []
        : await insertAttachments(tx, { integrationId, chatKey, runId, now }, request.attachments, blobs);
    return {
      runId,
      trace: request.trace,
      attempt: 1,
      ownerId,
      integrationId,
      consumerId,
      chatKey,
      chatId,
      agency: decision.agency,
      agent: decision.agent,
      message,
      attachments: attached,
      sandboxFiles,
      hasHistory: decision.hasHistory,
      userContext: request.userContext,
      day: dayOf(now),
      maxRunSeconds: decision.maxRunSeconds,
      onDisconnect: decision.onDisconnect,
      keepAttachments: decision.keepAttachments,
      opening: event,
      resumed: null,
    };
  }
}

async function refreshesFact(
  reads: Reads,
  chatKey: string | null,
  { refreshes }: CompletionRequest,
  now: number,
): Promise<RefreshesFact> {
  if (refreshes instanceof Refusal) return refreshes;
  return checkRefreshes(refreshes, await earlierUrls(reads, chatKey, refreshes.length > 0), now);
}

function replayOf({ runId, chatId, textOnly }: Extract<AdmissionDecision, { kind: 'replay' }>): Admission {
  return { runId, chatId, textOnly, replayed: true };
}
