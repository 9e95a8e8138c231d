import { randomUUID } from 'node:crypto';
import type { ModelCall, Rig, StreamReader } from '@runwire/test-kit';
import { expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';

/** Concurrent runs whose model calls wait for the proof. Each is recognised by its message. */
export class HeldRuns {
  readonly #rig: Rig;
  readonly #next = new Map<string, PromiseWithResolvers<ModelCall>>();

  constructor(rig: Rig) {
    this.#rig = rig;
    rig.model.onCall = (call) => {
      const item = call.request.prompt.findLast(({ kind }) => kind === 'user');
      if (item?.kind === 'user') this.#next.get(item.text)?.resolve(call);
    };
  }

  expect(message: string): Promise<ModelCall> {
    const next = Promise.withResolvers<ModelCall>();
    this.#next.set(message, next);
    return next.promise;
  }

  forget(message: string): void {
    this.#next.delete(message);
  }

  /** Resolves when the model was asked for the first time. */
  async begin(integration: string, about: string): Promise<HeldRun> {
    const message = `${about} ${randomUUID()}`;
    const asked = this.expect(message);
    const reader = await this.#rig.api().complete({ apiIntegrationId: integration, message });
    expectEqual(`${integration}: status of a completion`, reader.status, 200);
    const modelCall = await within(`${integration}: first model call of a run`, WAIT_MS, asked);
    return new HeldRun(this, { integration, message, reader }, modelCall);
  }
}

class HeldRun {
  readonly #runs: HeldRuns;
  readonly #integration: string;
  readonly #message: string;
  readonly reader: StreamReader;
  modelCall: ModelCall;

  constructor(
    runs: HeldRuns,
    about: { readonly integration: string; readonly message: string; readonly reader: StreamReader },
    modelCall: ModelCall,
  ) {
    this.#runs = runs;
    this.#integration = about.integration;
    this.#message = about.message;
    this.reader = about.reader;
    this.modelCall = modelCall;
  }

  /** Lets the model call a tool. Resolves to the output that the model gets. */
  async callTool(tool: string, limitMs: number): Promise<string> {
    const asked = this.#runs.expect(this.#message);
    await this.modelCall.toolCall(`call_${randomUUID()}`, tool, '{}');
    await this.modelCall.end();
    this.modelCall = await within(`${tool}: output`, limitMs, asked);
    const outputs = this.modelCall.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
    return outputs.at(-1) ?? '';
  }

  /** The model ends its answer, and the run completes. */
  async finish(): Promise<void> {
    this.#runs.forget(this.#message);
    await this.modelCall.end();
    const isWhole = await within(`${this.#integration}: end of a run`, WAIT_MS, this.reader.over);
    expectEqual(`${this.#integration}: whole streams`, isWhole, true);
    const messages = this.reader.frames.find(({ event }) => event === 'messages');
    const { status } = JSON.parse(messages?.data ?? '{"status":"missing"}');
    expectEqual(`${this.#integration}: status of a run`, status, 'completed');
  }
}
