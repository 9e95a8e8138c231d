export {
  ApiKey,
  ApiKeyList,
  CreateApiKeyRequest,
  CreatedApiKey,
  CreatedOwner,
  CreatedPerson,
  CreateOwnerRequest,
  CreatePersonRequest,
  Me,
  Owner,
  OwnerList,
  Person,
  PersonList,
  UpdatePersonRequest,
} from './account.ts';
export { Agency, AgencyList } from './agency.ts';
export { AgencyFile, type AgentFile, agencyPatternSentences, type FlowFile, MAX_AGENTS } from './agency-file.ts';
export { AnsweringRun, AnswerQuestionsRequest, AskedQuestion, AskedQuestionList } from './asked-question.ts';
export { Attachment, FileAttachment, ImageAttachment } from './attachment.ts';
export { AuditEvent, AuditEventList } from './audit.ts';
export {
  Chat,
  ChatList,
  ChatState,
  ChatStatus,
  CreateChatRequest,
  Message,
  MessageList,
  UpdateChatRequest,
} from './chat.ts';
export { ClientToken, CreateClientTokenRequest } from './client-token.ts';
export { GetCompletionV2Request, SandboxFile } from './completion.ts';
export { ApiErrorResponse } from './error.ts';
export { EvalRunRequest } from './eval.ts';
export { type EvalCaseFile, EvalFile, evalPatternSentences } from './eval-file.ts';
export { ChangedFile, File, FileList, StreamChangedFile } from './file.ts';
export { CreateIntegrationRequest, Integration, IntegrationList, UpdateIntegrationRequest } from './integration.ts';
export { noControlCharacters, patternSentences } from './kit.ts';
export { Erasure, Member, MemberList, PutMemberRequest } from './member.ts';
export { type NamedSchema, namedSchemas } from './named-schemas.ts';
export { type ClientPermission, clientPermissions, type Operation, type OperationResponse } from './operation.ts';
export { type OperationId, operations } from './operations/all-operations.ts';
export { type ProviderFile, ProvidersFile, providersPatternSentences } from './providers-file.ts';
export { RerunRequest, RunComparison } from './rerun.ts';
export { CancelResult, CancelRunRequest, GuardrailDecision, HiddenPart, Run, RunList, Step, StepList } from './run.ts';
export {
  CreateScheduleRequest,
  RunScheduleRequest,
  Schedule,
  ScheduledRun,
  ScheduleList,
  ScheduleRequest,
  ScheduleTick,
  ScheduleTickList,
  UpdateScheduleRequest,
} from './schedule.ts';
export { Health, Readiness } from './service.ts';
export { ToolAttachment } from './tool-image.ts';
export { CreateAgencyUploadRequest, CreateAgencyUploadResponse } from './upload.ts';
export {
  Adjustment,
  AdjustmentList,
  Allowance,
  AllowanceSetting,
  Cost,
  CreateAdjustmentRequest,
  RunUsageRecord,
  Usage,
  UsageRecord,
  UsageRecordList,
} from './usage.ts';
export {
  CreateWebhookRequest,
  ReplayWebhookRequest,
  UpdateWebhookRequest,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookDeliveryWithBody,
  WebhookEndpoint,
  WebhookEndpointList,
  WebhookEndpointWithSecret,
  WebhookEvent,
  type WebhookEventType,
  WebhookReplay,
  webhookEventTypes,
} from './webhook.ts';
