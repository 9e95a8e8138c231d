import { testReport } from './test-report.ts';

/** Node's test runner loads a reporter's default export. */
export default testReport;
