import { type Frame, type Message, NotFoundError } from '@runwire/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { queryClient } from '../../app/query-client.ts';
import { RunParts } from './run-parts.ts';

/** No task may block the page for long, so work pauses after this time. */
const SLICE_MS = 10;
/** What is no longer in view takes memory, so it is forgotten soon. */
const KEEP_MS = 10_000;

const pause = () => new Promise((resolve) => setTimeout(resolve));

async function readParts(frames: AsyncIterable<Frame>, calls: Message['calls']): Promise<RunParts> {
  const parts = new RunParts(
    calls.map(({ callId, tool }) => ({ callId: callId ?? '', tool: tool ?? '', arguments: '' })),
  );
  let sliceEnd = performance.now() + SLICE_MS;
  for await (const frame of frames) {
    parts.take(frame);
    if (performance.now() < sliceEnd) continue;
    await pause();
    sliceEnd = performance.now() + SLICE_MS;
  }
  parts.close();
  return parts;
}

/** What a stored answer consists of, made from the run's events as it was made live. Null if they were deleted. */
export const runPartsQuery = (apiIntegrationId: string, { runId, chatId, calls }: Message) =>
  queryOptions({
    queryKey: ['runs', apiIntegrationId, runId, 'parts'],
    queryFn: async ({ signal }) => {
      const handle = { apiIntegrationId, chatId, runId: runId ?? '', usageRequestId: null, lastEventId: 0 };
      try {
        return await readParts(api().attach(handle, { signal }).frames(), calls);
      } catch (error) {
        // The events of a fork's first turns are deleted with the chat in which the runs were made.
        if (error instanceof NotFoundError) return null;
        throw error;
      }
    },
    // An ended run does not change.
    staleTime: 'static',
    gcTime: KEEP_MS,
    structuralSharing: false,
  });

/** An ended run's times, tokens and structured output. */
export const endedRunQuery = (apiIntegrationId: string, runId: string | null) =>
  queryOptions({
    queryKey: ['runs', apiIntegrationId, runId, 'record'],
    queryFn: ({ signal }) => api().runs.get({ apiIntegrationId, runId: runId ?? '' }, { signal }),
    staleTime: 'static',
    gcTime: KEEP_MS,
  });

/** How many answers of a page of messages are in view first. */
const FIRST_ANSWERS = 4;
const MAX_WAIT_MS = 1500;

/** Reads what a page's last answers consist of, so that they do not change when they are shown. Waits a short time only. */
export async function prefetchContent(apiIntegrationId: string, newestFirst: readonly Message[]): Promise<void> {
  const answers = newestFirst.filter(({ role, runId }) => role === 'assistant' && runId !== null);
  const reads = answers
    .slice(0, FIRST_ANSWERS)
    .flatMap((message) => [
      queryClient.prefetchQuery(runPartsQuery(apiIntegrationId, message)),
      queryClient.prefetchQuery(endedRunQuery(apiIntegrationId, message.runId)),
    ]);
  await Promise.race([Promise.all(reads), new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS))]);
}
