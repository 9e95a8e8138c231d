import { displayName, freeObject, listOf, named, nullable, strictObject, time } from './kit.ts';
import { Type } from './type.ts';
import { Allowance, allowanceLimit } from './usage.ts';

export const Member = named(
  'Member',
  Type.Object({
    consumerId: Type.String(),
    name: nullable(Type.String()),
    active: Type.Boolean(),
    metadata: freeObject(),
    ownLimit: nullable(allowanceLimit()),
    allowance: nullable(Allowance),
    createdAt: time(),
    updatedAt: time(),
  }),
);

export const MemberList = listOf('MemberList', Member);

export const PutMemberRequest = named(
  'PutMemberRequest',
  strictObject({
    name: Type.Optional(nullable(displayName())),
    active: Type.Optional(Type.Boolean()),
    allowance: Type.Optional(
      nullable(
        strictObject(
          { limit: allowanceLimit() },
          { description: "The member's own limit; null takes the integration's." },
        ),
      ),
    ),
    metadata: Type.Optional(freeObject()),
  }),
);
