import type { CreateIntegrationRequest, PutMemberRequest, UpdateIntegrationRequest } from '@runwire/contract';

/** What callers may say about accounts, as the contract has it. */
export type NewIntegration = CreateIntegrationRequest;
export type IntegrationChange = UpdateIntegrationRequest;
export type MemberInput = PutMemberRequest;
