import { type Answer, type Chat, type Message, NotFoundError, type Question, type RunRequest } from '@runwire/client';
import { api } from '../../app/api.ts';
import { isConnectionLost } from '../../app/errors.ts';
import { meQuery } from '../../app/queries.ts';
import { noteError, queryClient } from '../../app/query-client.ts';
import { randomId } from '../../lib/random-id.ts';
import { Changes } from './changes.ts';
import { LiveRun } from './live-run.ts';
import { prefetchContent } from './run-content.ts';
import { getRunId, isNotAdmitted, joinTurns, listTurns, NO_QUESTIONS, type SentMessage, type Turn } from './turn.ts';

/** Who talks to which agent. */
export interface Addressee {
  readonly member: string | undefined;
  readonly agent: string | undefined;
}

/** What a request has besides its message. */
export interface RequestSettings extends Addressee {
  readonly context: RunRequest['user_context'];
}

const MESSAGES_PER_PAGE = 50;

/** A chat's turns, as far as they were read. */
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
  isLoadingEarlier = false;
  earlierError: unknown = null;
  #isInAddress: boolean;
  /** The open questions of the stored turns. */
  #pending = NO_QUESTIONS;
  /** The chat's messages when the turns were last compared with it. */
  #numMessages = 0;
  #isCatchingUp = false;
  #isDeleted = false;
  #count = 0;
  /** Counts how often reading began or was stopped. What an older reading finds is not used. */
  #readings = 0;

  /** Begins a new chat if no chat is given. */
  constructor(apiIntegrationId: string, chatId: string | undefined) {
    this.apiIntegrationId = apiIntegrationId;
    this.chatId = chatId ?? `chat-${randomId()}`;
    this.#isInAddress = chatId !== undefined;
    this.isLoading = chatId !== undefined;
  }

  /** True if this is the address's chat. A new chat's id is added to the address when the first message is sent. */
  fits(apiIntegrationId: string, chatId: string | undefined): boolean {
    if (apiIntegrationId !== this.apiIntegrationId) return false;
    if (chatId === this.chatId) this.#isInAddress = true;
    return chatId === undefined ? !this.#isInAddress : chatId === this.chatId;
  }

  /** The run that is active, or the last one. */
  get live(): LiveRun | null {
    const active = this.turns.findLast(({ live }) => live?.isActive);
    return (active ?? this.turns.at(-1))?.live ?? null;
  }

  /** False while the chat is not known: its last run may be active. */
  get canSend(): boolean {
    return !this.isLoading && this.error === null && !this.live?.isActive;
  }

  /** The open questions of the last run. */
  get pending(): readonly Question[] {
    const last = this.turns.findLast((turn) => getRunId(turn) !== null);
    return last?.live ? (last.live.result?.pending ?? NO_QUESTIONS) : this.#pending;
  }

  /** Reads the chat unless it was read before. */
  open(): void {
    if (this.member === undefined) void this.load();
  }

  /** Reads again what could not be read because the server did not answer. */
  recover(): void {
    const isLost = ({ live }: Turn) => live?.mayRun && isConnectionLost(live.error);
    if (isConnectionLost(this.error) || this.turns.some(isLost)) void this.load();
    else if (isConnectionLost(this.earlierError)) void this.loadEarlier();
  }

  /** Reads the stored messages, and follows the last run if it is active. */
  async load(): Promise<void> {
    if (!this.#isInAddress) return;
    const reading = this.#beginReading();
    const unsent = this.turns.filter(isNotAdmitted);
    for (const { live } of this.turns) if (live?.runId != null) live.close();
    this.isLoading = true;
    this.error = null;
    this.earlierError = null;
    this.changes.add();
    try {
      const { apiIntegrationId, chatId } = this;
      const { consumerId, numMessages, pending } = await api().chats.get({ apiIntegrationId, chatId });
      if (!this.#isCurrent(reading)) return;
      const { items, nextCursor } = await this.#messages().page();
      const admitted = unsent.length === 0 ? NONE : await this.#requestIds();
      await prefetchContent(apiIntegrationId, items);
      if (!this.#isCurrent(reading)) return;
      this.member = consumerId;
      this.#numMessages = numMessages;
      this.#pending = pending;
      this.earlierCursor = nextCursor;
      const kept = unsent.filter(({ live }) => live?.isActive || !admitted.has(live?.usageRequestId ?? ''));
      const isKept = (runId: string | null) => runId !== null && kept.some(({ live }) => live?.runId === runId);
      this.turns = [...this.#followed(listTurns(items).filter(({ runId }) => !isKept(runId))), ...this.#absent(kept)];
    } catch (error) {
      if (!this.#isCurrent(reading)) return;
      // The server has not seen the chat: it begins with the next message.
      if (error instanceof NotFoundError && error.code === 'chat_not_found') this.turns = this.#absent(unsent);
      else {
        noteError(error);
        this.error = error;
      }
    }
    this.isLoading = false;
    this.changes.add();
  }

  /**
   * Adds the turns that another tab or another program has sent since, and follows the last of them. While a run of this
   * page is active, the chat has no other. `chat` is the chat's record if it was just read.
   */
  async catchUp(chat?: Chat): Promise<void> {
    if (!this.canSend || !this.#isStored || this.isLoadingEarlier || this.#isCatchingUp) return;
    const reading = this.#readings;
    this.#isCatchingUp = true;
    try {
      const { apiIntegrationId, chatId } = this;
      const { numMessages, pending } = chat ?? (await api().chats.get({ apiIntegrationId, chatId }));
      if (!this.#isCurrent(reading) || !this.canSend) return;
      this.#pending = pending;
      this.changes.add();
      if (numMessages === this.#numMessages) return;
      const { items } = await this.#messages().page();
      if (!this.#isCurrent(reading) || !this.canSend) return;
      this.#numMessages = numMessages;
      this.#append(listTurns(items));
    } catch (error) {
      // A chat that was deleted stays in view.
      if (error instanceof NotFoundError) this.#isDeleted = true;
      else noteError(error);
    } finally {
      this.#isCatchingUp = false;
    }
  }

  /** True if the server has the chat, and every message of this page that it may have is known. */
  get #isStored(): boolean {
    const isUnknown = (turn: Turn) => isNotAdmitted(turn) && turn.live?.mayRun;
    const isKnown = (turn: Turn) => turn.stored !== null || getRunId(turn) !== null;
    const isStored = this.member !== undefined || this.turns.some(isKnown);
    return isStored && !this.#isDeleted && !this.turns.some(isUnknown);
  }

  /** Adds the chat's newest turns as far as they are new. */
  #append(newest: readonly Turn[]): void {
    const known = new Set(this.turns.map(getRunId));
    const added = newest.slice(newest.findLastIndex(({ runId }) => known.has(runId)) + 1);
    if (added.length === 0) return;
    // The newest page does not reach back to a turn that is shown, so some turns would be missing.
    if (added.length === newest.length) void this.load();
    else this.turns = [...this.turns, ...this.#followed(added)];
    this.changes.add();
  }

  async loadEarlier(): Promise<void> {
    if (this.earlierCursor === null || this.isLoading || this.isLoadingEarlier) return;
    const reading = this.#readings;
    this.isLoadingEarlier = true;
    this.earlierError = null;
    this.changes.add();
    try {
      const { items, nextCursor } = await this.#messages().page(this.earlierCursor);
      await prefetchContent(this.apiIntegrationId, items);
      if (!this.#isCurrent(reading)) return;
      this.earlierCursor = nextCursor;
      this.turns = joinTurns(listTurns(items), this.turns);
    } catch (error) {
      if (!this.#isCurrent(reading)) return;
      noteError(error);
      this.earlierError = error;
    }
    this.isLoadingEarlier = false;
    this.changes.add();
  }

  #beginReading(): number {
    this.#readings += 1;
    this.isLoadingEarlier = false;
    return this.#readings;
  }

  #isCurrent(reading: number): boolean {
    return reading === this.#readings;
  }

  /** The ids of the requests that the newest runs of the chat belong to. */
  async #requestIds(): Promise<ReadonlySet<string | null>> {
    const { apiIntegrationId, chatId } = this;
    const { items } = await api().runs.list({ apiIntegrationId, chatId, limit: 200 }).page();
    return new Set(items.map(({ usageRequestId }) => usageRequestId));
  }

  /** These messages did not reach the server, so they can be sent again. */
  #absent(turns: readonly Turn[]): readonly Turn[] {
    for (const { live } of turns) live?.noteAbsence();
    return turns;
  }

  #messages() {
    const { apiIntegrationId, chatId } = this;
    return api().chats.messages({ apiIntegrationId, chatId, limit: MESSAGES_PER_PAGE });
  }

  /** Reads the last run live if it has not ended. */
  #followed(turns: readonly Turn[]): readonly Turn[] {
    const last = turns.at(-1);
    if (last === undefined || last.runId === null || last.stored !== null) return turns;
    const { apiIntegrationId, chatId } = this;
    const handle = { apiIntegrationId, chatId, runId: last.runId, usageRequestId: null, lastEventId: 0 };
    const live = new LiveRun({ apiIntegrationId, chatId, run: api().attach(handle), isNew: false, asked: [] });
    void live.read().then(() => this.changes.add());
    return [...turns.slice(0, -1), { ...last, live }];
  }

  /** Starts a run. */
  send(message: SentMessage, { member, agent, context }: RequestSettings): void {
    const { apiIntegrationId, chatId } = this;
    const { text, files, images, answers } = message;
    const asked = this.pending;
    this.#count += 1;
    // The message begins a deleted chat again.
    this.#isDeleted = false;
    const run = api().run({
      apiIntegrationId,
      chatId,
      message: text,
      consumerId: member,
      // A run that continues with answers has the agent of the run that asked.
      agent: answers.length > 0 ? undefined : agent,
      user_context: context,
      sandboxFiles: files.length === 0 ? undefined : [...files],
      attachments: images.length === 0 ? undefined : images,
      answers: answers.length === 0 ? undefined : [...answers],
    });
    const live = new LiveRun({ apiIntegrationId, chatId, run, isNew: true, asked });
    const sent = { ...message, decisions: decide(answers, asked), sentAt: new Date().toISOString() };
    this.turns = [...this.turns, { key: `sent ${this.#count}`, message: sent, runId: null, live, stored: null }];
    this.changes.add();
    void live.read().then(() => this.changes.add());
  }

  /** Makes a copy of the chat that ends before the turn, and reads it. */
  async forkBefore(turn: Turn): Promise<Conversation> {
    const { apiIntegrationId, chatId: fromChatId } = this;
    const runId = getRunId(turn);
    const { chatId } = await api().chats.fork({ apiIntegrationId, fromChatId, runId, before: true });
    const fork = new Conversation(apiIntegrationId, chatId);
    await fork.load();
    return fork;
  }

  /** Takes back a message that the server refused. */
  remove(turn: Turn): void {
    this.turns = this.turns.filter((one) => one !== turn);
    this.changes.add();
  }

  /** Stops reading. The runs continue. */
  close(): void {
    this.member = undefined;
    this.#beginReading();
    for (const { live } of this.turns) live?.close();
  }
}

const NONE: ReadonlySet<string | null> = new Set();

/** The answers that this person sends now, as the API will have them. */
function decide(answers: readonly Answer[], asked: readonly Question[]): Message['answers'] {
  const person = queryClient.getQueryData(meQuery.queryKey)?.person;
  const by = { kind: 'person', id: person?.personId ?? null, name: person?.name ?? person?.email ?? null } as const;
  const at = new Date().toISOString();
  return answers.map(({ questionId, approve, reason, arguments: changedArguments = null, remember = null }) => ({
    questionId,
    tool: asked.find((question) => question.questionId === questionId)?.tool ?? null,
    decision: approve === undefined ? 'output' : approve ? 'approved' : 'declined',
    reason: reason ?? null,
    changedArguments,
    remember,
    by,
    at,
  }));
}
