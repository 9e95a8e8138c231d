import { monotonicMs } from '@runwire/lib/monotonic.ts';
import type { NodeStats } from '../domain/node-stats.ts';
import type { Engine } from '../engine/engine.ts';
import type { TakeoverLoop } from '../engine/takeover/takeover-loop.ts';
import type { Streams } from '../http/run-stream.ts';
import { NodeLease } from '../nodes/node-lease.ts';
import { registerNode, releaseThisNode, storeNodeAddress } from '../nodes/register-node.ts';
import type { Heartbeats } from '../store/heartbeats.ts';
import type { Store } from '../store/store.ts';
import { type NodeIdentity, ThisNode } from '../store/this-node.ts';
import type { Logger } from '../telemetry/logger.ts';

export interface NodeTimes {
  readonly leaseMs: number;
  readonly beatMs: number;
  readonly logger: Logger;
}

/** The list of nodes that this node joins. */
export interface NodeGroup {
  readonly store: Store;
  /** True on the embedded store, which has one node. */
  readonly isAlone: boolean;
  /** Null on the embedded store, which has no heartbeats. */
  readonly beats: (() => Heartbeats) | null;
}

/**
 * This node's life:
 *
 *   new ──join()──▶ member ──serve(), listensAt(), takeOver()──▶ serving ──drain()──▶ draining ──dispose──▶ released
 *                                                                  │  ▲
 *                                     (other nodes fenced this one)│  │(registered as a new node)
 *                                                                  ▼  │
 *                                                                 fenced
 *
 * A fenced node gives up its runs in the same tick, because other nodes own them now, and it admits no run. The embedded
 * store has no lease, so its node is never fenced.
 */
export class NodeLife implements AsyncDisposable {
  readonly node = new ThisNode();
  readonly #times: NodeTimes;
  #group: NodeGroup | null = null;
  #lease: NodeLease | null = null;
  /** Null before the server listens. */
  #address: string | null = null;
  #engine: Engine | null = null;
  #streams: Streams | null = null;
  #takeover: TakeoverLoop | null = null;
  #isDraining = false;

  constructor(times: NodeTimes) {
    this.#times = times;
  }

  /** Registers this node and starts its heartbeats. */
  async join(group: NodeGroup): Promise<NodeIdentity> {
    this.#group = group;
    const registeredAt = monotonicMs();
    const identity = await this.#register(group);
    this.node.registered(identity);
    if (group.beats === null) return identity;
    this.#lease = new NodeLease(
      {
        node: this.node,
        beats: group.beats(),
        leaseMs: this.#times.leaseMs,
        register: () => this.#register(group),
        onFenced: () => this.#giveUpRuns(),
        onConfirmed: () => this.#streams?.resume(),
        onSilent: (nodes) => this.#takeover?.fence(nodes),
        onOrphans: () => this.#takeover?.look(),
        logger: this.#times.logger,
      },
      registeredAt,
    );
    return identity;
  }

  /** From now on a fence stops these runs and cuts their streams. Must be called before the first run starts. */
  serve(engine: Engine, streams: Streams): void {
    this.#engine = engine;
    this.#streams = streams;
  }

  /** From now on the heartbeats of this node store these figures. */
  showStats(read: () => NodeStats): void {
    this.#lease?.showStats(read);
  }

  /** Stores the address, also for a later registration as a new node. */
  async listensAt(address: string): Promise<void> {
    this.#address = address;
    if (this.#group !== null) await storeNodeAddress(this.#group.store, this.node, address);
  }

  /** From now on this node fences silent nodes and takes over their runs. */
  takeOver(takeover: TakeoverLoop): void {
    this.#takeover = takeover;
  }

  /** From now on this node admits no run and takes over none. */
  stopAdmitting(): void {
    this.#isDraining = true;
  }

  /** Stops admitting, and shows the other nodes that this node is draining. */
  drain(): void {
    this.stopAdmitting();
    this.#lease?.drain();
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** True if this node is registered and not draining. */
  get isServing(): boolean {
    return !this.#isDraining && this.node.identity !== null;
  }

  /**
   * True if this process was stalled so long that other nodes may have fenced it. Its streams wait for the next
   * heartbeat.
   */
  get isUncertain(): boolean {
    return this.#lease?.isUncertain === true;
  }

  /** 0 on the embedded store. */
  get beatAgeMs(): number {
    return this.#lease?.beatAgeMs ?? 0;
  }

  /** True if no heartbeat was answered for 3 s, which is longer than the time between two. */
  get isCutOff(): boolean {
    return this.beatAgeMs > (this.#times.leaseMs * 3) / 8;
  }

  /**
   * Returns null if a model or tool call may start now. Otherwise resolves when it may, and rejects if `signal` aborts
   * first.
   */
  mayCall(signal: AbortSignal): Promise<void> | null {
    return this.#lease === null ? null : this.#lease.mayCall(signal);
  }

  /** A transaction found that other nodes have fenced `identity`. */
  fenced(identity: NodeIdentity): void {
    this.#lease?.fenced(identity);
  }

  /** The node id for hints to other nodes. Null if there are no other nodes: then no hints are sent. */
  hintSender(): string | null {
    return this.#lease?.hasPeers === false ? null : (this.node.identity?.nodeId ?? null);
  }

  #register({ store, isAlone }: NodeGroup): Promise<NodeIdentity> {
    return registerNode(store, isAlone, this.#address);
  }

  #giveUpRuns(): void {
    const lost = this.#engine?.loseAll();
    if (lost !== undefined) this.#streams?.cutRuns(lost);
  }

  /** Must come after the last flush of the event log: the runs that this stop leaves unfinished did not crash. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lease?.[Symbol.asyncDispose]();
    if (this.#group !== null) await releaseThisNode(this.#group.store, this.node, this.#times.logger);
  }
}
