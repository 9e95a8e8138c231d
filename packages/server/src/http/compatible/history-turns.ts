import type { RequestTurn } from '../../admission/completion-request.ts';
import type { RequestAttachment } from '../../attachments/request-attachment.ts';
import type { ImportedAnswer, ImportedCall } from '../../domain/chat/imported-turn.ts';

interface OpenTurn {
  message: string;
  attachments: readonly RequestAttachment[];
  agent: string | null;
  readonly answers: ImportedAnswer[];
}

interface OpenCall extends ImportedCall {
  output: string | null;
  failed: boolean;
}

/** Forms turns from a conversation's items, oldest first. A user's item begins a turn, and what follows belongs to it. */
export class HistoryTurns {
  readonly #turns: OpenTurn[] = [];
  readonly #calls = new Map<string, OpenCall>();

  user(message: string, attachments: readonly RequestAttachment[] = []): void {
    this.#turns.push({ message, attachments, agent: null, answers: [] });
  }

  assistant(text: string, agent: string | null = null): void {
    const turn = this.#turn();
    turn.agent = agent ?? turn.agent;
    if (text !== '') turn.answers.push({ kind: 'text', text });
  }

  /** `argumentsText` is what the client sent; anything but a JSON object becomes an empty one, as providers refuse it. */
  call(callId: string, tool: string, argumentsText: string): void {
    const call: OpenCall = { callId, tool, argumentsText: objectText(argumentsText), output: null, failed: false };
    this.#calls.set(callId, call);
    const { answers } = this.#turn();
    const last = answers.at(-1);
    // One answer's calls follow each other without an output between them.
    if (last?.kind === 'calls' && last.calls.every(({ output }) => output === null)) {
      answers[answers.length - 1] = { kind: 'calls', calls: [...last.calls, call] };
    } else answers.push({ kind: 'calls', calls: [call] });
  }

  /** An unknown call's output, or a call's second output, is left out. */
  output(callId: string, output: string, failed = false): void {
    const call = this.#calls.get(callId);
    if (call === undefined || call.output !== null) return;
    call.output = output;
    call.failed = failed;
  }

  get turns(): RequestTurn[] {
    return this.#turns.filter(({ message, attachments, answers }) => {
      return message !== '' || attachments.length > 0 || answers.length > 0;
    });
  }

  #turn(): OpenTurn {
    if (this.#turns.length === 0) this.user('');
    return this.#turns.at(-1) as OpenTurn;
  }
}

function objectText(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? text : '{}';
  } catch {
    return '{}';
  }
}
