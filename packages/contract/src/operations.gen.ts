// Made from packages/contract/src/schemas by `npm exec -- node -C runwire scripts/build-contract-types.ts`; do not edit.

import type {
  GetCompletionV2Request,
  CreateAgencyUploadRequest,
  CreateAgencyUploadResponse,
  FileList,
  Adjustment,
  AdjustmentList,
  CreateAdjustmentRequest,
  LatencySummary,
  UsageRecordList,
  UsageSummary,
  Overview,
  CancelResult,
  CancelRunRequest,
  Run,
  RunList,
  StepList,
  StepPrompt,
  RerunRequest,
  RunComparison,
  EvalRunRequest,
  Chat,
  ChatList,
  ChatStatus,
  CreateChatRequest,
  ForkChatRequest,
  MessageList,
  UpdateChatRequest,
  AnswerQuestionsRequest,
  AnsweringRun,
  AskedQuestionList,
  Erasure,
  Member,
  MemberList,
  PutMemberRequest,
  ClientToken,
  CreateClientTokenRequest,
  CreateIntegrationRequest,
  Integration,
  IntegrationList,
  UpdateIntegrationRequest,
  CreateScheduleRequest,
  RunScheduleRequest,
  Schedule,
  ScheduleList,
  ScheduleTickList,
  ScheduledRun,
  UpdateScheduleRequest,
  ApiKeyList,
  CreateApiKeyRequest,
  CreateOwnerRequest,
  CreatePersonRequest,
  CreatedApiKey,
  CreatedOwner,
  CreatedPerson,
  Me,
  OwnerList,
  Person,
  PersonList,
  UpdateMeRequest,
  UpdatePersonRequest,
  AuditEventList,
  AgencyDefinition,
  AgencyList,
  ServiceNodeList,
  CreateWebhookRequest,
  ReplayWebhookRequest,
  UpdateWebhookRequest,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookDeliveryWithBody,
  WebhookEndpoint,
  WebhookEndpointList,
  WebhookEndpointWithSecret,
  WebhookReplay,
} from './types.gen.ts';

export interface DeleteFileParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Full path of a file or folder below `/app/mnt/`.
   */
  path: string;
  /**
   * If true, a folder is deleted with its content.
   */
  recursive?: boolean | undefined;
}

export interface GetFileContentParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Full path of a file below `/app/mnt/`.
   */
  path: string;
}

export interface HeadFileContentParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Full path of a file below `/app/mnt/`.
   */
  path: string;
}

export interface ListFilesParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Full path of the folder.
   */
  folder?: string | undefined;
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface CancelRunParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the run.
   */
  runId: string;
}

export interface CompareRunsParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the run.
   */
  runId: string;
  /**
   * Identifier of the other run.
   */
  with: string;
}

export interface GetChatStatusParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * `usageRequestId` of one of the chat's runs.
   */
  usageRequestId?: string | undefined;
  /**
   * Identifier of the chat.
   */
  chatId?: string | undefined;
  /**
   * Alias of the chat.
   */
  aliasChatId?: string | undefined;
}

export interface GetRunParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the run.
   */
  runId: string;
}

export interface GetRunAttachmentParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the run.
   */
  runId: string;
  /**
   * Identifier of the attachment.
   */
  attachmentId: string;
}

export interface GetRunEventsParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the run.
   */
  runId: string;
  /**
   * An event id, an integer ≥ 0. `Last-Event-ID` takes precedence over it.
   */
  after?: string | undefined;
}

export interface GetStepPromptParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the run.
   */
  runId: string;
  /**
   * Number of a step whose `kind` is `model`.
   */
  step: number;
}

