import { Attachment, SandboxFile } from './completion.ts';
import { failure } from './error.ts';
import { callerId, count, listOf, named, nullable, oneOfStrings, ref, strictObject, time } from './kit.ts';
import { Run } from './run.ts';
import { Type } from './type.ts';

const chatFields = {
  chatId: Type.String(),
  aliasChatId: nullable(Type.String()),
  apiIntegrationId: Type.String(),
  consumerId: nullable(Type.String()),
  status: oneOfStrings(['idle', 'running']),
  activeRunId: nullable(Type.String()),
  numMessages: count(),
  createdAt: time(),
  updatedAt: time(),
};

export const Chat = named('Chat', Type.Object(chatFields));

export const ChatList = listOf('ChatList', Chat);

export const CreateChatRequest = named(
  'CreateChatRequest',
  strictObject({
    chatId: Type.Optional(nullable(callerId())),
    aliasChatId: Type.Optional(nullable(callerId())),
    consumerId: Type.Optional(nullable(callerId())),
  }),
);

const run = Run.properties;

export const ChatStatus = named(
  'ChatStatus',
  Type.Object({
    ...chatFields,
    chatDeleted: Type.Boolean(),
    run: nullable(
      Type.Object({
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
      }),
    ),
  }),
);

export const Message = named(
  'Message',
  Type.Object({
    messageId: Type.String(),
    chatId: Type.String(),
    runId: Type.String(),
    role: oneOfStrings(['user', 'assistant']),
    status: oneOfStrings(['completed', 'failed', 'cancelled']),
    agent: nullable(Type.String()),
    content: Type.String(),
    attachments: Type.Array(ref(Attachment)),
    sandboxFiles: Type.Array(ref(SandboxFile)),
    error: failure(),
    createdAt: time(),
  }),
);

export const MessageList = listOf('MessageList', Message);
