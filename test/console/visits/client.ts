import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expectEqual, until } from '@runwire/test-kit/shortfall.ts';
import { build } from 'esbuild';
import type { ConsoleVisit } from '../visit.ts';

/** A proxy that ends each answer a moment after its last byte. */
class LateEnds implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(target: string): Promise<LateEnds> {
    const server = createServer((incoming, outgoing) => {
      const { method, headers } = incoming;
      const passed = request(`${target}${incoming.url}`, { method, headers }, (answer) => {
        const { 'content-length': _, ...rest } = answer.headers;
        outgoing.writeHead(answer.statusCode ?? 502, rest);
        answer.pipe(outgoing, { end: false });
        answer.on('end', () => setTimeout(() => outgoing.end(), 200));
      });
      incoming.pipe(passed);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new LateEnds(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await this.#server[Symbol.asyncDispose]();
  }
}

/** A page of another origin that uses the TypeScript client, as a product of a customer does. */
export const clientVisit: ConsoleVisit = {
  name: 'client-in-a-page-of-another-origin',
  async run({ api, rig }) {
    await api.put('/v2/integrations/demo/members/ann', {});
    const { body } = await api.post('/v2/integrations/demo/client_tokens', { consumerId: 'ann' });
    const { outputFiles } = await build({
      stdin: {
        contents: `import { Runwire } from '@runwire/client';
          globalThis.ask = (baseUrl, tokens) =>
            new Runwire({ baseUrl, apiKey: async () => tokens.shift() }).run({ message: 'Hello' }).text();`,
        resolveDir: import.meta.dirname,
      },
      ...{ bundle: true, format: 'iife', conditions: ['runwire'], write: false },
    });
    await using page = await rig.browser.newPage();
    const failed: string[] = [];
    const finished: string[] = [];
    const describeRequest = (request: { method(): string; url(): string }) =>
      `${request.method()} ${new URL(request.url()).pathname}`;
    page.on('requestfailed', (request) => failed.push(`${describeRequest(request)} ${request.failure()?.errorText}`));
    page.on('requestfinished', (request) => finished.push(describeRequest(request)));
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '' });
    // The first token is refused, so that the page reads a refusal too.
    const refused = `${body.clientToken.slice(0, -8)}AAAAAAAA`;
    await using proxy = await LateEnds.start(rig.baseUrl);
    const script = `ask(${JSON.stringify(proxy.url)}, ${JSON.stringify([refused, body.clientToken])})`;
    expectEqual('the answer arrives', /is on its way/.test(String(await page.evaluate(script))), true);
    await until('both requests', () => finished.length + failed.length >= 2);
    const both = ['POST /get_completion_v2', 'POST /get_completion_v2'];
    expectEqual('requests that failed and finished', [failed, finished], [[], both]);
  },
};
