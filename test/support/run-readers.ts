import { type Frame, Runwire } from '@runwire/client';
import type { Python } from './python.ts';

/* Each client reads a run to its end, and tells what it read. */

export interface ReadJob {
  readonly url: string;
  readonly key: string;
  readonly integration: string;
  /** The `usageRequestId`. */
  readonly id: string;
  /** Plants a fault: the client resumes one event late. */
  readonly isLate: boolean;
}

export interface RunReport {
  readonly runId: string;
  readonly status: string;
  readonly text: string;
  readonly currentText: string;
  readonly frames: readonly Frame[];
}

export type RunReader = (job: ReadJob) => Promise<RunReport>;

const MESSAGE = 'Look it up.';

const resumeOneLate: typeof fetch = (input, init = {}) => {
  const headers = new Headers(init.headers);
  const last = headers.get('last-event-id');
  if (last !== null) headers.set('last-event-id', String(Number(last) + 1));
  return fetch(input, { ...init, headers });
};

const typescript: RunReader = async ({ url, key, integration, id, isLate }) => {
  const client = new Runwire({
    ...{ baseUrl: url, apiKey: key, integration, timing: { minPauseMs: 1, maxPauseMs: 50 } },
    ...(isLate ? { fetch: resumeOneLate } : {}),
  });
  const run = client.run({ message: MESSAGE, usageRequestId: id });
  const { runId, status, text } = await run.result();
  return { runId, status, text, currentText: run.currentText, frames: await Array.fromAsync(run.frames()) };
};

const CODE = `
if isLate:
    send = client._transport.send
    def one_late(headers):
        last = (headers or {}).get("Last-Event-ID")
        return headers if last is None else {"Last-Event-ID": str(int(last) + 1)}
    client._transport.send = lambda method, path, body, headers, stop: send(method, path, body, one_late(headers), stop)
run = await client.run("${MESSAGE}", usage_request_id=id)
result = await run.result()
frames = [vars(frame) async for frame in run.frames()]
return {"runId": result.run_id, "status": result.status, "text": result.text, "currentText": run.current_text,
        "frames": frames}
`;

const inPython =
  (python: Python, kind: string): RunReader =>
  (job) =>
    python.run<RunReport>(CODE, { kind, ...job, timing: { min_pause_seconds: 0.001, max_pause_seconds: 0.05 } });

export const runReaders = (python: Python): Readonly<Record<'typescript' | 'python' | 'asyncio', RunReader>> => ({
  typescript,
  python: inPython(python, 'Runwire'),
  asyncio: inPython(python, 'AsyncRunwire'),
});
