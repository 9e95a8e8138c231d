import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '@runwire/lib/monotonic.ts';
import type { NodeStats } from '../domain/node-stats.ts';
import type { HeartbeatReport, Heartbeats, SeenHeartbeat } from '../store/heartbeats.ts';
import type { NodeIdentity, ThisNode } from '../store/this-node.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface LeaseDeps {
  readonly node: ThisNode;
  readonly beats: Heartbeats;
  readonly leaseMs: number;
  /** Adds this process to the list of nodes. */
  readonly register: () => Promise<NodeIdentity>;
  /** Other nodes fenced this node and own its runs now. Called in the tick in which this process learns of it. */
  readonly onFenced: () => void;
  /** A heartbeat confirmed the lease after a stall: streams that waited may continue. */
  readonly onConfirmed: () => void;
  /** Other nodes sent no heartbeat for a lease's length. */
  readonly onSilent: (nodes: readonly SeenHeartbeat[]) => void;
  /** There are unfinished runs of nodes that are not alive. */
  readonly onOrphans: () => void;
  readonly logger: Logger;
}

const LIFE_SIGN_MS = 250;
const REGISTER_AGAIN_MS = 1000;

/**
 * This node's lease, renewed by its heartbeats:
 *
 *   certain ──(the event loop stalled)──▶ uncertain ──(a heartbeat that began after the stall)──▶ certain
 *      │                                      │
 *      └──(found fenced)──▶ fenced ◀──────────┘
 *                             └──(registered as a new node)──▶ certain
 *
 * uncertain: streams send no events, because another node may own the runs by now. fenced: this node gives up its runs
 * and admits none. Independent of these states, a model or tool call starts only while the last heartbeat is younger
 * than the lease: until then no other node can have fenced this one.
 */
export class NodeLease implements AsyncDisposable {
  readonly #deps: LeaseDeps;
  readonly #timer: NodeJS.Timeout;
  readonly #stallMs: number;
  readonly #closed = new AbortController();
  /** When the last successful heartbeat began. */
  #beatAt: number;
  /** When the event loop last ran our timer. */
  #turnedAt: number;
  #uncertainSince: number | null = null;
  #peers = 0;
  #waiting: (() => void)[] = [];
  #registering: Promise<void> | null = null;
  #readStats: (() => NodeStats) | null = null;

  /** `registeredAt` is the time when the registration began. It counts as a heartbeat. */
  constructor(deps: LeaseDeps, registeredAt: number) {
    this.#deps = deps;
    this.#stallMs = (deps.leaseMs * 3) / 8;
    this.#beatAt = registeredAt;
    this.#turnedAt = monotonicMs();
    this.#timer = setInterval(this.#turn, Math.min(LIFE_SIGN_MS, this.#stallMs / 4));
    this.#timer.unref();
    deps.beats.start(this.#onReport);
    deps.beats.setNode(deps.node.nodeId);
  }

  /** True if other nodes are alive. */
  get hasPeers(): boolean {
    return this.#peers > 0;
  }

  get beatAgeMs(): number {
    return monotonicMs() - this.#beatAt;
  }

  /** True if this process stalled so long that other nodes may have fenced it, and no heartbeat has answered since. */
  get isUncertain(): boolean {
    this.#noticeStall();
    return this.#uncertainSince !== null;
  }

  /** Returns null if a call may start now. Otherwise resolves when it may, and rejects if `signal` aborts first. */
  mayCall(signal: AbortSignal): Promise<void> | null {
    return this.#isFresh ? null : this.#untilFresh(signal);
  }

  drain(): void {
    this.#deps.beats.drain();
  }

  /** From now on heartbeats store these figures. */
  showStats(read: () => NodeStats): void {
    this.#readStats = read;
  }

  /** A transaction or a heartbeat found that other nodes have fenced `identity`. */
  fenced(identity: NodeIdentity): void {
    const { node, beats, logger, onFenced } = this.#deps;
    if (node.identity !== identity) return;
    node.lost();
    beats.setNode(null);
    logger.error(
      { nodeId: identity.nodeId },
      'other nodes fenced this node: it was silent for the length of its lease, and they own its runs now',
    );
    onFenced();
    this.#confirm();
    this.#registering ??= this.#register().finally(() => {
      this.#registering = null;
    });
  }

  get #isFresh(): boolean {
    return this.#deps.node.identity !== null && this.beatAgeMs < this.#deps.leaseMs;
  }

  async #untilFresh(signal: AbortSignal): Promise<void> {
    this.#deps.beats.raiseNow();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      for (;;) {
        signal.throwIfAborted();
        if (this.#isFresh) return;
        await Promise.race([promise, new Promise<void>((wake) => this.#waiting.push(wake))]);
      }
    } finally {
      signal.removeEventListener('abort', abort);
      resolve();
    }
  }

  #turn = (): void => {
    this.#noticeStall();
    this.#deps.beats.keepAlive();
  };

  #noticeStall(): void {
    const now = monotonicMs();
    if (now - this.#turnedAt > this.#stallMs) {
      this.#uncertainSince = now;
      this.#deps.beats.raiseNow();
    }
    this.#turnedAt = now;
  }

  #onReport = (report: HeartbeatReport): void => {
    const { node, onSilent, onOrphans } = this.#deps;
    const { identity } = node;
    this.#noticeStall();
    this.#peers = report.peers;
    // For the next heartbeat, which follows within half an interval or a whole one. Measured: 7 µs.
    if (this.#readStats !== null) this.#deps.beats.setStats(JSON.stringify(this.#readStats()));
    if (identity === null || report.nodeId !== identity.nodeId) return;
    if (report.dead) {
      this.fenced(identity);
      return;
    }
    if (report.raised) {
      this.#beatAt = report.begunAt;
      for (const wake of this.#waiting.splice(0)) wake();
      if (this.#uncertainSince !== null && report.begunAt > this.#uncertainSince) this.#confirm();
    }
    if (report.silent.length > 0) onSilent(report.silent);
    if (report.orphans) onOrphans();
  };

  #confirm(): void {
    if (this.#uncertainSince === null) return;
    this.#uncertainSince = null;
    this.#deps.onConfirmed();
  }

  async #register(): Promise<void> {
    const { node, beats, register, logger } = this.#deps;
    const { signal } = this.#closed;
    while (!signal.aborted) {
      const begunAt = monotonicMs();
      try {
        const identity = await register();
        this.#beatAt = begunAt;
        node.registered(identity);
        beats.setNode(identity.nodeId);
        logger.warn({ nodeId: identity.nodeId }, 'registered as a new node');
        return;
      } catch (error) {
        logger.warn({ err: error }, 'this node could not register as a new node; it retries');
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