export interface ListRunStepsParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the run.
   */
  runId: string;
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface ListRunsParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Only runs of this chat.
   */
  chatId?: string | undefined;
  /**
   * Only runs of this member.
   */
  consumerId?: string | undefined;
  /**
   * Only runs in this state.
   */
  status?: 'admitted' | 'running' | 'completed' | 'failed' | 'cancelled' | undefined;
  /**
   * Only runs that were started at this agent.
   */
  agent?: string | undefined;
  /**
   * Only reruns of this run.
   */
  rerunOf?: string | undefined;
  /**
   * Only runs that were admitted at this time or later.
   */
  from?: string | undefined;
  /**
   * Only runs that were admitted before this time.
   */
  to?: string | undefined;
  /**
   * Words that all must occur in messages, answers, names of tools or error messages, regardless of case and accents; the last one also as the beginning of a longer word.
   */
  q?: string | undefined;
  /**
   * If false, runs have only the previews of their texts. The default is true.
   */
  texts?: boolean | undefined;
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface RerunRunParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the run.
   */
  runId: string;
}

export interface RunEvalParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
}

export interface CreateAdjustmentParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the member, chosen by your backend.
   */
  consumerId: string;
}

export interface DeleteMemberParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the member, chosen by your backend.
   */
  consumerId: string;
  /**
   * If true, the person is erased.
   */
  erase?: boolean | undefined;
}

export interface GetErasureParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the member, chosen by your backend.
   */
  consumerId: string;
}

export interface GetMemberParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the member, chosen by your backend.
   */
  consumerId: string;
}

export interface ListAdjustmentsParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the member, chosen by your backend.
   */
  consumerId: string;
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface ListMembersParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Only members whose `consumerId`, or one of the first four words of whose `name`, begins with this text.
   */
  q?: string | undefined;
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface PutMemberParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the member, chosen by your backend.
   */
  consumerId: string;
}

export interface CreateClientTokenParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
}

export interface CreateChatParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
}

export interface DeleteChatParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the chat.
   */
  chatId: string;
}

export interface ForkChatParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the chat that is forked.
   */
  fromChatId: string;
}

export interface GetChatParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the chat.
   */
  chatId: string;
}

export interface ListChatMessagesParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the chat.
   */
  chatId: string;
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface ListChatsParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Only chats of this member.
   */
  consumerId?: string | undefined;
  /**
   * Only chats in this state.
   */
  status?: 'idle' | 'running' | undefined;
  /**
   * Only chats that changed after this time.
   */
  updatedAfter?: string | undefined;
  /**
   * If true, only chats with open questions. If false, only chats without.
   */
  waiting?: boolean | undefined;
  /**
   * By creation (the default), or by the last change.
   */
  sort?: 'created' | 'updated' | undefined;
  /**
   * Words that all must occur in messages, answers, names of tools or error messages, regardless of case and accents; the last one also as the beginning of a longer word.
   */
  q?: string | undefined;
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface UpdateChatParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the chat.
   */
  chatId: string;
}

export interface AnswerQuestionsParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the chat.
   */
  chatId: string;
}

export interface ListQuestionsParameters {
  /**
   * `all` also lists questions that a new message left without an answer.
   */
  state?: 'open' | 'answered' | 'all' | undefined;
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface CreateScheduleParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
}

export interface DeleteScheduleParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The schedule's id.
   */
  scheduleId: string;
}

export interface GetScheduleParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The schedule's id.
   */
  scheduleId: string;
}

export interface ListScheduleTicksParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The schedule's id.
   */
  scheduleId: string;
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface ListSchedulesParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface RunScheduleParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The schedule's id.
   */
  scheduleId: string;
}

export interface UpdateScheduleParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The schedule's id.
   */
  scheduleId: string;
}

export interface ListUsageParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Only the run with this `usageRequestId`; no adjustments.
   */
  usageRequestId?: string | undefined;
  /**
   * Only runs and adjustments of this member.
   */
  consumerId?: string | undefined;
  /**
   * Only runs that were admitted, and adjustments that were made, at this time or later.
   */
  from?: string | undefined;
  /**
   * Only runs that were admitted, and adjustments that were made, before this time.
   */
  to?: string | undefined;
  /**
   * True: only reruns, and no adjustments. False: no reruns. By default both.
   */
  rerun?: boolean | undefined;
  /**
   * Format of the answer; default `json`.
   */
  format?: 'json' | 'csv' | undefined;
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface SummariseLatencyParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Only runs that were started at this agent.
   */
  agent?: string | undefined;
  /**
   * Only runs that used this model (`provider/model`).
   */
  model?: string | undefined;
  /**
   * Only runs that were admitted at this time or later.
   */
  from?: string | undefined;
  /**
   * Only runs that were admitted before this time.
   */
  to?: string | undefined;
}

