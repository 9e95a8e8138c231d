import { expectedText, type Order } from './model.ts';

/*
 * Checks one answer as read from the socket. Every answer is unpacked chunk by chunk, must be complete, must have one
 * frame per token and must end with `end`. One in `READ_EVERY` is compared word for word, including its ids. Counting
 * costs the load generator about 0.1 µs per frame. Comparing every frame would cost more than some servers need to
 * write it.
 */

const READ_EVERY = 64;
const HEAD_END = Buffer.from('\r\n\r\n');
const END_FRAME = Buffer.from('event: end\ndata: [DONE]\n\n');
const RESPONSES_END = Buffer.from('data: [DONE]\n\n');
export const TOKEN_MARK = Buffer.from('"response.output_text.delta"');
const CR = 13;

let answers = 0;

/** Throws if the answer is wrong. `bytes` is unpacked in place. */
export function checkAnswer(bytes: Buffer, order: Order): void {
  const { tokens } = order;
  const headEnd = bytes.indexOf(HEAD_END);
  const body = unchunk(bytes, headEnd + HEAD_END.length);
  const end = order.framing === 'responses' ? RESPONSES_END : END_FRAME;
  if (body.compare(end, 0, end.length, body.length - end.length) !== 0) {
    throw new Error(`An answer did not close with its end: …${body.toString('utf8', body.length - 200)}`);
  }
  let count = 0;
  for (let at = body.indexOf(TOKEN_MARK); at !== -1; at = body.indexOf(TOKEN_MARK, at + TOKEN_MARK.length)) count += 1;
  if (count !== tokens) throw new Error(`An answer held ${count} token frames instead of ${tokens}.`);
  answers += 1;
  if (answers % READ_EVERY !== 1) return;
  if (order.framing === 'responses') readResponse(body.toString('utf8'), order);
  else readWordForWord(body.toString('utf8'), order);
}

function unchunk(bytes: Buffer, start: number): Buffer {
  let from = start;
  let length = 0;
  for (;;) {
    const lineEnd = bytes.indexOf(CR, from);
    const size = Number.parseInt(bytes.toString('latin1', from, lineEnd), 16);
    if (lineEnd === -1 || Number.isNaN(size)) throw new Error('An answer is not chunked as it should be.');
    const data = lineEnd + 2;
    if (size === 0) {
      if (data + 2 !== bytes.length) throw new Error('Something stood after the last chunk of an answer.');
      return bytes.subarray(start, start + length);
    }
    bytes.copyWithin(start + length, data, data + size);
    length += size;
    from = data + size + 2;
  }
}

function readWordForWord(body: string, order: Order): void {
  let text = '';
  let lastId = 0;
  for (const block of body.split('\n\n')) {
    const id = /^id: (\d+)$/m.exec(block)?.[1];
    if (id === undefined) continue;
    if (Number(id) !== lastId + 1) throw new Error(`Frame ${id} came after frame ${lastId}.`);
    lastId = Number(id);
    if (!block.includes(TOKEN_MARK.toString())) continue;
    text += (JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '') as { data: { data: { delta: string } } }).data.data
      .delta;
  }
  checkText(text, order);
}

/** The events of the Responses API have numbers that grow, and no ids. */
function readResponse(body: string, order: Order): void {
  let text = '';
  let lastNumber = 0;
  for (const [, data = ''] of body.matchAll(/^data: (\{.*)$/gm)) {
    const event = JSON.parse(data) as { type: string; sequence_number: number; delta?: string };
    const { sequence_number: number } = event;
    if (number <= lastNumber) throw new Error(`Event ${number} came after event ${lastNumber}.`);
    lastNumber = number;
    if (event.type === 'response.output_text.delta') text += event.delta ?? '';
  }
  checkText(text, order);
}

function checkText(text: string, order: Order): void {
  const expected = expectedText(order) ?? text;
  if (text !== expected || text === '') throw new Error(`An answer has another text: ${text.slice(0, 200)}`);
}
