import type { Role } from '@runwire/contract';

/** What each role may call and the roles below it may not, as docs/roles.md states it. */
const TABLE: Readonly<Record<Role, string>> = {
  viewer: `
    listFiles getFileContent headFileContent getChatStatus listRuns getRun getRunEvents getRunAttachment listRunSteps getStepPrompt compareRuns
    listChats getChat listChatMessages listQuestions listMembers getMember getErasure listAdjustments
    listUsage summariseUsage summariseLatency getOverview listSchedules getSchedule listScheduleTicks
    listWebhooks getWebhook listWebhookDeliveries getWebhookDelivery
    listIntegrations getIntegration listAgencies getAgencyDefinition getMe
    aiSdkResume agencySwarmMetadata agencySwarmMetadataByName agencySwarmDiscovery mcpStream mcpEnd
    openaiGetResponse openaiListInputItems openaiListModels openaiGetModel openaiGetConversation
    openaiListConversationItems`,
  operator: `
    answerQuestions cancelRun putMember createAdjustment redeliverWebhook replayWebhook
    aiSdkStop agencySwarmCancel agencySwarmCancelByName openaiCancelResponse`,
  developer: `
    getCompletionV2 createAgencyUpload deleteFile createChat updateChat forkChat deleteChat rerunRun runEval deleteMember createClientToken
    createSchedule updateSchedule deleteSchedule runSchedule
    createWebhook updateWebhook deleteWebhook rotateWebhook testWebhook updateIntegration
    listApiKeys createApiKey revokeApiKey
    agUi agUiAgent aiSdkChat agencySwarmStream agencySwarmStreamByName agencySwarmResponse agencySwarmResponseByName mcp
    openaiCreateResponse openaiDeleteResponse openaiCreateChatCompletion openaiCreateConversation
    openaiUpdateConversation openaiDeleteConversation`,
  manager: `
    createIntegration deleteIntegration createPerson listPeople getPerson updatePerson deletePerson listAudit
    createOwner listOwners deleteOwner listNodes getMetrics`,
};

/** Allowed for every role, but with a key only for a manager of all integrations: it changes a person. */
const OF_PEOPLE = 'updateMe';

/** What a key with `integrations` may call outside the path of an integration, if its role allows it. */
const OF_SCOPED_KEYS = new Set([
  'getCompletionV2',
  'createAgencyUpload',
  'listIntegrations',
  'listQuestions',
  'getOverview',
  'listAgencies',
  'getMe',
]);

export const ROLES = Object.keys(TABLE) as readonly Role[];

const words = (text: string) => text.trim().split(/\s+/);

/** The least role that may call each operation. */
export const LEAST_ROLE: ReadonlyMap<string, Role> = new Map([
  ...ROLES.flatMap((role) => words(TABLE[role]).map((id) => [id, role] as const)),
  [OF_PEOPLE, 'viewer'] as const,
]);

export interface RoleOperation {
  readonly id: string;
  readonly method: string;
  /** With the parameters as `:name`. */
  readonly path: string;
}

/** The operations of the compatible APIs, below the integration. OpenAPI does not describe them. */
const COMPATIBLE: Readonly<Record<string, string>> = {
  agUi: 'POST ag-ui',
  agUiAgent: 'POST ag-ui/Clerk',
  aiSdkChat: 'POST ai-sdk/chat',
  aiSdkResume: 'GET ai-sdk/chat/c1/stream',
  aiSdkStop: 'POST ai-sdk/chat/c1/stop',
  agencySwarmStream: 'POST agency-swarm/get_response_stream',
  agencySwarmStreamByName: 'POST agency-swarm/test/get_response_stream',
  agencySwarmResponse: 'POST agency-swarm/get_response',
  agencySwarmResponseByName: 'POST agency-swarm/test/get_response',
  agencySwarmCancel: 'POST agency-swarm/cancel_response_stream',
  agencySwarmCancelByName: 'POST agency-swarm/test/cancel_response_stream',
  agencySwarmMetadata: 'GET agency-swarm/get_metadata',
  agencySwarmMetadataByName: 'GET agency-swarm/test/get_metadata',
  agencySwarmDiscovery: 'GET agency-swarm/openapi.json',
  mcp: 'POST mcp',
  mcpStream: 'GET mcp',
  mcpEnd: 'DELETE mcp',
  openaiCreateResponse: 'POST openai/v1/responses',
  openaiGetResponse: 'GET openai/v1/responses/resp_1',
  openaiCancelResponse: 'POST openai/v1/responses/resp_1/cancel',
  openaiDeleteResponse: 'DELETE openai/v1/responses/resp_1',
  openaiListInputItems: 'GET openai/v1/responses/resp_1/input_items',
  openaiCreateChatCompletion: 'POST openai/v1/chat/completions',
  openaiListModels: 'GET openai/v1/models',
  openaiGetModel: 'GET openai/v1/models/Clerk',
  openaiCreateConversation: 'POST openai/v1/conversations',
  openaiGetConversation: 'GET openai/v1/conversations/c1',
  openaiUpdateConversation: 'POST openai/v1/conversations/c1',
  openaiDeleteConversation: 'DELETE openai/v1/conversations/c1',
  openaiListConversationItems: 'GET openai/v1/conversations/c1/items',
};

export const COMPATIBLE_OPERATIONS: readonly RoleOperation[] = Object.entries(COMPATIBLE).map(([id, request]) => {
  const [method = '', path = ''] = request.split(' ');
  return { id, method, path: `/v2/integrations/:apiIntegrationId/${path}` };
});

/** True if a person or a key of this role may call the operation; a key also for `integrations`. */
export function mayCall(role: Role, { id, path }: RoleOperation, by: 'person' | 'key' | 'scoped key'): boolean {
  const least = by !== 'person' && id === OF_PEOPLE ? 'manager' : LEAST_ROLE.get(id);
  if (least === undefined || ROLES.indexOf(role) < ROLES.indexOf(least)) return false;
  return by !== 'scoped key' || path.includes(':apiIntegrationId') || OF_SCOPED_KEYS.has(id);
}
