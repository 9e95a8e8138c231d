import {
  askDatabase,
  heldToolAgency,
  ModelController,
  migratedDatabase,
  scriptedModel,
  startTestServer,
  type TestServer,
  type TestServerOptions,
  ToolController,
} from '@runwire/test-kit';

/** Servers on one database, with one model and one gate that the test controls. All of them end with it. */
export class GateNodes implements AsyncDisposable {
  readonly model: ModelController;
  readonly gate: ToolController;
  readonly databaseUrl: string;
  readonly #stack = new AsyncDisposableStack();

  private constructor(model: ModelController, gate: ToolController, databaseUrl: string) {
    this.model = model;
    this.gate = gate;
    this.databaseUrl = databaseUrl;
  }

  static async begin(): Promise<GateNodes> {
    const database = await migratedDatabase();
    const [model, gate] = await Promise.all([ModelController.start(), ToolController.start()]);
    const nodes = new GateNodes(model, gate, database.url);
    for (const part of [database, model, gate]) nodes.#stack.use(part);
    return nodes;
  }

  async node(options: TestServerOptions = {}): Promise<TestServer> {
    const server = await startTestServer({
      agencies: { gate: heldToolAgency },
      model: scriptedModel(this.model.port),
      ...options,
      env: { DATABASE_URL: this.databaseUrl, ...options.env },
    });
    return this.#stack.use(server);
  }

  /** Makes the integration `mine` on the gate's agency, metered in tokens, with its member `ann`. */
  async integration(node: TestServer, fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const allowances = { unit: 'tokens', limit: 100_000, period: 'lifetime' };
    await node.api.post('/v2/integrations', { apiIntegrationId: 'mine', agency: 'gate', allowances, ...fields });
    await node.api.put('/v2/integrations/mine/members/ann', {});
  }

  /** The arguments of the model's call of the gate. */
  get gateArguments(): string {
    return JSON.stringify({ port: this.gate.port });
  }

  rows(text: string): Promise<Record<string, unknown>[]> {
    return askDatabase(this.databaseUrl, text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
