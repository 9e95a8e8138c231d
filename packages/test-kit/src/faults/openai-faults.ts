import type { ServerResponse } from 'node:http';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import type { Meta, RunEvent } from '@runwire/server/src/domain/run/events.ts';
import { ResponseAnswer } from '@runwire/server/src/http/compatible/openai/responses/response-answer.ts';
import { ResponseJson } from '@runwire/server/src/http/compatible/openai/responses/response-object.ts';
import { ResponseOutput } from '@runwire/server/src/http/compatible/openai/responses/response-output.ts';
import { ResponsesEncoder } from '@runwire/server/src/http/compatible/openai/responses/responses-encoder.ts';
import { RunStarts } from '@runwire/server/src/http/run-starts.ts';

/** Each model step after the first is announced as a response of its own. */
function stepsAsTheyAre(): Overrides {
  const own: ResponsesEncoder['page'] = ResponsesEncoder.prototype.page;
  const runs = new WeakMap<object, { meta: Meta | null; first: number | null }>();
  ResponsesEncoder.prototype.page = function page(this: ResponsesEncoder, events, from, ...rest) {
    const run = runs.get(this) ?? { meta: null, first: null };
    runs.set(this, run);
    const changed = events.map((event): RunEvent => {
      if (event.type === 'meta') run.meta = event.meta;
      if (event.type !== 'response_created' || event.response.callerAgent !== null) return event;
      run.first ??= event.id;
      if (event.id === run.first || run.meta === null) return event;
      return { type: 'meta', id: event.id, meta: { ...run.meta, runId: `run_${event.response.id}` } };
    });
    return own.call(this, changed, from, ...rest);
  };
  return {};
}

/** The server's calls look like the caller's. */
function toolsAsFunctions(): Overrides {
  const own: ResponseOutput['output'] = ResponseOutput.prototype.output;
  ResponseOutput.prototype.output = function output(this: ResponseOutput, item, since) {
    const entry = own.call(this, item, since);
    if (entry === null || entry.json === null) return entry;
    const { id, name, arguments: given } = JSON.parse(entry.json);
    const call = { type: 'function_call', id, call_id: item.callId, name, arguments: given, status: 'completed' };
    entry.json = JSON.stringify(call);
    return entry;
  };
  return {};
}

function dropAField(): Overrides {
  const own: ResponseJson['write'] = ResponseJson.prototype.write;
  ResponseJson.prototype.write = function write(this: ResponseJson, state) {
    return own.call(this, state).replace('"top_p":1,', '');
  };
  return {};
}

/** A plain answer of a failed run has the status 500. */
function failWith500(): Overrides {
  const own: RunStarts['follow'] = RunStarts.prototype.follow;
  RunStarts.prototype.follow = function follow(this: RunStarts, request, reply, started, encoder, after) {
    if (encoder instanceof ResponseAnswer) holdStatus(reply.raw);
    own.call(this, request, reply, started, encoder, after);
  };
  return {};
}

/** Sends nothing until the end, so that the status can depend on it. */
function holdStatus(response: ServerResponse): void {
  const pieces: string[] = [];
  let headers = {};
  const { writeHead, end } = response;
  const held = {
    writeHead: (_: number, given: Record<string, string>) => {
      headers = given;
      return response;
    },
    write: (data: string | Uint8Array) => pieces.push(Buffer.from(data as string).toString()) > 0,
    end: () => {
      const text = pieces.join('');
      const failed = text.trim() !== '' && JSON.parse(text).status === 'failed';
      writeHead.call(response, failed ? 500 : 200, headers);
      return end.call(response, text as unknown as undefined, 'utf8');
    },
  };
  Object.assign(response, held);
}

export const OPENAI_FAULTS: Readonly<Record<string, () => Overrides>> = {
  'steps-as-they-are': stepsAsTheyAre,
  'tools-as-functions': toolsAsFunctions,
  'drop-a-field': dropAField,
  'fail-with-500': failWith500,
};
