import type { ImportedAnswer, ImportedCall, ImportedTurn } from '../domain/chat/imported-turn.ts';

type NewCall = Pick<ImportedCall, 'callId' | 'tool' | 'argumentsText'>;

interface OpenCall extends NewCall {
  output: string | null;
  failed: boolean;
}

interface OpenTurn<A> {
  readonly message: string;
  readonly attachments: A;
  agent: string | null;
  readonly answers: ImportedAnswer[];
  readonly open: Map<string, OpenCall>;
}

/**
 * Makes turns from an earlier conversation's items, in their order. A user's text begins a turn, and what follows belongs
 * to it. An output that no call of its turn waits for is left out, because providers refuse it.
 */
export class HistoryBuilder<A> {
  readonly #none: A;
  readonly #turns: OpenTurn<A>[] = [];

  /** `none` are the attachments of a message without any. */
  constructor(none: A) {
    this.#none = none;
  }

  user(message: string, attachments: A = this.#none): void {
    this.#turns.push({ message, attachments, agent: null, answers: [], open: new Map() });
  }

  text(text: string, agent: string | null = null): void {
    const turn = this.#current(agent);
    turn.answers.push({ kind: 'text', text });
  }

  /** One answer's calls, so that their outputs follow all of them. */
  calls(calls: readonly NewCall[], agent: string | null = null): void {
    const turn = this.#current(agent);
    const open = calls.map((call): OpenCall => ({ ...call, output: null, failed: false }));
    for (const call of open) turn.open.set(call.callId, call);
    turn.answers.push({ kind: 'calls', calls: open });
  }

  output(callId: string, output: string, failed = false): void {
    const call = this.#turns.at(-1)?.open.get(callId);
    if (call === undefined || call.output !== null) return;
    call.output = output;
    call.failed = failed;
  }

  finish(): readonly (ImportedTurn & { readonly attachments: A })[] {
    return this.#turns.map(({ open: _, ...turn }) => turn);
  }

  #current(agent: string | null): OpenTurn<A> {
    if (this.#turns.length === 0) this.user('');
    const turn = this.#turns.at(-1) as OpenTurn<A>;
    turn.agent ??= agent;
    return turn;
  }
}
