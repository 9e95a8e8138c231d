import { agencyProcess, type Rig, type ServerProcess } from '@runwire/test-kit';
import { addTo, expectAtMost, expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';

/** What the model learns about a call that was open when its process or its server died. */
export const UNKNOWN = /its outcome is unknown/;

/** Kills of processes, the runs that used them, and what became of the calls that were open. */
export type KillSums = Record<'process_kills' | 'process_runs' | 'unknown_calls' | 'repeated_calls', number>;
export const noKills = (): KillSums => ({
  process_kills: 0,
  process_runs: 0,
  unknown_calls: 0,
  repeated_calls: 0,
});

/** Kills the process that runs an agency's tools. Resolves to the ids of the calls that it was making. */
export async function killProcess({ gate }: Rig, agency: string, { api }: ServerProcess): Promise<ReadonlySet<string>> {
  const { pid } = await within('process of the agency', WAIT_MS, agencyProcess(api, agency));
  const { held } = gate;
  process.kill(pid, 'SIGKILL');
  return held;
}

/** Returns the output of the call that the model received. */
export function outputForModel({ model }: Rig, callId: string): string | undefined {
  const outputs = model.calls.flatMap(({ request }) =>
    request.prompt.flatMap((item) => (item.kind === 'tool_output' && item.callId === callId ? [item.output] : [])),
  );
  return outputs.at(-1);
}

/**
 * Checks a call that was open when its process was killed. If it may not be repeated, it was made once, and the model
 * learned that the outcome is unknown. Otherwise it was made at most twice, with one key.
 */
export function checkOpenCall(rig: Rig, callId: string, isRepeatable: boolean, sums: KillSums): void {
  const calls = rig.gate.calls.filter((call) => call.callId === callId);
  const isUnknown = UNKNOWN.test(outputForModel(rig, callId) ?? '');
  expectEqual(`whether the outcome of ${callId} is unknown`, isUnknown, !isRepeatable);
  expectAtMost(`calls of ${callId}`, calls.length, isRepeatable ? 2 : 1);
  expectEqual('idempotency keys', new Set(calls.map(({ idempotencyKey }) => idempotencyKey)).size, 1);
  addTo(sums, { unknown_calls: Number(isUnknown), repeated_calls: calls.length - 1 });
}
