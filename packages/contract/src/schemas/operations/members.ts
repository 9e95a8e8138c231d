import { callerId, flag, ref, text } from '../kit.ts';
import { Erasure, Member, MemberList, PutMemberRequest } from '../member.ts';
import {
  bodyRefusals,
  integrationParams,
  integrationPath,
  integrationRefusals,
  operation,
  pageQuery,
  refusals,
} from '../operation.ts';
import { Type } from '../type.ts';
import { Adjustment, AdjustmentList, CreateAdjustmentRequest } from '../usage.ts';
import { adjustment, erasure, integrationExample, json, member, page } from './examples.ts';

const MEMBER = 'Identifier of the member, chosen by your backend.';
const memberParams = Type.Object({ ...integrationParams, consumerId: text(MEMBER) });
const memberExample = { ...integrationExample, consumerId: 'user-42' };

export const putMember = operation({
  operationId: 'putMember',
  method: 'PUT',
  path: `${integrationPath}/members/:consumerId`,
  summary: 'Register or update a member',
  description: 'Fields that the request omits keep their values. A new member is active.',
  tags: ['Members'],
  auth: true,
  params: Type.Object({ ...integrationParams, consumerId: callerId(MEMBER) }),
  body: ref(PutMemberRequest),
  example: {
    params: memberExample,
    body: { name: 'Ann', metadata: { plan: 'pro' } },
    status: 201,
    answer: json(member),
  },
  responses: {
    200: { description: 'The member was updated.', schema: ref(Member) },
    201: { description: 'The member was registered.', schema: ref(Member) },
    ...integrationRefusals(),
    ...bodyRefusals(),
    ...refusals(409),
  },
});

export const getMember = operation({
  operationId: 'getMember',
  method: 'GET',
  path: `${integrationPath}/members/:consumerId`,
  summary: 'Read a member',
  tags: ['Members'],
  auth: true,
  params: memberParams,
  example: { params: memberExample, status: 200, answer: json(member) },
  responses: { 200: { description: 'The member.', schema: ref(Member) }, ...integrationRefusals() },
});

export const deleteMember = operation({
  operationId: 'deleteMember',
  method: 'DELETE',
  path: `${integrationPath}/members/:consumerId`,
  summary: 'Delete a member, or erase everything that is stored of it',
  description:
    'Without `erase` only the member is deleted: its chats, files and usage records are kept. With `erase=true` the ' +
    "person is erased: chats, messages, attachments, runs' texts, and the files of the member. Usage records stay under " +
    'another id. The answer is 202; poll the status of the erasure.',
  tags: ['Members'],
  auth: true,
  params: memberParams,
  query: Type.Object({ erase: Type.Optional(flag('If true, the person is erased.')) }),
  example: { params: memberExample, query: { erase: true }, status: 202, answer: json(erasure) },
  responses: {
    202: { description: 'The erasure was accepted, now or earlier.', schema: ref(Erasure) },
    204: { description: 'The member was deleted.' },
    ...integrationRefusals(),
  },
});

export const getErasure = operation({
  operationId: 'getErasure',
  method: 'GET',
  path: `${integrationPath}/members/:consumerId/erasure`,
  summary: "Read the status of a member's erasure",
  description: "The status is kept for 30 days after the erasure's end.",
  tags: ['Members'],
  auth: true,
  params: memberParams,
  example: { params: memberExample, status: 200, answer: json(erasure) },
  responses: { 200: { description: 'The erasure.', schema: ref(Erasure) }, ...integrationRefusals() },
});

export const listMembers = operation({
  operationId: 'listMembers',
  method: 'GET',
  path: `${integrationPath}/members`,
  summary: 'List members, newest first',
  description:
    'With `q`, only members whose `consumerId` or `name` begins with this text. A to Z match in upper and lower case; every ' +
    'other character must be the same.',
  tags: ['Members'],
  auth: true,
  params: Type.Object(integrationParams),
  query: Type.Object({
    q: Type.Optional(
      callerId(
        'Only members whose `consumerId`, or one of the first four words of whose `name`, begins with this text.',
      ),
    ),
    ...pageQuery,
  }),
  example: { params: integrationExample, query: { q: 'ann', limit: 50 }, status: 200, answer: page(member) },
  responses: { 200: { description: 'A page of members.', schema: ref(MemberList) }, ...integrationRefusals() },
});

export const createAdjustment = operation({
  operationId: 'createAdjustment',
  method: 'POST',
  path: `${integrationPath}/members/:consumerId/adjustments`,
  summary: 'Correct the usage of a member',
  description:
    'A positive amount gives back, a negative amount takes. The adjustment changes the usage of the current period and ' +
    'counts on the day it is made. The same `idempotencyKey` with the same body returns the stored adjustment.',
  tags: ['Members'],
  auth: true,
  params: memberParams,
  body: ref(CreateAdjustmentRequest),
  example: {
    params: memberExample,
    body: { amount: 500, unit: 'tokens', reason: 'The answer was wrong.', idempotencyKey: 'ticket-7' },
    status: 201,
    answer: json(adjustment),
  },
  responses: {
    200: { description: 'The adjustment was made before with this `idempotencyKey`.', schema: ref(Adjustment) },
    201: { description: 'The adjustment was made.', schema: ref(Adjustment) },
    ...integrationRefusals(),
    ...bodyRefusals(),
  },
});

export const listAdjustments = operation({
  operationId: 'listAdjustments',
  method: 'GET',
  path: `${integrationPath}/members/:consumerId/adjustments`,
  summary: 'List the adjustments of a member, newest first',
  tags: ['Members'],
  auth: true,
  params: memberParams,
  query: Type.Object(pageQuery),
  example: { params: memberExample, query: { limit: 50 }, status: 200, answer: page(adjustment) },
  responses: { 200: { description: 'A page of adjustments.', schema: ref(AdjustmentList) }, ...integrationRefusals() },
});
