import type {
  CreateAdjustmentRequest,
  CreateApiKeyRequest,
  CreateClientTokenRequest,
  CreateIntegrationRequest,
  CreatePersonRequest,
  PutMemberRequest,
  UpdateIntegrationRequest,
  UpdateMeRequest,
  UpdatePersonRequest,
} from '@runwire/contract';

/** The request bodies for accounts, as the contract defines them. */
export type NewIntegration = CreateIntegrationRequest;
export type IntegrationChange = UpdateIntegrationRequest;
export type MemberInput = PutMemberRequest;
export type ClientTokenInput = CreateClientTokenRequest;
export type AdjustmentInput = CreateAdjustmentRequest;
export type KeyInput = CreateApiKeyRequest;
export type NewPerson = CreatePersonRequest;
export type PersonChange = UpdatePersonRequest;
export type OwnChange = UpdateMeRequest;