export interface SummariseUsageParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * What usage is grouped by.
   */
  groupBy: 'hour' | 'day' | 'consumer' | 'agent' | 'model';
  /**
   * What each day or hour is split by. Only with `groupBy=day` and `groupBy=hour`.
   */
  splitBy?: 'consumer' | 'agent' | 'model' | 'error' | 'agencyVersion' | undefined;
  /**
   * Only runs of this member.
   */
  consumerId?: string | undefined;
  /**
   * Only runs that were started at this agent.
   */
  agent?: string | undefined;
  /**
   * Only what this model (`provider/model`) used. A run that called other models too counts with the part of this one.
   */
  model?: string | undefined;
  /**
   * True: only reruns. By default they are left out.
   */
  rerun?: boolean | undefined;
  /**
   * Only runs that were admitted at this time or later.
   */
  from?: string | undefined;
  /**
   * Only runs that were admitted before this time.
   */
  to?: string | undefined;
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface GetOverviewParameters {
  /**
   * Only this integration.
   */
  integration?: string | undefined;
  /**
   * How many hours; the default is 24.
   */
  hours?: number | undefined;
}

export interface DeleteIntegrationParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
}

export interface GetAgencyDefinitionParameters {
  /**
   * Identifier of the agency.
   */
  agency: string;
}

export interface GetIntegrationParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
}

export interface ListAgenciesParameters {
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface ListIntegrationsParameters {
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface UpdateIntegrationParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
}

export interface CreateWebhookParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
}

export interface DeleteWebhookParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The endpoint's identifier.
   */
  endpointId: string;
}

export interface GetWebhookParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The endpoint's identifier.
   */
  endpointId: string;
}

export interface GetWebhookDeliveryParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The endpoint's identifier.
   */
  endpointId: string;
  /**
   * The delivery's identifier.
   */
  deliveryId: string;
}

export interface ListWebhookDeliveriesParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The endpoint's identifier.
   */
  endpointId: string;
  /**
   * Only deliveries with this status.
   */
  status?: 'pending' | 'delivered' | 'failed' | 'skipped' | undefined;
  /**
   * Only deliveries with this type.
   */
  type?:
    | 'run.completed'
    | 'run.failed'
    | 'run.cancelled'
    | 'run.asked'
    | 'member.allowance_exhausted'
    | 'upload.completed'
    | 'agency.broken'
    | 'schedule.paused'
    | 'webhook.test' | undefined;
  /**
   * Only deliveries that were made at this time or later.
   */
  from?: string | undefined;
  /**
   * Only deliveries that were made before this time.
   */
  to?: string | undefined;
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface ListWebhooksParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface RedeliverWebhookParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The endpoint's identifier.
   */
  endpointId: string;
  /**
   * The delivery's identifier.
   */
  deliveryId: string;
}

export interface ReplayWebhookParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The endpoint's identifier.
   */
  endpointId: string;
}

export interface RotateWebhookParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The endpoint's identifier.
   */
  endpointId: string;
}

export interface TestWebhookParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The endpoint's identifier.
   */
  endpointId: string;
}

export interface UpdateWebhookParameters {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The endpoint's identifier.
   */
  endpointId: string;
}

export interface DeleteOwnerParameters {
  /**
   * Identifier of the owner.
   */
  ownerId: string;
}

export interface DeletePersonParameters {
  /**
   * Identifier of the person.
   */
  personId: string;
}

export interface GetPersonParameters {
  /**
   * Identifier of the person.
   */
  personId: string;
}

