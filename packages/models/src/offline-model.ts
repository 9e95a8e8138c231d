import { setTimeout as sleep } from 'node:timers/promises';
import { bracketedOutput } from '@runwire/lib/bracketed-images.ts';
import { makeExample } from './example-value.ts';
import type { Model, ModelOutput, ModelRequest, ModelResult } from './model.ts';
import { ModelFailure } from './model-failure.ts';
import { newCallId } from './new-call-id.ts';
import { teamTurn } from './offline-team.ts';
import type { PromptAttachment } from './prompt-attachment.ts';
import { promptBytes } from './prompt-bytes.ts';
import type { SandboxFile } from './shown-message.ts';
import { estimateTokens, type Usage } from './usage.ts';

const WORD_MS = 15;
const MAX_SLOW_SECONDS = 600;

/** An answer without `/slow` takes at most about this long. */
const MOST_MS = 3000;
const READ_TOOL = 'read_file';
/** How much of a file's first line is shown. */
const SEEN_CHARACTERS = 100;

/**
 * Answers without a provider and shows a newcomer each behaviour: a stream, a slow one, a failing one, a tool, a file, a
 * team of agents, structured output.
 */
export const offlineModel: Model = {
  id: 'offline/demo',

  async call(request: ModelRequest, output: ModelOutput, signal: AbortSignal): Promise<ModelResult> {
    const last = request.prompt.findLast((item) => item.kind === 'user');
    const message = last?.text ?? '';
    const came = (await attachmentsSeen(last?.attachments ?? [])) + filesSeen(last?.sandboxFiles ?? []);
    const [word = '', argument = ''] = message.trim().split(/\s+/, 2);
    let streamed = '';
    const say = (text: string) => {
      streamed += text;
      output.text(text);
    };
    if (word === '/fail') {
      say('This is the offline model, about to fail.');
      throw new ModelFailure('model_error', 'The offline model failed because the message began with /fail.');
    }
    const team = teamTurn(request, message);
    if (team !== null && 'calls' in team) {
      for (const call of team.calls) output.toolCall(newCallId(), call.name, call.arguments);
      return { usage: toUsage(request, team.calls.map((call) => call.arguments).join('')) };
    }
    if (outputs(request).length === 0) {
      const asked =
        word === '/tool' ? toolAsked(request, message) : word === '/read' ? fileAsked(request, message) : null;
      if (asked !== null) {
        output.toolCall(newCallId(), asked.name, asked.arguments);
        return { usage: toUsage(request, asked.arguments) };
      }
    }
    const seconds = word === '/slow' ? slowSeconds(argument) : null;
    // A file is streamed by lines, because it would have too many words.
    const written = team === null ? answer(word, message, seconds, outputs(request), came) : team.text;
    const text = request.output === undefined ? written : JSON.stringify(makeExample(request.output));
    const words = text.split(word === '/read' ? /(?<=\n)/ : /(?<= )/);
    const pauseMs =
      seconds === null ? Math.min(WORD_MS, MOST_MS / words.length) : (seconds * 1000) / Math.max(1, words.length - 1);
    for (const [index, part] of words.entries()) {
      if (index > 0) await sleep(pauseMs, undefined, { signal });
      signal.throwIfAborted();
      if (output.isFull) await room(output, signal);
      say(part);
    }
    return { usage: toUsage(request, streamed) };
  },
};

function room(output: ModelOutput, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    output.onceRoom(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
  });
}

function slowSeconds(argument: string): number | null {
  const seconds = Number(argument);
  return argument !== '' && Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, MAX_SLOW_SECONDS) : null;
}

/** Describes the attachments. It reads each one like a request to a provider would. */
async function attachmentsSeen(attachments: readonly PromptAttachment[]): Promise<string> {
  const images: string[] = [];
  const files: string[] = [];
  for (const one of attachments) {
    if (one.kind === 'text') files.push(textSeen(one));
    else {
      const { length } = await one.read();
      if (one.kind === 'image') images.push(`${one.mediaType} of ${length} bytes`);
      else files.push(`${one.name}, ${one.mediaType} of ${length} bytes and ${one.pages} pages`);
    }
  }
  return cameWithIt(images, 'image') + cameWithIt(files, 'file');
}

