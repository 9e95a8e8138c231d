/** What callers may say about accounts, as the contract has it. */
export type { CreateIntegrationRequest, PutMemberRequest, UpdateIntegrationRequest } from '@runwire/contract';
