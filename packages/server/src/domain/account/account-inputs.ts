import type {
  CreateAdjustmentRequest,
  CreateClientTokenRequest,
  CreateIntegrationRequest,
  PutMemberRequest,
  UpdateIntegrationRequest,
} from '@runwire/contract';

/** The request bodies for accounts, as the contract defines them. */
export type NewIntegration = CreateIntegrationRequest;
export type IntegrationChange = UpdateIntegrationRequest;
export type MemberInput = PutMemberRequest;
export type ClientTokenInput = CreateClientTokenRequest;
export type AdjustmentInput = CreateAdjustmentRequest;
