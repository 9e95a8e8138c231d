import { hash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { postForm, Rig, type ServerProcess, toParts } from '@runwire/test-kit';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtMost, expectEqual } from '@runwire/test-kit/shortfall.ts';
import { Nginx, temporaryPaths } from './support/nginx.ts';
import { download, type SignedForm, sign } from './support/uploads.ts';

const FILE_BYTES = 20 * 1024 * 1024;
const GROWTH_MB = 100;
const MB = 1_000_000;
const FOLDER = '/app/mnt/load';

/** Signs and sends all concurrently; resolves to megabytes a second. `host` receives the forms instead of our server. */
async function sendAll({ api }: ServerProcess, files: readonly (() => Buffer)[], host = api.url): Promise<number> {
  const terms = (n: number) => ({ folder: FOLDER, filename: `${n}.bin`, contentType: 'application/octet-stream' });
  const forms = await Promise.all(files.map((_, n) => sign(api, FILE_BYTES, terms(n))));
  const startedAt = performance.now();
  const send = async ({ uploadUrl, uploadFields }: SignedForm, n: number) => {
    const parts = [...toParts(uploadFields), { name: 'file', filename: 'f', value: files[n]?.() ?? '' }];
    const { status } = await postForm(uploadUrl.replace(api.url, host), { parts });
    expectEqual('status of an upload', status, 204);
  };
  await Promise.all(forms.map(send));
  return Math.round((files.length * FILE_BYTES) / MB / ((performance.now() - startedAt) / 1000));
}

/** By how many megabytes the process grows at most during the work. */
async function growthDuring(server: ServerProcess, work: Promise<unknown>): Promise<number> {
  const before = (await server.probe()).rssBytes;
  let [most, isOver] = [before, false];
  const over = work.finally(() => {
    isOver = true;
  });
  for (; !isOver; await sleep(20)) most = Math.max(most, (await server.probe()).rssBytes);
  await over;
  return Math.round((most - before) / MB);
}

/** A server that writes the whole body to a file and answers. It checks nothing, syncs nothing and parses no form. */
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

test('fifty uploads of 20 MiB use less than 100 MB of memory', async () => {
  const fault = plantedFault();
  await using rig = await Rig.start({ fault });
  const server = rig.server();
  // In memory even the short form's files would be more than the bound.
  const uploads = scale(12, 50);
  const common = randomBytes(FILE_BYTES - 32);
  const files = Array.from({ length: uploads }, () => {
    const own = randomBytes(32);
    return () => Buffer.concat([own, common]);
  });
  // The first upload loads and compiles code.
  await sendAll(server, files.slice(0, 2));
  const sending = sendAll(server, files);
  const growth = expectAtMost('growth in MB', await growthDuring(server, sending), GROWTH_MB);
  for (const [n, file] of files.entries()) {
    const bytes = await (await download(server.api, `${FOLDER}/${n}.bin`)).bytes();
    expectEqual(`SHA-256 of file ${n}`, hash('sha256', bytes), hash('sha256', file()));
  }
  await using nginx = await Nginx.startWith(receivingNginx);
  await sendAll(server, files.slice(0, 2), nginx.url);
  const speeds = { mb_per_s: await sending, nginx_mb_per_s: await sendAll(server, files, nginx.url) };
  count({ uploads, bytes: uploads * FILE_BYTES, growth_mb: growth, ...speeds });
});
