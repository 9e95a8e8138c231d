import { Authentication } from '@runwire/server/src/accounts/authenticate.ts';
import { IntegrationOwnership } from '@runwire/server/src/accounts/owned-integration.ts';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';

/** A client token counts as the key that minted it. */
function tokenIsKey(): Overrides {
  const { authenticate } = Authentication.prototype;
  Authentication.prototype.authenticate = async function (this: Authentication, bearer) {
    return { ...(await authenticate.call(this, bearer)), clientToken: null };
  };
  return {};
}

/** A client token sees the runs and chats of all members. */
function anyMember(): Overrides {
  const { scope } = IntegrationOwnership.prototype;
  IntegrationOwnership.prototype.scope = async function (this: IntegrationOwnership, caller, integrationId) {
    return { ...(await scope.call(this, caller, integrationId)), member: null };
  };
  return {};
}

export const TOKEN_FAULTS = { 'token-is-key': tokenIsKey, 'any-member': anyMember };
