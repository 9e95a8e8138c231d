import { sortableId } from '@runwire/lib/sortable-id.ts';
import type { Agencies } from '../agencies/agencies.ts';
import type { Audit } from '../audit/audit.ts';
import type { IntegrationChange, NewIntegration } from '../domain/account/account-inputs.ts';
import { COMPATIBLE_APIS, parseApiNames, toApiNames } from '../domain/account/compatible-apis.ts';
import type { Principal } from '../domain/account/principal.ts';
import { BROKEN_RETRY_SECONDS } from '../domain/admission/admission.ts';
import { DEFAULT_MEMBER_FOLDER, memberFolderProblem } from '../domain/file/file-access.ts';
import { type IntegrationId, newIntegrationId } from '../domain/ids.ts';
import type { Prices } from '../domain/model/prices.ts';
import { Refusal } from '../domain/refusal.ts';
import { RUN_SECONDS_BY_SETTING } from '../domain/run/admitted-run.ts';
import { iso } from '../domain/time.ts';
import {
  activeRunOfIntegration,
  deleteIntegration,
  type IntegrationRow,
  type IntegrationValues,
  insertIntegration,
  integrationById,
  integrationIdTaken,
  listIntegrations,
  updateIntegration,
} from '../store/queries/accounts.ts';
import { forgetFolders } from '../store/queries/folder-bytes.ts';
import { lockIntegrationForDelete } from '../store/queries/locks.ts';
import type { Page } from '../store/queries/page.ts';
import { deleteSchedulesOfIntegration } from '../store/queries/schedules.ts';
import { deleteEndpointsOfIntegration } from '../store/queries/webhook-endpoints.ts';
import { type ListQuery, readPage } from '../store/read-page.ts';
import { first, type Reads, type Store } from '../store/store.ts';
import type { AccountChanges } from './accounts-version.ts';
import { confirmCaller } from './confirm-caller.ts';
import { unpricedModel } from './credit-prices.ts';

export const DEMO_AGENCY = 'demo';

export const INTEGRATION_DEFAULTS: IntegrationValues = {
  name_json: JSON.stringify('Integration'),
  agency: DEMO_AGENCY,
  default_agent: '',
  text_only: 0,
  allowance_unit: null,
  allowance_limit: null,
  allowance_period: null,
  on_disconnect: 'continue',
  max_run_seconds: RUN_SECONDS_BY_SETTING,
  max_runs_per_member: null,
  keep_attachments: 1,
  model: null,
  file_access: 'chat',
  member_folder: DEFAULT_MEMBER_FOLDER,
  quota_bytes: null,
  member_quota_bytes: null,
  client_tools: 0,
  caller_instructions: 0,
  auto_register: 0,
  compatible_apis: COMPATIBLE_APIS.join(','),
};

