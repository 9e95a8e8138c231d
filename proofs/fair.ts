import { type ApiClient, FileServer, ModelController, pdfOfPages } from '@runwire/test-kit';
import { DataFolder } from './support/data-folder.ts';
import { type Assault, HANG, startAssault } from './support/one-owners-assault.ts';
import { expectAtLeast, expectAtMost, expectNumber, type Proof, within } from './support/proof.ts';
import { startServer } from './support/start-server.ts';

const MEBIBYTE = 1024 * 1024;
const WAIT_MS = 120_000;
const ANSWER = 'At your service.';
/** The limit of a run with two files. A process that may have to start converts one of them. */
const FILES_MS = 30_000;

interface Sizes {
  readonly activeRuns: number;
  readonly bodyBytes: number;
  readonly members: number;
  readonly memberBytes: number;
  readonly replays: number;
  readonly completions: number;
  readonly medianMs: number;
}

const FULL: Sizes = {
  activeRuns: 200,
  bodyBytes: 32 * MEBIBYTE,
  members: 24,
  memberBytes: 10 * MEBIBYTE,
  replays: 400,
  completions: 120,
  medianMs: 2000,
};
/** Smaller sizes, and three times the time, because the machine runs other tests too. */
const SHORT: Sizes = {
  activeRuns: 20,
  bodyBytes: MEBIBYTE,
  members: 4,
  memberBytes: 2 * MEBIBYTE,
  replays: 40,
  completions: 12,
  medianMs: 6000,
};

/** Measures what another owner gets during the assault. */
class OtherOwner {
  readonly #api: ApiClient;
  readonly #apiIntegrationId: string;
  readonly admittedMs: number[] = [];
  readonly filesMs: number[] = [];
  refused = 0;
  unread = 0;

  constructor(api: ApiClient, apiIntegrationId: string) {
    this.#api = api;
    this.#apiIntegrationId = apiIntegrationId;
  }

  /** Sends one completion and reads it to its end. */
  async complete(attachments: readonly object[]): Promise<void> {
    const began = performance.now();
    const reader = await this.#api.complete({ apiIntegrationId: this.#apiIntegrationId, attachments });
    this.admittedMs.push(performance.now() - began);
    if (reader.status !== 200 || reader.headers['x-agent-run-admitted'] !== 'true') {
      this.refused += 1;
      reader.cut();
      return;
    }
    await within('the end of a run of the other owner', WAIT_MS, reader.whole());
    if (attachments.length === 0) return;
    this.filesMs.push(performance.now() - began);
    if (reader.answer !== ANSWER) this.unread += 1;
  }
}

const at = (sorted: readonly number[], share: number) =>
  Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN);
const inOrder = (times: readonly number[]) => times.toSorted((a, b) => a - b);

async function measure(other: OtherOwner, files: FileServer, assault: Assault, sizes: Sizes) {
  for (let done = 0; done < sizes.completions; done += 1) {
    // Each file is new, so that none is sent from a stored copy.
    const attachments =
      done % 10 === 5
        ? [
            files.serve(`/notes-${done}.txt`, `Note ${done}. `.repeat(4000), 'text/plain'),
            files.serve(`/letter-${done}.pdf`, pdfOfPages(1 + (done % 7)), 'application/pdf'),
          ]
        : [];
    await other.complete(attachments.map((file_url) => ({ type: 'input_file', file_url })));
    if (other.refused > 0) break;
  }
  const admitted = inOrder(other.admittedMs);
  return {
    completions: admitted.length,
    refused: expectNumber('completions of the other owner refused', other.refused, 0),
    median_ms: expectAtMost('median until a completion is admitted, in ms', at(admitted, 0.5), sizes.medianMs),
    p95_ms: at(admitted, 0.95),
    max_ms: at(admitted, 1),
    with_files: expectAtLeast('completions with files', other.filesMs.length, 1),
    files_unread: expectNumber('files of the other owner that were not read', other.unread, 0),
    files_max_ms: expectAtMost('longest completion with files, in ms', at(inOrder(other.filesMs), 1), FILES_MS),
    ...assault.figures(),
  };
}

export const proof: Proof = {
  name: 'fair',
  minutes: 2,
  faults: {
    'shared-by-integration': /^completions of the other owner refused: expected 0, found \d+\.$/m,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    const sizes = short ? SHORT : FULL;
    await using stack = new AsyncDisposableStack();
    const files = stack.use(await FileServer.start());
    const model = stack.use(await ModelController.start());
    model.onCall = async (call) => {
      const said = JSON.stringify(call.request.prompt);
      if (said.includes(HANG)) return;
      await call.text(ANSWER);
      await call.end();
    };
    const folder = stack.use(new DataFolder());
    const { bodyBytes, activeRuns } = sizes;
    const server = stack.use(
      await startServer(fault, {
        dataDir: folder.path,
        controllerPort: model.port,
        limits: { bodyBytes, bodiesBytes: 8 * bodyBytes, activeRuns },
        env: files.env,
      }),
    );
    const { body: owner } = await server.api.post('/v2/owners', { email: 'other@example.com' });
    const api = server.api.as(owner.apiKey);
    await api.post('/v2/integrations', { apiIntegrationId: 'other' });
    const assault = stack.use(await startAssault({ api: server.api, files, dataDir: folder.path, ...sizes }));
    await within('the assault at its height', WAIT_MS, assault.atItsHeight);
    return await measure(new OtherOwner(api, 'other'), files, assault, sizes);
  },
};
