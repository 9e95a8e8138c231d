import { parentPort, workerData } from 'node:worker_threads';
import { HeartbeatLoop, type HeartbeatLoopData, type HeartbeatMessage } from './heartbeat-loop.ts';

const loop = new HeartbeatLoop(workerData as HeartbeatLoopData, (report) => parentPort?.postMessage(report));
parentPort?.on('message', (message: HeartbeatMessage) => loop.receive(message));
await loop.run();
