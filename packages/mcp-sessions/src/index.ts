export type { ClientInfo, ReadVariable } from './client-info.ts';
export type { McpAddress, McpOAuth } from './mcp-address.ts';
export { type AskForeign, MAX_OAUTH_BYTES, OAUTH_MS } from './oauth-fetch.ts';
export { type ResultImage, resultText, resultWithImages } from './result-text.ts';
export {
  leftOutSentence,
  type ServerTool,
  type ServerTools,
  selectedTools,
  type ToolSelection,
} from './server-tools.ts';
export {
  type McpCall,
  McpSession,
  type SessionLog,
  type SessionSetting,
  type SessionState,
} from './session.ts';
export type { ResultPart, ToolResult } from './tool-result.ts';
