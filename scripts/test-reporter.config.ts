import { testReport } from './test-report.ts';

/** Node's test runner loads the default export of a reporter. */
export default testReport;
