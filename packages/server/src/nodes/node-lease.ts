import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../lib/monotonic.ts';
import type { BeatReport, NodeBeats, SeenBeat } from '../store/node-beats.ts';
import type { NodeIdentity, ThisNode } from '../store/this-node.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface LeaseDeps {
  readonly node: ThisNode;
  readonly beats: NodeBeats;
  readonly leaseMs: number;
  /** Puts this process on the list of nodes. */
  readonly register: (closed: AbortSignal) => Promise<NodeIdentity>;
  /** The others have this node's runs. Called in the step in which it is learned. */
  readonly onLost: () => void;
  /** Whoever was held may go on. */
  readonly onCertain: () => void;
  /** Nodes that were silent for a lease. */
  readonly onSilent: (nodes: readonly SeenBeat[]) => void;
  readonly onOrphans: () => void;
  readonly logger: Logger;
}

const LIFE_SIGN_MS = 250;
const REGISTER_AGAIN_MS = 1000;

/*
 * What this process may do by its lease:
 *
 *   certain ──(it stood still)──▶ held ──(a beat begun since)──▶ certain
 *      │                            │
 *      └──────(found dead)──▶ lost ◀┘ ──(registered as a new node)──▶ certain
 *
 * held: what its runs say is not told on, for they may be another's by now. lost: its runs are given up, and nothing is
 * admitted. Besides, calls of models and tools are started only while the last beat is younger than the lease: so long
 * nobody can have taken this node for dead.
 */
export class NodeLease implements AsyncDisposable {
  readonly #deps: LeaseDeps;
  readonly #timer: NodeJS.Timeout;
  readonly #stallMs: number;
  readonly #closed = new AbortController();
  /** When the last beat that was raised had been begun. */
  #beatAt: number;
  #turnedAt: number;
  #heldSince: number | null = null;
  #peers = 0;
  #waiting: (() => void)[] = [];
  #registering: Promise<void> | null = null;

  /** `registeredAt`: when its registration had been begun, which counts as a beat. */
  constructor(deps: LeaseDeps, registeredAt: number) {
    this.#deps = deps;
    this.#stallMs = (deps.leaseMs * 3) / 8;
    this.#beatAt = registeredAt;
    this.#turnedAt = monotonicMs();
    this.#timer = setInterval(this.#turn, Math.min(LIFE_SIGN_MS, this.#stallMs / 4));
    this.#timer.unref();
    deps.beats.start(this.#heard);
    deps.beats.become(deps.node.nodeId);
  }

  /** Whether other nodes are alive. */
  get hasPeers(): boolean {
    return this.#peers > 0;
  }

  get beatAgeMs(): number {
    return monotonicMs() - this.#beatAt;
  }

  /** Whether nobody knows here if the others took this node for dead while it stood still. */
  get isHeld(): boolean {
    this.#noticeStall();
    return this.#heldSince !== null;
  }

  /** Null: a call may be started. Otherwise resolves when it may; rejects when the signal comes first. */
  mayCall(signal: AbortSignal): Promise<void> | null {
    return this.#isFresh ? null : this.#untilFresh(signal);
  }

  drain(): void {
    this.#deps.beats.drain();
  }

  /** A transaction, or the beat, found this node dead. */
  lose(identity: NodeIdentity): void {
    const { node, beats, logger, onLost } = this.#deps;
    if (node.identity !== identity) return;
    node.lost();
    beats.become(null);
    logger.error({ nodeId: identity.nodeId }, 'the other nodes took this one for dead; its runs are theirs now');
    onLost();
    this.#letGo();
    this.#registering ??= this.#register().finally(() => {
      this.#registering = null;
    });
  }

  get #isFresh(): boolean {
    return this.#deps.node.identity !== null && this.beatAgeMs < this.#deps.leaseMs;
  }

  async #untilFresh(signal: AbortSignal): Promise<void> {
    this.#deps.beats.hurry();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      for (;;) {
        signal.throwIfAborted();
        if (this.#isFresh) return;
        await Promise.race([promise, new Promise<void>((beaten) => this.#waiting.push(beaten))]);
      }
    } finally {
      signal.removeEventListener('abort', abort);
      resolve();
    }
  }

  #turn = (): void => {
    this.#noticeStall();
    this.#deps.beats.live();
  };

  #noticeStall(): void {
    const now = monotonicMs();
    if (now - this.#turnedAt > this.#stallMs) {
      this.#heldSince = now;
      this.#deps.beats.hurry();
    }
    this.#turnedAt = now;
  }

  #heard = (report: BeatReport): void => {
    const { node, onSilent, onOrphans } = this.#deps;
    const { identity } = node;
    this.#noticeStall();
    this.#peers = report.peers;
    if (identity === null || report.nodeId !== identity.nodeId) return;
    if (report.dead) {
      this.lose(identity);
      return;
    }
    if (report.raised) {
      this.#beatAt = report.begunAt;
      for (const beaten of this.#waiting.splice(0)) beaten();
      if (this.#heldSince !== null && report.begunAt > this.#heldSince) this.#letGo();
    }
    if (report.silent.length > 0) onSilent(report.silent);
    if (report.orphans) onOrphans();
  };

  #letGo(): void {
    if (this.#heldSince === null) return;
    this.#heldSince = null;
    this.#deps.onCertain();
  }

  async #register(): Promise<void> {
    const { node, beats, register, logger } = this.#deps;
    const { signal } = this.#closed;
    while (!signal.aborted) {
      const begunAt = monotonicMs();
      try {
        const identity = await register(signal);
        this.#beatAt = begunAt;
        node.registered(identity);
        beats.become(identity.nodeId);
        logger.warn({ nodeId: identity.nodeId }, 'registered as a new node');
        return;
      } catch (error) {
        logger.warn({ err: error }, 'this node could not register anew; it tries again');
        await sleep(REGISTER_AGAIN_MS, undefined, { signal }).catch(() => {});
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    clearInterval(this.#timer);
    await this.#deps.beats[Symbol.asyncDispose]();
    await this.#registering;
  }
}
