import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Chromium } from './chromium.ts';
import { within } from './proof.ts';
import type { SignedForm } from './signed-form.ts';

export type UploadBy = 'fetch' | 'form';

interface Task {
  readonly by: UploadBy;
  readonly form: SignedForm;
  readonly isRefused: boolean;
}

const WAIT_MS = 60_000;

/** Asks for what to do next, does it, and says how it went. A form's answer stays in its frame, where no script sees it. */
const PAGE = `<!doctype html><meta charset="utf-8"><title>Uploads</title><iframe name="answer"></iframe><script>
async function byFetch({uploadUrl, uploadFields}, file) {
  const form = new FormData();
  for (const [name, value] of Object.entries(uploadFields)) form.append(name, value);
  form.append('file', file);
  return (await fetch(uploadUrl, {method: 'POST', body: form})).status;
}
/** A refusal is a page, which the frame loads; a 204 is none, and nobody hears of it. */
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
    const task = await (await fetch('/next')).json();
    const file = new File([await (await fetch('/bytes')).blob()], 'chosen by hand');
    let status = 0;
    try {
      status = await (task.by === 'fetch' ? byFetch : byForm)(task.form, file, task.isRefused);
    } catch {}
    await fetch('/done', {method: 'POST', body: JSON.stringify(status)});
  }
})();
</script>`;

/** A real browser with one page open, of an origin that is nobody else's. */
export class Browser implements AsyncDisposable {
  readonly #server: Server;
  #chromium: Chromium | null = null;
  #asks = Promise.withResolvers<ServerResponse>();
  #bytes: Uint8Array = new Uint8Array();
  #done = Promise.withResolvers<number | null>();

  private constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(): Promise<Browser> {
    const browser = new Browser();
    await new Promise<void>((resolve) => browser.#server.listen(0, '127.0.0.1', resolve));
    const { port } = browser.#server.address() as AddressInfo;
    browser.#chromium = Chromium.open(`http://127.0.0.1:${port}/`);
    return browser;
  }

  /** Status 0: the page was not shown the answer. Null: it cannot be seen. */
  async upload(by: UploadBy, form: SignedForm, bytes: Uint8Array, isRefused: boolean): Promise<number | null> {
    const asking = await within('page in the browser', WAIT_MS, this.#asks.promise);
    this.#asks = Promise.withResolvers();
    this.#bytes = bytes;
    this.#done = Promise.withResolvers();
    const task: Task = { by, form, isRefused };
    asking.end(JSON.stringify(task));
    return within('upload by the browser', WAIT_MS, this.#done.promise);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/next') this.#asks.resolve(response);
    else if (request.url === '/bytes') response.end(this.#bytes);
    else if (request.url === '/done') {
      let text = '';
      for await (const chunk of request) text += chunk;
      response.end();
      this.#done.resolve(JSON.parse(text));
    } else response.setHeader('content-type', 'text/html').end(PAGE);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#chromium?.[Symbol.asyncDispose]();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
