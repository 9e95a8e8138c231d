import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Chromium } from './chromium.ts';
import type { SignedForm } from './uploads.ts';

/** Asks for its next task, does it and reports the status. No script sees the answer to an HTML form, only its frame. */
const PAGE = `<!doctype html><meta charset="utf-8"><title>Uploads</title><iframe name="answer"></iframe><script>
async function byFetch({uploadUrl, uploadFields}, file) {
  const form = new FormData();
  for (const [name, value] of Object.entries(uploadFields)) form.append(name, value);
  form.append('file', file);
  return (await fetch(uploadUrl, {method: 'POST', body: form})).status;
}
/** The frame loads a refusal's page; a 204 has no page. */
function byForm({uploadUrl, uploadFields}, file, isRefused) {
  const form = document.createElement('form');
  Object.assign(form, {method: 'post', enctype: 'multipart/form-data', action: uploadUrl, target: 'answer'});
  for (const [name, value] of Object.entries(uploadFields)) {
    form.append(Object.assign(document.createElement('input'), {type: 'hidden', name, value}));
  }
  const input = Object.assign(document.createElement('input'), {type: 'file', name: 'file'});
  const chosen = new DataTransfer();
  chosen.items.add(file);
  input.files = chosen.files;
  form.append(input);
  document.body.append(form);
  const refused = new Promise((loaded) => document.querySelector('iframe').addEventListener('load', loaded, {once: true}));
  form.submit();
  return isRefused ? refused.then(() => null) : null;
}
(async () => {
  for (;;) {
    const {by, form, isRefused} = await (await fetch('/next')).json();
    const file = new File([await (await fetch('/bytes')).blob()], 'chosen by hand');
    const status = await Promise.resolve((by === 'fetch' ? byFetch : byForm)(form, file, isRefused)).catch(() => 0);
    await fetch('/done', {method: 'POST', body: JSON.stringify(status)});
  }
})();
</script>`;

/** A real browser with one page of an origin of its own. */
export class Browser implements AsyncDisposable {
  readonly #server: Server = createServer((request, response) => void this.#answer(request, response));
  #chromium: Chromium | null = null;
  #asks = Promise.withResolvers<ServerResponse>();
  #done = Promise.withResolvers<number | null>();
  #bytes: Uint8Array = new Uint8Array();

  static async start(): Promise<Browser> {
    const browser = new Browser();
    await new Promise<void>((resolve) => browser.#server.listen(0, '127.0.0.1', resolve));
    browser.#chromium = Chromium.open(`http://127.0.0.1:${(browser.#server.address() as AddressInfo).port}/`);
    return browser;
  }

  /** Resolves to the status: 0 if the page may not see it, null if no page can. */
  async upload(by: 'fetch' | 'form', form: SignedForm, bytes: Uint8Array, isRefused: boolean): Promise<number | null> {
    const asking = await this.#asks.promise;
    this.#asks = Promise.withResolvers();
    this.#done = Promise.withResolvers();
    this.#bytes = bytes;
    asking.end(JSON.stringify({ by, form, isRefused }));
    return this.#done.promise;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/next') this.#asks.resolve(response);
    else if (request.url === '/bytes') response.end(this.#bytes);
    else if (request.url === '/done') {
      this.#done.resolve(JSON.parse(await text(request)));
      response.end();
    } else response.setHeader('content-type', 'text/html').end(PAGE);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#chromium?.[Symbol.asyncDispose]();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
