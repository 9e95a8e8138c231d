import { parentPort, workerData } from 'node:worker_threads';
import { HeartbeatLoop } from './heartbeat-loop.ts';
import type { HeartbeatLoopData, HeartbeatMessage } from './postgres-heartbeats.ts';

const loop = new HeartbeatLoop(workerData as HeartbeatLoopData, (report) => parentPort?.postMessage(report));
parentPort?.on('message', (message: HeartbeatMessage) => loop.receive(message));
await loop.run();
