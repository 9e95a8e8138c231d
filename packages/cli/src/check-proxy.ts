import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunHandle, Runwire } from '@runwire/client';
import type { WatchedAnswer, WatchedFetch } from './watched-fetch.ts';

export interface ProxyTimes {
  /** The server sends the first bytes of a stream immediately; a proxy may take this long. */
  readonly firstByteMs: number;
  /** For how long a stream must stay open. The server sends a comment after 10 s of silence. */
  readonly watchMs: number;
}

export const PROXY_TIMES: ProxyTimes = { firstByteMs: 3000, watchMs: 13_000 };

/** The answer needs them: without them a client must ask what happened to its request. */
const HEADERS = ['x-agent-run-admitted', 'x-run-id', 'x-chat-id'] as const;
/** The offline model sends one word every half minute. */
const SLOW_MESSAGE = '/slow 600';
const COMPLETION = /\/get_completion_v2$/;
const EVENTS = /\/events$/;

/**
 * Runs the offline model through the proxies between this machine and the server, in an integration of its own that it
 * deletes, and watches the stream. Resolves to one sentence for each finding.
 */
export async function checkProxy(client: Runwire, watched: WatchedFetch, times: ProxyTimes): Promise<string[]> {
  const apiIntegrationId = `doctor-${randomBytes(6).toString('hex')}`;
  await client.integrations.create({ apiIntegrationId, agency: 'demo', model: 'offline/demo', name: 'runwire doctor' });
  try {
    const run = client.run({ apiIntegrationId, message: SLOW_MESSAGE });
    const refused = run.admitted.then(
      () => null,
      (error: Error) => error.message,
    );
    await sleep(times.watchMs);
    const refusal = await Promise.race([refused, sleep(0, null)]);
    if (refusal !== null) {
      return [`The run was refused: ${refusal} If a proxy did this, let it pass POST /get_completion_v2 on.`];
    }
    const stream = watched.first(COMPLETION);
    const findings = stream === undefined ? [] : streamFindings({ ...stream }, times);
    const { usageRequestId } = run.handle;
    const found = await client.chats.status({ apiIntegrationId, usageRequestId: usageRequestId ?? undefined });
    run.detach();
    if (found.run === null) return findings;
    const { runId, lastEventId } = found.run;
    await client.runs.cancel({ apiIntegrationId, runId });
    const handle = { apiIntegrationId, usageRequestId, runId, chatId: found.chatId, lastEventId: 0 };
    return [...findings, ...(await resumeFindings(client, watched, handle, lastEventId))];
  } finally {
    await client.integrations.delete({ apiIntegrationId });
  }
}

function streamFindings(stream: WatchedAnswer, { firstByteMs }: ProxyTimes): string[] {
  const { headers, sentAt, firstByteAt, lastByteAt, endedAt } = stream;
  if (headers === null || firstByteAt === null || firstByteAt - sentAt > firstByteMs) {
    return [
      'A proxy holds streams back: the first event did not arrive while the run was running; switch its buffering off for Runwire (nginx: `proxy_buffering off;`, and no `proxy_ignore_headers X-Accel-Buffering`).',
    ];
  }
  const missing = HEADERS.filter((name) => !headers.has(name));
  const stripped =
    missing.length === 0
      ? []
      : [`A proxy removes headers of answers (${missing.join(', ')}); let it pass on all headers that begin with X-.`];
  if (endedAt === null) return stripped;
  const seconds = Math.round((endedAt - (lastByteAt ?? firstByteAt)) / 1000);
  return [
    ...stripped,
    `A proxy cuts streams after about ${seconds} s without a byte; raise its idle limit to 60 s or more (nginx: \`proxy_read_timeout 75s;\`).`,
  ];
}

/** Reads the run's end again: the server must get the header with which clients resume. */
async function resumeFindings(
  client: Runwire,
  watched: WatchedFetch,
  handle: RunHandle,
  after: number,
): Promise<string[]> {
  const before = watched.answers.length;
  for await (const _ of client.attach(handle, { after }));
  const resumed = watched.answers.slice(before).find(({ path }) => EVENTS.test(path));
  const [, id] = /^id: (\d+)$/m.exec(resumed?.start ?? '') ?? [];
  if (id === undefined || Number(id) > after) return [];
  return ['A proxy removes the header Last-Event-ID of requests, so streams resume from their start; let it pass on.'];
}
