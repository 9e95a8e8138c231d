import { ModelController, ServerProcess, temporaryFolder } from '@runwire/server/testing';
import { setTimeout as sleep } from 'node:timers/promises';
const c = await ModelController.start();
const s = await ServerProcess.start({ dataDir: temporaryFolder(), controllerPort: c.port, limits: { unsentBytes: 1e9, drainMs: 2000, heartbeatMs: 1000 } });
const r = await s.api.complete({}); r.pause();
const call = await c.nextCall();
for (let i = 0; i < 1000; i++) await call.text('x'.repeat(16384));
await call.end();
for (let i = 0; i < 8; i++) { await sleep(1000); console.log(i, JSON.stringify(await s.probe())); }
r.cut(); await s.kill(); await c[Symbol.asyncDispose]();
