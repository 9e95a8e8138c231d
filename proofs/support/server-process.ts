import { runServerProcess } from '@runwire/test-kit';
import { plantFault } from './faults.ts';

/**
 * The server of a proof: the real server, with a fault if the proof names one. Its path is `ServerProcess`'s `entry`.
 */
await runServerProcess(plantFault);
