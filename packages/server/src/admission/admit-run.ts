import { CellMap } from '@runwire/lib/cells.ts';
import type { Hold } from '@runwire/lib/fair-budget.ts';
import type { AttachmentBlobs, StoredBlobs } from '../attachments/attachment-blobs.ts';
import { isInline } from '../attachments/request-attachment.ts';
import { SourceChanged } from '../chats/fork/copy-chat.ts';
import { missingFileRefusal, type Replay } from '../domain/admission/admission.ts';
import type { ChatId, RunId } from '../domain/ids.ts';
import { CommitUnknown } from '../domain/unavailable.ts';
import type { CheckArguments } from '../engine/port.ts';
import type { Files } from '../files/files.ts';
import { BlobGone } from '../files/pending-blobs.ts';
import type { EarlierNodes } from '../store/earlier-nodes.ts';
import { lockForAdmission } from '../store/queries/locks.ts';
import { repeatOnConflict, type Tx, UniqueViolation } from '../store/store.ts';
import { checkMember, FactsChanged } from './check-member.ts';
import type { CompletionRequest } from './completion-request.ts';
import { type DecideDeps, type DecideOptions, decide } from './decide.ts';
import { isEval, namesRun } from './find-start.ts';
import { forkForRun, refuseBesideEarlier } from './fork-for-run.ts';
import { reserveRun } from './reserve-run.ts';
import { type StartableRun, type StartDeps, startIfCommitted, startRun } from './start-run.ts';

export interface Admission {
  readonly runId: RunId;
  readonly chatId: ChatId;
  readonly textOnly: boolean;
  readonly replayed: boolean;
}

export interface AdmissionDeps extends DecideDeps, StartDeps {
  readonly blobs: AttachmentBlobs;
  readonly files: Pick<Files, 'firstMissing'>;
  readonly earlierNodes: EarlierNodes;
  readonly checkArguments: CheckArguments;
}

const NO_BLOBS: StoredBlobs = { byHash: new Map(), batch: null };

/** The facts have changed since they were read: a unique index, the chat, a blob or a copy shows it. */
const isConflict = (error: unknown) =>
  error instanceof UniqueViolation ||
  error instanceof FactsChanged ||
  error instanceof SourceChanged ||
  error instanceof BlobGone;

interface AdmissionOutcome {
  readonly admission: Admission;
  /** Null if the request is a replay. */
  readonly run: StartableRun | null;
}

/**
 * Decides whether a request becomes a run, in one transaction (T1) that writes everything or nothing:
 *
 *   equal requests share one decision ──▶ files and early refusals ──▶ inline images stored ──▶ T1 ──▶ run started
 */
