import { AbstractChat, type ChatInit, type ChatState, DefaultChatTransport, type UIMessage } from 'ai';

/** The state of `useChat` without React. */
class PlainState implements ChatState<UIMessage> {
  status: ChatState<UIMessage>['status'] = 'ready';
  error: Error | undefined = undefined;
  messages: UIMessage[];

  constructor(messages: UIMessage[]) {
    this.messages = messages;
  }

  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message];
  };

  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };

  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, structuredClone(message));
  };

  snapshot = <T>(thing: T): T => structuredClone(thing);
}

export interface UiChatOptions extends Omit<ChatInit<UIMessage>, 'transport'> {
  /** The API's address: `…/ai-sdk/chat`. */
  readonly api: string;
  readonly token: string;
  /** Further fields of every request's body. */
  readonly body?: object;
}

/** The chat of the AI SDK, as `useChat` has it, in Node: its own transport, its own reader, its own state machine. */
export class UiChat extends AbstractChat<UIMessage> {
  readonly finished: Parameters<NonNullable<ChatInit<UIMessage>['onFinish']>>[0][] = [];

  constructor({ api, token, body, messages = [], ...init }: UiChatOptions) {
    const headers = { authorization: `Bearer ${token}` };
    const transport = new DefaultChatTransport<UIMessage>({ api, headers, ...(body && { body }) });
    super({
      ...init,
      transport,
      state: new PlainState(messages),
      onFinish: (result) => this.finished.push(result),
    });
  }

  /** The newest message's parts, each as a short text. */
  get parts(): string[] {
    return shownParts(this.lastMessage);
  }
}

/** A message's parts, each as a short text; without the boundaries of steps. */
export function shownParts(message: UIMessage | undefined): string[] {
  return (message?.parts ?? []).flatMap((part) => {
    switch (part.type) {
      case 'step-start':
        return [];
      case 'text':
      case 'reasoning':
        return [`${part.type} ${part.state}: ${part.text}`];
      case 'file':
        return [`file ${part.mediaType}: ${part.url}`];
      default: {
        if (!('toolCallId' in part)) return [`${part.type}: ${JSON.stringify('data' in part ? part.data : null)}`];
        const name = part.type === 'dynamic-tool' ? `dynamic ${part.toolName}` : part.type;
        const outcome = part.state === 'output-error' ? part.errorText : part.output;
        return [`${name} ${part.state} ${JSON.stringify(part.input)} ${JSON.stringify(outcome ?? null)}`];
      }
    }
  });
}
