import type { ApiClient, StreamReader } from '@runwire/test-kit';
import { expectNumber } from './proof.ts';

/** The value of `X-Agent-Run-Admitted` in an answer; `none` means no such header, or no answer. */
export type Claim = 'true' | 'false' | 'none';

/** Posts requests, each with a unique id, and records the claim of each answer. */
export class Claims {
  readonly #said = new Map<string, Claim>();
  #slowestMs = 0;

  /** Returns the reader if the request was admitted. */
  async post(api: ApiClient, body: Readonly<Record<string, unknown>>, id: string): Promise<StreamReader | null> {
    const began = performance.now();
    const reader = await api.complete({ ...body, usageRequestId: id }).catch(() => null);
    this.#slowestMs = Math.max(this.#slowestMs, performance.now() - began);
    const said = reader?.headers['x-agent-run-admitted'];
    this.#said.set(id, said === 'true' || said === 'false' ? said : 'none');
    if (reader?.status === 200) return reader;
    await reader?.over;
    return null;
  }

  get ids(): readonly string[] {
    return [...this.#said.keys()];
  }

  get size(): number {
    return this.#said.size;
  }

  /** How long the slowest answer took to begin. */
  get slowestMs(): number {
    return Math.round(this.#slowestMs);
  }

  count(claim: Claim): number {
    return [...this.#said.values()].filter((said) => said === claim).length;
  }

  /** A copy that later answers do not change. A run is stored before its answer, so read the stored runs after this copy. */
  soFar(): Claims {
    const copy = new Claims();
    for (const [id, said] of this.#said) copy.#said.set(id, said);
    return copy;
  }

  /**
   * Counts the answers that claimed `true` for a request without a run, or `false` for a request with a run. `none` is
   * never wrong.
   */
  wrong(prefix: string, stored: ReadonlySet<unknown>): { readonly falseTrue: number; readonly falseFalse: number } {
    const wrong = (claim: Claim, has: boolean) =>
      [...this.#said].filter(([id, said]) => said === claim && stored.has(id) === has).length;
    return {
      falseTrue: expectNumber(`${prefix}header \`true\` without a run`, wrong('true', false), 0),
      falseFalse: expectNumber(`${prefix}header \`false\` for an admitted run`, wrong('false', true), 0),
    };
  }
}