export class RunAdmission {
  readonly #deps: AdmissionDeps;
  /** Requests in progress by integration and usage request id: equal ones share the outcome, others wait. */
  readonly #inProgress = new CellMap<string, { readonly body: string; readonly outcome: Promise<Admission> }>();
  #count = 0;

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
  }

  /** The number of requests that may still become runs. */
  get underWay(): number {
    return this.#count;
  }

  /** Throws a `Refusal`; then nothing is reserved. */
  async admit(request: CompletionRequest): Promise<Admission> {
    this.#count += 1;
    try {
      return await this.#admitOnce(request);
    } finally {
      this.#count -= 1;
    }
  }

  async #admitOnce(request: CompletionRequest): Promise<Admission> {
    if (request.usageRequestId === null) return this.#admit(request);
    const key = JSON.stringify([request.integrationId, request.usageRequestId]);
    const body = JSON.stringify([request.fingerprint, request.chatId, request.aliasChatId]);
    for (let other = this.#inProgress.get(key); other !== undefined; other = this.#inProgress.get(key)) {
      if (other.body === body) return { ...(await other.outcome), replayed: true };
      await other.outcome.catch(() => {});
    }
    const outcome = this.#admit(request).finally(() => this.#inProgress.delete(key));
    this.#inProgress.set(key, { body, outcome });
    return outcome;
  }

  #admit(request: CompletionRequest): Promise<Admission> {
    if (request.sandboxFiles.length === 0 && !hasInline(request) && !changesArguments(request)) {
      return repeatOnConflict(() => this.#transact(request, NO_BLOBS), isConflict);
    }
    return repeatOnConflict(async () => (await this.#checkEarly(request)) ?? this.#admitWithBlobs(request), isConflict);
  }

  /** If the request is refused, its images are deleted before it is answered. */
  async #admitWithBlobs(request: CompletionRequest): Promise<Admission> {
    const blobs = await this.#storeInline(request);
    try {
      const admission = await this.#transact(request, blobs);
      if (admission.replayed) await this.#deps.blobs.abandon(blobs);
      return admission;
    } catch (error) {
      await this.#deps.blobs.abandon(blobs, error);
      throw error;
    }
  }

  /**
   * Decides once before the transaction, so that a replay or a refusal looks up no file and stores no image for nothing.
   * Throws the refusal. Files are looked up and changed arguments are checked only here. Without inline images the later checks are left to the transaction.
   */
  async #checkEarly(request: CompletionRequest): Promise<Admission | null> {
    const { store } = this.#deps;
    const files = async () => {
      const paths = request.sandboxFiles.map(({ below }) => below);
      const missing = await this.#deps.files.firstMissing(request.integrationId, paths);
      if (missing !== null) return missingFileRefusal(missing);
      return hasInline(request) ? null : 'enough';
    };
    const checkArguments: DecideOptions['checkArguments'] = (agency, changes) =>
      this.#deps.checkArguments(agency, request, changes);
    const options = { slot: null, checkArguments, files, fork: null };
    const { decision } = await decide(this.#deps, store.reads, request, options);
    return decision?.kind === 'replay' ? replayed(decision) : null;
  }

  async #transact(request: CompletionRequest, blobs: StoredBlobs): Promise<Admission> {
    using slot = this.#deps.runSlots.hold(request.ownerId);
    let written = null as StartableRun | null;
    const as = this.#deps.node.identity;
    try {
      const { integrationId, consumerId } = request;
      const decideAndReserve = async (tx: Tx) => {
        const transacted = await this.#decideAndReserve(tx, request, blobs, slot);
        written = transacted.run;
        return transacted;
      };
      const locks = { integrationId, consumerId, names: namesIn(request) };
      const { store } = this.#deps;
      // A fork locks and copies a chat, so it shares its transaction with no other request.
      const { admission, run } = namesRun(request)
        ? await store.transact('admit', async (tx) => {
            await tx.all(lockForAdmission, { integrationId, consumerId });
            return decideAndReserve(tx);
          })
        : await store.transact('admit', decideAndReserve, locks);
      // In the same turn in which the commit returns, so that no cancel can arrive before the run can be stopped.
      if (run !== null) startRun(this.#deps, run, as);
      return admission;
    } catch (error) {
      if (error instanceof CommitUnknown && written !== null) startIfCommitted(this.#deps, error, written, as);
      throw error;
    }
  }

  /** Makes the bytes of inline attachments durable. Throws `FactsChanged` if the member was deleted. */
  async #storeInline(request: CompletionRequest): Promise<StoredBlobs> {
    const { integrationId, consumerId, attachments, history, chatRules } = request;
    const inline = [...attachments, ...history.flatMap((turn) => turn.attachments)].filter(isInline);
    if (inline.length === 0) return NO_BLOBS;
    // A member that is registered with the run may be unknown now.
    const check = (tx: Tx) => checkMember(tx, integrationId, chatRules.registersMember ? null : consumerId);
    return await this.#deps.blobs.store({ integrationId, consumerId, check }, inline);
  }

  async #decideAndReserve(
    tx: Tx,
    request: CompletionRequest,
    blobs: StoredBlobs,
    slot: Hold,
  ): Promise<AdmissionOutcome> {
    // The files were looked up, and changed arguments were checked, before the transaction.
    const { decision, now, agency } = await decide(this.#deps, tx, request, {
      slot,
      checkArguments: async () => null,
      files: async () => null,
      fork: (start) => forkForRun(tx, request, start, this.#deps.earlierNodes),
    });
    if (decision === null) throw new Error('Admission was not decided.');
    if (decision.kind === 'replay') return { admission: replayed(decision), run: null };
    const { node, earlierNodes } = this.#deps;
    if (isEval(request.rerun)) refuseBesideEarlier(earlierNodes);
    const storesMeta = earlierNodes.areAlive();
    const run = await reserveRun(tx, { request, decision, agency, blobs, nodeId: node.nodeId, storesMeta, now });
    const { runId, chatId } = run;
    return { admission: { runId, chatId, textOnly: decision.textOnly, replayed: false }, run: { run, agency } };
  }
}

/** Unique names that concurrent requests can share. Requests with one `usageRequestId` wait in `#inProgress`. */
function namesIn({ integrationId, chatId, aliasChatId }: CompletionRequest): string[] {
  const names = chatId === null ? [] : [`${integrationId} chat ${chatId}`];
  if (aliasChatId !== null) names.push(`${integrationId} alias ${aliasChatId}`);
  return names;
}

/** True if the request contains bytes that are stored before its transaction. */
const hasInline = ({ attachments, history }: CompletionRequest): boolean =>
  attachments.some(isInline) || (history.length > 0 && history.some((turn) => turn.attachments.some(isInline)));

const changesArguments = ({ answers }: CompletionRequest): boolean =>
  answers?.some((answer) => answer.arguments !== undefined) === true;

const replayed = ({ runId, chatId, textOnly }: Replay): Admission => ({ runId, chatId, textOnly, replayed: true });
