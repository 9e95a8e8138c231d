export { type Answer, ApiClient, type Completion } from './api-client.ts';
export { onLines } from './lines.ts';
export { ModelCall, ModelController, SCRIPTED_USAGE } from './model-controller.ts';
export { type ShownAttachment, type ShownImage, scriptedModel } from './scripted-model.ts';
export { type Frame, openStream, parseFrames, StreamReader, toAnswer, withoutComments } from './sse-reader.ts';
export { temporaryFolder } from './temporary-folder.ts';
export { startTestServer, TEST_API_KEY, TestServer, type TestServerOptions } from './test-server.ts';
