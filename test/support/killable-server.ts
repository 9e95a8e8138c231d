import { rmSync } from 'node:fs';
import {
  type ApiClient,
  fenceServers,
  forgetStore,
  heldTeamAgency,
  heldToolAgency,
  ModelController,
  ServerProcess,
  scriptedModel,
  startTestServer,
  type TestServer,
  type TestServerOptions,
  temporaryFolder,
  testAgency,
} from '@runwire/test-kit';
import { HeldRun } from './scripted-server.ts';

type SpawnOptions = Omit<Parameters<typeof ServerProcess.start>[0], 'dataDir' | 'controllerPort'>;

/** A server in a process that can be killed, with a data folder and a model that outlive it. */
export class KillableServer implements AsyncDisposable {
  readonly controller: ModelController;
  process: ServerProcess;
  readonly dataDir: string;
  /** The server that replaced it. */
  #again: TestServer | null = null;

  private constructor(controller: ModelController, process: ServerProcess, dataDir: string) {
    this.controller = controller;
    this.process = process;
    this.dataDir = dataDir;
  }

  static async start(options: SpawnOptions = {}): Promise<KillableServer> {
    const controller = await ModelController.start();
    const dataDir = temporaryFolder();
    const process = await ServerProcess.start({ ...options, dataDir, controllerPort: controller.port });
    return new KillableServer(controller, process, dataDir);
  }

  /** The client of the server that runs now. */
  get api(): ApiClient {
    return (this.#again ?? this.process).api;
  }

  /**
   * Starts a server on the same data folder after the process has ended. It runs in this process, because that start is
   * cheaper.
   */
  async startAgain(options: Omit<TestServerOptions, 'dataDir' | 'model'> = {}): Promise<void> {
    await this.process.gone;
    await fenceServers(this.dataDir);
    this.#again = await startTestServer({
      agencies: { test: testAgency, gate: heldToolAgency, team: heldTeamAgency },
      ...options,
      dataDir: this.dataDir,
      model: scriptedModel(this.controller.port),
    });
  }

  /** Kills the server and starts another in a process that can be killed again. */
  async killAndRestart(options: SpawnOptions = {}): Promise<void> {
    await this.process.kill();
    await fenceServers(this.dataDir);
    const { dataDir } = this;
    this.process = await ServerProcess.start({ ...options, dataDir, controllerPort: this.controller.port });
  }

  /** Makes the integration `mine`, by default on the test agency, with a member `ann` and an allowance in tokens. */
  async metered(agency = 'test'): Promise<void> {
    const allowances = { unit: 'tokens', limit: 100_000, period: 'lifetime' };
    await this.api.post('/v2/integrations', { apiIntegrationId: 'mine', agency, allowances });
    await this.api.put('/v2/integrations/mine/members/ann', {});
  }

  async hold(body: Parameters<ApiClient['complete']>[0]): Promise<HeldRun> {
    const reader = await this.api.complete(body);
    return new HeldRun(reader, await this.controller.nextCall());
  }

  /** Kills the server after a finished step of a run and a text that is not stored; the server must have a long `flushMs`. */
  async cutAfterStep(body: Parameters<ApiClient['complete']>[0]) {
    const { reader, call, runId } = await this.hold(body);
    await call.text('Kept. ');
    await call.toolCall('call_1', 'echo', '{"n":1}');
    await call.end();
    const second = await this.controller.nextCall();
    await second.text('Void');
    await reader.untilText('"Void"');
    // The finished steps are durable before the model is asked again. Nothing after them is.
    const kept = reader.frames.findLast(({ data }) => data.includes('"tool_output"'))?.id ?? 0;
    await this.process.kill();
    return { reader, runId, second, kept, isWhole: await reader.over };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
    await this.#again?.[Symbol.asyncDispose]();
    await this.controller[Symbol.asyncDispose]();
    rmSync(this.dataDir, { recursive: true, force: true });
    await forgetStore(this.dataDir);
  }
}
