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

const callId = () => text('Names the call. Its output has the same id.', { minLength: 1, maxLength: 256 });

export const HistoryCall = named(
  'HistoryCall',
  strictObject(
    {
      callId: callId(),
      tool: text('The called tool. The agent need not have it.', { minLength: 1, maxLength: 256 }),
      arguments: freeObject({ description: 'What the tool was called with.' }),
    },
    { description: 'A call that an agent made.' },
  ),
);

export const UserHistoryItem = named(
  'UserHistoryItem',
  strictObject(
    {
      role: oneOfStrings(['user'], { description: 'Discriminator.' }),
      content: text('What the user wrote.', { maxLength: 1_000_000 }),
      attachments: Type.Optional(
        Type.Array(ref(Attachment), { maxItems: 20, description: 'Attachments, at most 20 in all items together.' }),
      ),
    },
    { description: 'A message from the user. It begins a turn.' },
  ),
);

export const AssistantHistoryItem = named(
  'AssistantHistoryItem',
  strictObject(
    {
      role: oneOfStrings(['assistant'], { description: 'Discriminator.' }),
      content: Type.Optional(text('What the assistant answered.', { maxLength: 1_000_000 })),
      calls: Type.Optional(Type.Array(ref(HistoryCall), { minItems: 1, maxItems: 128, description: 'Tool calls.' })),
      agent: Type.Optional(
        text('The agent that answered.', { minLength: 1, maxLength: 256, pattern: noControlCharacters }),
      ),
    },
    { description: 'A text or calls from the assistant.' },
  ),
);

export const ToolHistoryItem = named(
  'ToolHistoryItem',
  strictObject(
    {
      role: oneOfStrings(['tool'], { description: 'Discriminator.' }),
      callId: callId(),
      output: text('What the tool returned.', { maxLength: 1_000_000 }),
      failed: Type.Optional(flag('True if the call failed.')),
    },
    { description: 'What a call returned.' },
  ),
);

export const HistoryItem = named(
  'HistoryItem',
  eitherBy(
    'role',
    [UserHistoryItem, AssistantHistoryItem, ToolHistoryItem],
    'A part from an earlier conversation, discriminated by `role`.',
  ),
);

export const history = () =>
  Type.Array(ref(HistoryItem), {
    maxItems: 1000,
    description: 'Earlier turns, oldest first. Only for a new chat: its first messages.',
  });
