import { Attachment } from './attachment.ts';
import { SandboxFile } from './completion.ts';
import { failure } from './error.ts';
import { history } from './history.ts';
import {
  callerId,
  count,
  flag,
  freeObject,
  named,
  nullable,
  oneOfStrings,
  ref,
  strictObject,
  text,
  time,
  toList,
} from './kit.ts';
import { answererFields, approvalFields, pending } from './question.ts';
import { Run, Step } from './run.ts';
import { Type } from './type.ts';

export const chatStatus = (description: string) => oneOfStrings(['idle', 'running'], { description });

const chatFields = {
  chatId: text('Identifier of the chat.'),
  aliasChatId: nullable(text('Alias of the chat, unique within the integration. Null if it has none.')),
  apiIntegrationId: text('Identifier of the integration.'),
  consumerId: nullable(text('The member that the chat belongs to. Null if it belongs to no member.')),
  status: chatStatus('`running` while the chat has an active run, otherwise `idle`.'),
  activeRunId: nullable(text('The active run. Null if the chat is idle.')),
  numMessages: count('Number of messages of the chat.'),
  pending: pending('The open questions of the chat. Empty if there are none.'),
  createdAt: time('When the chat was created.'),
  updatedAt: time('When the chat was last changed: by a run, or by a PATCH of its title or metadata.'),
};

const title = () => nullable(text('Title of the chat, for people. Null if it has none.', { maxLength: 200 }));
const metadata = () =>
  nullable(freeObject({ description: 'Data of your own, at most 16 KiB as JSON. Null if the chat has none.' }));

const forkedFrom = () =>
  nullable(
    Type.Object(
      {
        chatId: text('The chat that was forked.'),
        runId: nullable(text('The last run that the fork has of that chat. Null if the fork began empty.')),
      },
      { description: 'The chat that this one continues, and the last run that both have. Null if it is no fork.' },
    ),
  );

export const Chat = named(
  'Chat',
  Type.Object(
    {
      ...chatFields,
      title: title(),
      titlePreview: nullable(
        text('The title, or the first line of the first message, at most 200 characters. Null if there is neither.'),
      ),
      forkedFrom: forkedFrom(),
      replacedBy: nullable(text('The chat that took over the id of this one. Null if none did.')),
      approvals: Type.Array(
        Type.Object({
          tool: text('Name of the tool.'),
          by: Type.Object(answererFields, { description: 'Who allowed it.' }),
          at: time('When it was allowed.'),
        }),
        { description: 'The tools whose calls do not ask in this chat, because an answer had `remember`.' },
      ),
      lastingAgent: nullable(
        text(
          'The agent of the last lasting hand-off. It begins the runs whose requests name no agent, as long as a lasting ' +
            'hand-off leads to it. Null if there was none.',
        ),
      ),
      transient: flag('True if the chat is not listed, and is deleted `RUNWIRE_LOG_DAYS` after its last run ended.'),
      metadata: metadata(),
    },
    { description: 'A chat.' },
  ),
);

export const ChatState = named(
  'ChatState',
  freeObject({
    // Tells it apart from other objects with any members.
    title: 'ChatState',
    description:
      'What tools keep in a chat: values by their keys, at most 64 KiB as JSON. In a change, null removes a member.',
  }),
);

export const ChatList = toList('ChatList', Chat);

export const CreateChatRequest = named(
  'CreateChatRequest',
  strictObject(
    {
      chatId: Type.Optional(nullable(callerId('Identifier of the chat. Without it the server chooses one.'))),
      aliasChatId: Type.Optional(nullable(callerId('Alias of the chat, unique within the integration.'))),
      consumerId: Type.Optional(nullable(callerId('The member that the chat belongs to; it must be registered.'))),
      history: Type.Optional(history()),
    },
    { description: 'The chat to create.' },
  ),
);

