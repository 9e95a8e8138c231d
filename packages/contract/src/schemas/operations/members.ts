import { callerId, ref, text } from '../kit.ts';
import { Member, MemberList, PutMemberRequest } from '../member.ts';
import {
  bodyRefusals,
  integrationParams,
  integrationPath,
  integrationRefusals,
  operation,
  pageQuery,
} from '../operation.ts';
import { Type } from '../type.ts';
import { integrationExample, json, member, page } from './examples.ts';

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
  summary: 'Delete a member; its usage records are kept',
  tags: ['Members'],
  auth: true,
  params: memberParams,
  example: { params: memberExample, status: 204 },
  responses: { 204: { description: 'The member was deleted.' }, ...integrationRefusals() },
});

export const listMembers = operation({
  operationId: 'listMembers',
  method: 'GET',
  path: `${integrationPath}/members`,
  summary: 'List members, newest first',
  tags: ['Members'],
  auth: true,
  params: Type.Object(integrationParams),
  query: Type.Object(pageQuery),
  example: { params: integrationExample, query: { limit: 50 }, status: 200, answer: page(member) },
  responses: { 200: { description: 'A page of members.', schema: ref(MemberList) }, ...integrationRefusals() },
});
