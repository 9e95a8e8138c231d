import type { ClientTokenInput } from '../domain/account/account-inputs.ts';
import type { ClientToken } from '../domain/account/caller.ts';
import type { Principal } from '../domain/account/principal.ts';
import { isBelow, memberFolder } from '../domain/file/file-access.ts';
import { checkFolderPath, wholePath } from '../domain/file/mount-path.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { originProblem } from '../domain/origin.ts';
import { Refusal } from '../domain/refusal.ts';
import { iso } from '../domain/time.ts';
import { type IntegrationRow, integrationById, memberState } from '../store/queries/accounts.ts';
import { first, type Reads } from '../store/store.ts';
import type { ClientTokenSigning } from './client-token-signing.ts';

const DEFAULT_SECONDS = 600;
const MAX_CONTEXT_BYTES = 4096;
/** nginx refuses a header line of more than 8 KiB, as it is configured by default. */
const MAX_TOKEN_BYTES = 8000;

/** Mints client tokens. They are never stored. */
export class ClientTokens {
  readonly #reads: Reads;
  readonly #signing: ClientTokenSigning;

  constructor(reads: Reads, signing: ClientTokenSigning) {
    this.#reads = reads;
    this.#signing = signing;
  }

  /** The principal must own the integration. */
  async create(principal: Principal, integrationId: IntegrationId, input: ClientTokenInput) {
    const {
      consumerId,
      chatId = null,
      agent = null,
      can = ['run', 'read'],
      origins = null,
      userContext = null,
    } = input;
    checkOrigins(origins ?? []);
    if (Buffer.byteLength(JSON.stringify(userContext)) > MAX_CONTEXT_BYTES) {
      throw new Refusal('invalid_request', `\`userContext\` must be at most ${MAX_CONTEXT_BYTES} bytes of JSON.`);
    }
    const [integration, member] = await Promise.all([
      first(this.#reads.all(integrationById, { integrationId })),
      first(this.#reads.all(memberState, { integrationId, consumerId })),
    ]);
    if (integration === undefined) throw new Refusal('integration_not_found');
    const folder = getFolder(integration, { ...input, can });
    if (member === undefined) throw new Refusal('member_not_found');
    if (member.active !== 1) throw new Refusal('consumer_inactive');
    const expiresAt = getExpiry(principal, input.expiresInSeconds ?? DEFAULT_SECONDS);
    const fields = { consumerId, chatId, agent, can, folder, origins };
    const token: ClientToken = { integrationId, memberKey: member.sort_key, ...fields, userContext, expiresAt };
    const clientToken = await this.#signing.sign(principal, token);
    if (clientToken.length > MAX_TOKEN_BYTES) {
      const sentence = `The token would have more than ${MAX_TOKEN_BYTES} bytes, too many for a header; shorten \`userContext\`, \`origins\` or the ids.`;
      throw new Refusal('invalid_request', sentence);
    }
    return { clientToken, apiIntegrationId: integrationId, ...fields, expiresAt: iso(expiresAt) };
  }
}

/** A token never outlives its key. */
function getExpiry({ key }: Principal, seconds: number): number {
  const wanted = Math.ceil(Date.now() / 1000) + seconds;
  return 1000 * Math.min(wanted, key.expiresAt === null ? wanted : Math.floor(key.expiresAt / 1000));
}

function getFolder(
  { file_access: access, member_folder: template }: IntegrationRow,
  { consumerId, can, folder }: Pick<ClientToken, 'consumerId' | 'can'> & Pick<ClientTokenInput, 'folder'>,
): string | null {
  const own = memberFolder(template, consumerId);
  if (folder === undefined || folder === null) {
    return can.includes('upload') || can.includes('files') ? wholePath(own) : null;
  }
  const checked = checkFolderPath(folder);
  if ('problem' in checked) throw new Refusal('invalid_request', `\`folder\` ${checked.problem}.`);
  if (access === 'member' && checked.below !== own && !isBelow(checked.below, own)) {
    const sentence = `\`folder\` must be at or below the folder of the member, \`${wholePath(own)}\`: the integration has \`fileAccess: "member"\`.`;
    throw new Refusal('invalid_request', sentence);
  }
  return folder;
}

function checkOrigins(origins: readonly string[]): void {
  for (const [index, origin] of origins.entries()) {
    const problem = originProblem(origin);
    if (problem !== null) throw new Refusal('invalid_request', `\`origins[${index}]\` ${problem}.`);
  }
}
