import { RunwireError } from './errors.ts';
import type { Admission, Frame } from './run-types.ts';
import { frameText } from './sse.ts';

/** Proxies and readers take a longer silence for a dead connection. */
const COMMENT_MS = 10_000;

/** Makes the answer that passes a run on. As at the server, 204 tells that the run has ended and has no further events. */
export async function passOn(
  admitted: Promise<Admission>,
  hasEnded: () => boolean,
  frames: () => AsyncGenerator<Frame>,
): Promise<Response> {
  let admission: Admission;
  try {
    admission = await admitted;
  } catch (error) {
    if (error instanceof RunwireError) return toRefusal(error);
    throw error;
  }
  if (hasEnded()) return new Response(null, { status: 204 });
  return new Response(toStream(frames()), {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-agent-run-admitted': 'true',
      'x-run-id': admission.runId,
      'x-chat-id': encodeURIComponent(admission.chatId),
    },
  });
}

/** If the run cannot be read to its end, the stream fails: a reader must not take it for complete. */
function toStream(frames: AsyncGenerator<Frame>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval>;
  return new ReadableStream({
    start(controller) {
      const send = (text: string) => controller.enqueue(encoder.encode(text));
      timer = setInterval(() => send(': \n\n'), COMMENT_MS);
      const pass = async () => {
        for await (const frame of frames) send(frameText(frame));
        controller.close();
      };
      pass()
        .catch((error: unknown) => controller.error(error))
        .finally(() => clearInterval(timer));
    },
    // The next event ends `pass`.
    cancel: () => clearInterval(timer),
  });
}

function toRefusal({ message: error, code, status, admitted, retryAfterSeconds, body }: RunwireError): Response {
  const headers = {
    ...(admitted === false && { 'x-agent-run-admitted': 'false' }),
    ...(retryAfterSeconds && { 'retry-after': String(retryAfterSeconds) }),
  };
  return Response.json({ ...body, error, code }, { status: status ?? 503, headers });
}