export interface ListApiKeysParameters {
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface ListOwnersParameters {
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface ListPeopleParameters {
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface RevokeApiKeyParameters {
  /**
   * Identifier of the API key.
   */
  keyId: string;
}

export interface UpdatePersonParameters {
  /**
   * Identifier of the person.
   */
  personId: string;
}

export interface ListAuditParameters {
  /**
   * Only changes by this person, key or member (`actor.id`).
   */
  actor?: string | undefined;
  /**
   * Only changes by this operation, such as `createApiKey`.
   */
  operation?: string | undefined;
  /**
   * Only changes of this target, such as `key:key_1`.
   */
  target?: string | undefined;
  /**
   * Only changes at this time or later.
   */
  from?: string | undefined;
  /**
   * Only changes before this time.
   */
  to?: string | undefined;
  /**
   * Format of the answer; default `json`.
   */
  format?: 'json' | 'csv' | undefined;
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

export interface ListNodesParameters {
  /**
   * Maximum number of items of the page.
   */
  limit?: number | undefined;
  /**
   * `nextCursor` of the previous page. The filters must be the same.
   */
  cursor?: string | undefined;
}

/**
 * What each operation takes, path, query and body in one object, and what it answers.
 */
export interface Operations {
  /**
   * Start a streamed agent run.
   */
  getCompletionV2: { input: GetCompletionV2Request; answer: unknown };
  /**
   * Sign a form for uploading a file.
   */
  createAgencyUpload: { input: CreateAgencyUploadRequest; answer: CreateAgencyUploadResponse };
  /**
   * Delete a file, or a folder with its content.
   */
  deleteFile: { input: DeleteFileParameters; answer: undefined };
  /**
   * Read a file.
   */
  getFileContent: { input: GetFileContentParameters; answer: unknown };
  /**
   * Read the headers of a file.
   */
  headFileContent: { input: HeadFileContentParameters; answer: undefined };
  /**
   * List the files and folders of a folder, by name.
   */
  listFiles: { input: ListFilesParameters; answer: FileList };
  /**
   * Cancel exactly this run.
   */
  cancelRun: { input: CancelRunParameters & CancelRunRequest; answer: CancelResult };
  /**
   * Compare two runs, step by step.
   */
  compareRuns: { input: CompareRunsParameters; answer: RunComparison };
  /**
   * Read a chat's status.
   */
  getChatStatus: { input: GetChatStatusParameters; answer: ChatStatus };
  /**
   * Read a run.
   */
  getRun: { input: GetRunParameters; answer: Run };
  /**
   * Read an image that a tool of a run returned.
   */
  getRunAttachment: { input: GetRunAttachmentParameters; answer: unknown };
  /**
   * Stream the events of a run.
   */
  getRunEvents: { input: GetRunEventsParameters; answer: unknown | undefined };
  /**
   * Read what a model was sent in a step.
   */
  getStepPrompt: { input: GetStepPromptParameters; answer: StepPrompt };
  /**
   * List the steps of a run, newest first.
   */
  listRunSteps: { input: ListRunStepsParameters; answer: StepList };
  /**
   * List runs, newest first.
   */
  listRuns: { input: ListRunsParameters; answer: RunList };
  /**
   * Run a run again.
   */
  rerunRun: { input: RerunRunParameters & RerunRequest; answer: unknown };
  /**
   * Start a run for an eval.
   */
  runEval: { input: RunEvalParameters & EvalRunRequest; answer: unknown };
  /**
   * Correct the usage of a member.
   */
  createAdjustment: { input: CreateAdjustmentParameters & CreateAdjustmentRequest; answer: Adjustment };
  /**
   * Delete a member, or erase everything that is stored of it.
   */
  deleteMember: { input: DeleteMemberParameters; answer: Erasure | undefined };
  /**
   * Read the status of a member's erasure.
   */
  getErasure: { input: GetErasureParameters; answer: Erasure };
  /**
   * Read a member.
   */
  getMember: { input: GetMemberParameters; answer: Member };
  /**
   * List the adjustments of a member, newest first.
   */
  listAdjustments: { input: ListAdjustmentsParameters; answer: AdjustmentList };
  /**
   * List members, newest first.
   */
  listMembers: { input: ListMembersParameters; answer: MemberList };
  /**
   * Register or update a member.
   */
  putMember: { input: PutMemberParameters & PutMemberRequest; answer: Member };
  /**
   * Mint a client token for one member.
   */
  createClientToken: { input: CreateClientTokenParameters & CreateClientTokenRequest; answer: ClientToken };
  /**
   * Create a chat.
   */
  createChat: { input: CreateChatParameters & CreateChatRequest; answer: Chat };
  /**
   * Delete a chat; its runs and usage records are kept.
   */
  deleteChat: { input: DeleteChatParameters; answer: undefined };
  /**
   * Fork a chat: make a new one from its beginning.
   */
  forkChat: { input: ForkChatParameters & ForkChatRequest; answer: Chat };
  /**
   * Read a chat.
   */
  getChat: { input: GetChatParameters; answer: Chat };
  /**
   * List the messages of a chat, newest first.
   */
  listChatMessages: { input: ListChatMessagesParameters; answer: MessageList };
  /**
   * List chats, newest first.
   */
  listChats: { input: ListChatsParameters; answer: ChatList };
  /**
   * Set the title and the metadata of a chat.
   */
  updateChat: { input: UpdateChatParameters & UpdateChatRequest; answer: Chat };
  /**
   * Send answers to the open questions of a chat.
   */
  answerQuestions: { input: AnswerQuestionsParameters & AnswerQuestionsRequest; answer: AnsweringRun };
  /**
   * List the questions of all chats, newest first.
   */
  listQuestions: { input: ListQuestionsParameters; answer: AskedQuestionList };
  /**
   * Create a schedule: runs that start by themselves.
   */
  createSchedule: { input: CreateScheduleParameters & CreateScheduleRequest; answer: Schedule };
  /**
   * Delete a schedule; its runs are kept.
   */
  deleteSchedule: { input: DeleteScheduleParameters; answer: undefined };
  /**
   * Read a schedule.
   */
  getSchedule: { input: GetScheduleParameters; answer: Schedule };
  /**
   * List a schedule's ticks, newest first.
   */
  listScheduleTicks: { input: ListScheduleTicksParameters; answer: ScheduleTickList };
  /**
   * List schedules, newest first.
   */
  listSchedules: { input: ListSchedulesParameters; answer: ScheduleList };
  /**
   * Start one run now.
   */
  runSchedule: { input: RunScheduleParameters & RunScheduleRequest; answer: ScheduledRun };
  /**
   * Change, pause or resume a schedule.
   */
  updateSchedule: { input: UpdateScheduleParameters & UpdateScheduleRequest; answer: Schedule };
  /**
   * List usage records, newest first.
   */
  listUsage: { input: ListUsageParameters; answer: UsageRecordList };
  /**
   * Show how long runs took, by day.
   */
  summariseLatency: { input: SummariseLatencyParameters; answer: LatencySummary };
  /**
   * Add up usage by hour, day, member, agent or model.
   */
  summariseUsage: { input: SummariseUsageParameters; answer: UsageSummary };
  /**
   * Show what happened in the last hours, and what needs a person.
   */
  getOverview: { input: GetOverviewParameters; answer: Overview };
  /**
   * Create an integration.
   */
  createIntegration: { input: CreateIntegrationRequest; answer: Integration };
  /**
   * Delete an integration; its id can never be used again.
   */
  deleteIntegration: { input: DeleteIntegrationParameters; answer: undefined };
  /**
   * Read the instructions and tools of the agents of an agency.
   */
  getAgencyDefinition: { input: GetAgencyDefinitionParameters; answer: AgencyDefinition };
  /**
   * Read an integration.
   */
  getIntegration: { input: GetIntegrationParameters; answer: Integration };
  /**
   * List agencies with their entry points and flows.
   */
  listAgencies: { input: ListAgenciesParameters; answer: AgencyList };
  /**
   * List your integrations, newest first.
   */
  listIntegrations: { input: ListIntegrationsParameters; answer: IntegrationList };
  /**
   * Change an integration.
   */
  updateIntegration: { input: UpdateIntegrationParameters & UpdateIntegrationRequest; answer: Integration };
  /**
   * Add a webhook endpoint.
   */
  createWebhook: { input: CreateWebhookParameters & CreateWebhookRequest; answer: WebhookEndpointWithSecret };
  /**
   * Delete a webhook endpoint with its deliveries.
   */
  deleteWebhook: { input: DeleteWebhookParameters; answer: undefined };
  /**
   * Read a webhook endpoint.
   */
  getWebhook: { input: GetWebhookParameters; answer: WebhookEndpoint };
  /**
   * Read a delivery with its body and the last answer.
   */
  getWebhookDelivery: { input: GetWebhookDeliveryParameters; answer: WebhookDeliveryWithBody };
  /**
   * List a webhook endpoint's deliveries, newest first.
   */
  listWebhookDeliveries: { input: ListWebhookDeliveriesParameters; answer: WebhookDeliveryList };
  /**
   * List an integration's webhook endpoints, newest first.
   */
  listWebhooks: { input: ListWebhooksParameters; answer: WebhookEndpointList };
  /**
   * Send a delivery's event once more.
   */
  redeliverWebhook: { input: RedeliverWebhookParameters; answer: WebhookDelivery };
  /**
   * Send stored events once more.
   */
  replayWebhook: { input: ReplayWebhookParameters & ReplayWebhookRequest; answer: WebhookReplay };
  /**
   * Make a new secret for a webhook endpoint.
   */
  rotateWebhook: { input: RotateWebhookParameters; answer: WebhookEndpointWithSecret };
  /**
   * Send a `webhook.test` to an endpoint.
   */
  testWebhook: { input: TestWebhookParameters; answer: WebhookDelivery };
  /**
   * Change, pause or resume a webhook endpoint.
   */
  updateWebhook: { input: UpdateWebhookParameters & UpdateWebhookRequest; answer: WebhookEndpoint };
  /**
   * Create an API key.
   */
  createApiKey: { input: CreateApiKeyRequest; answer: CreatedApiKey };
  /**
   * Create an owner (administrator).
   */
  createOwner: { input: CreateOwnerRequest; answer: CreatedOwner };
  /**
   * Invite a person.
   */
  createPerson: { input: CreatePersonRequest; answer: CreatedPerson };
  /**
   * Delete an owner without integrations (administrator).
   */
  deleteOwner: { input: DeleteOwnerParameters; answer: undefined };
  /**
   * Remove a person.
   */
  deletePerson: { input: DeletePersonParameters; answer: undefined };
  /**
   * Read your API key's owner, and who you are.
   */
  getMe: { input: Record<never, never>; answer: Me };
  /**
   * Read a person.
   */
  getPerson: { input: GetPersonParameters; answer: Person };
  /**
   * List your API keys, newest first.
   */
  listApiKeys: { input: ListApiKeysParameters; answer: ApiKeyList };
  /**
   * List owners, newest first (administrator).
   */
  listOwners: { input: ListOwnersParameters; answer: OwnerList };
  /**
   * List the people of your owner, newest first.
   */
  listPeople: { input: ListPeopleParameters; answer: PersonList };
  /**
   * Revoke an API key; the list still shows it.
   */
  revokeApiKey: { input: RevokeApiKeyParameters; answer: undefined };
  /**
   * Change your name or your e-mail address.
   */
  updateMe: { input: UpdateMeRequest; answer: Me };
  /**
   * Change a person.
   */
  updatePerson: { input: UpdatePersonParameters & UpdatePersonRequest; answer: Person };
  /**
   * List who changed what, newest first.
   */
  listAudit: { input: ListAuditParameters; answer: AuditEventList };
  /**
   * Read the metrics of this node.
   */
  getMetrics: { input: Record<never, never>; answer: unknown };
  /**
   * List the nodes of this installation, newest first (administrator).
   */
  listNodes: { input: ListNodesParameters; answer: ServiceNodeList };
}
