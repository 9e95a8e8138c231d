/* Faults of a client, planted between it and the network. */

type Fetch = typeof fetch;

const isStart = (init?: RequestInit) => init?.method === 'POST';
const refused = () =>
  Response.json(
    { error: 'Planted.', code: 'invalid_request' },
    { status: 400, headers: { 'x-agent-run-admitted': 'false' } },
  );

/** Changes a stream's text, which ends without an error if it is cut. `atEnd` is added to it. */
function rewritten(answer: Response, change: (frame: string) => string, isCutHidden: boolean, atEnd = ''): Response {
  if (!answer.headers.get('content-type')?.startsWith('text/event-stream') || answer.body === null) return answer;
  const pieces = answer.body.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let rest = '';
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await pieces.next().catch((error: unknown) => {
        if (!isCutHidden) throw error;
        return { value: undefined, done: true };
      });
      if (done) {
        controller.enqueue(encoder.encode(atEnd));
        controller.close();
        return;
      }
      const frames = `${rest}${value}`.split('\n\n');
      rest = frames.pop() ?? '';
      controller.enqueue(encoder.encode(frames.map((frame) => change(`${frame}\n\n`)).join('')));
    },
  });
  return new Response(body, answer);
}

const HUGE_ID = 999_999_999_999;
const END =
  `id: ${HUGE_ID}\nevent: messages\ndata: {"run_id":"","chatId":"","status":"completed","new_messages":[],"output":null,` +
  `"pending":[],"usage":{},"files":[],"error":null}\n\nid: ${HUGE_ID + 1}\nevent: end\ndata: [DONE]\n\n`;

export const clientFaults: Readonly<Record<string, (send: Fetch) => Fetch>> = {
  /** A request that is sent again has a new id. */
  'new-id-on-retry': (send) => {
    let sends = 0;
    return (input, init) => {
      if (!isStart(init)) return send(input, init);
      sends += 1;
      const body = JSON.parse(String(init?.body));
      const usageRequestId = sends === 1 ? body.usageRequestId : `${body.usageRequestId}-${sends}`;
      return send(input, { ...init, body: JSON.stringify({ ...body, usageRequestId }) });
    };
  },
  /** A stream that ends or breaks counts as complete. */
  'trust-end-of-stream': (send) => async (input, init) =>
    rewritten(await send(input, init), (frame) => frame, true, END),
  /** The client does not learn which text is void. */
  'keep-void-text': (send) => async (input, init) =>
    rewritten(await send(input, init), (frame) => (frame.includes('\nevent: resumed\n') ? '' : frame), false),
  /** A request without an answer counts as refused. */
  'skip-status': (send) => async (input, init) => {
    const answer = await send(input, init).catch((error: unknown) => {
      if (isStart(init)) return refused();
      throw error;
    });
    return isStart(init) && !answer.headers.has('x-agent-run-admitted') ? refused() : answer;
  },
};