function integrationJson(row: IntegrationRow, defaultRunSeconds: number) {
  const { allowance_unit: unit, allowance_limit: limit, allowance_period: period } = row;
  return {
    apiIntegrationId: row.integration_id,
    name: JSON.parse(row.name_json) as string,
    agency: row.agency,
    defaultAgent: row.default_agent,
    textOnly: row.text_only === 1,
    allowances: unit === null || limit === null || period === null ? null : { unit, limit, period },
    onDisconnect: row.on_disconnect,
    maxRunSeconds: row.max_run_seconds === RUN_SECONDS_BY_SETTING ? defaultRunSeconds : row.max_run_seconds,
    maxRunsPerMember: row.max_runs_per_member,
    keepAttachments: row.keep_attachments === 1,
    model: row.model,
    fileAccess: row.file_access,
    memberFolder: row.member_folder,
    quotaBytes: row.quota_bytes,
    memberQuotaBytes: row.member_quota_bytes,
    clientTools: row.client_tools === 1,
    callerInstructions: row.caller_instructions === 1,
    autoRegister: row.auto_register === 1,
    compatibleApis: parseApiNames(row.compatible_apis),
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}

export interface IntegrationsDeps {
  readonly store: Store;
  readonly changes: AccountChanges;
  readonly agencies: Agencies;
  readonly defaultRunSeconds: number;
  readonly prices: Prices;
  /** Removes a deleted integration's turns from this node's memory. */
  readonly forgetIntegration: (integrationId: IntegrationId) => void;
}

export class Integrations {
  readonly #store: Store;
  readonly #changes: AccountChanges;
  readonly #agencies: Agencies;
  readonly #defaultRunSeconds: number;
  readonly #prices: Prices;
  readonly #forgetIntegration: IntegrationsDeps['forgetIntegration'];

  constructor({ store, changes, agencies, defaultRunSeconds, prices, forgetIntegration }: IntegrationsDeps) {
    this.#store = store;
    this.#changes = changes;
    this.#agencies = agencies;
    this.#defaultRunSeconds = defaultRunSeconds;
    this.#prices = prices;
    this.#forgetIntegration = forgetIntegration;
  }

  async create(principal: Principal, input: NewIntegration, audit: Audit) {
    const integrationId = newIntegrationId(input.apiIntegrationId);
    // Without a name, people see the id.
    const values = this.#values({ name: integrationId, ...input }, null);
    const now = Date.now();
    return this.#changes.change(async (tx) => {
      await confirmCaller(tx, principal, 'manager');
      if ((await first(tx.all(integrationIdTaken, { integrationId }))) !== undefined) {
        throw new Refusal('integration_exists');
      }
      await tx.run(insertIntegration, {
        ...values,
        integration_id: integrationId,
        sort_key: sortableId(now),
        owner_id: principal.ownerId,
        created_at: now,
      });
      const after = await this.#read(tx, integrationId);
      await audit(tx, { target: ['integration', integrationId], integrationId, after });
      return after;
    });
  }

  get(integrationId: IntegrationId) {
    return this.#read(this.#store.reads, integrationId);
  }

  /** A change reads its answer in its own transaction: afterwards another change may be stored, or a DELETE. */
  async #read(reads: Reads, integrationId: IntegrationId) {
    const row = await first(reads.all(integrationById, { integrationId }));
    if (row === undefined) throw new Refusal('integration_not_found');
    return integrationJson(row, this.#defaultRunSeconds);
  }

  list(principal: Principal, query: ListQuery) {
    const integrations = (page: Page) => listIntegrations(principal.ownerId, principal.integrations, page);
    const position = (row: IntegrationRow) => ({ createdAt: row.created_at, id: row.sort_key });
    const show = (row: IntegrationRow) => integrationJson(row, this.#defaultRunSeconds);
    return readPage(this.#store.reads, query, integrations, position, show);
  }

  async update(integrationId: IntegrationId, input: IntegrationChange, audit: Audit) {
    return this.#changes.change(async (tx) => {
      const row = await first(tx.all(integrationById, { integrationId }));
      if (row === undefined) throw new Refusal('integration_not_found');
      const values = this.#values(input, row);
      await tx.run(updateIntegration, { ...values, integrationId, now: Date.now() });
      if (values.member_folder !== row.member_folder) await tx.run(forgetFolders, { integrationId });
      const before = integrationJson(row, this.#defaultRunSeconds);
      const after = await this.#read(tx, integrationId);
      await audit(tx, { target: ['integration', integrationId], integrationId, before, after });
      return after;
    });
  }

  async delete(integrationId: IntegrationId, audit: Audit): Promise<void> {
    await this.#changes.change(async (tx) => {
      // An admission either commits before this lock is granted, and its run is found, or finds the integration deleted.
      await tx.all(lockIntegrationForDelete, { integrationId });
      const active = await first(tx.all(activeRunOfIntegration, { integrationId }));
      if (active !== undefined) {
        throw new Refusal('run_active', 'A run of this integration is still active; wait for it or cancel it first.', {
          runId: active.run_id,
          usageRequestId: active.usage_request_id,
          chatId: active.chat_id,
        });
      }
      const deleted = await tx.run(deleteIntegration, { integrationId, now: Date.now() });
      if (deleted === 0) throw new Refusal('integration_not_found');
      // Nothing more is posted. The sweep deletes events and deliveries.
      await tx.run(deleteEndpointsOfIntegration, { integrationId });
      await tx.run(deleteSchedulesOfIntegration, { integrationId });
      await audit(tx, { target: ['integration', integrationId], integrationId });
    });
    this.#forgetIntegration(integrationId);
  }

  /** The given fields take precedence over the stored ones, and those over the defaults. */
  #values(input: IntegrationChange, row: IntegrationRow | null): IntegrationValues {
    const before = row ?? INTEGRATION_DEFAULTS;
    const agency = input.agency ?? before.agency;
    const defaultAgent = this.#defaultAgent(
      agency,
      input.defaultAgent,
      row?.agency === agency ? row.default_agent : null,
    );
    const model = input.model === undefined ? before.model : input.model;
    const problem = typeof input.model === 'string' ? this.#agencies.modelProblem(input.model) : null;
    if (problem !== null) throw new Refusal('invalid_request', `\`model\` cannot be used: ${problem}`);
    const allowances =
      input.allowances === undefined
        ? { unit: before.allowance_unit, limit: before.allowance_limit, period: before.allowance_period }
        : (input.allowances ?? { unit: null, limit: null, period: null });
    const unpriced =
      allowances.unit === 'credits' ? unpricedModel(this.#agencies, { agency, model }, this.#prices) : null;
    if (unpriced !== null) {
      throw new Refusal(
        'invalid_request',
        `\`allowances.unit: "credits"\` needs a price for every model of the agency; RUNWIRE_PRICES has none for \`${unpriced}\`.`,
      );
    }
    const folder = input.memberFolder ?? before.member_folder;
    const wrongFolder = memberFolderProblem(folder);
    if (wrongFolder !== null) throw new Refusal('invalid_request', `\`memberFolder\` ${wrongFolder}.`);
    return {
      name_json: input.name === undefined ? before.name_json : JSON.stringify(input.name),
      agency,
      default_agent: defaultAgent,
      text_only: Number(input.textOnly ?? before.text_only),
      allowance_unit: allowances.unit,
      allowance_limit: allowances.limit,
      allowance_period: allowances.period,
      on_disconnect: input.onDisconnect ?? before.on_disconnect,
      max_run_seconds:
        input.maxRunSeconds === undefined ? before.max_run_seconds : (input.maxRunSeconds ?? RUN_SECONDS_BY_SETTING),
      max_runs_per_member: input.maxRunsPerMember === undefined ? before.max_runs_per_member : input.maxRunsPerMember,
      keep_attachments: Number(input.keepAttachments ?? before.keep_attachments),
      model,
      file_access: input.fileAccess ?? before.file_access,
      member_folder: folder,
      quota_bytes: input.quotaBytes === undefined ? before.quota_bytes : input.quotaBytes,
      member_quota_bytes: input.memberQuotaBytes === undefined ? before.member_quota_bytes : input.memberQuotaBytes,
      client_tools: Number(input.clientTools ?? before.client_tools),
      caller_instructions: Number(input.callerInstructions ?? before.caller_instructions),
      auto_register: Number(input.autoRegister ?? before.auto_register),
      compatible_apis: input.compatibleApis === undefined ? before.compatible_apis : toApiNames(input.compatibleApis),
    };
  }

  #defaultAgent(agency: string, chosen: string | undefined, kept: string | null): string {
    const entryPoints = this.#agencies.entryPoints(agency);
    if (entryPoints === null) throw new Refusal('unknown_agency');
    if (entryPoints === 'broken') {
      if (kept !== null && chosen === undefined) return kept;
      throw new Refusal('agency_unavailable', undefined, {}, BROKEN_RETRY_SECONDS);
    }
    const agent = chosen ?? kept ?? this.#agencies.defaultAgent(agency) ?? '';
    if (entryPoints.includes(agent)) return agent;
    const names = entryPoints.map((name) => `\`${name}\``).join(', ');
    throw new Refusal('unknown_agent', `\`defaultAgent\` is not an entry point of this agency; use one of: ${names}.`);
  }
}
