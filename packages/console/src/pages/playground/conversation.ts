import {
  type Answer,
  ConnectionLostError,
  type Message,
  NotFoundError,
  type RunRequest,
  type SandboxFile,
} from '@runwire/client';
import { api } from '../../app/api.ts';
import { connection } from '../../app/connection.ts';
import { Changes } from './changes.ts';
import { LiveRun } from './live-run.ts';

/** What the person sent. */
export interface SentMessage {
  readonly text: string;
  readonly files: readonly SandboxFile[];
  readonly images: RunRequest['attachments'];
  readonly answers: readonly Answer[];
}

/** A message and its answer, which is read live or was stored before. */
export interface Turn {
  readonly key: string;
  readonly message: SentMessage;
  readonly runId: string | null;
  readonly live: LiveRun | null;
  readonly stored: Message | null;
}

/** Who talks to which agent. */
export interface Addressee {
  readonly member: string | undefined;
  readonly agent: string | undefined;
}

const MESSAGES_PER_PAGE = 50;

const newChatId = () => `chat-${Array.from(crypto.getRandomValues(new Uint8Array(12)), hex).join('')}`;
const hex = (byte: number) => byte.toString(16).padStart(2, '0');

/** The chat of the playground. */
export class Conversation {
  readonly changes = new Changes();
  readonly apiIntegrationId: string;
  readonly chatId: string;
  turns: readonly Turn[] = [];
  isLoading = false;
  error: unknown = null;
  /** The member of a chat that existed before. Undefined if the chat is new. */
  member: string | null | undefined;
  /** Reads the messages before the first turn. */
  earlierCursor: string | null = null;
  #isInAddress: boolean;
  #count = 0;

  /** Begins a new chat if no chat is given. */
  constructor(apiIntegrationId: string, chatId: string | undefined) {
    this.apiIntegrationId = apiIntegrationId;
    this.chatId = chatId ?? newChatId();
    this.#isInAddress = chatId !== undefined;
    this.isLoading = chatId !== undefined;
  }

  /** True if this is the chat of the address. The id of a new chat is added to the address when the first message is sent. */
  fits(apiIntegrationId: string, chatId: string | undefined): boolean {
    if (apiIntegrationId !== this.apiIntegrationId) return false;
    if (chatId === this.chatId) this.#isInAddress = true;
    return chatId === undefined ? !this.#isInAddress : chatId === this.chatId;
  }

  get live(): LiveRun | null {
    return this.turns.at(-1)?.live ?? null;
  }

  /** True if the chat is not complete in the page because the server did not answer. */
  get isDisconnected(): boolean {
    return this.error instanceof ConnectionLostError || this.live?.error instanceof ConnectionLostError;
  }

  /** Reads the stored messages, and follows the last run, which shows its tools, also after its end. */
  async load(): Promise<void> {
    if (!this.#isInAddress) return;
    this.live?.close();
    this.isLoading = true;
    this.error = null;
    this.changes.add();
    try {
      const where = { apiIntegrationId: this.apiIntegrationId, chatId: this.chatId };
      this.member = (await api().chats.get(where)).consumerId;
      const { items, nextCursor } = await this.#messages().page();
      this.earlierCursor = nextCursor;
      this.turns = turnsOf(items);
      this.#follow();
    } catch (error) {
      // The server has not seen the chat: it begins with the next message.
      if (!(error instanceof NotFoundError && error.code === 'chat_not_found')) {
        connection.noteError(error);
        this.error = error;
      } else this.turns = [];
    }
    this.isLoading = false;
    this.changes.add();
  }

  async loadEarlier(): Promise<void> {
    if (this.earlierCursor === null) return;
    const { items, nextCursor } = await this.#messages().page(this.earlierCursor);
    this.earlierCursor = nextCursor;
    this.turns = joinTurns(turnsOf(items), this.turns);
    this.changes.add();
  }

  #messages() {
    const { apiIntegrationId, chatId } = this;
    return api().chats.messages({ apiIntegrationId, chatId, limit: MESSAGES_PER_PAGE });
  }

  #follow(): void {
    const last = this.turns.at(-1);
    if (last === undefined || last.runId === null) return;
    const { apiIntegrationId, chatId } = this;
    const handle = { apiIntegrationId, chatId, runId: last.runId, usageRequestId: null, lastEventId: 0 };
    const live = new LiveRun({ apiIntegrationId, chatId, run: api().attach(handle), isNew: false });
    this.turns = [...this.turns.slice(0, -1), { ...last, live }];
    void live.read();
  }

  /** Starts a run. */
  send(message: SentMessage, { member, agent }: Addressee): void {
    const { apiIntegrationId, chatId } = this;
    const { text, files, images = [], answers } = message;
    this.#count += 1;
    const run = api().run({
      apiIntegrationId,
      chatId,
      message: text,
      ...(member === undefined ? {} : { consumerId: member }),
      // A run that continues with answers has the agent of the run that asked.
      ...(agent === undefined || answers.length > 0 ? {} : { agent }),
      ...(files.length === 0 ? {} : { sandboxFiles: [...files] }),
      ...(images.length === 0 ? {} : { attachments: images }),
      ...(answers.length === 0 ? {} : { answers: [...answers] }),
    });
    const live = new LiveRun({ apiIntegrationId, chatId, run, isNew: true });
    this.turns = [...this.turns, { key: `sent ${this.#count}`, message, runId: null, live, stored: null }];
    this.changes.add();
    void live.read().then(() => this.changes.add());
  }

  /** Takes back a message that the server refused. */
  remove(turn: Turn): void {
    this.turns = this.turns.filter((one) => one !== turn);
    this.changes.add();
  }

  /** Stops reading. The run continues. */
  close(): void {
    this.live?.close();
  }
}

/** The messages of a page are newest first, and a page may begin with an answer. */
function turnsOf(newestFirst: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of newestFirst.toReversed()) {
    const last = turns.at(-1);
    if (message.role === 'assistant' && last?.runId === message.runId)
      turns[turns.length - 1] = { ...last, stored: message };
    else turns.push(turnOf(message));
  }
  return turns;
}

function turnOf(message: Message): Turn {
  const isSent = message.role === 'user';
  const { runId, content, sandboxFiles, attachments } = message;
  const sent = isSent
    ? { text: content, files: sandboxFiles, images: attachments, answers: [] }
    : { text: '', files: [], images: [], answers: [] };
  return { key: runId, runId, message: sent, live: null, stored: isSent ? null : message };
}

/** A turn may be cut by the end of a page. */
function joinTurns(earlier: readonly Turn[], later: readonly Turn[]): readonly Turn[] {
  const [last, first] = [earlier.at(-1), later[0]];
  if (last === undefined || first === undefined || last.runId !== first.runId) return [...earlier, ...later];
  return [...earlier.slice(0, -1), { ...first, message: last.message }, ...later.slice(1)];
}
