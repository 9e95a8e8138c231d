// Made from packages/contract/src/schemas by `npm exec -- node -C runwire scripts/build-contract-types.ts`; do not edit.

export const getCompletionV2 = 'POST /get_completion_v2';

export const createAgencyUpload = 'POST /create_agency_upload';

export const deleteFile = 'DELETE /v2/integrations/:apiIntegrationId/files';

export const getFileContent = 'GET /v2/integrations/:apiIntegrationId/files/content';

export const headFileContent = 'HEAD /v2/integrations/:apiIntegrationId/files/content';

export const listFiles = 'GET /v2/integrations/:apiIntegrationId/files';

export const cancelRun = 'POST /v2/integrations/:apiIntegrationId/runs/:runId/cancel';

export const compareRuns = 'GET /v2/integrations/:apiIntegrationId/runs/:runId/compare';

export const getChatStatus = 'GET /v2/integrations/:apiIntegrationId/chat_status';

export const getRun = 'GET /v2/integrations/:apiIntegrationId/runs/:runId';

export const getRunAttachment = 'GET /v2/integrations/:apiIntegrationId/runs/:runId/attachments/:attachmentId';

export const getRunEvents = 'GET /v2/integrations/:apiIntegrationId/runs/:runId/events';

export const getStepPrompt = 'GET /v2/integrations/:apiIntegrationId/runs/:runId/steps/:step/prompt';

export const listRunSteps = 'GET /v2/integrations/:apiIntegrationId/runs/:runId/steps';

export const listRuns = 'GET /v2/integrations/:apiIntegrationId/runs';

export const rerunRun = 'POST /v2/integrations/:apiIntegrationId/runs/:runId/rerun';

export const runEval = 'POST /v2/integrations/:apiIntegrationId/evals/run';

export const createAdjustment = 'POST /v2/integrations/:apiIntegrationId/members/:consumerId/adjustments';

export const deleteMember = 'DELETE /v2/integrations/:apiIntegrationId/members/:consumerId';

export const getErasure = 'GET /v2/integrations/:apiIntegrationId/members/:consumerId/erasure';

export const getMember = 'GET /v2/integrations/:apiIntegrationId/members/:consumerId';

export const listAdjustments = 'GET /v2/integrations/:apiIntegrationId/members/:consumerId/adjustments';

export const listMembers = 'GET /v2/integrations/:apiIntegrationId/members';

export const putMember = 'PUT /v2/integrations/:apiIntegrationId/members/:consumerId';

export const createClientToken = 'POST /v2/integrations/:apiIntegrationId/client_tokens';

export const createChat = 'POST /v2/integrations/:apiIntegrationId/chats';

export const deleteChat = 'DELETE /v2/integrations/:apiIntegrationId/chats/:chatId';

export const forkChat = 'POST /v2/integrations/:apiIntegrationId/chats/:fromChatId/fork';

export const getChat = 'GET /v2/integrations/:apiIntegrationId/chats/:chatId';

export const listChatMessages = 'GET /v2/integrations/:apiIntegrationId/chats/:chatId/messages';

export const listChats = 'GET /v2/integrations/:apiIntegrationId/chats';

export const updateChat = 'PATCH /v2/integrations/:apiIntegrationId/chats/:chatId';

export const answerQuestions = 'POST /v2/integrations/:apiIntegrationId/chats/:chatId/answers';

export const listQuestions = 'GET /v2/questions';

export const createSchedule = 'POST /v2/integrations/:apiIntegrationId/schedules';

export const deleteSchedule = 'DELETE /v2/integrations/:apiIntegrationId/schedules/:scheduleId';

export const getSchedule = 'GET /v2/integrations/:apiIntegrationId/schedules/:scheduleId';

export const listScheduleTicks = 'GET /v2/integrations/:apiIntegrationId/schedules/:scheduleId/ticks';

export const listSchedules = 'GET /v2/integrations/:apiIntegrationId/schedules';

export const runSchedule = 'POST /v2/integrations/:apiIntegrationId/schedules/:scheduleId/run';

export const updateSchedule = 'PATCH /v2/integrations/:apiIntegrationId/schedules/:scheduleId';

export const listUsage = 'GET /v2/integrations/:apiIntegrationId/usage';

export const summariseLatency = 'GET /v2/integrations/:apiIntegrationId/latency';

export const summariseUsage = 'GET /v2/integrations/:apiIntegrationId/usage/summary';

export const getOverview = 'GET /v2/overview';

export const createIntegration = 'POST /v2/integrations';

export const deleteIntegration = 'DELETE /v2/integrations/:apiIntegrationId';

export const getAgencyDefinition = 'GET /v2/agencies/:agency/definition';

export const getIntegration = 'GET /v2/integrations/:apiIntegrationId';

export const listAgencies = 'GET /v2/agencies';

export const listIntegrations = 'GET /v2/integrations';

export const updateIntegration = 'PATCH /v2/integrations/:apiIntegrationId';

export const createWebhook = 'POST /v2/integrations/:apiIntegrationId/webhooks';

export const deleteWebhook = 'DELETE /v2/integrations/:apiIntegrationId/webhooks/:endpointId';

export const getWebhook = 'GET /v2/integrations/:apiIntegrationId/webhooks/:endpointId';

export const getWebhookDelivery = 'GET /v2/integrations/:apiIntegrationId/webhooks/:endpointId/deliveries/:deliveryId';

export const listWebhookDeliveries = 'GET /v2/integrations/:apiIntegrationId/webhooks/:endpointId/deliveries';

export const listWebhooks = 'GET /v2/integrations/:apiIntegrationId/webhooks';

export const redeliverWebhook = 'POST /v2/integrations/:apiIntegrationId/webhooks/:endpointId/deliveries/:deliveryId/redeliver';

export const replayWebhook = 'POST /v2/integrations/:apiIntegrationId/webhooks/:endpointId/replay';

export const rotateWebhook = 'POST /v2/integrations/:apiIntegrationId/webhooks/:endpointId/rotate';

export const testWebhook = 'POST /v2/integrations/:apiIntegrationId/webhooks/:endpointId/test';

export const updateWebhook = 'PATCH /v2/integrations/:apiIntegrationId/webhooks/:endpointId';

export const createApiKey = 'POST /v2/api_keys';

export const createOwner = 'POST /v2/owners';

export const createPerson = 'POST /v2/people';

export const deleteOwner = 'DELETE /v2/owners/:ownerId';

export const deletePerson = 'DELETE /v2/people/:personId';

export const getMe = 'GET /v2/me';

export const getPerson = 'GET /v2/people/:personId';

export const listApiKeys = 'GET /v2/api_keys';

export const listOwners = 'GET /v2/owners';

export const listPeople = 'GET /v2/people';

export const revokeApiKey = 'DELETE /v2/api_keys/:keyId';

export const updateMe = 'PATCH /v2/me';

export const updatePerson = 'PATCH /v2/people/:personId';

export const listAudit = 'GET /v2/audit';

export const getMetrics = 'GET /metrics';

export const listNodes = 'GET /v2/nodes';
