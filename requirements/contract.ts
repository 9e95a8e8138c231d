import { contractCodesAndShapes } from './contract-codes-and-shapes.ts';
import { contractFiles } from './contract-files.ts';
import { contractHttp } from './contract-http.ts';
import { contractRecords } from './contract-records.ts';
import { contractRunsAndStreams } from './contract-runs-and-streams.ts';
import { contractStartAndOperations } from './contract-start-and-operations.ts';

/** The contract, section by section. */
export const contractRequirements = [
  ...contractStartAndOperations,
  ...contractHttp,
  ...contractRunsAndStreams,
  ...contractRecords,
  ...contractFiles,
  ...contractCodesAndShapes,
] as const;
