import { isBlank } from '@runwire/lib/is-blank.ts';
import type { CompletionRequest } from '../../../admission/completion-request.ts';
import { checkSandboxFile } from '../../../domain/file/sandbox-file.ts';
import { Refusal } from '../../../domain/refusal.ts';
import { Fields } from '../fields.ts';

/** What a host asks an agent. */
export interface AskArguments {
  readonly message: string;
  readonly chatId: string | null;
  readonly paths: readonly string[];
  readonly sandboxFiles: CompletionRequest['sandboxFiles'];
}

export function readArguments(given: unknown): AskArguments {
  const fields = Fields.of(given ?? {}, 'arguments');
  const message = fields.requiredText('message');
  if (isBlank(message)) throw fields.refusal('message', 'is blank; write what the agent is asked');
  const chatId = fields.text('chat_id');
  const paths = (fields.list('files') ?? []).map((path, index) => {
    if (typeof path === 'string') return path;
    throw fields.refusal(`files[${index}]`, 'must be the path of a file');
  });
  const [unknown] = fields.unread;
  if (unknown !== undefined) {
    throw new Refusal('invalid_request', `\`${unknown}\` is not an argument of this tool.`);
  }
  const sandboxFiles = paths.map((path, index) => {
    const checked = checkSandboxFile({ path, name: path.slice(path.lastIndexOf('/') + 1) });
    if ('file' in checked) return checked;
    throw fields.refusal(`files[${index}]`, checked.problem);
  });
  return { message, chatId: chatId === null || isBlank(chatId) ? null : chatId, paths, sandboxFiles };
}