function cameWithIt(seen: readonly string[], kind: string): string {
  if (seen.length === 0) return '';
  return ` (${seen.length === 1 ? `1 ${kind}` : `${seen.length} ${kind}s`} came with it: ${seen.join(', ')})`;
}

/** Takes the content between the lines that describe the file. */
function textSeen({ name, mediaType, text }: Extract<PromptAttachment, { kind: 'text' }>): string {
  const content = text.slice(text.indexOf('\n') + 1, text.lastIndexOf('\n'));
  const [line = ''] = content.trimStart().split(/\r|\n/, 1);
  const characters = [...content].length;
  const beginning = [...line.slice(0, 2 * SEEN_CHARACTERS)].slice(0, SEEN_CHARACTERS).join('');
  return `${name}, ${mediaType} of ${characters} characters, which begins: ${beginning}`;
}

function filesSeen(files: readonly SandboxFile[]): string {
  if (files.length === 0) return '';
  const count = files.length === 1 ? '1 file' : `${files.length} files`;
  return ` (${count} came with it, which /read shows: ${files.map(({ path }) => path).join(', ')})`;
}

/** Returns the outputs of tools since the user's last message. */
function outputs({ prompt }: ModelRequest): string[] {
  const last = prompt.findLastIndex((item) => item.kind === 'user');
  return prompt
    .slice(last + 1)
    .flatMap((item) => (item.kind === 'tool_output' ? [bracketedOutput(item.output, item.images)] : []));
}

/**
 * Parses `/tool`, `/tool calculate` or `/tool calculate {"operation":"add","a":1,"b":2}`. Returns null if the agent has
 * no tool.
 */
function toolAsked({ tools }: ModelRequest, message: string): { name: string; arguments: string } | null {
  const [, name = tools[0]?.name, rest = ''] = /^\s*\/tool(?:\s+(\S+))?(?:\s+([\s\S]*))?$/.exec(message) ?? [];
  return name === undefined || tools.length === 0 ? null : { name, arguments: rest.trim() === '' ? '{}' : rest.trim() };
}

/**
 * The path is everything after the command, because paths can contain spaces. Returns null if there is no path or no
 * tool to read it.
 */
function fileAsked({ tools }: ModelRequest, message: string): { name: string; arguments: string } | null {
  const path = pathAsked(message);
  const canRead = tools.some(({ name }) => name === READ_TOOL);
  return path === '' || !canRead ? null : { name: READ_TOOL, arguments: JSON.stringify({ path }) };
}

const pathAsked = (message: string) => message.trim().slice('/read'.length).trim();

function answer(
  word: string,
  message: string,
  seconds: number | null,
  outputs: readonly string[],
  came: string,
): string {
  if (word === '/tool') {
    return outputs.length === 0 ? 'This agent has no tools.' : `The tool was called. It returned: ${outputs.join(' ')}`;
  }
  if (word === '/slow') {
    return seconds === null
      ? 'Add the number of seconds that the answer should take, for example /slow 10.'
      : `This answer takes ${seconds} seconds: the first word arrives immediately, and the others follow evenly until the time is over.`;
  }
  if (word === '/read') {
    if (outputs.length > 0) return outputs.join('\n');
    return pathAsked(message) === ''
      ? 'Add the path of the file to read, for example /read /app/mnt/notes/today.txt.'
      : 'This agent has no tool to read files.';
  }
  return `This is the offline demo model: no provider was asked. You said: ${message}${came}`;
}

/** Tokens are bytes / 4, rounded up (`contract-1-offline-tokens`). */
function toUsage(request: ModelRequest, output: string): Usage {
  return {
    requestCount: 1,
    inputTokens: estimateTokens(promptBytes(request.instructions, request.prompt)),
    cachedTokens: 0,
    outputTokens: estimateTokens(Buffer.byteLength(output)),
    reasoningTokens: 0,
  };
}
