import './idle-connections.ts';

export { GuardedFetcher, type Network } from '@runwire/guarded-fetch';
export { type Names, type Serve, WatchedNetwork } from '@runwire/guarded-fetch/src/testing/watched-network.ts';
export { PageTurns } from '@runwire/lib/page-turns.ts';
export { Listener } from '@runwire/models/src/testing/model-conformance.ts';
export { type Protocol, providerEvents, sseText } from '@runwire/models/src/testing/provider-streams.ts';
export type { StreamScript } from '@runwire/models/src/testing/stream-script.ts';
export { Agencies } from '@runwire/server/src/agencies/agencies.ts';
export type { Model, ModelOutput, ModelRequest, Tool } from '@runwire/server/src/agent/ports.ts';
export type { Overrides } from '@runwire/server/src/compose/overrides.ts';
export { CommitUnknown, StoreUnavailable } from '@runwire/server/src/domain/unavailable.ts';
export {
  ERASURE_POINTS,
  FILE_POINTS,
  PUBLISH_POINTS,
  UPLOAD_POINTS,
  type UploadPoint,
  WAIT_POINTS,
  type WaitPoint,
} from '@runwire/server/src/domain/wait-points.ts';
export {
  computeSignature,
  type FormTerms,
  type SigningKey,
  signForm,
} from '@runwire/server/src/files/post-policy/sign-form.ts';
export { uploadKey } from '@runwire/server/src/files/upload-secrets.ts';
export type { BlobStore } from '@runwire/server/src/storage/blob-store.ts';
export { DiskBlobStore } from '@runwire/server/src/storage/disk/disk-blob-store.ts';
export { silentNotifier } from '@runwire/server/src/store/notifier.ts';
export { DATABASE_TIMES, LIVENESS } from '@runwire/server/src/store/postgres/settings.ts';
export type { Store, Tx } from '@runwire/server/src/store/store.ts';
export { createLogger } from '@runwire/server/src/telemetry/logger.ts';
export {
  type Answer,
  ApiClient,
  type Frame,
  type ModelCall,
  ModelController,
  openStream,
  parseFrames,
  SCRIPTED_USAGE,
  type ShownAttachment,
  type ShownImage,
  StreamReader,
  scriptedModel,
  TEST_API_KEY,
  type TestServer,
  temporaryFolder,
  toAnswer,
  withoutComments,
} from '@runwire/server/testing';
export { copyHeldTools } from './agency-folders.ts';
export { agencyProcess, findAgencyProcesses } from './agency-kills.ts';
export { askTool, askToRead, askToSearch } from './ask-tool.ts';
export { blobStoreConformance } from './blob-store-conformance.ts';
export { CommitProxy } from './commit-proxy.ts';
export { FakeProvider, ProviderCall } from './fake-provider.ts';
export { FileServer } from './file-server.ts';
export { fillDisk } from './fill-disk.ts';
export { freePort } from './free-port.ts';
export { fullTest } from './full-test.ts';
export { heldTeamAgency, heldToolAgency } from './held-tool-agency.ts';
export { writing } from './hook-blobs.ts';
export { hookStore } from './hook-store.ts';
export { endlessPdf, pdfOfPages, slowPdf } from './large-documents.ts';
export {
  BOUNDARY,
  type FormAnswer,
  type FormPart,
  formBytes,
  openForm,
  postForm,
  type RawForm,
  toParts,
} from './post-form.ts';
export { askDatabase, type Crash, PostgresServer, postgresFolder, SHARED_SETTINGS } from './postgres-server.ts';
export { type AnyRig, Rig, type RigOptions, type ServerOptions, SHORT_LEASE } from './rig.ts';
export { type FollowedRun, follow } from './roaming-client.ts';
export { testS3Files } from './s3-files.ts';
export {
  hasS3Gateway,
  makeBucket,
  type S3Access,
  S3Gateway,
  s3Client,
  s3Environment,
  s3Settings,
  sharedS3,
  stopOwnS3,
  useS3Credentials,
} from './s3-gateway.ts';
export { imageAttachment, makePng, SAMPLE_IMAGES } from './sample-images.ts';
export { ScriptedMcpHttp } from './scripted-mcp-http.ts';
export { testAgency } from './test-agency.ts';
export { storedPath, TestFiles } from './test-files.ts';
export { ServerProcess, type StoreTestServerOptions as TestServerOptions, startTestServer } from './test-server.ts';
export {
  fenceServers,
  forgetStore,
  freshDatabase,
  migratedDatabase,
  postgresStore,
  STORES,
  type StoreName,
  stopOwnPostgres,
  storeEnvironment,
} from './test-store.ts';
export { ThreeStepLoad } from './three-step-load.ts';
export { type HeldToolCall, ToolController } from './tool-controller.ts';
