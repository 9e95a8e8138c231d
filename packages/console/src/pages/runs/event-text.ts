import type { Frame } from '@runwire/client';
import { formatJsonText } from '../../lib/format.ts';

/** The kind of an event is in its first characters. */
const HEAD = 600;

/** Names an event without parsing it, because its data may be long. */
export function getKind({ event, data }: Frame): string {
  if (event !== null) return event;
  if (data.startsWith('{"error"')) return 'error';
  const head = data.slice(0, HEAD);
  const [, type = 'event'] = /^\{"data":\{"type":"(\w+)"/.exec(head) ?? [];
  if (type === 'raw_response_event') return /"data":\{"type":"(response\.[\w.]+)"/.exec(head)?.[1] ?? type;
  if (type === 'run_item_stream_event') return /"name":"(\w+)"/.exec(head)?.[1] ?? type;
  return type;
}

const MAX_PREVIEW = 240;

/** What an event has besides its kind, in one line. */
export function toPreview(frame: Frame): string {
  const { event, data } = frame;
  const head = data.slice(0, HEAD + MAX_PREVIEW);
  const [, delta] = /"delta":("(?:[^"\\]|\\.)*"?)/.exec(head) ?? [];
  if (delta !== undefined) return delta;
  if (event !== null) return head.slice(0, MAX_PREVIEW);
  const kind = `"${getKind(frame)}",`;
  const at = head.indexOf(kind);
  return at < 0 ? head.slice(0, MAX_PREVIEW) : head.slice(at + kind.length, at + kind.length + MAX_PREVIEW);
}

/**
 * True if the server has joined an ended run's pieces. Every answer of a model begins with `response.created`, which
 * a compacted run does not have.
 */
export const isCompacted = (frames: readonly Frame[]): boolean =>
  frames.some(({ event, data }) => event === null && data.startsWith('{"data":')) &&
  !frames.some((frame) => getKind(frame) === 'response.created');

/** The event as the stream has it. */
export const frameText = ({ id, event, data }: Frame): string =>
  `id: ${id}\n${event === null ? '' : `event: ${event}\n`}data: ${data}\n\n`;

/** The event with indented data, to read. */
export const readableFrame = (frame: Frame): string =>
  frameText({ ...frame, data: formatJsonText(frame.data) }).trimEnd();
