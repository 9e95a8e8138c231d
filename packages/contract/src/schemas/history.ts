import { Attachment } from './attachment.ts';
import {
  eitherBy,
  flag,
  freeObject,
  named,
  noControlCharacters,
  oneOfStrings,
  ref,
  strictObject,
  text,
} from './kit.ts';
import { Type } from './type.ts';

const callId = () => text('Id of the call. Its output has the same.', { minLength: 1, maxLength: 256 });

export const HistoryCall = named(
  'HistoryCall',
  strictObject(
    {
      callId: callId(),
      tool: text('Name of the tool. The agent need not have it.', { minLength: 1, maxLength: 256 }),
      arguments: freeObject({ description: 'Arguments of the call.' }),
    },
    { description: 'A call that an agent made.' },
  ),
);

export const UserHistoryItem = named(
  'UserHistoryItem',
  strictObject(
    {
      role: oneOfStrings(['user'], { description: 'Discriminator.' }),
      content: text('Text of the user.', { maxLength: 1_000_000 }),
      attachments: Type.Optional(
        Type.Array(ref(Attachment), { maxItems: 20, description: 'Attachments, at most 20 in all items together.' }),
      ),
    },
    { description: 'A message of the user. It begins a turn.' },
  ),
);

export const AssistantHistoryItem = named(
  'AssistantHistoryItem',
  strictObject(
    {
      role: oneOfStrings(['assistant'], { description: 'Discriminator.' }),
      content: Type.Optional(text('Text of the assistant.', { maxLength: 1_000_000 })),
      calls: Type.Optional(
        Type.Array(ref(HistoryCall), { minItems: 1, maxItems: 128, description: 'Calls of tools.' }),
      ),
      agent: Type.Optional(
        text('The agent that answered.', { minLength: 1, maxLength: 256, pattern: noControlCharacters }),
      ),
    },
    { description: 'A text or calls of the assistant.' },
  ),
);

export const ToolHistoryItem = named(
  'ToolHistoryItem',
  strictObject(
    {
      role: oneOfStrings(['tool'], { description: 'Discriminator.' }),
      callId: callId(),
      output: text('Output of the call.', { maxLength: 1_000_000 }),
      failed: Type.Optional(flag('True if the call failed.')),
    },
    { description: 'The output of a call.' },
  ),
);

export const HistoryItem = named(
  'HistoryItem',
  eitherBy(
    'role',
    [UserHistoryItem, AssistantHistoryItem, ToolHistoryItem],
    'An item of an earlier conversation, discriminated by `role`.',
  ),
);

export const history = () =>
  Type.Array(ref(HistoryItem), {
    maxItems: 1000,
    description: 'Earlier turns, oldest first. Only for a new chat: its first messages.',
  });
