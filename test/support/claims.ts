import type { ApiClient, StreamReader } from '@runwire/test-kit';
import { expectEqual } from '@runwire/test-kit/shortfall.ts';

/** Posts requests, each with a unique id, and records the `X-Agent-Run-Admitted` of each answer. */
export class Claims {
  /** By the request's id; `none` means no such header, or no answer. */
  readonly said = new Map<string, string>();
  /** How long the slowest answer took to begin. */
  slowestMs = 0;

  /** Returns the reader if the request was admitted. */
  async post(api: ApiClient, body: Readonly<Record<string, unknown>>, id: string): Promise<StreamReader | null> {
    const began = performance.now();
    const reader = await api.complete({ ...body, usageRequestId: id }).catch(() => null);
    this.slowestMs = Math.max(this.slowestMs, Math.round(performance.now() - began));
    this.said.set(id, String(reader?.headers['x-agent-run-admitted'] ?? 'none'));
    if (reader?.status === 200) return reader;
    await reader?.over;
    return null;
  }

  count(claim: 'true' | 'false' | 'none'): number {
    return [...this.said.values()].filter((said) => said === claim).length;
  }

  /**
   * No answer claimed `true` for a request without a run, or `false` for a request with a run; `none` is never wrong. `stored`
   * resolves to the requests' ids with a run. It is called after the answers are noted: a run is stored before its
   * answer.
   */
  async check(prefix: string, stored: () => Promise<ReadonlySet<unknown>>) {
    const said = [...this.said];
    const ids = await stored();
    const wrong = (claim: string, has: boolean) =>
      said.filter(([id, one]) => one === claim && ids.has(id) === has).length;
    return {
      wrong_true: expectEqual(`${prefix}header \`true\` without a run`, wrong('true', false), 0),
      wrong_false: expectEqual(`${prefix}header \`false\` for an admitted run`, wrong('false', true), 0),
    };
  }
}
