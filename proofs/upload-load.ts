import { hash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerProcess } from '@runwire/test-kit';
import { DataFolder } from './support/data-folder.ts';
import { type RawUpload, rawUpload, sendRaw } from './support/multipart-load.ts';
import { Nginx, temporaryPaths } from './support/nginx.ts';
import { expectAtMost, expectEqual, expectNumber, type Proof } from './support/proof.ts';
import { signed } from './support/signed-form.ts';
import { startServer } from './support/start-server.ts';

const FILE_BYTES = 20 * 1024 * 1024;
const FULL = { uploads: 50, growthMb: 100 };
/** Held in memory they would still be more than the bound. */
const SHORT = { uploads: 8, growthMb: 100 };
const MB = 1_000_000;
const LOOK_MS = 20;
const FOLDER = '/app/mnt/load';

/** Each differs from all others in its first bytes. */
function files(count: number): Buffer[] {
  const common = randomBytes(FILE_BYTES);
  return Array.from({ length: count }, () => {
    const file = Buffer.from(common);
    randomBytes(32).copy(file);
    return file;
  });
}

async function signedUploads(server: ServerProcess, some: readonly Buffer[]): Promise<RawUpload[]> {
  return Promise.all(
    some.map(async (file, n) => {
      const terms = { folder: FOLDER, filename: `${n}.bin`, contentType: 'application/octet-stream' };
      const { uploadUrl, uploadFields } = await signed(server.api, { ...terms, sizeBytes: file.length });
      return rawUpload(new URL(uploadUrl).pathname, uploadFields, file);
    }),
  );
}

/** All at once; resolves to how many megabytes a second. */
async function sendAll(url: string, uploads: readonly RawUpload[]): Promise<number> {
  const startedAt = performance.now();
  const statuses = await Promise.all(uploads.map((upload) => sendRaw(url, upload)));
  const seconds = (performance.now() - startedAt) / 1000;
  for (const status of statuses) expectNumber('status of an upload', status, 204);
  return Math.round((uploads.length * FILE_BYTES) / MB / seconds);
}

/** What the process grows by at most while this goes on. */
async function growthDuring(server: ServerProcess, work: Promise<unknown>): Promise<number> {
  const before = (await server.probe()).rssBytes;
  let most = before;
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    most = Math.max(most, (await server.probe()).rssBytes);
    await sleep(LOOK_MS);
  }
  await over;
  return Math.round((most - before) / MB);
}

/** It takes the whole body into a file, as ours does, and answers; it checks nothing, syncs nothing and takes no form apart. */
const receivingNginx = (folder: string, port: number): string => `
worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off; ${temporaryPaths(folder)} client_max_body_size 64m;
  server { listen 127.0.0.1:${port};
    location /answer { return 204; }
    location / {
      client_body_in_file_only clean; proxy_pass_request_body off; proxy_set_header Content-Length "";
      proxy_method GET; proxy_pass http://127.0.0.1:${port}/answer;
    }
  }
}`;

export const proof: Proof = {
  name: 'upload-load',
  minutes: 1,
  faults: {
    'hold-files': /^growth in MB: expected at most 100, found \d+\.$/m,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    const { uploads: count, growthMb } = short ? SHORT : FULL;
    using folder = new DataFolder();
    await using server = await startServer(fault, { dataDir: folder.path });
    const some = files(count);
    // Warm: what a first upload loads and compiles is not what an upload takes.
    await sendAll(server.url, await signedUploads(server, some.slice(0, 2)));
    const uploads = await signedUploads(server, some);
    let speed = 0;
    const work = sendAll(server.url, uploads).then((mbPerSecond) => {
      speed = mbPerSecond;
    });
    const growth = expectAtMost('growth in MB', await growthDuring(server, work), growthMb);
    for (const [n, file] of some.entries()) {
      const path = `/v2/integrations/demo/files/content?path=${encodeURIComponent(`${FOLDER}/${n}.bin`)}`;
      const answer = await fetch(server.url + path, { headers: server.api.authorization });
      const found = Buffer.from(await answer.arrayBuffer());
      expectEqual(`SHA-256 of file ${n}`, hash('sha256', found, 'hex'), hash('sha256', file, 'hex'));
    }
    await using nginx = await Nginx.startWith(receivingNginx);
    await sendAll(nginx.url, uploads.slice(0, 2));
    const beside = await sendAll(nginx.url, uploads);
    return { uploads: count, bytes: count * FILE_BYTES, growth_mb: growth, mb_per_s: speed, nginx_mb_per_s: beside };
  },
};
