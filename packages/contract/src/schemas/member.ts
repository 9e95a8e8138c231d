import {
  described,
  displayName,
  flag,
  freeObject,
  named,
  nullable,
  oneOfStrings,
  strictObject,
  text,
  time,
  toList,
} from './kit.ts';
import { Type } from './type.ts';
import { Allowance, allowanceLimit } from './usage.ts';

const active = () => flag('True if the member may start runs.');
const metadata = () => freeObject({ description: 'Data of your own, at most 16 KiB as JSON.' });

export const Member = named(
  'Member',
  Type.Object(
    {
      consumerId: text('Identifier of the member, chosen by your backend.'),
      name: nullable(text('Name of the member, for people.')),
      active: active(),
      metadata: metadata(),
      ownLimit: nullable(allowanceLimit('Limit of this member. Null if the limit of the integration applies.')),
      allowance: described(nullable(Allowance), 'Allowance in the current period. Null if allowances are off.'),
      folder: text('Folder of the member: with `fileAccess: "member"` its runs see the files below it.'),
      createdAt: time('When the member was registered.'),
      updatedAt: time('When the member was last changed.'),
    },
    { description: 'An app member (consumer) of an integration.' },
  ),
);

export const MemberList = toList('MemberList', Member);

export const Erasure = named(
  'Erasure',
  Type.Object(
    {
      consumerId: text('Identifier of the member, chosen by your backend.'),
      status: oneOfStrings(['erasing', 'erased'], {
        description: '`erased` if nothing of the member is stored any more, except usage under another id.',
      }),
      startedAt: time('When the erasure was accepted.'),
      finishedAt: nullable(time('When it was finished. Null while it is running.')),
    },
    { description: 'The erasure of a member. It is kept for 30 days after its end.' },
  ),
);

export const PutMemberRequest = named(
  'PutMemberRequest',
  strictObject(
    {
      name: Type.Optional(nullable(displayName('Name of the member, for people.'))),
      active: Type.Optional(active()),
      allowance: Type.Optional(
        nullable(
          strictObject(
            { limit: allowanceLimit('Limit of this member, in the unit of the integration.') },
            { description: 'Own limit of the member. Null: the limit of the integration applies.' },
          ),
        ),
      ),
      metadata: Type.Optional(metadata()),
    },
    { description: 'The fields to set.' },
  ),
);
