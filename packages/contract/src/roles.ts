/** What a person or an API key may do, from the least to the most: a role may do all that the ones before it may. */
export const roles = ['viewer', 'operator', 'developer', 'manager'] as const;
export type Role = (typeof roles)[number];

export const includesRole = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed);

/**
 * The role that each operation needs, also those of the compatible APIs; null if it needs no key. This is the only table: the
 * server refuses by it, OpenAPI describes it, and the console hides what a person may not do.
 */
export const operationRoles = {
  // Starts a run.
  getCompletionV2: 'developer',
  createAgencyUpload: 'developer',

  listFiles: 'viewer',
  getFileContent: 'viewer',
  headFileContent: 'viewer',
  deleteFile: 'developer',

  getChatStatus: 'viewer',
  listRuns: 'viewer',
  getRun: 'viewer',
  getRunEvents: 'viewer',
  listRunSteps: 'viewer',
  getRunAttachment: 'viewer',
  getStepPrompt: 'viewer',
  cancelRun: 'operator',
  // Starts a run.
  rerunRun: 'developer',
  compareRuns: 'viewer',
  // Starts a run.
  runEval: 'developer',

  listChats: 'viewer',
  getChat: 'viewer',
  listChatMessages: 'viewer',
  createChat: 'developer',
  updateChat: 'developer',
  forkChat: 'developer',
  deleteChat: 'developer',

  listQuestions: 'viewer',
  answerQuestions: 'operator',

  listMembers: 'viewer',
  getMember: 'viewer',
  getErasure: 'viewer',
  listAdjustments: 'viewer',
  putMember: 'operator',
  createAdjustment: 'operator',
  // With `erase`, it deletes the member's chats and files.
  deleteMember: 'developer',
  createClientToken: 'developer',

  listUsage: 'viewer',
  summariseUsage: 'viewer',
  summariseLatency: 'viewer',
  // The keys that expire are for managers.
  getOverview: 'viewer',

  listSchedules: 'viewer',
  getSchedule: 'viewer',
  listScheduleTicks: 'viewer',
  createSchedule: 'developer',
  updateSchedule: 'developer',
  deleteSchedule: 'developer',
  runSchedule: 'developer',

  listWebhooks: 'viewer',
  getWebhook: 'viewer',
  listWebhookDeliveries: 'viewer',
  getWebhookDelivery: 'viewer',
  redeliverWebhook: 'operator',
  replayWebhook: 'operator',
  createWebhook: 'developer',
  updateWebhook: 'developer',
  deleteWebhook: 'developer',
  rotateWebhook: 'developer',
  testWebhook: 'developer',

  listIntegrations: 'viewer',
  getIntegration: 'viewer',
  updateIntegration: 'developer',
  createIntegration: 'manager',
  deleteIntegration: 'manager',
  listAgencies: 'viewer',
  getAgencyDefinition: 'viewer',

  getMe: 'viewer',
  updateMe: 'viewer',
  // A developer sees and revokes only the keys that it made.
  listApiKeys: 'developer',
  createApiKey: 'developer',
  revokeApiKey: 'developer',

  createPerson: 'manager',
  listPeople: 'manager',
  getPerson: 'manager',
  updatePerson: 'manager',
  deletePerson: 'manager',
  listAudit: 'manager',

  // Also only the administrator's.
  createOwner: 'manager',
  listOwners: 'manager',
  deleteOwner: 'manager',
  listNodes: 'manager',
  getMetrics: 'manager',

  getRoot: null,
  getHealth: null,
  headHealth: null,
  getReadiness: null,
  headReadiness: null,
  getOpenApi: null,
  headOpenApi: null,
  getAgencySchema: null,
  getEvalSchema: null,
  getDocs: null,
  headDocs: null,

  agUi: 'developer',
  agUiAgent: 'developer',
  aiSdkChat: 'developer',
  aiSdkResume: 'viewer',
  aiSdkStop: 'operator',
  agencySwarmStream: 'developer',
  agencySwarmStreamByName: 'developer',
  agencySwarmResponse: 'developer',
  agencySwarmResponseByName: 'developer',
  agencySwarmCancel: 'operator',
  agencySwarmCancelByName: 'operator',
  agencySwarmMetadata: 'viewer',
  agencySwarmMetadataByName: 'viewer',
  agencySwarmDiscovery: 'viewer',
  mcp: 'developer',
  mcpStream: 'viewer',
  mcpEnd: 'viewer',
  openaiCreateResponse: 'developer',
  openaiGetResponse: 'viewer',
  openaiCancelResponse: 'operator',
  openaiDeleteResponse: 'developer',
  openaiListInputItems: 'viewer',
  openaiCreateChatCompletion: 'developer',
  openaiListModels: 'viewer',
  openaiGetModel: 'viewer',
  openaiCreateConversation: 'developer',
  openaiGetConversation: 'viewer',
  openaiUpdateConversation: 'developer',
  openaiDeleteConversation: 'developer',
  openaiListConversationItems: 'viewer',
} as const satisfies Readonly<Record<string, Role | null>>;

export type RoleOperation = keyof typeof operationRoles;

/** What a key needs if that is more: with a key, the operation changes the first person of the owner. */
export const keyRoles: Readonly<Partial<Record<RoleOperation, Role>>> = { updateMe: 'manager' };

/**
 * Operations outside a path of an integration that a key with `integrations` may call. The integration in the body of the
 * first two is checked after the body; lists have only what belongs to the integrations of the key.
 */
export const scopedKeyOperations: ReadonlySet<string> = new Set<RoleOperation>([
  'getCompletionV2',
  'createAgencyUpload',
  'listIntegrations',
  'listQuestions',
  'getOverview',
  'listAgencies',
  'getMe',
]);