export const ForkChatRequest = named(
  'ForkChatRequest',
  strictObject(
    {
      runId: Type.Optional(
        nullable(callerId("The run with which the new chat ends. Without it, the chat's newest run that has ended.")),
      ),
      before: Type.Optional(flag('True if the new chat ends before the message of `runId`.')),
      chatId: Type.Optional(nullable(callerId('Identifier of the new chat. Without it the server chooses one.'))),
      aliasChatId: Type.Optional(nullable(callerId('Alias of the new chat, unique within the integration.'))),
    },
    { description: 'The last run that the new chat gets, and its names.' },
  ),
);

export const UpdateChatRequest = named(
  'UpdateChatRequest',
  strictObject(
    {
      title: Type.Optional(title()),
      metadata: Type.Optional(metadata()),
      approvals: Type.Optional(
        Type.Array(
          Type.Object({
            tool: text('Name of the tool.'),
            by: Type.Optional(freeObject({ description: 'As it was read. It cannot be changed.' })),
            at: Type.Optional(time('As it was read. It cannot be changed.')),
          }),
          {
            maxItems: 1000,
            description: 'The approvals that remain. The calls of the other tools ask again. None can be added.',
          },
        ),
      ),
    },
    { description: 'The fields to set. Null removes a value.' },
  ),
);

const run = Run.properties;

export const ChatStatus = named(
  'ChatStatus',
  Type.Object(
    {
      ...chatFields,
      chatDeleted: flag('True if the chat was deleted.'),
      run: nullable(
        Type.Object(
          {
            runId: run.runId,
            usageRequestId: run.usageRequestId,
            status: run.status,
            agent: run.agent,
            attempt: run.attempt,
            lastEventId: run.lastEventId,
            createdAt: run.createdAt,
            startedAt: run.startedAt,
            completedAt: run.completedAt,
            error: run.error,
            message: run.message,
            usage: run.usage,
          },
          {
            description:
              "The run of `usageRequestId` if the request named one, otherwise the chat's newest run. Null if the " +
              'chat has no run.',
          },
        ),
      ),
    },
    { description: 'A chat and one of its runs, read in one consistent snapshot.' },
  ),
);

const step = Step.properties;

const MessageCall = Type.Object(
  { step: step.step, tool: step.tool, status: step.status, agent: step.agent, callId: step.callId },
  { description: 'A call of a tool.' },
);

const MessageAnswer = Type.Object(
  {
    questionId: text('The question.'),
    tool: nullable(text('Name of the tool. Null if it is not known.')),
    decision: oneOfStrings(['approved', 'declined', 'output'], { description: 'What was answered.' }),
    reason: nullable(text('The reason that was sent. Null if there was none.')),
    ...approvalFields,
    by: Type.Object(answererFields, { description: 'Who answered.' }),
    at: time('When the answer arrived.'),
  },
  { description: 'An answer to a question.' },
);

export const Message = named(
  'Message',
  Type.Object(
    {
      messageId: text('Identifier of the message.'),
      chatId: text('Identifier of the chat.'),
      runId: nullable(text('The run that the message belongs to. Null for an imported message.')),
      role: oneOfStrings(['user', 'assistant'], { description: 'Who wrote the message.' }),
      status: oneOfStrings(['completed', 'failed', 'cancelled', 'imported'], {
        description: 'A message of the assistant has the end of its run. `imported`: the caller sent it as `history`.',
      }),
      agent: nullable(text('The agent that answered. Null for messages of the user.')),
      content: text('Text of the message; empty if the run ended before any text.'),
      attachments: Type.Array(ref(Attachment), { description: 'Attachments of the message, without signed queries.' }),
      sandboxFiles: Type.Array(ref(SandboxFile), { description: 'Sandbox files of the message, as they were sent.' }),
      calls: Type.Array(MessageCall, {
        description: 'The tool calls of the run that answered. Empty for messages of the user.',
      }),
      answers: Type.Array(MessageAnswer, {
        description: 'The answers to questions that the message brought. Empty for messages of the assistant.',
      }),
      error: failure('Why the run failed. Null if it did not fail.'),
      createdAt: time('When the message was stored.'),
    },
    { description: 'A message of a chat.' },
  ),
);

export const MessageList = toList('MessageList', Message);
